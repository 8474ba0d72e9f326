//! Errors of starting and reconfiguring the filter.

use std::path::PathBuf;

use oarlock::BuildError;
use oarlock_dkim::SignerError;
use oarlock_milter::server::MilterServerError;
use oarlock_service_kit::{KeyHolderError, ListenError};

use crate::config::FilterConfigError;
use crate::keys::SigningKeyFault;
use crate::table::SigningTableError;

/// An error of starting the filter or of replacing its settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum FilterServiceError {
    /// A setting is not valid.
    #[error(transparent)]
    Config(#[from] FilterConfigError),
    /// The signing table cannot be used.
    #[error("[signing] table: {0}")]
    Table(#[from] SigningTableError),
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] SigningKeyFault),
    /// The key cannot sign.
    #[error("{setting}: {} (selector {selector}): {error}", path.display())]
    Signer {
        /// The name of the setting.
        setting: &'static str,
        /// The key file.
        path: PathBuf,
        selector: String,
        /// The reason.
        error: SignerError,
    },
    /// No engine is available.
    #[error("[engines] {0}")]
    Engines(#[from] BuildError),
    /// The section `[cryptoserver]` or `[[hsm]]` cannot be used.
    #[error(transparent)]
    Holders(#[from] KeyHolderError),
    /// A socket cannot be bound.
    #[error("[listen] {0}")]
    Server(#[from] MilterServerError),
    /// The address for metrics cannot be bound.
    #[error("[listen] metrics: {0}")]
    Metrics(#[from] ListenError),
    /// The service manager has bound sockets that no setting names.
    #[error("[listen] systemd has bound {}, which no setting names: expected the addresses of sockets and metrics", .0.join(", "))]
    Passed(Vec<String>),
    /// The task that opens the filter ended without a result.
    #[error("the start failed: {0}")]
    Start(String),
}
