//! Errors of starting and reconfiguring the proxy.

use std::path::PathBuf;

use oarlock::BuildError;
use oarlock_network::SocketFileError;
use oarlock_service_kit::settings::SettingsError;
use oarlock_service_kit::{KeyHolderError, ListenError};

use crate::certificate::{CertificateFault, CertificateTableError};
use crate::clients::{AuthorityError, ClientRuleError};
use crate::tickets::TicketKeyError;

/// An error of starting the proxy or of replacing its settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ProxyServiceError {
    /// A setting is not valid.
    #[error(transparent)]
    Config(#[from] SettingsError),
    /// The certificates cannot be used.
    #[error(transparent)]
    Certificates(#[from] CertificateTableError),
    /// The settings of a route cannot be used.
    #[error("[[route]] {number}: {error}")]
    Route {
        /// The number of the route, from 1.
        number: usize,
        /// The fault of its settings or files.
        error: Box<ProxyServiceError>,
    },
    /// The ticket keys cannot be used.
    #[error("[tickets] keys: {0}")]
    Tickets(#[from] TicketKeyError),
    /// The authorities or the revocation lists of clients cannot be used.
    #[error(transparent)]
    Clients(#[from] ClientRuleError),
    /// The authorities of a backend cannot be used.
    #[error("[backend.tls] authorities: {0}")]
    BackendAuthorities(AuthorityError),
    /// The proxy's certificate for a backend cannot be used.
    #[error("[backend.tls] {}: {reason}", path.display())]
    BackendCertificate {
        /// The path of the file.
        path: PathBuf,
        reason: String,
    },
    /// The proxy's key for a backend cannot be used.
    #[error("[backend.tls] private_key {0}")]
    BackendKey(CertificateFault),
    /// The name in a backend's certificate is not a name.
    #[error("[backend.tls] server_name: expected a host name or an address, found {found:?}")]
    ServerName {
        /// The text found.
        found: String,
    },
    /// The settings of TLS do not fit together.
    #[error("[tls] {0}")]
    Tls(#[from] rustls::Error),
    /// The file of the log of connections cannot be opened.
    #[error("[log] file {}: {error}", path.display())]
    Log {
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// No engine is available.
    #[error("[engines] {0}")]
    Engines(#[from] BuildError),
    /// The section `[cryptoserver]` or `[[hsm]]` cannot be used.
    #[error(transparent)]
    Holders(#[from] KeyHolderError),
    /// An address cannot be bound.
    #[error("[listen] sockets: {0}")]
    Listen(#[from] ListenError),
    /// Another process listens at an address.
    #[error(
        "[listen] sockets: another process listens at {address}: stop it first, or let both share the port during a \
         hand-over ([listen] share_ports or --share-ports)"
    )]
    PortTaken { address: String },
    /// The file of a UNIX socket cannot be made.
    #[error("[listen] sockets: {0}")]
    SocketFile(#[from] SocketFileError),
    /// systemd has passed no socket.
    #[error("[listen] sockets: \"systemd\" expects sockets of a socket unit (LISTEN_FDS), found none")]
    NoSockets,
    /// The address for metrics cannot be bound.
    #[error("[listen] metrics: {0}")]
    Metrics(ListenError),
    /// A thread cannot be started.
    #[error("the start failed: {0}")]
    Start(String),
}
