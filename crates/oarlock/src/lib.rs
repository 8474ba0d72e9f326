//! The hall of Oarlock: schemes, self tests, and the accelerator that joins engines to the dispatcher.
//!
//! | module | what it holds |
//! |---|---|
//! | [`accelerator`](Accelerator) | the one way in: engines found and proved, joined to the dispatcher |
//! | `find`, `calibrate` | which engines this machine has, and what they cost |
//! | [`job`](Job) | what a caller asks for: a scheme, a key and borrowed inputs |
//! | [`schemes`] | padding, encodings and nonces: a job lowered to a raw operation, its raw result raised to an answer |
//! | [`selftest`] | known answers for every shape, and sample workloads made of them |
#![forbid(unsafe_code)]

mod accelerator;
mod calibrate;
mod find;
mod job;
pub mod schemes;
pub mod selftest;

pub use accelerator::{
    Accelerator, Answers, BuildError, Builder, EngineReport, Many, Output, ShapeReport, Single,
};
pub use calibrate::Calibration;
pub use find::{Absence, AbsentEngine, DISABLE_VARIABLE, KNOWN_ENGINES, proved_shapes};
pub use job::{Input, Job};

pub use oarlock_core::{
    self as contract, DigestAlg, EcdsaEncoding, JobError, Key, NonceRule, Records, SaltLength, Scheme, Shape,
};
pub use oarlock_dispatch::{Config, Cost, Counters, Options, Rule};
pub use oarlock_keys as keys;

/// The example of the README, kept true by the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
