//! `oarlock dnssec bench`: whole zones verified, signed and read, by this program with each of its engines and by others' programs on
//! the machine, in turns.
//!
//! | module | what it holds |
//! |---|---|
//! | `task` | what is measured, and the programs that do it |
//! | `place` | the zones |
//! | `program` | programs that are run, and what they cost |
//! | `report` | rows as table and JSON |

mod place;
mod program;
mod report;
mod task;

use clap::Args;

use self::place::Place;
use self::program::{EngineCost, Program};
use self::report::Row;
use self::task::{Kind, Task};
use super::DnssecError;
use crate::args::Global;
use crate::progress;

#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    /// Delegations of the zone, of which 60 % have DS records
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    delegations: u64,
    /// Rows to measure, separated by commas [default: all]
    #[arg(long, value_name = "ROWS", value_delimiter = ',')]
    rows: Vec<Task>,
    /// Turns of each, of which the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    turns: u32,
    /// Leave others' programs out
    #[arg(long)]
    no_peers: bool,
}

/// RSA signatures are so slow elsewhere that a part of the zone is enough.
const RSA_SIGN_PART: u64 = 5;

pub(super) fn run(global: &Global, args: &BenchArgs) -> Result<(), DnssecError> {
    let all = global.builder().lazy().build()?;
    global.tell_absent(&all);
    let engines = global.measured(&all);
    let rows = if args.rows.is_empty() { Task::usual() } else { args.rows.clone() };
    let bar = progress::bar(rows.len() as u64, "{msg:16} {wide_bar} {pos}/{len} rows{left}");
    let mut report = Vec::new();
    for task in rows {
        bar.set_message(task.name());
        report.extend(measure(global, args, task, &engines)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    report::print(global, args, &report)
}

/// The rows of a task: engines first, each beside the fastest of the others, then these.
fn measure(global: &Global, args: &BenchArgs, task: Task, engines: &[&str]) -> Result<Vec<Row>, DnssecError> {
    let delegations = match task {
        Task::Sign(Kind::Rsa2048) => args.delegations.div_ceil(RSA_SIGN_PART),
        _ => args.delegations,
    };
    let place = Place::new(task.kind(), delegations)?;
    let operations = if task == Task::Parse { place.records } else { place.signatures };
    let threads = global.bulk_threads();
    let mut programs = Vec::new();
    for engine in engines.iter().take(if task == Task::Parse { 1 } else { engines.len() }) {
        programs.push(task.own(engine, threads, &place.keys)?);
    }
    let own = programs.len();
    if !args.no_peers {
        programs.extend(task.peers(&place.keys).into_iter().filter(is_usable));
    }
    let costs = turns(&programs, &place, args.turns)?;
    let name = task.name();
    let rows: Vec<Row> = (0..)
        .zip(programs.iter().zip(costs))
        .filter_map(|(at, (program, cost))| {
            let threads = if at < own { threads } else { 1 };
            Some(Row::new(&name, &program.name, threads, delegations, operations, cost?))
        })
        .collect();
    let (own, peers) = rows.split_at(own.min(rows.len()));
    let best = peers.iter().max_by(|one, two| one.rate_per_cpu_s.total_cmp(&two.rate_per_cpu_s));
    Ok(own.iter().map(|row| row.clone().beside(best)).chain(peers.iter().cloned()).collect())
}

fn is_usable(program: &Program) -> bool {
    let is_here = program.is_here();
    if !is_here {
        eprintln!("oarlock: {} is not on this machine", program.name);
    }
    is_here
}

/// Each in turn: the median turn by CPU. Nothing of one that cannot do it, which is said; this program has to.
fn turns(programs: &[Program], place: &Place, turns: u32) -> Result<Vec<Option<EngineCost>>, DnssecError> {
    let mut costs = vec![Vec::new(); programs.len()];
    for _ in 0..turns {
        for (program, costs) in programs.iter().zip(&mut costs) {
            match program.run(place.path()) {
                Ok((_, cost)) => costs.push(cost),
                Err(error) if program.is_own => return Err(error),
                Err(error) => eprintln!("oarlock: {error}"),
            }
        }
    }
    Ok(costs.into_iter().map(median).collect())
}

/// The one in the middle by CPU, the upper one of two.
fn median(mut costs: Vec<EngineCost>) -> Option<EngineCost> {
    costs.sort_by(|one, other| one.cpu_seconds.total_cmp(&other.cpu_seconds));
    costs.get(costs.len() / 2).copied()
}
