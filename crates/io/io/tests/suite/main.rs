//! Files, and records of the kernel.
//!
//! | module | what it holds |
//! |---|---|
//! | `objects` | the object store on disk; with the feature `objects` |
//! | `kernel_tls` | TLS records by the kernel; with the feature `kernel-tls` |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that panics has failed")]

#[cfg(feature = "kernel-tls")]
mod kernel_tls;
#[cfg(feature = "objects")]
mod objects;
