//! Arguments of `oarlock bench`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use oarlock_milter::MilterSocket;
use serde::Serialize;

use super::BenchError;
use super::fleet::FleetArgs;
use super::handshake::{ClientTlsGroup, ClientTlsVersion, HandshakeKind};
use super::libssl::ServerLibssl;
use super::plan::{TlsProvider, TlsRowName};
use super::proxy::ProxyBenchArgs;
use super::resolver::ResolverBenchArgs;
use crate::product::ProductAbsence;

/// Arguments of `oarlock bench`.
#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(super) command: BenchCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum BenchCommand {
    /// Measure TLS handshakes of unmodified nginx and HAProxy, with OpenSSL alone and with Oarlock as its provider
    Tls(TlsArgs),
    /// Count failed TLS handshakes of nginx, and its memory, while it is reloaded and its workers are killed
    Reloads(ReloadsArgs),
    /// Measure how many messages per second a mail filter signs and verifies
    Milter(MilterBenchArgs),
    /// Measure TLS handshakes and bytes of TLS-terminating proxies per second of their CPU time, side by side
    Proxy(Box<ProxyBenchArgs>),
    /// Measure the CPU time of unmodified Unbound and BIND per validated answer, with OpenSSL alone and with Oarlock
    Resolver(ResolverBenchArgs),
    /// Count failed operations, and measure latencies, while servers behind one name are restarted, killed and added
    Fleet(FleetArgs),
}

/// Options that set TLS servers up.
#[derive(Args, Debug)]
pub(super) struct SetUpArgs {
    /// The provider's library [default: oarlock.so or liboarlock_openssl.so beside this program]
    #[arg(long, value_name = "PATH", env = "OARLOCK_PROVIDER", hide_env_values = true)]
    provider: Option<PathBuf>,
    /// Keep keys, configurations and logs in this directory, which must be empty or new
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,
}

/// Arguments of `oarlock bench tls`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
                  oarlock bench tls --rows nginx-p256 --seconds 2 --turns 1\n  \
                  oarlock bench tls --rows nginx-rsa2048 --tls 1.2 --client-certificates\n  \
                  oarlock bench tls --rows nginx-rsa2048 --group x25519mlkem768 --libssl /opt/openssl-3.5/lib\n\n\
                  Rows: full handshakes of TLS 1.3 with X25519, a tiny request behind each. --tls, --group, \
                  --client-certificates and --resume change the handshakes of all rows.\n  \
                  nginx-rsa2048, haproxy-rsa2048  an RSA-2048 certificate\n  \
                  nginx-p256, haproxy-p256        a P-256 certificate\n  \
                  nginx-both, haproxy-both        both; clients take the P-256 certificate\n\
                  HAProxy has one thread, and ssl-mode-async with Oarlock.\n\
                  Providers: default is OpenSSL alone; oarlock is the provider with its default settings and a cryptoserver at hand; \
                  oarlock-service asks the cryptoserver and brings it the key from the file; oarlock-held names a key that only the \
                  cryptoserver has; oarlock-local has the engines in the process.\n\
                  Servers, workers and cryptoserver share the first core of this process, clients have the others. server_cpu_us \
                  is the CPU time of all of them together for the handshakes of all turns; cryptoserver_cpu_us is a part of it. \
                  ratio compares with the default of the same turn and is the median over turns, larger being better: handshakes \
                  per CPU second of the servers. latency_ratio compares median latencies likewise. ratio_range and \
                  latency_ratio_range have the lowest and the highest turn. p50_us and p99_us are from connecting to the end of the \
                  handshake, the median over turns.\n\
                  resumed is the number of handshakes that resumed a session. With --group x25519mlkem768, clients offer that \
                  group alone, and in each turn a second load follows whose clients offer X25519 alone: group_share is the \
                  share of a handshake's CPU time that the group costs beyond X25519, the median over turns. OpenSSL has the \
                  group from 3.5 on; the default of an older one is measured with X25519 alone, with a note, and its row \
                  says so in group. Oarlock's provider brings the group. \
                  A further row is a server of rustls with AWS-LC alone, on one thread.")]
