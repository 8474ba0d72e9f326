//! The client of the cryptoserver that holds the keys of another service.

use oarlock::Accelerator;
use oarlock_wire::{ConnectObserver, LinkTransport, RemoteHolder, ServerSettings, ServerSettingsError};
use tracing::{debug, warn};

/// The holder of the keys that are at the cryptoserver.
pub const CRYPTOSERVER_HOLDER: &str = "cryptoserver";

/// Opens the client as [`CRYPTOSERVER_HOLDER`]. It connects when it is first needed, and logs each connection.
///
/// # Errors
/// As for [`ServerSettings::open`].
pub fn open_cryptoserver(
    server: &ServerSettings,
    checker: Accelerator,
) -> Result<RemoteHolder, ServerSettingsError> {
    server.open(CRYPTOSERVER_HOLDER, checker, ConnectObserver::new(log_connection))
}

fn log_connection(server: &str, transport: &LinkTransport) {
    match transport.is_unexpected() {
        true => warn!(server, %transport, "connected to the cryptoserver"),
        false => debug!(server, %transport, "connected to the cryptoserver"),
    }
}
