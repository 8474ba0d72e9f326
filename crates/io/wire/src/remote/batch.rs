//! The jobs of a remote holder: sent to one or several servers, compared, checked, and sent again after a failure.

use std::sync::Arc;

use futures_util::future::join_all;
use oarlock::engine_api::{Completion, OwnedJob, OwnedJobs};
use oarlock::{Job, JobError};

use super::RemoteInner;
use super::names::ServerSet;
use super::server::{JobAnswer, RemoteServer};
use crate::check::{AnswerCheck, is_deterministic};

/// The maximum number of times that a server is asked. A dead stream is noticed only by asking.
const MAX_PASSES: usize = 2;

/// Jobs that were submitted together, until each has its answer.
pub(super) struct AgreementBatch<'i> {
    inner: &'i RemoteInner,
    /// The servers at the start, and those that came later. None is removed, because answers name them by index.
    servers: Vec<Arc<RemoteServer>>,
    jobs: OwnedJobs,
    done: Completion,
    rows: Vec<AgreementRow>,
}

/// The state of one job.
#[derive(Default)]
struct AgreementRow {
    /// The answers, by the index of their server.
    answers: Vec<(usize, JobAnswer)>,
    /// The error of the last server that failed.
    failure: Option<JobError>,
    is_released: bool,
    /// True if correct answers may differ from each other.
    may_differ: bool,
}

impl<'i> AgreementBatch<'i> {
    /// Takes the jobs at `indices`. The other jobs are done elsewhere.
    pub(super) fn new(
        inner: &'i RemoteInner,
        servers: &ServerSet,
        jobs: OwnedJobs,
        indices: &[usize],
        done: Completion,
    ) -> Self {
        // Only signatures, because nothing else can be verified.
        let may_differ = |job: &OwnedJob| {
            job.scheme.is_signature() && !is_deterministic(job.scheme) && job.key.parts().is_some()
        };
        let row = |(at, job): (usize, &OwnedJob)| AgreementRow {
            may_differ: may_differ(job),
            is_released: !indices.contains(&at),
            ..AgreementRow::default()
        };
        let rows = jobs.iter().enumerate().map(row).collect();
        Self { inner, servers: servers.to_vec(), jobs, done, rows }
    }

    /// Asks servers until every job has its answer or no server is left.
    pub(super) async fn run(mut self) {
        let agreement = self.inner.config.agreement.max(1);
        for pass in 0..MAX_PASSES {
            if pass > 0 && self.missing_answers(agreement).is_some() {
                self.add_new_servers().await;
            }
            let mut asked = Vec::new();
            while let Some(missing_answers) = self.missing_answers(agreement) {
                let mut chosen = self.inner.ranked(&self.servers, &asked, self.open().len());
                if chosen.is_empty() {
                    break;
                }
                // Only the missing number of servers is asked. Others are asked only after a failure or a disagreement.
                chosen.truncate(missing_answers);
                asked.extend_from_slice(&chosen);
                self.ask(&chosen).await;
                self.release(agreement);
            }
        }
        self.give_up();
    }

    /// Adds the servers that the names stand for now: all others may have been replaced.
    async fn add_new_servers(&mut self) {
        for server in self.inner.servers.renewed(self.inner.config.patience).await.iter() {
            if !self.servers.iter().any(|known| Arc::ptr_eq(known, server)) {
                self.servers.push(Arc::clone(server));
            }
        }
    }

    /// Returns the indices of the jobs that have no answer yet.
    fn open(&self) -> Vec<usize> {
        (0..self.rows.len()).filter(|at| !self.rows[*at].is_released).collect()
    }

    /// Returns the number of answers that some job still needs, or `None` if every job has its answer.
    fn missing_answers(&self, agreement: usize) -> Option<usize> {
        let open = self.rows.iter().filter(|row| !row.is_released);
        open.map(|row| agreement.saturating_sub(row.largest_agreement().len()).max(1)).max()
    }

    /// Asks servers for all open jobs, at the same time.
    async fn ask(&mut self, chosen: &[usize]) {
        let open = self.open();
        let jobs: Vec<Job<'_>> = open.iter().map(|at| self.jobs[*at].as_job()).collect();
        let patience = self.inner.config.patience;
        let asked = chosen.iter().map(|server_index| self.servers[*server_index].ask(&jobs, patience));
        // At the same time, because a comparison needs all of them and the slowest decides.
        let answered = join_all(asked).await;
        for (server_index, answers) in chosen.iter().zip(answered) {
            match answers {
                Ok(answers) => self.record_answers(*server_index, &open, answers),
                Err(error) => {
                    let (holder, reason) =
                        (self.servers[*server_index].address().to_owned(), error.to_string());
                    let failure = JobError::HolderFailed { holder, reason };
                    open.iter().for_each(|at| self.rows[*at].failure = Some(failure.clone()));
                }
            }
        }
    }

