//! Batches of both classes timed in random order.

use std::time::Instant;

use oarlock_core::{Engine, Outcomes};

use crate::LeakError;
use crate::report::TimeRow;
use crate::subject::{Batch, Dice, Subject};
use crate::welch::{Class, Cropped, PILOT};

/// At most this may |t| be.
pub const MAX_T: f64 = 5.0;

/// How a batch is timed. A test may count steps instead of nanoseconds.
pub trait Clock {
    /// Runs the body once; how long it took, in any unit.
    fn time<T>(&mut self, body: impl FnOnce() -> T) -> (T, u64);
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock;

impl Clock for WallClock {
    fn time<T>(&mut self, body: impl FnOnce() -> T) -> (T, u64) {
        let start = Instant::now();
        let result = body();
        (result, start.elapsed().as_nanos() as u64)
    }
}

/// A batch of each class is made afresh after so many samples.
const SAMPLES_PER_PAIR: usize = 8;

/// Times `samples` runs of full batches, whose class is drawn anew for each. A batch runs once before, unseen: that
/// prepares its keys and brings it into the caches. `tick` hears of every sample.
///
/// # Errors
/// The engine fails, or refuses a job.
pub fn measure(
    engine: &dyn Engine,
    subject: &mut Subject,
    samples: u64,
    clock: &mut impl Clock,
    tick: &mut dyn FnMut(),
) -> Result<TimeRow, LeakError> {
    let pilot = PILOT.min(samples as usize / 10);
    let mut cropped = Cropped::new(pilot);
    let mut coin = Dice::new(0xC01);
    let mut left = samples + pilot as u64;
    while left > 0 {
        let is_fixed_first = coin.below(2) == 0;
        let made = [is_fixed_first, !is_fixed_first].map(|is_fixed| {
            let class = if is_fixed { Class::Fixed } else { Class::Random };
            (class, subject.full_batch(class))
        });
        for (_, batch) in &made {
            sample(engine, subject, batch, &mut Unseen)?;
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
        engine: engine.name().into(),
        samples: cropped.count(),
        fixed_ns,
        random_ns,
        t,
        leaks: t >= MAX_T,
    })
}

/// Looks at nothing.
struct Unseen;

impl Clock for Unseen {
    fn time<T>(&mut self, body: impl FnOnce() -> T) -> (T, u64) {
        (body(), 0)
    }
}

fn sample(
    engine: &dyn Engine,
    subject: &Subject,
    batch: &Batch,
    clock: &mut impl Clock,
) -> Result<u64, LeakError> {
    let mut out = Outcomes::default();
    let time = batch.with_jobs(|jobs| {
        out.reset(jobs);
        let (ran, time) = clock.time(|| engine.run(jobs, &mut out));
        ran.map(|()| time)
    })?;
    let is_done = out.statuses().iter().all(|status| *status == oarlock_core::Status::Done);
    if is_done { Ok(time) } else { Err(LeakError::Refused { subject: subject.name().to_owned() }) }
}
