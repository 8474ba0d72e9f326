//! Public-key operations of a session.

mod shares;
mod trail;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use oarlock::{Answers, Job, Many, Options, Scheme};
use oarlock_wire::jobs::{JobColumns, JobRow, Other, write_answers};
use oarlock_wire::proto::{self, Fault, Response, response};

use self::shares::{PendingShares, Shares};
use self::trail::Trail;
use super::verdicts::{Signer, Verdict, not_open, signer_of};
use super::{Pending, Session, denial};
use crate::metrics::time;
use crate::service::Service;

/// Jobs under way, and those that were refused.
#[derive(Debug)]
pub(crate) struct PendingJobs {
    id: u64,
    jobs: Many,
    /// Once they are there.
    answers: Option<Answers>,
    shares: PendingShares,
    /// In the order of their places.
    refused: Vec<Other>,
    trail: Trail,
    began: Instant,
    service: Arc<Service>,
}

impl Session {
    pub(super) fn start_jobs(&mut self, id: u64, message: &proto::Jobs) -> Result<Pending, Fault> {
        let columns =
            JobColumns::read(message, &self.service.limits.wire()).map_err(|error| error.fault())?;
        let began = Instant::now();
        let bound = self.service.limits.keys_per_stream;
        for row in columns.iter().filter(|row| row.handle < bound) {
            let opened = self.handles.get(row.handle as usize).and_then(Option::as_ref);
            self.verdicts.prepare(row.handle, row.scheme, opened);
        }
        let Sorted { jobs, shares, refused, trail } = self.sort(&columns);
        for fault in refused.iter().filter_map(|(_, refused)| refused.as_ref().err()) {
            self.service.metrics.rejections.count(fault.code(), 1);
        }
        let timeout = Some(Duration::from_micros(message.timeout_us.into())).filter(|time| !time.is_zero());
        let options = Options { tenant: self.tenant, deadline: timeout, ..Options::default() };
        let shares = shares.submit(&self.service.accelerator, options);
        let jobs = self.service.accelerator.submit_many(&jobs, options);
        let service = Arc::clone(&self.service);
        let answers = None;
        Ok(Pending::Jobs(Box::new(PendingJobs { id, jobs, answers, shares, refused, trail, began, service })))
    }

    /// The jobs that may run, and why the others may not.
    fn sort<'s>(&'s self, columns: &JobColumns<'s>) -> Sorted<'s> {
        let mut sorted = Sorted::with_capacity(columns.len());
        let mut trail =
            Trail::new(self.service.audit.is_kept().then(|| self.client.to_string()), columns.len());
        for (place, row) in (0_u32..).zip(columns.iter()) {
            let verdict = self.verdicts.get(row.handle, row.scheme);
            let work = self.work(&row, verdict);
            trail.add(verdict.map(|verdict| verdict.kind), |kind| self.verdicts.kind(kind));
            match work {
                Ok((scheme, Signer::Key(key))) => {
                    sorted.jobs.push(Job { scheme, key, input: row.input, second: row.second });
                }
                Ok((scheme, Signer::Share(share))) => sorted.shares.add(share, place, scheme, &row),
                Err(fault) => sorted.refused.push((place, Err(fault))),
            }
        }
        sorted.trail = trail;
        sorted
    }

    #[inline]
    fn work(&self, row: &JobRow<'_>, verdict: Option<&Verdict>) -> Result<(Scheme, Signer<'_>), Fault> {
        let Some((verdict, opened)) = verdict.zip(self.opened(row.handle)) else {
            return Err(not_open(row.handle));
        };
        let scheme = verdict.scheme.clone()?;
        if let Some(grant) = &verdict.counted {
            grant.take().map_err(|denied| denial(denied, &scheme.to_string()))?;
        }
        Ok((scheme, signer_of(opened)?))
    }
}

/// Jobs of a message, sorted by who does them.
struct Sorted<'s> {
    jobs: Vec<Job<'s>>,
    shares: Shares<'s>,
    refused: Vec<Other>,
    trail: Trail,
}

impl Sorted<'_> {
    fn with_capacity(count: usize) -> Self {
        let (shares, refused) = (Shares::default(), Vec::new());
        Self { jobs: Vec::with_capacity(count), shares, refused, trail: Trail::default() }
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
        others.extend(this.shares.take());
        others.sort_unstable_by_key(|(place, _)| *place);
        let results = write_answers(answers.iter(), others);
        std::mem::take(&mut this.trail).finish(&results.codes, &this.service);
        time(&this.service.metrics.jobs_ns, this.began);
        Poll::Ready(Response { id: this.id, body: Some(response::Body::Results(results)) })
    }
}
