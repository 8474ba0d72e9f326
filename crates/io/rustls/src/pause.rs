//! Synchronous code that pauses while its jobs are computed.
//!
//! rustls asks for a signature, a key agreement or a verification by a call that must return the result. Here such a
//! call may run on the stack of a coroutine. It submits its jobs, suspends the coroutine, and returns once the
//! coroutine is resumed with the answers. Outside of a coroutine it waits. [`crate::gather`] says where the jobs of
//! several handshakes meet.
//!
//! Only rustls and the callbacks of its configuration run on such a stack: no future, no I/O and no
//! [`Context`] is ever there.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker, ready};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use oarlock::{Accelerator, Job, JobError, PendingAnswers, SubmitOptions};
use zeroize::Zeroize;

use crate::gather::{GatherStep, GatheredJobs, JobAnswers, compute_all, gather};

/// The size of a stack. rustls and AWS-LC need less than a tenth of it. The rest is for the callbacks of a
/// configuration, such as a certificate verifier. Pages that were never touched take no memory.
const STACK_BYTES: usize = 256 << 10;

/// The part of a stack that code uses which has no deep callbacks.
const USUAL_BYTES: usize = 64 << 10;

/// The maximum number of unused stacks that a thread keeps.
const MAX_IDLE_STACKS: usize = 256;

/// `None` resumes a coroutine whose jobs were cancelled.
type JobYielder = Yielder<Option<JobAnswers>, PausedJobs>;
type JobCoroutine<T> = Coroutine<Option<JobAnswers>, PausedJobs, Result<T, TaskPanic>, DefaultStack>;

thread_local! {
    /// The handshakes of this thread that have begun and not ended.
    static UNDER_WAY: Cell<usize> = const { Cell::new(0) };
    /// The yielder of the coroutine that runs on this thread now, or null.
    static CURRENT: Cell<*const JobYielder> = const { Cell::new(ptr::null()) };
    static IDLE_STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// The code of a task panicked. The panic hook has reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskPanic;

/// Computes jobs. Inside a task it pauses the task meanwhile, otherwise it blocks.
///
/// # Errors
/// [`JobError::Cancelled`] if the task was dropped, or the error of a message that cannot be hashed. Each job has a
/// result of its own in the answers.
pub(crate) fn run_jobs(accelerator: &Accelerator, jobs: &[Job<'_>]) -> Result<JobAnswers, JobError> {
    let Some(yielder) = current_yielder() else {
        return Ok(accelerator.submit_many(jobs, SubmitOptions::default()).wait().into());
    };
    // A handshake by itself is fastest if nothing waits for others. Jobs of held keys are computed elsewhere, and
    // this thread must not wait for them.
    let has_company = UNDER_WAY.get() > 1;
    let paused = if has_company && jobs.iter().all(|job| job.key.parts().is_some()) {
        PausedJobs::Gathered(gather(accelerator, jobs)?)
    } else {
        match on_parent_stack(yielder, || submit(accelerator, jobs)) {
            SubmittedJobs::Answered(answers) => return Ok(answers.into()),
            SubmittedJobs::Pending(pending) => PausedJobs::Submitted(pending),
        }
    };
    let answers = yielder.suspend(paused);
    CURRENT.set(yielder);
    answers.ok_or(JobError::Cancelled)
}

/// Jobs that are computed while a task is paused.
enum PausedJobs {
    Gathered(GatheredJobs),
    Submitted(PendingAnswers),
}

impl Future for PausedJobs {
    /// None if the jobs are lost.
    type Output = Option<JobAnswers>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Gathered(jobs) => loop {
                match jobs.poll(context) {
                    GatherStep::Answered(answers) => return Poll::Ready(Some(answers)),
                    GatherStep::Lost => return Poll::Ready(None),
                    GatherStep::Waiting => return Poll::Pending,
                    // A future may be polled inside of another coroutine, whose stack is short.
                    GatherStep::Due => {
                        compute_all(|accelerator, jobs| on_thread_stack(|| accelerator.run_all(jobs)));
                    }
                }
            },
            Self::Submitted(pending) => Pin::new(pending).poll(context).map(|answers| Some(answers.into())),
        }
    }
}

/// Runs `work` on the stack of the thread, for code that may need more stack than a coroutine has.
pub(crate) fn on_thread_stack<T>(work: impl FnOnce() -> T + Send) -> T {
    match current_yielder() {
        Some(yielder) => on_parent_stack(yielder, work),
        None => work(),
    }
}

