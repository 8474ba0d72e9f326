//! Proves the kernels, and prints a line for each.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use oarlock_lanes::prove::kernel;
use oarlock_prove::analysis::ProofError;
use oarlock_prove::{proof, statement};
use serde::Serialize;

/// Proves kernels for every input within their bounds.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Only kernels whose name contains this.
    filter: Option<String>,
    /// Print a JSON object for each kernel.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct ProofLine<'a> {
    kernel: &'a str,
    instructions: usize,
    cases: usize,
    milliseconds: u128,
    error: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut is_proved = true;
    for statement in statement::all() {
        if args.filter.as_ref().is_some_and(|filter| !statement.kernel.contains(filter)) {
            continue;
        }
        let start = Instant::now();
        let recorded = kernel(statement.kernel).ok_or(ProofError::NoKernel(statement.kernel.to_owned()));
        let instructions = recorded.as_ref().map_or(0, |kernel| kernel.instructions.len());
        let result = recorded.and_then(|kernel| proof::prove(&kernel, &statement));
        is_proved &= result.is_ok();
        let line = ProofLine {
            kernel: statement.kernel,
            instructions,
            cases: result.as_ref().map_or(0, |proved| proved.cases),
            milliseconds: start.elapsed().as_millis(),
            error: result.err().map(|error| error.to_string()),
        };
        if args.json {
            println!("{}", serde_json::json!(line));
        } else {
            let outcome = line.error.as_deref().unwrap_or("proved");
            println!(
                "{:<28} {:>5} instructions {:>4} cases {:>6} ms  {outcome}",
                line.kernel, line.instructions, line.cases, line.milliseconds
            );
        }
    }
    if is_proved { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
