use oarlock_sockets::{Keys, Sealer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::bytes::{ConnectionBytes, RelayedBytes};

const SUITE: Suite = Suite::TLS13_AES_128_GCM;

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (near, listener.accept().await.unwrap().0)
}

fn keys() -> Keys {
    Keys::tls13(SUITE, &[3; 32]).unwrap().with_sequence(7)
}

/// Returns the far ends of client and backend, and a relay between them. The kernel seals nothing here, so the client
/// gets the bytes as they are. What a kernel with TLS does is tested where `attach_sending` is.
async fn start() -> (TcpStream, TcpStream, tokio::task::JoinHandle<(RelayEnd, u64, u64)>) {
    start_with(MAX_RECORDS, ConnectionTerm::default()).await
}

async fn start_with(
    max_records: u64,
    term: ConnectionTerm,
) -> (TcpStream, TcpStream, tokio::task::JoinHandle<(RelayEnd, u64, u64)>) {
    let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let (far_client, client) = pair().await;
    let (far_backend, backend) = pair().await;
    let receiving = Receiving::InProcess(Box::new(Opener::new(&accelerator, keys()).unwrap()));
    let sending = Sending { keys: RefCell::new(None), records: 0, max_records };
    let relay = KernelRelay { client, backend, sending, receiving, close: shut_down };
    let task = tokio::task::spawn_local(async move {
        let (bytes, connection) = (RelayedBytes::default(), ConnectionBytes::default());
        let meter = ByteMeter { all: &bytes, connection: &connection };
        let end = relay.run((Duration::from_secs(60), term), meter).await;
        (end, bytes.to_backends.into_inner(), bytes.to_clients_by_kernel.into_inner())
    });
    (far_client, far_backend, task)
}

fn sealed(pieces: &[(Content, &[u8])]) -> Vec<u8> {
    let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let mut sealer = Sealer::new(&accelerator, keys()).unwrap();
    let mut out = Vec::new();
    for (content, data) in pieces {
        sealer.seal(*content, &[data], &mut out).unwrap();
    }
    out
}

#[tokio::test]
async fn both_sides_get_a_reset_when_a_certificate_has_ended() {
    tokio::task::LocalSet::new()
        .run_until(async {
            let over = ConnectionTerm(Some(Box::pin(std::future::ready(()))));
            let (mut client, mut backend, task) = start_with(MAX_RECORDS, over).await;
            assert!(matches!(task.await.unwrap().0, RelayEnd::Certificate));
            for side in [&mut client, &mut backend] {
                assert_eq!(side.read_u8().await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
            }
        })
        .await;
}

#[tokio::test]
async fn bytes_go_both_ways_and_a_close_notify_ends_one() {
    tokio::task::LocalSet::new()
        .run_until(async {
            let (mut client, mut backend, task) = start().await;
            let content = vec![9; 16_000];
            let records = sealed(&[
                (Content::ApplicationData, b"hello"),
                (Content::ApplicationData, &content),
                (Content::Alert, &[1, 0]),
            ]);
            for piece in records.chunks(1_000) {
                client.write_all(piece).await.unwrap();
            }
            let mut got = Vec::new();
            backend.read_to_end(&mut got).await.unwrap();
            assert_eq!(got, [&b"hello"[..], &content].concat());
            let answer = vec![7; 300_000];
            let (sent, received) = tokio::join!(
                async {
                    backend.write_all(&answer).await.unwrap();
                    backend.shutdown().await.unwrap();
                    answer.len()
                },
                async {
                    let mut got = Vec::new();
                    client.read_to_end(&mut got).await.unwrap();
                    assert!(got.iter().all(|byte| *byte == 7));
                    got.len()
                }
            );
            assert_eq!(sent, received);
            let (end, up, down) = task.await.unwrap();
            assert!(matches!(end, RelayEnd::Complete), "{end:?}");
            assert_eq!((up, down), (16_005, 300_000));
        })
        .await;
}

#[tokio::test]
async fn a_stream_without_a_close_notify_and_a_forged_record_are_faults_of_the_client() {
    tokio::task::LocalSet::new()
        .run_until(async {
            let records = sealed(&[(Content::ApplicationData, b"hello")]);
            let mut forged = records.clone();
            *forged.last_mut().unwrap() ^= 1;
            for bytes in [records, forged, vec![0; 100]] {
                let (mut client, _backend, task) = start().await;
                client.write_all(&bytes).await.unwrap();
                client.shutdown().await.unwrap();
                let (end, ..) = task.await.unwrap();
                assert!(matches!(end, RelayEnd::Client(_)), "{end:?}");
            }
        })
        .await;
}

#[tokio::test]
async fn a_client_that_leaves_after_the_backend_has_ended_is_complete() {
    tokio::task::LocalSet::new()
        .run_until(async {
            let (mut client, backend, task) = start().await;
            drop(backend);
            assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 0);
            drop(client);
            let (end, ..) = task.await.unwrap();
            assert!(matches!(end, RelayEnd::Complete), "{end:?}");
        })
        .await;
}

#[tokio::test]
async fn the_opener_follows_a_client_with_new_keys() {
    tokio::task::LocalSet::new()
        .run_until(async {
            let (mut client, mut backend, task) = start().await;
            let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
            let mut sealer = Sealer::new(&accelerator, keys()).unwrap();
            let mut wire = Vec::new();
            sealer.seal(Content::ApplicationData, &[b"old"], &mut wire).unwrap();
            sealer.update_keys(false, &mut wire).unwrap();
            sealer.seal(Content::ApplicationData, &[b", new"], &mut wire).unwrap();
            client.write_all(&wire).await.unwrap();
            let mut got = [0; 8];
            backend.read_exact(&mut got).await.unwrap();
            assert_eq!(&got, b"old, new");
            // The kernel seals nothing here, so it cannot answer with new keys of its own.
            wire.clear();
            sealer.update_keys(true, &mut wire).unwrap();
            client.write_all(&wire).await.unwrap();
            let (end, ..) = task.await.unwrap();
            assert!(matches!(end, RelayEnd::Client(_)), "{end:?}");
        })
        .await;
}

#[tokio::test]
async fn keys_without_a_successor_end_the_connection_at_their_limit() {
    tokio::task::LocalSet::new()
        .run_until(async {
            let (client, mut backend, task) = start_with(3, ConnectionTerm::default()).await;
            // The relay stops reading, so some of it may find no place.
            let sent = backend.write_all(&vec![7; 20 << 20]).await;
            let (end, _, down) = task.await.unwrap();
            assert!(matches!(end, RelayEnd::Client(_)), "{end:?}");
            assert!((1..=3 * SPLICE_BYTES as u64).contains(&down), "{down}");
            drop((client, sent));
        })
        .await;
}