fn current_yielder<'a>() -> Option<&'a JobYielder> {
    let yielder = CURRENT.get();
    // SAFETY: `CURRENT` is null, or it was set by the coroutine that runs now, to the yielder that its closure
    // borrows until it ends: the closure sets it at its start and after each suspension, and `PausableTask::resume`
    // puts the former value back whenever the coroutine suspends or ends. So the yielder outlives every function that
    // the closure calls, and the callers of this function keep the reference no longer than that.
    unsafe { yielder.as_ref() }
}

/// Runs `work` below the frames of the thread that resumed the coroutine. Code there is outside of the coroutine.
fn on_parent_stack<T>(yielder: &JobYielder, work: impl FnOnce() -> T + Send) -> T {
    // The yielder must not suspend from there. If `work` panics, the pointer stays null, and later jobs of the task
    // wait instead of pausing.
    CURRENT.set(ptr::null());
    let result = yielder.on_parent_stack(work);
    CURRENT.set(yielder);
    result
}

enum SubmittedJobs {
    Answered(oarlock::Answers),
    Pending(PendingAnswers),
}

fn submit(accelerator: &Accelerator, jobs: &[Job<'_>]) -> SubmittedJobs {
    let mut pending = accelerator.submit_many(jobs, SubmitOptions::default());
    match Pin::new(&mut pending).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answers) => SubmittedJobs::Answered(answers),
        Poll::Pending => SubmittedJobs::Pending(pending),
    }
}

/// Counts a handshake until it is dropped.
#[derive(Debug)]
pub(crate) struct HandshakeCount(PhantomData<*const ()>);

impl HandshakeCount {
    pub(crate) fn new() -> Self {
        UNDER_WAY.set(UNDER_WAY.get() + 1);
        Self(PhantomData)
    }
}

impl Drop for HandshakeCount {
    fn drop(&mut self) {
        // Fails if the thread is ending.
        let _ = UNDER_WAY.try_with(|count| count.set(count.get() - 1));
    }
}

/// A future that runs synchronous code, and is pending while jobs of that code are computed.
///
/// It is not `Send`: rustls may keep values of its thread on the stack. Dropping it cancels the jobs and runs the code
/// to its end, in which each further job fails at once.
pub(crate) struct PausableFuture<T: 'static> {
    // Dropped before the task, so that the jobs are cancelled before their results are refused.
    pending: Option<PausedJobs>,
    task: PausableTask<T>,
}

impl<T: 'static> PausableFuture<T> {
    /// # Errors
    /// The system gives no memory for a stack.
    pub(crate) fn new(work: impl FnOnce() -> T + 'static) -> io::Result<Self> {
        Ok(Self { pending: None, task: PausableTask::new(work)? })
    }
}

impl<T: 'static> Future for PausableFuture<T> {
    type Output = Result<T, TaskPanic>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            let answers = match &mut this.pending {
                Some(pending) => ready!(Pin::new(pending).poll(context)),
                None => None,
            };
            this.pending = None;
            match this.task.resume(answers) {
                TaskStep::Paused(pending) => this.pending = Some(pending),
                TaskStep::Ended(result) => return Poll::Ready(result),
            }
        }
    }
}

/// A coroutine that suspends while its jobs are computed.
struct PausableTask<T: 'static> {
    /// `None` once it has ended.
    coroutine: Option<JobCoroutine<T>>,
}

enum TaskStep<T> {
    Paused(PausedJobs),
    Ended(Result<T, TaskPanic>),
}

impl<T: 'static> PausableTask<T> {
    fn new(work: impl FnOnce() -> T + 'static) -> io::Result<Self> {
        let stack = match IDLE_STACKS.with_borrow_mut(Vec::pop) {
            Some(stack) => stack,
            None => DefaultStack::new(STACK_BYTES)?,
        };
        // A closure on a coroutine may have 1,024 bytes at most.
        let work = Box::new(work);
        let run = move |yielder: &JobYielder, _: Option<JobAnswers>| {
            CURRENT.set(yielder);
            catch_unwind(AssertUnwindSafe(work)).map_err(|_| TaskPanic)
        };
        Ok(Self { coroutine: Some(Coroutine::with_stack(stack, run)) })
    }

    /// Runs the code until it pauses or ends.
    fn resume(&mut self, answers: Option<JobAnswers>) -> TaskStep<T> {
        // Polled again after the end: a future may not panic for that.
        let Some(coroutine) = &mut self.coroutine else { return TaskStep::Ended(Err(TaskPanic)) };
        // Null, unless a callback of a configuration polls another handshake inside of this one.
        let outer = CURRENT.get();
        let result = coroutine.resume(answers);
        CURRENT.set(outer);
        match result {
            CoroutineResult::Yield(pending) => TaskStep::Paused(pending),
            CoroutineResult::Return(result) => {
                self.coroutine.take().into_iter().for_each(keep_stack);
                TaskStep::Ended(result)
            }
        }
    }
}

