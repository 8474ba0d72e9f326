//! Batches of both classes timed in random order.

use std::time::Instant;

use oarlock_core::{Engine, Outcomes};

use crate::LeakError;
use crate::report::TimeRow;
use crate::subject::{Dice, Subject};
use crate::welch::{Class, Cropped, PILOT};

/// At most this may |t| be.
pub const MOST_T: f64 = 5.0;

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

/// Times `samples` batches of both classes. A sample is one run of one full batch, the second run of its keys: the first
/// prepares them and brings both classes into the caches. `tick` hears of every sample.
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
    for _ in 0..samples + pilot as u64 {
        let class = if coin.below(2) == 0 { Class::Fixed } else { Class::Random };
        cropped.add(class, sample(engine, subject, class, clock)?);
        tick();
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
        leaks: t >= MOST_T,
    })
}

fn sample(
    engine: &dyn Engine,
    subject: &mut Subject,
    class: Class,
    clock: &mut impl Clock,
) -> Result<u64, LeakError> {
    let batch = subject.full_batch(class);
    let mut out = Outcomes::default();
    let time = batch.with_jobs(|jobs| {
        out.reset(jobs);
        engine.run(jobs, &mut out)?;
        out.reset(jobs);
        let (ran, time) = clock.time(|| engine.run(jobs, &mut out));
        ran.map(|()| time)
    })?;
    let is_done = out.statuses().iter().all(|status| *status == oarlock_core::Status::Done);
    if is_done { Ok(time) } else { Err(LeakError::Refused { subject: subject.name().to_owned() }) }
}
