use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hickory_resolver::proto::op::Message;
use hickory_resolver::proto::rr::rdata::{CNAME, NS, SOA, TXT};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

use super::*;

/// A name server that listens at one port by UDP and TCP.
struct Server {
    address: SocketAddr,
    udp: Arc<AtomicUsize>,
    tcp: Arc<AtomicUsize>,
}

impl Server {
    async fn start() -> Self {
        let (udp, tcp) = sockets().await;
        let server = Self { address: tcp.local_addr().unwrap(), udp: Arc::default(), tcp: Arc::default() };
        tokio::spawn(serve_udp(udp, server.udp.clone()));
        tokio::spawn(serve_tcp(tcp, server.tcp.clone()));
        server
    }

    fn resolver(&self) -> TxtResolver {
        // Long enough for a loaded machine. Only the test of a silent server waits for it.
        let timeout = Some(Duration::from_secs(60));
        TxtResolver::with_servers(
            &[self.address],
            ResolverSettings { timeout, ..ResolverSettings::default() },
        )
        .unwrap()
    }

    async fn lookup(name: &str) -> TxtAnswer {
        Self::start().await.resolver().lookup(name).await
    }
}

/// Binds both sockets to one port.
async fn sockets() -> (UdpSocket, TcpListener) {
    loop {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
}

async fn serve_udp(socket: UdpSocket, count: Arc<AtomicUsize>) {
    let mut buffer = [0; 1500];
    loop {
        let (len, peer) = socket.recv_from(&mut buffer).await.unwrap();
        count.fetch_add(1, Ordering::Relaxed);
        if let Some(answer) = answer(&buffer[..len], false) {
            socket.send_to(&answer, peer).await.unwrap();
        }
    }
}

async fn serve_tcp(listener: TcpListener, count: Arc<AtomicUsize>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(serve_stream(stream, count.clone()));
    }
}

async fn serve_stream(mut stream: TcpStream, count: Arc<AtomicUsize>) -> std::io::Result<()> {
    loop {
        let mut question = vec![0; stream.read_u16().await?.into()];
        stream.read_exact(&mut question).await?;
        count.fetch_add(1, Ordering::Relaxed);
        if let Some(answer) = answer(&question, true) {
            stream.write_u16(answer.len().try_into().unwrap()).await?;
            stream.write_all(&answer).await?;
        }
    }
}

/// Answers according to the first label of the name.
fn answer(question: &[u8], is_tcp: bool) -> Option<Vec<u8>> {
    let question = Message::from_vec(question).unwrap();
    assert!(question.metadata.authentic_data, "AD is asked for");
    let query = question.queries[0].clone();
    let name = query.name().clone();
    let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
    answer.add_query(query);
    match name.to_ascii().split('.').next().unwrap() {
        "two" => {
            answer.add_answer(txt(&name, 300, &[b"v=DKIM1; ", b"p=AA\0\xff", b""]));
            answer.add_answer(txt(&name, 200, &[b"second"]));
            // A record of another name, which was not asked for.
            answer.add_answer(txt(&named("other.example."), 1, &[b"stray"]));
            answer.metadata.authentic_data = name.to_string().ends_with(".signed.example.");
        }
        "long" if !is_tcp => answer.metadata.truncation = true,
        "long" => {
            answer.add_answer(txt(&name, u32::MAX >> 1, &[&[b'x'; 255][..]; 20]));
        }
        "alias" => {
            answer.add_answer(cname(&name, 50, "middle.example."));
            answer.add_answer(cname(&named("middle.example."), 40, "two.example."));
            answer.add_answer(txt(&named("two.example."), 300, &[b"end"]));
        }
        "far" => drop(answer.add_answer(cname(&name, 70, "two.example."))),
        "far-signed" => drop(answer.add_answer(cname(&name, 70, "two.signed.example."))),
        "alias-signed" => {
            answer.add_answer(cname(&name, 70, "two.signed.example."));
            answer.add_answer(txt(&named("two.signed.example."), 300, &[b"end"]));
            answer.metadata.authentic_data = true;
        }
        "loop" => drop(answer.add_answer(cname(&name, 70, "loop.example."))),
        "dangling" => drop(answer.add_answer(cname(&name, 70, "noname.example."))),
        "noname" => {
            answer.metadata.response_code = ResponseCode::NXDomain;
            answer.add_authority(soa(900, 300));
        }
        "noname-long" => {
            answer.metadata.response_code = ResponseCode::NXDomain;
            answer.add_authority(soa(1_000_000, 2_000_000));
        }
        "noname-bare" => answer.metadata.response_code = ResponseCode::NXDomain,
        "nodata" => drop(answer.add_authority(soa(100, 300))),
        "nodata-bare" => {}
        "referral" => {
            let ns = RData::NS(NS(named("ns.example.")));
            answer.add_authority(Record::from_rdata(named("example."), 60, ns));
        }
        "servfail" => answer.metadata.response_code = ResponseCode::ServFail,
        "refused" => answer.metadata.response_code = ResponseCode::Refused,
        "notimp" => answer.metadata.response_code = ResponseCode::NotImp,
        "xn--bcher-kva" => drop(answer.add_answer(txt(&name, 9, &[b"book"]))),
        "silent" => return None,
        other => panic!("{other}"),
    }
    Some(answer.to_vec().unwrap())
}

