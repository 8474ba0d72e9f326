//! The browsers: each connects anew as soon as it has its answer. They check it, and the server's signature with it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::report::Row;
use super::{ANSWER, By, HOST, HeadError, REQUEST};

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// All of them.
pub(super) struct Clients {
    pub(super) address: SocketAddr,
    /// The server's, in PEM: the only one that they trust.
    pub(super) certificate: Vec<u8>,
    /// At once.
    pub(super) connections: usize,
    pub(super) length: Duration,
}

/// CPU time of the TLS server, and of the cryptoserver where there is one.
type Used = (Duration, Option<Duration>);

/// Connects for a tenth of the length to warm up, then for the whole of it and counts. CPU is read where no connection is
/// open, so what is counted and what it cost are the same connections.
pub(super) fn measure(
    by: By,
    clients: &Clients,
    cpu: &mut dyn FnMut() -> io::Result<Used>,
) -> Result<Row, HeadError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let connector = connector(&clients.certificate)?;
        browse_all(by, clients, &connector, clients.length.mul_f64(0.1)).await?;
        let (before, begin) = (cpu()?, Instant::now());
        let seen = browse_all(by, clients, &connector, clients.length).await?;
        let (took, after) = (begin.elapsed(), cpu()?);
        Ok(row(by, clients, &seen, took, before, after))
    })
}

/// All browsers at once, until the last has its last answer.
async fn browse_all(
    by: By,
    clients: &Clients,
    connector: &TlsConnector,
    length: Duration,
) -> Result<Seen, HeadError> {
    let end = Instant::now() + length;
    let mut browsers = JoinSet::new();
    for _ in 0..clients.connections {
        browsers.spawn(browse(connector.clone(), clients.address, end));
    }
    let mut seen = Seen::new();
    while let Some(own) = browsers.join_next().await {
        seen.add(own.map_err(io::Error::other)?);
    }
    if seen.errors > 0 {
        return Err(HeadError::Errors { name: by.name(), errors: seen.errors, first: seen.first_error });
    }
    Ok(seen)
}

fn row(by: By, clients: &Clients, seen: &Seen, took: Duration, before: Used, after: Used) -> Row {
    let answers = seen.latencies.len();
    let each = |used: Duration| used.as_secs_f64() * 1e6 / answers.max(1) as f64;
    let server_cpu_us = each(after.0.saturating_sub(before.0));
    let quantile = |share: f64| seen.latencies.value_at_quantile(share) as f64 / 1e3;
    Row {
        name: by.name(),
        connections: clients.connections,
        answers,
        rate_per_s: answers as f64 / took.as_secs_f64(),
        rate_per_cpu_s: 1e6 / server_cpu_us.max(1e-9),
        server_cpu_us,
        cryptoserver_cpu_us: after.1.zip(before.1).map(|(after, before)| each(after.saturating_sub(before))),
        ratio: None,
        p50_us: quantile(0.5),
        p99_us: quantile(0.99),
    }
}

/// What browsers saw.
struct Seen {
    /// From connecting to the end of the answer, in nanoseconds.
    latencies: Histogram<u64>,
    errors: u64,
    first_error: String,
}

/// Connects once at least, and never anew after `end`; what was begun is finished.
async fn browse(connector: TlsConnector, address: SocketAddr, end: Instant) -> Seen {
    let mut seen = Seen::new();
    loop {
        let start = Instant::now();
        match tokio::time::timeout(PATIENCE, ask(&connector, address)).await {
            Ok(Ok(())) => seen.take(start.elapsed()),
            Ok(Err(error)) => seen.fail(1, error.to_string()),
            Err(_) => seen.fail(1, io::Error::from(io::ErrorKind::TimedOut).to_string()),
        }
        if seen.errors > 0 || Instant::now() >= end {
            return seen;
        }
    }
}

async fn ask(connector: &TlsConnector, address: SocketAddr) -> io::Result<()> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    // No connection lingers in the system, where their ports would run out.
    stream.set_zero_linger()?;
    let host = ServerName::try_from(HOST).map_err(io::Error::other)?;
    let mut tls = connector.connect(host, stream).await?;
    tls.write_all(REQUEST).await?;
    let mut answer = Vec::with_capacity(ANSWER.len());
    tls.read_to_end(&mut answer).await?;
    if answer == *ANSWER { Ok(()) } else { Err(io::Error::other("another answer than the server's")) }
}

/// TLS 1.3 without resumption; the server's certificate is its own authority.
fn connector(certificate: &[u8]) -> Result<TlsConnector, HeadError> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(certificate).map_err(io::Error::other)?)?;
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
