//! The formats and the numbers of keys, by way of the public interface.
//!
//! | module | what it holds |
//! |---|---|
//! | `import` | formats that are imported, and the keys that come out |
//! | `export` | exported keys come in again, in the form that OpenSSL writes and reads |
//! | `bind` | BIND's files of private keys |
//! | `reference` | files that name a key at a server |
//! | `rsa` | relations between the numbers of RSA keys |
//! | `curves` | EC, Ed25519 and X25519: published vectors, ranges and points |
//! | `lattice` | ML-KEM and ML-DSA in every form, and wrong keys |
//! | `stateful` | HSS and XMSS: public keys, and private keys that are refused |
//! | `refuse` | inputs that are refused, and their errors |
//! | `robust` | truncated and corrupted files |
//! | `threshold` | shares of RSA keys; with the feature `threshold` |
//! | `support` | helpers: the fixtures in `tests/data` |
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

mod bind;
mod composite;
mod curves;
mod export;
mod hash_based;
mod import;
mod lattice;
mod reference;
mod refuse;
mod robust;
mod rsa;
mod stateful;
mod support;
#[cfg(feature = "threshold")]
mod threshold;