fn named(name: &str) -> Name {
    Name::from_ascii(name).unwrap()
}

fn txt(name: &Name, ttl: u32, strings: &[&[u8]]) -> Record {
    Record::from_rdata(name.clone(), ttl, RData::TXT(TXT::from_bytes(strings.to_vec())))
}

fn cname(name: &Name, ttl: u32, target: &str) -> Record {
    Record::from_rdata(name.clone(), ttl, RData::CNAME(CNAME(named(target))))
}

fn soa(ttl: u32, minimum: u32) -> Record {
    let soa = SOA::new(named("ns.example."), named("admin.example."), 1, 2, 3, 4, minimum);
    Record::from_rdata(named("example."), ttl, RData::SOA(soa))
}

fn found(records: &[&[u8]], ttl_s: u32) -> TxtAnswer {
    let records = records.iter().map(|record| record.to_vec()).collect();
    TxtAnswer::Records(TxtRecords { records, ttl_s, protection: KeyProtection::Unknown })
}

fn failed(reason: TempReason) -> TxtAnswer {
    TxtAnswer::TempFail { reason }
}

#[tokio::test]
async fn joins_strings_and_keeps_records_apart() {
    let server = Server::start().await;
    let resolver = server.resolver();
    let both: [&[u8]; 2] = [b"v=DKIM1; p=AA\0\xff", b"second"];
    assert_eq!(resolver.lookup("two.example.com").await, found(&both, 200));
    // The answer is cached, so the server is not asked again.
    let asked = server.udp.load(Ordering::Relaxed);
    assert!(matches!(resolver.lookup("TWO.example.com.").await, TxtAnswer::Records(_)));
    assert_eq!(server.udp.load(Ordering::Relaxed), asked);
    assert_eq!(server.tcp.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn fetches_answers_too_long_for_udp_by_tcp() {
    let server = Server::start().await;
    let expected = found(&[&[b'x'; 5100]], MAX_TTL_S);
    assert_eq!(server.resolver().lookup("long.example").await, expected);
    assert!(server.tcp.load(Ordering::Relaxed) > 0);
}

#[tokio::test]
async fn aliases_are_followed() {
    assert_eq!(Server::lookup("alias.example").await, found(&[b"end"], 40));
    let both: [&[u8]; 2] = [b"v=DKIM1; p=AA\0\xff", b"second"];
    assert_eq!(Server::lookup("far.example").await, found(&both, 70));
    assert_eq!(Server::lookup("dangling.example").await, TxtAnswer::NoName { ttl_s: 300 });
    assert_eq!(Server::lookup("loop.example").await, TxtAnswer::NoData { ttl_s: 0 });
}

#[tokio::test]
async fn caches_negative_answers() {
    for (name, answer) in [
        ("noname.example", TxtAnswer::NoName { ttl_s: 300 }),
        ("noname-long.example", TxtAnswer::NoName { ttl_s: MAX_NEGATIVE_TTL_S }),
        ("noname-bare.example", TxtAnswer::NoName { ttl_s: 0 }),
        ("nodata.example", TxtAnswer::NoData { ttl_s: 100 }),
        ("nodata-bare.example", TxtAnswer::NoData { ttl_s: 0 }),
    ] {
        assert_eq!(Server::lookup(name).await, answer, "{name}");
    }
}

#[tokio::test]
async fn server_failures_are_temporary() {
    for (name, reason) in [
        ("servfail.example", TempReason::ServFail),
        ("refused.example", TempReason::Refused),
        ("referral.example", TempReason::Answer("a referral".to_owned())),
    ] {
        assert_eq!(Server::lookup(name).await, failed(reason), "{name}");
    }
    let answer = Server::lookup("notimp.example").await;
    assert!(matches!(answer, TxtAnswer::TempFail { reason: TempReason::Answer(_) }), "{answer:?}");
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let server = Server::start().await;
    let settings = ResolverSettings {
        timeout: Some(Duration::from_millis(100)),
        attempts: Some(2),
        ..ResolverSettings::default()
    };
    let resolver = TxtResolver::with_servers(&[server.address], settings).unwrap();
    assert_eq!(resolver.lookup("silent.example").await, failed(TempReason::Timeout));
}

#[tokio::test]
async fn an_absent_server_is_a_temporary_failure() {
    // The port was bound and is closed, so connections to it are refused.
    let address = sockets().await.1.local_addr().unwrap();
    let settings = ResolverSettings {
        timeout: Some(Duration::from_secs(2)),
        attempts: Some(1),
        ..ResolverSettings::default()
    };
    let resolver = TxtResolver::with_servers(&[address], settings).unwrap();
    assert!(matches!(
        resolver.lookup("two.example").await,
        TxtAnswer::TempFail { reason: TempReason::Network(_) | TempReason::Timeout }
    ));
}

#[tokio::test]
async fn names_are_made_ascii_or_refused() {
    assert_eq!(Server::lookup("Bücher.example").await, found(&[b"book"], 9));
    assert_eq!(Server::lookup("a..b").await, TxtAnswer::BadName(BadName::EmptyLabel));
}

#[test]
fn parses_addresses_of_name_servers() {
    for (text, address) in [
        ("127.0.0.1", "127.0.0.1:53"),
        ("127.0.0.1:5353", "127.0.0.1:5353"),
        ("::1", "[::1]:53"),
        ("[::1]:5353", "[::1]:5353"),
    ] {
        assert_eq!(server_address(text).unwrap().to_string(), address);
    }
    assert!(matches!(server_address("localhost"), Err(ResolverError::Address(_))));
    assert!(matches!(
        TxtResolver::with_servers(&[], ResolverSettings::default()),
        Err(ResolverError::NoServers)
    ));
}

async fn protection(resolver: &TxtResolver, name: &str) -> KeyProtection {
    let TxtAnswer::Records(found) = resolver.lookup(name).await else { panic!("{name}") };
    found.protection
}

#[tokio::test]
async fn a_validating_server_of_this_host_is_believed() {
    let server = Server::start().await;
    // Nobody has asked for DNSSEC.
    assert_eq!(protection(&server.resolver(), "two.signed.example").await, KeyProtection::Unknown);
    let settings =
        ResolverSettings { validators: Some(TrustedValidators::default()), ..ResolverSettings::default() };
    let resolver = TxtResolver::with_servers(&[server.address], settings.clone()).unwrap();
    for _ in 0..2 {
        // The second time it is a cached answer.
        assert_eq!(protection(&resolver, "two.signed.example").await, KeyProtection::Secure);
        assert_eq!(protection(&resolver, "two.example").await, KeyProtection::Unprotected);
        assert_eq!(protection(&resolver, "alias-signed.example").await, KeyProtection::Secure);
        assert_eq!(protection(&resolver, "alias.example").await, KeyProtection::Unprotected);
    }
    // The alias comes in an answer of its own, which is not validated.
    let resolver = TxtResolver::with_servers(&[server.address], settings).unwrap();
    assert_eq!(protection(&resolver, "far-signed.example").await, KeyProtection::Unprotected);
}

/// Returns an address of this machine beyond loopback. No packet is sent.
fn outer_address() -> Option<IpAddr> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_loopback() && !ip.is_unspecified()).then_some(ip)
}

