//! `oarlock dnssec bench`: whole zones verified, signed and read, by `oarlock` with each of its engines and by
//! other programs on the machine, in turns.
//!
//! | module | what it holds |
//! |---|---|
//! | `task` | the tasks, and the programs that do them |
//! | `directory` | the zones |
//! | `program` | programs that are run, and their cost |
//! | `report` | rows as table and JSON |

mod directory;
mod error;
mod program;
mod report;
mod task;

use clap::Args;
use oarlock_measure::statistics::{median_by, take_turns};
use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, progress};

use self::directory::ZoneDirectory;
pub(crate) use self::error::ZoneBenchError;
use self::program::ProgramCost;
pub(crate) use self::program::ZoneProgram;
use self::report::ZoneBenchRow;
pub(crate) use self::task::ZoneKeyKind;
use self::task::ZoneTask;

/// Arguments of `oarlock dnssec bench`.
#[derive(Debug, Args)]
pub(crate) struct ZoneBenchArgs {
    /// Number of delegations in the zone, 1 to 10000000; 60 % have DS records
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    delegations: u64,
    /// Rows to measure, separated by commas [default: all]
    #[arg(long, value_name = "ROWS", value_delimiter = ',')]
    rows: Vec<ZoneTask>,
    /// Number of turns of each row, 1 to 1000; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    turns: u32,
    /// Measure only Oarlock, not dnssec-verify, ldns-verify-zone and other programs
    #[arg(long)]
    no_peers: bool,
}

/// The divisor of the zone's size for RSA signing, which is slow in other programs.
const RSA_SIGN_PART: u64 = 5;

/// Measures, and prints a table or JSON.
///
/// # Errors
/// A zone that cannot be made, or `oarlock` failing at it.
pub(crate) fn run(global: &GlobalOptions, args: &ZoneBenchArgs) -> Result<(), ZoneBenchError> {
    let all = global.builder().lazy().build()?;
    global.warn_absent_engines(&all);
    let engines = global.measured_engines(&all);
    let rows = if args.rows.is_empty() { ZoneTask::usual() } else { args.rows.clone() };
    let bar = progress::bar(rows.len() as u64, "{msg:16} {wide_bar} {pos}/{len} rows{left}");
    let mut report = Vec::new();
    for task in rows {
        bar.set_message(task.name());
        report.extend(measure(global, args, task, &engines)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(print_report(global.json, &report, |in_colour| report::to_text(args, &report, in_colour))?)
}

/// Returns the rows of a task: first the engines, each beside the fastest other program, then the other programs.
fn measure(
    global: &GlobalOptions,
    args: &ZoneBenchArgs,
    task: ZoneTask,
    engines: &[&str],
) -> Result<Vec<ZoneBenchRow>, ZoneBenchError> {
    let delegations = match task {
        ZoneTask::Sign(ZoneKeyKind::Rsa2048) => args.delegations.div_ceil(RSA_SIGN_PART),
        _ => args.delegations,
    };
    let directory = ZoneDirectory::new(task.kind(), delegations)?;
    let operations = if task == ZoneTask::Parse { directory.records } else { directory.signatures };
    let threads = global.bulk_threads();
    let mut programs = Vec::new();
    for engine in engines.iter().take(if task == ZoneTask::Parse { 1 } else { engines.len() }) {
        programs.push(task.oarlock(engine, threads, &directory.keys)?);
    }
    let oarlocks = programs.len();
    if !args.no_peers {
        programs.extend(task.peers(&directory.keys).into_iter().filter(is_usable));
    }
    let costs = turns(&programs, &directory, args.turns)?;
    let name = task.name();
    let rows: Vec<ZoneBenchRow> = (0..)
        .zip(programs.iter().zip(costs))
        .filter_map(|(at, (program, cost))| {
            let threads = if at < oarlocks { threads } else { 1 };
            Some(ZoneBenchRow::new(&name, &program.name, threads, delegations, operations, cost?))
        })
        .collect();
    let (oarlocks, peers) = rows.split_at(oarlocks.min(rows.len()));
    let best = peers.iter().max_by(|one, two| one.rate_per_cpu_s.total_cmp(&two.rate_per_cpu_s));
    Ok(oarlocks.iter().map(|row| row.clone().beside(best)).chain(peers.iter().cloned()).collect())
}

fn is_usable(program: &ZoneProgram) -> bool {
    let is_here = program.is_here();
    if !is_here {
        eprintln!("oarlock: {} is not on this machine", program.name);
    }
    is_here
}

/// Runs the programs in turns, and returns the median cost of each. A failure of another program is a note; this
/// program must not fail.
fn turns(
    programs: &[ZoneProgram],
    directory: &ZoneDirectory,
    turns: u32,
) -> Result<Vec<Option<ProgramCost>>, ZoneBenchError> {
    let mut programs: Vec<&ZoneProgram> = programs.iter().collect();
    let costs = take_turns(&mut programs, turns, |_, program| match program.run(directory.path()) {
        Ok((_, cost)) => Ok(Some(cost)),
        Err(error) if program.is_own => Err(error),
        Err(error) => {
            eprintln!("oarlock: {error}");
            Ok(None)
        }
    })?;
    let middle =
        |costs: Vec<Option<ProgramCost>>| median_by(costs.into_iter().flatten(), |cost| cost.cpu_seconds);
    Ok(costs.into_iter().map(middle).collect())
}
