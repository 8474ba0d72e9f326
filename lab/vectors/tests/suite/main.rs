//! The suite of vectors on the engines, and on engines that must not pass.
//!
//! | module | what it holds |
//! |---|---|
//! | `lanes` | the whole suite on every leaf, with and without verification tables |
//! | `lattice` | ML-KEM and ML-DSA: ACVP, and agreement with a second implementation |
//! | `hash_based` | SLH-DSA: ACVP, and agreement with a second implementation |
//! | `pqclean` | ML-KEM and ML-DSA with PQClean, in both directions |
//! | `tables` | verifications of the scalar engine with verification tables |
//! | `corrupted` | the suite can fail: an engine with one corrupted lane does not pass |
//! | `acvp` | helpers: NIST's ACVP files within the packages of other implementations |
//! | `common` | helpers: an engine for verifications alone |
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod acvp;
mod common;
mod corrupted;
mod hash_based;
mod lanes;
mod lattice;
mod pqclean;
mod tables;
