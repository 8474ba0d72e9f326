//! HAProxy beside the proxy, before the same backends: the same events give the same distribution and lose nobody.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, UnixStream};

use crate::peers::Peer;
use crate::proxied::{RunningProxy, TestAuthority, connect_over};
use crate::switched::{SwitchedBackend, reached};

/// HAProxy with one group of servers.
struct HaProxy {
    peer: Peer,
    stats: PathBuf,
}

impl HaProxy {
    /// Starts HAProxy, unless it is missing. The last one of the backends is the backup.
    fn start(directory: &Path, balance: &str, backends: &[SwitchedBackend]) -> Option<Self> {
        let stats = directory.join("stats.sock");
        let mut settings = format!(
            "global\n stats socket {} mode 600\nlisten pool\n bind {{address}}\n retries 3\n option redispatch 1\n \
             balance {balance}\n hash-type consistent\n default-server check inter 200ms rise 1 fall 1\n",
            stats.display()
        );
        for (index, backend) in backends.iter().enumerate() {
            let backup = if index + 1 == backends.len() { " backup" } else { "" };
            settings.push_str(&format!(" server s{} {}{backup}\n", index + 1, backend.address));
        }
        Some(Self { peer: Peer::haproxy(&settings)?, stats })
    }

    /// Returns a column of `show stat` for a server.
    async fn stat(&self, server: usize, column: &str) -> String {
        let mut stats = UnixStream::connect(&self.stats).await.unwrap();
        stats.write_all(b"show stat\n").await.unwrap();
        let mut text = String::new();
        stats.read_to_string(&mut text).await.unwrap();
        let names = text.lines().next().unwrap().trim_start_matches("# ");
        let index = names.split(',').position(|name| name == column).unwrap();
        let line = text.lines().find(|line| line.starts_with(&format!("pool,s{server},"))).unwrap();
        line.split(',').nth(index).unwrap().to_owned()
    }
}

/// One of the two proxies.
enum TestedProxy {
    Oarlock { proxy: RunningProxy, client: Box<ClientConfig> },
    HaProxy(HaProxy),
}

trait Stream: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

impl TestedProxy {
    /// Opens a connection. Returns it with the number of the backend that it has reached.
    async fn open(&self, from: &str) -> Option<(u8, Box<dyn Stream>)> {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(from.parse().unwrap(), 0)).unwrap();
        let mut stream: Box<dyn Stream> = match self {
            Self::HaProxy(proxy) => Box::new(socket.connect(proxy.peer.address).await.unwrap()),
            Self::Oarlock { proxy, client } => {
                let tcp = socket.connect(proxy.address).await.unwrap();
                Box::new(connect_over(tcp, client, "localhost").await.unwrap())
            }
        };
        reached(&mut stream).await.map(|number| (number, stream))
    }

    async fn reach(&self, from: &str) -> Option<u8> {
        let (number, stream) = self.open(from).await?;
        end(stream).await;
        Some(number)
    }

    /// Connects one after the other, and counts the backends that were reached.
    async fn distribution(&self, count: usize) -> BTreeMap<Option<u8>, usize> {
        let mut counts = BTreeMap::new();
        for _ in 0..count {
            *counts.entry(self.reach("127.0.0.1").await).or_insert(0) += 1;
        }
        counts
    }

    async fn wait_until_up(&self, backends: &[SwitchedBackend], number: usize, is_up: bool) {
        match self {
            Self::HaProxy(proxy) => {
                let expected = if is_up { "UP" } else { "DOWN" };
                while proxy.stat(number, "status").await != expected {
                    tokio::task::yield_now().await;
                }
            }
            Self::Oarlock { proxy, .. } => {
                let endpoint = backends[number - 1].address;
                let name = format!("oarlock_proxy_backend_up{{backend=\"pool\",endpoint=\"{endpoint}\"}}");
                proxy.wait_for(&name, u64::from(is_up)).await;
            }
        }
    }

    async fn wait_until_empty(&self, backends: &[SwitchedBackend], number: usize) {
        match self {
            Self::HaProxy(proxy) => {
                while proxy.stat(number, "scur").await != "0" {
                    tokio::task::yield_now().await;
                }
            }
            Self::Oarlock { proxy, .. } => {
                let endpoint = backends[number - 1].address;
                let labels = format!("{{backend=\"pool\",endpoint=\"{endpoint}\"}}");
                proxy.wait_for(&format!("oarlock_proxy_backend_connections_open{labels}"), 0).await;
            }
        }
    }
}

