//! Every raw shape through AWS-LC, one job at a time: the baseline, the fallback and the referee of Oarlock. Where it
//! serves alone it may verify by tables of keys that recur, which are ours.
//!
//! | module | what it holds |
//! |---|---|
//! | `engine` | [`ScalarEngine`], what it offers and confirms |
//! | `operations` | the loop over public-key operations |
//! | `tables` | verification under keys that recur, where that is asked for: not AWS-LC's |
//! | `rsa`, `ecdsa`, `rfc6979`, `curve25519` | one public-key operation each |
//! | `records` | the loop over records, and where their output goes |
//! | `cipher`, `translate`, `aead`, `mac`, `digest`, `wrap` | one record each |
//! | `prepare` | prepared keys: kept with a handle, or made for one record |
//! | `trouble` | whether a failure concerns the job or the engine |
//! | `ffi` | AWS-LC behind safe types: the only unsafe code |
//!
//! What AWS-LC prepares for a key (Montgomery constants, key schedules, GHASH tables) is kept with the key's handle. A key
//! that comes from a record's slot is prepared for that record alone and cleansed with it.

mod aead;
mod batch;
mod cipher;
mod curve25519;
mod digest;
mod ecdsa;
mod engine;
mod fault;
#[allow(unsafe_code)]
mod ffi;
mod mac;
mod op_error;
mod operations;
mod prepare;
mod records;
mod rfc6979;
mod rsa;
mod tables;
mod translate;
mod wrap;

pub use engine::ScalarEngine;
