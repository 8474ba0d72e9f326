//! Why there is no answer.

use std::io;
use std::path::PathBuf;

use crate::failure::{CommandError, FailureKind};
use crate::speed::SpeedError;

/// Why it cannot be said what a machine affords.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its variant means")]
pub enum CapacityError {
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
    Measure(Box<SpeedError>),
    #[error("no engine here verifies {0}")]
    NoEngine(String),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for CapacityError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Write { .. } | Self::Runtime(_) | Self::NoEngine(_) => FailureKind::Machine,
            Self::Measure(error) => error.kind(),
            Self::Stdout(error) => FailureKind::of_stdout(error),
            _ => FailureKind::Usage,
        }
    }
}

impl From<SpeedError> for CapacityError {
    fn from(error: SpeedError) -> Self {
        Self::Measure(Box::new(error))
    }
}
