//! Public-key operations of a session.

mod shares;
mod trail;

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use oarlock::{Answers, Job, PendingAnswers, Scheme, SubmitOptions};
use oarlock_wire::jobs::{JobColumns, OtherJobs, write_answers};
use oarlock_wire::proto::{self, Fault, Response, response};

use tokio::runtime::{Handle, RuntimeFlavor};

use self::shares::{PendingShares, Shares};
use self::trail::Trail;
use super::verdicts::{MessageVerdicts, Signer, Verdict, Verdicts, not_open, signer_of};
use super::{Opened, Session, Work, denial, too_much, unaudited};
use crate::budget::HeldBytes;
use crate::metrics::time;
use crate::service::Service;

/// Bytes that a job holds beside its input: its state in the queue, and its answer. A signature by an RSA key of 4096 bits has 512 bytes.
const JOB_BYTES: usize = 512;

/// Jobs under way, and those that were refused.
#[derive(Debug)]
pub(crate) struct PendingJobs {
    id: u64,
    jobs: PendingAnswers,
    /// Once they are there.
    answers: Option<Answers>,
    shares: PendingShares,
    refused: OtherJobs,
    trail: Trail,
    began: Instant,
    service: Arc<Service>,
}

impl Session {
    pub(super) fn start_jobs(
        &mut self,
        id: u64,
        number: u64,
        message: &proto::Jobs,
        held: &mut HeldBytes,
    ) -> Result<Work, Fault> {
        let columns =
            JobColumns::read(message, &self.service.limits.wire()).map_err(|error| error.fault())?;
        held.resize(held.len() + columns.len() * JOB_BYTES).map_err(too_much)?;
        let began = Instant::now();
        let origin = self.service.audit.is_kept().then(|| Arc::clone(&self.origin));
        let trail = Trail::new(origin, number, columns.len());
        let sorted = sort(&columns, &self.handles, &mut self.verdicts, trail);
        let Sorted { jobs, shares, refused, mut trail } = sorted;
        for code in refused.codes() {
            self.service.metrics.rejections.count(code, 1);
        }
        if !(jobs.is_empty() && shares.is_empty()) {
            trail.reserve(&self.service.audit, &self.account.audit_bytes).map_err(unaudited)?;
        }
        let timeout = Some(Duration::from_micros(message.timeout_us.into())).filter(|time| !time.is_zero());
        let options =
            SubmitOptions { tenant: self.account.tenant, deadline: timeout, ..SubmitOptions::default() };
        let shares = shares.submit(&self.service.accelerator, options);
        let jobs = self.service.accelerator.submit_many(&jobs, options);
        let service = Arc::clone(&self.service);
        let answers = None;
        Ok(Work::Jobs(Box::new(PendingJobs { id, jobs, answers, shares, refused, trail, began, service })))
    }
}

/// Sorts jobs into those that may run and those that may not.
fn sort<'s>(
    columns: &JobColumns<'s>,
    handles: &'s [Option<Opened>],
    known: &mut Verdicts,
    trail: Trail,
) -> Sorted<'s> {
    let mut sorted = Sorted::with_capacity(columns.len(), trail);
    let mut verdicts = MessageVerdicts::default();
    for (index, row) in (0_u32..).zip(columns.iter()) {
        let opened = handles.get(row.handle as usize).and_then(Option::as_ref);
        let place = verdicts.place(&row, known, opened);
        sorted.trail.add(Some(place), |place| verdicts.get(place).map(|verdict| &verdict.kind));
        let Some((verdict, opened)) = verdicts.get(place).zip(opened) else {
            sorted.refused.refuse(index, &not_open(row.handle));
            continue;
        };
        match permit(verdict, opened) {
            Ok((scheme, Signer::Key(key))) => {
                sorted.jobs.push(Job::with_scheme(scheme, key, row.input, row.second));
            }
            Ok((scheme, Signer::Share(share))) => sorted.shares.add(share, index, scheme, &row),
            Err(fault) => sorted.refused.refuse(index, &fault),
        }
    }
    sorted
}

/// Counts a job against its grant, and finds the key or share that does it.
#[inline]
fn permit<'v, 's>(verdict: &'v Verdict, opened: &'s Opened) -> Result<(Scheme, Signer<'s>), Cow<'v, Fault>> {
    let scheme = *verdict.scheme.as_ref().map_err(Cow::Borrowed)?;
    if let Some(grant) = &verdict.counted {
        grant.take().map_err(|denied| Cow::Owned(denial(denied, &scheme.to_string())))?;
    }
    Ok((scheme, signer_of(opened).map_err(Cow::Owned)?))
}

/// Operations of a message beyond which it is not worked on as part of the event loop: they take about a millisecond.
const MAX_AT_ONCE: usize = 4096;

/// Runs `work` so that other connections of this thread are served meanwhile if there are many operations.
pub(super) fn run_long<T>(operations: usize, work: impl FnOnce() -> T) -> T {
    let may_block =
        Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if operations > MAX_AT_ONCE && may_block { tokio::task::block_in_place(work) } else { work() }
}

/// Jobs of a message, sorted by who does them.
struct Sorted<'s> {
    jobs: Vec<Job<'s>>,
    shares: Shares<'s>,
    refused: OtherJobs,
    trail: Trail,
}

impl Sorted<'_> {
    fn with_capacity(count: usize, trail: Trail) -> Self {
        let (shares, refused) = (Shares::default(), OtherJobs::default());
        Self { jobs: Vec::with_capacity(count), shares, refused, trail }
    }
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
        let is_done = this.shares.poll(context);
        let Some(answers) = this.answers.take_if(|_| is_done) else { return Poll::Pending };
        let mut others = std::mem::take(&mut this.refused);
        this.shares.take().into_iter().for_each(|(index, answer)| others.add(index, answer));
        let results = run_long(answers.len(), || write_answers(answers.iter(), others));
        let audited = std::mem::take(&mut this.trail).finish(&results.codes, &this.service);
        time(&this.service.metrics.jobs_ns, this.began);
        let body = match audited {
            Ok(()) => response::Body::Results(results),
            Err(error) => response::Body::Fault(unaudited(error)),
        };
        Poll::Ready(Response { id: this.id, body: Some(body) })
    }
}
