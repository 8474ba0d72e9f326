//! Tests of the audit log of a server.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use oarlock::keys::generate;
use oarlock::{Input, Job, SigningScheme, VerifyingScheme};
use oarlock_server::audit_chain::{ChainVerifier, LineHash};
use oarlock_server::config::{AuditConfig, AuditFailure};
use oarlock_wire::proto::{self, Code, OpenKey, open_key, request, response};
use oarlock_wire::{LinkError, ServerLink, jobs};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use serde_json::Value;

use crate::test_server::{TestServer, open_resident};

fn edwards_jobs(count: usize) -> proto::Jobs {
    let key = generate::ed25519().unwrap();
    let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(b"message"));
    jobs::write(std::iter::repeat_n((job, 0), count)).unwrap()
}

/// Makes a named pipe and fills it. The file keeps both ends open until it is dropped.
fn full_pipe(path: &Path) -> File {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut pipe = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).unwrap();
    while pipe.write(&[b'\n'; 512]).is_ok() {}
    pipe
}

fn lines(text: &[u8]) -> Vec<Value> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn count(lines: &[Value], operation: &str, verdict: &str) -> u64 {
    let is_meant = |line: &&Value| line["operation"] == operation && line["verdict"] == verdict;
    lines.iter().filter(is_meant).map(|line| line["count"].as_u64().unwrap()).sum()
}

async fn open(link: &ServerLink, name: &str) -> Result<response::Body, LinkError> {
    let source = Some(open_key::Source::Resident(name.to_owned()));
    link.call(request::Body::OpenKey(OpenKey { handle: 9, source, ..OpenKey::default() })).await
}

