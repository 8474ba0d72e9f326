//! Jobs of the paused handshakes of a thread, computed side by side on this thread.
//!
//! A handshake that pauses leaves its jobs here and lets the other tasks of the thread run. It comes back when all of
//! them have had a turn: a task that wakes itself goes to the end of the queue. If no further jobs came meanwhile, no
//! handshake of this thread can go on without answers, and all jobs are computed in one call.
//!
//! The thread computes by itself, without a queue and another thread between. So a batch has as many jobs as the
//! open handshakes can give, and costs no switch of threads.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

use oarlock::engine_api::OwnedJob;
use oarlock::engine_api::schemes::to_digested;
use oarlock::{Accelerator, Answers, Job, JobError};

/// The most turns that jobs wait while others join them.
const MAX_TURNS: u32 = 4;

/// The number of waiting handshakes that fills the lanes of every engine. With more, other tasks of the thread would
/// wait longer and nothing would be gained.
const FULL_BATCH: usize = 64;

thread_local! {
    static WAITING: RefCell<Vec<WaitingJobs>> = const { RefCell::new(Vec::new()) };
}

/// The answers of some jobs among those that were computed together.
pub(crate) struct JobAnswers {
    all: Rc<Answers>,
    first: usize,
}

impl JobAnswers {
    /// Returns the answer of a job.
    pub(crate) fn get(&self, index: usize) -> Result<&[u8], JobError> {
        self.all.get(self.first + index)
    }
}

impl From<Answers> for JobAnswers {
    fn from(answers: Answers) -> Self {
        Self { all: Rc::new(answers), first: 0 }
    }
}

struct WaitingJobs {
    accelerator: Accelerator,
    jobs: Vec<OwnedJob>,
    outcome: Rc<JobOutcome>,
}

impl Drop for WaitingJobs {
    fn drop(&mut self) {
        // After a panic the jobs have no answer, and their handshake must notice.
        self.outcome.waker.take().into_iter().for_each(Waker::wake);
    }
}

#[derive(Default)]
struct JobOutcome {
    answers: Cell<Option<JobAnswers>>,
    waker: Cell<Option<Waker>>,
}

/// The answers of jobs that wait for those of other handshakes. Dropping it cancels the jobs.
pub(crate) struct GatheredJobs {
    outcome: Rc<JobOutcome>,
    turns: u32,
    /// The number of waiting handshakes at the last turn.
    seen: usize,
}

/// Adds jobs to those that wait on this thread. Messages are hashed here: a digest is copied in less time.
///
/// # Errors
/// A message cannot be hashed as its scheme says.
pub(crate) fn gather(accelerator: &Accelerator, jobs: &[Job<'_>]) -> Result<GatheredJobs, JobError> {
    let outcome = Rc::new(JobOutcome::default());
    let jobs = jobs.iter().map(to_digested).collect::<Result<_, _>>()?;
    WAITING.with_borrow_mut(|waiting| {
        waiting.push(WaitingJobs { accelerator: accelerator.clone(), jobs, outcome: Rc::clone(&outcome) });
    });
    Ok(GatheredJobs { outcome, turns: 0, seen: 0 })
}

/// The state of gathered jobs when their handshake is polled.
pub(crate) enum GatherStep {
    Answered(JobAnswers),
    /// Other tasks of the thread have a turn first. The task will be woken.
    Waiting,
    /// No handshake can go on: all jobs should be computed now, by [`compute_all`].
    Due,
    /// The computation of the jobs panicked in another handshake.
    Lost,
}

impl GatheredJobs {
    pub(crate) fn poll(&mut self, context: &Context<'_>) -> GatherStep {
        if let Some(answers) = self.outcome.answers.take() {
            return GatherStep::Answered(answers);
        }
        // The list holds the other reference until the jobs are answered.
        if Rc::strong_count(&self.outcome) == 1 {
            return GatherStep::Lost;
        }
        let waiting = WAITING.with_borrow(Vec::len);
        if self.turns < MAX_TURNS && waiting != self.seen && waiting < FULL_BATCH {
            (self.turns, self.seen) = (self.turns + 1, waiting);
            self.outcome.waker.set(Some(context.waker().clone()));
            // To the end of the queue: the tasks that are ready now may add jobs.
            context.waker().wake_by_ref();
            return GatherStep::Waiting;
        }
        GatherStep::Due
    }
}

impl Drop for GatheredJobs {
    fn drop(&mut self) {
        // Fails if the thread is ending, and its list is gone.
        let _ = WAITING.try_with(|waiting| {
            waiting.borrow_mut().retain(|jobs| !Rc::ptr_eq(&jobs.outcome, &self.outcome));
        });
    }
}

/// Computes all jobs that wait on this thread, those of each accelerator by one call of `run`.
pub(crate) fn compute_all(run: impl Fn(&Accelerator, &[Job<'_>]) -> Answers) {
    let mut rest = WAITING.take();
    while let Some(first) = rest.first() {
        let accelerator = first.accelerator.clone();
        let (these, others) = rest.into_iter().partition(|jobs| jobs.accelerator.is_same(&accelerator));
        rest = others;
        answer(these, |jobs| run(&accelerator, jobs));
    }
}

fn answer(waiting: Vec<WaitingJobs>, run: impl FnOnce(&[Job<'_>]) -> Answers) {
    let jobs: Vec<Job<'_>> = waiting.iter().flat_map(|waiting| &waiting.jobs).map(OwnedJob::as_job).collect();
    let answers = Rc::new(run(&jobs));
    let mut first = 0;
    // The handshakes are woken when the list is dropped.
    for WaitingJobs { jobs, outcome, .. } in &waiting {
        outcome.answers.set(Some(JobAnswers { all: Rc::clone(&answers), first }));
        first += jobs.len();
    }
}
