//! The cryptoserver: Oarlock as a network service.
//!
//! | module | what it holds |
//! |---|---|
//! | [`config`] | `oarlock.toml` |
//! | [`development`] | certificates and sample keys for a server without configuration |
//! | `server` | bound, running, drained |
//! | `tls`, `transport`, [`identity`] | connections, and who is at their other end |
//! | `grpc`, `unix` | requests over HTTP/2 and over frames |
//! | `service`, `session` | what all connections share; a stream's keys and requests |
//! | `keyring`, [`pattern`] | keys that live here, and who may use them for what |
//! | `pool`, `null` | threads for batches of records; a key that answers with zeros |
//! | [`harden`] | no core dumps, no swap |
//! | `audit`, `metrics` | what was done; what operators watch |
#![forbid(unsafe_code)]

mod audit;
pub mod config;
pub mod development;
mod grpc;
mod harden;
pub mod identity;
mod keyring;
mod metrics;
mod null;
pub mod pattern;
mod pool;
mod server;
mod service;
mod session;
mod tls;
mod transport;
mod unix;

pub use config::Config;
pub use harden::{harden, raise_open_files};
pub use keyring::KeysError;
pub use server::{Addresses, Server, ServerError};
pub use tls::TlsError;
