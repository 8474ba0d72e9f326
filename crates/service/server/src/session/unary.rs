//! Calls with one job. They need no columns, no handles and no session.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use oarlock::{Input, Job, JobError, SubmitOptions};
use oarlock_wire::fault::fault_of;
use oarlock_wire::proto::{Code, Fault};
use oarlock_wire::scheme::WireScheme;

use super::audit_trail::AuditTrail;
use super::authorization::Authorization;
use super::faults::{too_many_bytes, unaudited};
use super::jobs::JOB_BYTES;
use super::opened_key::{JobSigner, OpenedKey, OpenedSource};
use super::own_keys::{import_client_key, no_brought_keys};
use super::{OWN_KEY_BYTES, check_accepting};
use crate::budget::HeldBytes;
use crate::clients::KnownClient;
use crate::metrics::time;
use crate::service::SharedService;
use crate::session::shares::sign_one;

/// One job of a call.
pub(crate) struct UnaryJob {
    pub(crate) key: UnaryKey,
    pub(crate) scheme: WireScheme,
    pub(crate) input: Bytes,
    /// The signature to verify, or the label of OAEP.
    pub(crate) second: Bytes,
}

/// The key of a call.
pub(crate) enum UnaryKey {
    /// The name of a resident key.
    Resident(String),
    /// A key that comes with the call, in PEM or DER.
    Brought(Bytes),
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
    job: &UnaryJob,
    held: &mut HeldBytes,
) -> UnaryOutcome {
    let began = Instant::now();
    let number = service.next_request_number();
    let outcome = match begin(service, client, job, number, held) {
        Ok(begun) => {
            let outcome = begun.finish(service, client, job).await;
            time(&service.metrics.jobs_ns, began);
            outcome
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

/// A job that may run, and whose audit entry has its space.
struct BegunJob {
    opened: OpenedKey,
    scheme: oarlock::Scheme,
    trail: AuditTrail,
}

/// Opens the key, evaluates its grants, and reserves the audit entry.
fn begin(
    service: &SharedService,
    client: &KnownClient,
    job: &UnaryJob,
    number: u64,
    held: &mut HeldBytes,
) -> Result<BegunJob, Fault> {
    check_accepting(service)?;
    // The request itself is held by its call.
    held.resize(JOB_BYTES).map_err(too_many_bytes)?;
    let opened = open(service, client, &job.key, number)?;
    let authorization = Authorization::new(job.scheme, &opened);
    let origin = service.audit.is_kept().then(|| Arc::clone(&client.origin));
    let mut trail = AuditTrail::new(origin, number, 1);
    trail.add(Some(0), |_| Some(&authorization.kind));
    match authorization.permit(&opened).map_err(Cow::into_owned) {
        Ok((scheme, _)) => {
            // Before the job runs: an answer without its entry must not leave.
            trail.reserve(&service.audit, &client.account.audit_bytes).map_err(unaudited)?;
            Ok(BegunJob { opened, scheme, trail })
        }
        Err(fault) => {
            // Without a reservation the entry goes among the refusals.
            trail.finish(&[fault.code() as u8], service).map_err(unaudited)?;
            Err(fault)
        }
    }
}

fn open(
    service: &SharedService,
    client: &KnownClient,
    key: &UnaryKey,
    number: u64,
) -> Result<OpenedKey, Fault> {
    // One look at the keyring: a reload in between cannot mix the key of one generation with the grants of another.
    let keyring = service.keyring();
    match key {
        UnaryKey::Resident(name) => {
            OpenedKey::open_resident(service, &keyring, client, name, number).map(|(opened, _)| opened)
        }
        UnaryKey::Brought(_) if !keyring.may_bring_keys => Err(no_brought_keys()),
        UnaryKey::Brought(bytes) => {
            let key = import_client_key(&service.limits, &client.account, bytes)?;
            let held = HeldBytes::new(&client.account.bytes, OWN_KEY_BYTES).map_err(too_many_bytes)?;
            Ok(OpenedKey::own(&key, OpenedSource::Own(key.clone()), held))
        }
    }
}

impl BegunJob {
    /// Waits for the answer. It leaves only after the audit log has accepted its entry.
    async fn finish(self, service: &SharedService, client: &KnownClient, job: &UnaryJob) -> UnaryOutcome {
        let outcome = self.run(service, client, job).await;
        let code = match &outcome {
            UnaryOutcome::Output(_) => Code::Done,
            UnaryOutcome::Rejected => Code::Rejected,
            UnaryOutcome::Failed(fault) => fault.code(),
        };
        match self.trail.finish(&[code as u8], service) {
            Ok(()) => outcome,
            Err(error) => UnaryOutcome::Failed(unaudited(error)),
        }
    }

    async fn run(&self, service: &SharedService, client: &KnownClient, job: &UnaryJob) -> UnaryOutcome {
        let input = match job.scheme.takes_digest() {
            true => Input::Digest(&job.input),
            false => Input::Message(&job.input),
        };
        let options = SubmitOptions::default().with_tenant(client.account.tenant);
        let answer = match self.opened.signer() {
            Ok(JobSigner::Key(key)) => {
                let job = Job::with_scheme(self.scheme, key, input, &job.second);
                let answers = service.accelerator.submit_many(&[job], options).await;
                match answers.get(0) {
                    Ok(output) => Ok(output.to_vec()),
                    Err(JobError::Rejected) => return UnaryOutcome::Rejected,
                    Err(error) => Err(fault_of(0, &error)),
                }
            }
            Ok(JobSigner::Share(share)) => {
                sign_one(&service.accelerator, share, self.scheme, input, &job.second, options).await
            }
            Err(fault) => Err(fault),
        };
        answer.map_or_else(UnaryOutcome::Failed, |output| UnaryOutcome::Output(output.into()))
    }
}
