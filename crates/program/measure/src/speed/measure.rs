//! Timing several contenders in turns, so that a noisy machine is noisy for all of them.

use std::sync::Barrier;
use std::time::Duration;

use cpu_time::ThreadTime;

use super::error::SpeedError;
use crate::statistics::median_by;

/// A contender that works through operations, one batch at a time.
pub(crate) trait SpeedContender: Send {
    /// Runs one batch and returns the number of its operations.
    fn run(&mut self) -> Result<usize, SpeedError>;
}

/// The rate of a contender on one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SpeedRate {
    /// Operations per second of CPU time.
    pub(crate) per_s: f64,
    /// Microseconds of CPU time per batch.
    pub(crate) batch_us: f64,
}

/// The time that a contender works in one turn.
const TURN: Duration = Duration::from_millis(20);

/// Lets the contenders of each thread take turns until the first has worked for `time`; rates of threads are added.
/// One of the threads calls `tick` with the share done.
///
/// CPU time is counted, as `openssl speed` does, so other work on the machine does not count.
pub(crate) fn compete(
    threads: Vec<Vec<Box<dyn SpeedContender + '_>>>,
    time: Duration,
    tick: &(dyn Fn(f64) + Sync),
) -> Result<Vec<SpeedRate>, SpeedError> {
    let barrier = Barrier::new(threads.len());
    let rates: Vec<Result<Vec<SpeedRate>, SpeedError>> = std::thread::scope(|scope| {
        let handles: Vec<_> = threads
            .into_iter()
            .enumerate()
            .map(|(index, contenders)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    // All begin together, so that each thread is measured under the load of the others.
                    barrier.wait();
                    take_turns(contenders, time, &|share| {
                        if index == 0 {
                            tick(share);
                        }
                    })
                })
            })
            .collect();
        handles.into_iter().map(join).collect()
    });
    sum(rates.into_iter().collect::<Result<_, _>>()?)
}

/// A panic of a thread continues in the one that waits for it.
fn join<T>(handle: std::thread::ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn sum(threads: Vec<Vec<SpeedRate>>) -> Result<Vec<SpeedRate>, SpeedError> {
    let contenders = threads.first().map_or(0, Vec::len);
    let rate = |contender: usize| {
        let of_threads: Vec<SpeedRate> = threads.iter().map(|rates| rates[contender]).collect();
        SpeedRate {
            per_s: of_threads.iter().map(|rate| rate.per_s).sum(),
            batch_us: of_threads.iter().map(|rate| rate.batch_us).sum::<f64>() / of_threads.len() as f64,
        }
    };
    Ok((0..contenders).map(rate).collect())
}

#[derive(Default)]
struct SpeedTurns {
    /// Operations per second and microseconds per batch, by turn.
    rates: Vec<SpeedRate>,
    worked: Duration,
}

fn take_turns(
    mut contenders: Vec<Box<dyn SpeedContender + '_>>,
    time: Duration,
    tick: &dyn Fn(f64),
) -> Result<Vec<SpeedRate>, SpeedError> {
    // Not counted: the first batch of each finds cold caches.
    for contender in &mut contenders {
        contender.run()?;
    }
    let mut turns: Vec<SpeedTurns> = contenders.iter().map(|_| SpeedTurns::default()).collect();
    while turns.first().is_some_and(|first| first.worked < time) {
        for (contender, turns) in contenders.iter_mut().zip(&mut turns) {
            turn(&mut **contender, turns)?;
        }
        tick(turns[0].worked.as_secs_f64() / time.as_secs_f64());
    }
    Ok(turns.into_iter().map(SpeedTurns::median).collect())
}

fn turn(contender: &mut dyn SpeedContender, turns: &mut SpeedTurns) -> Result<(), SpeedError> {
    let (mut ops, mut batches) = (0, 0);
    let start = ThreadTime::now();
    let worked = loop {
        ops += contender.run()?;
        batches += 1;
        let worked = start.elapsed();
        if worked >= TURN {
            break worked;
        }
    };
    let seconds = worked.as_secs_f64();
    turns.rates.push(SpeedRate { per_s: ops as f64 / seconds, batch_us: seconds * 1e6 / f64::from(batches) });
    turns.worked += worked;
    Ok(())
}

impl SpeedTurns {
    /// The median turn: interruptions make single turns slow, nothing makes one fast.
    fn median(self) -> SpeedRate {
        median_by(self.rates, |rate| rate.per_s).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Spinner(u32);

    impl SpeedContender for Spinner {
        fn run(&mut self) -> Result<usize, SpeedError> {
            std::hint::black_box((0..self.0).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
            Ok(10)
        }
    }

    #[test]
    fn every_contender_gets_its_turns_on_every_thread() {
        let threads = (0..2)
            .map(|_| vec![Box::new(Spinner(1000)) as Box<dyn SpeedContender>, Box::new(Spinner(4000))])
            .collect();
        let rates = compete(threads, Duration::from_millis(60), &|_| {}).unwrap();
        assert_eq!(rates.len(), 2);
        assert!(rates.iter().all(|rate| rate.per_s > 0.0 && rate.batch_us > 0.0));
    }

    #[test]
    fn a_contender_that_fails_ends_the_run() {
        struct Broken;
        impl SpeedContender for Broken {
            fn run(&mut self) -> Result<usize, SpeedError> {
                Err(SpeedError::TooLarge { op: "on purpose".into(), count: 1, len: 1 })
            }
        }
        let threads = vec![vec![Box::new(Broken) as Box<dyn SpeedContender>]];
        assert!(matches!(
            compete(threads, Duration::from_millis(1), &|_| {}),
            Err(SpeedError::TooLarge { .. })
        ));
    }
}
