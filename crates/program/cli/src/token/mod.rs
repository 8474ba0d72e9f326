//! `oarlock token`: makes token files of the PKCS#11 module, lists and fills them, and changes their PINs.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments |
//! | `init`, `list`, `import`, `pin` | the subcommands |
//! | `template` | the templates of a key and its certificates |
//! | `certificates` | files of certificates |
//! | `pin_source` | PINs from files and from the terminal |
//! | `error` | the errors |

mod args;
mod certificates;
mod error;
mod import;
mod init;
mod list;
mod pin;
mod pin_source;
mod template;

use oarlock_terminal::GlobalOptions;

pub(crate) use self::args::TokenArgs;
use self::args::TokenCommand;
pub(crate) use self::error::TokenError;

/// Runs the command.
///
/// # Errors
/// Wrong usage, input or PINs, or a machine that failed.
pub(crate) fn run(global: &GlobalOptions, args: &TokenArgs) -> Result<(), TokenError> {
    // PINs and keys are read even if the system does not allow all protection; `oarlock serve` warns about it.
    let _ = oarlock_service_kit::harden();
    match &args.command {
        TokenCommand::Init(args) => init::run(global, args),
        TokenCommand::List(args) => list::run(global, args),
        TokenCommand::Import(args) => import::run(global, args),
        TokenCommand::Pin(args) => pin::run(global, args),
    }
}
