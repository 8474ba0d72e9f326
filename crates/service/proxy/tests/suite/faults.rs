//! Reloads, killed backends and resets at random: afterwards every connection has an end that both sides know.
//!
//! `OARLOCK_FAULT_SECONDS=600` makes it last ten minutes, with a line every ten seconds.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use oarlock_proxy::ProxyReload;
use rustix::net::sockopt::set_socket_linger;
use rustls::ClientConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::hello::ClientHelloBytes;
use crate::proxied::{self, RunningProxy, TestAuthority};

const CLIENTS: u64 = 16;
/// Connections of each client, unless the test has a time.
const CONNECTIONS: u64 = 40;
/// The byte by which a client asks the backend for a reset.
const RESET_PLEASE: u8 = b'R';

/// The behaviour of a client on one connection.
#[derive(Clone, Copy, Debug)]
enum ClientBehaviour {
    /// Sends bytes, gets them back, and ends.
    Echo,
    /// Resets the connection before its first byte.
    ResetAtOnce,
    /// Resets the connection in the middle of its first message.
    ResetInHello,
    /// Sends bytes that are no TLS.
    NoTls,
    /// Resets the connection after an echo.
    ResetAfterEcho,
    /// Lets the backend reset the connection.
    ResetByBackend,
}

/// The ends of connections as the clients saw them.
#[derive(Default)]
struct ClientCounts {
    /// Reset by the client, or not TLS.
    left: AtomicU64,
    no_tls: AtomicU64,
    complete: AtomicU64,
    /// Ended by the backend, or by a client that had reached it.
    broken: AtomicU64,
    /// Echoes that failed while the backend was up all the time.
    unexplained: AtomicU64,
}

/// Serves echoes. A kill resets all connections and closes the port.
async fn run_backend(listener: TcpListener, mut kill: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted.unwrap();
                stream.set_zero_linger().unwrap();
                connections.spawn(echo_or_reset(stream));
            }
            _ = &mut kill => return,
        }
    }
}

/// Returns bytes until the client ends. The socket resets if it is dropped before that.
async fn echo_or_reset(mut stream: TcpStream) {
    let mut bytes = [0; 4_096];
    while let Ok(len @ 1..) = stream.read(&mut bytes).await {
        if bytes[0] == RESET_PLEASE || stream.write_all(&bytes[..len]).await.is_err() {
            return;
        }
    }
    // Everything was sent, and may still be on its way: from here on the end is an ordinary one.
    set_socket_linger(&stream, None).unwrap();
    let _ = stream.shutdown().await;
}

/// Numbers that differ from run to run as little as possible: xorshift64 from a seed.
struct TestRandom(u64);

impl TestRandom {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// The progress of all clients.
#[derive(Clone, Copy, Debug, Default)]
struct ClientProgress {
    connections: u64,
    is_done: bool,
}

struct FaultTest {
    proxy: RunningProxy,
    client: ClientConfig,
    backend: SocketAddr,
    /// The number of times that the backend went down or up. It is odd while the backend is down.
    changes: AtomicU64,
    counts: ClientCounts,
    progress: watch::Sender<ClientProgress>,
    until: Option<Instant>,
}

impl FaultTest {
    fn is_over(&self, number: u64) -> bool {
        self.until.map_or(number >= CONNECTIONS, |until| Instant::now() >= until)
    }

    /// Waits for more connections. Returns false if there are no more.
    async fn wait_for_connections(&self, more: u64) -> bool {
        let end = self.progress.borrow().connections + more;
        let mut progress = self.progress.subscribe();
        let reached = progress.wait_for(|now| now.is_done || now.connections >= end).await.unwrap();
        !reached.is_done
    }

    async fn run_client(&self, seed: u64) {
        let mut random = TestRandom(seed + 1);
        for number in 0.. {
            if self.is_over(number) {
                return;
            }
            let behaviour = match random.below(12) {
                0 => ClientBehaviour::ResetAtOnce,
                1 => ClientBehaviour::ResetInHello,
                2 => ClientBehaviour::NoTls,
                3 => ClientBehaviour::ResetAfterEcho,
                4 => ClientBehaviour::ResetByBackend,
                _ => ClientBehaviour::Echo,
            };
            self.connect(behaviour, random.below(20_000) as usize + 1).await;
        }
    }

