//! Tests with hostile and broken clients.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use bytes::BytesMut;
use oarlock::keys::generate;
use oarlock::{Input, Job, SigningScheme};
use oarlock_server::config::{AuditConfig, AuditFailure};
use oarlock_wire::proto::{self, Code, OpenKey, Response, open_key, request, response};
use oarlock_wire::{Credentials, Endpoint, LinkError, Message, ServerLink, frame, jobs};
use rcgen::{CertificateParams, CertifiedIssuer, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use tokio_rustls::rustls;

use crate::metrics::{scrape, until};
use crate::test_server::{TestServer, open_resident, request};

fn edwards_job() -> proto::Jobs {
    let key = generate::ed25519().unwrap();
    let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(b"message"));
    jobs::write([(job, 0)].into_iter()).unwrap()
}

/// Asserts that the server still serves other clients.
async fn assert_serves(server: &TestServer) {
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "ed25519").await;
    let answer = link.call(request::Body::Jobs(edwards_job())).await.unwrap();
    assert!(matches!(answer, response::Body::Results(results) if results.codes.is_empty()));
}

/// Sends bytes on the UNIX socket, and returns the answers until the connection ends.
fn answers_to(path: &Path, bytes: &[u8]) -> Vec<Response> {
    let mut stream = UnixStream::connect(path).unwrap();
    // The server may leave before everything is written.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut heard = Vec::new();
    let _ = stream.read_to_end(&mut heard);
    let mut heard = BytesMut::from(&*heard);
    let mut responses = Vec::new();
    while let Some(message) = frame::take(&mut heard, 1 << 20).unwrap() {
        responses.push(Response::decode(message).unwrap());
    }
    responses
}

fn fault_of(response: &Response) -> (Code, &str) {
    match &response.body {
        Some(response::Body::Fault(fault)) => (fault.code(), &fault.message),
        other => panic!("{other:?}"),
    }
}

