//! The actions of attackers. Each attacker has threads of its own and acts until the attack is over.

use std::io::{self, Read};
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use clap::ValueEnum;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, setsockopt, socket, sockopt,
};
use oarlock::Key;
use oarlock::keys::{export, generate};
use oarlock_wire::Message;
use oarlock_wire::proto::{self, Request, open_key, request, scheme};
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};

use super::frames::{FrameConnection, jobs, open, resident, scheme};
use super::http2::{self, Http2Connection};
use super::server::{AttackedServer, Front};
use super::{SiegeError, pause};

/// An attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Attack {
    /// 5,000 connections that say nothing
    SilentConnections,
    /// The same against a server that may have 64 files open
    FewDescriptors,
    /// 200 calls that announce 16 MB and stop halfway
    StalledCalls,
    /// 60 connections with 64 batches each of 131,072 refused jobs, answers not read
    UnreadAnswers,
    /// Calls with as many refused jobs over HTTP/2, answers not read
    UnreadStreams,
    /// 65,536 records with outputs of 16 MB, answers not read
    UnreadRecords,
    /// Thousands of schemes under one handle
    ManySchemes,
    /// Refused keys with names of 15 MB
    LongNames,
    /// Refused keys by the ten thousand, each with an entry for the audit log
    RefusedKeys,
    /// RSA signatures by the ten thousand under a key that was brought
    DearJobs,
    /// RSA signatures on 64 connections
    ManyConnections,
    /// RSA keys of every length
    ManyLengths,
    /// Batches of records that take long
    Records,
    /// Lists of 350,000 empty values as JSON
    LongLists,
    /// Handshakes with 144 authorities that issue each other, and a certificate of nobody known
    LongChains,
    /// 5,000 connections from another address to a proxy in front of the server that say nothing
    ProxySilence,
    /// The handshakes of `long-chains` with that proxy
    ProxyLongChains,
    /// 5,000 connections to a mail filter that say nothing
    FilterSilence,
}

impl Attack {
    pub(super) const ALL: [Self; 18] = [
        Self::SilentConnections,
        Self::FewDescriptors,
        Self::StalledCalls,
        Self::UnreadAnswers,
        Self::UnreadStreams,
        Self::UnreadRecords,
        Self::ManySchemes,
        Self::LongNames,
        Self::RefusedKeys,
        Self::DearJobs,
        Self::ManyConnections,
        Self::ManyLengths,
        Self::Records,
        Self::LongLists,
        Self::LongChains,
        Self::ProxySilence,
        Self::ProxyLongChains,
        Self::FilterSilence,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SilentConnections => "silent-connections",
            Self::FewDescriptors => "few-descriptors",
            Self::StalledCalls => "stalled-calls",
            Self::UnreadAnswers => "unread-answers",
            Self::UnreadStreams => "unread-streams",
            Self::UnreadRecords => "unread-records",
            Self::ManySchemes => "many-schemes",
            Self::LongNames => "long-names",
            Self::RefusedKeys => "refused-keys",
            Self::DearJobs => "dear-jobs",
            Self::ManyConnections => "many-connections",
            Self::ManyLengths => "many-lengths",
            Self::Records => "records",
            Self::LongLists => "long-lists",
            Self::LongChains => "long-chains",
            Self::ProxySilence => "proxy-silence",
            Self::ProxyLongChains => "proxy-long-chains",
            Self::FilterSilence => "filter-silence",
        }
    }

    /// Returns the listener that is attacked, and to which the honest client connects.
    pub(super) fn front(self) -> Front {
        match self {
            Self::ProxySilence | Self::ProxyLongChains => Front::Proxy,
            Self::FilterSilence => Front::Filter,
            _ => Front::Server,
        }
    }

    /// Returns the number of files that the server may have open. None if the system's limit applies.
    pub(super) fn open_files(self) -> Option<u32> {
        (self == Self::FewDescriptors).then_some(64)
    }

    /// Starts the attackers.
    pub(super) fn start(self, besieged: &AttackedServer) -> Result<Attackers, SiegeError> {
        let target = SiegeTarget {
            front: besieged.front(),
            server_ca: besieged.server_ca(),
            plaintext: besieged.address("plaintext"),
            socket: besieged.socket(),
            is_over: Arc::default(),
        };
        let crowd = |threads: usize, attack: fn(&SiegeTarget) -> io::Result<()>| -> Vec<JoinHandle<()>> {
            (0..threads).map(|_| target.again_and_again(attack)).collect()
        };
        let threads = match self {
            Self::SilentConnections | Self::FewDescriptors | Self::FilterSilence => {
                crowd(1, |target| silent_connections(target, || TcpStream::connect(&target.front)))
            }
            Self::ProxySilence => {
                crowd(1, |target| silent_connections(target, || from_elsewhere(&target.front)))
            }
            Self::LongLists => crowd(4, long_lists),
            Self::LongChains | Self::ProxyLongChains => crowd(2, long_chains),
            Self::StalledCalls => crowd(4, stalled_calls),
            Self::UnreadAnswers => crowd(2, unread_answers),
            Self::UnreadStreams => crowd(4, unread_streams),
            Self::UnreadRecords => crowd(4, unread_records),
            Self::ManySchemes => crowd(2, many_schemes),
            Self::LongNames => crowd(4, long_names),
            Self::RefusedKeys => crowd(2, refused_keys),
            Self::DearJobs => crowd(2, dear_jobs),
            Self::ManyConnections => crowd(64, rsa_signatures),
            Self::ManyLengths => crowd(2, many_lengths),
            Self::Records => crowd(4, records),
        };
        Ok(Attackers { is_over: target.is_over, threads })
    }
}

