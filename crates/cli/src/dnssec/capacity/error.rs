//! Why there is no answer.

use std::io;
use std::path::PathBuf;

use crate::exit::Failure;

/// Why it cannot be said what a machine affords.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CapacityError {
    #[error("cannot open {}: {error}", path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("{}: {fault}", path.display())]
    Traffic { path: PathBuf, fault: String },
    #[error("there are no queries in the traffic: give --queries-per-second")]
    NoQueries,
    #[error("no second is known in which the queries came: give --queries-per-second")]
    NoTime,
    #[error("there is no traffic to learn the load from: give captures or logs, or --queries-per-second")]
    NoLoad,
    #[error("nothing here tells {0}: give it, or take --worst-case")]
    Unknown(String),
    #[error("--plot-queries needs traffic: captures, logs or a dnstap socket")]
    NothingToPlot,
    #[error("cannot listen at {}: {error}", path.display())]
    Listen { path: PathBuf, error: io::Error },
    #[error("cannot listen: {0}")]
    Runtime(io::Error),
    #[error("{} is no saved machine: {error}", path.display())]
    Machine { path: PathBuf, error: serde_json::Error },
    #[error("{} is no saved machine: {what}", path.display())]
    MachineRates { path: PathBuf, what: String },
    #[error("{0}")]
    Measure(Box<Failure>),
    #[error("no engine here verifies {0}")]
    NoEngine(String),
}

impl CapacityError {
    /// True where the user's words or files are wrong, false where the machine failed.
    pub(in crate::dnssec) fn is_users(&self) -> bool {
        match self {
            Self::Write { .. } | Self::Runtime(_) | Self::NoEngine(_) => false,
            Self::Measure(failure) => {
                matches!(**failure, Failure::Build(_) | Failure::Libcrypto(_) | Failure::Operation(_))
            }
            _ => true,
        }
    }
}

impl From<Failure> for CapacityError {
    fn from(failure: Failure) -> Self {
        Self::Measure(Box::new(failure))
    }
}
