//! A submission: jobs, their answers, and who waits for them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::Thread;

use oarlock_core::{HeldJob, JobError, Jobs, OperationSet, Outcomes, Records, Shape};

use crate::metrics::count;
use crate::queue::{Item, Lane, Nanos, Work};
use crate::results::{Results, sorted, withheld};
use crate::task::Task;

/// What was submitted.
pub(crate) enum Payload {
    Operations(OperationSet),
    Records(Shape, Box<Records<'static>>),
    Held(Vec<HeldJob>),
    Task(Task),
}

/// One submission. Its inputs do not change until it is dropped, so an abandoned batch may still read them.
pub(crate) struct Group {
    pub(crate) payload: Payload,
    pub(crate) lane: Lane,
    pub(crate) tenant: u64,
    count: u32,
    bytes: u32,
    /// An [`End`]; written under `state`'s lock only, so that a submission ends once.
    end: AtomicU8,
    /// Operations still in the queue; touched under the scheduler's lock only, so that plain loads and stores do.
    queued: AtomicU32,
    state: Mutex<State>,
}

struct State {
    outcomes: Outcomes,
    held: Vec<Option<Result<Vec<u8>, JobError>>>,
    errors: Vec<(u32, JobError)>,
    left: u32,
    waiter: Waiter,
}

enum Waiter {
    Nobody,
    Task(Waker),
    Thread(Thread),
}

/// How a submission ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum End {
    Live = 0,
    Answered = 1,
    Cancelled = 2,
    Expired = 3,
    ShutDown = 4,
}

