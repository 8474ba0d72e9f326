//! Tests of the synchronous connection pool for other programs.

use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use bytes::BytesMut;
use oarlock::keys::{export, generate, held, import};
use oarlock::{Accelerator, DigestAlg, EcdsaEncoding, Input, Job, Key, NonceRule, Scheme};
use oarlock::{Curve, Fingerprint};
use oarlock_wire::proto::{Code, Fault, KeyInfo, Request, Response, Results, request, response};
use oarlock_wire::{ConnectionPool, JobKeySource, Message, PoolConfig, PoolError, ServerUsers, frame};

use crate::test_server::TestServer;

const PKCS1: Scheme = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
const PSS: Scheme = Scheme::RsaPssSign { digest: DigestAlg::Sha256, mgf: DigestAlg::Sha256, salt_len: 32 };

fn checker() -> Accelerator {
    Accelerator::builder().engines(["scalar"]).lazy().build().unwrap()
}

fn config(path: &Path) -> PoolConfig {
    PoolConfig {
        path: path.to_owned(),
        users: ServerUsers::default(),
        patience: Duration::from_secs(60),
        max_idle: 4,
        has_ring: true,
    }
}

fn pool(path: &Path) -> ConnectionPool {
    ConnectionPool::new(config(path), checker())
}

fn pool_of(server: &TestServer) -> ConnectionPool {
    pool(server.addresses.unix.as_ref().unwrap())
}

/// Returns a resident key as a program holds it.
fn resident(pool: &ConnectionPool, name: &str) -> Key {
    held::from_spki(&pool.key_info(name).unwrap().public_key, "oarlock", name).unwrap()
}

fn source<'k>(name: &'k str, key: &Key) -> JobKeySource<'k> {
    JobKeySource::Resident { name, fingerprint: Some(key.fingerprint()) }
}

fn sign(pool: &ConnectionPool, key: &Key, source: JobKeySource<'_>) -> Result<Vec<u8>, PoolError> {
    let job = Job::with_scheme(PKCS1, key, Input::Message(b"message"), &[]);
    pool.start(&job, source)?.wait().map(|answer| answer.output.expose().to_vec())
}

