//! Batches of both classes, timed in random order.

use std::time::Instant;

use oarlock_core::{Engine, Outcomes};

use crate::LeakError;
use crate::leaves::name_for;
use crate::report::TimeRow;
use crate::subject::{SecretBatch, Subject, TestRandom};
use crate::welch::{CroppedTests, PILOT, SampleClass};

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
const SAMPLES_PER_PAIR: usize = 8;

/// Times `samples` runs of full batches, with a random class for each run. A batch first runs once without a clock,
/// which prepares its keys and loads it into the caches. `tick` is called after every sample.
///
/// # Errors
/// The engine fails, or rejects a job.
pub fn measure(
    engine: &dyn Engine,
    subject: &mut Subject,
    samples: u64,
    clock: &mut impl SampleClock,
    tick: &mut dyn FnMut(),
) -> Result<TimeRow, LeakError> {
    let pilot = PILOT.min(samples as usize / 10);
    let mut cropped = CroppedTests::new(pilot);
    let mut coin = TestRandom::new(0xC01);
    let mut left = samples + pilot as u64;
    while left > 0 {
        // The order of construction is random too: memory that was allocated later has other addresses.
        let is_fixed_first = coin.below(2) == 0;
        let made = [is_fixed_first, !is_fixed_first].map(|is_fixed| {
            let class = if is_fixed { SampleClass::Fixed } else { SampleClass::Random };
            (class, subject.full_batch(class))
        });
        // Both run once, so that neither class pays for cold caches.
        for (_, batch) in &made {
            sample(engine, subject, batch, &mut NoClock)?;
        }
        for _ in 0..left.min(SAMPLES_PER_PAIR as u64) {
            let (class, batch) = &made[coin.below(2)];
            cropped.add(*class, sample(engine, subject, batch, clock)?);
            left -= 1;
            tick();
        }
    }
    let (fixed_ns, random_ns) = cropped.means();
    let t = cropped.t();
    Ok(TimeRow {
        subject: subject.name().to_owned(),
        leaf: name_for(engine, subject).into(),
        samples: cropped.count(),
        fixed_ns,
        random_ns,
        t,
        leaks: t >= MAX_T,
    })
}

/// A clock that measures nothing.
struct NoClock;

impl SampleClock for NoClock {
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
