//! Tests of keys that a client expects under a name.

use std::path::Path;

use bytes::Bytes;
use oarlock::keys::{export, generate};
use oarlock::{Input, Job, Key, SigningScheme};
use oarlock_wire::proto::{self, Code, Fault, OpenKey, open_key, request, response};
use oarlock_wire::{LinkError, ServerLink, jobs};

use crate::test_server::{self, TestServer, open_resident};

async fn open_pinned(link: &ServerLink, name: &str, fingerprint: Bytes) -> Result<proto::KeyInfo, Fault> {
    let source = Some(open_key::Source::Resident(name.into()));
    match link.call(request::Body::OpenKey(OpenKey { handle: 0, source, fingerprint })).await {
        Ok(response::Body::Key(info)) => Ok(info),
        Err(LinkError::Refused(fault)) => Err(fault),
        other => panic!("{other:?}"),
    }
}

/// Signs with the key under handle 0.
async fn sign(link: &ServerLink, key: &Key) -> Result<Vec<u8>, Fault> {
    let job = Job::sign(SigningScheme::ED25519, key, Input::Message(b"message"));
    let message = jobs::write([(job, 0)].into_iter()).unwrap();
    match link.call(request::Body::Jobs(message)).await.unwrap() {
        response::Body::Results(mut results) => match results.faults.pop() {
            Some(fault) => Err(fault),
            None => Ok(results.outputs.to_vec()),
        },
        other => panic!("{other:?}"),
    }
}

fn replace(path: &Path, key: &Key) {
    test_server::write_secret(path, export::private_pkcs8_pem(key).unwrap().as_bytes());
}

/// Waits until the server has read another key of a name.
async fn reloaded(link: &ServerLink, name: &str, fingerprint: &[u8]) {
    loop {
        let get = proto::GetPublicKeyRequest { name: name.into() };
        match link.call(request::Body::GetPublicKey(get)).await.unwrap() {
            response::Body::Key(info) if info.fingerprint == fingerprint => return,
            response::Body::Key(_) => tokio::task::yield_now().await,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn does_not_open_another_key_than_expected() {
    let server = TestServer::new().await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let wrong = open_pinned(&link, "ed25519", vec![7; 32].into()).await.unwrap_err();
    assert_eq!(wrong.code(), Code::WrongKey);
    let expected = "\"ed25519\" is not the key that the client expects: another key has this name now";
    assert_eq!(wrong.message, expected);
    let key = generate::ed25519().unwrap();
    assert!(sign(&link, &key).await.unwrap_err().message.contains("this stream has not opened it"));
    let found = open_pinned(&link, "ed25519", Bytes::new()).await.unwrap();
    let pinned = open_pinned(&link, "ed25519", found.fingerprint.clone()).await.unwrap();
    assert_eq!(pinned, found);
    assert!(sign(&link, &key).await.is_ok());
    let unknown = open_pinned(&link, "nobody's", vec![7; 32].into()).await.unwrap_err();
    assert_eq!(
        unknown.code(),
        Code::PermissionDenied,
        "a client learns nothing about keys that it may not use"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn does_not_sign_with_a_key_that_replaced_the_expected_one() {
    let server = TestServer::new().await;
    let (pinned, free) =
        (ServerLink::open(&server.unix()).await.unwrap(), ServerLink::open(&server.unix()).await.unwrap());
    let old = open_resident(&free, 0, "ed25519").await;
    open_pinned(&pinned, "ed25519", old.fingerprint.clone()).await.unwrap();
    let path = server.development.keys().join("ed25519.pem");
    let before = std::fs::read(&path).unwrap();
    let new = generate::ed25519().unwrap();
    sign(&pinned, &new).await.unwrap();
    replace(&path, &new);
    reloaded(&pinned, "ed25519", new.fingerprint().as_bytes()).await;
    let refused = sign(&pinned, &new).await.unwrap_err();
    assert_eq!(refused.code(), Code::WrongKey);
    assert!(refused.message.starts_with("\"ed25519\" is not the key"), "{}", refused.message);
    assert!(sign(&free, &new).await.is_ok(), "a client without an expected key gets the new key");
    // When the expected key returns, its handle can be used again.
    test_server::write_secret(&path, before);
    reloaded(&pinned, "ed25519", &old.fingerprint).await;
    assert!(sign(&pinned, &new).await.is_ok());
}
