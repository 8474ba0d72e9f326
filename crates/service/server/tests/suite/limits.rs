//! Tests of the limits of connections, of bytes, of waiting time, and of keys that clients bring.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bytes::BytesMut;
use oarlock::keys::{export, generate};
use oarlock::{CompositeAlg, Key, SlhDsaSet};
use oarlock_server::config::ServerLimits;
use oarlock_wire::proto::cryptoserver_client::CryptoserverClient;
use oarlock_wire::proto::{
    self, Code, Fault, OpenKey, Request, Response, open_key, request, response, scheme,
};
use oarlock_wire::{Endpoint, LinkError, Message, ServerLink, frame};
use tonic::transport::Channel;

use crate::test_server::{self, TestServer, open_resident, request};

/// Starts a server whose plaintext clients have keys too.
async fn start_server(change: impl FnOnce(&mut ServerLimits)) -> TestServer {
    TestServer::with(|config, _| {
        config.grants[0].clients.push("loopback".into());
        change(&mut config.limits);
    })
    .await
}

async fn is_served(link: &ServerLink) {
    open_resident(link, 0, "ed25519").await;
}

fn refusal_of(outcome: Result<response::Body, LinkError>) -> Fault {
    match outcome {
        Err(LinkError::Refused(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

async fn bring(link: &ServerLink, key: &Key) -> Result<response::Body, LinkError> {
    let der = match export::private_pkcs8_der(key) {
        Ok(der) => der.to_vec(),
        Err(_) => export::spki_der(key).unwrap(),
    };
    let source = Some(open_key::Source::Asymmetric(der.into()));
    link.call(request::Body::OpenKey(OpenKey { handle: 1, source, ..OpenKey::default() })).await
}

/// Brings a key again and again. Returns how often the server took it, and why it did not at last.
async fn bring_until_refused(link: &ServerLink, key: &Key) -> (u32, Fault) {
    let mut brought = 0;
    loop {
        match bring(link, key).await {
            Ok(_) => brought += 1,
            Err(LinkError::Refused(fault)) => return (brought, fault),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Returns `count` jobs of one scheme under handle 0.
fn jobs(count: u32, kind: scheme::Kind, input: &[u8]) -> request::Body {
    let inputs = input.repeat(count as usize);
    let lens = (input.len() as u32).to_le_bytes().repeat(count as usize);
    request::Body::Jobs(proto::Jobs {
        count,
        schemes: vec![proto::Scheme {
            kind: kind.into(),
            digest: proto::Digest::Sha256.into(),
            ..Default::default()
        }],
        inputs: inputs.into(),
        input_lens: lens.into(),
        ..Default::default()
    })
}

/// Returns digests of the same data, with an output of any length.
fn digests(count: u32, output_len: u32) -> proto::Records {
    let task = proto::Task {
        kind: proto::task::Kind::Digest.into(),
        algorithm: "sha256".into(),
        ..Default::default()
    };
    proto::Records {
        count,
        tasks: vec![task],
        data: vec![7; 4096].into(),
        input: Some(proto::Spans { len: 4096, ..Default::default() }),
        output: Some(proto::Spans { len: 32, stride: 32, ..Default::default() }),
        output_len,
        ..Default::default()
    }
}

/// Connects an attacker to the UNIX socket.
fn attacker(path: &Path) -> UnixStream {
    let mut stream = UnixStream::connect(path).unwrap();
    // The server may have closed the connection already.
    let _ = stream.write_all(frame::PREAMBLE);
    stream
}

fn framed(id: u64, body: request::Body) -> BytesMut {
    let mut bytes = BytesMut::new();
    frame::write(&request(id, body), &mut bytes).unwrap();
    bytes
}

/// Returns the faults that a connection receives until the server ends it.
fn final_faults(stream: &mut UnixStream) -> Vec<(Code, String)> {
    let mut heard = Vec::new();
    let _ = stream.read_to_end(&mut heard);
    let (mut heard, mut faults) = (BytesMut::from(&*heard), Vec::new());
    while let Some(message) = frame::take(&mut heard, 1 << 26).unwrap() {
        if let Some(response::Body::Fault(fault)) = Response::decode(message).unwrap().body {
            faults.push((fault.code(), fault.message));
        }
    }
    faults
}

#[tokio::test(flavor = "multi_thread")]
async fn admits_known_clients_beside_a_crowd_of_silent_connections() {
    let server = start_server(|limits| {
        (limits.max_handshakes, limits.max_handshakes_per_address) = (8, 4);
        (limits.max_connections, limits.max_unix_connections) = (4, 4);
        // Longer than any test: no client is admitted because the time of a silent connection was over.
        limits.max_handshake_seconds = 3600;
    })
    .await;
    let address = server.addresses.tcp.unwrap();
    let known = ServerLink::open(&server.tls()).await.unwrap();
    is_served(&known).await;
    let mut strangers: Vec<_> = (0..64).map(|_| TcpStream::connect(address).unwrap()).collect();
    for stranger in strangers.iter_mut().step_by(2) {
        let _ = stranger.write_all(&[22, 3, 1]);
    }
    is_served(&known).await;
    is_served(&ServerLink::open(&server.unix()).await.unwrap()).await;
    is_served(&ServerLink::open(&server.tls()).await.unwrap()).await;
    // The evicted connections have ended.
    let mut ended = 0;
    for stranger in &mut strangers {
        stranger.set_nonblocking(true).unwrap();
        let read = stranger.read(&mut [0]);
        ended += usize::from(!matches!(&read, Err(error) if error.kind() == ErrorKind::WouldBlock));
    }
    assert!(ended >= 60, "{ended} of 64");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_connections_of_one_client() {
    let server = start_server(|limits| limits.max_connections_per_client = 2).await;
    let first = ServerLink::open(&server.unix()).await.unwrap();
    is_served(&first).await;
    let second = ServerLink::open(&server.unix()).await.unwrap();
    is_served(&second).await;
    let mut third = attacker(server.addresses.unix.as_ref().unwrap());
    let [(code, message)] = &*final_faults(&mut third) else { panic!("one fault was expected") };
    assert_eq!(*code, Code::ResourceExhausted);
    assert!(message.contains("max_connections_per_client is 2"), "{message}");
    is_served(&ServerLink::open(&server.tls()).await.unwrap()).await;
    drop(first);
    until_served(&server.unix()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn disconnects_a_unix_client_that_takes_no_answers() {
    let server = start_server(|limits| {
        limits.max_stall_seconds = 1;
        limits.max_idle_seconds = 3600;
    })
    .await;
    let mut stream = attacker(server.addresses.unix.as_ref().unwrap());
    stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    let records = framed(1, request::Body::Records(digests(1, 1 << 20)));
    // The client never reads. The server stops reading too, and finally closes the connection.
    loop {
        match stream.write_all(&records) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => {
                assert!(
                    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset),
                    "{error}"
                );
                break;
            }
        }
    }
    is_served(&ServerLink::open(&server.unix()).await.unwrap()).await;
}

async fn client(server: &TestServer) -> CryptoserverClient<Channel> {
    let url = format!("http://{}", server.addresses.plaintext.unwrap());
    CryptoserverClient::new(Channel::from_shared(url).unwrap().connect().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn disconnects_a_grpc_client_that_takes_no_answers() {
    let server =
        start_server(|limits| (limits.max_stall_seconds, limits.max_connections_per_client) = (1, 1)).await;
    let mut client = client(&server).await;
    let requests = (0..16).map(|id| request(id, request::Body::Records(digests(1, 1 << 20))));
    // The requests of the stream do not end, so that the server waits only for the client to take answers.
    let requests = futures_util::StreamExt::chain(
        futures_util::stream::iter(requests),
        futures_util::stream::pending::<Request>(),
    );
    let _answers = client.stream(requests).await.unwrap();
    // The client may have one connection, so another one is admitted only after the end of the first.
    until_served(&server.plaintext()).await;
}

/// Connects again and again until a request is served.
async fn until_served(endpoint: &Endpoint) {
    loop {
        if let Ok(link) = ServerLink::open(endpoint).await {
            let source = Some(open_key::Source::Resident("ed25519".into()));
            let open = request::Body::OpenKey(OpenKey { source, ..OpenKey::default() });
            if link.call(open).await.is_ok() {
                return;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn disconnects_a_client_that_sends_half_a_message() {
    let server = start_server(|limits| {
        limits.max_message_seconds = 1;
        limits.max_idle_seconds = 3600;
    })
    .await;
    let mut stream = attacker(server.addresses.unix.as_ref().unwrap());
    stream.write_all(&[0, 0, 1, 0, 1, 2, 3]).unwrap();
    assert!(final_faults(&mut stream).is_empty());
    // A silent connection is not affected.
    let quiet = attacker(server.addresses.unix.as_ref().unwrap());
    quiet.set_nonblocking(true).unwrap();
    assert_eq!((&quiet).read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_bytes_of_one_client_and_serves_others() {
    let server = start_server(|limits| {
        limits.max_message_bytes = 1 << 20;
        (limits.max_bytes_per_client, limits.max_bytes) = (4 << 20, 4 << 20);
    })
    .await;
    let greedy = ServerLink::open(&server.unix()).await.unwrap();
    is_served(&greedy).await;
    let fault = refusal_of(greedy.call(jobs(1 << 14, scheme::Kind::Ed25519Sign, b"m")).await);
    assert_eq!((fault.code(), fault.blame()), (Code::ResourceExhausted, proto::Blame::Caller));
    assert!(fault.message.contains("max_bytes_per_client is 4194304"), "{}", fault.message);
    // A smaller batch of the same client is served, and so is another client.
    assert!(greedy.call(jobs(1 << 10, scheme::Kind::Ed25519Sign, b"m")).await.is_ok());
    is_served(&ServerLink::open(&server.tls()).await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_engine_time_that_a_client_has_waiting() {
    let server = start_server(|limits| limits.max_queued_seconds_per_client = 1).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "rsa2048").await;
    // These engines measure a shape with its first job. Before, nothing limits it.
    let first = link.call(jobs(1, scheme::Kind::RsaPkcs1Sign, b"m")).await.unwrap();
    assert!(matches!(first, response::Body::Results(results) if results.faults.is_empty()));
    // Every engine needs more than a second for this.
    let fault = match link.call(jobs(100_000, scheme::Kind::RsaPkcs1Sign, b"m")).await.unwrap() {
        response::Body::Results(results) => results.faults.into_iter().next().unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(fault.code(), Code::ResourceExhausted, "{}", fault.message);
    assert!(fault.retry_after_ms >= 100);
    let one = link.call(jobs(1, scheme::Kind::RsaPkcs1Sign, b"m")).await.unwrap();
    assert!(matches!(one, response::Body::Results(results) if results.faults.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_bytes_of_a_single_call() {
    let server = start_server(|limits| limits.max_unary_bytes = 4096).await;
    let mut client = client(&server).await;
    let sign = |len: usize| proto::SignRequest {
        key: "ed25519".into(),
        scheme: Some(proto::Scheme { kind: scheme::Kind::Ed25519Sign.into(), ..Default::default() }),
        input: Some(proto::sign_request::Input::Message(vec![7; len].into())),
        ..Default::default()
    };
    assert!(client.sign(sign(4000)).await.is_ok());
    let status = client.sign(sign(5000)).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::ResourceExhausted, "{status}");
    assert!(status.message().contains("max_unary_bytes"), "{status}");
    // A stream takes it.
    let link = ServerLink::open(&server.plaintext()).await.unwrap();
    is_served(&link).await;
    assert!(link.call(jobs(1, scheme::Kind::Ed25519Sign, &[7; 5000])).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_rate_and_the_size_of_brought_keys() {
    let server = start_server(|limits| {
        limits.max_brought_keys_per_second = 40;
        limits.max_brought_rsa_bits = 2048;
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let fault = refusal_of(bring(&link, &generate::rsa(3072).unwrap()).await);
    assert_eq!(fault.code(), Code::BadKey);
    assert!(
        fault.message.contains("max_brought_rsa_bits") && fault.message.contains("3072"),
        "{}",
        fault.message
    );
    let composite = generate::composite(CompositeAlg::MlDsa65Rsa3072Pss).unwrap();
    let fault = refusal_of(bring(&link, &composite).await);
    assert!(fault.message.contains("max_brought_rsa_bits"), "{}", fault.message);
    let slow = generate::slh_dsa(SlhDsaSet::Sha2_128s).unwrap();
    let fault = refusal_of(bring(&link, &slow).await);
    assert_eq!(fault.code(), Code::BadKey);
    assert!(fault.message.contains("slh-dsa-sha2-128s: clients bring no"), "{}", fault.message);
    let key = generate::ed25519().unwrap();
    let (brought, fault) = bring_until_refused(&link, &key).await;
    assert!(brought >= 30, "{brought}");
    assert_eq!(fault.code(), Code::ResourceExhausted);
    assert!(fault.retry_after_ms > 0 && fault.message.contains("40 per second"), "{}", fault.message);
    // Another connection of the client has the same rate, of which a slow machine has some again, and another client has
    // its own.
    let again = ServerLink::open(&server.unix()).await.unwrap();
    let (brought, fault) = bring_until_refused(&again, &key).await;
    assert!(brought < 30, "{brought}");
    assert_eq!(fault.code(), Code::ResourceExhausted);
    assert!(bring(&ServerLink::open(&server.tls()).await.unwrap(), &key).await.is_ok());
}

fn symmetric(secret: u8) -> open_key::Source {
    open_key::Source::Symmetric(proto::Symmetric { r#type: "aes128".into(), secret: vec![secret; 16].into() })
}

/// Returns a request for a CMAC. Its output shows which key was used.
fn mac(handle: u32) -> request::Body {
    let task = proto::Task {
        kind: proto::task::Kind::Mac.into(),
        algorithm: "aes128-cmac".into(),
        ..Default::default()
    };
    request::Body::Records(proto::Records {
        count: 1,
        tasks: vec![task],
        data: vec![7; 8192].into(),
        key_of: handle.to_le_bytes().to_vec().into(),
        input: Some(proto::Spans { len: 8192, ..Default::default() }),
        output: Some(proto::Spans { len: 16, ..Default::default() }),
        output_len: 16,
        ..Default::default()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn uses_a_closed_key_only_for_requests_before_its_end() {
    let server = start_server(|_| {}).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let output = |body: response::Body| match body {
        response::Body::RecordResults(results) => {
            assert!(
                results.faults.is_empty(),
                "{:?}",
                results.faults.iter().map(|fault| &fault.message).collect::<Vec<_>>()
            );
            results.output
        }
        other => panic!("{other:?}"),
    };
    let mut macs = Vec::new();
    for round in 0..50_u8 {
        test_server::open(&link, 0, symmetric(round)).await;
        let before = link.call(mac(0));
        let close = link.call(request::Body::CloseKey(proto::CloseKey { handle: 0 }));
        let reopen = OpenKey { handle: 0, source: Some(symmetric(round + 100)), ..OpenKey::default() };
        let reopened = link.call(request::Body::OpenKey(reopen));
        let after = link.call(mac(0));
        let (before, closed, reopened, after) = tokio::join!(before, close, reopened, after);
        assert!(closed.is_ok() && reopened.is_ok());
        macs.push([output(before.unwrap()), output(after.unwrap())]);
        link.call(request::Body::CloseKey(proto::CloseKey { handle: 0 })).await.unwrap();
    }
    // The same MACs with keys that stay open.
    for (round, [before, after]) in (0_u8..).zip(&macs) {
        for (secret, found) in [(round, before), (round + 100, after)] {
            test_server::open(&link, 1, symmetric(secret)).await;
            assert_eq!(&output(link.call(mac(1)).await.unwrap()), found);
        }
    }
}
