//! Tests of the answers of a server over gRPC, plaintext and the UNIX socket.

use std::path::Path;

use oarlock::keys::{export, generate, import};
use oarlock::{BlockCipher, Column, Curve, InputSource, OutputSink, SigningScheme, Span, VerifyingScheme};
use oarlock::{DigestAlg, Input, Job, JobError, Key, Scheme};
use oarlock_keytable::{Batch, BatchBuilder, BatchEntry, BatchTask, EntryIv};
use oarlock_wire::proto::cryptoserver_client::CryptoserverClient;
use oarlock_wire::proto::{self, Code, open_key, request, response};
use oarlock_wire::{LinkError, ServerLink, jobs, records};
use tonic::transport::Channel;

use crate::test_server::{self, TestServer, open, open_resident, write_secret};

const PKCS1: Scheme = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };

pub async fn run(link: &ServerLink, jobs: &[(Job<'_>, u32)]) -> Vec<Result<Vec<u8>, JobError>> {
    let message = jobs::write(jobs.iter().copied()).unwrap();
    match link.call(request::Body::Jobs(message)).await.unwrap() {
        response::Body::Results(results) => {
            let columns = jobs::ResultColumns::read(&results, jobs.len()).unwrap();
            columns.iter("the server").map(|answer| answer.map(<[u8]>::to_vec)).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn public(info: &proto::KeyInfo) -> Key {
    import::spki_der(&info.public_key).unwrap()
}

fn is_valid(scheme: Scheme, key: &Key, message: &[u8], signature: &[u8]) -> bool {
    let accelerator = oarlock::Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    accelerator.run_all(&[Job::with_scheme(scheme, key, Input::Message(message), signature)]).get(0).is_ok()
}

#[tokio::test]
async fn answers_batches_of_several_schemes_and_keys_on_every_listener() {
    let server = TestServer::with(|config, _| {
        config.grants[0].clients.push("loopback".into());
    })
    .await;
    for endpoint in [server.tls(), server.plaintext(), server.unix()] {
        let link = ServerLink::open(&endpoint).await.unwrap();
        let rsa = open_resident(&link, 0, "rsa2048").await;
        let edwards = open_resident(&link, 7, "ed25519").await;
        assert_eq!((rsa.kind.as_str(), edwards.kind.as_str()), ("rsa2048", "ed25519"));
        let (rsa, edwards) = (public(&rsa), public(&edwards));
        let message = |text| Input::Message(text);
        let answers = run(
            &link,
            &[
                (Job::sign(SigningScheme::ED25519, &edwards, message(b"one")), 7),
                (Job::with_scheme(PKCS1, &rsa, message(b"two"), &[]), 0),
                (Job::with_scheme(PKCS1, &rsa, message(b"three"), &[]), 9),
                (Job::sign(SigningScheme::ED25519, &edwards, message(b"four")), 0),
                (Job::verify(VerifyingScheme::ED25519, &edwards, message(b"five"), &[7; 64]), 7),
            ],
        )
        .await;
        assert!(
            is_valid(Scheme::Ed25519Verify, &edwards, b"one", answers[0].as_ref().unwrap()),
            "{endpoint}"
        );
        let verify = Scheme::RsaPkcs1Verify { digest: DigestAlg::Sha256 };
        assert!(is_valid(verify, &rsa, b"two", answers[1].as_ref().unwrap()));
        let reason = |answer: &Result<_, JobError>| answer.as_ref().unwrap_err().to_string();
        assert!(reason(&answers[2]).contains("handle 9: this stream has not opened it"));
        assert!(reason(&answers[3]).contains("wrong key type"), "{}", reason(&answers[3]));
        assert_eq!(answers[4], Err(JobError::Rejected));
    }
}

#[tokio::test]
async fn answers_single_calls() {
    let server = TestServer::with(|config, _| config.grants[0].clients.push("loopback".into())).await;
    let url = format!("http://{}", server.addresses.plaintext.unwrap());
    let channel = Channel::from_shared(url).unwrap().connect().await.unwrap();
    let mut client = CryptoserverClient::new(channel);
    let keys = client.list_keys(proto::ListKeysRequest {}).await.unwrap().into_inner().keys;
    let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(names, ["aes128", "ed25519", "hmac", "p256", "rsa2048", "tdes2", "x25519"]);
    let info =
        client.get_public_key(proto::GetPublicKeyRequest { name: "p256".into() }).await.unwrap().into_inner();
    let kind = |kind: proto::scheme::Kind| proto::Scheme {
        kind: kind.into(),
        digest: proto::Digest::Sha256.into(),
        ..Default::default()
    };
    let input = Some(proto::sign_request::Input::Message("hello".into()));
    let sign = proto::SignRequest {
        key: "p256".into(),
        scheme: Some(kind(proto::scheme::Kind::EcdsaSign)),
        input,
        ..Default::default()
    };
    let signature = client.sign(sign).await.unwrap().into_inner().signature;
    for (key, message, expected) in [
        (proto::verify_request::Key::Resident("p256".into()), "hello", true),
        (proto::verify_request::Key::PublicKey(info.public_key.clone()), "hello", true),
        (proto::verify_request::Key::PublicKey(info.public_key.clone()), "hallo", false),
    ] {
        let request = proto::VerifyRequest {
            key: Some(key),
            scheme: Some(kind(proto::scheme::Kind::EcdsaVerify)),
            input: Some(proto::verify_request::Input::Message(message.into())),
            signature: signature.clone(),
            ..Default::default()
        };
        assert_eq!(client.verify(request).await.unwrap().into_inner().is_valid, expected);
    }
    let peer = generate::x25519().unwrap();
    let public_key = client
        .get_public_key(proto::GetPublicKeyRequest { name: "x25519".into() })
        .await
        .unwrap()
        .into_inner();
    let derive =
        proto::DeriveRequest { key: "x25519".into(), peer: peer.x25519_public().unwrap().to_vec().into() };
    let shared = client.derive(derive).await.unwrap().into_inner().shared_secret;
    let accelerator = oarlock::Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
    let theirs = public(&public_key);
    let expected = accelerator.run_all(&[Job::agree(&peer, theirs.x25519_public().unwrap())]);
    assert_eq!(shared, expected.get(0).unwrap());
    let peer = generate::ec(Curve::P256).unwrap();
    let point = peer.ec_public().unwrap().1.to_vec();
    let derive = |key: &str, peer| proto::DeriveRequest { key: key.into(), peer };
    let shared =
        client.derive(derive("p256", point.clone().into())).await.unwrap().into_inner().shared_secret;
    let theirs = public(&info);
    let expected = accelerator.run_all(&[Job::agree(&peer, theirs.ec_public().unwrap().1)]);
    assert_eq!(shared, expected.get(0).unwrap());
    let off_curve = [&point[..64], &[point[64] ^ 1]].concat();
    for (key, peer) in [("p256", off_curve), ("p256", vec![9; 32]), ("x25519", point)] {
        let refused = client.derive(derive(key, peer.into())).await.unwrap_err();
        assert_eq!(refused.code(), tonic::Code::InvalidArgument, "{refused}");
    }
    let engines = client.list_engines(proto::ListEnginesRequest {}).await.unwrap().into_inner();
    assert!(engines.engines.iter().any(|engine| engine.name == "scalar" && !engine.shapes.is_empty()));
    let unknown = proto::GetPublicKeyRequest { name: "nobody's".into() };
    assert_eq!(client.get_public_key(unknown).await.unwrap_err().code(), tonic::Code::PermissionDenied);
}

async fn keys_of(link: &ServerLink) -> Vec<proto::KeyInfo> {
    match link.call(request::Body::ListKeys(proto::ListKeysRequest {})).await.unwrap() {
        response::Body::Keys(list) => list.keys,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn shows_the_certificates_beside_a_key_and_keeps_a_key_whose_certificates_are_broken() {
    let server = TestServer::with(|config, _| {
        let keys = config.keys.directory.as_deref().unwrap();
        write_secret(&keys.join("p256.crt"), certificate(&keys.join("p256.pem")));
        // The certificate of another key.
        write_secret(&keys.join("ed25519.crt"), certificate(&keys.join("p256.pem")));
    })
    .await;
    let keys = server.config.keys.directory.clone().unwrap();
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let of_key = |keys: &[proto::KeyInfo], name: &str| {
        keys.iter().find(|key| key.name == name).unwrap().certificates.clone()
    };
    let listed = keys_of(&link).await;
    let first = std::fs::read(keys.join("p256.crt")).unwrap();
    assert_eq!(of_key(&listed, "p256"), std::slice::from_ref(&first));
    assert!(of_key(&listed, "ed25519").is_empty() && of_key(&listed, "aes128").is_empty());
    assert!(open_resident(&link, 0, "p256").await.certificates.is_empty());
    let warnings = oarlock_server::check(&server.config, test_server::engines()).unwrap();
    let warning = warnings.iter().find(|warning| warning.contains("ed25519.crt")).unwrap();
    assert!(warning.contains("is of another key") && warning.contains("the key is used"), "{warning}");
    assert!(!warnings.iter().any(|warning| warning.contains("p256.crt")), "{warnings:?}");
    // A broken file leaves the certificates that were read before, and one that fits replaces them.
    write_secret(&keys.join("p256.crt"), "-----BEGIN CERTIFICATE-----\nAAAA\n");
    write_secret(&keys.join("ed25519.crt"), certificate(&keys.join("ed25519.pem")));
    server.reloads.reload(server.config.clone()).await.unwrap();
    let listed = keys_of(&link).await;
    assert_eq!(of_key(&listed, "p256"), [first]);
    assert_eq!(of_key(&listed, "ed25519"), [std::fs::read(keys.join("ed25519.crt")).unwrap()]);
    std::fs::remove_file(keys.join("p256.crt")).unwrap();
    server.reloads.reload(server.config.clone()).await.unwrap();
    assert!(of_key(&keys_of(&link).await, "p256").is_empty());
}

/// Makes a certificate in DER of the key in a file.
fn certificate(key: &Path) -> Vec<u8> {
    let key = rcgen::KeyPair::from_pem(&std::fs::read_to_string(key).unwrap()).unwrap();
    let params = rcgen::CertificateParams::new(vec!["mail.example.com".to_owned()]).unwrap();
    params.self_signed(&key).unwrap().der().to_vec()
}

#[tokio::test]
async fn ends_brought_keys_with_their_stream() {
    let server = TestServer::new().await;
    let key = generate::ed25519().unwrap();
    let pkcs8 = export::private_pkcs8_der(&key).unwrap();
    let link = ServerLink::open(&server.tls()).await.unwrap();
    let info = open(&link, 0, open_key::Source::Asymmetric(pkcs8.to_vec().into())).await;
    assert_eq!(info.fingerprint, key.fingerprint().as_bytes()[..]);
    let jobs = [(Job::sign(SigningScheme::ED25519, &key, Input::Message(b"own")), 0)];
    let signature = run(&link, &jobs).await.remove(0).unwrap();
    assert!(is_valid(Scheme::Ed25519Verify, &key, b"own", &signature));
    let other = ServerLink::open(&server.tls()).await.unwrap();
    assert!(run(&other, &jobs).await[0].is_err());
    link.call(request::Body::CloseKey(proto::CloseKey { handle: 0 })).await.unwrap();
    assert!(run(&link, &jobs).await[0].is_err());
}

#[tokio::test]
async fn refuses_broken_keys_and_keys_that_may_not_be_brought() {
    let refused = async |server: &TestServer, source| {
        let link = ServerLink::open(&server.unix()).await.unwrap();
        let body = request::Body::OpenKey(proto::OpenKey { handle: 0, source, ..Default::default() });
        match link.call(body).await.unwrap_err() {
            LinkError::Refused(fault) => (fault.code(), fault.message),
            other => panic!("{other}"),
        }
    };
    let server = TestServer::new().await;
    let garbage = Some(open_key::Source::Asymmetric("not a key".into()));
    assert_eq!(refused(&server, garbage.clone()).await.0, Code::BadKey);
    assert_eq!(refused(&server, None).await.0, Code::Invalid);
    let symmetric = |name: &str, len| {
        let secret = vec![1; len].into();
        Some(open_key::Source::Symmetric(proto::Symmetric { r#type: name.into(), secret }))
    };
    assert_eq!(refused(&server, symmetric("tdes2", 15)).await.0, Code::BadKey);
    assert_eq!(refused(&server, symmetric("rot13", 15)).await.0, Code::Unsupported);
    let weak = refused(&server, symmetric("tdes2", 16)).await;
    assert_eq!(weak, (Code::BadKey, "a triple-DES key with two equal parts".into()));
    let strict = TestServer::with(|config, _| config.limits.may_bring_keys = false).await;
    assert_eq!(refused(&strict, garbage).await.0, Code::PermissionDenied);
}

/// Returns a batch of blocks under one key, each with an IV of zeros.
fn blocks(data: &[u8]) -> Batch<'_> {
    let block = Span { start: 0, len: 8 };
    let records = oarlock::Records {
        len: data.len() / 8,
        data: data.into(),
        output_len: data.len(),
        input: Column::Stride { first: InputSource::Data(block), stride: 8 },
        output: Column::Stride { first: OutputSink::Output(block), stride: 8 },
        ..Default::default()
    };
    Batch {
        iv_from: Column::One(oarlock_keytable::IvSource::Zero),
        ..Batch::uniform(BatchTask::encrypt(BlockCipher::Tdes2), records)
    }
}

async fn process(link: &ServerLink, batch: &Batch<'_>) -> proto::RecordResults {
    let message = records::write(batch, |index| index).unwrap();
    match link.call(request::Body::Records(message)).await.unwrap() {
        response::Body::RecordResults(results) => results,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn encrypts_and_decrypts_records() {
    let server = TestServer::new().await;
    let data: Vec<u8> = (0..80_000_u32).map(|at| (at * 7) as u8).collect();
    for endpoint in [server.tls(), server.unix()] {
        let link = ServerLink::open(&endpoint).await.unwrap();
        open_resident(&link, 0, "tdes2").await;
        let encrypted = process(&link, &blocks(&data)).await;
        assert!(encrypted.codes.is_empty() && encrypted.faults.is_empty());
        assert_ne!(encrypted.output, data);
        let decrypt =
            Batch { task: Column::One(BatchTask::decrypt(BlockCipher::Tdes2)), ..blocks(&encrypted.output) };
        assert_eq!(process(&link, &decrypt).await.output, data);
    }
}

#[tokio::test]
async fn fails_bad_records_alone_with_their_reasons() {
    let server =
        TestServer::with(|config, _| config.grants[0].schemes = vec!["tdes2-cbc-encrypt".into()]).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "tdes2").await;
    let secret = (1..=16).collect::<Vec<u8>>().into();
    open(&link, 2, open_key::Source::Symmetric(proto::Symmetric { r#type: "tdes2".into(), secret })).await;
    let mut builder = BatchBuilder::new();
    let (encrypt, decrypt) = (BatchTask::encrypt(BlockCipher::Tdes2), BatchTask::decrypt(BlockCipher::Tdes2));
    for (task, handle, input) in [
        (encrypt, 0, &b"12345678"[..]),
        (encrypt, 0, b"1234567"),
        (decrypt, 0, b"12345678"),
        (encrypt, 5, b"12345678"),
        (decrypt, 2, b"12345678"),
    ] {
        builder.add(BatchEntry::new(task).key(handle).iv(EntryIv::Zero).input(input)).unwrap();
    }
    let results = process(&link, &builder.batch()).await;
    let codes = [Code::Done, Code::Invalid, Code::PermissionDenied, Code::NoSuchKey, Code::Done];
    assert_eq!(results.codes, codes.map(|code| code as u8)[..]);
    let messages: Vec<(u32, &str)> =
        results.faults.iter().map(|fault| (fault.index, &*fault.message)).collect();
    assert!(messages[0].1.contains("a multiple of 8 bytes"), "{messages:?}");
    assert_eq!(messages[1], (2, "no grant allows this client tdes2-cbc-decrypt with this key"));
    assert_eq!(messages[2], (3, "handle 5: this stream has not opened it"));
}

/// Connects a plaintext client.
async fn plain_client(server: &TestServer) -> CryptoserverClient<Channel> {
    let url = format!("http://{}", server.addresses.plaintext.unwrap());
    CryptoserverClient::new(Channel::from_shared(url).unwrap().connect().await.unwrap())
}

#[tokio::test]
async fn names_the_missing_field_of_a_single_call() {
    let server = TestServer::with(|config, _| config.grants[0].clients.push("loopback".into())).await;
    let mut client = plain_client(&server).await;
    let named = |answer: Result<(), tonic::Status>, field: &str| {
        let status = answer.expect_err(field);
        assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status}");
        assert!(status.message().starts_with(&format!("{field} is missing")), "{status}");
    };
    let scheme = |kind: proto::scheme::Kind| Some(proto::Scheme { kind: kind.into(), ..Default::default() });
    let ed25519 = scheme(proto::scheme::Kind::Ed25519Sign);
    let message = || Some(proto::sign_request::Input::Message("m".into()));
    let key = || "ed25519".to_owned();
    let unspecified = scheme(proto::scheme::Kind::Unspecified);
    let sign = |key, scheme, input| proto::SignRequest { key, scheme, input, ..Default::default() };
    for (request, field) in [
        (sign(key(), ed25519, None), "input"),
        (sign(key(), None, message()), "scheme"),
        (sign(key(), unspecified, message()), "scheme"),
        (sign(String::new(), ed25519, message()), "key"),
    ] {
        named(client.sign(request).await.map(drop), field);
    }
    let whole = proto::VerifyRequest {
        key: Some(proto::verify_request::Key::Resident(key())),
        scheme: scheme(proto::scheme::Kind::Ed25519Verify),
        input: Some(proto::verify_request::Input::Message("m".into())),
        signature: vec![0; 64].into(),
        ..Default::default()
    };
    assert!(!client.verify(whole.clone()).await.unwrap().into_inner().is_valid);
    for (request, field) in [
        (proto::VerifyRequest { input: None, ..whole.clone() }, "input"),
        (proto::VerifyRequest { scheme: None, ..whole.clone() }, "scheme"),
        (proto::VerifyRequest { key: None, ..whole.clone() }, "key"),
        (proto::VerifyRequest { signature: Vec::new().into(), ..whole }, "signature"),
    ] {
        named(client.verify(request).await.map(drop), field);
    }
    let rsa = "rsa2048".to_owned();
    let pkcs1 = scheme(proto::scheme::Kind::RsaPkcs1Decrypt);
    for (scheme, ciphertext, field) in [(None, vec![1], "scheme"), (pkcs1, Vec::new(), "ciphertext")] {
        let ciphertext = ciphertext.into();
        let request = proto::DecryptRequest { key: rsa.clone(), scheme, ciphertext, ..Default::default() };
        named(client.decrypt(request).await.map(drop), field);
    }
    let derive = proto::DeriveRequest { key: "x25519".into(), ..Default::default() };
    named(client.derive(derive).await.map(drop), "peer");
    let process = proto::ProcessRequest { keys: vec!["tdes2".into()], records: None };
    named(client.process(process).await.map(drop), "records");
    let no_task = Some(proto::Records { count: 1, ..Default::default() });
    let process = proto::ProcessRequest { keys: vec!["tdes2".into()], records: no_task };
    named(client.process(process).await.map(drop), "tasks");
}

#[tokio::test]
async fn names_the_missing_field_of_a_stream_request() {
    let server = TestServer::new().await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "ed25519").await;
    let jobs = |schemes| proto::Jobs { count: 1, schemes, ..Default::default() };
    for (body, field) in [
        (request::Body::OpenKey(proto::OpenKey::default()), "source"),
        (request::Body::Jobs(jobs(vec![])), "schemes"),
        (request::Body::Jobs(jobs(vec![proto::Scheme::default()])), "scheme"),
        (request::Body::Records(proto::Records { count: 1, ..Default::default() }), "tasks"),
    ] {
        let Err(LinkError::Refused(fault)) = link.call(body).await else { panic!("{field} was not missed") };
        assert_eq!(fault.code(), Code::Invalid, "{}", fault.message);
        assert!(fault.message.starts_with(&format!("{field} is missing")), "{}", fault.message);
    }
    let mut bare = plain_client(&server).await;
    let requests = futures_util::stream::iter([proto::Request { id: 1, body: None }]);
    let answer = bare.stream(requests).await.unwrap().into_inner().message().await.unwrap().unwrap();
    let Some(response::Body::Fault(fault)) = answer.body else { panic!("{answer:?}") };
    assert_eq!((fault.code(), fault.message.starts_with("body is missing")), (Code::Invalid, true));
}
