//! TlsClients of a TLS server: until it is ready, for a turn, and through its faults.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::BenchError;
use super::directory::{ClientCredential, HOST, ServerIdentity};
use super::handshake::HandshakeKind;
use super::settings::BODY;
use super::turns::{CpuUse, TlsTurn};
use crate::tls_client::{ConnectionTally, MAX_CONNECTION_TIME, TlsClient, TlsExchange};

/// The time until a server is asked again if it is ready.
const RETRY_AFTER: Duration = Duration::from_millis(20);

const EXCHANGE: TlsExchange = TlsExchange { host: HOST, request: b"GET / HTTP/1.0\r\n\r\n", is_right };

/// All clients of a bench, on one thread.
pub(super) struct TlsClients {
    runtime: Runtime,
    client: TlsClient,
    connections: usize,
    /// True if clients resume sessions.
    pub(super) resume: bool,
}

/// The reason why a server is not ready.
pub(super) enum NotReady {
    Server(BenchError),
    Client(String),
}

/// The result of one turn.
pub(super) struct MeasuredTurn {
    tally: ConnectionTally,
    cpu: CpuUse,
    pub(super) errors: u64,
    pub(super) first_error: String,
}

impl TlsClients {
    /// Makes clients of servers with these certificates: so many connections at once. They show a certificate if they
    /// have one.
    pub(super) fn new(
        handshake: HandshakeKind,
        servers: &[ServerIdentity],
        identity: Option<&ClientCredential>,
        connections: usize,
    ) -> Result<Self, BenchError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(BenchError::Clients)?;
        let config = handshake.client_config(servers, identity).map_err(BenchError::Clients)?;
        let client = TlsClient::with_config(config, EXCHANGE);
        Ok(Self { runtime, client, connections, resume: handshake.resumes })
    }

    /// Waits until `is_ready` returns true and a connection is answered.
    pub(super) fn wait_until(
        &self,
        address: SocketAddr,
        is_ready: impl FnMut() -> Result<bool, BenchError>,
    ) -> Result<(), NotReady> {
        self.runtime.block_on(wait_until_answered(&self.client, address, is_ready))
    }

    /// Connects for a tenth of the length to warm up, then for all of it and counts. The CPU time is read while no
    /// connection is open, so the connections that are counted are those that it paid for.
    pub(super) fn measure(
        &self,
        address: SocketAddr,
        length: Duration,
        cpu_use: impl Fn() -> Result<CpuUse, BenchError>,
    ) -> Result<MeasuredTurn, BenchError> {
        self.runtime.block_on(async {
            let warm = self.connect_all(address, length.mul_f64(0.1)).await?;
            let before = cpu_use()?;
            let tally = match warm.errors {
                0 => self.connect_all(address, length).await?,
                _ => warm,
            };
            let cpu = cpu_use()?.since(&before);
            let (errors, first_error) = (tally.errors, tally.first_error.clone());
            Ok(MeasuredTurn { tally, cpu, errors, first_error })
        })
    }

    async fn connect_all(
        &self,
        address: SocketAddr,
        length: Duration,
    ) -> Result<ConnectionTally, BenchError> {
        let all = self.client.connect_all(address, self.connections, length, |times| times.handshake);
        all.await.map_err(BenchError::Clients)
    }

    /// Connects until `length` is over, in spite of failures, while `disturb` runs.
    pub(super) fn endure(
        &self,
        address: SocketAddr,
        length: Duration,
        disturb: impl Future<Output = Result<(), BenchError>>,
    ) -> Result<EnduranceTally, BenchError> {
        self.runtime.block_on(async {
            let end = Instant::now() + length;
            let mut clients = JoinSet::new();
            for _ in 0..self.connections {
                clients.spawn(persist(self.client.clone(), address, end));
            }
            disturb.await?;
            let mut all = EnduranceTally::default();
            while let Some(joined) = clients.join_next().await {
                let outcome = joined.map_err(|error| BenchError::Clients(io::Error::other(error)))?;
                all.handshakes += outcome.handshakes;
                all.lost.extend(outcome.lost);
            }
            Ok(all)
        })
    }
}

/// The results of clients that continue after failures.
#[derive(Default)]
pub(super) struct EnduranceTally {
    pub(super) handshakes: u64,
    pub(super) lost: Vec<LostConnection>,
}

/// A connection that failed.
pub(super) struct LostConnection {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) reason: String,
}

impl MeasuredTurn {
    pub(super) fn turn(&self) -> TlsTurn {
        let latencies = &self.tally.latencies;
        TlsTurn {
            handshakes: latencies.len(),
            resumed: self.tally.resumed,
            cpu: self.cpu,
            p50_us: latencies.quantile_us(0.5),
            p99_us: latencies.quantile_us(0.99),
        }
    }
}

/// Waits until `is_ready` returns true and a connection is answered.
pub(super) async fn wait_until_answered(
    client: &TlsClient,
    address: SocketAddr,
    mut is_ready: impl FnMut() -> Result<bool, BenchError>,
) -> Result<(), NotReady> {
    let end = Instant::now() + MAX_CONNECTION_TIME;
    loop {
        let is_up = is_ready().map_err(NotReady::Server)?;
        match client.connect(address).await {
            Ok(_) if is_up => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => {
                // A server that has ended explains more than the connection that it left.
                is_ready().map_err(NotReady::Server)?;
                return Err(NotReady::Client(error.to_string()));
            }
            _ if Instant::now() > end => {
                let text = format!("it is not ready after {MAX_CONNECTION_TIME:?}");
                return Err(NotReady::Client(text));
            }
            _ => tokio::time::sleep(RETRY_AFTER).await,
        }
    }
}

/// Connects until `end`.
async fn persist(client: TlsClient, address: SocketAddr, end: Instant) -> EnduranceTally {
    let mut tally = EnduranceTally::default();
    while Instant::now() < end {
        let began = Instant::now();
        match client.connect(address).await {
            Ok(_) => tally.handshakes += 1,
            Err(error) => {
                tally.lost.push(LostConnection { began, ended: Instant::now(), reason: error.to_string() });
                // While no worker listens, connections are refused at once: without a pause they would fill the memory.
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
    tally
}

fn is_right(answer: &[u8]) -> bool {
    answer.starts_with(b"HTTP/1.")
        && answer.get(8..13).is_some_and(|status| status == b" 200 ")
        && answer.ends_with(BODY.as_bytes())
}
