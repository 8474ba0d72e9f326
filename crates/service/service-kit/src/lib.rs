//! The parts that all services share. Internal to Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`settings`], [`EngineSettings`] | settings files, their errors, and the section that all of them have |
//! | [`Current`] | a value that a reload replaces as a whole |
//! | [`open_cryptoserver`] | the client of the server that holds keys |
//! | [`ServiceClock`] | the clock of a service, which a test can set |
//! | [`metrics`] | a page for Prometheus |
//! | [`bind_tcp`] | sockets that are bound here or by systemd |
//! | [`admission`] | log lines about the acceptance of connections |
//! | [`signals`] | signals, and messages to systemd |
//! | [`harden`](harden()) | protection of memory: no core dumps, no swap |
//! | [`certificate`] | the times and the order of certificates |
//! | [`RuledClientVerifier`] | certificates of clients, with a rule of the service |
#![forbid(unsafe_code)]

pub mod admission;
pub mod certificate;
mod client_verifier;
mod clock;
mod cryptoserver;
mod current;
mod engines;
mod harden;
mod listen;
pub mod metrics;
mod service_manager;
pub mod settings;
pub mod signals;

pub use client_verifier::{ClientRule, RuledClientVerifier};
pub use clock::ServiceClock;
pub use cryptoserver::{CRYPTOSERVER_HOLDER, open_cryptoserver};
pub use current::Current;
pub use engines::EngineSettings;
pub use harden::{Hardening, give_memory_back, harden, keep_little_memory, raise_open_files};
pub use listen::{ListenError, bind_tcp};
