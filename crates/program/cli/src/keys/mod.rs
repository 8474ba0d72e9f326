//! `oarlock keys`: generates, imports, lists and shows keys. Private keys are written only into files that their
//! owner alone can read.
//!
//! | module | what it holds |
//! |---|---|
//! | `args`, `kind` | the command's arguments; the kinds that can be generated |
//! | `generate`, `import`, `list`, `rotate`, `show`, `split` | the subcommands |
//! | `token_list` | `list` with the URI of a token |
//! | `seal` | the subcommands `seal` and `unseal`; reading and writing of sealed files |
//! | `about` | summaries of keys without their secrets |
//! | `inputs` | keys that a command signs with, also in devices |
//! | `key_file`, `records` | key directories and files in them; files of symmetric keys |
//! | `error` | the errors |

mod args;
mod error;
mod generate;
mod import;
mod inputs;
pub(crate) mod key_file;
mod kind;
mod list;
mod records;
mod rotate;
mod seal;
mod secret_files;
mod show;
mod split;
pub(crate) mod summary;
mod token_list;

use oarlock_terminal::GlobalOptions;

pub(crate) use self::args::KeysArgs;
use self::args::KeysCommand;
pub(crate) use self::error::KeysError;
pub(crate) use self::inputs::{KeyInput, KeyInputs};
pub(crate) use self::secret_files::{InputPassphrase, KeyPassphrase, NewPassphrase};

/// Runs the command.
///
/// # Errors
/// Wrong usage or input, or a machine that failed.
pub(crate) fn run(global: &GlobalOptions, args: &KeysArgs) -> Result<(), KeysError> {
    // Keys are made even if the system does not allow all protection; `oarlock serve` warns about it.
    let _ = oarlock_service_kit::harden();
    match &args.command {
        KeysCommand::Generate(args) => generate::run(global, args),
        KeysCommand::Import(args) => import::run(global, args),
        KeysCommand::List(args) => list::run(global, args),
        KeysCommand::Rotate(args) => rotate::run(global, args),
        KeysCommand::Seal(args) => seal::run(global, args),
        KeysCommand::Show(args) => show::run(global, args),
        KeysCommand::Split(args) => split::run(global, args),
        KeysCommand::Unseal(args) => seal::run_unseal(global, args),
    }
}