/// The addresses of the server.
#[derive(Clone)]
struct SiegeTarget {
    /// The listener that is attacked, if the attack needs TCP.
    front: String,
    server_ca: PathBuf,
    plaintext: String,
    socket: PathBuf,
    is_over: Arc<AtomicBool>,
}

impl SiegeTarget {
    /// Attacks on a thread of its own until the attack is over. An attacker whom the server turns away begins again.
    fn again_and_again(&self, attack: fn(&Self) -> io::Result<()>) -> JoinHandle<()> {
        let attacker = self.clone();
        std::thread::spawn(move || {
            while attacker.goes_on() {
                // A closed connection is the server's defence, and no failure of the measurement.
                let _ = attack(&attacker);
                // Attackers share the cores with the server, and an attack that only connects would take them all.
                pause(Duration::from_millis(1));
            }
        })
    }

    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Keeps connections until the attack is over.
    fn hold<T>(&self, connections: T) {
        while self.goes_on() {
            pause(Duration::from_millis(10));
        }
        drop(connections);
    }
}

/// Attackers at work, until this is dropped.
pub(super) struct Attackers {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for Attackers {
    fn drop(&mut self) {
        // Relaxed is enough: `join` orders what the threads did before everything that follows.
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // An error is a panic of the attacker, which has ended its attack.
            let _ = thread.join();
        }
    }
}

/// Connects from an address that the honest client does not have.
fn from_elsewhere(target: &str) -> io::Result<TcpStream> {
    let target: SocketAddrV4 = target.parse().map_err(io::Error::other)?;
    let stream = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    // A port that is busy with another target does not matter. ip(7).
    setsockopt(&stream, sockopt::IpBindAddressNoPort, &true)?;
    bind(stream.as_raw_fd(), &SockaddrIn::new(127, 0, 0, 2, 0))?;
    connect(stream.as_raw_fd(), &SockaddrIn::from(target))?;
    Ok(stream.into())
}

fn silent_connections(target: &SiegeTarget, connect: impl Fn() -> io::Result<TcpStream>) -> io::Result<()> {
    let mut connections = std::collections::VecDeque::new();
    while target.goes_on() {
        connections.push_back(connect()?);
        // The oldest are replaced, because this process too has a limit of open files, but a few thousand in a second:
        // an attacker elsewhere would not take the server's cores.
        if connections.len() > 5000 {
            connections.drain(..8);
            pause(Duration::from_millis(1));
        }
    }
    Ok(())
}

fn long_chains(target: &SiegeTarget) -> io::Result<()> {
    let config = stranger(&target.server_ca)?;
    while target.goes_on() {
        let mut tcp = TcpStream::connect(&target.front)?;
        tcp.set_read_timeout(Some(Duration::from_secs(20)))?;
        let name = ServerName::from(std::net::Ipv4Addr::LOCALHOST);
        let mut tls = ClientConnection::new(Arc::clone(&config), name).map_err(io::Error::other)?;
        // The answer is an alert.
        let _ = Stream::new(&mut tls, &mut tcp).read(&mut [0; 1]);
    }
    Ok(())
}

