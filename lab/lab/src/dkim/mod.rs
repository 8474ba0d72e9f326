//! Messages signed and verified per second of CPU, engine by engine and by a peer, in turns.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the commands' arguments |
//! | `bench` | `oarlock dkim bench` |
//! | `compare` | `--compare`: the same for messages of the caller, in the tables of the paper |
//! | `corpus` | messages of one size, and of sizes like those of the paper |
//! | `task` | the tasks: sign or verify, with a kind of key |
//! | `ours` | a row's work through `oarlock-dkim` |
//! | `mail_auth` | the same by a peer (feature `mail-auth`) |
//! | `report` | rows as table and JSON |

mod args;
mod bench;
mod compare;
mod corpus;
mod error;
#[cfg(feature = "mail-auth")]
mod mail_auth;
mod ours;
mod report;
mod task;

use oarlock_terminal::GlobalOptions;

pub(crate) use self::args::DkimLabArgs;
use self::args::DkimLabCommand;
pub(crate) use self::corpus::{MailCorpus, MailSizes};
pub(crate) use self::error::MailBenchError;
pub(crate) use self::task::{DOMAIN, MailInput, MailTask, SELECTOR, SignatureKind};

/// A contender at a task.
trait MailWork {
    /// Signs or verifies the next messages, and returns their number.
    fn batch(&mut self) -> Result<usize, MailBenchError>;
}

/// Runs the command.
///
/// # Errors
/// Engines that fail, signatures that are wrong, messages that cannot be read.
pub(crate) fn run(global: &GlobalOptions, args: &DkimLabArgs) -> Result<(), MailBenchError> {
    match &args.command {
        DkimLabCommand::Sign(args) | DkimLabCommand::Verify(args) => compare::run(global, args),
        DkimLabCommand::Bench(args) => bench::run(global, args),
    }
}
