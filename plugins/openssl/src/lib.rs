//! Oarlock as a provider of OpenSSL 3.0 to 4.0: programs that use libcrypto and libssl get their RSA, ECDSA, Ed25519 and X25519
//! from the engines of this process, or from a cryptoserver. docs/openssl.md says how it is set up.
//!
//! | module | what it holds |
//! |---|---|
//! | `entry` | every function that OpenSSL calls, and all unsafe code |
//! | `config` | settings from openssl.cnf and the environment |
//! | `work` | where an operation is done: engines of this process, cryptoserver, and what happens when that is away |
//! | `key`, `reference` | keys of other providers imported and exported; keys that live in a cryptoserver |
//! | `signature`, `cipher` | what contexts do between initialisation and result |
//! | `digest`, `der` | digests by name; DigestInfo and AlgorithmIdentifier |
//! | `error` | why something was not done |
#![deny(unsafe_code)]

mod cipher;
mod config;
mod der;
mod digest;
mod entry;
mod error;
mod generation;
mod key;
mod reference;
mod signature;
mod work;