    async fn connect(&self, behaviour: ClientBehaviour, len: usize) {
        let counts = &self.counts;
        let before = self.changes.load(Ordering::SeqCst);
        let mut tcp = TcpStream::connect(self.proxy.address).await.unwrap();
        self.progress.send_modify(|progress| progress.connections += 1);
        match behaviour {
            ClientBehaviour::ResetAtOnce => {}
            ClientBehaviour::ResetInHello => {
                let hello = ClientHelloBytes::new(b"localhost").in_records(1 << 14);
                tcp.write_all(&hello[..1 + len % (hello.len() - 1)]).await.unwrap();
            }
            ClientBehaviour::NoTls => {
                let _ = tcp.write_all(b"GET / HTTP/1.1\r\n\r\n").await;
                while let Ok(1..) = tcp.read(&mut [0; 64]).await {}
                counts.no_tls.fetch_add(1, Ordering::Relaxed);
                return;
            }
            ClientBehaviour::Echo | ClientBehaviour::ResetAfterEcho | ClientBehaviour::ResetByBackend => {
                let is_complete = self.exchange(tcp, behaviour, len).await;
                let is_changed = before % 2 == 1 || self.changes.load(Ordering::SeqCst) != before;
                let is_expected = is_complete == matches!(behaviour, ClientBehaviour::Echo);
                let count = if is_complete { &counts.complete } else { &counts.broken };
                count.fetch_add(1, Ordering::Relaxed);
                if !is_expected && !is_changed {
                    counts.unexplained.fetch_add(1, Ordering::Relaxed);
                }
                return;
            }
        }
        tcp.set_zero_linger().unwrap();
        counts.left.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns true if the connection came to its ordinary end. A stream that ends early or has wrong bytes is a fault
    /// of the proxy in any case.
    async fn exchange(&self, tcp: TcpStream, behaviour: ClientBehaviour, len: usize) -> bool {
        let Ok(mut stream) = proxied::connect_over(tcp, &self.client, "localhost").await else {
            return false;
        };
        if let ClientBehaviour::ResetByBackend = behaviour {
            let _ = stream.write_all(&[RESET_PLEASE]).await;
            let end = stream.read(&mut [0; 1]).await;
            assert!(end.is_err(), "a stream that was reset looks complete: {end:?}");
            return false;
        }
        let sent: Vec<u8> = (0..len).map(|at| (at % 61) as u8).collect();
        let mut got = vec![0; len];
        if stream.write_all(&sent).await.is_err() || stream.read_exact(&mut got).await.is_err() {
            return false;
        }
        assert!(got == sent, "the echo has other bytes");
        if let ClientBehaviour::ResetAfterEcho = behaviour {
            stream.get_ref().0.set_zero_linger().unwrap();
            return false;
        }
        stream.shutdown().await.is_ok() && matches!(stream.read(&mut [0; 1]).await, Ok(0))
    }

    /// Kills the backend, and starts it again at the same port, until the clients are done.
    async fn kill_backends(&self, mut listener: TcpListener) -> (oneshot::Sender<()>, JoinHandle<()>) {
        let mut random = TestRandom(77);
        loop {
            let (kill, killed) = oneshot::channel();
            let running = tokio::spawn(run_backend(listener, killed));
            self.set_backend_up(true);
            if !self.wait_for_connections(30 + random.below(60)).await {
                return (kill, running);
            }
            self.set_backend_up(false);
            let _ = kill.send(());
            running.await.unwrap();
            self.wait_for_connections(4).await;
            listener = listen_again(self.backend).await;
        }
    }

    fn set_backend_up(&self, is_up: bool) {
        // The number is odd while the backend is down.
        if (self.changes.load(Ordering::SeqCst) % 2 == 1) == is_up {
            self.changes.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Reloads certificates, in turns good and broken ones, and settings. Returns the numbers of good and broken ones.
    async fn reload(&self, authority: &TestAuthority, settings: &str) -> (u64, u64) {
        let (mut good, mut broken) = (0, 0);
        let broken_file = authority.path("certificates/z.pem");
        loop {
            // Another length each time: two changes in one tick of the file system's clock have the same time.
            let name = format!("{}.example", "o".repeat(1 + good as usize * 7 % 60));
            authority.add("b", &[&name]);
            assert!(matches!(self.proxy.service.refresh().await, ProxyReload::Replaced));
            fs::write(&broken_file, "broken".repeat(1 + broken as usize % 50)).unwrap();
            assert!(matches!(self.proxy.service.refresh().await, ProxyReload::Refused(_)));
            fs::remove_file(&broken_file).unwrap();
            self.proxy.service.reconfigure(proxied::config(authority, settings)).await.unwrap();
            good += 2;
            broken += 1;
            if !self.wait_for_connections(5).await {
                return (good, broken);
            }
        }
    }

    /// Says every ten seconds how far a long run is.
    async fn report(&self) {
        let mut done = self.progress.subscribe();
        let mut lines = tokio::time::interval(Duration::from_secs(10));
        loop {
            tokio::select! {
                _ = lines.tick() => eprintln!("{} connections", self.progress.borrow().connections),
                _ = done.wait_for(|now| now.is_done) => return,
            }
        }
    }
}

/// Listens at a port that was in use. Connections of it may linger.
async fn listen_again(address: SocketAddr) -> TcpListener {
    loop {
        if let Ok(listener) = TcpListener::bind(address).await {
            return listener;
        }
        tokio::task::yield_now().await;
    }
}

/// Reads the counters of the proxy, by name and labels.
async fn counters(proxy: &RunningProxy) -> BTreeMap<String, u64> {
    let page = proxy.page().await;
    let samples = page.lines().filter(|line| line.starts_with("oarlock_proxy_"));
    samples
        .filter_map(|line| line.rsplit_once(' '))
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap_or(0)))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn every_connection_among_reloads_kills_and_resets_is_accounted_for() {
    let seconds = std::env::var("OARLOCK_FAULT_SECONDS").ok().and_then(|text| text.parse().ok());
    let authority = TestAuthority::new();
    let (listener, address) = proxied::backend().await;
    // Only the test looks for changes, so that it knows what each look finds.
    let settings = format!("backend.address = \"{address}\"\ncertificates.reload_seconds = 0\n");
    let test = FaultTest {
        proxy: RunningProxy::start_with(&authority, &settings).await,
        client: authority.client(),
        backend: address,
        // Down until it is started.
        changes: AtomicU64::new(1),
        counts: ClientCounts::default(),
        progress: watch::Sender::default(),
        until: seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
    };
    let clients = async {
        futures_util::future::join_all((0..CLIENTS).map(|seed| test.run_client(seed))).await;
        test.progress.send_modify(|progress| progress.is_done = true);
    };
    let ((), (kill, backend), (good, broken), ()) = tokio::join!(
        clients,
        test.kill_backends(listener),
        test.reload(&authority, &settings),
        test.report()
    );
    test.proxy.wait_for("oarlock_proxy_connections_open", 0).await;
    let _ = kill.send(());
    backend.await.unwrap();

    let metrics = counters(&test.proxy).await;
    let metric = |name: &str| metrics[&format!("oarlock_proxy_{name}")];
    let sum = |name: &str| -> u64 {
        metrics
            .iter()
            .filter(|(key, _)| key.starts_with(&format!("oarlock_proxy_{name}{{")))
            .map(|(_, value)| value)
            .sum()
    };
    let client = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let counts = &test.counts;
    eprintln!(
        "{} connections: {} complete, {} broken, {} left, {} not TLS; {good} reloads and {broken} broken ones",
        test.progress.borrow().connections,
        client(&counts.complete),
        client(&counts.broken),
        client(&counts.left),
        client(&counts.no_tls),
    );
    assert_eq!(client(&counts.unexplained), 0, "{metrics:#?}");
    assert_eq!(metric("connections_total"), test.progress.borrow().connections);
    assert_eq!(
        metric("connections_total"),
        sum("connections_refused_total") + sum("connections_ended_total")
    );
    assert_eq!(metric("connections_refused_total{reason=\"left\"}"), client(&counts.left));
    assert_eq!(metric("connections_refused_total{reason=\"protocol\"}"), client(&counts.no_tls));
    assert_eq!(metric("connections_ended_total{by=\"complete\"}"), client(&counts.complete));
    let by_backend = metric("connections_ended_total{by=\"backend\"}")
        + metric("connections_refused_total{reason=\"backend\"}");
    assert_eq!(by_backend + metric("connections_ended_total{by=\"client\"}"), client(&counts.broken));
    assert_eq!(metric("reloads_total{result=\"done\"}"), good);
    assert_eq!(metric("reloads_total{result=\"rejected\"}"), broken);
}
