//! TLS connections per second of one core: each is new (no resumption), sends a HEAD request of 19 bytes and gets an
//! answer of 107, as in "Cryptography as a Network Service", 5.2. The server is s2n-tls, which leaves private
//! operations to others without a thread for each. s2n-tls itself computes them, or Oarlock in the same process, or a
//! cryptoserver on another core.
//!
//! | module | content |
//! |---|---|
//! | `server` | the TLS server |
//! | `private_key` | its private operations on an accelerator |
//! | `client` | the clients, each of which connects again after its answer |
//! | `report` | table and JSON |

mod client;
mod private_key;
mod report;
pub(crate) mod server;

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use oarlock::BuildError;
use oarlock::keys::KeyError;
use oarlock_server::development::{Development, DevelopmentError};
use oarlock_terminal::report::print_report;
use oarlock_terminal::{CommandError, FailureKind, progress};
use oarlock_wire::RemoteError;
use tempfile::TempDir;

use self::report::{HeadRow, compare, to_text};
use crate::cryptoserver;
use crate::role_process::{BenchProcess, MeasuredCores};

/// The request of a client: 19 bytes.
const REQUEST: &[u8; 19] = b"HEAD / HTTP/1.0\r\n\r\n";

/// The answer: 107 bytes.
const ANSWER: &[u8; 107] = b"HTTP/1.0 200 OK\r\nServer: oarlock-lab/0\r\nContent-Type: text/plain; \
charset=utf-8\r\nContent-Length: 131072\r\n\r\n";

/// The name in the server's certificate.
const HOST: &str = "head.example";

/// Arguments of `oarlock-lab tls-head`.
#[derive(Args, Debug)]
#[command(
    after_help = "The TLS server has the first core of this process, the cryptoserver the second, clients the others, or with two \
                  cores the second too. What counts is the TLS server's CPU time per connection; the rate alone is right only \
                  where clients keep up."
)]
pub(crate) struct TlsHeadArgs {
    /// Contenders for the TLS server's private operations, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = SignedBy::ALL)]
    by: Vec<SignedBy>,
    /// Numbers of connections at once, 1 to 10000 each, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "40", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    connections: Vec<u32>,
    /// Seconds that each row is measured; a tenth of it is added to warm up
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
}

/// A contender for private operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignedBy {
    /// s2n-tls itself, with AWS-LC, one at a time
    S2n,
    /// Oarlock in the TLS server's process, with its scalar engine alone
    Scalar,
    /// Oarlock in the TLS server's process
    Oarlock,
    /// A cryptoserver on another core, over its UNIX socket
    Unix,
    /// A cryptoserver on another core, over mutual TLS
    Tls,
    /// A cryptoserver on another core, over plaintext
    Plaintext,
}

/// An error of `tls-head`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HeadError {
    #[error("{0}")]
    Usage(&'static str),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Development(#[from] DevelopmentError),
    #[error(transparent)]
    Remote(#[from] RemoteError),
    #[error("the TLS server's key: {0}")]
    Key(#[from] KeyError),
    #[error("the TLS server's certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("s2n-tls: {0}")]
    S2n(#[from] s2n_tls::error::Error),
    #[error("{name}: {errors} connections got a wrong answer or none; the first: {first}")]
    Errors { name: &'static str, errors: u64, first: String },
}

impl CommandError for HeadError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Errors { .. } => FailureKind::AnswerNo,
            Self::Usage(_) => FailureKind::Usage,
            _ => FailureKind::Machine,
        }
    }
}

impl SignedBy {
    const ALL: [Self; 6] = [Self::S2n, Self::Scalar, Self::Oarlock, Self::Unix, Self::Tls, Self::Plaintext];

    fn name(self) -> &'static str {
        match self {
            Self::S2n => "head-s2n",
            Self::Scalar => "head-scalar",
            Self::Oarlock => "head-oarlock",
            Self::Unix => "head-unix",
            Self::Tls => "head-tls",
            Self::Plaintext => "head-plaintext",
        }
    }

    fn is_remote(self) -> bool {
        matches!(self, Self::Unix | Self::Tls | Self::Plaintext)
    }
}

/// The keys and certificates of both servers.
struct HeadDirectory {
    _directory: TempDir,
    development: Development,
    certificate: PathBuf,
}