fn is_valid(key: &Key, signature: &[u8]) -> bool {
    let scheme = Scheme::RsaPkcs1Verify { digest: DigestAlg::Sha256 };
    let public = import::spki_der(&export::spki_der(key).unwrap()).unwrap();
    checker()
        .run_all(&[Job::with_scheme(scheme, &public, Input::Message(b"message"), signature)])
        .get(0)
        .is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn signs_with_resident_and_brought_keys_over_one_connection() {
    let server = TestServer::new().await;
    let pool = pool_of(&server);
    assert_eq!(pool.idle(), 0);
    let info = pool.key_info("rsa2048").unwrap();
    assert_eq!((&*info.name, &*info.kind), ("rsa2048", "rsa2048"));
    let (there, here) = (resident(&pool, "rsa2048"), generate::rsa(2048).unwrap());
    for _ in 0..3 {
        assert!(is_valid(&there, &sign(&pool, &there, source("rsa2048", &there)).unwrap()));
        assert!(is_valid(&here, &sign(&pool, &here, JobKeySource::Brought(&here)).unwrap()));
    }
    let job = Job::with_scheme(PSS, &there, Input::Digest(&[7; 32]), &[]);
    assert_eq!(pool.start(&job, source("rsa2048", &there)).unwrap().wait().unwrap().output.len(), 256);
    assert_eq!(pool.idle(), 1);
    let text = format!("{pool:?}");
    assert!(!text.contains("PRIVATE") && text.contains("oarlock.sock"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_other_jobs_and_reports_refusals() {
    let server = TestServer::new().await;
    let pool = pool_of(&server);
    let key = resident(&pool, "p256");
    let (curve, digest) = (Curve::P256, DigestAlg::Sha256);
    let (encoding, nonce) = (EcdsaEncoding::Fixed, NonceRule::Hedged);
    let scheme = Scheme::EcdsaSign { curve, digest, encoding, nonce };
    let job = Job::with_scheme(scheme, &key, Input::Message(b"message"), &[]);
    assert_eq!(pool.start(&job, source("p256", &key)).unwrap().wait().unwrap().output.len(), 64);
    let rsa = resident(&pool, "rsa2048");
    let broken = Job::decrypt_oaep(DigestAlg::Sha256, &rsa, &[1; 256], b"");
    let refused = pool.start(&broken, source("rsa2048", &rsa)).unwrap().wait().unwrap_err();
    assert!(matches!(refused, PoolError::Refused { code: Code::Rejected, .. }), "{refused}");
    let unknown = sign(&pool, &rsa, JobKeySource::Resident { name: "nobody's", fingerprint: None });
    let Err(PoolError::Refused { code: Code::PermissionDenied, message }) = unknown else {
        panic!("{unknown:?}")
    };
    assert!(message.contains("nobody's"), "{message}");
    let Err(refused) = pool.key_info("nobody's") else { panic!("the key was described") };
    assert!(!refused.is_unavailable(), "{refused}");
    let fingerprint = Some(Fingerprint::new([7; 32]));
    let wrong = sign(&pool, &rsa, JobKeySource::Resident { name: "rsa2048", fingerprint }).unwrap_err();
    assert!(matches!(&wrong, PoolError::WrongKey { name, .. } if name == "rsa2048"), "{wrong}");
    assert!(wrong.to_string().contains("another key has this name now"), "{wrong}");
    let short = Job::with_scheme(PKCS1, &rsa, Input::Digest(&[7; 31]), &[]);
    assert!(matches!(pool.start(&short, source("rsa2048", &rsa)), Err(PoolError::Job(_))));
    // Refusals have not cost a connection.
    assert_eq!(pool.idle(), 1);
    assert!(
        matches!(sign(&pool, &rsa, JobKeySource::Brought(&rsa)), Err(PoolError::Key(_)),),
        "its private half is not here"
    );
    assert!(sign(&pool, &rsa, source("rsa2048", &rsa)).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_for_answers_by_descriptor_and_cancels_by_dropping() {
    let server = TestServer::new().await;
    let pool = pool_of(&server);
    let key = resident(&pool, "rsa2048");
    let job = Job::with_scheme(PKCS1, &key, Input::Message(b"message"), &[]);
    let mut pending: Vec<_> = (0..8).map(|_| pool.start(&job, source("rsa2048", &key)).unwrap()).collect();
    drop(pending.split_off(6));
    for operation in &mut pending {
        let answer = loop {
            if let Some(answer) = operation.try_take().unwrap() {
                break answer;
            }
            let poll = rustix::event::PollFlags::IN;
            rustix::event::poll(&mut [rustix::event::PollFd::new(&operation.as_fd(), poll)], None).unwrap();
        };
        assert!(is_valid(&key, answer.output.expose()));
        assert!(matches!(operation.try_take(), Err(PoolError::Taken)));
    }
    assert_eq!(pool.idle(), 4, "the maximum of idle connections");
}

#[tokio::test(flavor = "multi_thread")]
async fn shares_a_pool_between_threads() {
    let server = TestServer::new().await;
    let pool = pool_of(&server);
    let (there, here) = (resident(&pool, "rsa2048"), generate::rsa(2048).unwrap());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert!(sign(&pool, &there, source("rsa2048", &there)).is_ok());
                    assert!(sign(&pool, &here, JobKeySource::Brought(&here)).is_ok());
                }
            });
        }
    });
    assert!(pool.idle() <= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn asks_a_restarted_server_again() {
    let mut server = TestServer::new().await;
    let pool = pool_of(&server);
    let (there, here) = (resident(&pool, "rsa2048"), generate::rsa(2048).unwrap());
    let ask = |key: &Key| match key.parts().is_some() && key.fingerprint() == here.fingerprint() {
        true => sign(&pool, key, JobKeySource::Brought(key)),
        false => sign(&pool, key, source("rsa2048", key)),
    };
    ask(&there).unwrap();
    ask(&here).unwrap();
    server.stop().await;
    for key in [&there, &here] {
        let gone = ask(key).unwrap_err();
        assert!(matches!(gone, PoolError::Connect { .. }) && gone.is_unavailable(), "{gone}");
        assert!(gone.to_string().contains("oarlock.sock: cannot connect"), "{gone}");
    }
    server.restart().await;
    ask(&there).unwrap();
    ask(&here).unwrap();
    // This time the server restarts while the connection is idle.
    server.stop().await;
    server.restart().await;
    assert!(is_valid(&here, &ask(&here).unwrap()));
    assert!(is_valid(&there, &ask(&there).unwrap()));
}

/// Starts a fake server, which serves one connection with `serve`.
fn fake_server(path: &Path, mut serve: impl FnMut(UnixStream) + Send + 'static) -> thread::JoinHandle<()> {
    let listener = UnixListener::bind(path).unwrap();
    thread::spawn(move || serve(listener.accept().unwrap().0))
}

fn framed(response: Response) -> BytesMut {
    let mut bytes = BytesMut::new();
    frame::write(&response, &mut bytes).unwrap();
    bytes
}

/// Reads the next request of a connection after its preamble. A request for shared memory is refused, as a server that
/// does not know it would do.
fn read_request(stream: &mut UnixStream) -> Request {
    let mut head = [0; frame::HEADER_BYTES];
    stream.read_exact(&mut head).unwrap();
    let mut message = vec![0; u32::from_le_bytes(head) as usize];
    stream.read_exact(&mut message).unwrap();
    let request = Request::decode(&*message).unwrap();
    if !matches!(request.body, Some(request::Body::OpenRing(_))) {
        return request;
    }
    let fault = Fault { code: Code::Invalid.into(), message: "not known here".into(), ..Fault::default() };
    let refusal = Response { id: request.id, body: Some(response::Body::Fault(fault)) };
    stream.write_all(&framed(refusal)).unwrap();
    read_request(stream)
}

fn read_preamble(stream: &mut UnixStream) {
    let mut preamble = [0; frame::PREAMBLE.len()];
    stream.read_exact(&mut preamble).unwrap();
    assert_eq!(preamble, *frame::PREAMBLE);
}

fn opened(request: &Request) -> Response {
    assert!(matches!(request.body, Some(request::Body::OpenKey(_))));
    Response { id: request.id, body: Some(response::Body::Key(KeyInfo::default())) }
}

fn signed(request: &Request, signature: Vec<u8>) -> Response {
    let output_lens = (signature.len() as u32).to_le_bytes().to_vec().into();
    let results = Results { outputs: signature.into(), output_lens, ..Results::default() };
    Response { id: request.id, body: Some(response::Body::Results(results)) }
}

#[test]
fn sends_nothing_to_a_server_of_another_user() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let server = fake_server(&path, |mut stream| {
        let mut sent = Vec::new();
        stream.read_to_end(&mut sent).unwrap();
        assert!(sent.is_empty());
    });
    let uid = rustix::process::getuid().as_raw();
    let pool =
        ConnectionPool::new(PoolConfig { users: ServerUsers::only(uid + 1), ..config(&path) }, checker());
    let key = generate::rsa(2048).unwrap();
    let refused = sign(&pool, &key, JobKeySource::Brought(&key)).unwrap_err();
    assert!(
        matches!(&refused, PoolError::WrongOwner { found, expected, .. }
        if *found == uid && *expected == [uid + 1]),
        "{refused}"
    );
    assert!(refused.to_string().contains(&format!("expected a server of uid [{}], found", uid + 1)));
    server.join().unwrap();
}

#[test]
fn reports_truncated_and_malformed_answers() {
    let key = generate::rsa(2048).unwrap();
    let answered = |answer: fn(&Request) -> Vec<u8>| {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let server = fake_server(&path, move |mut stream| {
            read_preamble(&mut stream);
            let opening = read_request(&mut stream);
            stream.write_all(&framed(opened(&opening))).unwrap();
            let job = read_request(&mut stream);
            stream.write_all(&answer(&job)).unwrap();
        });
        let error = sign(&pool(&path), &key, JobKeySource::Brought(&key)).unwrap_err();
        server.join().unwrap();
        error
    };
    let whole = |job: &Request| framed(signed(job, vec![7; 256])).to_vec();
    let truncated = answered(|job| framed(signed(job, vec![7; 256]))[..100].to_vec());
    assert!(matches!(truncated, PoolError::Truncated { received: 100, .. }), "{truncated}");
    let silent = answered(|_| Vec::new());
    assert!(matches!(silent, PoolError::Truncated { received: 0, .. }), "{silent}");
    assert!(matches!(answered(whole), PoolError::WrongAnswer { .. }), "a signature of sevens");
    let long = answered(|_| vec![0xff; 8]);
    assert!(matches!(long, PoolError::Malformed { .. }), "{long}");
    let garbage = answered(|_| [&4_u32.to_le_bytes()[..], &[0xff; 4]].concat());
    assert!(matches!(garbage, PoolError::Malformed { .. }), "{garbage}");
    let foreign = answered(|job| framed(Response { id: job.id + 7, ..signed(job, vec![7; 256]) }).to_vec());
    assert!(matches!(foreign, PoolError::Malformed { .. }), "{foreign}");
}

#[test]
fn fails_after_its_patience() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let server = fake_server(&path, |mut stream| {
        // The server is silent until the client leaves.
        stream.read_to_end(&mut Vec::new()).unwrap();
    });
    let pool =
        ConnectionPool::new(PoolConfig { patience: Duration::from_millis(20), ..config(&path) }, checker());
    let key = generate::rsa(2048).unwrap();
    let impatient = sign(&pool, &key, JobKeySource::Brought(&key)).unwrap_err();
    assert!(matches!(impatient, PoolError::TimedOut { .. }) && impatient.is_unavailable());
    assert!(impatient.to_string().ends_with("no answer within 20 ms"), "{impatient}");
    server.join().unwrap();
}

