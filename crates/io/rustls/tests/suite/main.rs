//! Handshakes with keys of an accelerator.
//!
//! | module | what it holds |
//! |---|---|
//! | `handshakes` | handshakes with rustls and its own provider as the other side |
//! | `faults` | bad peers, bad keys, bad engines, and handshakes that nobody finishes |
//! | `examples` | the programs in `examples` |
//! | `support` | helpers: certificates, peers and engines |
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]

mod examples;
mod faults;
mod handshakes;
mod support;