fn framed(messages: &[proto::Request]) -> Vec<u8> {
    let mut bytes = BytesMut::from(&frame::PREAMBLE[..]);
    messages.iter().for_each(|message| frame::write(message, &mut bytes).unwrap());
    bytes.to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_only_the_connection_of_malformed_frames_with_a_reason() {
    let server = TestServer::with(|config, _| config.limits.max_message_bytes = 1 << 16).await;
    let path = server.addresses.unix.clone().unwrap();
    let long = [&frame::PREAMBLE[..], &(1_u32 << 20).to_le_bytes()].concat();
    let garbage = [&frame::PREAMBLE[..], &5_u32.to_le_bytes(), &[0xff; 5]].concat();
    for (bytes, code, expected) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], Code::Unsupported, "expected the preamble"),
        (b"oarlock\x02", Code::Unsupported, "expected the preamble"),
        (&long, Code::ResourceExhausted, "bytes of a frame: 1048576 is more than 65536"),
        (&garbage, Code::Invalid, "expected a message of this protocol"),
    ] {
        let heard = answers_to(&path, bytes);
        let (found, message) = fault_of(heard.last().unwrap());
        assert_eq!(found, code, "{message}");
        assert!(message.contains(expected), "{message}");
    }
    for bytes in [
        &b""[..],
        b"oarl",
        &framed(&[])[..],
        &framed(&[request(1, request::Body::Jobs(edwards_job()))])[..30],
    ] {
        assert!(answers_to(&path, bytes).is_empty());
    }
    assert_serves(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_each_invalid_request_with_a_fault_of_its_own() {
    let server = TestServer::new().await;
    let path = server.addresses.unix.unwrap();
    let mut wrong = edwards_job();
    wrong.count = 1 << 30;
    let mut many = edwards_job();
    many.count = 3;
    let open = |handle| OpenKey {
        handle,
        source: Some(open_key::Source::Resident("ed25519".into())),
        ..OpenKey::default()
    };
    let heard = answers_to(
        &path,
        &framed(&[
            proto::Request { id: 1, body: None },
            request(2, request::Body::Jobs(wrong)),
            request(3, request::Body::Jobs(many)),
            request(4, request::Body::OpenKey(open(4_000_000))),
            request(5, request::Body::Records(proto::Records { count: 9, ..Default::default() })),
            request(6, request::Body::OpenKey(open(0))),
            request(7, request::Body::Jobs(edwards_job())),
        ]),
    );
    let answer = |id: u64| heard.iter().find(|response| response.id == id).unwrap();
    assert_eq!(fault_of(answer(1)).0, Code::Invalid);
    assert_eq!(fault_of(answer(2)).0, Code::ResourceExhausted);
    assert_eq!(fault_of(answer(3)).0, Code::Invalid);
    assert_eq!(fault_of(answer(4)).0, Code::ResourceExhausted);
    assert_eq!(fault_of(answer(5)).0, Code::Invalid);
    assert!(matches!(&answer(7).body, Some(response::Body::Results(results)) if results.codes.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn closes_connections_that_never_finish_their_handshake() {
    let server = TestServer::with(|config, _| config.limits.max_handshake_seconds = 1).await;
    let mut silent = TcpStream::connect(server.addresses.tcp.unwrap()).unwrap();
    let mut slow = TcpStream::connect(server.addresses.tcp.unwrap()).unwrap();
    slow.write_all(&[22, 3, 1]).unwrap();
    let mut unix = UnixStream::connect(server.addresses.unix.as_ref().unwrap()).unwrap();
    unix.write_all(b"oar").unwrap();
    assert_serves(&server).await;
    // The reads end when the server closes the connections. Otherwise they would never return.
    let mut rest = Vec::new();
    for ended in [silent.read_to_end(&mut rest), slow.read_to_end(&mut rest), unix.read_to_end(&mut rest)] {
        assert!(ended.is_ok() || rest.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_connections_and_their_silence() {
    let server = TestServer::with(|config, _| {
        config.limits.max_unix_connections = 2;
        config.limits.max_idle_seconds = 1;
    })
    .await;
    let path = server.addresses.unix.unwrap();
    let (mut one, two) = (UnixStream::connect(&path).unwrap(), UnixStream::connect(&path).unwrap());
    one.write_all(frame::PREAMBLE).unwrap();
    let heard = answers_to(&path, &framed(&[]));
    assert_eq!(fault_of(&heard[0]).0, Code::ResourceExhausted);
    // After the preamble the client is silent. So the server closes the connection, and another one is admitted.
    let mut rest = Vec::new();
    let _ = one.read_to_end(&mut rest);
    drop(two);
    loop {
        match answers_to(&path, &framed(&[request(1, request::Body::ListKeys(proto::ListKeysRequest {}))]))
            .pop()
        {
            Some(Response { body: Some(response::Body::Keys(_)), .. }) => break,
            _ => std::thread::yield_now(),
        }
    }
}

/// Returns a certificate of another authority with its key.
fn foreign(names: &[&str], is_expired: bool) -> (Vec<u8>, Vec<u8>) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, "somebody else");
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let issuer = Issuer::new(params, KeyPair::generate().unwrap());
    leaf(&issuer, names, is_expired)
}

fn leaf(issuer: &Issuer<'_, KeyPair>, names: &[&str], is_expired: bool) -> (Vec<u8>, Vec<u8>) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    if is_expired {
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 2);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, issuer).unwrap();
    (certificate.pem().into_bytes(), key.serialize_pem().into_bytes())
}

fn url_of(server: &TestServer) -> String {
    format!("https://{}", server.addresses.tcp.unwrap())
}

/// Returns the number of keys that a client with this chain and key can see, or its refusal.
async fn shown_keys(
    server: &TestServer,
    (certificate, private_key): (Vec<u8>, Vec<u8>),
) -> Result<usize, String> {
    let server_ca = std::fs::read(server.development.ca()).unwrap();
    let credentials = Some(Credentials { server_ca, certificate, private_key: private_key.into() });
    let link = ServerLink::open(&Endpoint::Grpc { url: url_of(server), credentials }).await;
    let link = link.map_err(|error| error.to_string())?;
    // Under TLS 1.3 the client may get the refusal only after its handshake.
    match link.call(request::Body::ListKeys(proto::ListKeysRequest {})).await {
        Ok(response::Body::Keys(list)) => Ok(list.keys.len()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

fn authority_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params
}

/// Returns a stranger and so many certificates of authorities, of which a verifier can make many paths.
fn strange_chain(names: usize, len: usize) -> (Vec<u8>, Vec<u8>) {
    let params = |name: usize| authority_params(&format!("strange {name}"));
    let issuers: Vec<_> =
        (0..names).map(|name| Issuer::new(params(name), KeyPair::generate().unwrap())).collect();
    let (mut chain, key) = leaf(&issuers[0], &["good.test"], false);
    let pairs = (0..names).flat_map(|subject| (0..names).map(move |by| (subject, by))).cycle().take(len);
    for (subject, by) in pairs {
        let authority = params(subject).signed_by(&KeyPair::generate().unwrap(), &issuers[by]).unwrap();
        chain.extend_from_slice(authority.pem().as_bytes());
    }
    (chain, key)
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_long_chains_before_they_are_searched() {
    let root = CertifiedIssuer::self_signed(authority_params("root"), KeyPair::generate().unwrap()).unwrap();
    let server = TestServer::with(|config, directory| {
        let path = directory.join("clients.pem");
        std::fs::write(&path, root.pem()).unwrap();
        config.tls.as_mut().unwrap().client_ca = path;
        config.listen.metrics = Some("127.0.0.1:0".parse().unwrap());
        config.grants[0].clients.push("dns:good.test".into());
    })
    .await;
    // Eight certificates: the client's own, six of authorities, and the root.
    let mut authorities = vec![root];
    for number in 1..=6 {
        let (params, key) = (authority_params(&number.to_string()), KeyPair::generate().unwrap());
        let authority = CertifiedIssuer::signed_by(params, key, authorities.last().unwrap()).unwrap();
        authorities.push(authority);
    }
    let (mut chain, key) = leaf(authorities.last().unwrap(), &["good.test"], false);
    authorities.iter().rev().for_each(|authority| chain.extend_from_slice(authority.pem().as_bytes()));
    assert_eq!(shown_keys(&server, (chain, key)).await, Ok(7));
    assert_eq!(scrape(&server).await.value("oarlock_handshakes_failed_total"), 0.0);
    // Nine, a hundred, and eight of one name.
    for (least, (names, len)) in (1..).zip([(1, 8), (10, 100), (1, 7)]) {
        let refusal = shown_keys(&server, strange_chain(names, len)).await.unwrap_err();
        assert!(refusal.contains("CertificateUnknown"), "{refusal}");
        // The client may read its alert before the server counts it. A client that was refused connects again.
        until(&server, |page| page.value("oarlock_handshakes_failed_total") >= f64::from(least)).await;
    }
    assert_serves(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_refuse_long_chains_of_servers() {
    let root = CertifiedIssuer::self_signed(authority_params("root"), KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &root).unwrap();
    for (len, is_refused) in [(8, false), (9, true)] {
        let chain = vec![leaf.der().clone(); len];
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let der = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let mut config = builder.with_single_cert(chain, der).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // The server speaks no HTTP/2, so every client is refused sooner or later.
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                drop(acceptor.accept(stream).await);
            }
        });
        let credentials = Credentials {
            server_ca: root.pem().into_bytes(),
            certificate: leaf.pem().into_bytes(),
            private_key: key.serialize_pem().into_bytes().into(),
        };
        let url = format!("https://localhost:{port}");
        let opened = ServerLink::open(&Endpoint::Grpc { url, credentials: Some(credentials) }).await;
        let refusal = opened.err().unwrap().to_string();
        assert_eq!(refusal.contains("TooLong"), is_refused, "{refusal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_clients_without_a_valid_certificate() {
    // The test has the key of this authority.
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, "the clients' authority");
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let server = TestServer::with(|config, directory| {
        let path = directory.join("clients.pem");
        std::fs::write(&path, authority).unwrap();
        config.tls.as_mut().unwrap().client_ca = path;
        config.grants[0].clients.push("dns:good.test".into());
    })
    .await;
    let outcome = async |identity| shown_keys(&server, identity).await;
    assert_eq!(outcome(leaf(&issuer, &["good.test"], false)).await, Ok(7));
    assert_eq!(outcome(leaf(&issuer, &["other.test"], false)).await, Ok(0), "known, and without any rights");
    assert!(outcome(leaf(&issuer, &["good.test"], true)).await.is_err(), "expired");
    assert!(outcome(leaf(&issuer, &[], false)).await.is_err(), "nameless");
    assert!(outcome(foreign(&["good.test"], false)).await.is_err(), "another authority's");
    // Without any certificate.
    let (url, server_ca) = (url_of(&server), std::fs::read(server.development.ca()).unwrap());
    let tls = tonic::transport::ClientTlsConfig::new()
        .ca_certificate(tonic::transport::Certificate::from_pem(&server_ca));
    let endpoint = tonic::transport::Channel::from_shared(url.clone()).unwrap().tls_config(tls).unwrap();
    if let Ok(channel) = endpoint.connect().await {
        let mut client = proto::cryptoserver_client::CryptoserverClient::new(channel);
        assert!(client.list_keys(proto::ListKeysRequest {}).await.is_err());
    }
    assert_serves(&server).await;
}

fn audit(file: &Path, on_failure: AuditFailure) -> Option<AuditConfig> {
    Some(AuditConfig::at(file.to_owned(), on_failure))
}

#[tokio::test(flavor = "multi_thread")]
async fn denies_clients_without_rights_and_audits_them() {
    let mut server = TestServer::with(|config, directory| {
        config.grants[0].clients = vec!["dns:*.*.*".into()];
        config.audit = audit(&directory.join("audit.log"), AuditFailure::Stop);
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    for name in ["ed25519", "no-such-key"] {
        let source = Some(open_key::Source::Resident(name.into()));
        let body = request::Body::OpenKey(OpenKey { handle: 0, source, ..OpenKey::default() });
        let Err(LinkError::Refused(fault)) = link.call(body).await else { panic!("{name} was opened") };
        assert_eq!(fault.code(), Code::PermissionDenied);
        assert!(fault.message.contains("that this client may use"));
    }
    let tls = ServerLink::open(&server.tls()).await.unwrap();
    open_resident(&tls, 0, "ed25519").await;
    tls.call(request::Body::Jobs(edwards_job())).await.unwrap();
    drop((link, tls));
    server.stop().await;
    let log = std::fs::read_to_string(server.directory.path().join("audit.log")).unwrap();
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> =
        lines.filter(|line: &serde_json::Value| line["event"] == "operation").collect();
    let entry = |at: usize| ["key", "operation", "verdict"].map(|field| lines[at][field].as_str().unwrap());
    assert_eq!(entry(0), ["ed25519", "open", "PERMISSION_DENIED"]);
    assert_eq!(entry(1), ["no-such-key", "open", "PERMISSION_DENIED"]);
    assert_eq!(entry(2), ["ed25519", "ed25519-sign", "DONE"]);
    assert_eq!(
        (lines[2]["client"][0].as_str(), lines[2]["count"].as_u64()),
        (Some("dns:developer.oarlock.test"), Some(1))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn stops_or_warns_on_a_full_disk() {
    for (on_failure, goes_on) in [(AuditFailure::Stop, false), (AuditFailure::Warn, true)] {
        let mut server =
            TestServer::with(|config, _| config.audit = audit(Path::new("/dev/full"), on_failure)).await;
        let link = ServerLink::open(&server.unix()).await.unwrap();
        let mut is_refused = false;
        // The refusals begin once the first entry, that of the start, has met the disk.
        while !is_refused {
            let source = Some(open_key::Source::Resident("ed25519".into()));
            let open = request::Body::OpenKey(OpenKey { source, ..OpenKey::default() });
            let opened = link.call(open).await;
            match if opened.is_ok() { link.call(request::Body::Jobs(edwards_job())).await } else { opened } {
                Ok(_) if goes_on => break,
                Ok(_) => {}
                Err(LinkError::Refused(fault)) => {
                    assert_eq!(
                        (fault.code(), &*fault.message),
                        (Code::Unavailable, "the audit log cannot be written")
                    );
                    is_refused = true;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(is_refused, !goes_on);
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_requests_under_way_when_the_server_stops() {
    let mut server = TestServer::new().await;
    let links =
        [ServerLink::open(&server.unix()).await.unwrap(), ServerLink::open(&server.tls()).await.unwrap()]
            .map(Arc::new);
    for link in &links {
        open_resident(link, 0, "ed25519").await;
    }
    let mut clients = Vec::new();
    for link in &links {
        for _ in 0..4 {
            let link = Arc::clone(link);
            clients.push(tokio::spawn(async move {
                let mut answered = 0;
                loop {
                    match link.call(request::Body::Jobs(edwards_job())).await {
                        Ok(response::Body::Results(results)) => {
                            assert!(results.codes.is_empty() && results.outputs.len() == 64);
                            answered += 1;
                        }
                        Ok(other) => panic!("{other:?}"),
                        // A request is refused as a whole, or the stream has ended. No answer is incomplete.
                        Err(LinkError::Refused(fault)) => {
                            assert_eq!(fault.code(), Code::Unavailable);
                            return answered;
                        }
                        Err(_) => return answered,
                    }
                }
            }));
        }
    }
    for _ in 0..50 {
        links[0].call(request::Body::Jobs(edwards_job())).await.unwrap();
    }
    server.stop().await;
    let mut answered = 0;
    for client in clients {
        answered += client.await.unwrap();
    }
    assert!(answered > 0);
    assert!(UnixStream::connect(server.addresses.unix.as_ref().unwrap()).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn gives_the_same_answer_for_every_bad_padding() {
    let server = TestServer::with(|config, _| config.grants[0].clients.push("loopback".into())).await;
    let url = format!("http://{}", server.addresses.plaintext.unwrap());
    let channel = tonic::transport::Channel::from_shared(url).unwrap().connect().await.unwrap();
    let mut client = proto::cryptoserver_client::CryptoserverClient::new(channel);
    let kind = |kind: proto::scheme::Kind| proto::Scheme {
        kind: kind.into(),
        digest: proto::Digest::Sha256.into(),
        ..Default::default()
    };
    let mut answers = Vec::new();
    for first in 0..8_u8 {
        let mut ciphertext = vec![first + 1; 256];
        ciphertext[0] = 1;
        let oaep = proto::DecryptRequest {
            key: "rsa2048".into(),
            scheme: Some(kind(proto::scheme::Kind::RsaOaepDecrypt)),
            ciphertext: ciphertext.clone().into(),
            label: Default::default(),
            ..Default::default()
        };
        let status = client.decrypt(oaep.clone()).await.unwrap_err();
        answers.push((status.code(), status.message().to_owned()));
        // Implicit rejection: the plaintext depends only on key and ciphertext, and there is no error.
        let pkcs1 =
            proto::DecryptRequest { scheme: Some(kind(proto::scheme::Kind::RsaPkcs1Decrypt)), ..oaep };
        let once = client.decrypt(pkcs1.clone()).await.unwrap().into_inner().plaintext;
        assert_eq!(once, client.decrypt(pkcs1).await.unwrap().into_inner().plaintext);
    }
    answers.dedup();
    assert_eq!(
        answers,
        [(tonic::Code::InvalidArgument, "rejected: the ciphertext or signature is not valid".to_owned())]
    );
}

/// Reads answers until `is_last` is true for an answer, or the connection ends.
fn read_answers(stream: &mut UnixStream, is_last: impl Fn(&Response) -> bool) -> Vec<Response> {
    let (mut received, mut answers) = (BytesMut::new(), Vec::new());
    let mut chunk = vec![0; 1 << 16];
    loop {
        while let Some(message) = frame::take(&mut received, 1 << 24).unwrap() {
            answers.push(Response::decode(message).unwrap());
            if is_last(answers.last().unwrap()) {
                return answers;
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return answers,
            Ok(read) => received.extend_from_slice(&chunk[..read]),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_a_pending_batch_on_the_unix_socket_when_the_server_stops() {
    let mut server = TestServer::with(|config, _| config.limits.max_drain_seconds = 120).await;
    let mut stream = UnixStream::connect(server.addresses.unix.as_ref().unwrap()).unwrap();
    let scheme = proto::Scheme {
        kind: proto::scheme::Kind::RsaPkcs1Sign.into(),
        digest: proto::Digest::Sha256.into(),
        ..Default::default()
    };
    let count = 2000;
    let lens = 1_u32.to_le_bytes().repeat(count);
    let batch = proto::Jobs {
        count: count as u32,
        schemes: vec![scheme],
        inputs: vec![b'x'; count].into(),
        input_lens: lens.into(),
        ..Default::default()
    };
    let open = OpenKey {
        handle: 0,
        source: Some(open_key::Source::Resident("rsa2048".into())),
        ..OpenKey::default()
    };
    stream
        .write_all(&framed(&[
            request(1, request::Body::OpenKey(open)),
            request(2, request::Body::Jobs(batch)),
            request(3, request::Body::ListKeys(proto::ListKeysRequest {})),
        ]))
        .unwrap();
    // Requests are begun in their order: an answer to the third shows that the batch is in progress.
    let early = read_answers(&mut stream, |answer| answer.id == 3);
    assert!(early.iter().all(|answer| answer.id != 2), "the batch was too short for this test");
    server.begin_to_stop();
    let late = read_answers(&mut stream, |answer| answer.id == 2);
    let Some(Response { id: 2, body: Some(response::Body::Results(results)) }) = late.last() else {
        panic!("the batch was not answered: {late:?}")
    };
    assert!(results.codes.is_empty() && results.outputs.len() == count * 256);
    drop(stream);
    server.stopped().await;
}

fn edwards_scheme() -> proto::Scheme {
    proto::Scheme { kind: proto::scheme::Kind::Ed25519Sign.into(), ..Default::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_jobs_under_closed_handles_briefly() {
    let server = TestServer::new().await;
    let count = 1 << 17;
    let jobs = |key_of: Vec<u8>| proto::Jobs {
        count,
        schemes: vec![edwards_scheme()],
        key_of: key_of.into(),
        ..Default::default()
    };
    let each: Vec<u8> = (0..count).flat_map(u32::to_le_bytes).collect();
    let alike = request(1, request::Body::Jobs(jobs(Vec::new())));
    let different = request(2, request::Body::Jobs(jobs(each)));
    for (message, bound) in [(alike, 256), (different, 2 * count as usize + 64 * 1024)] {
        let id = message.id;
        let mut stream = UnixStream::connect(server.addresses.unix.as_ref().unwrap()).unwrap();
        stream.write_all(&framed(&[message])).unwrap();
        let answers = read_answers(&mut stream, |answer| answer.id == id);
        let Some(response::Body::Results(results)) = &answers[0].body else { panic!("{answers:?}") };
        assert!(results.encoded_len() < bound, "{} bytes of {bound}", results.encoded_len());
        assert!(results.codes.iter().all(|code| *code == Code::NoSuchKey as u8));
        assert_eq!(results.faults[0].message, "handle 0: this stream has not opened it");
    }
    assert_serves(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn handles_many_schemes_without_searching_them_for_each_job() {
    let server = TestServer::new().await;
    let open = OpenKey {
        handle: 0,
        source: Some(open_key::Source::Resident("rsa2048".into())),
        ..OpenKey::default()
    };
    let scheme = |number: u32| proto::Scheme {
        kind: proto::scheme::Kind::RsaPssSign.into(),
        digest: (number % 4 + 1) as i32,
        mgf_digest: (number / 4 % 4 + 1) as i32,
        salt_len: Some(number / 16),
        ..Default::default()
    };
    // Two handles, one of them open, and 16,384 schemes: the cached decisions must not be searched for each job.
    let mut messages = vec![request(1, request::Body::OpenKey(open))];
    for message in 0..64 {
        let schemes = (0..256).map(|directory| scheme(message * 256 + directory)).collect();
        let scheme_of: Vec<u8> = (0..=255).collect();
        let key_of: Vec<u8> = vec![1_u32.to_le_bytes(); 256].concat();
        let jobs = proto::Jobs {
            count: 256,
            schemes,
            scheme_of: scheme_of.into(),
            key_of: key_of.into(),
            ..Default::default()
        };
        messages.push(request(2 + u64::from(message), request::Body::Jobs(jobs)));
    }
    let long = proto::Jobs {
        count: 1 << 15,
        schemes: vec![scheme(16383)],
        key_of: 1_u32.to_le_bytes().to_vec().into(),
        ..Default::default()
    };
    messages.push(request(100, request::Body::Jobs(long)));
    let mut stream = UnixStream::connect(server.addresses.unix.as_ref().unwrap()).unwrap();
    stream.write_all(&framed(&messages)).unwrap();
    let answers = read_answers(&mut stream, |answer| answer.id == 100);
    assert_eq!(answers.len(), messages.len());
    let last = answers.last().unwrap();
    assert!(matches!(&last.body, Some(response::Body::Results(results)) if results.faults.len() == 1));
    // A message with a salt that fits no modulus is refused as a whole.
    let salted = proto::Scheme { salt_len: Some(60_000), ..scheme(0) };
    let jobs = proto::Jobs { count: 1, schemes: vec![salted], ..Default::default() };
    stream.write_all(&framed(&[request(101, request::Body::Jobs(jobs))])[frame::PREAMBLE.len()..]).unwrap();
    let answers = read_answers(&mut stream, |answer| answer.id == 101);
    let (code, text) = fault_of(&answers[0]);
    assert_eq!(code, Code::ResourceExhausted);
    assert!(text.contains("salt_len: 60000 is more than"), "{text}");
}
