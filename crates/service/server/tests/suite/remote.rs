//! Tests of servers as a holder of keys: balanced, replaced, compared.

mod dns_names;
mod post_quantum;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use futures_util::future::BoxFuture;
use oarlock::keys::threshold::{Share, ThresholdKey, split};
use oarlock::keys::{generate, import};
use oarlock::{Accelerator, DigestAlg, EcdsaEncoding, Input, Job, JobError, Key, NonceRule, Scheme};
use oarlock_wire::proto::{self, Request, Response, request, response};
use oarlock_wire::{AnswerCheck, Endpoint, Message, NameResolver, RemoteConfig, RemoteHolder, frame, jobs};

use crate::test_server::{self, TestServer, engines};

const PKCS1: Scheme = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
const EDWARDS: Scheme = Scheme::Ed25519Sign;

/// An address whose port the system chooses.
const ANY_PORT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

fn checker() -> Accelerator {
    engines().engines(["scalar"]).build().unwrap()
}

/// Returns a client's accelerator whose keys live at servers.
fn client(config: RemoteConfig) -> (Accelerator, RemoteHolder) {
    let remote = RemoteHolder::new(config, checker()).unwrap();
    let accelerator = engines().engines(["scalar"]).holder(Arc::new(remote.clone())).build().unwrap();
    (accelerator, remote)
}

fn config(servers: Vec<Endpoint>) -> RemoteConfig {
    RemoteConfig { patience: Duration::from_secs(20), ..RemoteConfig::new("servers", servers) }
}

/// The behaviour of a bad server.
#[derive(Clone, Copy, PartialEq)]
enum BadBehaviour {
    /// The server answers with wrong bytes.
    Wrong,
    /// The server never answers.
    Stalls,
    /// The server closes the connection.
    Leaves,
}

/// Starts a server that opens every key, and then behaves badly.
fn bad_server(directory: &Path, name: &str, manner: BadBehaviour) -> Endpoint {
    let path = directory.join(name);
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || behave(stream.unwrap(), manner));
        }
    });
    Endpoint::unix(path)
}

fn behave(mut stream: UnixStream, manner: BadBehaviour) {
    use std::io::{Read, Write};
    let mut preamble = [0; 8];
    if stream.read_exact(&mut preamble).is_err() {
        return;
    }
    loop {
        let mut head = [0; 4];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        let mut message = vec![0; u32::from_le_bytes(head) as usize];
        stream.read_exact(&mut message).unwrap();
        let request = Request::decode(&*message).unwrap();
        let body = match request.body.unwrap() {
            request::Body::OpenKey(_) => response::Body::Key(proto::KeyInfo::default()),
            request::Body::OpenRing(_) => response::Body::Fault(proto::Fault::default()),
            request::Body::Jobs(jobs) if manner == BadBehaviour::Wrong => {
                let lies = (0..jobs.count).map(|_| Ok::<&[u8], JobError>(&[7; 64]));
                response::Body::Results(jobs::write_answers(
                    lies.collect::<Vec<_>>().into_iter(),
                    jobs::SeparateAnswers::default(),
                ))
            }
            _ if manner == BadBehaviour::Stalls => continue,
            _ => return,
        };
        let mut bytes = BytesMut::new();
        frame::write(&Response { id: request.id, body: Some(body) }, &mut bytes).unwrap();
        stream.write_all(&bytes).unwrap();
    }
}

/// Starts two servers with the same keys.
async fn twins() -> (TestServer, TestServer) {
    let first = TestServer::new().await;
    let keys: PathBuf = first.directory.path().join("keys");
    let second = TestServer::with(|config, _| config.keys.directory = Some(keys)).await;
    (first, second)
}

fn sign(
    accelerator: &Accelerator,
    scheme: Scheme,
    key: &Key,
    count: usize,
) -> Vec<Result<Vec<u8>, JobError>> {
    let messages: Vec<[u8; 8]> = (0..count as u64).map(u64::to_le_bytes).collect();
    let jobs: Vec<Job<'_>> =
        messages.iter().map(|message| Job::with_scheme(scheme, key, Input::Message(message), &[])).collect();
    let answers = accelerator.run_all(&jobs);
    answers.iter().map(|answer| answer.map(<[u8]>::to_vec)).collect()
}

