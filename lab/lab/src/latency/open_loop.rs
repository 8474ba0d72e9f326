//! One rule under load. This thread submits on time and computes nothing; the thread that completes a job stamps it.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use oarlock::{Accelerator, Answers, Job, JobError, PendingAnswers, SubmitOptions};

use super::rules::JobCollector;
use super::setup::RuleContender;

/// A slice of load.
#[derive(Clone, Debug)]
pub(super) struct LoadSlice {
    /// The times of arrival since the start, in order.
    pub(super) arrivals: Vec<Duration>,
    /// Jobs that arrive or are done before this fill the queue and are not counted.
    pub(super) warm_up: Duration,
    pub(super) length: Duration,
    /// The time after the end in which jobs may still be done. Later ones are cancelled.
    pub(super) grace: Duration,
}

/// The results of a slice.
#[derive(Clone, Debug, Default)]
pub(super) struct SliceTally {
    /// Jobs that arrived while it counted.
    pub(super) arrived: usize,
    /// Jobs done while it counted.
    pub(super) done: usize,
    /// From due arrival to completion, of every job that arrived while it counted and was done at all.
    pub(super) latencies_ns: Vec<u64>,
}

/// The time before the first arrival, in which workers and generator get ready.
const LEAD: Duration = Duration::from_millis(2);