async fn end(mut stream: Box<dyn Stream>) {
    let _ = stream.shutdown().await;
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

/// Starts three backends and a backup, and both proxies before them. None if HAProxy is missing.
async fn start_both(
    authority: &TestAuthority,
    ours: &str,
    theirs: &str,
) -> Option<([TestedProxy; 2], Vec<SwitchedBackend>)> {
    let mut backends = Vec::new();
    for number in 1..=4 {
        backends.push(SwitchedBackend::start(number).await);
    }
    let haproxy = HaProxy::start(authority.directory.path(), theirs, &backends)?;
    let addresses: Vec<_> = backends.iter().map(|backend| format!("\"{}\"", backend.address)).collect();
    let settings = format!(
        "[[route]]\nbackend = \"pool\"\n[[backend]]\nname = \"pool\"\nbalance = \"{ours}\"\n\
         addresses = [{}, {{ address = {}, backup = true }}]\n\
         check = {{ kind = \"connect\", interval_seconds = 2, timeout_seconds = 2, rise = 1, fall = 1 }}\n",
        addresses[..3].join(", "),
        addresses[3]
    );
    let proxy = RunningProxy::start_with(authority, &settings).await;
    let client = Box::new(authority.client());
    Some(([TestedProxy::Oarlock { proxy, client }, TestedProxy::HaProxy(haproxy)], backends))
}

async fn wait_for_both(proxies: &[TestedProxy], backends: &[SwitchedBackend], number: usize, is_up: bool) {
    for proxy in proxies {
        proxy.wait_until_up(backends, number, is_up).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_server_and_a_backup_as_haproxy_has_them() {
    let authority = TestAuthority::new();
    let both = start_both(&authority, "round-robin", "roundrobin").await;
    let Some((proxies, mut backends)) = both else { return };
    let expect = async |event: &str, expected: &[(Option<u8>, usize)]| {
        for (proxy, name) in proxies.iter().zip(["Oarlock", "HAProxy"]) {
            let count = expected.iter().map(|(_, count)| count).sum();
            let expected: BTreeMap<_, _> = expected.iter().copied().collect();
            assert_eq!(proxy.distribution(count).await, expected, "{name}: {event}");
        }
    };
    expect("all are up", &[(Some(1), 10), (Some(2), 10), (Some(3), 10)]).await;
    backends[1].switch_off().await;
    // At once, before any check: clients are sent elsewhere.
    for proxy in &proxies {
        for _ in 0..6 {
            assert!(matches!(proxy.reach("127.0.0.1").await, Some(1 | 3)));
        }
    }
    wait_for_both(&proxies, &backends, 2, false).await;
    expect("one is lost", &[(Some(1), 10), (Some(3), 10)]).await;
    backends[1].switch_on().await;
    wait_for_both(&proxies, &backends, 2, true).await;
    expect("it is back", &[(Some(1), 10), (Some(2), 10), (Some(3), 10)]).await;
    for index in 0..3 {
        backends[index].switch_off().await;
        wait_for_both(&proxies, &backends, index + 1, false).await;
    }
    expect("only the backup is left", &[(Some(4), 5)]).await;
    backends[3].switch_off().await;
    wait_for_both(&proxies, &backends, 4, false).await;
    expect("all are lost", &[(None, 3)]).await;
    backends[2].switch_on().await;
    wait_for_both(&proxies, &backends, 3, true).await;
    expect("one is back", &[(Some(3), 5)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fewest_connections_as_haproxy_counts_them() {
    let authority = TestAuthority::new();
    let both = start_both(&authority, "least-connections", "leastconn").await;
    let Some((proxies, backends)) = both else { return };
    for proxy in &proxies {
        for number in 1..=3 {
            proxy.wait_until_empty(&backends, number).await;
        }
        let mut open = Vec::new();
        for _ in 0..12 {
            open.push(proxy.open("127.0.0.1").await.unwrap());
        }
        let count = |number| open.iter().filter(|(reached, _)| *reached == number).count();
        assert_eq!([count(1), count(2), count(3), count(4)], [4, 4, 4, 0]);
        let (ended, mut open): (Vec<_>, Vec<_>) = open.into_iter().partition(|(reached, _)| *reached == 2);
        for (_, stream) in ended {
            end(stream).await;
        }
        proxy.wait_until_empty(&backends, 2).await;
        for _ in 0..4 {
            let next = proxy.open("127.0.0.1").await.unwrap();
            assert_eq!(next.0, 2);
            open.push(next);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_a_lost_server_move_and_come_back_as_with_haproxy() {
    let authority = TestAuthority::new();
    let both = start_both(&authority, "source-hash", "source").await;
    let Some((proxies, mut backends)) = both else { return };
    let froms: Vec<String> = (1..=40).map(|last| format!("127.0.0.{last}")).collect();
    let mut before = Vec::new();
    for proxy in &proxies {
        let mut reached = BTreeMap::new();
        for from in &froms {
            reached.insert(from, proxy.reach(from).await.unwrap());
            assert_eq!(proxy.reach(from).await, reached.get(from).copied());
        }
        assert!((1..=3).all(|number| reached.values().any(|one| *one == number)), "{reached:?}");
        before.push(reached);
    }
    backends[1].switch_off().await;
    wait_for_both(&proxies, &backends, 2, false).await;
    for (proxy, before) in proxies.iter().zip(&before) {
        for from in &froms {
            let now = proxy.reach(from).await.unwrap();
            assert!(if before[from] == 2 { now != 2 } else { now == before[from] }, "{from}");
        }
    }
    backends[1].switch_on().await;
    wait_for_both(&proxies, &backends, 2, true).await;
    for (proxy, before) in proxies.iter().zip(&before) {
        for from in &froms {
            assert_eq!(proxy.reach(from).await, before.get(from).copied());
        }
    }
}