/// Returns a client whose chain costs a verifier most: 144 certificates of twelve names, each issued by each.
fn stranger(server_ca: &Path) -> io::Result<Arc<ClientConfig>> {
    const NAMES: usize = 12;
    let params = |name: usize| {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, format!("strange {name}"));
        params
    };
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let issue = |params: CertificateParams, by: CertificateParams| {
        params
            .signed_by(&key, &Issuer::new(by, &key))
            .map(|certificate| certificate.der().clone())
            .map_err(io::Error::other)
    };
    let mut leaf = CertificateParams::new(vec!["strange.test".to_owned()]).map_err(io::Error::other)?;
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let mut chain = vec![issue(leaf, params(0))?];
    for subject in 0..NAMES {
        for by in 0..NAMES {
            chain.push(issue(params(subject), params(by))?);
        }
    }
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(server_ca).map_err(io::Error::other)?;
    roots.add(authority).map_err(io::Error::other)?;
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

fn long_lists(target: &SiegeTarget) -> io::Result<()> {
    let values = vec!["\"\""; 350_000].join(",");
    let text = Bytes::from(format!("{{\"key\":\"nothing\",\"plaintexts\":[{values}]}}"));
    http2::call_again_and_again(&target.plaintext, "Encrypt", &text, || target.goes_on())
}

fn stalled_calls(target: &SiegeTarget) -> io::Result<()> {
    let mut http2 = Http2Connection::open(&target.plaintext)?;
    for _ in 0..50 {
        // 65,535 bytes are the initial window of a connection: RFC 9113 6.9.2. More would only block the attacker.
        if http2.begin("Stream", 16_000_000, &[0; 65_000]).is_err() {
            break;
        }
    }
    target.hold(http2);
    Ok(())
}

/// Returns jobs under a handle that is not open. Each of them is refused.
fn refused_jobs() -> request::Body {
    request::Body::Jobs(jobs(1 << 17, scheme(scheme::Kind::Ed25519Sign)))
}

fn unread_answers(target: &SiegeTarget) -> io::Result<()> {
    let mut connections = Vec::new();
    for _ in 0..30 {
        let mut frames = FrameConnection::open(&target.socket)?;
        let sent = frames.send((0..64).map(|_| refused_jobs()));
        connections.push(frames);
        if sent.is_err() || !target.goes_on() {
            break;
        }
    }
    target.hold(connections);
    Ok(())
}

fn unread_streams(target: &SiegeTarget) -> io::Result<()> {
    let mut http2 = Http2Connection::open(&target.plaintext)?;
    let message = Request { id: 1, body: Some(refused_jobs()) }.encode_to_vec();
    for _ in 0..64 {
        if http2.begin("Stream", message.len() as u32, &message).is_err() {
            break;
        }
    }
    target.hold(http2);
    Ok(())
}

/// Returns `count` digests of the same bytes, with an output of any length.
fn digests(count: u32, output_len: u32, data: Bytes) -> request::Body {
    let task = proto::Task {
        kind: proto::task::Kind::Digest.into(),
        algorithm: "sha256".into(),
        ..Default::default()
    };
    let input = proto::Spans { len: data.len() as u32, ..Default::default() };
    let output = proto::Spans { len: 32, stride: 32, ..Default::default() };
    request::Body::Records(proto::Records {
        count,
        tasks: vec![task],
        data,
        input: Some(input),
        output: Some(output),
        output_len,
        ..Default::default()
    })
}

fn unread_records(target: &SiegeTarget) -> io::Result<()> {
    let mut connections = Vec::new();
    for _ in 0..15 {
        let mut frames = FrameConnection::open(&target.socket)?;
        let sent = frames.send((0..64).map(|_| digests(1 << 16, 16 << 20, Bytes::new())));
        connections.push(frames);
        if sent.is_err() || !target.goes_on() {
            break;
        }
    }
    target.hold(connections);
    Ok(())
}

fn many_schemes(target: &SiegeTarget) -> io::Result<()> {
    let mut frames = FrameConnection::open(&target.socket)?;
    let salted = |salt_len: u32| proto::Scheme {
        // A salt has 16 bits in the protocol, so the schemes repeat after 65,536.
        salt_len: Some(salt_len & 0xffff),
        ..scheme(scheme::Kind::RsaPssSign)
    };
    let mut salt_len = 0;
    while target.goes_on() {
        let schemes = (salt_len..salt_len + 256).map(salted).collect();
        let scheme_of = (0..=255).collect::<Vec<u8>>().into();
        frames.ask(request::Body::Jobs(proto::Jobs {
            count: 256,
            schemes,
            scheme_of,
            ..Default::default()
        }))?;
        salt_len += 256;
        if salt_len % (64 * 256) == 0 {
            frames.ask(request::Body::Jobs(jobs(1 << 15, salted(16_383))))?;
        }
    }
    Ok(())
}

