//! Zones: read, verified and signed.
//!
//! | module | what it holds |
//! |---|---|
//! | `zone` | zone files: records, faults and their lines |
//! | `rdata` | the data of every type: text into wire format and back |
//! | `domain` | random zones, read by this crate and by the `domain` crate |
//! | `rfc` | zones, answers and signatures printed in RFCs |
//! | `hostile` | zones with tampered signatures, keys or chains |
//! | `hostile_zone` | zones with invalid records; digests, anchors and unusual algorithms |
//! | `sign` | zones signed: chains, rules and signatures |
//! | `ksr` | signed key requests and responses |
//! | `bind_keys` | keys of `dnssec-keygen` |
//! | `common` | helpers: engines, a verification in one call, a small signer |
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]
#![allow(unreachable_pub, reason = "a program of tests exports nothing")]

mod bind_keys;
mod common;
mod domain;
mod hostile;
mod hostile_zone;
mod ksr;
mod rdata;
mod rfc;
mod sign;
mod zone;
