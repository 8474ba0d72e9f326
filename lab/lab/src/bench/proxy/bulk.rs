//! Clients that receive in bulk on open connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::client::TlsStream;

use super::super::BenchError;
use super::backend::{WRITE_LEN, bulk_request};
use super::turns::{ProxyCpuUse, ProxyTurn};
use crate::tls_client::{LoadLength, MAX_CONNECTION_TIME, TlsClient};

/// The length of a client's buffer: several records at once.
const BUFFER_LEN: usize = 64 << 10;

/// Clients that open their connections first, and then receive on all of them.
pub(super) struct BulkClients<'a> {
    pub(super) client: &'a TlsClient,
    pub(super) address: SocketAddr,
    pub(super) connections: usize,
}

/// Connections that receive. Each ends with the number of its bytes.
type BulkReaders = JoinSet<io::Result<u64>>;

/// Errors of connections.
#[derive(Default)]
struct BulkErrors {
    count: u64,
    first: String,
}

impl BulkClients<'_> {
    /// Measures a turn: some time after a tenth of it to warm up, or some writes on each connection.
    pub(super) async fn measure(
        &self,
        length: LoadLength,
        cpu_use: impl Fn() -> Result<ProxyCpuUse, BenchError>,
    ) -> Result<ProxyTurn, BenchError> {
        let (streams, mut errors) = self.open_all().await;
        let received = Arc::new(AtomicU64::new(0));
        let writes = match length {
            LoadLength::Time(_) => u64::MAX,
            LoadLength::Connections(writes) => writes,
        };
        let mut begin = (cpu_use()?, received.load(Ordering::Relaxed), Instant::now());
        let mut readers = BulkReaders::new();
        for stream in streams {
            readers.spawn(receive(stream, writes, received.clone()));
        }
        match length {
            LoadLength::Time(time) => {
                tokio::time::sleep(time.mul_f64(0.1)).await;
                begin = (cpu_use()?, received.load(Ordering::Relaxed), Instant::now());
                errors.add_ended(&mut readers, time).await;
            }
            LoadLength::Connections(writes) => errors.add_incomplete(&mut readers, writes).await,
        }
        let (before, bytes, start) = begin;
        let turn = ProxyTurn {
            amount: received.load(Ordering::Relaxed) - bytes,
            elapsed: start.elapsed(),
            cpu: cpu_use()?.since(&before),
            errors: errors.count,
            first_error: errors.first,
            ..ProxyTurn::default()
        };
        // Otherwise the connections would end within the turn of the next proxy.
        readers.shutdown().await;
        Ok(turn)
    }

    /// Opens all connections at once.
    async fn open_all(&self) -> (Vec<TlsStream<TcpStream>>, BulkErrors) {
        let mut opening = JoinSet::new();
        for _ in 0..self.connections {
            let (client, address) = (self.client.clone(), self.address);
            opening.spawn(async move { client.open(address).await });
        }
        let (mut streams, mut errors) = (Vec::new(), BulkErrors::default());
        while let Some(opened) = opening.join_next().await {
            match opened.map_err(io::Error::other).flatten() {
                Ok(stream) => streams.push(stream),
                Err(error) => errors.add(&error),
            }
        }
        (streams, errors)
    }
}

impl BulkErrors {
    fn add(&mut self, error: &io::Error) {
        if self.count == 0 {
            self.first = error.to_string();
        }
        self.count += 1;
    }

    /// Waits for some time. A connection that ends meanwhile is an error.
    async fn add_ended(&mut self, readers: &mut BulkReaders, time: Duration) {
        let end = tokio::time::Instant::now() + time;
        while let Ok(ended) = tokio::time::timeout_at(end, readers.join_next()).await {
            match ended {
                Some(Ok(Err(error))) => self.add(&error),
                Some(_) => self.add(&io::ErrorKind::UnexpectedEof.into()),
                // All have ended.
                None => return,
            }
        }
    }

    /// Waits for all connections. One that ends before all writes are there is an error.
    async fn add_incomplete(&mut self, readers: &mut BulkReaders, writes: u64) {
        let expected = writes.saturating_mul(WRITE_LEN as u64);
        while let Some(ended) = readers.join_next().await {
            match ended.map_err(io::Error::other).flatten() {
                Ok(bytes) if bytes == expected => {}
                Ok(bytes) => {
                    let text = format!("expected {expected} bytes in bulk, found {bytes}");
                    self.add(&io::Error::other(text));
                }
                Err(error) => self.add(&error),
            }
        }
    }
}

/// Requests writes, and receives until the end.
async fn receive(mut stream: TlsStream<TcpStream>, writes: u64, received: Arc<AtomicU64>) -> io::Result<u64> {
    stream.write_all(&bulk_request(writes)).await?;
    let (mut buffer, mut total) = (vec![0; BUFFER_LEN], 0);
    loop {
        let read = match tokio::time::timeout(MAX_CONNECTION_TIME, stream.read(&mut buffer)).await? {
            // Some proxies close without close_notify (RFC 8446 6.1). The number of bytes is checked.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
            read => read?,
        };
        if read == 0 {
            return Ok(total);
        }
        total += read as u64;
        received.fetch_add(read as u64, Ordering::Relaxed);
    }
}
