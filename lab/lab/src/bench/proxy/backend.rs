//! The plain backend behind all proxies. It echoes a request, or sends in bulk.

use std::io;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::super::BenchError;

/// The length of every request.
pub(super) const REQUEST_LEN: usize = 1024;

/// The length of a write of bulk.
pub(super) const WRITE_LEN: usize = 16 << 10;

/// The request of an echo.
pub(super) static ECHO: [u8; REQUEST_LEN] = [b'e'; REQUEST_LEN];

/// The first byte of a request of bulk. The number of writes follows, in eight bytes, little-endian.
const BULK: u8 = b'b';

/// The pause after a connection that could not be accepted.
const RETRY_AFTER: Duration = Duration::from_millis(10);

/// A backend on a thread of its own. It ends when it is dropped.
pub(super) struct PlainBackend {
    pub(super) port: u16,
    _stop: oneshot::Sender<()>,
}

impl PlainBackend {
    /// Starts a backend on the cores of this thread.
    pub(super) fn start() -> Result<Self, BenchError> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(BenchError::Backend)?;
        let port = listener.local_addr().map_err(BenchError::Backend)?.port();
        listener.set_nonblocking(true).map_err(BenchError::Backend)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(BenchError::Backend)?;
        let (stop, stopped) = oneshot::channel::<()>();
        thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    // The sender sends nothing: it is dropped.
                    _ = stopped => {}
                    _ = accept_all(listener) => {}
                }
            });
        });
        Ok(Self { port, _stop: stop })
    }
}

/// Returns the request of so many writes.
pub(super) fn bulk_request(writes: u64) -> [u8; REQUEST_LEN] {
    let mut request = [0; REQUEST_LEN];
    request[0] = BULK;
    request[1..9].copy_from_slice(&writes.to_le_bytes());
    request
}

async fn accept_all(listener: std::net::TcpListener) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        match listener.accept().await {
            // A proxy may cut its connection at any time.
            Ok((stream, _)) => drop(tokio::spawn(async move { drop(answer(stream).await) })),
            // Without a pause, a lack of file descriptors would take the clients' core.
            Err(_) => tokio::time::sleep(RETRY_AFTER).await,
        }
    }
}

/// Answers the request of a connection, and closes it.
async fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = [0; REQUEST_LEN];
    stream.read_exact(&mut request).await?;
    match request.split_first_chunk::<9>() {
        Some(([BULK, writes @ ..], _)) => send_bulk(&mut stream, u64::from_le_bytes(*writes)).await?,
        _ => stream.write_all(&request).await?,
    }
    stream.shutdown().await
}

async fn send_bulk(stream: &mut TcpStream, writes: u64) -> io::Result<()> {
    let content = vec![b'b'; WRITE_LEN];
    for _ in 0..writes {
        stream.write_all(&content).await?;
    }
    Ok(())
}
