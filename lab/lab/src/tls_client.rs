//! TLS clients that connect anew as soon as they have their answer. They check it, and the server's signature with it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use oarlock_measure::statistics::LatencyHistogram;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::Resumption;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, HandshakeKind, RootCertStore};

/// The longest time that a connection may take.
pub(crate) const MAX_CONNECTION_TIME: Duration = Duration::from_secs(30);

/// A request and the test of its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TlsExchange {
    /// The name in the server's certificate.
    pub(crate) host: &'static str,
    /// The bytes that the client sends.
    pub(crate) request: &'static [u8],
    /// Returns true for the answer that is expected.
    pub(crate) is_right: fn(&[u8]) -> bool,
}

/// The times of a connection, each since its beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExchangeTimes {
    /// Until the handshake was done.
    pub(crate) handshake: Duration,
    /// Until the whole answer was there.
    pub(crate) answer: Duration,
    /// True if the handshake resumed a session.
    pub(crate) is_resumed: bool,
}

/// The length of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadLength {
    /// Connections begin until this time is over. Each client makes at least one.
    Time(Duration),
    /// The number of connections of all clients together.
    Connections(u64),
}

impl From<Duration> for LoadLength {
    fn from(time: Duration) -> Self {
        Self::Time(time)
    }
}

/// A client of TLS.
#[derive(Clone)]
pub(crate) struct TlsClient {
    connector: TlsConnector,
    exchange: TlsExchange,
}

impl TlsClient {
    /// Makes a client of TLS 1.3 without resumption that trusts this certificate, in PEM, and no other.
    ///
    /// # Errors
    /// The text is no certificate.
    pub(crate) fn new(certificate: &[u8], exchange: TlsExchange) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(certificate).map_err(io::Error::other)?;
        roots.add(certificate).map_err(io::Error::other)?;
        let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(Self::with_config(config, exchange))
    }

    /// Makes a client with settings of its own.
    #[must_use]
    pub(crate) fn with_config(config: ClientConfig, exchange: TlsExchange) -> Self {
        Self { connector: TlsConnector::from(Arc::new(config)), exchange }
    }

    /// Connects and makes the handshake.
    ///
    /// # Errors
    /// The connection fails or takes too long.
    pub(crate) async fn open(&self, address: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
        tokio::time::timeout(MAX_CONNECTION_TIME, self.open_without_limit(address)).await?
    }

    /// Makes one connection, from its beginning to the server's end of it.
    ///
    /// # Errors
    /// The connection fails or takes too long, or the answer is not the expected one.
    pub(crate) async fn connect(&self, address: SocketAddr) -> io::Result<ExchangeTimes> {
        tokio::time::timeout(MAX_CONNECTION_TIME, self.connect_without_limit(address)).await?
    }

    async fn connect_without_limit(&self, address: SocketAddr) -> io::Result<ExchangeTimes> {
        let TlsExchange { request, is_right, .. } = self.exchange;
        let start = Instant::now();
        let mut tls = self.open_without_limit(address).await?;
        let handshake = start.elapsed();
        let is_resumed = tls.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed);
        tls.write_all(request).await?;
        let mut answer = Vec::with_capacity(512);
        match tls.read_to_end(&mut answer).await {
            Ok(_) => {}
            // nginx closes without close_notify (RFC 8446 6.1). Whether the answer is whole is checked below.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(error) => return Err(error),
        }
        match is_right(&answer) {
            true => Ok(ExchangeTimes { handshake, answer: start.elapsed(), is_resumed }),
            false => {
                let text = String::from_utf8_lossy(&answer);
                Err(io::Error::other(format!("the server sent another answer than expected: {text:?}")))
            }
        }
    }

    async fn open_without_limit(&self, address: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        // Without this, closed connections linger in the system until it runs out of ports.
        stream.set_zero_linger()?;
        let host = ServerName::try_from(self.exchange.host).map_err(io::Error::other)?;
        self.connector.connect(host, stream).await
    }

    /// Makes so many connections at once, again and again until `length` is over. Each one that was begun is finished.
    ///
    /// # Errors
    /// A task panicked. Failed connections are in the tally.
    pub(crate) async fn connect_all(
        &self,
        address: SocketAddr,
        connections: usize,
        length: impl Into<LoadLength>,
        latency: fn(&ExchangeTimes) -> Duration,
    ) -> io::Result<ConnectionTally> {
        let end = Arc::new(LoadEnd::new(length.into()));
        let mut clients = JoinSet::new();
        for _ in 0..connections {
            let (client, end) = (self.clone(), end.clone());
            clients.spawn(async move { client.connect_until(&end, address, latency).await });
        }
        let mut tally = ConnectionTally::default();
        while let Some(joined) = clients.join_next().await {
            tally.add(joined.map_err(io::Error::other)?);
        }
        Ok(tally)
    }

    /// Connects until the end or a failure.
    async fn connect_until(
        &self,
        end: &LoadEnd,
        address: SocketAddr,
        latency: fn(&ExchangeTimes) -> Duration,
    ) -> ConnectionTally {
        let mut tally = ConnectionTally::default();
        while tally.errors == 0 && end.allows_another(!tally.latencies.is_empty()) {
            match self.connect(address).await {
                Ok(times) => {
                    tally.latencies.record(latency(&times));
                    tally.resumed += u64::from(times.is_resumed);
                }
                Err(error) => tally.add_errors(1, error.to_string()),
            }
        }
        tally
    }
}

/// The end of a load, which all its clients share.
enum LoadEnd {
    At(Instant),
    /// The number of connections that may still begin.
    After(AtomicU64),
}

impl LoadEnd {
    fn new(length: LoadLength) -> Self {
        match length {
            LoadLength::Time(time) => Self::At(Instant::now() + time),
            LoadLength::Connections(count) => Self::After(AtomicU64::new(count)),
        }
    }

    /// True if a client may connect. `has_connected` is true if it has done so before.
    fn allows_another(&self, has_connected: bool) -> bool {
        match self {
            Self::At(end) => !has_connected || Instant::now() < *end,
            Self::After(left) => {
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
            }
        }
    }
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("TlsClient").field("exchange", &self.exchange).finish_non_exhaustive()
    }
}

/// The results of connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionTally {
    /// One latency for each connection that was answered.
    pub(crate) latencies: LatencyHistogram,
    /// The number of answered connections that resumed a session.
    pub(crate) resumed: u64,
    /// The number of connections that failed.
    pub(crate) errors: u64,
    /// The reason why the first of them failed.
    pub(crate) first_error: String,
}

impl ConnectionTally {
    fn add_errors(&mut self, count: u64, reason: String) {
        if self.errors == 0 {
            self.first_error = reason;
        }
        self.errors += count;
    }

    fn add(&mut self, other: Self) {
        self.latencies.add(&other.latencies);
        self.resumed += other.resumed;
        if other.errors > 0 {
            self.add_errors(other.errors, other.first_error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_connects_once_within_a_time() {
        let end = LoadEnd::new(Duration::ZERO.into());
        assert!(end.allows_another(false) && !end.allows_another(true));
    }

    #[test]
    fn clients_share_a_number_of_connections() {
        let end = LoadEnd::new(LoadLength::Connections(2));
        assert_eq!(
            [true, false, false].map(|has_connected| end.allows_another(has_connected)),
            [true, true, false]
        );
    }
}
