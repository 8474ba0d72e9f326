//! Operations and CPU time.

use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

/// The result of one turn.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub(crate) operations: u64,
    /// The CPU time of the process, all its threads together.
    pub(crate) cpu_s: f64,
    pub(crate) wall_s: f64,
}

impl Turn {
    pub(crate) fn per_cpu_s(&self) -> f64 {
        self.operations as f64 / self.cpu_s
    }
}

/// The length of a turn in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TurnLength {
    pub(crate) warm_up_s: f64,
    pub(crate) counted_s: f64,
}

/// A clock of some work.
pub(crate) struct WorkClock {
    begin: Instant,
    cpu: ProcessTime,
}

impl WorkClock {
    pub(crate) fn start() -> Self {
        Self { begin: Instant::now(), cpu: ProcessTime::now() }
    }

    pub(crate) fn stop(&self, operations: u64) -> Turn {
        let cpu_s = self.cpu.elapsed().as_secs_f64();
        Turn { operations, cpu_s, wall_s: self.begin.elapsed().as_secs_f64() }
    }
}

/// Repeats the step of each thread for a turn. A step returns the number of its operations; it
/// lasts a microsecond at least, so that the clock between two of them does not count.
pub(crate) fn repeat<S: FnMut() -> u64 + Send>(length: TurnLength, steps: &mut [S]) -> Turn {
    if length.warm_up_s > 0.0 {
        run_until(Instant::now() + Duration::from_secs_f64(length.warm_up_s), steps);
    }
    let clock = WorkClock::start();
    let operations = run_until(clock.begin + Duration::from_secs_f64(length.counted_s), steps);
    clock.stop(operations)
}

fn run_until<S: FnMut() -> u64 + Send>(end: Instant, steps: &mut [S]) -> u64 {
    let repeat = |step: &mut S| {
        let mut operations = step();
        while Instant::now() < end {
            operations += step();
        }
        operations
    };
    match steps {
        [single] => repeat(single),
        steps => thread::scope(|scope| {
            let running: Vec<_> = steps.iter_mut().map(|step| scope.spawn(|| repeat(step))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).sum()
        }),
    }
}
