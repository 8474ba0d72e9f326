//! A TLS-terminating proxy of TCP: handshakes that share batches, keys held anywhere, thousands of certificates.
//! Internal to Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`config`] | `proxy.toml` |
//! | `service`, `error` | the service: opened, bound, running, reloaded |
//! | `routes` | the choice of a backend and of the rules of TLS |
//! | `ocsp` | OCSP responses for the proxy's own certificates |
//! | `warning` | what works otherwise than an operator may expect |
//! | `state` | the settings in force and the resources that outlive them |
//! | [`certificate`] | the table of certificates, keys and OCSP responses |
//! | `tls`, `tickets`, `clients` | the configuration of TLS, session tickets, certificates of clients |
//! | `signature` | signatures of what is not part of a handshake |
//! | `listen`, `worker` | listening sockets, and a thread for each core |
//! | `admission` | the limits of connections |
//! | `connection`, `term` | the path of a connection from its first byte to its end |
//! | `record`, `tracked`, `log` | the properties of a connection, and its line in the log at its end |
//! | [`header`] | the PROXY protocol |
//! | `backend` | backends and their TLS |
//! | `relay`, `buffers`, `bytes`, `stream` | bytes both ways |
//! | `handover`, `kernel` | the hand-over of long transfers to the kernel |
//! | `counters`, `page` | counters and the metrics page |
#![forbid(unsafe_code)]

mod admission;
mod backend;
mod buffers;
mod bytes;
pub mod certificate;
mod clients;
pub mod config;
mod connection;
mod counters;
mod error;
mod handover;
pub mod header;
mod kernel;
mod listen;
mod log;
mod ocsp;
mod page;
mod record;
mod relay;
mod routes;
mod service;
mod signature;
mod state;
mod stream;
mod term;
mod tickets;
mod tls;
mod tracked;
mod warning;
mod worker;

pub use self::clients::{
    AuthorityError, ClientRuleError, CrlError, CrlWarning, ExpiredCrlRule, NamePattern, NamePatternError,
};
pub use self::config::ProxyConfig;
pub use self::counters::RefusalReason;
pub use self::error::ProxyServiceError;
pub use self::ocsp::OcspQuestionFault;
pub use self::service::{BoundProxy, ProxyReload, ProxyService};
pub use self::tickets::TicketKeyError;
pub use self::warning::ProxyWarning;
