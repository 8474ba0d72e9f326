//! A claim to the answers of a submission.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use oarlock_core::JobError;

use crate::poller_run::run_single_on_poller;
use crate::results::Results;
use crate::state::DispatchState;
use crate::submission::{Submission, SubmissionEnd};

/// A claim to the answers of a submission: await it in any runtime or [`wait`](Ticket::wait) for it on a thread.
/// Dropping it cancels what has not been answered.
#[must_use = "dropping a ticket cancels its jobs"]
pub struct Ticket {
    /// None once the answers have been taken.
    submission: Option<Arc<Submission>>,
    dispatch: Arc<DispatchState>,
    call: WorkerWake,
    /// True if the thread that polls may compute the jobs, if they are still alone when a worker would be woken.
    may_run_here: bool,
    /// The tasks that compute the answers of long operations. They are dropped with this ticket.
    tasks: Vec<Ticket>,
    /// True if the answer may come before a waiting thread would have fallen asleep.
    is_short: bool,
}

/// The step at which a worker is woken for the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkerWake {
    /// None: a worker has been woken.
    Made,
    /// The poll after the next one. The next poll wakes its own task, so that other ready tasks can submit first.
    Later,
    /// The next poll.
    Due,
}

/// The number of looks at the answer before a waiting thread sleeps.
const LOOKS: u32 = if cfg!(miri) { 5 } else { 500 };
/// The time of so many looks in nanoseconds, as an Intel Emerald Rapids needs it. A thread that waits for longer jobs
/// sleeps at once: its looks would find no answer, and would keep other jobs from the core.
const LOOKS_NS: f64 = 10_000.0;

impl Ticket {
    pub(crate) fn new(submission: Arc<Submission>, dispatch: Arc<DispatchState>) -> Self {
        Self {
            submission: Some(submission),
            dispatch,
            call: WorkerWake::Made,
            may_run_here: false,
            tasks: Vec::new(),
            is_short: true,
        }
    }

    /// Notes the time that the jobs are predicted to take.
    pub(crate) fn expected_after(mut self, predicted_ns: f64) -> Self {
        self.is_short = predicted_ns <= LOOKS_NS;
        self
    }

    /// Adds the tasks that compute the jobs.
    pub(crate) fn with_tasks(mut self, tasks: Vec<Self>) -> Self {
        self.tasks = tasks;
        self
    }

    /// Marks the jobs as not yet announced to any worker, and says if the thread that polls may compute them.
    pub(crate) fn without_wakeup(mut self, may_run_here: bool) -> Self {
        (self.call, self.may_run_here) = (WorkerWake::Later, may_run_here);
        self
    }

    /// Blocks until every job is answered, cancelled or past its deadline.
    pub fn wait(mut self) -> Results {
        let Some(submission) = self.submission.take() else { return taken_already() };
        if self.dispatch.is_from_parent_process() {
            return Results::refused(submission.len(), JobError::Forked);
        }
        if self.call != WorkerWake::Made {
            self.dispatch.queues.wake_near_worker();
        }
        // A short job ends before this thread would have fallen asleep, and the wakeup would cost more than the job.
        for _ in 0..if self.is_short { LOOKS } else { 0 } {
            if submission.end() != SubmissionEnd::Live {
                return submission.take_results();
            }
            std::hint::spin_loop();
        }
        while submission.watch_by_thread() {
            std::thread::park();
        }
        submission.take_results()
    }

    /// True if the answers have arrived.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.submission.as_ref().is_none_or(|submission| submission.end() != SubmissionEnd::Live)
    }

    /// Cancels all unanswered jobs. A running batch is not interrupted, unless its operations are long
    /// ([`Shape::is_long`](oarlock_core::Shape::is_long)); its results for these jobs are dropped.
    pub fn cancel(self) {}
}

impl Future for Ticket {
    type Output = Results;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Results> {
        let this = &mut *self;
        let Some(submission) = &this.submission else { return Poll::Ready(taken_already()) };
        if this.dispatch.is_from_parent_process() {
            return Poll::Ready(Results::refused(submission.len(), JobError::Forked));
        }
        if this.call == WorkerWake::Due
            && this.may_run_here
            && submission.end() == SubmissionEnd::Live
            && run_single_on_poller(&this.dispatch, submission)
        {
            this.call = WorkerWake::Made;
        }
        if submission.end() == SubmissionEnd::Live && submission.watch_by_task(context.waker()) {
            match this.call {
                WorkerWake::Made => {}
                // The task wakes itself at once, and an executor runs it behind the tasks that are ready now. They
                // submit their jobs before this future is polled again.
                WorkerWake::Later => {
                    context.waker().wake_by_ref();
                    this.call = WorkerWake::Due;
                }
                WorkerWake::Due => {
                    this.dispatch.queues.wake_near_worker();
                    this.call = WorkerWake::Made;
                }
            }
            return Poll::Pending;
        }
        // The submission ended between the two looks, or before. Its waker is not stored then, so this poll must
        // answer.
        let results = submission.take_results();
        this.submission = None;
        Poll::Ready(results)
    }
}

fn taken_already() -> Results {
    Results::refused(0, JobError::Cancelled)
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // After a fork the parent's locks may be held by threads that do not exist here.
        if let Some(submission) = self.submission.take()
            && submission.end() == SubmissionEnd::Live
            && !self.dispatch.is_from_parent_process()
        {
            self.dispatch.end_early(&submission, SubmissionEnd::Cancelled);
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({:?})", self.submission)
    }
}
