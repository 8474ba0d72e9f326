//! The client of the cryptoserver that holds signing keys.

use oarlock::Accelerator;
use oarlock_wire::{ConnectObserver, LinkTransport, RemoteHolder, ServerSettings, ServerSettingsError};
use tracing::{debug, warn};

use crate::keys::HOLDER;

/// Opens the client. It connects when it is first needed.
pub(crate) fn open_remote(
    server: &ServerSettings,
    checker: Accelerator,
) -> Result<RemoteHolder, ServerSettingsError> {
    server.open(HOLDER, checker, ConnectObserver::new(log_connection))
}

fn log_connection(server: &str, transport: &LinkTransport) {
    match transport.is_unexpected() {
        true => warn!(server, %transport, "connected to the cryptoserver"),
        false => debug!(server, %transport, "connected to the cryptoserver"),
    }
}
