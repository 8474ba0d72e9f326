//! How a command ends.

use std::path::PathBuf;
use std::process::ExitCode;

use oarlock::engine_api::EngineFault;
use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};

use crate::bench::BenchError;
use crate::call::CallError;
use crate::dkim::DkimError;
use crate::dnssec::DnssecError;
use crate::keys::KeysError;
use crate::ladder::LadderError;
use crate::latency::LatencyError;
use crate::load::LoadError;
use crate::milter::MilterError;
use crate::operation::OperationError;
use crate::peer::PeerError;
use crate::records::RecordsError;
use crate::serve::ServeError;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error(transparent)]
    Latency(#[from] LatencyError),
    #[error(transparent)]
    Records(#[from] RecordsError),
    #[error("ladder: {0}")]
    Ladder(#[from] LadderError),
    #[error("serve: {0}")]
    Serve(#[from] ServeError),
    #[error("milter: {0}")]
    Milter(#[from] MilterError),
    #[error("call: {0}")]
    Call(#[from] CallError),
    #[error("load: {0}")]
    Load(#[from] LoadError),
    #[error("bench: {0}")]
    Bench(#[from] BenchError),
    #[error("keys: {0}")]
    Keys(#[from] KeysError),
    #[error("dkim: {0}")]
    Dkim(#[from] DkimError),
    #[error("dnssec: {0}")]
    Dnssec(#[from] DnssecError),
    #[error("keys for {op}: {error}")]
    Key { op: String, error: KeyError },
    #[error("{op}: {count} records of {len} bytes do not fit into 4 GiB")]
    TooLarge { op: String, count: usize, len: usize },
    #[error("{op}: {error}")]
    Bare { op: String, error: EngineFault },
    #[error("{op}: {error}")]
    Job { op: String, error: JobError },
    #[error("{op}: {error}")]
    Peer { op: String, error: PeerError },
    #[error("--libcrypto: {0}")]
    Libcrypto(PeerError),
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: std::io::Error },
    #[error("the self test failed for {0}")]
    SelfTest(String),
    #[error("stdout: {0}")]
    Stdout(#[from] std::io::Error),
}

impl Failure {
    /// 1 where the answer is no, 2 where the user's words or files are wrong, 3 where the machine or a peer failed.
    pub(crate) fn exit_code(&self) -> ExitCode {
        let code = match self {
            Self::Build(BuildError::NoReferee) | Self::Job { .. } | Self::Peer { .. } => MACHINE,
            Self::Key { .. } | Self::Bare { .. } => MACHINE,
            Self::SelfTest(_) | Self::Stdout(_) => MACHINE,
            Self::Operation(error) if !error.is_users() => MACHINE,
            Self::Latency(error) if !error.is_users() => MACHINE,
            Self::Records(RecordsError::Rejected { .. }) => NO,
            Self::Records(error) if !error.is_users() => MACHINE,
            Self::Ladder(error) if !error.is_users() => MACHINE,
            Self::Serve(error) if !error.is_users() => MACHINE,
            Self::Milter(error) if !error.is_users() => MACHINE,
            Self::Load(error) if !error.is_users() => MACHINE,
            Self::Bench(error) if !error.is_users() => MACHINE,
            Self::Call(error) if error.is_no() => NO,
            Self::Call(error) if !error.is_users() => MACHINE,
            Self::Dkim(error) if error.is_no() => NO,
            Self::Dkim(error) if !error.is_users() => MACHINE,
            Self::Dnssec(error) if error.is_no() => NO,
            Self::Dnssec(error) if !error.is_users() => MACHINE,
            Self::Keys(error) if !error.is_users() => MACHINE,
            _ => USAGE,
        };
        ExitCode::from(code)
    }
}

/// The exit code of wrong usage.
pub(crate) fn usage() -> ExitCode {
    ExitCode::from(USAGE)
}

const NO: u8 = 1;
const USAGE: u8 = 2;
const MACHINE: u8 = 3;
