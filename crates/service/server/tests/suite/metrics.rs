//! Tests of the metrics and the health probe of a server.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::BytesMut;
use oarlock::keys::import;
use oarlock::{BlockCipher, Column, InputSource, OutputSink, SigningScheme, Span, VerifyingScheme};
use oarlock::{DigestAlg, Input, Job, Records, Scheme};
use oarlock_keytable::{Batch, BatchTask, IvSource};
use oarlock_server::CryptoserverConfig;
use oarlock_server::config::{AuditConfig, AuditFailure};
use oarlock_wire::proto::{ListEnginesRequest, request};
use oarlock_wire::{ServerLink, frame, jobs, records};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use crate::test_server::{TestServer, open_resident, request};

/// The maximum time of a test, so that a test that hangs ends.
const DEADLINE: Duration = Duration::from_secs(60);

async fn watched(change: impl FnOnce(&mut CryptoserverConfig)) -> TestServer {
    TestServer::with(|config, _| {
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
        change(config);
    })
    .await
}

fn metrics_address(server: &TestServer) -> SocketAddr {
    server.addresses.metrics.unwrap()
}

/// Returns the status and the body of a page.
async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").as_bytes()).await.unwrap();
    let mut response = String::new();
    timeout(DEADLINE, stream.read_to_string(&mut response)).await.unwrap().unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Returns the samples of the page, and checks the form of each line.
pub async fn scrape(server: &TestServer) -> Page {
    let (status, body) = get(metrics_address(server), "/metrics").await;
    assert_eq!(status, 200);
    let mut types = HashMap::new();
    let mut samples = BTreeMap::new();
    for line in body.lines() {
        if let Some(declared) = line.strip_prefix("# TYPE ") {
            let (name, kind) = declared.split_once(' ').unwrap();
            assert!(types.insert(name.to_owned(), kind.to_owned()).is_none(), "{name} is declared twice");
        } else if !line.starts_with("# HELP ") {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let name = sample.split('{').next().unwrap();
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let kind = types.get(name).or_else(|| types.get(base?)).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            let value: f64 = value.parse().unwrap();
            assert!(samples.insert(sample.to_owned(), value).is_none(), "{sample} is there twice");
        }
    }
    Page(samples)
}

#[derive(Debug)]
pub struct Page(BTreeMap<String, f64>);

impl Page {
    pub fn value(&self, sample: &str) -> f64 {
        self.0.get(sample).copied().unwrap_or(0.0)
    }

    /// Returns the operations of one name and code.
    fn operations(&self, operation: &str, code: &str) -> f64 {
        self.value(&format!("oarlock_operations_total{{operation=\"{operation}\",code=\"{code}\"}}"))
    }

    fn rejections(&self, code: &str) -> f64 {
        self.value(&format!("oarlock_rejections_total{{code=\"{code}\"}}"))
    }

    /// Returns the sum of all samples of one name.
    fn sum(&self, name: &str) -> f64 {
        let samples = self.0.iter().filter(|(sample, _)| sample.split('{').next() == Some(name));
        samples.map(|(_, value)| value).sum()
    }
}

/// Scrapes until a condition is true.
pub async fn until(server: &TestServer, is_there: impl Fn(&Page) -> bool) -> Page {
    let look = async {
        loop {
            let page = scrape(server).await;
            if is_there(&page) {
                return page;
            }
        }
    };
    timeout(DEADLINE, look).await.unwrap()
}

const PKCS1: Scheme = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };

#[tokio::test]
async fn counts_public_key_operations_by_scheme_and_code() {
    let server =
        watched(|config| config.grants[0].schemes = vec!["rsa-*".into(), "ed25519-verify".into()]).await;
    assert_eq!(scrape(&server).await.sum("oarlock_operations_total"), 0.0);
    let link = ServerLink::open(&server.tls()).await.unwrap();
    let info = open_resident(&link, 0, "rsa2048").await;
    let rsa = import::spki_der(&info.public_key).unwrap();
    let edwards = import::spki_der(&open_resident(&link, 1, "ed25519").await.public_key).unwrap();
    let message = Input::Message(b"message");
    let batch = [
        (Job::with_scheme(PKCS1, &rsa, message, &[]), 0),
        (Job::sign(SigningScheme::ED25519, &edwards, message), 1),
        (Job::verify(VerifyingScheme::ED25519, &edwards, message, &[7; 64]), 1),
        (Job::with_scheme(PKCS1, &rsa, message, &[]), 0),
        (Job::with_scheme(PKCS1, &rsa, message, &[]), 9),
    ];
    // A request that is refused as a whole has no time: it would hide how long the others take.
    for batch in [&batch[..], &batch[..1], &batch[1..2]] {
        link.call(request::Body::Jobs(jobs::write(batch.iter().copied()).unwrap())).await.unwrap();
    }
    let page = scrape(&server).await;
    assert_eq!(page.operations("rsa-pkcs1-sha256-sign", "DONE"), 3.0, "{page:?}");
    assert_eq!(page.operations("rsa-pkcs1-sha256-sign", "NO_SUCH_KEY"), 1.0);
    assert_eq!(page.operations("ed25519-sign", "PERMISSION_DENIED"), 2.0);
    assert_eq!(page.operations("ed25519-verify", "REJECTED"), 1.0);
    assert_eq!(page.sum("oarlock_operations_total"), 7.0);
    assert_eq!((page.rejections("PERMISSION_DENIED"), page.rejections("NO_SUCH_KEY")), (2.0, 1.0));
    assert_eq!(page.value("oarlock_requests_total"), 5.0);
    assert_eq!(page.value("oarlock_request_seconds_count{kind=\"jobs\"}"), 2.0);
    assert_eq!(page.value("oarlock_answer_seconds_count{shape=\"rsa2048-private\"}"), 3.0);
    assert_eq!(page.sum("oarlock_batch_operations_sum"), page.value("oarlock_dispatcher_batched_ops_total"));
    assert_eq!(page.sum("oarlock_engine_run_seconds_count"), page.value("oarlock_dispatcher_batches_total"));
    assert_eq!(page.sum("oarlock_queue_operations"), 0.0);
    assert!(page.sum("oarlock_answer_seconds_sum") > 0.0);
    assert_eq!(page.value("oarlock_keys_resident{kind=\"asymmetric\"}"), 4.0);
    assert_eq!(page.value("oarlock_keys_resident{kind=\"symmetric\"}"), 3.0);
}

fn blocks(data: &[u8], task: BatchTask) -> Batch<'_> {
    let block = Span { start: 0, len: 8 };
    let records = Records {
        len: data.len() / 8,
        data: data.into(),
        output_len: data.len(),
        input: Column::Stride { first: InputSource::Data(block), stride: 8 },
        output: Column::Stride { first: OutputSink::Output(block), stride: 8 },
        ..Default::default()
    };
    Batch { iv_from: Column::One(IvSource::Zero), ..Batch::uniform(task, records) }
}

#[tokio::test]
async fn counts_records_by_task_and_code() {
    let server = watched(|config| config.grants[0].schemes = vec!["tdes2-cbc-encrypt".into()]).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "tdes2").await;
    let (encrypt, decrypt) = (BatchTask::encrypt(BlockCipher::Tdes2), BatchTask::decrypt(BlockCipher::Tdes2));
    let small = [7; 80];
    let mixed = Batch {
        task: Column::Each([encrypt, decrypt].into_iter().cycle().take(10).collect()),
        ..blocks(&small, encrypt)
    };
    for batch in [blocks(&[1; 80_000], encrypt), mixed, blocks(&small, decrypt)] {
        link.call(request::Body::Records(records::write(&batch, |index| index).unwrap())).await.unwrap();
    }
    let page = scrape(&server).await;
    assert_eq!(page.operations("tdes2-cbc-encrypt", "DONE"), 10_005.0, "{page:?}");
    assert_eq!(page.operations("tdes2-cbc-decrypt", "PERMISSION_DENIED"), 15.0);
    assert_eq!(page.rejections("PERMISSION_DENIED"), 15.0);
    assert_eq!(page.value("oarlock_request_seconds_count{kind=\"records\"}"), 2.0);
    assert!(page.sum("oarlock_batch_operations_sum") >= 10_005.0);
}