pub(super) struct TlsArgs {
    /// Rows to measure, from the list below, separated by commas [default: all]
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',', hide_possible_values = true)]
    rows: Vec<TlsRowName>,
    /// Providers to measure beside the default, from the list below, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "oarlock",
        hide_possible_values = true
    )]
    providers: Vec<TlsProvider>,
    #[command(flatten)]
    pub(super) set_up: SetUpArgs,
    /// Seconds of each turn of a provider, above 0 and at most a day; a tenth of it is added to warm up
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    pub(super) seconds: f64,
    /// Number of turns of the providers of a row, 1 to 1000
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
    /// Number of connections at once, 1 to 10000; several numbers give rows for each
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "64",
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    pub(super) connections: Vec<u32>,
    /// Number of worker processes of nginx, 1 to 512
    #[arg(long, value_name = "N", default_value = "32", value_parser = clap::value_parser!(u32).range(1..=512))]
    pub(super) workers: u32,
    /// Version of TLS. In TLS 1.2, clients offer AES-128-GCM alone
    #[arg(long, value_enum, value_name = "VERSION", default_value = "1.3")]
    tls: ClientTlsVersion,
    /// Key exchange
    #[arg(long, value_enum, value_name = "GROUP", default_value = "x25519")]
    group: ClientTlsGroup,
    /// Demand a certificate from clients. Its key is of the same kind as the server's, and so is that of its authority
    #[arg(long)]
    client_certificates: bool,
    /// Resume sessions with tickets instead of full handshakes
    #[arg(long)]
    resume: bool,
    /// Directory with the libssl.so.3 and libcrypto.so.3 that the servers load [default: the system's]
    #[arg(long, value_name = "DIR")]
    libssl: Option<PathBuf>,
}

/// Arguments of `oarlock bench reloads`.
#[derive(Args, Debug)]
#[command(after_help = "Example: oarlock bench reloads --rows oarlock-service --seconds 30\n\n\
                  Clients make full TLS 1.3 handshakes with an RSA-2048 certificate, each connecting anew as soon as it has its \
                  answer. Meanwhile nginx is reloaded in even intervals, and workers chosen at random are killed, at random \
                  times.\n\
                  A connection that was open when a worker was killed and failed counts as cut_off; any other that failed counts \
                  as failed, and then the command fails too. memory_kib_* are proportional set sizes of nginx, its workers and \
                  the cryptoserver together, after the first reload and after the last.")]
pub(super) struct ReloadsArgs {
    /// Providers to run, separated by commas [default: all]
    #[arg(long, value_enum, value_name = "PROVIDERS", value_delimiter = ',')]
    rows: Vec<TlsProvider>,
    #[command(flatten)]
    pub(super) set_up: SetUpArgs,
    /// Seconds of each provider, above 0 and at most a day
    #[arg(long, value_name = "S", default_value_t = 600.0)]
    pub(super) seconds: f64,
    /// Seconds between reloads, above 0 and at most a day
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub(super) reload_every: f64,
    /// Mean seconds between killed workers, above 0 and at most a day
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    pub(super) kill_every: f64,
    /// Mean seconds between faults of the cryptoserver, above 0 and at most a day: in turns it is stopped for a second,
    /// slowed for a second, and killed and started again; needs --rows oarlock, whose workers compute meanwhile
    /// [default: none]
    #[arg(long, value_name = "S")]
    pub(super) fault_every: Option<f64>,
    /// Number of connections at once, 1 to 10000
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) connections: u32,
    /// Number of worker processes of nginx, 2 to 512
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u32).range(2..=512))]
    pub(super) workers: u32,
}

