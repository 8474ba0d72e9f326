//! Oarlock as a provider of OpenSSL 3.0 to 4.0. Programs that use libcrypto and libssl get their RSA, ECDSA, ECDH,
//! Ed25519, X25519, ML-KEM and ML-DSA operations from the engines of this process, or from a cryptoserver.
//! docs/openssl.md describes the setup.
//!
//! | module | content |
//! |---|---|
//! | `ffi` | the functions that OpenSSL calls, the interface of the library that loaded the provider, and all unsafe code |
//! | `config` | settings from openssl.cnf and the environment |
//! | `provider` | the choice between engines of this process and a cryptoserver, and the fallback if the server is unavailable |
//! | `engines` | the engines of this process, which its providers share |
//! | `pending` | an operation that has been submitted and not answered yet |
//! | `key`, `reference` | keys imported from and exported to other providers; keys that live in a cryptoserver |
//! | `generation` | new keys |
//! | `route` | the choice of where operations are computed, by measured costs |
//! | `knowledge` | findings that forks share |
//! | `handover` | operations that the fallback, another provider, continues with |
//! | `signature`, `cipher`, `exchange`, `kem` | contexts between initialisation and result |
//! | `kdf` | key derivations of TLS |
//! | `hybrid` | keys of the TLS groups that join ML-KEM with a curve |
//! | `digest`, `der` | digests by name; DigestInfo and AlgorithmIdentifier |
//! | `error` | the reasons why an operation fails |
#![deny(unsafe_code)]

mod cipher;
mod config;
mod der;
mod digest;
mod engines;
mod error;
mod exchange;
mod ffi;
mod generation;
mod handover;
mod hybrid;
mod kdf;
mod kem;
mod key;
mod knowledge;
mod parameters;
mod pending;
mod provider;
mod reference;
mod route;
mod signature;
