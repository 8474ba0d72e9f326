//! Public-key operations of a session.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use oarlock::contract::JobError;
use oarlock::{Answers, Job, Many, Options};
use oarlock_wire::fault::code_of;
use oarlock_wire::jobs::{JobColumns, JobRow, write_answers};
use oarlock_wire::proto::{self, Code, Fault, Response, response};

use super::verdicts::{Verdict, key_of, not_open};
use super::{Pending, Session, denial};
use crate::audit::{Entry, now_ms};
use crate::metrics::count;
use crate::service::Service;

/// Jobs under way, and those that were refused.
#[derive(Debug)]
pub(crate) struct PendingJobs {
    id: u64,
    jobs: Many,
    /// In the order of their places.
    refused: Vec<Fault>,
    trail: Option<Trail>,
    service: Arc<Service>,
}

/// Which job is whose, for the audit log.
#[derive(Debug)]
struct Trail {
    client: String,
    /// Key and scheme, by number.
    kinds: HashMap<u32, (Arc<str>, String)>,
    /// The number of each job that runs.
    of_job: Vec<u32>,
    /// The numbers of those refused.
    of_refused: Vec<u32>,
}

impl Session {
    pub(super) fn start_jobs(&mut self, id: u64, message: &proto::Jobs) -> Result<Pending, Fault> {
        let columns =
            JobColumns::read(message, &self.service.limits.wire()).map_err(|error| error.fault())?;
        count(&self.service.metrics.operations, columns.len());
        let bound = self.service.limits.keys_per_stream;
        for row in columns.iter().filter(|row| row.handle < bound) {
            let opened = self.handles.get(row.handle as usize).and_then(Option::as_ref);
            self.verdicts.prepare(row.handle, row.scheme, opened);
        }
        let sorted = self.sort(&columns);
        count(&self.service.metrics.rejections, sorted.refused.len());
        let timeout = Some(Duration::from_micros(message.timeout_us.into())).filter(|time| !time.is_zero());
        let options = Options { tenant: self.tenant, deadline: timeout };
        let jobs = self.service.accelerator.submit_many(&sorted.jobs, options);
        let Sorted { refused, trail, .. } = sorted;
        let service = Arc::clone(&self.service);
        Ok(Pending::Jobs(Box::new(PendingJobs { id, jobs, refused, trail, service })))
    }

    /// The jobs that may run, and why the others may not.
    fn sort<'s>(&'s self, columns: &JobColumns<'s>) -> Sorted<'s> {
        let mut sorted = Sorted { jobs: Vec::with_capacity(columns.len()), refused: Vec::new(), trail: None };
        let mut kinds = self.service.audit.is_kept().then(|| (Vec::with_capacity(columns.len()), Vec::new()));
        for (index, row) in (0_u32..).zip(columns.iter()) {
            let verdict = self.verdicts.get(row.handle, row.scheme);
            let kind = verdict.map_or(u32::MAX, |verdict| verdict.kind);
            match self.job(&row, verdict) {
                Ok(job) => {
                    sorted.jobs.push(job);
                    if let Some((of_job, _)) = &mut kinds {
                        of_job.push(kind);
                    }
                }
                Err(fault) => {
                    sorted.refused.push(Fault { index, ..fault });
                    if let Some((_, of_refused)) = &mut kinds {
                        of_refused.push(kind);
                    }
                }
            }
        }
        sorted.trail = kinds.map(|(of_job, of_refused)| self.trail(of_job, of_refused));
        sorted
    }

    #[inline]
    fn job<'s>(&'s self, row: &JobRow<'s>, verdict: Option<&Verdict>) -> Result<Job<'s>, Fault> {
        let Some((verdict, opened)) = verdict.zip(self.opened(row.handle)) else {
            return Err(not_open(row.handle));
        };
        let scheme = verdict.scheme.clone()?;
        if let Some(grant) = &verdict.counted {
            grant.take().map_err(|denied| denial(denied, &scheme.to_string()))?;
        }
        Ok(Job { scheme, key: key_of(opened)?, input: row.input, second: row.second })
    }

    fn trail(&self, of_job: Vec<u32>, of_refused: Vec<u32>) -> Trail {
        let mut kinds = HashMap::new();
        for kind in of_job.iter().chain(&of_refused) {
            kinds.entry(*kind).or_insert_with(|| match self.verdicts.kind(*kind) {
                Some((key, scheme)) => (Arc::clone(key), scheme.to_string()),
                None => ("-".into(), "-".into()),
            });
        }
        Trail { client: self.client.to_string(), kinds, of_job, of_refused }
    }
}

/// Jobs of a message, sorted by whether they may run.
struct Sorted<'s> {
    jobs: Vec<Job<'s>>,
    refused: Vec<Fault>,
    trail: Option<Trail>,
}

impl Future for PendingJobs {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        let answers = ready!(Pin::new(&mut self.jobs).poll(context));
        let refused = std::mem::take(&mut self.refused);
        if let Some(trail) = self.trail.take() {
            self.service.audit.put(trail.entries(&answers, &refused));
        }
        let results = write_answers(answers.iter(), refused);
        Poll::Ready(Response { id: self.id, body: Some(response::Body::Results(results)) })
    }
}

impl Trail {
    /// One entry for each key, scheme and verdict.
    fn entries(self, answers: &Answers, refused: &[Fault]) -> Vec<Entry> {
        let mut counts: HashMap<(u32, Code), u32> = HashMap::new();
        for (kind, answer) in self.of_job.iter().zip(answers.iter()) {
            let code = answer.as_ref().err().map_or(Code::Done, |error: &JobError| code_of(error));
            *counts.entry((*kind, code)).or_default() += 1;
        }
        for (kind, fault) in self.of_refused.iter().zip(refused) {
            *counts.entry((*kind, fault.code())).or_default() += 1;
        }
        let time_ms = now_ms();
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|((kind, code), _)| (*kind, *code as i32));
        let entry = |((kind, code), count): ((u32, Code), u32)| {
            let (key, operation) = self.kinds.get(&kind)?;
            let (client, key) = (self.client.clone(), key.to_string());
            let verdict = code.as_str_name();
            Some(Entry { time_ms, client, key, operation: operation.clone(), count, verdict })
        };
        counts.into_iter().filter_map(entry).collect()
    }
}
