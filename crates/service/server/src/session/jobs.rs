//! The public-key operations of a session.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join;
use oarlock::threshold::SigningRequest;
use oarlock::{Accelerator, Answers, Input, Job, JobError, Scheme, SubmitOptions};
use oarlock_wire::jobs::{JobColumns, SeparateAnswers, write_answers};
use oarlock_wire::proto::{self, Fault, Response, response};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::admitted::{Admitted, CodedResults, Permitted};
use super::audit_trail::AuditTrail;
use super::authorization::{AuthorizationCache, MessageAuthorizations};
use super::faults::{not_open, too_many_bytes};
use super::opened_key::{JobSigner, OpenedKey};
use super::shares::{ShareAnswer, ShareBatches};
use super::{ClientSession, PendingWork};
use crate::budget::HeldBytes;
use crate::metrics::time;

/// The bytes that a job holds beside its input: its state in the queue, and its answer. A signature by an RSA key of
/// 4096 bits has 512 bytes. Longer answers, of ML-DSA, SLH-DSA and ML-KEM, are counted beside it.
pub(super) const JOB_BYTES: usize = 512;

/// The number of jobs in a message up to which they wait for those of other connections.
const MAX_COALESCED: usize = 8;

/// The inputs of a job beside its key.
#[derive(Clone, Copy)]
pub(super) struct JobInputs<'s> {
    pub(super) input: Input<'s>,
    /// The signature to verify, or the label of OAEP.
    pub(super) second: &'s [u8],
    /// The context of an ML-DSA or SLH-DSA signature.
    pub(super) context: &'s [u8],
}

/// Jobs that may run: those of keys, and those of shares.
#[derive(Default)]
pub(super) struct JobBatch<'s> {
    jobs: Vec<Job<'s>>,
    shares: ShareBatches<'s>,
}

/// The answers to the jobs of keys in their order, and to those of shares.
pub(super) type JobAnswers = (Answers, Vec<ShareAnswer>);

impl<'s> JobBatch<'s> {
    /// Adds the job at `index` of its message.
    #[inline]
    pub(super) fn add(
        &mut self,
        (scheme, signer): (Scheme, JobSigner<'s>),
        index: u32,
        inputs: JobInputs<'s>,
    ) {
        let JobInputs { input, second, context } = inputs;
        match signer {
            JobSigner::Key(key) => {
                self.jobs.push(Job::with_scheme(scheme, key, input, second).context(context));
            }
            // Refused as jobs of whole keys are, and never left out.
            JobSigner::Share(_) if !context.is_empty() => {
                let expected = format!("0 with {scheme}");
                let error = JobError::Length { what: "context", expected, found: context.len() };
                self.shares.refuse(index, &error);
            }
            JobSigner::Share(share) => {
                self.shares.add(share, index, SigningRequest::new(scheme, input).with_salt(second));
            }
        }
    }

    /// Submits the jobs now. The future waits for their answers.
    pub(super) fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> impl Future<Output = JobAnswers> + Send + use<> {
        let shares = self.shares.submit(accelerator, options);
        join(accelerator.submit_many(&self.jobs, options), shares)
    }
}

impl CodedResults for proto::Results {
    fn codes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.codes)
    }
}

impl ClientSession {
    pub(super) fn start_jobs(
        &mut self,
        id: u64,
        number: u64,
        message: &proto::Jobs,
        held: &mut HeldBytes,
    ) -> Result<PendingWork, Fault> {
        let columns =
            JobColumns::read(message, &self.service.limits.wire()).map_err(|error| error.fault())?;
        // The memory is counted before it is allocated: a message of a few bytes may name 131,072 jobs.
        let job_bytes = columns.len() * JOB_BYTES + columns.max_output_bytes();
        held.resize(held.len() + job_bytes).map_err(too_many_bytes)?;
        let began = Instant::now();
        let trail = AuditTrail::new(&self.service, &self.client, number);
        let sorted = sort_jobs(&columns, &self.handles, &mut self.authorizations, trail);
        let SortedJobs { permitted, mut refused, trail } = sorted;
        for code in refused.codes() {
            self.service.metrics.rejections.count(code, 1);
        }
        let is_timed = permitted.is_any();
        let admitted = Admitted::new(permitted, trail, &self.service, &self.client)?;
        // The protocol's zero means no limit, and not a limit that has passed.
        let timeout = Some(Duration::from_micros(message.timeout_us.into())).filter(|time| !time.is_zero());
        let options = SubmitOptions::default().with_tenant(self.client.account.tenant).with_deadline(timeout);
        let submitted = admitted.map(|batch| {
            // The messages of other connections that have come join a batch, and a job that is alone is computed here.
            // Jobs that fill a batch need no others.
            let coalesce = batch.jobs.len() <= MAX_COALESCED;
            batch.submit(&self.service.accelerator, options.with_coalesce(coalesce))
        });
        let service = Arc::clone(&self.service);
        Ok(PendingWork::Later(Box::pin(async move {
            let results = submitted.answered().await.map(|(answers, shares)| {
                shares.into_iter().for_each(|(index, answer)| refused.add(index, answer));
                let mut results = run_long(answers.len(), || write_answers(answers.iter(), refused));
                let cpu_time = service.cpu_time(answers.engine_time());
                results.cpu_us = u32::try_from(cpu_time.as_micros()).unwrap_or(u32::MAX);
                results
            });
            let released = results.release(&service);
            if is_timed {
                time(&service.metrics.jobs_ns, began);
            }
            let body = released.map_or_else(response::Body::Fault, response::Body::Results);
            Response { id, body: Some(body) }
        })))
    }
}

/// The jobs of a message: those that may run, and those that may not.
struct SortedJobs<'s> {
    permitted: Permitted<JobBatch<'s>>,
    refused: SeparateAnswers,
    trail: AuditTrail,
}

/// Evaluates the grants of each job.
fn sort_jobs<'s>(
    columns: &JobColumns<'s>,
    handles: &'s [Option<OpenedKey>],
    known: &mut AuthorizationCache,
    trail: AuditTrail,
) -> SortedJobs<'s> {
    let jobs = Vec::with_capacity(columns.len());
    let permitted = Permitted::new(JobBatch { jobs, ..JobBatch::default() }, false);
    let mut sorted = SortedJobs { permitted, refused: SeparateAnswers::default(), trail };
    let mut authorizations = MessageAuthorizations::default();
    for (index, row) in (0_u32..).zip(columns.iter()) {
        let opened = handles.get(row.handle as usize).and_then(Option::as_ref);
        let (kind, authorization) = authorizations.find_or_add(&row, known, opened);
        sorted.trail.add(kind, 1, || authorization.kind.clone());
        let Some(opened) = opened else {
            sorted.refused.refuse(index, &not_open(row.handle));
            continue;
        };
        match authorization.permit(opened) {
            Ok(permit) => {
                let inputs = JobInputs { input: row.input, second: row.second, context: row.context };
                let add = |batch: &mut JobBatch<'s>, signer| batch.add(signer, index, inputs);
                sorted.permitted.add(permit, add);
            }
            Err(fault) => sorted.refused.refuse(index, &fault),
        }
    }
    sorted
}

/// The number of operations above which a message would hold up the event loop: they take about a millisecond.
const MAX_AT_ONCE: usize = 4096;

/// Runs `work`. If there are many operations, another thread serves the other connections of this one meanwhile.
pub(super) fn run_long<T>(operations: usize, work: impl FnOnce() -> T) -> T {
    // `block_in_place` panics in a runtime of one thread.
    let may_block =
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if operations > MAX_AT_ONCE && may_block { tokio::task::block_in_place(work) } else { work() }
}
