//! The errors that keep a server from starting or from reloading.

use std::io;
use std::path::PathBuf;

use oarlock::BuildError;
use oarlock_network::SocketFileError;
use oarlock_service_kit::{KeyHolderError, ListenError};

use crate::config::ConfigError;
use crate::keyring::ResidentKeysError;
use crate::tls::TlsError;

/// An error of a server that starts, runs or reloads.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CryptoserverError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The engines cannot be built.
    #[error("[engines] {0}")]
    Build(#[from] BuildError),
    /// The devices cannot be opened.
    #[error(transparent)]
    Devices(#[from] KeyHolderError),
    /// The resident keys cannot be read.
    #[error(transparent)]
    Keys(#[from] ResidentKeysError),
    /// The certificates cannot be used.
    #[error("[tls] {0}")]
    Tls(#[from] TlsError),
    /// The audit log cannot be opened.
    #[error("[audit] {}: {error}", path.display())]
    Audit {
        /// The log's file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The server cannot listen at an address.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The service manager has bound sockets that the configuration does not name.
    #[error(
        "[listen] systemd has bound {}, which the configuration does not name: expected the addresses of tcp, \
         plaintext, unix or metrics", .0.join(", ")
    )]
    Passed(Vec<String>),
    /// The file of the UNIX socket cannot be made.
    #[error("[listen] unix: {0}")]
    SocketFile(#[from] SocketFileError),
    /// The server has stopped, so it cannot reload.
    #[error("the server has stopped")]
    Stopped,
    /// The description of the protocol for gRPC reflection cannot be read.
    #[error("gRPC reflection: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// The description of the protocol for messages in JSON cannot be read.
    #[error("messages in JSON: {0}")]
    Json(#[from] prost_reflect::DescriptorError),
}
