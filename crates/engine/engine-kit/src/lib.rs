//! Algorithms that engines share. They know the contract of `oarlock-core` and nothing of an engine. Internal to
//! Oarlock: the interface changes without notice.
//!
//! | module | content |
//! |---|---|
//! | [`accept`](RecordPart) | the acceptance of many records with few comparisons |
//! | [`verify_table`](VerifyTableCache) | verification tables of keys that recur, within one budget of bytes |
//! | [`ff1`] | FF1 of any length, in constant time |
//! | [`mte_opening`](MteOpening) | the end of a TLS record in CBC mode, in constant time |
//! | [`hash`] | every digest by AWS-LC, whole, in pieces and from a chaining state; HMAC |
//! | [`lattice`] | ML-KEM and ML-DSA by AWS-LC |
//! | [`slh_dsa`] | SLH-DSA, generic over the hash steps of an engine |
//! | [`stateful`] | verification of HSS and XMSS, generic over the hashes of an engine |
//!
//! The crate is internal: its interface changes without notice.
#![deny(unsafe_code)]

mod accept;
pub mod ff1;
#[allow(unsafe_code)]
mod ffi;
pub mod hash;
pub mod lattice;
mod mte_opening;
pub mod slh_dsa;
pub mod stateful;
mod verify_table;

pub use accept::{EqualFields, OrderedRecords, RecordPart, RecordRef, StepRule, Strides};
pub use mte_opening::MteOpening;
pub use verify_table::{DEFAULT_TABLE_BYTES, VerifyTable, VerifyTableCache, VerifyTables};