#[tokio::test]
async fn a_server_elsewhere_is_believed_only_if_it_is_trusted() {
    let Some(ip) = outer_address() else {
        println!("SKIPPED: this machine has no address beyond loopback");
        return;
    };
    let (near, far) = (Server::start().await.address, UdpSocket::bind((ip, 0)).await.unwrap());
    let address = far.local_addr().unwrap();
    tokio::spawn(serve_udp(far, Arc::default()));
    let open = |servers: &[SocketAddr], trusted: Vec<IpAddr>| {
        let validators = Some(TrustedValidators(trusted));
        TxtResolver::with_servers(servers, ResolverSettings { validators, ..ResolverSettings::default() })
    };
    // It lies: the zone is not signed.
    let trusting = open(&[address], vec![ip]).unwrap();
    assert_eq!(protection(&trusting, "two.signed.example").await, KeyProtection::Secure);
    let error = open(&[address], vec![[192, 0, 2, 7].into()]).unwrap_err();
    assert!(matches!(&error, ResolverError::Untrusted(found) if *found == ip.to_string()), "{error}");
    // Beside a trusted server, that is not there, the bit of the other one does not count.
    let gone = sockets().await.1.local_addr().unwrap();
    assert_ne!(gone, near);
    let mixed = open(&[gone, address], Vec::new()).unwrap();
    assert_eq!(protection(&mixed, "two.signed.example").await, KeyProtection::Unprotected);
}

#[test]
fn loopback_has_many_spellings() {
    let trusted = TrustedValidators(vec!["192.0.2.7".parse().unwrap(), "::ffff:192.0.2.8".parse().unwrap()]);
    for ip in
        ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "192.0.2.7", "::ffff:192.0.2.7", "192.0.2.8"]
    {
        assert!(trusted.contains(ip.parse().unwrap()), "{ip}");
    }
    for ip in ["128.0.0.1", "::2", "::ffff:192.0.2.9", "192.0.2.9", "0.0.0.0", "::", "::127.0.0.1"] {
        assert!(!trusted.contains(ip.parse().unwrap()), "{ip}");
    }
}
