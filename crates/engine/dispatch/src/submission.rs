//! A submission: jobs, their answers, and the task or thread that waits for them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::Thread;

use oarlock_core::{JobError, Jobs, Operation, OperationSet, Outcomes, OwnedJob, Records, Shape};

use crate::clock::Nanos;
use crate::metrics::count;
use crate::queue::{ItemOwner, QueueItem, QueueKey};
use crate::results::{Results, sort_errors, unconfirmed_error};
use crate::task::CallerTask;

/// The content of a submission.
pub(crate) enum Payload {
    Operations(OperationSet),
    Records(Shape, Box<Records<'static>>),
    Held(Vec<OwnedJob>),
    Task(CallerTask),
}

/// One submission. Its inputs do not change until it is dropped, because an engine that hangs may still read them.
pub(crate) struct Submission {
    pub(crate) payload: Payload,
    pub(crate) queue_key: QueueKey,
    pub(crate) tenant: u64,
    count: u32,
    bytes: u32,
    /// A [`SubmissionEnd`]. It is written under `state`'s lock only, so that a submission ends once. It is read
    /// without the lock.
    end: AtomicU8,
    /// True from the early end on. Long operations look at it.
    cancelled: AtomicBool,
    /// The number of operations still in the queue. Only holders of the scheduler's lock touch it, so relaxed loads
    /// and stores suffice.
    queued: AtomicU32,
    state: Mutex<SubmissionState>,
}

struct SubmissionState {
    outcomes: Outcomes,
    held: Vec<Option<Result<Vec<u8>, JobError>>>,
    errors: Vec<(u32, JobError)>,
    left: u32,
    engine_ns: f64,
    waiter: AnswerWaiter,
}

enum AnswerWaiter {
    Nobody,
    Task(Waker),
    Thread(Thread),
}

/// The state of a submission: live, or the way it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SubmissionEnd {
    Live = 0,
    Answered = 1,
    Cancelled = 2,
    Expired = 3,
    ShutDown = 4,
}