impl<T: 'static> Drop for PausableTask<T> {
    fn drop(&mut self) {
        // The stack holds values that must be dropped. Its code gets an error for each job and returns, which works
        // with `panic = "abort"` too. Dropping the coroutine would unwind the stack.
        while self.coroutine.as_ref().is_some_and(Coroutine::started) {
            if let TaskStep::Paused(pending) = self.resume(None) {
                drop(pending);
            }
        }
    }
}

/// Keeps the stack of a coroutine that has ended for another one, without what its code has left there.
fn keep_stack<T>(coroutine: JobCoroutine<T>) {
    let mut stack = coroutine.into_stack();
    // Fails if the thread is ending, and its stacks are gone.
    let _ = IDLE_STACKS.try_with(|idle| {
        let mut idle = idle.borrow_mut();
        if idle.len() < MAX_IDLE_STACKS {
            wipe(&mut stack);
            idle.push(stack);
        }
    });
}

/// Wipes a stack. A new stack is zeros, and a wiped one too, so the part that code usually uses is wiped from the
/// deepest byte that is not zero on: to write everything would make each stack take all of its memory. To look through
/// the rest as well would take 10 µs of each handshake. Its pages, if there are any, go back to the system.
fn wipe(stack: &mut DefaultStack) {
    const STEP: usize = 64;
    let words = words_of(stack);
    let (deep, usual) = words.split_at_mut((STACK_BYTES - USUAL_BYTES) / size_of::<u64>());
    let words = if discard(deep) { usual } else { words };
    let is_used = |step: &[u64]| step.iter().fold(0, |all, word| all | word) != 0;
    let deepest = words.chunks(STEP).position(is_used).map_or(words.len(), |step| step * STEP);
    words.split_at_mut(deepest).1.zeroize();
}

/// Gives whole pages back to the system, and reads as zeros afterwards. Returns false if the system cannot do that.
fn discard(pages: &mut [u64]) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        // SAFETY: the memory is borrowed exclusively and private to this process. Afterwards it is zeros, which are
        // values of `u64`: madvise(2), `MADV_DONTNEED`.
        unsafe { madvise(pages.as_mut_ptr().cast(), size_of_val(pages), Advice::LinuxDontNeed) }.is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Returns the memory of a stack on which nothing runs.