fn long_names(target: &SiegeTarget) -> io::Result<()> {
    let mut frames = FrameConnection::open(&target.socket)?;
    // A control character becomes six bytes in JSON: an audit log that quotes names grows sixfold.
    let name = "\u{1}".repeat(15 << 20);
    while target.goes_on() {
        frames.ask(open(0, open_key::Source::Resident(name.clone())))?;
    }
    Ok(())
}

fn refused_keys(target: &SiegeTarget) -> io::Result<()> {
    let mut frames = FrameConnection::open(&target.socket)?;
    let mut number = 0_u64;
    while target.goes_on() {
        let names = number..number + 100;
        frames.send(names.map(|number| open(0, resident(&format!("nothing-{number}")))))?;
        // Read, so that the limit of unread answers does not end the attack.
        for _ in 0..100 {
            frames.answer()?;
        }
        number += 100;
    }
    Ok(())
}

fn private(key: &Key) -> io::Result<open_key::Source> {
    let der = export::private_pkcs8_der(key).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(open_key::Source::Asymmetric(der.to_vec().into()))
}

fn dear_jobs(target: &SiegeTarget) -> io::Result<()> {
    let key = generate::rsa(2048).map_err(|error| io::Error::other(error.to_string()))?;
    let mut frames = FrameConnection::open(&target.socket)?;
    frames.ask(open(0, private(&key)?))?;
    while target.goes_on() {
        frames.send([request::Body::Jobs(jobs(20_000, scheme(scheme::Kind::RsaPkcs1Sign)))])?;
        pause(Duration::from_millis(20));
    }
    Ok(())
}

fn rsa_signatures(target: &SiegeTarget) -> io::Result<()> {
    let mut frames = FrameConnection::open(&target.socket)?;
    frames.ask(open(0, resident("rsa2048")))?;
    while target.goes_on() {
        frames.send([request::Body::Jobs(jobs(256, scheme(scheme::Kind::RsaPkcs1Sign)))])?;
        pause(Duration::from_millis(5));
    }
    Ok(())
}

fn many_lengths(target: &SiegeTarget) -> io::Result<()> {
    let mut frames = FrameConnection::open(&target.socket)?;
    let mut bits = 1024;
    while target.goes_on() {
        // Each length is a shape of its own at the server.
        let key = odd_public_key(bits);
        frames.ask(open(0, open_key::Source::Asymmetric(key)))?;
        let verify = proto::Jobs {
            seconds: vec![1; bits.div_ceil(8)].into(),
            second_lens: (bits.div_ceil(8) as u32).to_le_bytes().to_vec().into(),
            ..jobs(1, scheme(scheme::Kind::RsaPkcs1Verify))
        };
        frames.ask(request::Body::Jobs(verify))?;
        bits = if bits == 4096 { 1024 } else { bits + 1 };
    }
    Ok(())
}

/// Encodes an RSA public key of any length with the exponent 65537 in PKCS#1. Nobody has its private half.
fn odd_public_key(bits: usize) -> Bytes {
    let mut modulus = vec![0xff; bits.div_ceil(8)];
    modulus[0] = if bits.is_multiple_of(8) { 0xff } else { (1 << (bits % 8)) - 1 };
    // An integer of DER is signed: X.690 8.3.3.
    if modulus[0] & 0x80 != 0 {
        modulus.insert(0, 0);
    }
    let mut body = vec![2];
    length(&mut body, modulus.len());
    body.extend_from_slice(&modulus);
    body.extend_from_slice(&[2, 3, 1, 0, 1]);
    let mut key = vec![0x30];
    length(&mut key, body.len());
    key.extend_from_slice(&body);
    key.into()
}

/// Appends a length of two bytes in DER. X.690 8.1.3.5.
fn length(der: &mut Vec<u8>, len: usize) {
    der.push(0x82);
    der.extend_from_slice(&(len as u16).to_be_bytes());
}

fn records(target: &SiegeTarget) -> io::Result<()> {
    let mut frames = FrameConnection::open(&target.socket)?;
    while target.goes_on() {
        // Each record reads all of the data: 64 MiB to hash for one that is sent.
        frames.send([digests(64, 64 * 32, vec![7; 1 << 20].into())])?;
    }
    Ok(())
}
