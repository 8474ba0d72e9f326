//! The cryptoserver: Oarlock as a network service.
//!
//! | module | what it holds |
//! |---|---|
//! | [`config`] | `oarlock.toml` |
//! | [`development`] | certificates and sample keys for a server without configuration |
//! | `server` | bound, running, drained |
//! | `accept`, `admission`, `descriptors` | connections taken in, and their bounds |
//! | `tls`, `certificate`, `client_verifier` | certificates: read, their ends, whose are accepted |
//! | `transport`, [`identity`] | connections, and who is at their other end |
//! | `lifetime`, `clock` | when connections end, and by which time |
//! | `http2`, `call`, `grpc`, `unix` | requests over HTTP/2 and over frames |
//! | `budget`, `rate` | bytes that clients hold, and how often they may do what |
//! | `service`, `clients`, `session` | what all connections share; what each client has; a stream's keys and requests |
//! | `keyring`, [`pattern`], [`client_pattern`], [`operations`] | keys that live here, and who may use them for what |
//! | `check`, `reload` | a configuration checked without a server, and read again by a running one |
//! | `null` | a key that answers with zeros |
//! | [`harden`] | no core dumps, no swap |
//! | `audit`, `metrics` | what was done; what operators watch |
#![forbid(unsafe_code)]

mod accept;
mod admission;
mod audit;
mod budget;
mod call;
mod certificate;
mod check;
pub mod client_pattern;
mod client_verifier;
mod clients;
mod clock;
pub mod config;
mod descriptors;
pub mod development;
mod grpc;
mod harden;
mod http2;
pub mod identity;
mod keyring;
mod lifetime;
mod metrics;
mod null;
pub mod operations;
pub mod pattern;
mod rate;
mod reload;
mod server;
mod service;
mod session;
mod tls;
mod transport;
mod unix;

pub use certificate::TermFault;
pub use check::check;
pub use clock::ServerClock;
pub use config::Config;
pub use harden::{Hardening, harden, keep_little_memory, raise_open_files};
pub use keyring::ResidentKeysError;
pub use reload::ReloadHandle;
pub use server::{Addresses, BoundServer, CryptoserverError};
pub use tls::TlsError;
