//! The program `oarlock` as a cryptoserver.

use std::path::Path;
use std::process::{Command, Stdio};

use oarlock_measure::cores::DividedCores;
use oarlock_terminal::GlobalOptions;

use super::BenchError;
use super::directory::{ServerIdentity, make_directory, write};
use super::plan::BenchProgram;
use super::process::ServerProcess;
use super::settings;
use crate::product::oarlock_path;

/// Starts a cryptoserver, and waits until it listens at `oarlock.sock` in a directory. It holds these private
/// keys. It runs on the servers' core, or on the cores of this thread if `cores` is None.
pub(super) fn start_cryptoserver(
    global: &GlobalOptions,
    held: &[ServerIdentity],
    directory: &Path,
    cores: Option<&DividedCores>,
) -> Result<ServerProcess, BenchError> {
    let keys = make_directory(directory.join("keys"))?;
    for identity in held {
        write(&keys.join(format!("{}.pem", identity.held_name())), identity.private_key().as_bytes())?;
    }
    let config = directory.join("oarlock.toml");
    let user = rustix::process::geteuid().as_raw();
    write(&config, settings::cryptoserver(user, global).as_bytes())?;
    let mut command = Command::new(oarlock_path()?);
    command.args(["--json", "serve", "--config"]).arg(&config).stdout(Stdio::piped());
    let log = directory.join("cryptoserver.log");
    let mut process = match cores {
        Some(cores) => ServerProcess::start(BenchProgram::Cryptoserver, command, log, cores)?,
        None => ServerProcess::start_here(BenchProgram::Cryptoserver, command, log)?,
    };
    wait_until_it_listens(&mut process)?;
    Ok(process)
}

/// Kills a cryptoserver and starts it again, and waits until it listens.
pub(super) fn restart_cryptoserver(
    process: &mut ServerProcess,
    cores: &DividedCores,
) -> Result<(), BenchError> {
    process.restart(cores)?;
    wait_until_it_listens(process)
}

fn wait_until_it_listens(process: &mut ServerProcess) -> Result<(), BenchError> {
    match process.first_line()?.is_empty() {
        true => Err(process.ended()),
        false => Ok(()),
    }
}