/// Arguments of `oarlock bench milter`.
#[derive(Args, Debug)]
#[command(after_help = "Example: oarlock bench milter --rows verify-rsa2048 --sessions 100 --turns 1\n\n\
                  Rows: messages of 8.9 KB, relaxed/relaxed, one key, whose record is at hand.\n  \
                  verify-rsa2048, verify-ed25519  messages with one signature, from anybody\n  \
                  sign-rsa2048, sign-ed25519      messages of an authenticated client\n  \
                  accept                          a filter that has everything sent to it and accepts it\n\
                  The filters share the first core of this process, the MTAs have the others. A session sends its next message as soon \
                  as the one before is answered, and every answer is checked. p50_us and p99_us are from MAIL to the end of the answer; \
                  added_p50_us is the median over turns of what the row's median is above that of accept in the same turn.")]
pub(super) struct MilterBenchArgs {
    /// Rows to measure, from the list below, separated by commas [default: all]
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',', hide_possible_values = true)]
    rows: Vec<MilterRow>,
    /// Number of sessions at once, 1 to 65536; several numbers give one row each
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,100", value_parser = sessions)]
    pub(super) sessions: Vec<usize>,
    /// Lengths of the messages
    #[arg(long, value_enum, default_value_t = MtaMailSizes::Uniform)]
    pub(super) sizes: MtaMailSizes,
    /// Number of different messages, 1 to 65536
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = sessions)]
    pub(super) messages: usize,
    /// Seconds of each turn, above 0 and at most a day; a tenth of it is added to warm up, and a turn lasts at least
    /// until the first answer
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    pub(super) seconds: f64,
    /// Number of turns of each row, 1 to 1000
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) turns: u32,
    /// Measure a filter that runs already, at inet:PORT@HOST or unix:PATH. Its answers are checked too, so it must
    /// know the test key; use --rows accept if it neither signs nor verifies
    #[arg(long, value_name = "SOCKET", requires = "rows")]
    pub(super) connect: Option<MilterSocket>,
    /// Process ID of that filter, whose CPU time is counted
    #[arg(long, value_name = "PID", requires = "connect")]
    pub(super) process: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MilterRow {
    VerifyRsa2048,
    VerifyEd25519,
    SignRsa2048,
    SignEd25519,
    Accept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MtaMailSizes {
    /// All of 8.9 KB
    Uniform,
    /// Median 7 KB, average 8.8 KB, none over 180 KB
    Paper,
}

fn sessions(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count: &usize| (1..=1 << 16).contains(count));
    count.ok_or_else(|| "expected a number from 1 to 65536".into())
}

impl MilterBenchArgs {
    pub(super) fn check(&self) -> Result<(), BenchError> {
        is_time(self.seconds, "--seconds: expected a number above 0, and a day at most")
    }

    /// Returns the rows that were asked for, each once, in the order of the table.
    pub(super) fn rows(&self) -> Vec<MilterRow> {
        let is_wanted = |row: &MilterRow| self.rows.is_empty() || self.rows.contains(row);
        MilterRow::value_variants().iter().copied().filter(is_wanted).collect()
    }
}

impl fmt::Display for MilterRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VerifyRsa2048 => "verify-rsa2048",
            Self::VerifyEd25519 => "verify-ed25519",
            Self::SignRsa2048 => "sign-rsa2048",
            Self::SignEd25519 => "sign-ed25519",
            Self::Accept => "accept",
        })
    }
}

impl fmt::Display for MtaMailSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "all of 8.9 KB",
            Self::Paper => "of median 7 KB and average 8.8 KB",
        })
    }
}

/// The names of the library: as installed, and as built.
const LIBRARIES: [&str; 2] = ["oarlock.so", "liboarlock_openssl.so"];

