//! The lane engine on every leaf, against published vectors and the scalar engine.
//!
//! | module | what it holds |
//! |---|---|
//! | `rsa` | RSA: every size, unequal primes, edges of the range |
//! | `ecdsa` | ECDSA: published signatures, edges, points that meet exceptions, mixed batches |
//! | `curve25519` | Ed25519 and X25519: RFC 8032 and RFC 7748 |
//! | `curve25519_edges` | Ed25519 and X25519 with unusual encodings |
//! | `hash` | hashes and HMAC: lengths around the block size, lanes that end early, parts that join |
//! | `ml_kem` | ML-KEM beside the scalar engine: keys, damaged ciphertexts, every number of jobs |
//! | `ml_dsa` | ML-DSA beside the scalar engine: keys, damaged signatures, every number of jobs |
//! | `slh_dsa` | SLH-DSA beside the scalar engine: keys, signatures, damaged signatures, cancelled operations |
//! | `stateful` | HSS and XMSS beside the scalar engine, on every leaf |
//! | `gcm` | GCM: tag lengths, damaged records among good ones, slots |
//! | `gcm_siv` | GCM-SIV: RFC 8452, and each length beside the scalar engine |
//! | `published` | published vectors of every record shape |
//! | `records` | records of every shape beside the scalar engine |
//! | `common` | helpers: engines, records built one by one, and runs |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]

mod common;
mod curve25519;
mod curve25519_edges;
mod ecdsa;
mod gcm;
mod gcm_siv;
mod hash;
mod ml_dsa;
mod ml_kem;
mod published;
mod records;
mod rsa;
mod slh_dsa;
mod stateful;
