//! The way `device`: another side seals each record, and gives it back to be sent. It is AF_ALG if the kernel has it,
//! else a cryptoserver.

use std::path::Path;

use oarlock_measure::sockets::SocketSuite;

use super::af_alg::AlgSender;
use super::server_device::ServerSender;
use super::transfer::RecordSender;

/// Makes the sender of the device that is there.
///
/// # Errors
/// The reasons that there is none.
pub(super) fn sender(
    suite: SocketSuite,
    streams: usize,
    socket: Option<&Path>,
) -> Result<Box<dyn RecordSender>, String> {
    let no_alg = match AlgSender::new(suite, streams) {
        Ok(sender) => return Ok(Box::new(sender)),
        Err(reason) => reason,
    };
    let Some(path) = socket else {
        return Err(format!(
            "{no_alg}; and no cryptoserver is named: start `oarlock serve`, and pass its UNIX socket with --device-socket"
        ));
    };
    match ServerSender::new(path, suite, streams) {
        Ok(sender) => Ok(Box::new(sender)),
        Err(reason) => Err(format!("{no_alg}; {}: {reason}", path.display())),
    }
}
