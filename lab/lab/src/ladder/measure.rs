//! Steps in turns, and their results held against the referee's.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use super::LadderError;
use super::steps::LadderStep;

/// A step over a workload.
pub(super) trait LadderContender {
    /// Computes the batch once.
    ///
    /// # Errors
    /// A record or the whole batch could not be computed, or a known answer was wrong.
    fn run(&mut self) -> Result<(), LadderError>;

    /// The results of the last batch, side by side.
    fn results(&self) -> &[u8];

    /// Returns the clock that measures it.
    fn clock(&self) -> LadderClock;
}

/// A clock for a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LadderClock {
    /// Wall-clock time: for batches that cross threads, because their waiting is a part of their cost.
    Wall,
    /// The CPU time of this thread, as `oarlock speed` counts it.
    Thread,
}

/// A reading of a clock.
enum ClockReading {
    Wall(Instant),
    Thread(ThreadTime),
}

impl LadderClock {
    fn read(self) -> ClockReading {
        match self {
            Self::Wall => ClockReading::Wall(Instant::now()),
            Self::Thread => ClockReading::Thread(ThreadTime::now()),
        }
    }
}

impl ClockReading {
    fn elapsed(&self) -> Duration {
        match self {
            Self::Wall(start) => start.elapsed(),
            Self::Thread(start) => start.elapsed(),
        }
    }
}

/// A step in a round of turns.
pub(super) struct LadderEntrant<'a> {
    pub(super) step: &'a LadderStep,
    pub(super) contender: Box<dyn LadderContender>,
    /// The referee's results.
    pub(super) expected: &'a [u8],
}

/// The time that a step works in one turn.
const TURN: Duration = Duration::from_millis(5);

/// Returns seconds per batch of each entrant. It has as many turns as fit into `time`. Other work on the machine
/// makes turns slow and never fast, so the result is the faster quartile of them. Results of the first batch, and of
/// the last of each turn, are compared.
pub(super) fn measure(
    entrants: &mut [LadderEntrant<'_>],
    time: Duration,
    tick: &dyn Fn(),
) -> Result<Vec<f64>, LadderError> {
    for entrant in entrants.iter_mut() {
        entrant.contender.run()?;
        entrant.compare()?;
    }
    let mut turns: Vec<(Duration, Vec<f64>)> = entrants.iter().map(|_| Default::default()).collect();
    loop {
        let mut worked = false;
        for (entrant, (spent, batches)) in entrants.iter_mut().zip(&mut turns) {
            if *spent < time {
                let (took, count) = entrant.turn(time.min(TURN))?;
                *spent += took;
                batches.push(took.as_secs_f64() / f64::from(count));
                worked = true;
                if *spent >= time {
                    tick();
                }
            }
        }
        if !worked {
            return Ok(turns.into_iter().map(|(_, batches)| faster_quartile(batches)).collect());
        }
    }
}

impl LadderEntrant<'_> {
    fn turn(&mut self, time: Duration) -> Result<(Duration, u32), LadderError> {
        let start = self.contender.clock().read();
        let mut count = 0;
        let took = loop {
            self.contender.run()?;
            count += 1;
            let took = start.elapsed();
            if took >= time {
                break took;
            }
        };
        self.compare()?;
        Ok((took, count))
    }

    fn compare(&self) -> Result<(), LadderError> {
        let found = self.contender.results();
        if found == self.expected {
            return Ok(());
        }
        let same = found.iter().zip(self.expected).take_while(|(found, expected)| found == expected);
        Err(LadderError::Differs { step: self.step.id, at: same.count() })
    }
}

fn faster_quartile(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 4).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::ladder::steps::STEPS;

    /// Is wrong from its second batch on.
    struct Forgetful(Vec<u8>);

    impl LadderContender for Forgetful {
        fn run(&mut self) -> Result<(), LadderError> {
            self.0.push(7);
            Ok(())
        }

        fn results(&self) -> &[u8] {
            &self.0
        }

        fn clock(&self) -> LadderClock {
            LadderClock::Wall
        }
    }

    struct Steady;

    impl LadderContender for Steady {
        fn run(&mut self) -> Result<(), LadderError> {
            Ok(())
        }

        fn results(&self) -> &[u8] {
            &[1, 2, 3]
        }

        fn clock(&self) -> LadderClock {
            LadderClock::Thread
        }
    }

    fn entrant(contender: Box<dyn LadderContender>, expected: &[u8]) -> LadderEntrant<'_> {
        LadderEntrant { step: &STEPS[0], contender, expected }
    }

    #[test]
    fn every_step_gets_its_turns() {
        let mut entrants = [entrant(Box::new(Steady), &[1, 2, 3]), entrant(Box::new(Steady), &[1, 2, 3])];
        let ticks = Cell::new(0);
        let times = measure(&mut entrants, Duration::from_millis(2), &|| ticks.set(ticks.get() + 1)).unwrap();
        assert_eq!((times.len(), ticks.get()), (2, 2));
        assert!(times.iter().all(|time| *time > 0.0 && *time < 1.0));
    }

    #[test]
    fn a_result_that_differs_ends_the_run() {
        let wrong = |expected| {
            let mut entrants = [entrant(Box::new(Forgetful(Vec::new())), expected)];
            measure(&mut entrants, Duration::from_millis(1), &|| ()).unwrap_err()
        };
        assert!(matches!(wrong(&[7]), LadderError::Differs { step: "1", at: 1 }));
        assert!(matches!(wrong(&[8]), LadderError::Differs { at: 0, .. }));
    }

    #[test]
    fn the_quartile_is_a_measured_value() {
        assert_eq!(faster_quartile(vec![3.0, 1.0, 2.0, 4.0]), 2.0);
        assert_eq!(faster_quartile(vec![4.0]), 4.0);
    }
}