/// Submits `jobs` in turn at the times of `slice`. A rule with a timer collects up to `full_batch` of them.
///
/// # Errors
/// A job fails. `Overloaded` is no failure and counts as not done.
pub(super) fn play(
    contender: &RuleContender,
    full_batch: usize,
    jobs: &[Job<'_>],
    slice: &LoadSlice,
) -> Result<SliceTally, JobError> {
    let start = Instant::now() + LEAD;
    let mut calls = Vec::with_capacity(slice.arrivals.len());
    let mut collector = JobCollector::new(contender.rule.wait, full_batch);
    let submit = |arrivals| SubmittedCall::submit(&contender.accelerator, jobs, arrivals, start);
    for arrival in &slice.arrivals {
        if let Some(due) = collector.due().filter(|due| due <= arrival) {
            wait_until(start + due);
            calls.push(submit(collector.take()));
        }
        wait_until(start + *arrival);
        calls.extend(collector.add(*arrival).map(submit));
    }
    if let Some(due) = collector.due() {
        wait_until(start + due);
        calls.push(submit(collector.take()));
    }
    let end = start + slice.length;
    wait_until(end);
    await_completions(&calls, end + slice.grace);
    let mut tally = SliceTally::default();
    for call in calls {
        call.count(&mut tally, slice)?;
    }
    Ok(tally)
}

/// Waits until every call is done, or until `end`.
fn await_completions(calls: &[SubmittedCall], end: Instant) {
    for call in calls {
        while call.done_at().is_none() && Instant::now() < end {
            std::thread::park_timeout(Duration::from_micros(200));
        }
    }
}

impl SliceTally {
    fn count(&mut self, arrived_at: Duration, done_at: Option<Duration>, slice: &LoadSlice) {
        let is_counted = |at: Duration| at >= slice.warm_up && at < slice.length;
        self.arrived += usize::from(is_counted(arrived_at));
        self.done += usize::from(done_at.is_some_and(is_counted));
        if let Some(done_at) = done_at.filter(|_| is_counted(arrived_at)) {
            self.latencies_ns.push(done_at.saturating_sub(arrived_at).as_nanos() as u64);
        }
    }

    /// Adds the results of another slice.
    pub(super) fn add(&mut self, other: Self) {
        self.arrived += other.arrived;
        self.done += other.done;
        self.latencies_ns.extend(other.latencies_ns);
    }
}

/// Jobs that were submitted together. Without a timer this is a single job.
struct SubmittedCall {
    /// The arrivals of the jobs, by index.
    arrivals: Range<usize>,
    pending: PendingAnswers,
    /// The answers, if the jobs were done before their waker was stored.
    answers: Option<Answers>,
    stamp: Arc<CompletionStamp>,
}

impl SubmittedCall {
    fn submit(accelerator: &Accelerator, jobs: &[Job<'_>], arrivals: Range<usize>, start: Instant) -> Self {
        let batch: Vec<Job<'_>> = arrivals.clone().map(|at| jobs[at % jobs.len()]).collect();
        let pending = accelerator.submit_many(&batch, SubmitOptions::default());
        let stamp = Arc::new(CompletionStamp::new(start));
        let mut call = Self { arrivals, pending, answers: None, stamp };
        call.answers = call.poll();
        if call.answers.is_some() {
            call.stamp.set();
        }
        call
    }

    fn done_at(&self) -> Option<Duration> {
        self.stamp.get()
    }

    /// Counts the jobs of this call. Jobs that are not done are cancelled.
    fn count(mut self, tally: &mut SliceTally, slice: &LoadSlice) -> Result<(), JobError> {
        let done_at = self.done_at();
        let answers = match done_at {
            Some(_) => self.answers.take().or_else(|| self.poll()),
            None => None,
        };
        for (index, at) in self.arrivals.clone().enumerate() {
            let is_done = match answers.as_ref().map(|answers| answers.get(index)) {
                Some(Ok(_)) => true,
                Some(Err(JobError::Overloaded { .. })) | None => false,
                Some(Err(error)) => return Err(error),
            };
            tally.count(slice.arrivals[at], done_at.filter(|_| is_done), slice);
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<Answers> {
        let waker = Waker::from(Arc::clone(&self.stamp));
        match Pin::new(&mut self.pending).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answers) => Some(answers),
            Poll::Pending => None,
        }
    }
}

/// The time of the first wake.
struct CompletionStamp {
    start: Instant,
    /// Zero until it is woken.
    after_ns: AtomicU64,
}

impl CompletionStamp {
    fn new(start: Instant) -> Self {
        Self { start, after_ns: AtomicU64::new(0) }
    }

    fn set(&self) {
        let now = (self.start.elapsed().as_nanos() as u64).max(1);
        // Release: a thread that reads the stamp sees the answer that was written before the wake. A later wake keeps
        // the first stamp.
        let _ = self.after_ns.compare_exchange(0, now, Ordering::Release, Ordering::Relaxed);
    }

    fn get(&self) -> Option<Duration> {
        match self.after_ns.load(Ordering::Acquire) {
            0 => None,
            after_ns => Some(Duration::from_nanos(after_ns)),
        }
    }
}

impl Wake for CompletionStamp {
    fn wake(self: Arc<Self>) {
        self.set();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.set();
    }
}

/// Parks while there is time and spins through the rest, since a parked thread wakes some tens of microseconds late.
fn wait_until(at: Instant) {
    const SPUN: Duration = Duration::from_micros(150);
    loop {
        let left = at.saturating_duration_since(Instant::now());
        match left.checked_sub(SPUN) {
            _ if left.is_zero() => return,
            Some(parked) if !parked.is_zero() => std::thread::park_timeout(parked),
            _ => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice() -> LoadSlice {
        let [warm_up, length, grace] = [1, 10, 5].map(Duration::from_millis);
        LoadSlice { arrivals: Vec::new(), warm_up, length, grace }
    }

    #[test]
    fn only_what_happens_in_time_is_counted() {
        let mut tally = SliceTally::default();
        let ms = Duration::from_micros;
        for (arrived_at, done_at) in
            [(500, Some(1_500)), (2_000, Some(2_300)), (9_000, Some(11_000)), (9_500, None)]
        {
            tally.count(ms(arrived_at), done_at.map(ms), &slice());
        }
        assert_eq!((tally.arrived, tally.done), (3, 2));
        assert_eq!(tally.latencies_ns, [300_000, 2_000_000]);
    }

    #[test]
    fn a_stamp_keeps_its_first_time() {
        let stamp = Arc::new(CompletionStamp::new(Instant::now()));
        assert_eq!(stamp.get(), None);
        let waker = Waker::from(Arc::clone(&stamp));
        waker.wake_by_ref();
        let first = stamp.get();
        waker.wake();
        assert!(first.is_some() && stamp.get() == first);
    }

    #[test]
    fn nothing_waits_for_the_past() {
        let past = Instant::now();
        wait_until(past);
        wait_until(past + Duration::from_micros(300));
        assert!(past.elapsed() >= Duration::from_micros(300));
    }
}