impl Group {
    pub(crate) fn new(payload: Payload, lane: Lane, tenant: u64) -> Arc<Self> {
        let (count, bytes) = match &payload {
            Payload::Operations(set) => (set.len(), set.input_bytes()),
            Payload::Records(_, records) => (records.len, records.input_bytes()),
            Payload::Held(jobs) => (jobs.len(), 0),
            Payload::Task(_) => (1, 0),
        };
        let outcomes = match &payload {
            Payload::Operations(set) => Outcomes::for_operations(set.shape(), set.len()),
            // No engine will be asked, so the (empty) outcome is made here.
            Payload::Records(shape, records) if records.len == 0 => {
                Outcomes::for_jobs(&Jobs::Records(*shape, &[&**records]))
            }
            _ => Outcomes::default(),
        };
        let held = if let Payload::Held(jobs) = &payload { vec![None; jobs.len()] } else { Vec::new() };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let state = State { outcomes, held, errors: Vec::new(), left: count, waiter: Waiter::Nobody };
        let end = if count == 0 { End::Answered } else { End::Live };
        Arc::new(Self {
            payload,
            lane,
            tenant,
            count,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            end: AtomicU8::new(end as u8),
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

    /// The shape of what engines do; None where none of them does.
    pub(crate) fn shape(&self) -> Option<Shape> {
        match &self.payload {
            Payload::Operations(set) => Some(set.shape()),
            Payload::Records(shape, _) => Some(*shape),
            Payload::Held(_) | Payload::Task(_) => None,
        }
    }

    pub(crate) fn task(&self) -> Option<&Task> {
        if let Payload::Task(task) = &self.payload { Some(task) } else { None }
    }

    /// The whole submission as it enters the queue.
    pub(crate) fn item(self: &Arc<Self>, enqueued: Nanos, due: Nanos) -> Item<Arc<Self>> {
        Item {
            work: Arc::clone(self),
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

    /// Counts operations into the queue. Under the scheduler's lock.
    pub(crate) fn enter_queue(&self, ops: u32) {
        self.queued.store(self.queued.load(Ordering::Relaxed) + ops, Ordering::Relaxed);
    }

    /// Counts operations out of the queue. Under the scheduler's lock.
    pub(crate) fn leave_queue(&self, ops: u32) {
        self.queued.store(self.queued.load(Ordering::Relaxed) - ops, Ordering::Relaxed);
    }

    /// Takes the count of operations still queued, when they are not wanted any more. Under the scheduler's lock.
    pub(crate) fn take_queued(&self) -> usize {
        let queued = self.queued.load(Ordering::Relaxed);
        self.queued.store(0, Ordering::Relaxed);
        queued as usize
    }

    pub(crate) fn end(&self) -> End {
        match self.end.load(Ordering::Acquire) {
            0 => End::Live,
            1 => End::Answered,
            2 => End::Cancelled,
            3 => End::Expired,
            _ => End::ShutDown,
        }
    }

    /// Ends a live submission, counts what was not answered, and wakes who waits for it; false where it had ended.
    pub(crate) fn end_early(&self, end: End, counter: &AtomicU64) -> bool {
        let state = self.lock();
        if self.end() != End::Live {
            return false;
        }
        count(counter, state.left as usize);
        self.finish(state, end);
        true
    }

    /// Counters are written before, so that whoever is woken finds itself counted.
    fn finish(&self, mut state: MutexGuard<'_, State>, end: End) {
        self.end.store(end as u8, Ordering::Release);
        let waiter = std::mem::replace(&mut state.waiter, Waiter::Nobody);
        drop(state);
        waiter.wake();
    }

    /// Answers `count` operations from `first` on with outcomes `from..` of a batch.
    pub(crate) fn answer(&self, first: u32, count: u32, batch: &Outcomes, from: usize, counter: &AtomicU64) {
        self.settle(count, counter, |state| {
            state.outcomes.copy_results(first as usize, batch, from, count as usize);
        });
    }

    /// Answers all operations with the outcomes of a batch of their own.
    pub(crate) fn answer_all(&self, outcomes: Outcomes, counter: &AtomicU64) {
        self.settle(self.count, counter, |state| state.outcomes = outcomes);
    }

    /// Answers one held job.
    pub(crate) fn answer_held(&self, index: u32, result: Result<Vec<u8>, JobError>, counter: &AtomicU64) {
        self.settle(1, counter, |state| state.held[index as usize] = Some(result));
    }

    /// Answers `count` operations from `first` on with an error.
    pub(crate) fn answer_error(&self, first: u32, count: u32, error: &JobError, counter: &AtomicU64) {
        self.settle(count, counter, |state| match &self.payload {
            Payload::Held(_) => {
                (first..first + count).for_each(|at| state.held[at as usize] = Some(Err(error.clone())));
            }
            _ => state.errors.extend((first..first + count).map(|at| (at, error.clone()))),
        });
    }

    fn settle(&self, ops: u32, counter: &AtomicU64, write: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        if self.end() != End::Live {
            return;
        }
        write(&mut state);
        state.left -= ops;
        count(counter, ops as usize);
        if state.left == 0 {
            self.finish(state, End::Answered);
        }
    }

    /// Leaves `waker` to be woken; false where the end has come already.
    pub(crate) fn watch_by_task(&self, waker: &Waker) -> bool {
        let mut state = self.lock();
        if self.end() != End::Live {
            return false;
        }
        match &mut state.waiter {
            Waiter::Task(known) => known.clone_from(waker),
            waiter => *waiter = Waiter::Task(waker.clone()),
        }
        true
    }

    /// Leaves this thread to be unparked; false where the end has come already.
    pub(crate) fn watch_by_thread(&self) -> bool {
        let mut state = self.lock();
        if self.end() == End::Live {
            state.waiter = Waiter::Thread(std::thread::current());
        }
        self.end() == End::Live
    }

    /// Takes the answers of an ended submission.
    pub(crate) fn take_results(&self) -> Results {
        let mut state = self.lock();
        let shape = self.shape();
        Results {
            shape,
            len: self.len(),
            unanswered: match (self.end(), shape) {
                (End::Expired, _) => JobError::DeadlineExceeded,
                (End::ShutDown, _) => JobError::ShutDown,
                (End::Answered, Some(shape)) => withheld(shape),
                _ => JobError::Cancelled,
            },
            outcomes: std::mem::take(&mut state.outcomes),
            held: std::mem::take(&mut state.held),
            errors: sorted(std::mem::take(&mut state.errors)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work for Arc<Group> {
    fn is_live(&self) -> bool {
        self.end() == End::Live
    }

    fn shape(&self) -> Option<Shape> {
        Group::shape(self)
    }

    fn task_ns(&self) -> Nanos {
        self.task().map_or(0, |task| task.predicted_ns)
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Group({:?}, {} operations, {:?})", self.lane, self.count, self.end())
    }
}

impl Waiter {
    /// A waker that panics harms nobody but its own task: other answers of the batch go out.
    fn wake(self) {
        match self {
            Self::Nobody => {}
            Self::Task(waker) => drop(catch_unwind(AssertUnwindSafe(|| waker.wake()))),
            Self::Thread(thread) => thread.unpark(),
        }
    }
}
