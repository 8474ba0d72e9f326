//! The hall of Oarlock: schemes, self tests, and the accelerator that joins engines to the dispatcher.
//!
//! | module | what it holds |
//! |---|---|
//! | [`job`](Job) | what a caller asks for: a scheme, a key and borrowed inputs |
//! | [`schemes`] | padding, encodings and nonces: a job lowered to a raw operation, its raw result raised to an answer |
//! | [`selftest`] | known answers for every shape, and sample workloads made of them |
#![forbid(unsafe_code)]

mod job;
pub mod schemes;
pub mod selftest;

pub use job::{Input, Job};
