//! The parts that every command of Oarlock's programs needs. They all print with these modules, so they look alike.
//! Internal to Oarlock: the interface changes without notice.
//!
//! | module | what it holds |
//! |---|---|
//! | [`usage`], `options` | the command line: help, mistakes of usage; the options of every command |
//! | `failure` | errors and their exit codes; the error that ends a program |
//! | [`report`], [`table`] | the printer of JSON or text, text tables |
//! | [`progress`], [`screen`] | progress of long work; colours and width of the terminal |
#![forbid(unsafe_code)]

mod failure;
mod options;
pub mod progress;
pub mod report;
pub mod screen;
pub mod table;
pub mod usage;

pub use failure::{CommandError, Failure, FailureKind};
pub use options::{GlobalOptions, check_writable};
