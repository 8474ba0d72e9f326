//! The sources of key records: name servers, or a file.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use oarlock_mail_files::dns::{
    KeysFile, KeysFileError, ResolverError, ResolverSettings, TrustedValidators, TxtLookup, TxtResolver,
    server_address,
};
use oarlock_terminal::{CommandError, FailureKind};

/// The number of attempts at a name server.
const ATTEMPTS: u32 = 2;

/// The source of key records.
#[derive(Debug, Args)]
pub(crate) struct LookupArgs {
    /// Read key records from this file instead of DNS: lines of a zone file, or lines of a name and a record
    #[arg(long, value_name = "FILE", conflicts_with = "dns")]
    keys_file: Option<PathBuf>,
    /// Name servers to ask, IP addresses with or without port, separated by commas [default: those of /etc/resolv.conf]
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    dns: Vec<String>,
    /// Seconds to wait for each of two attempts, 1 to 300
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=300))]
    dns_timeout: u64,
}

/// An error of a source of key records.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    #[error(transparent)]
    File(#[from] KeysFileError),
    #[error("DNS: {0}")]
    Resolver(#[from] ResolverError),
}

impl CommandError for SourceError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::File(_) => FailureKind::Usage,
            Self::Resolver(
                ResolverError::NoServers | ResolverError::Address(_) | ResolverError::Untrusted(_),
            ) => FailureKind::Usage,
            Self::Resolver(_) => FailureKind::Machine,
        }
    }
}

impl LookupArgs {
    /// Opens the source. Needs a tokio runtime.
    pub(crate) fn open(&self) -> Result<Arc<dyn TxtLookup>, SourceError> {
        let servers: Vec<_> = self.dns.iter().map(|text| server_address(text)).collect::<Result<_, _>>()?;
        // The option is the time of an attempt, and `open` takes the time of a question.
        open(self.keys_file.as_deref(), &servers, Duration::from_secs(self.dns_timeout) * ATTEMPTS, None)
    }
}

/// Opens the file if there is one, else these name servers, else those of the system. A question fails after
/// `patience`. With `validators`, answers say whether they are protected by DNSSEC. Needs a tokio runtime.
pub(crate) fn open(
    file: Option<&Path>,
    servers: &[SocketAddr],
    patience: Duration,
    validators: Option<TrustedValidators>,
) -> Result<Arc<dyn TxtLookup>, SourceError> {
    if let Some(path) = file {
        return Ok(Arc::new(KeysFile::read(path)?));
    }
    let settings = ResolverSettings {
        timeout: Some(patience / ATTEMPTS),
        attempts: usize::try_from(ATTEMPTS).ok(),
        validators,
        ..ResolverSettings::default()
    };
    Ok(Arc::new(match servers {
        [] => TxtResolver::from_system(settings)?,
        servers => TxtResolver::with_servers(servers, settings)?,
    }))
}
