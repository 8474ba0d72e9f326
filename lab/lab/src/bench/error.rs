//! The errors of `oarlock bench`.

use std::io;
use std::path::PathBuf;

use oarlock::BuildError;
use oarlock::keys::KeyError;
use oarlock_measure::capacity::CapacityError;
use oarlock_terminal::table::count;
use oarlock_terminal::{CommandError, FailureKind};
use oarlock_wire::RemoteError;
use rustix::io::Errno;

use crate::dkim::MailBenchError;
use crate::dnssec::bench::ZoneBenchError;

use crate::product::ProductAbsence;

use super::plan::{BenchProgram, TlsProvider, TlsRowName};

/// An error of a bench of whole programs.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error("{0}")]
    Usage(&'static str),
    #[error(
        "expected the provider's library as --provider or in OARLOCK_PROVIDER: neither oarlock.so nor \
         liboarlock_openssl.so is in {}",
        directory.display()
    )]
    NoProvider { directory: PathBuf },
    #[error("the provider's library {}: {error}", path.display())]
    Provider { path: PathBuf, error: io::Error },
    #[error("--libssl {}: {error}", path.display())]
    Libssl { path: PathBuf, error: io::Error },
    #[error("the version of {program}'s OpenSSL: {reason}")]
    LibsslVersion { program: BenchProgram, reason: String },
    #[error("--keep {}: expected an empty directory, or none yet", path.display())]
    Keep { path: PathBuf },
    #[error("{}: expected a path of letters, digits and /._-, which needs no quotes in any configuration", path.display())]
    Path { path: PathBuf },
    #[error("{0} is neither in PATH nor in /usr/sbin: there is nothing to measure")]
    NotInstalled(BenchProgram),
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Product(#[from] ProductAbsence),
    #[error("the servers' key: {0}")]
    Key(#[from] KeyError),
    #[error("the servers' certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("the clients: {0}")]
    Clients(io::Error),
    #[error("cannot start {program}: {error}")]
    Start { program: BenchProgram, error: io::Error },
    #[error("{program} ended: {status}\n{log}")]
    Ended { program: BenchProgram, status: String, log: String },
    #[error("the CPU time of {program}: {error}")]
    CpuTime { program: BenchProgram, error: io::Error },
    #[error("the memory of {program}: {error}")]
    Memory { program: BenchProgram, error: io::Error },
    #[error("{program} cannot be signalled: {error}")]
    Signal { program: BenchProgram, error: Errno },
    #[error("{provider}: {} failed while no worker was killed; the first: {first}", count(*failed, "connection"))]
    Failed { provider: TlsProvider, failed: u64, first: String },
    #[error("{name} {provider}: {reason}\n{log}")]
    Server { name: TlsRowName, provider: TlsProvider, reason: String, log: String },
    #[error("the backend: {0}")]
    Backend(io::Error),
    #[error("{0} is neither in PATH nor in /usr/sbin: {install}", install = install_hint(*.0))]
    ProgramAbsent(BenchProgram),
    #[error("{0}")]
    NoStream(String),
    #[error("{name}: {reason}\n{log}")]
    Proxy { name: String, reason: String, log: String },
    #[error("{} of proxies failed; the first, of {name}: {first}", count(*failed, "connection"))]
    ProxyConnections { failed: u64, name: String, first: String },
    #[error("{name}: {reason}\n{log}")]
    Resolver { name: String, reason: String, log: String },
    #[error("the resolvers' zones: {0}")]
    Zones(Box<ZoneBenchError>),
    #[error("single verifications: {0}")]
    Verification(Box<CapacityError>),
    #[error("no proxy could be measured; the rows say why")]
    NothingMeasured,
    #[error("interrupted: the proxies were stopped")]
    Interrupted,
    #[error("cannot write {}: {error}", path.display())]
    Plot { path: PathBuf, error: io::Error },
    #[error("messages: {0}")]
    Mail(Box<MailBenchError>),
    #[error(transparent)]
    Engines(BuildError),
    #[error("the clients: {0}")]
    Remote(RemoteError),
    #[error("{} failed; the first: {first}", count(*failed, "operation"))]
    Fleet { failed: u64, first: String },
    #[error("the filter at {socket}: {reason}")]
    Filter { socket: String, reason: String },
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for BenchError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Usage(_) | Self::NoProvider { .. } | Self::Provider { .. } => FailureKind::Usage,
            Self::Libssl { .. } => FailureKind::Usage,
            Self::Keep { .. } | Self::Path { .. } | Self::Plot { .. } => FailureKind::Usage,
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::Fleet { .. } => FailureKind::AnswerNo,
            _ => FailureKind::Machine,
        }
    }
}

impl From<ZoneBenchError> for BenchError {
    fn from(error: ZoneBenchError) -> Self {
        Self::Zones(Box::new(error))
    }
}

impl From<CapacityError> for BenchError {
    fn from(error: CapacityError) -> Self {
        Self::Verification(Box::new(error))
    }
}

fn install_hint(program: BenchProgram) -> String {
    match program.package() {
        Some(package) => format!("install it (Debian and Ubuntu: apt-get install {package})"),
        None => "build it beside oarlock-lab with \"make build\" in a checkout of Oarlock".to_owned(),
    }
}
