//! The client of the cryptoserver that holds keys of certificates.

use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock::Accelerator;
use oarlock_key_files::read_private;
use oarlock_wire::{ConnectObserver, Credentials, Endpoint, LinkTransport, RemoteConfig, RemoteHolder};
use tracing::{debug, warn};
use zeroize::Zeroizing;

use crate::certificate::CERTIFICATE_HOLDER;
use crate::config::KeyServerSettings;
use crate::error::ProxyServiceError;

/// The maximum size of a credential file. A private key is far smaller.
const MAX_CREDENTIAL_BYTES: usize = 1 << 20;

/// Opens the client. It connects when it is first needed.
pub(crate) fn open_remote(
    server: &KeyServerSettings,
    checker: Accelerator,
) -> Result<RemoteHolder, ProxyServiceError> {
    let server_uids: Vec<u32> = oarlock_ffi::uid_of(&server.server_user).into_iter().collect();
    let mut endpoints = Vec::new();
    for address in &server.servers {
        endpoints.push(if address.starts_with("http:") || address.starts_with("https:") {
            let credentials = address.starts_with("https:").then(|| read_credentials(server)).transpose()?;
            Endpoint::Grpc { url: address.clone(), credentials }
        } else {
            Endpoint::UnixOf { path: PathBuf::from(address), server_uids: server_uids.clone() }
        });
    }
    let patience = Duration::from_millis(server.patience_ms.max(1));
    let observer = Some(ConnectObserver::new(log_connection));
    let config = RemoteConfig { patience, observer, ..RemoteConfig::new(CERTIFICATE_HOLDER, endpoints) };
    Ok(RemoteHolder::new(config, checker)?)
}

fn log_connection(server: &str, transport: &LinkTransport) {
    match transport.is_unexpected() {
        true => warn!(server, %transport, "connected to the cryptoserver"),
        false => debug!(server, %transport, "connected to the cryptoserver"),
    }
}

fn read_credentials(server: &KeyServerSettings) -> Result<Credentials, ProxyServiceError> {
    let read = |field: &'static str, path: &Option<PathBuf>| {
        let fault = |reason: String| ProxyServiceError::Credentials { field, reason };
        let path: &Path = path.as_deref().ok_or_else(|| fault("expected a file for https".to_owned()))?;
        let read = match field {
            "private_key" => read_private(path, MAX_CREDENTIAL_BYTES),
            _ => std::fs::read(path).map(Zeroizing::new),
        };
        read.map_err(|error| fault(format!("{}: {error}", path.display())))
    };
    Ok(Credentials {
        server_ca: read("server_ca", &server.server_ca)?.to_vec(),
        certificate: read("certificate", &server.certificate)?.to_vec(),
        private_key: read("private_key", &server.private_key)?,
    })
}
