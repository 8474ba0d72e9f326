//! `oarlock dkim bench`: messages signed and verified per second of CPU, engine by engine, in turns.
//!
//! | module | what it holds |
//! |---|---|
//! | `corpus` | messages of one size, and of sizes like those of the paper |
//! | `ours` | a row's work through the mail trade |
//! | `report` | rows as table and JSON |

mod corpus;
mod ours;
mod report;

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use self::corpus::{Corpus, Sizes};
use self::ours::{Ours, Task};
use self::report::Row;
use super::DkimError;
use super::args::BenchArgs;
use crate::args::Global;

pub(super) fn run(global: &Global, args: &BenchArgs) -> Result<(), DkimError> {
    let all = global.builder().build()?;
    global.tell_absent(&all);
    let mut rows = Vec::new();
    for sizes in [Sizes::Uniform, Sizes::Paper] {
        let corpus = Corpus::new(sizes, args.messages);
        for task in Task::ALL {
            let works =
                global.measured(&all).into_iter().map(|engine| Ours::new(engine, task, &corpus, args.batch));
            let mut works: Vec<Ours> = works.collect::<Result<_, _>>()?;
            let rates = turns(&mut works, args)?;
            rows.extend(works.iter().zip(rates).map(|(work, rate)| Row::of(work, sizes, rate)));
        }
    }
    report::print(global, args, &rows)
}

/// Messages per second of the clock and of CPU.
#[derive(Clone, Copy, Debug)]
struct Rate {
    per_s: f64,
    per_cpu_s: f64,
}

/// Each in turn, for as long as each other: the median turn of each by CPU.
fn turns(works: &mut [Ours], args: &BenchArgs) -> Result<Vec<Rate>, DkimError> {
    let mut rates = vec![Vec::new(); works.len()];
    for turn in 0..=args.turns {
        for (work, rates) in works.iter_mut().zip(&mut rates) {
            let rate = timed(work, Duration::from_secs_f64(args.seconds))?;
            // The first turn warms caches and builds tables of keys.
            if turn > 0 {
                rates.push(rate);
            }
        }
    }
    Ok(rates.into_iter().map(median).collect())
}

fn timed(work: &mut Ours, length: Duration) -> Result<Rate, DkimError> {
    let (began, cpu) = (Instant::now(), ThreadTime::now());
    let mut messages = 0;
    while began.elapsed() < length {
        messages += work.batch()?;
    }
    let rate = |time: Duration| messages as f64 / time.as_secs_f64().max(f64::EPSILON);
    Ok(Rate { per_s: rate(began.elapsed()), per_cpu_s: rate(cpu.elapsed()) })
}

fn median(mut rates: Vec<Rate>) -> Rate {
    rates.sort_by(|one, other| one.per_cpu_s.total_cmp(&other.per_cpu_s));
    rates[rates.len() / 2]
}
