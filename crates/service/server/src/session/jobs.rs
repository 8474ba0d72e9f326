//! The public-key operations of a session.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use oarlock::{Answers, Job, PendingAnswers, SubmitOptions};
use oarlock_wire::jobs::{JobColumns, SeparateAnswers, write_answers};
use oarlock_wire::proto::{self, Fault, Response, response};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::audit_trail::AuditTrail;
use super::authorization::{AuthorizationCache, MessageAuthorizations};
use super::faults::{not_open, too_many_bytes, unaudited};
use super::opened_key::{JobSigner, OpenedKey};
use super::shares::{PendingShares, ShareBatches};
use super::{ClientSession, PendingWork};
use crate::budget::HeldBytes;
use crate::metrics::time;
use crate::service::SharedService;

/// The bytes that a job holds beside its input: its state in the queue, and its answer. A signature by an RSA key of
/// 4096 bits has 512 bytes.
pub(super) const JOB_BYTES: usize = 512;

/// The number of jobs in a message up to which they wait for those of other connections.
const MAX_COALESCED: usize = 8;

/// The jobs of a message that are under way, and those that were refused.
#[derive(Debug)]
pub(crate) struct PendingJobs {
    id: u64,
    jobs: PendingAnswers,
    /// The answers once they are complete: partial signatures may take longer.
    answers: Option<Answers>,
    shares: PendingShares,
    refused: SeparateAnswers,
    trail: AuditTrail,
    /// The time of the request; `None` if all of its jobs were refused.
    began: Option<Instant>,
    service: Arc<SharedService>,
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
        held.resize(held.len() + columns.len() * JOB_BYTES).map_err(too_many_bytes)?;
        let began = Instant::now();
        let origin = self.service.audit.is_kept().then(|| Arc::clone(&self.client.origin));
        let trail = AuditTrail::new(origin, number, columns.len());
        let sorted = sort_jobs(&columns, &self.handles, &mut self.authorizations, trail);
        let SortedJobs { jobs, shares, refused, mut trail } = sorted;
        for code in refused.codes() {
            self.service.metrics.rejections.count(code, 1);
        }
        let is_refused = jobs.is_empty() && shares.is_empty();
        if !is_refused {
            trail.reserve(&self.service.audit, &self.client.account.audit_bytes).map_err(unaudited)?;
        }
        // The protocol's zero means no limit, and not a limit that has passed.
        let timeout = Some(Duration::from_micros(message.timeout_us.into())).filter(|time| !time.is_zero());
        let tenant = self.client.account.tenant;
        // The messages of other connections that have come join a batch, and a job that is alone is computed here. Jobs
        // that fill a batch need no others.
        let coalesce = jobs.len() <= MAX_COALESCED;
        let options =
            SubmitOptions::default().with_tenant(tenant).with_deadline(timeout).with_coalesce(coalesce);
        let shares = shares.submit(&self.service.accelerator, options);
        let jobs = self.service.accelerator.submit_many(&jobs, options);
        let (service, began) = (Arc::clone(&self.service), (!is_refused).then_some(began));
        let pending = PendingJobs { id, jobs, answers: None, shares, refused, trail, began, service };
        Ok(PendingWork::Jobs(Box::new(pending)))
    }
}

/// The jobs of a message: jobs with keys, jobs with shares, and refused jobs.
struct SortedJobs<'s> {
    jobs: Vec<Job<'s>>,
    shares: ShareBatches<'s>,
    refused: SeparateAnswers,
    trail: AuditTrail,
}

/// Sorts jobs into those that may run and those that may not.
fn sort_jobs<'s>(
    columns: &JobColumns<'s>,
    handles: &'s [Option<OpenedKey>],
    known: &mut AuthorizationCache,
    trail: AuditTrail,
) -> SortedJobs<'s> {
    let (shares, refused) = (ShareBatches::default(), SeparateAnswers::default());
    let mut sorted = SortedJobs { jobs: Vec::with_capacity(columns.len()), shares, refused, trail };
    let mut authorizations = MessageAuthorizations::default();
    for (index, row) in (0_u32..).zip(columns.iter()) {
        let opened = handles.get(row.handle as usize).and_then(Option::as_ref);
        let kind = authorizations.find_or_add(&row, known, opened);
        sorted.trail.add(Some(kind), |kind| authorizations.get(kind).map(|known| &known.kind));
        let Some((authorization, opened)) = authorizations.get(kind).zip(opened) else {
            sorted.refused.refuse(index, &not_open(row.handle));
            continue;
        };
        match authorization.permit(opened) {
            Ok((scheme, JobSigner::Key(key))) => {
                sorted.jobs.push(Job::with_scheme(scheme, key, row.input, row.second));
            }
            Ok((scheme, JobSigner::Share(share))) => sorted.shares.add(share, index, scheme, &row),
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

impl Future for PendingJobs {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        let this = &mut *self;
        if this.answers.is_none()
            && let Poll::Ready(answers) = Pin::new(&mut this.jobs).poll(context)
        {
            this.answers = Some(answers);
        }
        // Both are polled in every turn, so that each registers its waker.
        let is_done = this.shares.poll(context);
        let Some(answers) = this.answers.take_if(|_| is_done) else { return Poll::Pending };
        let mut separate = std::mem::take(&mut this.refused);
        this.shares.take().into_iter().for_each(|(index, answer)| separate.add(index, answer));
        let results = run_long(answers.len(), || write_answers(answers.iter(), separate));
        let audited = std::mem::take(&mut this.trail).finish(&results.codes, &this.service);
        if let Some(began) = this.began {
            time(&this.service.metrics.jobs_ns, began);
        }
        let body = match audited {
            Ok(()) => response::Body::Results(results),
            Err(error) => response::Body::Fault(unaudited(error)),
        };
        Poll::Ready(Response { id: this.id, body: Some(body) })
    }
}