impl TlsArgs {
    pub(super) fn check(&self) -> Result<(), BenchError> {
        is_time(self.seconds, "--seconds: expected a number above 0, and a day at most")?;
        match (self.tls, self.group) {
            (ClientTlsVersion::Tls12, ClientTlsGroup::X25519MlKem768) => Err(BenchError::Usage(
                "--group x25519mlkem768: expected --tls 1.3, for TLS 1.2 lacks the group",
            )),
            _ => Ok(()),
        }
    }

    /// Returns the handshakes of all rows.
    pub(super) fn handshake(&self) -> HandshakeKind {
        HandshakeKind {
            version: self.tls,
            group: self.group,
            has_client_certificates: self.client_certificates,
            resumes: self.resume,
        }
    }

    /// Returns the OpenSSL that the servers load instead of the system's.
    pub(super) fn libssl(&self) -> Result<Option<ServerLibssl>, BenchError> {
        self.libssl.as_deref().map(ServerLibssl::find).transpose()
    }

    /// Returns the rows that were asked for, each once, in the order of the table.
    pub(super) fn rows(&self) -> Vec<TlsRowName> {
        let is_wanted = |name: &TlsRowName| self.rows.is_empty() || self.rows.contains(name);
        TlsRowName::value_variants().iter().copied().filter(is_wanted).collect()
    }

    /// Returns the providers of each row, each once. The others are compared with the first one. The last one is
    /// rustls if OpenSSL may lack the group.
    pub(super) fn providers(&self) -> Vec<TlsProvider> {
        let is_wanted =
            |provider: &TlsProvider| *provider == TlsProvider::Default || self.providers.contains(provider);
        let rustls = self.handshake().is_beside_rustls().then_some(TlsProvider::Rustls);
        TlsProvider::ALL.into_iter().filter(is_wanted).chain(rustls).collect()
    }

    pub(super) fn length(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

impl ReloadsArgs {
    pub(super) fn check(&self) -> Result<(), BenchError> {
        is_time(self.seconds, "--seconds: expected a number above 0, and a day at most")?;
        is_time(self.reload_every, "--reload-every: expected a number above 0, and a day at most")?;
        is_time(self.kill_every, "--kill-every: expected a number above 0, and a day at most")?;
        let Some(every) = self.fault_every else { return Ok(()) };
        is_time(every, "--fault-every: expected a number above 0, and a day at most")?;
        match self.rows() == [TlsProvider::Oarlock] {
            true => Ok(()),
            false => Err(BenchError::Usage(
                "--fault-every: expected --rows oarlock; others need the cryptoserver or use none",
            )),
        }
    }

    /// Returns the providers that were asked for, each once.
    pub(super) fn rows(&self) -> Vec<TlsProvider> {
        let is_wanted = |provider: &TlsProvider| self.rows.is_empty() || self.rows.contains(provider);
        TlsProvider::ALL.into_iter().filter(is_wanted).collect()
    }
}

fn is_time(seconds: f64, otherwise: &'static str) -> Result<(), BenchError> {
    match seconds > 0.0 && seconds <= 86_400.0 {
        true => Ok(()),
        false => Err(BenchError::Usage(otherwise)),
    }
}

impl SetUpArgs {
    /// Returns the real path of the provider's library.
    pub(super) fn module(&self) -> Result<PathBuf, BenchError> {
        let found = match &self.provider {
            Some(path) => path.clone(),
            None => beside_this_program()?,
        };
        let failed = |error| BenchError::Provider { path: found.clone(), error };
        let real = found.canonicalize().map_err(failed)?;
        match real.is_file() {
            true => Ok(real),
            false => Err(failed(std::io::Error::other("it is no file"))),
        }
    }
}

fn beside_this_program() -> Result<PathBuf, BenchError> {
    let program = std::env::current_exe().map_err(ProductAbsence::Own)?;
    let directory = program.parent().unwrap_or(Path::new("/"));
    let mut candidates = LIBRARIES.iter().map(|name| directory.join(name));
    candidates
        .find(|path| path.is_file())
        .ok_or_else(|| BenchError::NoProvider { directory: directory.to_owned() })
}
