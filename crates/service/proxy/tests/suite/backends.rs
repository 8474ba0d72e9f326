//! Several endpoints of a backend: the choice among them, their health, and endpoints that fail.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rustls::ClientConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

use crate::proxied::{self, RunningProxy, TestAuthority, backend, check_echo, connect_over, echo_backend};
use crate::switched::{SwitchedBackend, SwitchedFile, end, reached};

/// Connects once, and returns the number of the backend.
async fn connect_once(proxy: &RunningProxy, client: &ClientConfig) -> Option<u8> {
    let mut stream = proxy.connect(client, "localhost").await.unwrap();
    let number = reached(&mut stream).await;
    end(stream).await;
    number
}

/// Connects one after the other, and counts the backends that were reached.
async fn distribution(
    proxy: &RunningProxy,
    client: &ClientConfig,
    count: usize,
) -> BTreeMap<Option<u8>, usize> {
    let mut counts = BTreeMap::new();
    for _ in 0..count {
        *counts.entry(connect_once(proxy, client).await).or_insert(0) += 1;
    }
    counts
}

fn metric(name: &str, backend: &str, endpoint: impl std::fmt::Display, more: &str) -> String {
    format!("oarlock_proxy_backend_{name}{{backend=\"{backend}\",endpoint=\"{endpoint}\"{more}}}")
}

