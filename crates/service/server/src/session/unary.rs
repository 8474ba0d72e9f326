//! Calls with one job. They need no columns, no handles and no session.

use std::borrow::Cow;
use std::future::Future;
use std::time::Instant;

use bytes::Bytes;
use oarlock::{Input, JobError, SubmitOptions};
use oarlock_wire::fault::fault_of;
use oarlock_wire::proto::{Blame, Code, Fault};
use oarlock_wire::scheme::WireScheme;

use super::admitted::{Admitted, CodedResults};
use super::audit_trail::AuditTrail;
use super::authorization::Authorization;
use super::check_accepting;
use super::faults::{refusal, too_many_bytes};
use super::jobs::{JOB_BYTES, JobAnswers, JobBatch, JobInputs};
use super::opened_key::OpenedKey;
use super::own_keys::no_brought_keys;
use crate::budget::HeldBytes;
use crate::clients::KnownClient;
use crate::metrics::time;
use crate::service::SharedService;

/// One job of a call, before its key is known.
pub(crate) struct UnaryJob<'r> {
    pub(crate) key: UnaryKey<'r>,
    pub(crate) scheme: WireScheme,
    pub(crate) input: Input<'r>,
    /// The signature to verify, or the label of OAEP.
    pub(crate) second: &'r [u8],
    /// The context of an ML-DSA or SLH-DSA signature.
    pub(crate) context: &'r [u8],
}

/// The key of a call.
pub(crate) enum UnaryKey<'r> {
    /// The name of a resident key.
    Resident(&'r str),
    /// A key that comes with the call, in PEM or DER.
    Brought(&'r [u8]),
}

/// The end of a call with one job.
pub(crate) enum UnaryOutcome {
    Output(Bytes),
    /// The answer is no: a signature or a padding is invalid.
    Rejected,
    Failed(Fault),
}

/// Runs one job. `held` holds the bytes of the job, and afterwards those of the answer.
pub(crate) async fn run_unary(
    service: &SharedService,
    client: &KnownClient,
    job: &UnaryJob<'_>,
    held: &mut HeldBytes,
) -> UnaryOutcome {
    let began = Instant::now();
    let number = service.next_request_number();
    let outcome = match begin(service, client, job, number, held) {
        Ok((submitted, _opened)) => {
            let answered = submitted.answered().await.map(UnaryOutcome::new);
            let released = answered.release(service);
            time(&service.metrics.jobs_ns, began);
            released.unwrap_or_else(UnaryOutcome::Failed)
        }
        Err(fault) => {
            service.metrics.rejections.count(fault.code(), 1);
            UnaryOutcome::Failed(fault)
        }
    };
    match outcome {
        UnaryOutcome::Output(output) => match held.resize(output.len()) {
            Ok(()) => UnaryOutcome::Output(output),
            Err(error) => UnaryOutcome::Failed(too_many_bytes(error)),
        },
        other => other,
    }
}

/// Opens the key, evaluates its grants, reserves the audit entry, and submits the job. The key is kept for as long as
/// the job runs.
fn begin(
    service: &SharedService,
    client: &KnownClient,
    job: &UnaryJob<'_>,
    number: u64,
    held: &mut HeldBytes,
) -> Result<(Admitted<impl Future<Output = JobAnswers> + Send + use<>>, OpenedKey), Fault> {
    check_accepting(service)?;
    // The request itself is held by its call.
    held.resize(JOB_BYTES + job.scheme.max_output_len()).map_err(too_many_bytes)?;
    let opened = open(service, client, &job.key, number)?;
    let authorization = Authorization::new(job.scheme, &opened);
    let mut trail = AuditTrail::new(service, client, number);
    trail.add(0, 1, || authorization.kind.clone());
    let permitted = match authorization.permit(&opened).map_err(Cow::into_owned) {
        Ok(permitted) => permitted,
        Err(fault) => {
            // Without a reservation the entry goes among the refusals.
            trail.write(None, &[fault.code() as u8], service)?;
            return Err(fault);
        }
    };
    let options = SubmitOptions::default().with_tenant(client.account.tenant);
    let submitted = Admitted::new(permitted, trail, service, client)?.map(|signer| {
        let mut batch = JobBatch::default();
        batch.add(signer, 0, JobInputs { input: job.input, second: job.second, context: job.context });
        batch.submit(&service.accelerator, options)
    });
    Ok((submitted, opened))
}

fn open(
    service: &SharedService,
    client: &KnownClient,
    key: &UnaryKey<'_>,
    number: u64,
) -> Result<OpenedKey, Fault> {
    // One look at the keyring: a reload in between cannot mix the key of one generation with the grants of another.
    let keyring = service.keyring();
    match key {
        UnaryKey::Resident(name) => {
            OpenedKey::open_resident(service, &keyring, client, name, number).map(|(opened, _)| opened)
        }
        UnaryKey::Brought(_) if !keyring.may_bring_keys => Err(no_brought_keys()),
        UnaryKey::Brought(bytes) => OpenedKey::open_brought(service, client, bytes).map(|(opened, _)| opened),
    }
}

impl UnaryOutcome {
    fn new((answers, shares): JobAnswers) -> Self {
        let answer = match (shares.into_iter().next(), answers.iter().next()) {
            (Some((_, answer)), _) => answer,
            (None, Some(Ok(output))) => Ok(output.to_vec()),
            (None, Some(Err(JobError::Rejected))) => return Self::Rejected,
            (None, Some(Err(error))) => Err(fault_of(0, &error)),
            (None, None) => Err(refusal(Code::Failed, "the share gave no answer", Blame::Machine)),
        };
        answer.map_or_else(Self::Failed, |output| Self::Output(output.into()))
    }
}

impl CodedResults for UnaryOutcome {
    fn codes(&self) -> Cow<'_, [u8]> {
        let code = match self {
            Self::Output(_) => Code::Done,
            Self::Rejected => Code::Rejected,
            Self::Failed(fault) => fault.code(),
        };
        Cow::Owned(vec![code as u8])
    }
}
