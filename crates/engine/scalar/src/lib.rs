//! An engine that computes every raw shape with AWS-LC (SLH-DSA, HSS and XMSS with code of its own), one job at a time.
//! It is the baseline, the fallback and the referee of Oarlock. If it is the only engine, it can verify with tables of
//! keys that recur; the tables are not part of AWS-LC. Internal to Oarlock: the interface changes without notice.
//!
//! | module | contents |
//! |---|---|
//! | `engine` | [`ScalarEngine`], its shapes and the results that it confirms |
//! | `operations` | the loop over public-key operations |
//! | `tables` | verification under keys that recur, on request and without AWS-LC |
//! | `rsa`, `ecdsa`, `ecdh`, `rfc6979`, `curve25519`, `lattice`, `hash_based` | one public-key operation each |
//! | `records` | the dispatch of record batches by shape |
//! | `batch` | the loop over the records of a part, and the output of each |
//! | `cipher`, `translate`, `aead`, `siv`, `fpe`, `chain`, `mac`, `digest`, `wrap` | one record each |
//! | `prepare` | prepared keys: cached with a handle, or made for one record |
//! | `op_error`, `fault` | errors of one job, and faults of the engine |
//! | `ffi` | AWS-LC behind safe types: the only unsafe code |
//!
//! Prepared forms of a key (Montgomery constants, key schedules, GHASH tables) are cached with the key's handle. A
//! key from a record's slot is prepared for that record alone and cleansed with it.

mod aead;
mod batch;
mod chain;
mod cipher;
mod curve25519;
mod digest;
mod ecdh;
mod ecdsa;
mod engine;
mod fault;
#[allow(unsafe_code)]
mod ffi;
mod fpe;
mod hash_based;
mod lattice;
mod mac;
mod op_error;
mod operations;
mod prepare;
mod records;
mod rfc6979;
mod rsa;
mod siv;
mod tables;
mod translate;
mod wrap;

pub use engine::ScalarEngine;
pub use oarlock_engine_kit::DEFAULT_TABLE_BYTES;
