//! The parts that all services share. Internal to Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`settings`], [`EngineSettings`] | settings files, their errors, and the section that all of them have |
//! | [`Current`] | a value that a reload replaces as a whole |
//! | [`KeyHolders`], [`HeldKeyName`] | keys at the cryptoserver and in devices |
//! | [`ServiceClock`] | the clock of a service, which a test can set |
//! | [`metrics`] | a page for Prometheus |
//! | [`bind_tcp`] | sockets that are bound here or by systemd |
//! | [`admission`] | log lines about the acceptance of connections |
//! | [`signals`] | signals, and messages to systemd |
//! | [`log_line`] | texts, numbers and times in the lines of log files |
//! | [`date_of`] | the Gregorian calendar |
//! | [`harden`](harden()) | protection of memory: no core dumps, no swap |
//! | [`certificate`] | the times and the order of certificates |
//! | [`RuledClientVerifier`] | certificates of clients, with a rule of the service |
#![forbid(unsafe_code)]

pub mod admission;
mod calendar;
pub mod certificate;
mod client_verifier;
mod clock;
mod current;
mod engines;
mod harden;
mod held_keys;
mod listen;
pub mod log_line;
pub mod metrics;
mod service_manager;
pub mod settings;
pub mod signals;

pub use calendar::date_of;
pub use client_verifier::{ClientRule, RuledClientVerifier};
pub use clock::ServiceClock;
pub use current::Current;
pub use engines::EngineSettings;
pub use harden::{Hardening, give_memory_back, harden, keep_little_memory, raise_open_files};
pub use held_keys::{
    CRYPTOSERVER_HOLDER, HeldKeyFault, HeldKeyName, KeyHolderError, KeyHolders, resolve_key_path,
};
pub use listen::{ListenError, bind_tcp};
