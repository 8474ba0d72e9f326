//! PKCS#11 modules side by side: signatures, sessions, searches, durable objects and many operations in one call.
//!
//! ```console
//! $ cargo bench -p oarlock-cli -p oarlock-pkcs11 --bench modules -- --beside /usr/lib/softhsm/libsofthsm2.so
//! ```
//!
//! Every module runs in a process of its own, with a token of its own in a new directory. All take turns, so a row
//! compares what happened within one second. Rates are per second of CPU time of the process, all its threads together.
//! Beside the modules stands the facade: the same work by the crate `oarlock`, called directly.
//!
//! Without `--bench`, as `cargo test --all-targets` runs it, each row is tried once for an instant.
//!
//! | module | content |
//! |---|---|
//! | `args` | the command line |
//! | `plan` | the rows |
//! | `process` | contenders in processes of their own, and what they are asked |
//! | `module`, `token`, `signer` | the contender that is a module: its tables, its token, its operations |
//! | `facade` | the contender that is the facade |
//! | `server` | many processes at one cryptoserver |
//! | `fsync` | the calls that make objects durable |
//! | `meter` | operations and CPU time |
//! | `report` | the table and the JSON document |
#![allow(
    missing_docs,
    unsafe_code,
    clippy::macro_metavars_in_unsafe,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a program that may stop at the first surprise"
)]

mod args;
mod facade;
mod fsync;
mod meter;
mod module;
mod plan;
mod process;
mod report;
mod server;
mod signer;
mod token;

use clap::Parser;
use oarlock_measure::statistics::take_turns;

use crate::args::BenchArgs;
use crate::meter::TurnLength;
use crate::plan::{BenchRow, RowSource};
use crate::process::{Contender, ContenderKind};
use crate::report::{RowResult, print_results};

fn main() {
    let args = BenchArgs::parse().for_a_test_run();
    match &args.worker {
        Some(kind) => process::serve(kind),
        None => print_results(args.json, &measure(&args)),
    }
}

fn measure(args: &BenchArgs) -> Vec<RowResult> {
    let directory = tempfile::tempdir().unwrap();
    let mut contenders: Vec<Contender> = args
        .contenders()
        .into_iter()
        .map(|kind| {
            let objects = args.objects_of(kind.is_own());
            Contender::start(kind, directory.path(), objects)
        })
        .collect();
    let mut results = Vec::new();
    for row in args.rows() {
        match row.source {
            RowSource::Turns => results.extend(measure_row(row, args, &mut contenders)),
            RowSource::Creation => results.extend(contenders.iter().filter_map(|contender| {
                let result = RowResult::new(row, contender, vec![contender.creation?]);
                Some(result.with_fsyncs(fsync::per_object(contender, directory.path())))
            })),
            RowSource::Server => results.extend(server::measure(row, args, directory.path())),
        }
    }
    report::add_ratios(&mut results);
    results
}

/// Measures a row with every contender that has it.
fn measure_row(row: &'static BenchRow, args: &BenchArgs, contenders: &mut [Contender]) -> Vec<RowResult> {
    let mut able: Vec<&mut Contender> =
        contenders.iter_mut().filter_map(|contender| contender.supports(row).then_some(contender)).collect();
    let length = TurnLength { warm_up_s: args.seconds / 5.0, counted_s: args.seconds };
    let turns = take_turns(&mut able, args.turns, |_, contender| {
        Ok::<_, std::convert::Infallible>(contender.run(row, length))
    });
    let Ok(turns) = turns;
    able.iter().zip(turns).map(|(contender, turns)| RowResult::new(row, contender, turns)).collect()
}

impl ContenderKind {
    fn is_own(&self) -> bool {
        matches!(self, Self::Module { is_own: true, .. })
    }
}
