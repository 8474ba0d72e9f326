//! The clients: each connects anew as soon as it has its answer. They check it, and the server's signature with it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::BenchError;
use super::place::HOST;
use super::settings::BODY;
use super::turns::{Turn, Used};

/// How long a connection may take, and a server until it is there.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long until a server is asked again whether it is there.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

const REQUEST: &[u8] = b"GET / HTTP/1.0\r\n\r\n";

/// All of them, on one thread.
pub(super) struct Clients {
    runtime: Runtime,
    connector: TlsConnector,
    connections: usize,
}

/// Why a server is not there.
pub(super) enum NotReady {
    Server(BenchError),
    Client(String),
}

/// What one turn gave.
pub(super) struct Measured {
    seen: Seen,
    before: Used,
    after: Used,
    pub(super) errors: u64,
    pub(super) first_error: String,
}

impl Clients {
    /// So many connections at once, to servers with this certificate in PEM.
    pub(super) fn new(certificate: &str, connections: usize) -> Result<Self, BenchError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(BenchError::Clients)?;
        Ok(Self { runtime, connector: connector(certificate)?, connections })
    }

    /// Waits until `is_there` says so and a connection is answered.
    pub(super) fn wait_until(
        &self,
        address: SocketAddr,
        mut is_there: impl FnMut() -> Result<bool, BenchError>,
    ) -> Result<(), NotReady> {
        self.runtime.block_on(async {
            let end = Instant::now() + PATIENCE;
            loop {
                let is_up = is_there().map_err(NotReady::Server)?;
                match ask_in_time(&self.connector, address).await {
                    Ok(_) if is_up => return Ok(()),
                    Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => {
                        is_there().map_err(NotReady::Server)?;
                        return Err(NotReady::Client(error.to_string()));
                    }
                    _ if Instant::now() > end => {
                        return Err(NotReady::Client(format!("it is not ready after {PATIENCE:?}")));
                    }
                    _ => tokio::time::sleep(LOOK_AGAIN).await,
                }
            }
        })
    }

    /// Connects for a tenth of the length to warm up, then for the whole of it and counts. CPU is read where no connection is
    /// open, so what is counted and what it cost are the same connections.
    pub(super) fn measure(
        &self,
        address: SocketAddr,
        length: Duration,
        used: impl Fn() -> Result<Used, BenchError>,
    ) -> Result<Measured, BenchError> {
        self.runtime.block_on(async {
            let warm = self.browse_all(address, length.mul_f64(0.1)).await?;
            let before = used()?;
            let seen = match warm.errors {
                0 => self.browse_all(address, length).await?,
                _ => warm,
            };
            let after = used()?;
            let (errors, first_error) = (seen.errors, seen.first_error.clone());
            Ok(Measured { seen, before, after, errors, first_error })
        })
    }

    /// Connects until `length` is over, whatever fails, while `disturb` runs.
    pub(super) fn endure(
        &self,
        address: SocketAddr,
        length: Duration,
        disturb: impl Future<Output = Result<(), BenchError>>,
    ) -> Result<Endured, BenchError> {
        self.runtime.block_on(async {
            let end = Instant::now() + length;
            let mut browsers = JoinSet::new();
            for _ in 0..self.connections {
                browsers.spawn(persist(self.connector.clone(), address, end));
            }
            disturb.await?;
            let mut endured = Endured::default();
            while let Some(own) = browsers.join_next().await {
                let own = own.map_err(|error| BenchError::Clients(io::Error::other(error)))?;
                endured.handshakes += own.handshakes;
                endured.lost.extend(own.lost);
            }
            Ok(endured)
        })
    }

    /// All at once, until the last has its last answer.
    async fn browse_all(&self, address: SocketAddr, length: Duration) -> Result<Seen, BenchError> {
        let end = Instant::now() + length;
        let mut browsers = JoinSet::new();
        for _ in 0..self.connections {
            browsers.spawn(browse(self.connector.clone(), address, end));
        }
        let mut seen = Seen::new();
        while let Some(own) = browsers.join_next().await {
            seen.add(own.map_err(|error| BenchError::Clients(io::Error::other(error)))?);
        }
        Ok(seen)
    }
}

