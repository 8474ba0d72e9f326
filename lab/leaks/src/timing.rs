//! Batches of both classes, timed in random order.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::thread;
use std::time::Instant;

use oarlock_core::{Engine, Outcomes};

use crate::LeakError;
use crate::report::TimeRow;
use crate::subject::{SecretBatch, Subject};
use crate::welch::{CroppedTests, PILOT, SampleClass, max_t};

/// The value of |t| from which a subject leaks.
pub const MAX_T: f64 = 5.0;

/// A clock for batches. A test may count steps instead of nanoseconds.
pub trait SampleClock {
    /// Runs the body once, and returns its time in any unit.
    fn time<T>(&mut self, body: impl FnOnce() -> T) -> (T, u64);
}

/// A clock that counts nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock;

impl SampleClock for WallClock {
    fn time<T>(&mut self, body: impl FnOnce() -> T) -> (T, u64) {
        let start = Instant::now();
        let result = body();
        (result, start.elapsed().as_nanos() as u64)
    }
}

/// The number of samples after which both batches are made anew.
const SAMPLES_PER_PAIR: usize = 16;

/// The limits of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct SampleLimits {
    /// The number of batches.
    pub samples: u64,
    /// The time after which no pair of batches is begun, even if samples are missing.
    pub deadline: Option<Instant>,
}

impl SampleLimits {
    /// Stops after a number of batches.
    #[must_use]
    pub fn samples(samples: u64) -> Self {
        Self { samples, deadline: None }
    }
}

/// Times `samples` runs of full batches, with a random class for each run. A batch first runs once without a clock,
/// which prepares its keys and loads it into the caches. `tick` is called after every sample. The samples end early at
/// the deadline.
///
/// # Errors
/// The engine fails, or rejects a job.
pub fn measure(
    engine: &dyn Engine,
    subject: &mut Subject,
    SampleLimits { samples, deadline }: SampleLimits,
    clock: &mut impl SampleClock,
    tick: &mut dyn FnMut(),
) -> Result<CroppedTests, LeakError> {
    let pilot = PILOT.min(samples as usize / 10);
    let mut cropped = CroppedTests::new(pilot);
    let mut coin = subject.coin();
    let mut left = samples + pilot as u64;
    while left > 0 && deadline.is_none_or(|deadline| Instant::now() < deadline) {
        // The order of construction is random too: memory that was allocated later has other addresses.
        let is_fixed_first = coin.below(2) == 0;
        let mut made = [is_fixed_first, !is_fixed_first].map(|is_fixed| {
            let class = if is_fixed { SampleClass::Fixed } else { SampleClass::Random };
            (class, subject.full_batch(class, engine))
        });
        // Both run once, so that neither class pays for cold caches.
        for (_, batch) in &made {
            sample(engine, subject, batch, &mut ClockUnavailable)?;
        }
        for _ in 0..left.min(SAMPLES_PER_PAIR as u64) {
            let (class, batch) = &mut made[coin.below(2)];
            subject.draw_hedges(batch);
            cropped.add(*class, sample(engine, subject, batch, clock)?);
            left -= 1;
            tick();
        }
    }
    Ok(cropped)
}

/// Measures as [`measure`] on several threads at once, each with its share of the samples and its own random numbers.
/// `tick` is called after every sample, on any thread. The threads have numbers from `first` on, which decide their
/// random numbers.
///
/// # Errors
/// As [`measure`], on any thread.
pub fn measure_on_threads(
    engine: &dyn Engine,
    subject: &Subject,
    limits: SampleLimits,
    first: usize,
    threads: NonZeroUsize,
    tick: &(dyn Fn() + Sync),
) -> Result<Vec<CroppedTests>, LeakError> {
    let limits = SampleLimits { samples: limits.samples.div_ceil(threads.get() as u64), ..limits };
    thread::scope(|scope| {
        let one = |number: usize| {
            let mut subject = subject.for_thread(number);
            scope.spawn(move || measure(engine, &mut subject, limits, &mut WallClock, &mut || tick()))
        };
        let running: Vec<_> = (first..first + threads.get()).map(one).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Returns the finding of one subject from the samples of each thread.
#[must_use]
pub fn row(subject: &str, leaf: Cow<'static, str>, threads: &[CroppedTests]) -> TimeRow {
    let samples = threads.iter().map(CroppedTests::count).sum();
    let (mut fixed_ns, mut random_ns) = (0.0, 0.0);
    for tests in threads {
        let (fixed, random) = tests.means();
        fixed_ns += fixed / threads.len() as f64;
        random_ns += random / threads.len() as f64;
    }
    let t = max_t(threads);
    TimeRow { subject: subject.to_owned(), leaf, samples, fixed_ns, random_ns, t, leaks: t >= MAX_T }
}

/// A clock that measures nothing.
struct ClockUnavailable;

impl SampleClock for ClockUnavailable {
    fn time<T>(&mut self, body: impl FnOnce() -> T) -> (T, u64) {
        (body(), 0)
    }
}

fn sample(
    engine: &dyn Engine,
    subject: &Subject,
    batch: &SecretBatch,
    clock: &mut impl SampleClock,
) -> Result<u64, LeakError> {
    let mut out = Outcomes::default();
    let time = batch.with_jobs(|jobs| {
        // Allocated before the clock starts.
        out.reset(jobs);
        let (ran, time) = clock.time(|| engine.run(jobs, &mut out));
        ran.map(|()| time)
    })?;
    let is_done = out.statuses().iter().all(|status| *status == oarlock_core::Status::Done);
    if is_done { Ok(time) } else { Err(LeakError::Refused { subject: subject.name().to_owned() }) }
}
