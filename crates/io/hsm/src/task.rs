//! Work for a session, and its answer.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use oarlock::engine_api::{Completion, OwnedJob, OwnedJobs};

use crate::HsmError;
use crate::fault::CallFault;
use crate::operation::perform;
use crate::session::HsmSession;

/// Work for a session.
#[derive(Debug)]
pub(crate) struct Task {
    work: TaskWork,
    reply: Reply,
    /// The number of connections on which the task failed because the token was lost.
    pub(crate) losses: u8,
}

type SessionCall = dyn FnMut(&mut HsmSession) -> Result<(), CallFault> + Send;

enum TaskWork {
    /// The job at the index.
    Job(OwnedJobs, usize),
    /// A call that answers by itself if it succeeds. It may run several times.
    Call(Box<SessionCall>),
}

impl fmt::Debug for TaskWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(_, index) => write!(f, "Job({index})"),
            Self::Call(_) => f.write_str("Call"),
        }
    }
}

/// The receiver of the answer of a task. Only the first answer counts, so the thread that computes and the one that
/// abandons it may both answer.
#[derive(Clone)]
pub(crate) enum Reply {
    Job(Completion, usize),
    Call(Arc<dyn Fn(HsmError) + Send + Sync>),
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

impl Task {
    /// Returns one task per job.
    pub(crate) fn of_jobs(jobs: &OwnedJobs, done: &Completion) -> impl Iterator<Item = Self> {
        (0..jobs.len()).map(|index| Self {
            work: TaskWork::Job(jobs.clone(), index),
            reply: Reply::Job(done.clone(), index),
            losses: 0,
        })
    }

    /// Returns the task of a call. `fail` takes its error.
    pub(crate) fn of_call(
        run: impl FnMut(&mut HsmSession) -> Result<(), CallFault> + Send + 'static,
        fail: impl Fn(HsmError) + Send + Sync + 'static,
    ) -> Self {
        Self { work: TaskWork::Call(Box::new(run)), reply: Reply::Call(Arc::new(fail)), losses: 0 }
    }

    /// Returns the task of a call whose result `answer` gets, or its error.
    pub(crate) fn answering<T: Send + 'static>(
        call: impl Fn(&mut HsmSession) -> Result<T, CallFault> + Send + 'static,
        answer: impl FnOnce(Result<T, HsmError>) + Send + 'static,
    ) -> Self {
        // Only the first answer counts: a call that was abandoned may still succeed.
        let answer = Arc::new(Mutex::new(Some(answer)));
        let failure = Arc::clone(&answer);
        let run = move |session: &mut HsmSession| -> Result<(), CallFault> {
            let value = call(session)?;
            if let Some(answer) = taken(&answer) {
                answer(Ok(value));
            }
            Ok(())
        };
        let fail = move |error: HsmError| {
            if let Some(answer) = taken(&failure) {
                answer(Err(error));
            }
        };
        Self::of_call(run, fail)
    }

    /// Runs the task once, and answers it if it succeeds.
    pub(crate) fn run(&mut self, session: &mut HsmSession) -> Result<(), CallFault> {
        match (&mut self.work, &self.reply) {
            (TaskWork::Job(jobs, index), Reply::Job(done, _)) => {
                let answer = perform(session, &jobs[*index])?;
                // False means that the caller or the supervisor has given up meanwhile.
                let _ = done.complete(*index, Ok(answer));
                Ok(())
            }
            (TaskWork::Call(run), _) => run(session),
            // unreachable because `of_jobs` pairs jobs with completions
            (TaskWork::Job(..), Reply::Call(_)) => Err(HsmError::Closed.into()),
        }
    }

    pub(crate) fn reply(&self) -> Reply {
        self.reply.clone()
    }

    /// Returns the job, if it is a signature: a probe can sign and verify it again.
    pub(crate) fn signature_job(&self) -> Option<OwnedJob> {
        match &self.work {
            TaskWork::Job(jobs, index) if jobs[*index].scheme.is_signature() => Some(jobs[*index].clone()),
            _ => None,
        }
    }
}

fn taken<T>(cell: &Mutex<Option<T>>) -> Option<T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Reply {
    /// Answers with an error.
    pub(crate) fn fail(&self, holder: &str, error: HsmError) {
        match self {
            Self::Job(done, index) => {
                let _ = done.complete(*index, Err(error.into_job_error(holder)));
            }
            Self::Call(fail) => fail(error),
        }
    }
}
