//! `oarlock hsm-process`: the process of a device, which services start. Nobody calls it by hand.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;

use oarlock_server::hsm_process;
use oarlock_service_kit::signals::ignore_stops;
use oarlock_terminal::{CommandError, FailureKind};
use tokio::runtime::Builder;

use crate::serve::harden;

/// An error of the process, which its service has been told too.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct HsmProcessError(#[from] io::Error);

impl CommandError for HsmProcessError {
    fn kind(&self) -> FailureKind {
        FailureKind::Machine
    }
}

pub(crate) fn run() -> Result<(), HsmProcessError> {
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    // From now on what the module prints does not mix with the lines for the service.
    rustix::stdio::dup2_stdout(io::stderr()).map_err(io::Error::from)?;
    oarlock_service_kit::keep_little_memory();
    harden(false);
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    Ok(runtime.block_on(async {
        ignore_stops()?;
        hsm_process::run(BufReader::new(io::stdin()), output).await
    })?)
}
