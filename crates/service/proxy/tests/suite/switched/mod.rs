//! Backends that are switched off and on, each of which says who it is.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use rustix::net::sockopt::set_socket_linger;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::client::TlsStream;

/// The byte by which a client asks for a reset, at the beginning of what it sends.
pub(crate) const RESET_PLEASE: u8 = b'R';

/// A backend whose connections begin with its number, and then return what they get. It has a loopback address of its
/// own: at 127.0.0.1 its port could become that of a client while it is off, or of a connection to itself.
pub(crate) struct SwitchedBackend {
    pub(crate) address: SocketAddr,
    number: u8,
    running: Option<JoinHandle<()>>,
}

impl SwitchedBackend {
    /// Starts a backend.
    pub(crate) async fn start(number: u8) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 1, number), 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { address, number, running: Some(tokio::spawn(serve(listener, number))) }
    }

    /// Closes the port, and resets all connections.
    pub(crate) async fn switch_off(&mut self) {
        if let Some(running) = self.running.take() {
            running.abort();
            let _ = running.await;
        }
    }

    /// Listens at the same port again.
    pub(crate) async fn switch_on(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.running = Some(tokio::spawn(serve(listener, self.number)));
    }
}

async fn serve(listener: TcpListener, number: u8) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        // A connection of a backend that is switched off gets a reset.
        stream.set_zero_linger().unwrap();
        connections.spawn(async move {
            if let Some(stream) = answer(stream, number).await {
                // Everything was sent, and may still be in transit: the end is an ordinary one.
                let _ = set_socket_linger(&stream, None);
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

/// A backend at a UNIX socket, whose file is taken away and put back. Connections that wait to be accepted are not lost
/// by that, so each failure is one of the connect.
pub(crate) struct SwitchedFile {
    pub(crate) path: PathBuf,
}

impl SwitchedFile {
    pub(crate) fn start(directory: &Path, number: u8) -> Self {
        let path = directory.join(format!("{number}.sock"));
        let listener = UnixListener::bind(&path).unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(answer(stream, number));
            }
        });
        Self { path }
    }

    pub(crate) fn switch_off(&self) {
        std::fs::rename(&self.path, self.path.with_extension("off")).unwrap();
    }

    pub(crate) fn switch_on(&self) {
        std::fs::rename(self.path.with_extension("off"), &self.path).unwrap();
    }
}

/// Returns bytes until the client ends. Returns the stream if that was its end.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, number: u8) -> Option<S> {
    stream.write_all(&[number]).await.ok()?;
    let mut bytes = [0; 4_096];
    while let len @ 1.. = stream.read(&mut bytes).await.ok()? {
        if bytes[0] == RESET_PLEASE {
            return None;
        }
        stream.write_all(&bytes[..len]).await.ok()?;
    }
    let _ = stream.shutdown().await;
    Some(stream)
}

/// Returns the number of the backend that a connection has reached. None if it was ended before.
pub(crate) async fn reached(stream: &mut (impl AsyncRead + Unpin)) -> Option<u8> {
    stream.read_u8().await.ok()
}

/// Ends a connection, and waits for the other side's end.
pub(crate) async fn end(mut stream: TlsStream<TcpStream>) {
    let _ = stream.shutdown().await;
    let _ = stream.read_to_end(&mut Vec::new()).await;
}