/// Connects from an address of this machine.
async fn connect_from(proxy: &RunningProxy, client: &ClientConfig, from: &str) -> Option<u8> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from.parse().unwrap(), 0)).unwrap();
    let tcp = socket.connect(proxy.address).await.unwrap();
    let mut stream = connect_over(tcp, client, "localhost").await.unwrap();
    let number = reached(&mut stream).await;
    end(stream).await;
    number
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_take_turns_and_a_lost_endpoint_is_avoided_and_comes_back() {
    let authority = TestAuthority::new();
    let (one, mut two) = (SwitchedBackend::start(1).await, SwitchedBackend::start(2).await);
    let settings = format!("backend.addresses = [\"{}\", \"{}\"]\n", one.address, two.address);
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let client = authority.client();
    assert_eq!(distribution(&proxy, &client, 20).await, [(Some(1), 10), (Some(2), 10)].into());
    two.switch_off().await;
    assert_eq!(distribution(&proxy, &client, 20).await, [(Some(1), 20)].into());
    let label = one.address.to_string();
    assert_eq!(proxy.metric(&metric("up", &label, one.address, "")).await, 1);
    assert_eq!(proxy.metric(&metric("up", &label, two.address, "")).await, 0);
    assert!(proxy.metric(&metric("connects_total", &label, two.address, ",result=\"connect\"")).await >= 1);
    two.switch_on().await;
    // A connection finds out after its rest.
    while proxy.metric(&metric("up", &label, two.address, "")).await == 0 {
        assert!(connect_once(&proxy, &client).await.is_some());
    }
    assert_eq!(distribution(&proxy, &client, 20).await, [(Some(1), 10), (Some(2), 10)].into());
    proxy.wait_for("oarlock_proxy_connections_open", 0).await;
    assert_eq!(proxy.metric(&metric("connections_open", &label, one.address, "")).await, 0);
    assert_eq!(proxy.metric("oarlock_proxy_connections_refused_total{reason=\"backend\"}").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_endpoint_with_the_fewest_connections_is_chosen() {
    let authority = TestAuthority::new();
    let (one, two) = (SwitchedBackend::start(1).await, SwitchedBackend::start(2).await);
    let settings = format!(
        "backend.balance = \"least-connections\"\nbackend.addresses = [\"{}\", \"{}\"]\n",
        one.address, two.address
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let client = authority.client();
    let mut open = Vec::new();
    for _ in 0..10 {
        let mut stream = proxy.connect(&client, "localhost").await.unwrap();
        open.push((reached(&mut stream).await.unwrap(), stream));
    }
    assert_eq!(open.iter().filter(|(number, _)| *number == 1).count(), 5);
    // Those of one endpoint end: it gets the next ones.
    let (ended, open): (Vec<_>, Vec<_>) = open.into_iter().partition(|(number, _)| *number == 2);
    for (_, stream) in ended {
        end(stream).await;
    }
    let label = one.address.to_string();
    proxy.wait_for(&metric("connections_open", &label, two.address, ""), 0).await;
    let mut next = Vec::new();
    for _ in 0..4 {
        let mut stream = proxy.connect(&client, "localhost").await.unwrap();
        assert_eq!(reached(&mut stream).await, Some(2));
        next.push(stream);
    }
    drop((open, next));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_keeps_its_endpoint_and_moves_only_while_that_is_lost() {
    let authority = TestAuthority::new();
    let mut backends = Vec::new();
    for number in 1..=3 {
        backends.push(SwitchedBackend::start(number).await);
    }
    let addresses: Vec<_> = backends.iter().map(|backend| format!("\"{}\"", backend.address)).collect();
    let settings = format!(
        "listen.proxy_protocol_from = [\"127.0.0.254\"]\nbackend.balance = \"source-hash\"\n\
         backend.addresses = [{}]\n",
        addresses.join(", ")
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let client = authority.client();
    let froms: Vec<String> = (1..=30).map(|last| format!("127.0.0.{last}")).collect();
    let mut before = BTreeMap::new();
    for from in &froms {
        before.insert(from, connect_from(&proxy, &client, from).await.unwrap());
    }
    assert!((1..=3).all(|number| before.values().any(|reached| *reached == number)), "{before:?}");
    backends[1].switch_off().await;
    for from in &froms {
        let reached = connect_from(&proxy, &client, from).await.unwrap();
        assert!(reached == before[from] || before[from] == 2, "{from}: {reached}");
    }
    // A header of a trusted network decides, not the address of the load balancer.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.254:0".parse().unwrap()).unwrap();
    let mut tcp = socket.connect(proxy.address).await.unwrap();
    let (from, number) = before.iter().find(|(_, number)| **number != 2).unwrap();
    tcp.write_all(format!("PROXY TCP4 {from} 127.0.0.1 7 443\r\n").as_bytes()).await.unwrap();
    let mut stream = connect_over(tcp, &client, "localhost").await.unwrap();
    assert_eq!(reached(&mut stream).await, Some(*number));
    end(stream).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_serves_while_the_others_are_lost() {
    let authority = TestAuthority::new();
    let (mut one, two) = (SwitchedBackend::start(1).await, SwitchedBackend::start(2).await);
    let settings = format!(
        "backend.addresses = [\"{}\", {{ address = \"{}\", backup = true }}]\n",
        one.address, two.address
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let client = authority.client();
    assert_eq!(distribution(&proxy, &client, 6).await, [(Some(1), 6)].into());
    one.switch_off().await;
    assert_eq!(distribution(&proxy, &client, 6).await, [(Some(2), 6)].into());
    one.switch_on().await;
    while connect_once(&proxy, &client).await != Some(1) {}
    assert_eq!(distribution(&proxy, &client, 6).await, [(Some(1), 6)].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draining_endpoint_keeps_its_connections_and_a_reload_keeps_health_and_counts() {
    let authority = TestAuthority::new();
    let (one, mut two) = (SwitchedBackend::start(1).await, SwitchedBackend::start(2).await);
    let addresses = (one.address, two.address);
    let settings = |drain: bool| {
        format!(
            "[[backend]]\nname = \"pool\"\naddresses = [{{ address = \"{}\", drain = {drain} }}, \"{}\"]\n\
             [[route]]\nbackend = \"pool\"\n",
            addresses.0, addresses.1
        )
    };
    let proxy = RunningProxy::start_with(&authority, &settings(false)).await;
    let client = authority.client();
    let mut first = proxy.connect(&client, "localhost").await.unwrap();
    assert_eq!(reached(&mut first).await, Some(1));
    two.switch_off().await;
    assert_eq!(distribution(&proxy, &client, 4).await, [(Some(1), 4)].into());
    two.switch_on().await;
    proxy.service.reconfigure(proxied::config(&authority, &settings(true))).await.unwrap();
    assert_eq!(proxy.metric(&metric("up", "pool", two.address, "")).await, 0, "a reload forgets nothing");
    assert_eq!(distribution(&proxy, &client, 6).await, [(Some(2), 6)].into());
    check_echo(&mut first).await;
    assert_eq!(proxy.metric(&metric("connections_open", "pool", one.address, "")).await, 1);
    end(first).await;
    proxy.wait_for(&metric("connections_open", "pool", one.address, ""), 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_accepts_and_never_answers_costs_a_part_of_the_time() {
    let authority = TestAuthority::new();
    let inner = RunningProxy::start(&authority, echo_backend().await, "").await;
    let (silent, silent_address) = backend().await;
    let holding = tokio::spawn(hold_all(silent));
    // The backup comes second in each turn.
    let settings = format!(
        "limits.max_connect_seconds = 2\n[backend]\n\
         addresses = [\"{silent_address}\", {{ address = \"{}\", backup = true }}]\n\
         [backend.tls]\nauthorities = \"ca.pem\"\nserver_name = \"localhost\"\n",
        inner.address
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    proxy.echo(&authority.client(), "localhost").await;
    let label = silent_address.to_string();
    assert_eq!(
        proxy.metric(&metric("connects_total", &label, silent_address, ",result=\"timeout\"")).await,
        1
    );
    assert_eq!(proxy.metric(&metric("up", &label, silent_address, "")).await, 0);
    // It rests now, so the next client does not wait.
    proxy.echo(&authority.client(), "localhost").await;
    assert_eq!(
        proxy.metric(&metric("connects_total", &label, silent_address, ",result=\"timeout\"")).await,
        1
    );
    holding.abort();
}

async fn hold_all(listener: TcpListener) {
    let mut held = Vec::new();
    loop {
        held.push(listener.accept().await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_get_an_end_if_all_endpoints_refuse() {
    let authority = TestAuthority::new();
    let (mut one, mut two) = (SwitchedBackend::start(1).await, SwitchedBackend::start(2).await);
    let settings = format!("backend.addresses = [\"{}\", \"{}\"]\n", one.address, two.address);
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    one.switch_off().await;
    two.switch_off().await;
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    stream.write_all(b"a request that nobody reads").await.unwrap();
    let mut rest = Vec::new();
    // A close_notify: without it, rustls reports an error.
    assert_eq!(stream.read_to_end(&mut rest).await.unwrap(), 0);
    proxy.wait_for_refusal("backend", 1).await;
    let label = one.address.to_string();
    let unavailable = format!("oarlock_proxy_backend_unavailable_total{{backend=\"{label}\"}}");
    assert_eq!(proxy.metric(&unavailable).await, 1);
    // Each of them was tried three times.
    for address in [one.address, two.address] {
        let refused = metric("connects_total", &label, address, ",result=\"connect\"");
        assert_eq!(proxy.metric(&refused).await, 3);
    }
    // The next ones are served as soon as an endpoint is there, although both still rest.
    two.switch_on().await;
    assert_eq!(connect_once(&proxy, &authority.client()).await, Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn endpoints_that_refuse_in_turns_lose_no_connection() {
    let authority = TestAuthority::new();
    let files = authority.path("endpoints");
    std::fs::create_dir(&files).unwrap();
    let backends: Vec<_> = (1..=3).map(|number| SwitchedFile::start(&files, number)).collect();
    let paths: Vec<_> =
        backends.iter().map(|backend| format!("\"unix:{}\"", backend.path.display())).collect();
    let settings = format!("backend.addresses = [{}]\n", paths.join(", "));
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let (done, client) = (tokio::sync::watch::Sender::new(0_u32), authority.client());
    let clients = async {
        let connect = |_| async {
            for _ in 0..250 {
                assert!(connect_once(&proxy, &client).await.is_some(), "a connection was lost");
                done.send_modify(|done| *done += 1);
            }
        };
        futures_util::future::join_all((0..8).map(connect)).await;
    };
    let switches = async {
        let mut seen = done.subscribe();
        let mut down = 0;
        for at in (10..2_000).step_by(10) {
            seen.wait_for(|done| *done >= at).await.unwrap();
            // One is down, and now and then two.
            backends[down].switch_off();
            if at % 50 == 0 {
                let also = (down + 1) % 3;
                backends[also].switch_off();
                seen.wait_for(|done| *done >= at + 5).await.unwrap();
                backends[also].switch_on();
            }
            seen.wait_for(|done| *done >= at + 9).await.unwrap();
            backends[down].switch_on();
            down = (down + 1) % 3;
        }
    };
    tokio::join!(clients, switches);
    assert_eq!(proxy.metric("oarlock_proxy_connections_refused_total{reason=\"backend\"}").await, 0);
    let page = proxy.page().await;
    let refused: u64 = page
        .lines()
        .filter(|line| {
            line.starts_with("oarlock_proxy_backend_connects_total") && line.contains("\"connect\"")
        })
        .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert!(refused > 0, "no endpoint has refused anything:\n{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_of_tls_finds_a_certificate_that_is_not_trusted() {
    let (authority, stranger) = (TestAuthority::new(), TestAuthority::new());
    let good = RunningProxy::start(&authority, echo_backend().await, "").await;
    let bad = RunningProxy::start(&stranger, echo_backend().await, "").await;
    let settings = format!(
        "[backend]\naddresses = [\"{}\", \"{}\"]\n[backend.check]\nkind = \"tls\"\ninterval_seconds = 5\n\
         timeout_seconds = 5\n[backend.tls]\nauthorities = \"ca.pem\"\nserver_name = \"localhost\"\n",
        bad.address, good.address
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let label = bad.address.to_string();
    proxy.wait_for(&metric("up", &label, bad.address, ""), 0).await;
    proxy.wait_for(&metric("up", &label, good.address, ""), 1).await;
    for _ in 0..6 {
        proxy.echo(&authority.client(), "localhost").await;
    }
    assert_eq!(proxy.metric(&metric("connects_total", &label, bad.address, ",result=\"tls\"")).await, 0);
    assert!(proxy.metric(&metric("checks_total", &label, bad.address, ",result=\"failed\"")).await >= 1);
    assert_eq!(proxy.metric(&metric("checks_total", &label, good.address, ",result=\"failed\"")).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_of_a_line_begins_with_a_header_if_the_backend_gets_one() {
    let authority = TestAuthority::new();
    let (listener, address) = backend().await;
    let settings = format!(
        "[backend]\naddress = \"{address}\"\nproxy_protocol = \"v1\"\n[backend.check]\nkind = \"line\"\n\
         send = \"PING\\r\\n\"\nexpect = \"+PONG\"\n"
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let (mut stream, _) = listener.accept().await.unwrap();
    let expected = b"PROXY UNKNOWN\r\nPING\r\n";
    let mut got = vec![0; expected.len()];
    stream.read_exact(&mut got).await.unwrap();
    assert_eq!(got, expected);
    stream.write_all(b"+PONG\r\n").await.unwrap();
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0, "the check ends its connection");
    proxy.wait_for(&metric("checks_total", &address.to_string(), address, ",result=\"passed\""), 1).await;
}
