//! Commands of the laboratory, which `oarlock-lab` beside this program runs with the same arguments.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Arg, Args, value_parser};
use oarlock_terminal::{CommandError, FailureKind};

use crate::version::VERSION;

/// The name of the laboratory's program.
const PROGRAM: &str = "oarlock-lab";

/// A command of the laboratory. All its arguments are passed on, `--help` too.
#[derive(Args, Clone, Debug)]
#[command(disable_help_flag = true, disable_version_flag = true, arg = arguments())]
pub(crate) struct LaboratoryCommand {}

fn arguments() -> Arg {
    let arg = Arg::new("arguments").value_name("ARGUMENTS").value_parser(value_parser!(std::ffi::OsString));
    arg.num_args(0..)
        .trailing_var_arg(true)
        .allow_hyphen_values(true)
        .help("Options and arguments: see --help")
}

/// The option of `oarlock dkim sign` and `verify` that makes them commands of the laboratory, and its own options.
#[derive(Args, Debug)]
#[command(args = comparison_options())]
pub(crate) struct Comparison {
    /// Measure instead: sign and verify the messages with new keys, with the scalar engine and with the
    /// fastest one, and print tables 2 to 6 of the paper "Accelerating DKIM" for them. Nothing is written (laboratory)
    #[arg(long)]
    compare: bool,
}

/// Options that only the laboratory reads.
fn comparison_options() -> [Arg; 2] {
    let option = |name: &'static str| Arg::new(name).long(name).requires("compare");
    [
        option("plot").value_name("FILE.svg").help("Draw the gains into this SVG file"),
        option("turns")
            .value_name("N")
            .help("Number of turns of each row, 1 to 1000; the median counts [default: 3]"),
    ]
}

/// The reason why the laboratory does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaboratoryError {
    #[error(
        "{command}: belongs to the laboratory, and {PROGRAM} is not beside {}: build it with \"make lab\" in a checkout \
         of Oarlock",
        program.display()
    )]
    Absent { command: &'static str, program: PathBuf },
    #[error(
        "{command}: belongs to the laboratory, and {} has {found}, while oarlock has version {VERSION}: build both with \
         \"make lab\" in a checkout of Oarlock",
        laboratory.display()
    )]
    OtherVersion { command: &'static str, laboratory: PathBuf, found: String },
    #[error("{command}: cannot start {}: {error}", path.display())]
    Start { command: &'static str, path: PathBuf, error: io::Error },
}

impl CommandError for LaboratoryError {
    fn kind(&self) -> FailureKind {
        FailureKind::Machine
    }
}

impl Comparison {
    /// Runs the laboratory in place of this program if the option is given.
    ///
    /// # Errors
    /// The laboratory cannot run.
    pub(crate) fn hand_over(&self, command: &'static str) -> Result<(), LaboratoryError> {
        if self.compare { Err(hand_over(command)) } else { Ok(()) }
    }
}

/// Runs the laboratory in place of this program, with the same arguments. Returns only if that is impossible.
pub(crate) fn hand_over(command: &'static str) -> LaboratoryError {
    let start_error = |path: &Path, error| LaboratoryError::Start { command, path: path.to_owned(), error };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return start_error(Path::new(PROGRAM), error),
    };
    let laboratory = program.with_file_name(PROGRAM);
    if !laboratory.is_file() {
        return LaboratoryError::Absent { command, program };
    }
    let found = match version_of(&laboratory) {
        Some(version) if version == VERSION => {
            // Replaces this process, so that signals and the exit code are those of the laboratory.
            let error = Command::new(&laboratory).args(std::env::args_os().skip(1)).exec();
            return start_error(&laboratory, error);
        }
        Some(version) => format!("version {version}"),
        None => "an unknown version (it does not answer -V)".to_owned(),
    };
    LaboratoryError::OtherVersion { command, laboratory, found }
}

/// Asks a laboratory for its version, with the commit if the build knew it.
fn version_of(laboratory: &Path) -> Option<String> {
    // Without the input of this command, which the laboratory itself may read later.
    let output =
        Command::new(laboratory).arg("-V").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.trim_end().strip_prefix(PROGRAM)?.strip_prefix(' ')?.to_owned();
    (output.status.success() && !version.contains('\n')).then_some(version)
}
