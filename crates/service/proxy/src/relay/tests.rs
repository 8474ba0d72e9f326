use std::sync::atomic::Ordering::Relaxed;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::Instant;

use super::*;
use crate::bytes::{ConnectionBytes, RelayedBytes};

const IDLE: Duration = Duration::from_secs(60);

/// Returns the outer ends of a client and a backend, and the relay between them as a task.
fn start(buffered: usize) -> (DuplexStream, DuplexStream, tokio::task::JoinHandle<(RelayEnd, u64, u64)>) {
    let (client, mut client_end) = duplex(buffered);
    let (backend, mut backend_end) = duplex(buffered);
    let task = tokio::spawn(async move {
        let (bytes, connection) = (RelayedBytes::default(), ConnectionBytes::default());
        let meter = ByteMeter { all: &bytes, connection: &connection };
        let end = ByteRelay::new(IDLE).run(&mut client_end, &mut backend_end, u64::MAX, meter).await;
        assert_eq!(connection.to_backend.into_inner(), bytes.to_backends.load(Relaxed));
        assert_eq!(connection.to_client.into_inner(), bytes.to_clients.load(Relaxed));
        (end, bytes.to_backends.into_inner(), bytes.to_clients.into_inner())
    });
    (client, backend, task)
}

#[tokio::test]
async fn each_side_may_end_first() {
    for is_client_first in [true, false] {
        let (client, backend, task) = start(1 << 16);
        let (mut first, mut second) = if is_client_first { (client, backend) } else { (backend, client) };
        first.write_all(b"request").await.unwrap();
        first.shutdown().await.unwrap();
        let mut got = Vec::new();
        second.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, b"request");
        // The other direction is still open.
        second.write_all(b"answer").await.unwrap();
        second.shutdown().await.unwrap();
        got.clear();
        first.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, b"answer");
        let (end, up, down) = task.await.unwrap();
        assert!(matches!(end, RelayEnd::Complete), "{end:?}");
        assert_eq!(if is_client_first { (up, down) } else { (down, up) }, (7, 6));
    }
}

#[tokio::test]
async fn a_slow_reader_slows_its_peer_and_loses_nothing() {
    let (mut client, mut backend, task) = start(1_000);
    let sent: Vec<u8> = (0..1_000_000_u32).map(|number| number as u8).collect();
    let expected = sent.clone();
    let writer = tokio::spawn(async move {
        client.write_all(&sent).await.unwrap();
        client.shutdown().await.unwrap();
        client
    });
    let mut got = Vec::new();
    let mut piece = [0; 77];
    loop {
        match backend.read(&mut piece).await.unwrap() {
            0 => break,
            len => got.extend_from_slice(&piece[..len]),
        }
    }
    assert_eq!(got, expected);
    backend.shutdown().await.unwrap();
    let _client = writer.await.unwrap();
    assert!(matches!(task.await.unwrap(), (RelayEnd::Complete, 1_000_000, 0)));
}

#[tokio::test]
async fn a_paused_relay_continues_without_losses() {
    let (mut client, mut client_end) = duplex(1 << 10);
    let (mut backend, mut backend_end) = duplex(1 << 10);
    let task = tokio::spawn(async move {
        let (bytes, connection) = (RelayedBytes::default(), ConnectionBytes::default());
        let meter = ByteMeter { all: &bytes, connection: &connection };
        let (mut relay, mut pauses) = (ByteRelay::new(IDLE), 0);
        loop {
            let pause_at = relay.sent_to_client() + 1_000;
            match relay.run(&mut client_end, &mut backend_end, pause_at, meter).await {
                RelayEnd::Paused => pauses += 1,
                end => return (end, pauses),
            }
        }
    });
    let sent: Vec<u8> = (0..50_000_u32).map(|number| number as u8).collect();
    let expected = sent.clone();
    let writer = tokio::spawn(async move {
        backend.write_all(&sent).await.unwrap();
        backend.shutdown().await.unwrap();
        backend
    });
    let mut got = Vec::new();
    client.read_to_end(&mut got).await.unwrap();
    assert!(got == expected);
    client.shutdown().await.unwrap();
    let _backend = writer.await.unwrap();
    let (end, pauses) = task.await.unwrap();
    assert!(matches!(end, RelayEnd::Complete), "{end:?}");
    assert!(pauses > 1, "{pauses}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_ends_and_a_byte_renews_the_limit() {
    let (mut client, mut backend, task) = start(100);
    let began = Instant::now();
    tokio::time::advance(IDLE / 2).await;
    client.write_all(b"x").await.unwrap();
    assert_eq!(backend.read_u8().await.unwrap(), b'x');
    let (end, ..) = task.await.unwrap();
    assert!(matches!(end, RelayEnd::Idle), "{end:?}");
    assert!(began.elapsed() >= IDLE + IDLE / 2);
}

#[tokio::test]
async fn a_failed_side_is_named() {
    for is_client in [true, false] {
        let good = |bytes: &[u8]| tokio_test_stream(bytes, None);
        let bad = |bytes: &[u8]| tokio_test_stream(bytes, Some(io::ErrorKind::ConnectionReset));
        let (mut client, mut backend) =
            if is_client { (bad(b"abc"), good(b"")) } else { (good(b""), bad(b"abc")) };
        let end = run(&mut client, &mut backend).await;
        match end {
            RelayEnd::Client(_) => assert!(is_client),
            RelayEnd::Backend(_) => assert!(!is_client),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_reset_that_a_write_has_reported_is_no_end_for_the_client() {
    let mut client = tokio_test_stream(b"abc", None);
    let end = run(&mut client, &mut ReportedReset).await;
    assert!(matches!(end, RelayEnd::Backend(_)), "{end:?}");
    assert!(!client.is_shut_down);
}

async fn run<C, B>(client: &mut C, backend: &mut B) -> RelayEnd
where
    C: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let (bytes, connection) = (RelayedBytes::default(), ConnectionBytes::default());
    let meter = ByteMeter { all: &bytes, connection: &connection };
    ByteRelay::new(IDLE).run(client, backend, u64::MAX, meter).await
}

/// A socket after a reset: the first call, a write, reports it, and a read then finds an end.
struct ReportedReset;

impl AsyncRead for ReportedReset {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ReportedReset {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A stream that gives some bytes, then fails or stays silent, and takes everything.
struct ScriptedStream {
    bytes: Vec<u8>,
    error: Option<io::ErrorKind>,
    is_shut_down: bool,
}

fn tokio_test_stream(bytes: &[u8], error: Option<io::ErrorKind>) -> ScriptedStream {
    ScriptedStream { bytes: bytes.to_vec(), error, is_shut_down: false }
}

impl AsyncRead for ScriptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.bytes.is_empty() {
            return match self.error {
                Some(kind) => Poll::Ready(Err(kind.into())),
                None => Poll::Pending,
            };
        }
        into.put_slice(&std::mem::take(&mut self.bytes));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ScriptedStream {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.is_shut_down = true;
        Poll::Ready(Ok(()))
    }
}
