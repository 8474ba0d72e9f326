//! Jobs on their way: asked of one server or several, compared, checked, and asked again where that failed.

use futures_util::future::join_all;
use oarlock::JobError;
use oarlock::engine_api::{Completion, HeldJob, OwnedJobs};

use super::RemoteInner;
use super::server::{JobAnswer, RemoteJob};
use crate::check::{AnswerCheck, is_deterministic};

/// Times that every server is asked at most: a stream that has died is found out by asking.
const PASSES: usize = 2;

/// Jobs that came together, until each has its answer.
pub(super) struct AgreementBatch<'i> {
    inner: &'i RemoteInner,
    jobs: OwnedJobs,
    done: Completion,
    rows: Vec<AgreementRow>,
}

/// What is known of one job.
#[derive(Default)]
struct AgreementRow {
    /// By the place of the server that gave it.
    answers: Vec<(usize, JobAnswer)>,
    /// Why the last server that had no answer had none.
    failure: Option<JobError>,
    is_released: bool,
    /// Right answers differ from each other.
    may_differ: bool,
}

impl<'i> AgreementBatch<'i> {
    /// `rows` of the jobs are this batch's; others are done elsewhere.
    pub(super) fn new(inner: &'i RemoteInner, jobs: OwnedJobs, places: &[usize], done: Completion) -> Self {
        let may_differ = |job: &HeldJob| !is_deterministic(job.scheme) && job.key.parts().is_some();
        let row = |(at, job): (usize, &HeldJob)| AgreementRow {
            may_differ: may_differ(job),
            is_released: !places.contains(&at),
            ..AgreementRow::default()
        };
        let rows = jobs.iter().enumerate().map(row).collect();
        Self { inner, jobs, done, rows }
    }

    /// Asks until every job has its answer or nobody is left to ask.
    pub(super) async fn run(mut self) {
        let agreement = self.inner.config.agreement.max(1);
        for _ in 0..PASSES {
            let mut asked = Vec::new();
            while let Some(missing) = self.missing(agreement) {
                let mut places = self.inner.by_turn(&asked, self.open().len());
                if places.is_empty() {
                    break;
                }
                places.truncate(missing);
                asked.extend_from_slice(&places);
                self.ask(&places).await;
                self.release(agreement);
            }
        }
        self.give_up();
    }

    /// The jobs that have no answer yet.
    fn open(&self) -> Vec<usize> {
        (0..self.rows.len()).filter(|at| !self.rows[*at].is_released).collect()
    }

    /// How many more answers some job needs; None where none needs any.
    fn missing(&self, agreement: usize) -> Option<usize> {
        let open = self.rows.iter().filter(|row| !row.is_released);
        open.map(|row| agreement.saturating_sub(row.largest_class().len()).max(1)).max()
    }

    /// Asks servers for all open jobs, side by side.
    async fn ask(&mut self, places: &[usize]) {
        let open = self.open();
        let jobs: Vec<RemoteJob<'_>> =
            open.iter().map(|at| &self.jobs[*at]).map(|job| (job, &*job.second)).collect();
        let patience = self.inner.config.patience;
        let asked = places.iter().map(|place| self.inner.servers[*place].ask(&jobs, patience));
        let answered = join_all(asked).await;
        for (place, answers) in places.iter().zip(answered) {
            match answers {
                Ok(answers) => self.take(*place, &open, answers),
                Err(error) => {
                    let (holder, reason) = (self.inner.servers[*place].place().to_owned(), error.to_string());
                    let failure = JobError::HolderFailed { holder, reason };
                    open.iter().for_each(|at| self.rows[*at].failure = Some(failure.clone()));
                }
            }
        }
    }