fn all_verify(key: &Key, verify: Scheme, signatures: &[Result<Vec<u8>, JobError>]) {
    let checker = checker();
    for (at, signature) in (0_u64..).zip(signatures) {
        let message = at.to_le_bytes();
        let job = Job::with_scheme(verify, key, Input::Message(&message), signature.as_ref().unwrap());
        assert!(checker.run_all(&[job]).get(0).is_ok(), "signature {at}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_keys_of_servers_like_local_keys() {
    let server = TestServer::new().await;
    for endpoint in [server.tls(), server.unix()] {
        let (accelerator, remote) = client(config(vec![endpoint]));
        let (rsa, edwards) = (remote.key("rsa2048").unwrap(), remote.key("ed25519").unwrap());
        let ecdsa = remote.key("p256").unwrap();
        all_verify(
            &rsa,
            Scheme::RsaPkcs1Verify { digest: DigestAlg::Sha256 },
            &sign(&accelerator, PKCS1, &rsa, 9),
        );
        all_verify(&edwards, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &edwards, 70));
        let (curve, digest, encoding) = (oarlock::Curve::P256, DigestAlg::Sha256, EcdsaEncoding::Fixed);
        let scheme = Scheme::EcdsaSign { curve, digest, encoding, nonce: NonceRule::Hedged };
        all_verify(
            &ecdsa,
            Scheme::EcdsaVerify { curve, digest, encoding },
            &sign(&accelerator, scheme, &ecdsa, 9),
        );
        let exchange = remote.key("x25519").unwrap();
        let peer = generate::x25519().unwrap();
        let agreed = accelerator.run_all(&[Job::agree(&exchange, peer.x25519_public().unwrap())]);
        let expected = checker()
            .run_all(&[Job::agree(&peer, exchange.x25519_public().unwrap())])
            .get(0)
            .map(<[u8]>::to_vec);
        assert_eq!(agreed.get(0).map(<[u8]>::to_vec), expected);
        assert!(remote.key("nobody's").unwrap_err().to_string().contains("nobody's"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_another_server_after_one_has_stopped() {
    let (mut first, second) = twins().await;
    let (accelerator, remote) = client(config(vec![first.unix(), second.tls()]));
    let key = remote.key("ed25519").unwrap();
    all_verify(&key, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &key, 20));
    first.stop().await;
    for _ in 0..5 {
        all_verify(&key, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &key, 20));
    }
    let reports = remote.servers();
    assert!(reports.iter().all(|report| report.outstanding == 0), "{reports:?}");
    assert!(reports[1].answered >= 80, "{reports:?}");
}

/// A resolver whose answer the test sets.
#[derive(Clone, Debug)]
struct TestNames(Arc<Mutex<NameAnswer>>);

#[derive(Clone, Debug)]
enum NameAnswer {
    Addresses(Vec<SocketAddr>),
    /// The name does not exist.
    NoName,
}

impl NameResolver for TestNames {
    fn resolve<'r>(&'r self, host: &'r str, port: u16) -> BoxFuture<'r, io::Result<Vec<SocketAddr>>> {
        assert_eq!((host, port), ("localhost", 7443));
        let answer = self.0.lock().unwrap().clone();
        Box::pin(async move {
            match answer {
                NameAnswer::Addresses(addresses) => Ok(addresses),
                NameAnswer::NoName => Err(io::ErrorKind::NotFound.into()),
            }
        })
    }
}

impl TestNames {
    fn new(servers: &[&TestServer]) -> Self {
        Self(Arc::new(Mutex::new(NameAnswer::from_servers(servers))))
    }

    fn set(&self, answer: NameAnswer) {
        *self.0.lock().unwrap() = answer;
    }

    /// Returns a client of the name.
    fn client(&self, first: &TestServer) -> (Accelerator, RemoteHolder) {
        let credentials = Some(first.credentials());
        let endpoint = Endpoint::Grpc { url: "https://localhost:7443".to_owned(), credentials };
        client(RemoteConfig { resolver: Some(Arc::new(self.clone())), ..config(vec![endpoint]) })
    }
}

impl NameAnswer {
    fn from_servers(servers: &[&TestServer]) -> Self {
        Self::Addresses(servers.iter().map(|server| server.addresses.tcp.unwrap()).collect())
    }
}

/// Starts a server with the keys, the certificates and the clients of another one.
async fn sibling(first: &TestServer, at: SocketAddr) -> TestServer {
    let (keys, tls) = (first.config.keys.clone(), first.config.tls.clone());
    TestServer::with(|config, _| {
        (config.keys, config.tls) = (keys, tls);
        config.listen.tcp = Some(at);
    })
    .await
}

/// Signs until the holder has had enough answers of the server. The server's load grows within seconds, so a test that
/// never ends has failed.
fn sign_until_answered(accelerator: &Accelerator, remote: &RemoteHolder, key: &Key, server: &TestServer) {
    let address = server.addresses.tcp.unwrap().to_string();
    let began = Instant::now();
    loop {
        all_verify(key, Scheme::Ed25519Verify, &sign(accelerator, EDWARDS, key, 4));
        let reports = remote.servers();
        if reports.iter().any(|report| report.address.ends_with(&address) && report.answered >= 8) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{address} has no load: {reports:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_stands_for_servers_that_come_and_go() {
    let mut first = TestServer::new().await;
    let (mut second, third) = (sibling(&first, ANY_PORT).await, sibling(&first, ANY_PORT).await);
    let names = TestNames::new(&[&first, &second, &first]);
    let (accelerator, remote) = names.client(&first);
    let key = remote.key("ed25519").unwrap();
    for server in [&first, &second] {
        sign_until_answered(&accelerator, &remote, &key, server);
    }
    assert_eq!(remote.servers().len(), 2, "an address that is named twice is one server");

    // The third is new, the second is removed, and the first ends without a word.
    names.set(NameAnswer::from_servers(&[&first, &third]));
    first.stop().await;
    sign_until_answered(&accelerator, &remote, &key, &third);
    let reports = remote.servers();
    let gone = second.addresses.tcp.unwrap().to_string();
    assert!(!reports.iter().any(|report| report.address.ends_with(&gone)), "{reports:?}");

    // A name without an answer, or with an empty one, keeps its servers.
    for answer in [NameAnswer::NoName, NameAnswer::Addresses(Vec::new())] {
        names.set(answer);
        all_verify(&key, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &key, 9));
        assert_eq!(remote.servers().len(), reports.len());
    }

    // All servers are replaced at once: the job asks the name again before it gives up.
    let mut third = third;
    third.stop().await;
    second.stop().await;
    let fourth = sibling(&first, ANY_PORT).await;
    names.set(NameAnswer::from_servers(&[&fourth]));
    all_verify(&key, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &key, 9));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_moves_to_a_stranger_gets_no_job() {
    let first = TestServer::new().await;
    // Another authority has certified this one.
    let stranger = TestServer::new().await;
    let names = TestNames::new(&[&stranger]);
    let (_, remote) = names.client(&first);
    let refused = remote.key("ed25519").unwrap_err().to_string();
    assert!(refused.contains("certificate"), "{refused}");
    assert!(remote.servers().iter().all(|report| report.answered == 0));
    names.set(NameAnswer::from_servers(&[&stranger, &first]));
    let (accelerator, remote) = names.client(&first);
    let key = remote.key("ed25519").unwrap();
    for _ in 0..5 {
        all_verify(&key, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &key, 9));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_name_cannot_agree_with_itself() {
    let first = TestServer::new().await;
    let second = sibling(&first, ANY_PORT).await;
    let names = TestNames::new(&[&first, &second]);
    let endpoint =
        Endpoint::Grpc { url: "https://localhost:7443".to_owned(), credentials: Some(first.credentials()) };
    let settings = config(vec![endpoint.clone(), endpoint]);
    let resolver: Option<Arc<dyn NameResolver>> = Some(Arc::new(names));
    let (_, remote) = client(RemoteConfig { agreement: 2, resolver, ..settings });
    assert_eq!(remote.servers().len(), 2);
    // Nothing listens at the port of the name itself, and its addresses are not looked up.
    assert!(remote.key("ed25519").is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_a_restarted_server_again() {
    let mut first = TestServer::new().await;
    let path = first.addresses.unix.clone().unwrap();
    let keys = first.directory.path().join("keys");
    let (accelerator, remote) = client(config(vec![first.unix()]));
    let key = remote.key("ed25519").unwrap();
    all_verify(&key, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &key, 3));
    first.stop().await;
    let gone = sign(&accelerator, EDWARDS, &key, 2);
    assert!(matches!(&gone[0], Err(JobError::HolderFailed { .. })), "{gone:?}");
    let _again = TestServer::with(|config, _| {
        config.listen.unix = Some(path);
        config.keys.directory = Some(keys);
    })
    .await;
    all_verify(&key, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &key, 3));
    assert!(remote.servers()[0].is_trusted);
}

#[tokio::test(flavor = "multi_thread")]
async fn passes_over_servers_that_stall_or_leave() {
    let server = TestServer::new().await;
    for manner in [BadBehaviour::Stalls, BadBehaviour::Leaves] {
        let directory = tempfile::tempdir().unwrap();
        let bad = bad_server(directory.path(), "bad.sock", manner);
        let patience = Duration::from_millis(200);
        let (accelerator, remote) = client(RemoteConfig { patience, ..config(vec![bad, server.unix()]) });
        let key = remote.key("ed25519").unwrap();
        for _ in 0..4 {
            all_verify(&key, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &key, 10));
        }
        let reports = remote.servers();
        assert!(reports[0].failures > 0 && reports[0].answered == 0, "{reports:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn never_releases_a_wrong_rsa_signature() {
    let server = TestServer::new().await;
    let directory = tempfile::tempdir().unwrap();
    let bad = bad_server(directory.path(), "bad.sock", BadBehaviour::Wrong);
    let (accelerator, remote) = client(config(vec![bad.clone(), server.unix()]));
    let key = RemoteHolder::new(config(vec![server.unix()]), checker()).unwrap().key("rsa2048").unwrap();
    for _ in 0..3 {
        all_verify(
            &key,
            Scheme::RsaPkcs1Verify { digest: DigestAlg::Sha256 },
            &sign(&accelerator, PKCS1, &key, 4),
        );
    }
    let reports = remote.servers();
    assert_eq!((reports[0].wrong, reports[0].is_trusted, reports[1].wrong), (1, false, 0), "{reports:?}");
    let (alone, _) = client(config(vec![bad]));
    let error = sign(&alone, PKCS1, &key, 1).remove(0).unwrap_err().to_string();
    assert!(error.contains("does not verify"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn does_not_release_answers_on_which_servers_disagree() {
    let (first, second) = twins().await;
    let directory = tempfile::tempdir().unwrap();
    let bad = bad_server(directory.path(), "bad.sock", BadBehaviour::Wrong);
    let compared = |servers| RemoteConfig { agreement: 2, check: AnswerCheck::Nothing, ..config(servers) };
    let key = RemoteHolder::new(config(vec![first.unix()]), checker()).unwrap().key("ed25519").unwrap();
    // Two of three servers agree: their answer is released, and the third server is not trusted any more.
    let (accelerator, remote) = client(compared(vec![bad.clone(), first.unix(), second.tls()]));
    for _ in 0..3 {
        all_verify(&key, Scheme::Ed25519Verify, &sign(&accelerator, EDWARDS, &key, 5));
    }
    let reports = remote.servers();
    assert_eq!((reports[0].is_trusted, reports[1].wrong, reports[2].wrong), (false, 0, 0), "{reports:?}");
    // Two of two servers must agree: the client cannot know which of them is correct.
    let (accelerator, _) = client(compared(vec![bad, first.unix()]));
    let error = sign(&accelerator, EDWARDS, &key, 1).remove(0).unwrap_err().to_string();
    assert!(error.contains("2 servers must agree"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn accepts_randomized_signatures_of_two_servers_as_agreeing() {
    let (first, second) = twins().await;
    let (accelerator, remote) =
        client(RemoteConfig { agreement: 2, ..config(vec![first.unix(), second.unix()]) });
    let key = remote.key("p256").unwrap();
    let (curve, digest, encoding) = (oarlock::Curve::P256, DigestAlg::Sha256, EcdsaEncoding::Der);
    let scheme = Scheme::EcdsaSign { curve, digest, encoding, nonce: NonceRule::Hedged };
    all_verify(&key, Scheme::EcdsaVerify { curve, digest, encoding }, &sign(&accelerator, scheme, &key, 5));
}

#[test]
fn rejects_fewer_servers_than_must_agree() {
    let none = RemoteHolder::new(config(vec![]), checker()).unwrap_err().to_string();
    assert_eq!(none, "expected at least 1 servers, which must agree, found 0");
}

/// Starts servers with one share each. Returns them with the public part and the whole key.
async fn share_holders() -> (Vec<TestServer>, ThresholdKey, Key) {
    let pem = include_bytes!("../../../../engine/keys/tests/data/threshold/safe1024.pem");
    let key = import::any(pem, None).unwrap();
    let (public, shares) = split(&key, 2, 3).unwrap();
    let mut holders = Vec::new();
    for share in &shares {
        holders.push(with_share(share).await);
    }
    (holders, public, key)
}

async fn with_share(share: &Share) -> TestServer {
    let pem = share.to_pem().unwrap();
    TestServer::with(|config, _| {
        test_server::write_secret(&config.keys.directory.as_ref().unwrap().join("shared.pem"), &*pem);
    })
    .await
}

fn threshold_client(servers: Vec<Endpoint>, public: &ThresholdKey) -> (Accelerator, RemoteHolder) {
    let threshold_keys = [("shared".to_owned(), public.clone())].into();
    client(RemoteConfig { threshold_keys, ..config(servers) })
}

#[tokio::test(flavor = "multi_thread")]
async fn signs_with_any_two_of_three_servers() {
    let (mut holders, public, whole) = share_holders().await;
    let servers = holders.iter().map(TestServer::unix).collect();
    let (accelerator, remote) = threshold_client(servers, &public);
    let key = remote.key("shared").unwrap();
    let verify = Scheme::RsaPkcs1Verify { digest: DigestAlg::Sha256 };
    let signatures = sign(&accelerator, PKCS1, &key, 5);
    all_verify(&key, verify, &signatures);
    // A message has only one PKCS#1 v1.5 signature, so it is that of the whole key.
    assert_eq!(signatures, sign(&checker(), PKCS1, &whole, 5));
    let (digest, mgf) = (DigestAlg::Sha256, DigestAlg::Sha256);
    let pss = Scheme::RsaPssSign { digest, mgf, salt_len: 32 };
    let salt = oarlock::SaltLength::Exactly(32);
    all_verify(&key, Scheme::RsaPssVerify { digest, mgf, salt }, &sign(&accelerator, pss, &key, 3));
    holders.remove(0).stop().await;
    all_verify(&key, verify, &sign(&accelerator, PKCS1, &key, 5));
    holders.remove(0).stop().await;
    let alone = sign(&accelerator, PKCS1, &key, 1).remove(0).unwrap_err().to_string();
    assert!(alone.contains("2 servers must sign together, 1 did"), "{alone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_a_server_with_a_wrong_share_and_signs_without_it() {
    let (holders, public, whole) = share_holders().await;
    let (_, others) = split(&whole, 2, 3).unwrap();
    let wrong = with_share(&others[0]).await;
    let servers = vec![wrong.unix(), holders[1].unix(), holders[2].tls()];
    let (accelerator, remote) = threshold_client(servers, &public);
    let key = remote.key("shared").unwrap();
    for _ in 0..3 {
        let verify = Scheme::RsaPkcs1Verify { digest: DigestAlg::Sha256 };
        all_verify(&key, verify, &sign(&accelerator, PKCS1, &key, 4));
    }
    let reports = remote.servers();
    assert!(reports[0].wrong > 0 && !reports[0].is_trusted, "{reports:?}");
    assert_eq!((reports[1].wrong, reports[2].wrong), (0, 0), "{reports:?}");
    let (accelerator, _) = threshold_client(vec![wrong.unix(), holders[1].unix()], &public);
    let error = sign(&accelerator, PKCS1, &key, 1).remove(0).unwrap_err().to_string();
    assert!(error.contains(&format!("{}: its partial signature is wrong", wrong.unix())), "{error}");
}

/// A server that claims another server's share and answers first must not keep the other one out.
#[tokio::test(flavor = "multi_thread")]
async fn hears_both_servers_that_claim_the_same_share() {
    let (holders, public, whole) = share_holders().await;
    let (_, others) = split(&whole, 2, 3).unwrap();
    let liar = with_share(&others[1]).await;
    let (accelerator, remote) =
        threshold_client(vec![liar.unix(), holders[1].unix(), holders[0].unix()], &public);
    let key = remote.key("shared").unwrap();
    let verify = Scheme::RsaPkcs1Verify { digest: DigestAlg::Sha256 };
    // On a busy machine the other two may have signed together before the liar answers.
    for _ in 0..1000 {
        all_verify(&key, verify, &sign(&accelerator, PKCS1, &key, 4));
        if remote.servers()[0].wrong > 0 {
            break;
        }
    }
    let reports = remote.servers();
    assert!(reports[0].wrong > 0 && !reports[0].is_trusted, "{reports:?}");
    assert_eq!((reports[1].wrong, reports[2].wrong), (0, 0), "{reports:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_the_same_share_of_two_servers_once() {
    let (holders, public, _) = share_holders().await;
    let (accelerator, remote) = threshold_client(vec![holders[0].unix(), holders[0].tls()], &public);
    let key = remote.key("shared").unwrap();
    let error = sign(&accelerator, PKCS1, &key, 1).remove(0).unwrap_err().to_string();
    assert!(error.contains("another server has share 1 too"), "{error}");
}