fn words_of(stack: &mut DefaultStack) -> &mut [u64] {
    let start = ptr::with_exposed_provenance_mut(stack.base().get() - STACK_BYTES);
    // SAFETY: the pages below the base are mapped for reading and writing, `STACK_BYTES` of them above the guard page,
    // and begin at a page's border. Every value is a `u64`. The stack is borrowed, so no coroutine is on it.
    unsafe { std::slice::from_raw_parts_mut(start, STACK_BYTES / size_of::<u64>()) }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;

    use oarlock::engine_api::{Completion, Holder, OwnedJobs};
    use oarlock::{Fingerprint, Input, Key, KeyKind, SigningScheme};

    use super::*;

    /// A holder that keeps every job until the test answers it.
    #[derive(Debug, Default)]
    struct PatientHolder(std::sync::Mutex<Vec<Completion>>);

    impl Holder for PatientHolder {
        fn name(&self) -> &str {
            "patient"
        }

        fn start(&self, _: OwnedJobs, done: Completion) {
            self.0.lock().unwrap().push(done);
        }
    }

    fn accelerator() -> (Accelerator, Arc<PatientHolder>) {
        let holder = Arc::new(PatientHolder::default());
        let builder = Accelerator::builder().engines(["scalar"]).lazy();
        (builder.holder(Arc::clone(&holder) as _).build().unwrap(), holder)
    }

    fn held_key() -> Key {
        Key::held(KeyKind::Ed25519Private, "patient", "k", None, Fingerprint::new([1; 32]))
    }

    fn sign(accelerator: &Accelerator) -> Result<Vec<u8>, JobError> {
        let key = held_key();
        let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(b"a message"));
        run_jobs(accelerator, &[job])?.get(0).map(<[u8]>::to_vec)
    }

    fn poll<T>(future: &mut PausableFuture<T>) -> Poll<Result<T, TaskPanic>> {
        Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[tokio::test]
    async fn a_task_pauses_and_returns_with_its_answer() {
        let (accelerator, holder) = accelerator();
        let mut future = PausableFuture::new(move || (sign(&accelerator), sign(&accelerator))).unwrap();
        for answer in [b"one", b"two"] {
            assert!(poll(&mut future).is_pending());
            while holder.0.lock().unwrap().is_empty() {
                tokio::task::yield_now().await;
                assert!(poll(&mut future).is_pending());
            }
            let done = holder.0.lock().unwrap().pop().unwrap();
            assert!(done.complete(0, Ok(answer.to_vec())));
        }
        let (one, two) = future.await.unwrap();
        assert_eq!((one.unwrap(), two.unwrap()), (b"one".to_vec(), b"two".to_vec()));
        assert!(IDLE_STACKS.with_borrow(|idle| idle.len() == 1), "the stack is used again");
    }

    #[test]
    fn a_stack_is_kept_without_what_was_on_it() {
        fn leave<const N: usize>() {
            let secret = || std::hint::black_box([0xA5_u8; N]).iter().map(|byte| usize::from(*byte)).sum();
            let mut future = PausableFuture::<usize>::new(secret).unwrap();
            assert_eq!(poll(&mut future), Poll::Ready(Ok(0xA5 * N)));
            let mut stacks = IDLE_STACKS.take();
            assert_eq!(stacks.len(), 1);
            assert!(words_of(&mut stacks[0]).iter().all(|word| *word == 0), "{N}");
        }
        leave::<20_000>();
        // Beyond the part that is usually used.
        leave::<100_000>();
    }

    #[test]
    fn a_dropped_task_releases_everything() {
        let (accelerator, _holder) = accelerator();
        let value = Rc::new(());
        let (inside, seen) = (Rc::clone(&value), Rc::new(Cell::new(None)));
        let results = Rc::clone(&seen);
        let mut future = PausableFuture::new(move || {
            let _inside = inside;
            results.set(Some((sign(&accelerator), sign(&accelerator))));
        })
        .unwrap();
        assert!(poll(&mut future).is_pending());
        assert_eq!(Rc::strong_count(&value), 2);
        drop(future);
        assert_eq!(Rc::strong_count(&value), 1);
        assert_eq!(seen.take(), Some((Err(JobError::Cancelled), Err(JobError::Cancelled))));
    }

    #[test]
    fn a_task_that_never_began_is_dropped() {
        let value = Rc::new(());
        let inside = Rc::clone(&value);
        drop(PausableFuture::new(move || drop(inside)).unwrap());
        assert_eq!(Rc::strong_count(&value), 1);
    }

    #[test]
    fn a_panic_is_an_error() {
        let mut future = PausableFuture::new(|| panic!("a test")).unwrap();
        assert_eq!(poll(&mut future), Poll::Ready(Err::<(), _>(TaskPanic)));
        assert_eq!(poll(&mut future), Poll::Ready(Err(TaskPanic)), "polled after its end");
        assert!(current_yielder().is_none());
    }

    #[test]
    fn a_panic_after_a_pause_is_an_error() {
        let (accelerator, _holder) = accelerator();
        let mut future = PausableFuture::new(move || {
            sign(&accelerator).unwrap();
        })
        .unwrap();
        assert!(poll(&mut future).is_pending());
        drop(future);
        assert!(current_yielder().is_none());
    }

    #[test]
    fn a_task_runs_inside_of_another_one() {
        let (accelerator, _holder) = accelerator();
        let mut outer = PausableFuture::new(move || {
            let inner_accelerator = accelerator.clone();
            let mut inner = PausableFuture::new(move || drop(sign(&inner_accelerator))).unwrap();
            assert!(poll(&mut inner).is_pending());
            drop(inner);
            sign(&accelerator)
        })
        .unwrap();
        assert!(poll(&mut outer).is_pending());
    }

    #[test]
    fn jobs_outside_of_a_task_wait() {
        let (accelerator, _holder) = accelerator();
        let key = oarlock::keys::generate::ed25519().unwrap();
        let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(b"a message"));
        assert_eq!(run_jobs(&accelerator, &[job]).unwrap().get(0).unwrap().len(), 64);
        assert_eq!(on_thread_stack(|| 7), 7);
    }

    #[test]
    fn deep_code_runs_on_the_stack_of_the_thread() {
        let deep = || {
            on_thread_stack(|| {
                std::hint::black_box([7_u8; 2 * STACK_BYTES]).iter().map(|b| *b as usize).sum()
            })
        };
        let mut future = PausableFuture::<usize>::new(deep).unwrap();
        assert_eq!(poll(&mut future), Poll::Ready(Ok(7 * 2 * STACK_BYTES)));
    }
}
