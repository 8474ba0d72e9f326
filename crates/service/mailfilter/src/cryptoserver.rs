//! The client of the cryptoserver that holds signing keys.

use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock::Accelerator;
use oarlock_key_files::read_private;
use oarlock_wire::{ConnectObserver, Credentials, Endpoint, LinkTransport, RemoteConfig, RemoteHolder};
use tracing::{debug, warn};
use zeroize::Zeroizing;

use crate::config::CryptoserverSettings;
use crate::error::FilterServiceError;
use crate::keys::HOLDER;

pub(crate) fn remote(
    server: &CryptoserverSettings,
    checker: Accelerator,
) -> Result<RemoteHolder, FilterServiceError> {
    let mut endpoints = Vec::new();
    let server_uids: Vec<u32> = oarlock_ffi::uid_of(&server.server_user).into_iter().collect();
    for place in &server.servers {
        let is_grpc = place.starts_with("http:") || place.starts_with("https:");
        endpoints.push(match is_grpc {
            true => {
                let is_secure = place.starts_with("https:");
                let credentials = is_secure.then(|| credentials(server)).transpose()?;
                Endpoint::Grpc { url: place.clone(), credentials }
            }
            false => Endpoint::UnixOf { path: PathBuf::from(place), server_uids: server_uids.clone() },
        });
    }
    let patience = Duration::from_millis(server.patience_ms.max(1));
    let observer = Some(ConnectObserver::new(log_connection));
    let config = RemoteConfig { patience, observer, ..RemoteConfig::new(HOLDER, endpoints) };
    Ok(RemoteHolder::new(config, checker)?)
}

fn log_connection(server: &str, transport: &LinkTransport) {
    match transport.is_unexpected() {
        true => warn!(server, %transport, "connected to the cryptoserver"),
        false => debug!(server, %transport, "connected to the cryptoserver"),
    }
}

/// The maximum size of a credential file. A private key is far smaller.
const MAX_CREDENTIAL_BYTES: usize = 1 << 20;

fn credentials(server: &CryptoserverSettings) -> Result<Credentials, FilterServiceError> {
    let read = |field: &'static str, path: &Option<PathBuf>| {
        let fault = |reason: String| FilterServiceError::Credentials { field, reason };
        let path: &Path = path.as_deref().ok_or_else(|| fault("expected a file for https".to_owned()))?;
        let read = if field == "private_key" {
            read_private(path, MAX_CREDENTIAL_BYTES).map(|bytes| bytes.to_vec())
        } else {
            std::fs::read(path)
        };
        read.map_err(|error| fault(format!("{}: {error}", path.display())))
    };
    Ok(Credentials {
        server_ca: read("server_ca", &server.server_ca)?,
        certificate: read("certificate", &server.certificate)?,
        private_key: Zeroizing::new(read("private_key", &server.private_key)?),
    })
}