#[test]
fn replaces_a_connection_that_dies_before_its_answer_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let key = generate::rsa(2048).unwrap();
    let job = Job::with_scheme(PKCS1, &key, Input::Message(b"message"), &[]);
    let signature = checker().run_all(&[job]).get(0).unwrap().to_vec();
    let server = thread::spawn(move || {
        let mut first = listener.accept().unwrap().0;
        read_preamble(&mut first);
        for is_last in [false, true] {
            if !is_last {
                let opening = read_request(&mut first);
                first.write_all(&framed(opened(&opening))).unwrap();
            }
            let job = read_request(&mut first);
            if !is_last {
                first.write_all(&framed(signed(&job, signature.clone()))).unwrap();
            }
        }
        drop(first);
        let mut second = listener.accept().unwrap().0;
        read_preamble(&mut second);
        let opening = read_request(&mut second);
        let job = read_request(&mut second);
        second.write_all(&framed(opened(&opening))).unwrap();
        second.write_all(&framed(signed(&job, signature))).unwrap();
    });
    let pool = pool(&path);
    let sign = || pool.start(&job, JobKeySource::Brought(&key));
    sign().unwrap().wait().unwrap();
    let mut again = sign().unwrap();
    let descriptor = again.as_fd().as_raw_fd();
    let answer = loop {
        if let Some(answer) = again.try_take().unwrap() {
            break answer;
        }
        thread::yield_now();
    };
    assert!(is_valid(&key, answer.output.expose()));
    assert_ne!(again.as_fd().as_raw_fd(), descriptor, "the former descriptor is not reused");
    server.join().unwrap();
}