async fn health(server: &TestServer) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(server.addresses.metrics.unwrap()).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_no_signature_without_its_entry_while_the_disk_stalls() {
    let mut stall = None;
    let mut server = TestServer::with(|config, directory| {
        let path = directory.join("audit.pipe");
        stall = Some(full_pipe(&path));
        let max_queue_bytes = 1 << 16;
        config.audit = Some(AuditConfig { max_queue_bytes, ..AuditConfig::at(path, AuditFailure::Stop) });
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "ed25519").await;
    assert!(health(&server).await.starts_with("HTTP/1.1 200"));
    let long = "\u{1}".repeat(1 << 20);
    let mut refused = 0;
    for name in std::iter::repeat_n(&*long, 8).chain(std::iter::repeat_n("nothing", 500)) {
        let Err(LinkError::Refused(_)) = open(&link, name).await else { panic!("it was opened") };
        refused += 1;
    }
    // Refusals have not used the space for work. Work is refused only when its own space is used up.
    let mut signed = 0;
    let fault = loop {
        match link.call(request::Body::Jobs(edwards_jobs(3))).await {
            Ok(response::Body::Results(results)) => signed += results.outputs.len() as u64 / 64,
            Ok(other) => panic!("{other:?}"),
            Err(LinkError::Refused(fault)) => break fault,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(signed >= 30, "{signed}");
    assert_eq!(fault.code(), Code::Unavailable, "{}", fault.message);
    assert!(fault.message.contains("audit log is behind") && fault.retry_after_ms > 0, "{}", fault.message);
    // The health probe reports it, although the disk has reported no error.
    let bad = health(&server).await;
    assert!(bad.starts_with("HTTP/1.1 503") && bad.contains("the audit log is behind"), "{bad}");
    // When the disk accepts entries again, the server serves again.
    let mut pipe = File::open(server.directory.path().join("audit.pipe")).unwrap();
    drop(stall);
    let text = std::thread::spawn(move || {
        let mut text = Vec::new();
        pipe.read_to_end(&mut text).map(|_| text)
    });
    loop {
        if let Ok(response::Body::Results(results)) = link.call(request::Body::Jobs(edwards_jobs(1))).await {
            signed += results.outputs.len() as u64 / 64;
            break;
        }
        tokio::task::yield_now().await;
    }
    // Work is accepted as soon as there is space. The disk catches up a little later.
    while !health(&server).await.starts_with("HTTP/1.1 200") {}
    drop(link);
    server.stop().await;
    let lines = lines(&text.join().unwrap().unwrap());
    assert_eq!(count(&lines, "ed25519-sign", "DONE"), signed);
    assert_eq!(count(&lines, "open", "PERMISSION_DENIED"), refused);
    assert!(lines.iter().all(|line| line["event"] != "lost"));
}

#[tokio::test(flavor = "multi_thread")]
async fn bounds_the_log_for_long_names_and_many_refusals() {
    let mut server = TestServer::with(|config, directory| {
        config.grants.clear();
        config.audit = Some(AuditConfig::at(directory.join("audit.log"), AuditFailure::Stop));
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let long = "\u{1}".repeat(15 << 20);
    for _ in 0..8 {
        open(&link, &long).await.unwrap_err();
    }
    for number in 0..2000 {
        open(&link, &format!("key-{number}")).await.unwrap_err();
    }
    // Batches without a permitted job count as refusals too.
    for _ in 0..2000 {
        link.call(request::Body::Jobs(edwards_jobs(1))).await.unwrap();
    }
    drop(link);
    server.stop().await;
    let log = std::fs::read(server.directory.path().join("audit.log")).unwrap();
    assert!(log.len() < 64 << 10, "{} bytes", log.len());
    let lines = lines(&log);
    let counts =
        lines.iter().filter(|line| line["client"].is_array()).map(|line| line["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), 4008);
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_every_job_of_a_message_whose_jobs_fail_alike() {
    let mut server = TestServer::with(|config, directory| {
        config.audit = Some(AuditConfig::at(directory.join("audit.log"), AuditFailure::Stop));
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    // No handle is open yet.
    link.call(request::Body::Jobs(edwards_jobs(3))).await.unwrap();
    open_resident(&link, 0, "ed25519").await;
    let key = generate::ed25519().unwrap();
    let job = Job::verify(VerifyingScheme::ED25519, &key, Input::Message(b"message"), &[1; 64]);
    let message = jobs::write(std::iter::repeat_n((job, 0), 5)).unwrap();
    link.call(request::Body::Jobs(message)).await.unwrap();
    drop(link);
    server.stop().await;
    let lines = lines(&std::fs::read(server.directory.path().join("audit.log")).unwrap());
    assert_eq!(count(&lines, "ed25519-sign", "NO_SUCH_KEY"), 3);
    assert_eq!(count(&lines, "ed25519-verify", "REJECTED"), 5);
    assert!(lines.iter().all(|line| line["verdict"] != "DONE"));
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_clients_sources_and_events_of_the_server() {
    let mut server = TestServer::with(|config, directory| {
        config.audit = Some(AuditConfig::at(directory.join("audit.log"), AuditFailure::Stop));
    })
    .await;
    let stranger = std::net::TcpStream::connect(server.addresses.tcp.unwrap()).unwrap();
    (&stranger).write_all(b"no TLS, this").unwrap();
    // The server closes the connection when the handshake has failed.
    let _ = (&stranger).read_to_end(&mut Vec::new());
    for endpoint in [server.tls(), server.unix()] {
        let link = ServerLink::open(&endpoint).await.unwrap();
        open_resident(&link, 0, "ed25519").await;
        link.call(request::Body::Jobs(edwards_jobs(2))).await.unwrap();
    }
    server.stop().await;
    let log = std::fs::read(server.directory.path().join("audit.log")).unwrap();
    let lines = lines(&log);
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!((events[0], *events.last().unwrap()), ("start", "stop"));
    assert!(
        lines
            .iter()
            .any(|line| line["event"] == "key" && line["key"] == "ed25519" && line["detail"] == "added")
    );
    let handshake = lines.iter().find(|line| line["event"] == "handshake").unwrap();
    assert_eq!((&handshake["source"], &handshake["count"]), (&"127.0.0.1".into(), &1.into()));
    let [tls, unix] =
        [0, 1].map(|at| lines.iter().filter(|line| line["operation"] == "ed25519-sign").nth(at).unwrap());
    assert_eq!(tls["client"], serde_json::json!(["dns:developer.oarlock.test"]));
    assert!(tls["source"].as_str().unwrap().starts_with("127.0.0.1:"));
    assert!(tls["serial"].as_str().unwrap().contains(':'));
    assert_eq!(unix["source"], format!("pid:{}", std::process::id()));
    assert!(unix["serial"].is_null() && unix["client"][0].as_str().unwrap().starts_with("uid:"));
    assert!(unix["request"].as_u64() > tls["request"].as_u64());
    let page = include_str!("../../../../../docs/cryptoserver/audit.md");
    let (_, example) = page.split_once("```json\n{\"time_ms\"").unwrap();
    let example = format!("{{\"time_ms\"{}", example.split("```").next().unwrap());
    let shown: Vec<&str> = example.lines().collect();
    for line in log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let written = fields(std::str::from_utf8(line).unwrap());
        assert!(shown.iter().any(|shown| fields(shown) == written), "no example in the page has {written:?}");
    }
    // Both are whole chains from their first line on.
    for (name, text, entries) in [("log", &*log, lines.len()), ("page", example.as_bytes(), shown.len())] {
        let mut verifier = ChainVerifier::new(Some(LineHash::NONE), None);
        verifier.read(name, &mut &*text).unwrap();
        let report = verifier.finish();
        assert!(report.is_whole && report.note_count == 0, "{report:?}");
        assert_eq!(report.entries, entries as u64, "{name}");
    }
}

/// Returns the kind of an entry, and the names of its fields in their order.
fn fields(line: &str) -> (String, Vec<String>) {
    let value: Value = serde_json::from_str(line).unwrap();
    let names = line.match_indices("\":").map(|(end, _)| {
        let start = line[..end].rfind('"').map_or(0, |quote| quote + 1);
        line[start..end].to_owned()
    });
    (value["event"].to_string(), names.collect())
}
