//! The dispatcher with engines and holders that the tests invent.
//!
//! | module | what it holds |
//! |---|---|
//! | `service` | submission, seams, bounds, deadlines, cancellation, holders and forks |
//! | `cancel` | cancellation at every stage of a job |
//! | `faults` | engines that fail, give wrong results or hang |
//! | `first_use` | probes of engines at the first use of a shape |
//! | `lone` | jobs that are alone when their task polls for them the second time |
//! | `long` | operations of up to a second, on the threads for tasks |
//! | `tasks` | tasks of callers |
//! | `histograms` | histograms of batches and waiting times |
//! | `stress` | submissions, cancellations and deadlines at random while an engine fails |
//! | `common` | helpers: invented engines over arithmetic that anyone can check |
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed")]
#![allow(unreachable_pub, reason = "a program of tests exports nothing")]

mod cancel;
mod common;
mod faults;
mod first_use;
mod histograms;
mod lone;
mod long;
mod service;
mod stress;
mod tasks;
