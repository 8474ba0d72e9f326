//! The scalar engine against published vectors, and at the edges of the contract.
//!
//! | module | what it holds |
//! |---|---|
//! | `engine` | properties of the engine, and jobs that it does not offer |
//! | `rsa` | RSA: every size, exponent and edge |
//! | `ecdsa` | ECDSA: RFC 6979, and the edges of r and s |
//! | `ecdh` | ECDH: RFC 5903 and NIST CAVP, and bad peers |
//! | `curve25519` | Ed25519 and X25519: RFC 8032 and RFC 7748 |
//! | `hash_based` | SLH-DSA: bad jobs among good ones, cancelled jobs |
//! | `stateful` | HSS and XMSS: bad jobs among good ones |
//! | `symmetric` | published vectors of every record shape |
//! | `chains` | chains of cipher and MAC, CTR and ChaCha20-Poly1305 |
//! | `records` | the record loop: columns, parts, seams, slots, and failures |
//! | `wycheproof` | Wycheproof's vectors |
//! | `common` | helpers: keys from bytes, runs, data files |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]

mod chains;
mod common;
mod curve25519;
mod ecdh;
mod ecdsa;
mod engine;
mod hash_based;
mod records;
mod rsa;
mod stateful;
mod symmetric;
mod wycheproof;
