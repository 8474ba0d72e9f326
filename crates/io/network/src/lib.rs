//! Accepted connections and their limits, sockets, and names of hosts and networks. Internal to Oarlock: the interface
//! changes without notice.
//!
//! | item | content |
//! |---|---|
//! | [`accept_next`] | the acceptance of connections, with a pause after each failure |
//! | [`HandshakeAdmission`] | limits of connections whose client is not known yet |
//! | [`IdleTimer`], [`linger()`] | a limit on silence, and the end of a connection |
//! | [`DrainSwitch`] | the switch with which a service begins to drain |
//! | [`LogLimit`] | repeated log lines as a count |
//! | [`PassedSockets`] | listening sockets that systemd has bound |
//! | [`SocketFile`] | the file of a UNIX socket, which replaces and removes no other file |
//! | [`HostName`], [`HostNamePattern`] | host names as they are compared, and in settings |
//! | [`IpNetwork`] | IP networks in settings |
#![forbid(unsafe_code)]

mod accept;
mod drain;
mod handshake_admission;
mod host_name;
mod idle_timer;
mod ip_network;
mod linger;
mod log_limit;
mod passed_sockets;
mod socket_file;

pub use accept::accept_next;
pub use drain::{DrainSwitch, DrainWatch};
pub use handshake_admission::{HandshakeAdmission, HandshakeSlot, source_of};
pub use host_name::{BadName, HostName, HostNamePattern, HostNamePatternError};
pub use idle_timer::IdleTimer;
pub use ip_network::{IpNetwork, NetworkError};
pub use linger::linger;
pub use log_limit::LogLimit;
pub use passed_sockets::{PassedSockets, ServiceSocket};
pub use socket_file::{SocketFile, SocketFileError};
