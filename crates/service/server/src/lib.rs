//! The cryptoserver: Oarlock as a network service. Internal to Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`config`] | `oarlock.toml` |
//! | [`development`] | certificates and sample keys for a server without configuration |
//! | `server`, `error` | the server: bound, running, drained; its errors |
//! | `accept`, `admission`, `descriptors` | the acceptance of connections, and their limits |
//! | `transport`, `identity` | connections, and the identities of their clients |
//! | `tls`, `certificate` | certificates: read, checked, verified |
//! | `lifetime` | the ends of connections |
//! | `http2`, `call`, `grpc`, `unix` | requests over HTTP/2 and over frames on a UNIX socket |
//! | `connect`, [`json`] | single calls over plain HTTP, for `curl`: the unary calls of Connect, and their JSON |
//! | `budget`, `rate`, `buffers` | the bytes that clients hold, the rates of their operations, the sizes of buffers |
//! | `service`, `clients`, `session` | the state of all connections, of each client, and of each stream |
//! | `overhead` | the CPU time of the server beside that of its engines |
//! | `keyring`, [`pattern`], `client_pattern`, `operations` | resident keys, and the grants to use them |
//! | `check`, `reload` | a configuration checked without a server, and read again by a running one |
//! | [`hsm_process`] | the process of a device: a private server |
//! | `null` | the benchmark key that answers with zeros |
//! | `audit`, [`audit_chain`] | the audit log, and the hash chain of its lines |
//! | `metrics`, `metrics_page`, `key_uses` | the counters, and their page for Prometheus |
//! | `dashboard` | the page for browsers |
//!
//! No two modules depend on each other: `server` is at the top, and `config` with its patterns at the bottom.
#![forbid(unsafe_code)]

mod accept;
mod admission;
mod audit;
pub mod audit_chain;
mod budget;
mod buffers;
mod call;
mod certificate;
mod check;
mod client_pattern;
mod clients;
pub mod config;
mod connect;
mod dashboard;
mod descriptors;
pub mod development;
mod error;
mod grpc;
pub mod hsm_process;
mod http2;
mod identity;
pub mod json;
mod key_uses;
mod keyring;
mod lifetime;
mod metrics;
mod metrics_page;
mod null;
mod operations;
mod overhead;
pub mod pattern;
mod rate;
mod reload;
mod server;
mod service;
mod session;
mod tls;
mod transport;
mod unix;
mod values;

pub use certificate::ValidityError;
pub use check::check;
pub use client_pattern::ClientPatternError;
pub use config::CryptoserverConfig;
pub use error::CryptoserverError;
pub use keyring::ResidentKeysError;
pub use reload::ReloadHandle;
pub use server::{Addresses, BoundServer};
pub use tls::TlsError;
