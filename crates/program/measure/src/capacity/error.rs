//! The errors of `oarlock dnssec capacity`.

use std::io;
use std::path::PathBuf;

use oarlock_terminal::{CommandError, FailureKind};

use crate::speed::SpeedError;

/// An error of the question whether a machine affords a load.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its variant means")]
pub enum CapacityError {
    #[error("cannot open {}: {error}", path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("{}: {fault}", path.display())]
    Traffic { path: PathBuf, fault: String },
    #[error("the traffic has no queries: expected --queries-per-second")]
    NoQueries,
    #[error("the queries of the traffic have no times: expected --queries-per-second")]
    NoTime,
    #[error("there is no traffic: expected captures or logs, or --queries-per-second")]
    NoLoad,
    #[error("the traffic does not determine {0}: expected a value, or --worst-case")]
    Unknown(String),
    #[error("--plot-queries needs traffic: captures, logs or a dnstap socket")]
    NothingToPlot,
    #[error("cannot listen at {}: {error}", path.display())]
    Listen { path: PathBuf, error: io::Error },
    #[error("cannot listen: {0}")]
    Runtime(io::Error),
    #[error("{} has no rates that --save wrote: {error}", path.display())]
    Machine { path: PathBuf, error: serde_json::Error },
    #[error("{} has no rates that --save wrote: {what}", path.display())]
    MachineRates { path: PathBuf, what: String },
    #[error("{} was not written by `oarlock --json bench resolver`: {error}", path.display())]
    Overhead { path: PathBuf, error: serde_json::Error },
    #[error("{} is the document of another bench: expected `resolver`, found `{found}`", path.display())]
    OverheadBench { path: PathBuf, found: String },
    #[error("{} has no row {wanted}: expected one of {known}", path.display())]
    OverheadRow { path: PathBuf, wanted: String, known: String },
    #[error("{} has no rows: its bench measured nothing", path.display())]
    NoOverheadRows { path: PathBuf },
    #[error(
        "{} row {row}: expected peer_overhead_us above 0, found {found}: measure again with more --names and --turns, \
         and with OpenSSL's libcrypto",
        path.display()
    )]
    OverheadValue { path: PathBuf, row: String, found: String },
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
