//! Everything of Oarlock that measures.
//!
//! Each command that measures has a module with its arguments, a `run` function that prints a table or JSON, and its
//! error. The program `oarlock` adds the command line around them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`speed`], [`latency`], [`ladder`] | engines in this process: rates, latencies under load, the short-DES paper |
//! | [`load`] | a cryptoserver under load |
//! | [`bench`](mod@bench) | whole programs with and without Oarlock: TLS servers, proxies, mail filters |
//! | [`dkim`], [`dnssec`] | messages and zones; whether a machine affords a resolver's load |
//! | [`sockets`] | TLS records by user space, a device or the kernel: what they cost |
//! | [`tls_client`] | TLS clients that put load on a server |
//! | `peer` | OpenSSL, loaded at run time; the only unsafe code |
//! | `operation`, `random` | operation names and work for them; numbers that are the same at every run |
//! | `cores`, `process_stats` | servers on one core and load on the others; CPU time and memory of processes |
//! | [`statistics`] | turns, medians, histograms |
//! | [`options`], [`failure`] | the options of every command; errors and their exit codes |
//! | [`report`], [`table`], `plot` | the printer of JSON or text, text tables, SVG pictures |
//! | [`progress`], [`terminal`] | progress of long work; colours and width of the terminal |
#![deny(unsafe_code)]

pub mod bench;
mod cores;
pub mod dkim;
pub mod dnssec;
pub mod failure;
pub mod ladder;
pub mod latency;
pub mod load;
mod operation;
pub mod options;
mod peer;
mod plot;
mod process_stats;
pub mod progress;
mod random;
pub mod report;
pub mod sockets;
pub mod speed;
pub mod statistics;
pub mod table;
pub mod terminal;
pub mod tls_client;

pub use failure::{CommandError, FailureKind};
pub use operation::OperationError;
pub use options::GlobalOptions;
pub use peer::PeerError;