#[tokio::test]
async fn counts_open_refused_and_failed_connections() {
    let server = watched(|config| config.limits.max_unix_connections = 1).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "rsa2048").await;
    assert_eq!(scrape(&server).await.value("oarlock_connections_open"), 1.0);
    // The server reports the refusal to the client and closes the connection.
    let mut refused = UnixStream::connect(server.addresses.unix.as_ref().unwrap()).await.unwrap();
    refused.read_to_end(&mut Vec::new()).await.unwrap();
    drop(link);
    let page = until(&server, |page| page.value("oarlock_connections_open") == 0.0).await;
    assert_eq!(page.value("oarlock_connections_refused_total"), 1.0);
    let mut stranger = TcpStream::connect(server.addresses.tcp.unwrap()).await.unwrap();
    stranger.write_all(b"no TLS, this").await.unwrap();
    let page = until(&server, |page| page.value("oarlock_handshakes_failed_total") == 1.0).await;
    assert_eq!(page.value("oarlock_connections_total"), 1.0, "connections with a known client");
    assert_eq!(page.value("oarlock_held_bytes"), 0.0);
}

#[tokio::test]
async fn counts_lost_audit_entries() {
    let server = watched(|config| {
        config.audit = Some(AuditConfig::at("/dev/full".into(), AuditFailure::Warn));
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let key = import::spki_der(&open_resident(&link, 0, "ed25519").await.public_key).unwrap();
    let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(b"message"));
    link.call(request::Body::Jobs(jobs::write([(job, 0)].into_iter()).unwrap())).await.unwrap();
    until(&server, |page| page.value("oarlock_audit_entries_lost_total") >= 2.0).await;
}

#[tokio::test]
async fn serves_metrics_beside_silent_and_broken_http_clients() {
    let server = watched(|_| {}).await;
    let mut crowd = Vec::new();
    for number in 0..300 {
        let mut stream = TcpStream::connect(metrics_address(&server)).await.unwrap();
        if number % 2 == 0 {
            stream.write_all(b"GET /metrics HTT").await.unwrap();
        }
        crowd.push(stream);
    }
    let mut garbage = TcpStream::connect(metrics_address(&server)).await.unwrap();
    garbage.write_all(&[0x16, 3, 1, 0, 200, b'\r', b'\n', b'\r', b'\n']).await.unwrap();
    let mut response = Vec::new();
    timeout(DEADLINE, garbage.read_to_end(&mut response)).await.unwrap().unwrap();
    assert!(response.starts_with(b"HTTP/1.1 400"), "{}", String::from_utf8_lossy(&response));
    assert_eq!(get(metrics_address(&server), "/healthz").await, (200, "ok\n".into()));
    let link = ServerLink::open(&server.tls()).await.unwrap();
    open_resident(&link, 0, "rsa2048").await;
    assert_eq!(scrape(&server).await.value("oarlock_requests_total"), 1.0);
}

/// The number of unread answers: more than a socket buffers, and less than the server keeps.
const UNREAD: u64 = 100;

#[tokio::test]
async fn reports_draining_until_every_request_is_answered() {
    let mut server = watched(|config| config.limits.max_drain_seconds = DEADLINE.as_secs()).await;
    let at = metrics_address(&server);
    assert_eq!(get(at, "/healthz").await.0, 200);
    let mut deaf = UnixStream::connect(server.addresses.unix.as_ref().unwrap()).await.unwrap();
    let mut requests = BytesMut::from(&frame::PREAMBLE[..]);
    for id in 0..UNREAD {
        frame::write(&request(id, request::Body::ListEngines(ListEnginesRequest {})), &mut requests).unwrap();
    }
    deaf.write_all(&requests).await.unwrap();
    until(&server, |page| page.value("oarlock_requests_total") >= UNREAD as f64).await;
    server.begin_to_stop();
    let draining = async { while get(at, "/healthz").await != (503, "draining\n".into()) {} };
    timeout(DEADLINE, draining).await.unwrap();
    assert_eq!(scrape(&server).await.value("oarlock_draining"), 1.0);
    deaf.read_to_end(&mut Vec::new()).await.unwrap();
    server.stopped().await;
    assert!(TcpStream::connect(at).await.is_err(), "nobody listens any more");
}