    /// Records the answers of a server, except failures and answers that are certainly wrong.
    fn record_answers(&mut self, server_index: usize, open: &[usize], answers: Vec<JobAnswer>) {
        let wrong = self.find_wrong(open, &answers);
        let server = &self.servers[server_index];
        if !wrong.is_empty() {
            server.distrust();
        }
        for (at, answer) in open.iter().zip(answers) {
            let row = &mut self.rows[*at];
            match answer {
                _ if wrong.contains(at) => {
                    let reason = "its signature does not verify".to_owned();
                    let holder = server.address().to_owned();
                    row.failure = Some(JobError::HolderFailed { holder, reason });
                }
                Err(error @ (JobError::HolderFailed { .. } | JobError::Overloaded { .. })) => {
                    row.failure = Some(error);
                }
                // A server may lack a key that another server has, so a refusal counts only if every server refuses.
                Err(error @ JobError::HolderRefused { .. }) if self.servers.len() > 1 => {
                    row.failure = Some(error);
                }
                answer => {
                    // A server that is asked again replaces its former answer, so it cannot agree with itself.
                    row.answers.retain(|(index, _)| *index != server_index);
                    row.answers.push((server_index, answer));
                }
            }
        }
    }

    /// Returns the jobs whose signatures do not verify. If answers are compared, all signatures that may differ are
    /// verified, because they cannot be compared.
    fn find_wrong(&self, open: &[usize], answers: &[JobAnswer]) -> Vec<usize> {
        let is_compared = self.inner.config.agreement > 1;
        let wrong_among = |compares: bool, check: AnswerCheck| {
            let rows = open.iter().zip(answers).filter_map(|(at, answer)| {
                let job = &self.jobs[*at];
                let is_included = (is_compared && !is_deterministic(job.scheme)) == compares;
                Some((*at, job, answer.as_deref().ok()?)).filter(|_| is_included)
            });
            check.find_wrong(&self.inner.checker, rows)
        };
        let mut wrong = wrong_among(false, self.inner.config.check);
        wrong.extend(wrong_among(true, AnswerCheck::Signatures));
        wrong
    }

    /// Releases the answers on which enough servers agree. Servers with another answer are not asked for a while.
    fn release(&mut self, agreement: usize) {
        for at in self.open() {
            let row = &mut self.rows[at];
            let class = row.largest_agreement();
            if class.len() < agreement {
                continue;
            }
            let others: Vec<usize> = row
                .answers
                .iter()
                .map(|(server_index, _)| *server_index)
                .filter(|server_index| !class.contains(server_index))
                .collect();
            others.iter().for_each(|server_index| self.servers[*server_index].distrust());
            let agreed = row.answers.iter().position(|(server_index, _)| Some(server_index) == class.first());
            if let Some(agreed) = agreed {
                row.is_released = true;
                // False means that the dispatcher has cancelled the job meanwhile.
                let _ = self.done.complete(at, row.answers.swap_remove(agreed).1);
            }
        }
    }

    /// Fails the jobs that have no answer.
    fn give_up(mut self) {
        let name = &self.inner.config.name;
        for at in self.open() {
            let row = &mut self.rows[at];
            let failure = row.failure.take();
            let error = match row.answers.len() {
                0 => failure,
                said => {
                    let servers: Vec<&str> = row
                        .answers
                        .iter()
                        .map(|(server_index, _)| self.servers[*server_index].address())
                        .collect();
                    let needed = self.inner.config.agreement;
                    let reason = format!(
                        "{needed} servers must agree; {said} answered ({}), and no {needed} of them agree",
                        servers.join(", ")
                    );
                    Some(JobError::HolderFailed { holder: name.clone(), reason })
                }
            };
            let nobody =
                || JobError::HolderFailed { holder: name.clone(), reason: "no server to ask".into() };
            let _ = self.done.complete(at, Err(error.unwrap_or_else(nobody)));
        }
    }
}

impl AgreementRow {
    /// Returns the servers of the answer that the largest number of servers gave. Signatures that may differ count as
    /// the same answer: signatures that do not verify are not among the answers.
    fn largest_agreement(&self) -> Vec<usize> {
        let same = |one: &JobAnswer, other: &JobAnswer| match (one, other) {
            (Ok(one), Ok(other)) => self.may_differ || one == other,
            // Refusals contain the server's name and text, which differ. The refusal itself is the answer.
            (Err(JobError::HolderRefused { .. }), Err(JobError::HolderRefused { .. })) => true,
            (Err(one), Err(other)) => one == other,
            _ => false,
        };
        let class = |answer: &JobAnswer| -> Vec<usize> {
            self.answers
                .iter()
                .filter(|(_, other)| same(other, answer))
                .map(|(server_index, _)| *server_index)
                .collect()
        };
        let classes = self.answers.iter().map(|(_, answer)| class(answer));
        classes.max_by_key(Vec::len).unwrap_or_default()
    }
}
