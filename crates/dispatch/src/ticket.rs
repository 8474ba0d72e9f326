//! A claim to the answers of a submission.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use oarlock_core::JobError;

use crate::group::{End, Group};
use crate::inner::Inner;
use crate::results::Results;

/// A claim to the answers of a submission: await it in any runtime or [`wait`](Ticket::wait) for it on a thread.
/// Dropping it cancels what has not been answered.
#[must_use = "dropping a ticket cancels its jobs"]
pub struct Ticket {
    /// None once the answers have been taken.
    group: Option<Arc<Group>>,
    inner: Arc<Inner>,
    call: Call,
}

/// Who calls a worker to the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// Nobody has to.
    Made,
    /// The poll after the next one.
    Later,
    /// The next poll.
    Due,
}

/// Looks at the answer before a waiting thread goes to sleep.
const LOOKS: u32 = if cfg!(miri) { 5 } else { 500 };

impl Ticket {
    pub(crate) fn new(group: Arc<Group>, inner: Arc<Inner>) -> Self {
        Self { group: Some(group), inner, call: Call::Made }
    }

    /// Of jobs to which no worker was called.
    pub(crate) fn uncalled(mut self) -> Self {
        self.call = Call::Later;
        self
    }

    /// Blocks until every job is answered, cancelled or past its deadline.
    pub fn wait(mut self) -> Results {
        let Some(group) = self.group.take() else { return taken_already() };
        if self.inner.is_foreign() {
            return Results::refused(group.len(), JobError::Forked);
        }
        if self.call != Call::Made {
            self.inner.call_near();
        }
        for _ in 0..LOOKS {
            if group.end() != End::Live {
                return group.take_results();
            }
            std::hint::spin_loop();
        }
        while group.watch_by_thread() {
            std::thread::park();
        }
        group.take_results()
    }

    /// True where the answers are there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.group.as_ref().is_none_or(|group| group.end() != End::Live)
    }

    /// Cancels what has not been answered. A batch that is running is not interrupted; its results for these jobs are
    /// dropped.
    pub fn cancel(self) {}
}

impl Future for Ticket {
    type Output = Results;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Results> {
        let Some(group) = &self.group else { return Poll::Ready(taken_already()) };
        if self.inner.is_foreign() {
            return Poll::Ready(Results::refused(group.len(), JobError::Forked));
        }
        if group.end() == End::Live && group.watch_by_task(context.waker()) {
            match self.call {
                Call::Made => {}
                Call::Later => {
                    context.waker().wake_by_ref();
                    self.call = Call::Due;
                }
                Call::Due => {
                    self.inner.call_near();
                    self.call = Call::Made;
                }
            }
            return Poll::Pending;
        }
        let results = group.take_results();
        self.group = None;
        Poll::Ready(results)
    }
}

fn taken_already() -> Results {
    Results::refused(0, JobError::Cancelled)
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // After a fork the parent's locks may be held by threads that do not exist here.
        if let Some(group) = self.group.take()
            && group.end() == End::Live
            && !self.inner.is_foreign()
        {
            self.inner.end_early(&group, End::Cancelled);
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({:?})", self.group)
    }
}
