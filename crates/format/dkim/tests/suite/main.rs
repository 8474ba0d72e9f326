//! Signing and verifying of mail, by way of the public interface.
//!
//! | module | what it holds |
//! |---|---|
//! | `rfc` | examples of RFC 6376 and RFC 8463 |
//! | `round` | signed messages verify, and changed messages do not |
//! | `arc` | ARC chains that are sealed and verified |
//! | `hostile` | hostile messages and records, and those that have broken other implementations |
//! | `common` | helpers: engines, keys, signing and verifying |
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]
#![allow(unreachable_pub, reason = "a program of tests exports nothing")]

mod arc;
mod common;
mod hostile;
mod rfc;
mod round;
