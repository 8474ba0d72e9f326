//! `oarlock dnssec`: verifies and signs zones, makes keys and zones, and says whether a machine affords a resolver's load.
//!
//! | module | what it holds |
//! |---|---|
//! | `error` | why there is no output, or not all of it |

mod error;

use clap::{Args, Subcommand};

pub(crate) use self::error::DnssecError;
use crate::args::Global;

/// Verify and sign zones
#[derive(Debug, Args)]
pub(crate) struct DnssecArgs {
    #[command(subcommand)]
    command: DnssecCommand,
}

#[derive(Debug, Subcommand)]
enum DnssecCommand {}

/// Runs the command.
///
/// # Errors
/// Wrong usage or input, a machine or a peer that failed, or an answer that is no.
pub(crate) fn run(_global: &Global, args: &DnssecArgs) -> Result<(), DnssecError> {
    match args.command {}
}
