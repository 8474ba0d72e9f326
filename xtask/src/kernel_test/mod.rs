//! `cargo xtask kernel-test`: the kernel's TLS, in a guest whose kernel has it.
//!
//! The guest is Debian's `user-mode-linux`, a kernel that runs as an ordinary program. Its root is this machine's own
//! file system, read-only, so it runs the programs that were built for this machine. The test prints SKIPPED and the
//! reason if something is missing, and ends the guest after some minutes in any case.
//!
//! | module | content |
//! |---|---|
//! | `guest` | the guest: what it needs, its start and its end |
//! | `programs` | the tests and the program that run in it |
//! | `counts` | the counts that the tables must have |

mod counts;
mod guest;
mod programs;

use std::io;
use std::path::PathBuf;

use guest::{Guest, GuestResult};
use programs::GuestPrograms;

/// An error that is no answer of the test.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KernelTestError {
    #[error("cargo: {0}")]
    Build(String),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("the guest: {0}")]
    Guest(io::Error),
    #[error("the guest's table: {0}")]
    Table(#[from] serde_json::Error),
}

/// Runs the test. False if something in the guest failed.
pub(crate) fn run() -> Result<bool, KernelTestError> {
    let guest = match Guest::find() {
        Ok(guest) => guest,
        Err(reason) => return Ok(skipped(&reason)),
    };
    let programs = GuestPrograms::build()?;
    println!("kernel-test: {} runs the tables and the tests of the kernel's TLS", guest.name());
    let result = guest.run(&programs)?;
    if !result.has_booted() {
        print!("{}", result.console);
        return Ok(skipped("user-mode-linux cannot boot here; the lines above say why"));
    }
    Ok(report(&result)?)
}

fn skipped(reason: &str) -> bool {
    println!("kernel-test: SKIPPED, {reason}");
    true
}

/// Prints what the guest found.
fn report(result: &GuestResult) -> Result<bool, serde_json::Error> {
    let mut faults = result.faults();
    if let Some(rows) = result.file("rows.json") {
        print!("{}", counts::table(&rows)?);
        faults.extend(counts::faults(&rows)?);
    } else {
        faults.push("the guest made no table".to_owned());
    }
    for log in result.logs() {
        println!("{log}");
    }
    for fault in &faults {
        println!("  {fault}");
    }
    match faults.len() {
        0 => println!("kernel-test: ok in {} s", result.seconds),
        count => println!("kernel-test: {count} broken\n{}", result.console),
    }
    Ok(faults.is_empty())
}
