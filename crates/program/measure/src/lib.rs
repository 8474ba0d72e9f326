//! The measurements that the programs of Oarlock share. Internal to Oarlock: the interface changes without notice.
//!
//! Each command has a module with its arguments, a `run` function that prints a table or JSON, and its error. The
//! program `oarlock` adds the command line around them. The laboratory `oarlock-lab` builds its own commands on the
//! modules below.
//!
//! | module | what it holds |
//! |---|---|
//! | [`speed`] | engines in this process, OpenSSL and AWS-LC: operations per second |
//! | [`load`] | a cryptoserver under load |
//! | [`capacity`] | whether a machine affords a resolver's load |
//! | [`sockets`] | TLS records that the kernel makes, and what they cost |
//! | `peer` | OpenSSL, loaded at run time, and AWS-LC; the only unsafe code |
//! | [`operation`], [`random`] | operation names and work for them; numbers that are the same at every run |
//! | [`cores`], [`ports`] | servers on one core and load on the others; free ports for servers |
//! | [`statistics`], [`plot`] | turns, medians, histograms; SVG pictures |
#![deny(unsafe_code)]

pub mod capacity;
pub mod cores;
pub mod load;
pub mod operation;
mod peer;
pub mod plot;
pub mod ports;
pub mod random;
pub mod sockets;
pub mod speed;
pub mod statistics;

pub use peer::PeerError;
