//! `oarlock dkim`: signs and verifies mail in bulk, makes keys for it, and compares them with the records in DNS.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments |
//! | `sign`, `verify`, `keygen`, `dns`, `check`, `publish`, `import` | the subcommands |
//! | `own_signatures` | signatures that new ones replace |
//! | `bulk` | messages in batches on any number of threads, results in order |
//! | `document` | the JSON document of results and summary |
//! | `lookup` | key records, from DNS or from a file |
//! | `error` | the errors |

mod args;
mod bulk;
mod check;
mod dns;
mod document;
mod error;
mod import;
mod keygen;
mod lookup;
mod own_signatures;
mod publish;
mod sign;
mod verify;

use std::time::{SystemTime, UNIX_EPOCH};

use oarlock_terminal::GlobalOptions;

pub(crate) use self::args::DkimArgs;
use self::args::DkimCommand;
pub(crate) use self::error::DkimError;
use crate::laboratory;
use crate::time::TimePoint;

/// Runs the command.
///
/// # Errors
/// Wrong usage or input, a machine or a peer that failed, or an answer that is no.
pub(crate) fn run(global: &GlobalOptions, args: &DkimArgs) -> Result<(), DkimError> {
    match &args.command {
        DkimCommand::Sign(args) => sign::run(global, args),
        DkimCommand::Verify(args) => verify::run(global, args),
        DkimCommand::Keygen(args) => keygen::run(global, args),
        DkimCommand::Dns(args) => dns::run(global, args),
        DkimCommand::Check(args) => check::run(global, args),
        DkimCommand::Publish(args) => publish::run(global, args),
        DkimCommand::Import(args) => import::run(global, args),
        DkimCommand::Bench(_) => Err(laboratory::hand_over("bench").into()),
    }
}

/// Returns the time that was asked for, or the present, in seconds since 1970.
fn time_s(asked: Option<TimePoint>) -> u64 {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    asked.map_or(now_s, |time| time.since_1970(now_s))
}
