//! The facade by way of its public interface.
//!
//! | module | what it holds |
//! |---|---|
//! | `wycheproof` | engines and the accelerator pass the official cases |
//! | `threshold` | threshold signatures; with the feature `threshold` |
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

#[cfg(feature = "threshold")]
mod threshold;
mod wycheproof;