impl Submission {
    pub(crate) fn new(payload: Payload, queue_key: QueueKey, tenant: u64) -> Arc<Self> {
        let (count, bytes) = match &payload {
            Payload::Operations(set) => (set.len(), set.input_bytes()),
            Payload::Records(_, records) => (records.len, records.input_bytes()),
            Payload::Held(jobs) => (jobs.len(), 0),
            Payload::Task(_) => (1, 0),
        };
        let outcomes = match &payload {
            Payload::Operations(set) => Outcomes::for_operations(set.shape(), set.len()),
            // No engine runs for zero records, so the empty outcome is made here.
            Payload::Records(shape, records) if records.len == 0 => {
                Outcomes::for_jobs(&Jobs::Records(*shape, &[&**records]))
            }
            _ => Outcomes::default(),
        };
        let held = if let Payload::Held(jobs) = &payload { vec![None; jobs.len()] } else { Vec::new() };
        // Queue items count in 32 bits. No memory holds 2^32 jobs, so the bound is never reached.
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let state = SubmissionState {
            outcomes,
            held,
            errors: Vec::new(),
            left: count,
            engine_ns: 0.0,
            waiter: AnswerWaiter::Nobody,
        };
        let end = if count == 0 { SubmissionEnd::Answered } else { SubmissionEnd::Live };
        Arc::new(Self {
            payload,
            queue_key,
            tenant,
            count,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            end: AtomicU8::new(end as u8),
            cancelled: AtomicBool::new(false),
            queued: AtomicU32::new(0),
            state: Mutex::new(state),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Returns the shape of its operations or records; None for jobs of holders and tasks.
    pub(crate) fn shape(&self) -> Option<Shape> {
        match &self.payload {
            Payload::Operations(set) => Some(set.shape()),
            Payload::Records(shape, _) => Some(*shape),
            Payload::Held(_) | Payload::Task(_) => None,
        }
    }

    pub(crate) fn task(&self) -> Option<&CallerTask> {
        if let Payload::Task(task) = &self.payload { Some(task) } else { None }
    }

    /// Returns the queue item of the whole submission.
    pub(crate) fn item(self: &Arc<Self>, enqueued: Nanos, due: Nanos) -> QueueItem<Arc<Self>> {
        QueueItem {
            owner: Arc::clone(self),
            first: 0,
            count: self.count,
            bytes: self.bytes,
            is_whole: matches!(self.payload, Payload::Records(..)),
            tenant: self.tenant,
            enqueued,
            due,
            attempts: 0,
        }
    }

    /// Counts operations into the queue. The caller holds the scheduler's lock.
    pub(crate) fn enter_queue(&self, ops: u32) {
        self.queued.store(self.queued.load(Ordering::Relaxed) + ops, Ordering::Relaxed);
    }

    /// Counts operations out of the queue. The caller holds the scheduler's lock.
    pub(crate) fn leave_queue(&self, ops: u32) {
        self.queued.store(self.queued.load(Ordering::Relaxed) - ops, Ordering::Relaxed);
    }

    /// Takes the count of queued operations, because they are no longer wanted. The caller holds the scheduler's
    /// lock.
    pub(crate) fn take_queued(&self) -> usize {
        let queued = self.queued.load(Ordering::Relaxed);
        self.queued.store(0, Ordering::Relaxed);
        queued as usize
    }

    pub(crate) fn end(&self) -> SubmissionEnd {
        // Pairs with the release store in `finish`. A caller that sees the end without the lock also sees the counters
        // that were written before it. The answers themselves are read under the lock.
        match self.end.load(Ordering::Acquire) {
            0 => SubmissionEnd::Live,
            1 => SubmissionEnd::Answered,
            2 => SubmissionEnd::Cancelled,
            3 => SubmissionEnd::Expired,
            _ => SubmissionEnd::ShutDown,
        }
    }

    /// Ends a live submission, counts its unanswered operations, and wakes its waiter. Returns false if it had ended
    /// before.
    pub(crate) fn end_early(&self, end: SubmissionEnd, counter: &AtomicU64) -> bool {
        // An answer, a deadline and a cancellation may come at once. The first one under this lock ends the submission.
        let state = self.lock();
        if self.end() != SubmissionEnd::Live {
            return false;
        }
        count(counter, state.left as usize);
        self.cancelled.store(true, Ordering::Relaxed);
        self.finish(state, end);
        true
    }

    /// Returns operation `index`, which ends early with the submission.
    pub(crate) fn operation(&self, index: u32) -> Option<Operation<'_>> {
        let Payload::Operations(set) = &self.payload else { return None };
        set.get(index as usize).map(|operation| operation.until(&self.cancelled))
    }

    /// Ends the submission. The counters have been written before, so that a woken caller already finds itself
    /// counted.
    fn finish(&self, mut state: MutexGuard<'_, SubmissionState>, end: SubmissionEnd) {
        // The end is stored under the lock and the waiter is woken after it. In between, `watch_by_task` sees the end
        // and stores no waker, so that none is forgotten.
        self.end.store(end as u8, Ordering::Release);
        let waiter = std::mem::replace(&mut state.waiter, AnswerWaiter::Nobody);
        drop(state);
        waiter.wake();
    }

    /// Answers `count` operations from index `first` on with the outcomes of a batch from index `from` on.
    pub(crate) fn answer(&self, first: u32, count: u32, batch: &Outcomes, from: usize, counter: &AtomicU64) {
        self.record_answers(count, counter, |state| {
            state.outcomes.copy_results(first as usize, batch, from, count as usize);
        });
    }

    /// Answers all operations with the outcomes of a batch of their own.
    pub(crate) fn answer_all(&self, outcomes: Outcomes, counter: &AtomicU64) {
        self.record_answers(self.count, counter, |state| state.outcomes = outcomes);
    }

    /// Adds the engine's time for operations that are answered next.
    pub(crate) fn add_engine_time(&self, ns: f64) {
        self.lock().engine_ns += ns;
    }

    /// Answers one held job.
    pub(crate) fn answer_held(&self, index: u32, result: Result<Vec<u8>, JobError>, counter: &AtomicU64) {
        self.record_answers(1, counter, |state| state.held[index as usize] = Some(result));
    }

    /// Answers `count` operations from `first` on with an error.
    pub(crate) fn answer_error(&self, first: u32, count: u32, error: &JobError, counter: &AtomicU64) {
        self.record_answers(count, counter, |state| match &self.payload {
            Payload::Held(_) => {
                (first..first + count).for_each(|at| state.held[at as usize] = Some(Err(error.clone())));
            }
            _ => state.errors.extend((first..first + count).map(|at| (at, error.clone()))),
        });
    }

    fn record_answers(&self, ops: u32, counter: &AtomicU64, write: impl FnOnce(&mut SubmissionState)) {
        let mut state = self.lock();
        if self.end() != SubmissionEnd::Live {
            return;
        }
        // An ended submission takes no answers: its caller may have taken the results, and their buffers are gone.
        write(&mut state);
        state.left -= ops;
        count(counter, ops as usize);
        if state.left == 0 {
            self.finish(state, SubmissionEnd::Answered);
        }
    }

    /// Stores `waker`, to be woken at the end. Returns false if the submission has ended.
    pub(crate) fn watch_by_task(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        if self.end() != SubmissionEnd::Live {
            return false;
        }
        match &mut state.waiter {
            // A future is polled again and again by the same task. `clone_from` then keeps the waker that is there.
            AnswerWaiter::Task(known) => known.clone_from(waker),
            waiter => *waiter = AnswerWaiter::Task(waker.clone()),
        }
        true
    }

    /// Stores this thread, to be unparked at the end. Returns false if the submission has ended.
    pub(crate) fn watch_by_thread(&self) -> bool {
        let mut state = self.lock();
        // A thread may be unparked by others too, so it asks again after each park.
        if self.end() == SubmissionEnd::Live {
            state.waiter = AnswerWaiter::Thread(std::thread::current());
        }
        self.end() == SubmissionEnd::Live
    }

    /// Takes the answers of an ended submission.
    pub(crate) fn take_results(&self) -> Results {
        let mut state = self.lock();
        let shape = self.shape();
        Results {
            shape,
            len: self.len(),
            unanswered: match (self.end(), shape) {
                (SubmissionEnd::Expired, _) => JobError::DeadlineExceeded,
                (SubmissionEnd::ShutDown, _) => JobError::ShutDown,
                (SubmissionEnd::Answered, Some(shape)) => unconfirmed_error(shape),
                _ => JobError::Cancelled,
            },
            outcomes: std::mem::take(&mut state.outcomes),
            held: std::mem::take(&mut state.held),
            errors: sort_errors(std::mem::take(&mut state.errors)),
            engine_ns: state.engine_ns,
        }
    }

    fn lock(&self) -> MutexGuard<'_, SubmissionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ItemOwner for Arc<Submission> {
    fn is_live(&self) -> bool {
        self.end() == SubmissionEnd::Live
    }

    fn shape(&self) -> Option<Shape> {
        Submission::shape(self)
    }

    fn task_ns(&self) -> Nanos {
        self.task().map_or(0, |task| task.predicted_ns)
    }
}

impl fmt::Debug for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Submission({:?}, {} operations, {:?})", self.queue_key, self.count, self.end())
    }
}

impl AnswerWaiter {
    /// Wakes the waiter. A panic of a waker is caught, because a worker calls it and has other submissions to answer.
    fn wake(self) {
        match self {
            Self::Nobody => {}
            Self::Task(waker) => drop(catch_unwind(AssertUnwindSafe(|| waker.wake()))),
            Self::Thread(thread) => thread.unpark(),
        }
    }
}
