//! Tests with a greedy client beside an honest one.
//!
//! No test measures time. Each counts the operations of the greedy client while the honest one waits.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use oarlock::keys::generate;
use oarlock::{DigestAlg, Input, Job, Key, Scheme};
use oarlock_wire::proto::{self, open_key, request, response};
use oarlock_wire::{ServerLink, jobs};

use crate::test_server::{TestServer, open, open_resident};

const PKCS1: Scheme = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };

/// Returns jobs that sign different messages with the key under handle 0.
fn signatures(scheme: Scheme, key: &Key, count: u32) -> proto::Jobs {
    let messages: Vec<[u8; 4]> = (0..count).map(u32::to_le_bytes).collect();
    let all: Vec<_> = messages
        .iter()
        .map(|message| (Job::with_scheme(scheme, key, Input::Message(message), &[]), 0))
        .collect();
    jobs::write(all.into_iter()).unwrap()
}

async fn sign(link: &ServerLink, jobs: &proto::Jobs) -> proto::Results {
    match link.call(request::Body::Jobs(jobs.clone())).await.unwrap() {
        response::Body::Results(results) => results,
        other => panic!("{other:?}"),
    }
}

fn assert_all_done(results: &proto::Results) {
    assert!(results.faults.is_empty(), "{:?}", results.faults.first());
}

/// A client that sends batch after batch on each of several connections, until it is dropped.
struct GreedyClient {
    done: Arc<AtomicUsize>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl GreedyClient {
    async fn start(server: &TestServer, connections: usize, batch: usize) -> Self {
        let key = generate::rsa(2048).unwrap();
        let (done, mut tasks) = (Arc::new(AtomicUsize::new(0)), Vec::new());
        for _ in 0..connections {
            let link = ServerLink::open(&server.plaintext()).await.unwrap();
            open_resident(&link, 0, "rsa2048").await;
            let (jobs, done) = (signatures(PKCS1, &key, batch as u32), Arc::clone(&done));
            tasks.push(tokio::spawn(async move {
                loop {
                    sign(&link, &jobs).await;
                    done.fetch_add(batch, Ordering::SeqCst);
                }
            }));
        }
        Self { done, tasks }
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::SeqCst)
    }

    /// Waits until this number of operations is done.
    async fn reach(&self, operations: usize) {
        while self.done() < operations {
            tokio::task::yield_now().await;
        }
    }
}

impl Drop for GreedyClient {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Starts a server with grants for every client, including those of the loopback address.
async fn start_server() -> TestServer {
    TestServer::with(|config, _| config.grants[0].clients.push("*".into())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gives_a_client_with_many_connections_no_larger_share() {
    let server = start_server().await;
    let honest = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&honest, 0, "rsa2048").await;
    let key = generate::rsa(2048).unwrap();
    let greedy = GreedyClient::start(&server, 32, 8).await;
    greedy.reach(8).await;
    let before = greedy.done();
    for _ in 0..8 {
        assert_all_done(&sign(&honest, &signatures(PKCS1, &key, 64)).await);
    }
    let (of_client, others) = (8 * 64, greedy.done() - before);
    // Between two messages the honest client has nothing waiting, and the other client has the engines alone. The
    // operations in progress on its 32 connections at the beginning count too.
    assert!(others <= 2 * of_client + 32 * 8, "{others} of the other client's against {of_client}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_another_client_during_a_flood_of_slow_operations() {
    let server = start_server().await;
    let honest = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&honest, 0, "ed25519").await;
    let (ed25519, rsa) = (generate::ed25519().unwrap(), generate::rsa(2048).unwrap());
    let flood = ServerLink::open(&server.plaintext()).await.unwrap();
    let pem = oarlock::keys::export::private_pkcs8_der(&rsa).unwrap();
    open(&flood, 0, open_key::Source::Asymmetric(pem.to_vec().into())).await;
    let jobs = signatures(PKCS1, &rsa, 4_000);
    let mut flooding = std::pin::pin!(sign(&flood, &jobs));
    begin(&flood, &mut flooding).await;
    let one = signatures(Scheme::Ed25519Sign, &ed25519, 1);
    for _ in 0..50 {
        assert_all_done(&sign(&honest, &one).await);
    }
    assert!((&mut flooding).now_or_never().is_none(), "the flood was over before fifty signatures were made");
    assert_all_done(&flooding.await);
}

/// Sends a request and waits until the server has begun it. Requests of a connection are begun in their order.
async fn begin<F: Future + Unpin>(link: &ServerLink, request: &mut F) {
    tokio::select! {
        biased;
        _ = request => panic!("it was answered before the next request was begun"),
        answer = link.call(request::Body::ListKeys(proto::ListKeysRequest {})) => drop(answer.unwrap()),
    }
}

/// Returns a request for `count` SHA-256 digests of a megabyte each: it is short to send and takes long.
fn digests(count: u32) -> request::Body {
    let task = proto::Task {
        kind: proto::task::Kind::Digest.into(),
        algorithm: "sha256".into(),
        ..Default::default()
    };
    request::Body::Records(proto::Records {
        count,
        tasks: vec![task],
        data: vec![7; 1 << 20].into(),
        input: Some(proto::Spans { len: 1 << 20, ..Default::default() }),
        output: Some(proto::Spans { len: 32, stride: 32, ..Default::default() }),
        output_len: count * 32,
        ..Default::default()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serves_records_of_another_client_during_a_flood_of_records() {
    let server = start_server().await;
    let honest = ServerLink::open(&server.unix()).await.unwrap();
    let greedy = Arc::new(ServerLink::open(&server.plaintext()).await.unwrap());
    let done = Arc::new(AtomicUsize::new(0));
    let flood: Vec<_> = (0..40)
        .map(|_| {
            let (greedy, done) = (Arc::clone(&greedy), Arc::clone(&done));
            tokio::spawn(async move {
                greedy.call(digests(256)).await.unwrap();
                done.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    while done.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let before = done.load(Ordering::SeqCst);
    for _ in 0..3 {
        honest.call(digests(8)).await.unwrap();
    }
    let meanwhile = done.load(Ordering::SeqCst) - before;
    assert!(meanwhile <= 12, "{meanwhile} of the other client's batches were done before three small ones");
    for batch in flood {
        batch.await.unwrap();
    }
}
