//! Public-key operations of a session.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use oarlock::contract::JobError;
use oarlock::{Answers, Job, Key, Many, Options, Scheme};
use oarlock_wire::fault::code_of;
use oarlock_wire::jobs::{JobColumns, JobRow, write_answers};
use oarlock_wire::proto::{self, Blame, Code, Fault, Response, response};

use super::{Opened, Pending, Session, Source, denial, refusal};
use crate::audit::{Entry, now_ms};
use crate::keyring::{Granted, Resident};
use crate::metrics::count;
use crate::service::Service;

/// Jobs under way, and those that were refused.
#[derive(Debug)]
pub(crate) struct PendingJobs {
    id: u64,
    jobs: Many,
    /// In the order of their places.
    refused: Vec<Fault>,
    audit: Option<Trail>,
    service: Arc<Service>,
}

/// Which job is whose, for the audit log.
#[derive(Debug)]
struct Trail {
    client: String,
    /// Key and scheme, by number.
    kinds: Vec<(Arc<str>, String)>,
    /// The number of each job that runs.
    of_job: Vec<u16>,
    /// The numbers of those refused.
    of_refused: Vec<u16>,
}

/// What is known of a scheme under a handle.
#[derive(Clone)]
struct Verdict<'s> {
    key: Result<(&'s Key, Scheme), Fault>,
    grant: Option<Arc<Granted>>,
    kind: u16,
}

impl Session {
    pub(super) fn start_jobs(&self, id: u64, message: &proto::Jobs) -> Result<Pending, Fault> {
        let columns =
            JobColumns::read(message, &self.service.limits.wire()).map_err(|error| error.fault())?;
        count(&self.service.metrics.operations, columns.len());
        let mut judge = Judge { session: self, known: HashMap::new(), kinds: Vec::new(), last: None };
        let (mut jobs, mut refused) = (Vec::with_capacity(columns.len()), Vec::new());
        let mut of_job = Vec::with_capacity(columns.len());
        let mut of_refused = Vec::new();
        for (index, row) in (0_u32..).zip(columns.iter()) {
            let (job, kind) = judge.job(&row);
            match job {
                Ok(job) => {
                    jobs.push(job);
                    of_job.push(kind);
                }
                Err(fault) => {
                    refused.push(Fault { index, ..fault });
                    of_refused.push(kind);
                }
            }
        }
        count(&self.service.metrics.rejections, refused.len());
        let timeout = Some(Duration::from_micros(message.timeout_us.into())).filter(|time| !time.is_zero());
        let options = Options { tenant: self.tenant, deadline: timeout };
        let kinds = judge.kinds;
        let jobs = self.service.accelerator.submit_many(&jobs, options);
        let audit = self.service.audit.is_kept().then(|| {
            let kinds = kinds.into_iter().map(|(key, scheme)| (key, scheme.to_string())).collect();
            Trail { client: self.client.to_string(), kinds, of_job, of_refused }
        });
        let service = Arc::clone(&self.service);
        Ok(Pending::Jobs(Box::new(PendingJobs { id, jobs, refused, audit, service })))
    }
}

/// Judges jobs by their handles: most of a batch are alike.
struct Judge<'s> {
    session: &'s Session,
    known: HashMap<(u8, u32), Verdict<'s>>,
    kinds: Vec<(Arc<str>, Scheme)>,
    last: Option<((u8, u32), Verdict<'s>)>,
}

impl<'s> Judge<'s> {
    #[inline]
    fn job<'j>(&mut self, row: &JobRow<'j>) -> (Result<Job<'j>, Fault>, u16)
    where
        's: 'j,
    {
        let which = (row.place, row.handle);
        if self.last.as_ref().is_none_or(|(last, _)| *last != which) {
            let verdict = match self.known.get(&which) {
                Some(verdict) => verdict.clone(),
                None => {
                    let verdict = self.judge(row);
                    self.known.insert(which, verdict.clone());
                    verdict
                }
            };
            self.last = Some((which, verdict));
        }
        let Some((_, verdict)) = &self.last else { return (Err(Fault::default()), 0) };
        let job = match &verdict.key {
            Ok((key, scheme)) => match verdict.grant.as_ref().map_or(Ok(()), |grant| grant.take()) {
                Ok(()) => Ok(Job { scheme: *scheme, key, input: row.input, second: row.second }),
                Err(denied) => Err(denial(denied, &scheme.to_string())),
            },
            Err(fault) => Err(fault.clone()),
        };
        (job, verdict.kind)
    }

    fn judge(&mut self, row: &JobRow<'_>) -> Verdict<'s> {
        let Some(opened) = self.session.opened(row.handle) else {
            let message = format!("handle {}: this stream has not opened it", row.handle);
            let key = Err(refusal(Code::NoSuchKey, &message, Blame::Caller));
            let kind = self.kind(Arc::from("-"), row.scheme.with(oarlock::contract::KeyKind::Ed25519Public));
            return Verdict { key, grant: None, kind };
        };
        let found = key_of(opened);
        let kind_of_key = found.as_ref().map_or(oarlock::contract::KeyKind::Secret(0), |key| key.kind());
        let scheme = row.scheme.with(kind_of_key);
        let kind = self.kind(Arc::clone(&opened.name), scheme);
        let allowed = opened.rights.allow(&scheme.to_string());
        let grant = allowed.as_ref().ok().copied().flatten().cloned();
        let key = match allowed {
            Ok(_) => found.map(|key| (key, scheme)),
            Err(denied) => Err(denial(denied, &scheme.to_string())),
        };
        Verdict { key, grant, kind }
    }

    fn kind(&mut self, key: Arc<str>, scheme: Scheme) -> u16 {
        self.kinds.push((key, scheme));
        // Beyond so many kinds in one batch the last stands for the rest.
        u16::try_from(self.kinds.len() - 1).unwrap_or(u16::MAX)
    }
}

fn key_of(opened: &Opened) -> Result<&Key, Fault> {
    match &opened.source {
        Source::Resident(Resident::Asymmetric(key)) | Source::Own(key) => Ok(key),
        Source::Resident(Resident::Symmetric(_)) | Source::OwnSymmetric(_) => {
            Err(refusal(Code::WrongKey, "this is a symmetric key: it serves records", Blame::Caller))
        }
        Source::Gone => Err(refusal(Code::NoSuchKey, "the server no longer has this key", Blame::Caller)),
    }
}

impl Future for PendingJobs {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        let answers = ready!(Pin::new(&mut self.jobs).poll(context));
        let refused = std::mem::take(&mut self.refused);
        if let Some(audit) = self.audit.take() {
            self.service.audit.put(audit.entries(&answers, &refused));
        }
        let results = write_answers(answers.iter(), refused);
        Poll::Ready(Response { id: self.id, body: Some(response::Body::Results(results)) })
    }
}

impl Trail {
    /// One entry for each key, scheme and verdict.
    fn entries(self, answers: &Answers, refused: &[Fault]) -> Vec<Entry> {
        let mut counts: HashMap<(u16, Code), u32> = HashMap::new();
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
        let entry = |((kind, code), count): ((u16, Code), u32)| {
            let (key, operation) = self.kinds.get(usize::from(kind)).or(self.kinds.last())?;
            let (client, key) = (self.client.clone(), key.to_string());
            let verdict = code.as_str_name();
            Some(Entry { time_ms, client, key, operation: operation.clone(), count, verdict })
        };
        counts.into_iter().filter_map(entry).collect()
    }
}