    /// Takes what a server said, but for what it had no answer to and what is wrong for certain.
    fn take(&mut self, place: usize, open: &[usize], answers: Vec<JobAnswer>) {
        let wrong = self.wrong(open, &answers);
        let server = &self.inner.servers[place];
        if !wrong.is_empty() {
            server.distrust();
        }
        for (at, answer) in open.iter().zip(answers) {
            let row = &mut self.rows[*at];
            match answer {
                _ if wrong.contains(at) => {
                    let reason = "its signature does not verify".to_owned();
                    let holder = server.place().to_owned();
                    row.failure = Some(JobError::HolderFailed { holder, reason });
                }
                Err(error @ (JobError::HolderFailed { .. } | JobError::Overloaded { .. })) => {
                    row.failure = Some(error);
                }
                // A server may lack a key that another has: what counts is whether anybody has it.
                Err(error @ JobError::HolderRefused { .. }) if self.inner.servers.len() > 1 => {
                    row.failure = Some(error);
                }
                answer => {
                    row.answers.retain(|(own, _)| *own != place);
                    row.answers.push((place, answer));
                }
            }
        }
    }

    /// Jobs whose answers the public key contradicts. Where answers are compared, those that may differ are all verified.
    fn wrong(&self, open: &[usize], answers: &[JobAnswer]) -> Vec<usize> {
        let is_compared = self.inner.config.agreement > 1;
        let of = |wanted: bool, check: AnswerCheck| {
            let rows = open.iter().zip(answers).filter_map(|(at, answer)| {
                let job = &self.jobs[*at];
                let is_mine = (is_compared && !is_deterministic(job.scheme)) == wanted;
                Some((*at, job, answer.as_deref().ok()?)).filter(|_| is_mine)
            });
            check.wrong(&self.inner.checker, rows)
        };
        let mut wrong = of(false, self.inner.config.check);
        wrong.extend(of(true, AnswerCheck::Signatures));
        wrong
    }

    /// Releases what enough servers agree upon. Those that said something else are not asked for a while.
    fn release(&mut self, agreement: usize) {
        for at in self.open() {
            let row = &mut self.rows[at];
            let class = row.largest_class();
            if class.len() < agreement {
                continue;
            }
            let others: Vec<usize> =
                row.answers.iter().map(|(place, _)| *place).filter(|place| !class.contains(place)).collect();
            others.iter().for_each(|place| self.inner.servers[*place].distrust());
            let agreed = row.answers.iter().position(|(place, _)| Some(place) == class.first());
            if let Some(agreed) = agreed {
                row.is_released = true;
                // False where the dispatcher has given the job up meanwhile.
                let _ = self.done.complete(at, row.answers.swap_remove(agreed).1);
            }
        }
    }

    /// What is left has no answer.
    fn give_up(mut self) {
        let name = &self.inner.config.name;
        for at in self.open() {
            let row = &mut self.rows[at];
            let failure = row.failure.take();
            let error = match row.answers.len() {
                0 => failure,
                said => {
                    let servers: Vec<&str> =
                        row.answers.iter().map(|(place, _)| self.inner.servers[*place].place()).collect();
                    let needed = self.inner.config.agreement;
                    let reason = format!(
                        "{needed} servers must agree; of {said} that answered ({}) no {needed} do",
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
    /// The servers that say the same, of the answer that most give. Signatures that differ from each other by their nature are
    /// the same here: those that do not verify are not among the answers.
    fn largest_class(&self) -> Vec<usize> {
        let same = |one: &JobAnswer, other: &JobAnswer| match (one, other) {
            (Ok(one), Ok(other)) => self.may_differ || one == other,
            (Err(JobError::HolderRefused { .. }), Err(JobError::HolderRefused { .. })) => true,
            (Err(one), Err(other)) => one == other,
            _ => false,
        };
        let class = |answer: &JobAnswer| -> Vec<usize> {
            self.answers.iter().filter(|(_, own)| same(own, answer)).map(|(place, _)| *place).collect()
        };
        let classes = self.answers.iter().map(|(_, answer)| class(answer));
        classes.max_by_key(Vec::len).unwrap_or_default()
    }
}
