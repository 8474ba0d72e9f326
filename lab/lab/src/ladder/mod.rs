//! `oarlock ladder`: the eight experiments of the short-DES paper (Lindemann and Smith, USENIX Security 2001), and its
//! controls, on this implementation.
//!
//! Every step is a configuration of real code: nothing waits on purpose. Its results are compared with those of the
//! scalar engine. `docs/ladder.md` explains each step and its purpose.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments |
//! | `steps` | the steps, their controls, and the paper's figures |
//! | `bench`, `workload` | engines, keys and operations that the steps share |
//! | `frame`, `message`, `columns` | the forms of operations: on a socket, in a stream, in columns |
//! | `peer`, `cards` | steps 1 to 4: a thread behind a socket, and its work |
//! | `direct`, `known` | steps 5 to 8: calls in this process, and known answers |
//! | `measure`, `report` | turns, comparison; tables, JSON and picture |

mod args;
mod bench;
mod cards;
mod columns;
mod direct;
mod frame;
mod known;
mod measure;
mod message;
mod peer;
mod report;
mod steps;
mod workload;

use std::path::PathBuf;

use oarlock::Status;
use oarlock::engine_api::EngineFault;
use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};
use oarlock_keytable::TableError;
use oarlock_terminal::report::print_report;
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions, check_writable, progress};

pub(crate) use args::LadderArgs;
use args::OpLengths;
use bench::LadderBench;
use measure::{LadderEntrant, measure};
use report::LadderRow;
use steps::STEPS;
use workload::{KeyOrder, Workload};

/// An error of the ladder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LadderError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("keys: {0}")]
    Key(#[from] KeyError),
    #[error("key table: {0}")]
    Table(#[from] TableError),
    #[error("{0}")]
    Job(#[from] JobError),
    #[error("{0}")]
    Fault(#[from] EngineFault),
    #[error("the socket: {0}")]
    Socket(#[from] std::io::Error),
    #[error("the card: {reason}")]
    Peer { reason: String },
    #[error("a message is malformed at byte {at}")]
    Message { at: usize },
    #[error("record {record} was rejected: {status}")]
    Refused { record: usize, status: Status },
    #[error("step {step}: results differ from the scalar engine's from byte {at} on")]
    Differs { step: &'static str, at: usize },
    #[error("known answer {record} is wrong")]
    KnownAnswer { record: usize },
    #[error("a batch does not fit into 4 GiB")]
    TooLarge,
    #[error("cannot write {}: {error}", path.display())]
    Plot { path: PathBuf, error: std::io::Error },
    #[error("stdout: {0}")]
    Stdout(std::io::Error),
}

impl CommandError for LadderError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Build(error) => error.kind(),
            Self::Plot { .. } | Self::TooLarge => FailureKind::Usage,
            Self::Stdout(error) => FailureKind::of_stdout(error),
            _ => FailureKind::Machine,
        }
    }
}

/// Measures, and prints tables or JSON; draws if `--plot` is given.
///
/// # Errors
/// An unwritable `--plot` file before anything is measured; a result that differs, or a step that fails.
pub(crate) fn run(global: &GlobalOptions, args: &LadderArgs) -> Result<(), LadderError> {
    let plot_error = |path: &PathBuf, error| LadderError::Plot { path: path.clone(), error };
    if let Some(path) = &args.plot {
        check_writable(path).map_err(|error| plot_error(path, error))?;
    }
    let bench = LadderBench::new(global, args)?;
    global.warn_absent_engines(bench.all());
    if !bench.has_lanes() {
        eprintln!(
            "oarlock: no lane engine here offers {}: steps 6 to 8 run on the scalar engine",
            args.cipher
        );
    }
    let rows = measure_all(&bench, args)?;
    if let Some(path) = &args.plot {
        std::fs::write(path, report::to_svg(args, &rows)).map_err(|error| plot_error(path, error))?;
    }
    print_report(global.json, &rows, |in_colour| report::to_text(args, &rows, in_colour))
        .map_err(LadderError::Stdout)
}

fn measure_all(bench: &LadderBench, args: &LadderArgs) -> Result<Vec<LadderRow>, LadderError> {
    let steps = args.lengths.len() * args.batches.len() * STEPS.len();
    let bar = progress::bar(steps as u64, "{msg:20!} {wide_bar} {pos}/{len} steps{left}");
    let mut rows = Vec::new();
    for lengths in &args.lengths {
        for batch in &args.batches {
            bar.set_message(format!("{lengths} bytes, {batch} per batch"));
            rows.extend(measure_one(bench, args, *lengths, *batch, &|| bar.inc(1))?);
        }
    }
    bar.finish_and_clear();
    Ok(rows)
}

/// All steps at one batch size, in turns.
fn measure_one(
    bench: &LadderBench,
    args: &LadderArgs,
    lengths: OpLengths,
    batch: u32,
    tick: &dyn Fn(),
) -> Result<Vec<LadderRow>, LadderError> {
    let referee = bench.all().diagnostics().referee();
    let mut workloads: Vec<(KeyOrder, Workload)> = Vec::new();
    for step in &STEPS {
        if workloads.iter().all(|(order, _)| *order != step.order) {
            let made = Workload::new(&bench.ring, referee, step.order, lengths, batch as usize)?;
            workloads.push((step.order, made));
        }
    }
    let mut entrants = Vec::new();
    for step in &STEPS {
        for (_, workload) in workloads.iter().filter(|(order, _)| *order == step.order) {
            let contender = step.contender(bench, workload)?;
            entrants.push(LadderEntrant { step, contender, expected: &workload.expected });
        }
    }
    let seconds = measure(&mut entrants, args.seconds, tick)?;
    let row = |(entrant, seconds): (&LadderEntrant<'_>, f64)| {
        let engines = bench.engines(entrant.step.served_by);
        LadderRow::new(args, entrant.step, lengths, batch).set(seconds, entrant.expected.len(), engines)
    };
    Ok(entrants.iter().zip(seconds).map(row).collect())
}

#[cfg(test)]
mod tests;
