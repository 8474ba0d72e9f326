//! Errors of starting and reconfiguring the filter.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use oarlock::BuildError;
use oarlock_dkim::SignerError;
use oarlock_milter::server::ServerError;
use oarlock_wire::RemoteError;

use crate::config::ConfigError;
use crate::keys::KeyFault;
use crate::table::TableError;

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// A setting cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The signing table cannot be used.
    #[error("[signing] table: {0}")]
    Table(#[from] TableError),
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyFault),
    /// With this nobody can sign.
    #[error("{place}: {} (selector {selector}): {error}", path.display())]
    Signer {
        /// Which settings.
        place: &'static str,
        /// The key file.
        path: PathBuf,
        /// The selector.
        selector: String,
        /// What is wrong.
        error: SignerError,
    },
    /// There are no engines.
    #[error("[engines] {0}")]
    Engines(#[from] BuildError),
    /// A file of the section `[cryptoserver]` cannot be read, or one is missing.
    #[error("[cryptoserver] {field}: {reason}")]
    Credentials {
        /// Which setting.
        field: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The cryptoserver's client cannot start.
    #[error("[cryptoserver] {0}")]
    Remote(#[from] RemoteError),
    /// A socket cannot be bound.
    #[error("[listen] {0}")]
    Server(#[from] ServerError),
    /// The address of metrics cannot be bound.
    #[error("[listen] metrics: cannot listen at {address}: {error}")]
    Metrics {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// What was to be done at the start ended without an answer.
    #[error("the start failed: {0}")]
    Start(String),
}
