//! `oarlock keys`: makes keys, takes them in, and says what is there. Private material goes into files of their
//! owner and nowhere else.
//!
//! | module | what it holds |
//! |---|---|
//! | `args`, `kind` | the command's arguments; what can be made |
//! | `generate`, `import`, `list`, `show`, `split` | the subcommands |
//! | `about` | what may be said of a key |
//! | `place`, `records` | directories of keys and files in them; files of symmetric keys |
//! | `draft` | files that are there whole or not at all |
//! | `error` | why there is no key |

pub(crate) mod about;
mod args;
mod draft;
mod error;
mod generate;
mod import;
mod kind;
mod list;
pub(crate) mod place;
mod records;
mod show;
mod split;

pub(crate) use self::args::KeysArgs;
use self::args::KeysCommand;
pub(crate) use self::draft::Over;
pub(crate) use self::error::KeysError;
use oarlock_measure::GlobalOptions;

/// Runs the command.
///
/// # Errors
/// Wrong usage or input, or a machine that failed.
pub(crate) fn run(global: &GlobalOptions, args: &KeysArgs) -> Result<(), KeysError> {
    // What the system does not allow is no reason not to make keys; `oarlock serve` says so.
    let _ = oarlock_server::harden();
    match &args.command {
        KeysCommand::Generate(own) => generate::run(global, own),
        KeysCommand::Import(own) => import::run(global, own),
        KeysCommand::List(own) => list::run(global, own),
        KeysCommand::Show(own) => show::run(global, own),
        KeysCommand::Split(own) => split::run(global, own),
    }
}