pub(crate) fn run(args: &TlsHeadArgs, as_json: bool) -> Result<(), HeadError> {
    if !(args.seconds > 0.0 && args.seconds.is_finite()) {
        return Err(HeadError::Usage("--seconds: expected a number above 0"));
    }
    oarlock_service_kit::raise_open_files();
    let directory = HeadDirectory::new()?;
    let cores = MeasuredCores::divide()?;
    if cores.is_none() {
        eprintln!("oarlock: there is one core: servers and clients share it");
    }
    // One cryptoserver serves all rows, so only the warm-up of the first row pays for its self tests.
    let remote = match args.by.iter().any(|by| by.is_remote()) {
        true => Some(start_cryptoserver(&directory.development, cores)?),
        false => None,
    };
    let bar = progress::bar((args.by.len() * args.connections.len()) as u64, "{bar:30} {pos}/{len} {msg}");
    let mut measured =
        HeadMeasurement { directory, cores, remote, length: Duration::from_secs_f64(args.seconds) };
    let mut rows: Vec<HeadRow> = Vec::new();
    for &connections in &args.connections {
        for &by in &args.by {
            bar.set_message(by.name());
            rows.push(measured.row(by, connections as usize)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    compare(&mut rows);
    Ok(print_report(as_json, &rows, |in_colour| to_text(&rows, in_colour))?)
}

/// The configuration, with the certificates and keys of the development set-up.
const CONFIG: &str = r#"[listen]
tcp = "127.0.0.1:0"
plaintext = "127.0.0.1:0"
unix = "oarlock.sock"

[tls]
certificate = "server.pem"
private_key = "server-key.pem"
client_ca = "ca.pem"

[keys]
directory = "keys"

[[grant]]
keys = ["*"]
clients = ["*"]
"#;

/// Starts the cryptoserver in a process of its own.
fn start_cryptoserver(development: &Development, cores: Option<MeasuredCores>) -> io::Result<BenchProcess> {
    fs::write(development.config(), CONFIG)?;
    let arguments =
        [cryptoserver::ROLE.to_owned(), "--config".to_owned(), development.config().display().to_string()];
    BenchProcess::start(&arguments, cores.map(|cores| cores.second))
}

/// The state that all rows share.
struct HeadMeasurement {
    directory: HeadDirectory,
    cores: Option<MeasuredCores>,
    remote: Option<BenchProcess>,
    length: Duration,
}

impl HeadMeasurement {
    fn row(&mut self, by: SignedBy, connections: usize) -> Result<HeadRow, HeadError> {
        let arguments = self.directory.server_arguments(by, self.remote.as_ref());
        let mut server = BenchProcess::start(&arguments, self.cores.map(|cores| cores.first))?;
        let address: SocketAddr = server.said["address"]
            .as_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| io::Error::other("the TLS server did not report its address"))?;
        let certificate = fs::read(&self.directory.certificate)?;
        let load = client::HeadLoad { address, certificate, connections, length: self.length };
        // The cryptoserver's CPU time belongs to the rows that use it.
        let mut remote = if by.is_remote() { self.remote.as_mut() } else { None };
        let mut cpu = || {
            let server_cpu = server.cpu()?;
            let other = remote.as_mut().map(|process| process.cpu()).transpose()?;
            Ok((server_cpu, other))
        };
        client::measure(by, &load, &mut cpu)
    }
}

impl HeadDirectory {
    /// Makes the files. The TLS server's key is the cryptoserver's sample key with a self-signed certificate.
    fn new() -> Result<Self, HeadError> {
        let directory = tempfile::tempdir()?;
        let development = Development::at(directory.path());
        development.prepare()?;
        let key = rcgen::KeyPair::from_pem(&fs::read_to_string(key_file(&development))?)?;
        let params = rcgen::CertificateParams::new(vec![HOST.to_owned()])?;
        let certificate = directory.path().join("head.pem");
        fs::write(&certificate, params.self_signed(&key)?.pem())?;
        Ok(Self { _directory: directory, development, certificate })
    }

    fn server_arguments(&self, by: SignedBy, remote: Option<&BenchProcess>) -> Vec<String> {
        let text = |path: &Path| path.display().to_string();
        let mut arguments =
            vec![server::ROLE.to_owned(), "--certificate".to_owned(), text(&self.certificate)];
        let said = |name: &str| {
            remote.and_then(|process| process.said[name].as_str()).map(str::to_owned).unwrap_or_default()
        };
        let mut add = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
        match by {
            SignedBy::S2n | SignedBy::Scalar | SignedBy::Oarlock => {
                add("--private-key", text(&key_file(&self.development)));
            }
            SignedBy::Unix => add("--server", said("unix")),
            SignedBy::Plaintext => add("--server", format!("http://{}", said("plaintext"))),
            SignedBy::Tls => {
                add("--server", format!("https://{}", said("tcp")));
                add("--state", text(self.development.ca().parent().unwrap_or(Path::new(""))));
            }
        }
        match by {
            SignedBy::S2n => add("--by", "s2n".to_owned()),
            SignedBy::Scalar => add("--by", "scalar".to_owned()),
            _ => add("--by", "oarlock".to_owned()),
        }
        arguments
    }
}

/// Returns the file of the key that TLS server and cryptoserver share.
fn key_file(development: &Development) -> PathBuf {
    development.keys().join(format!("{KEY}.pem"))
}

const KEY: &str = "rsa2048";