/// What clients saw that went on whatever failed.
#[derive(Default)]
pub(super) struct Endured {
    pub(super) handshakes: u64,
    pub(super) lost: Vec<Lost>,
}

/// A connection that failed.
pub(super) struct Lost {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) reason: String,
}

impl Measured {
    pub(super) fn turn(&self) -> Turn {
        Turn {
            handshakes: self.seen.latencies.len(),
            used: self.after.since(&self.before),
            p50_us: self.seen.latencies.value_at_quantile(0.5) as f64 / 1e3,
        }
    }
}

/// What clients saw.
struct Seen {
    /// From connecting to the end of the handshake, in nanoseconds.
    latencies: Histogram<u64>,
    errors: u64,
    first_error: String,
}

/// Connects once at least, and never anew after `end`; what was begun is finished.
async fn browse(connector: TlsConnector, address: SocketAddr, end: Instant) -> Seen {
    let mut seen = Seen::new();
    loop {
        match ask_in_time(&connector, address).await {
            Ok(latency) => seen.take(latency),
            Err(error) => seen.fail(1, error.to_string()),
        }
        if seen.errors > 0 || Instant::now() >= end {
            return seen;
        }
    }
}

/// Connects until `end`.
async fn persist(connector: TlsConnector, address: SocketAddr, end: Instant) -> Endured {
    let mut endured = Endured::default();
    while Instant::now() < end {
        let began = Instant::now();
        match ask_in_time(&connector, address).await {
            Ok(_) => endured.handshakes += 1,
            Err(error) => {
                endured.lost.push(Lost { began, ended: Instant::now(), reason: error.to_string() });
                // Where nobody listens, failures come faster than anybody can keep them.
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }
    endured
}

async fn ask_in_time(connector: &TlsConnector, address: SocketAddr) -> io::Result<Duration> {
    tokio::time::timeout(PATIENCE, ask(connector, address)).await?
}

/// A connection from its beginning to the server's end of it; how long until the handshake was done.
async fn ask(connector: &TlsConnector, address: SocketAddr) -> io::Result<Duration> {
    let start = Instant::now();
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    // No connection lingers in the system, where their ports would run out.
    stream.set_zero_linger()?;
    let host = ServerName::try_from(HOST).map_err(io::Error::other)?;
    let mut tls = connector.connect(host, stream).await?;
    let latency = start.elapsed();
    tls.write_all(REQUEST).await?;
    let mut answer = Vec::with_capacity(512);
    match tls.read_to_end(&mut answer).await {
        Ok(_) => {}
        // Not every server says that it closes; whether the answer is whole is seen below.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
        Err(error) => return Err(error),
    }
    match is_right(&answer) {
        true => Ok(latency),
        false => Err(io::Error::other(format!("not its answer: {:?}", String::from_utf8_lossy(&answer)))),
    }
}

fn is_right(answer: &[u8]) -> bool {
    answer.starts_with(b"HTTP/1.")
        && answer.get(8..13).is_some_and(|status| status == b" 200 ")
        && answer.ends_with(BODY.as_bytes())
}

/// TLS 1.3 without resumption; the server's certificate is its own authority.
fn connector(certificate: &str) -> Result<TlsConnector, BenchError> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes());
    roots.add(certificate.map_err(|error| BenchError::Clients(io::Error::other(error)))?)?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(TlsConnector::from(Arc::new(config)))
}

impl Seen {
    fn new() -> Self {
        #[allow(clippy::expect_used)]
        // unreachable because three digits are allowed
        let latencies = Histogram::new(3).expect("three digits");
        Self { latencies, errors: 0, first_error: String::new() }
    }

    fn take(&mut self, taken: Duration) {
        // It grows as it must.
        let _ = self.latencies.record(taken.as_nanos() as u64);
    }

    fn fail(&mut self, count: u64, reason: String) {
        if self.errors == 0 {
            self.first_error = reason;
        }
        self.errors += count;
    }

    fn add(&mut self, other: Self) {
        // Both have the same bounds.
        let _ = self.latencies.add(other.latencies);
        if other.errors > 0 {
            self.fail(other.errors, other.first_error);
        }
    }
}
