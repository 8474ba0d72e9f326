//! Tests of what operations amount to: a client gets nothing by one operation that another would have to be granted
//! for.

use bytes::Bytes;
use oarlock::keys::{export, generate};
use oarlock::{BlockCipher, Input, Job, KeySource, MacAlg, SigningScheme, WrapAlg};
use oarlock_keytable::{BatchBuilder, BatchEntry, BatchTask, EntryIv, EntryOutput, KeyType, KeyWrap};
use oarlock_server::config::GrantConfig;
use oarlock_wire::proto::cryptoserver_client::CryptoserverClient;
use oarlock_wire::proto::{self, Code, MacRequest, VerifyMacRequest, open_key, request, response};
use oarlock_wire::{ServerLink, jobs};
use tonic::transport::Channel;

use crate::gcm::{alone, process};
use crate::test_server::{TestServer, open, open_resident, write_secret};

const ALG: BlockCipher = BlockCipher::Aes128;

/// Keys that do CBC: `plain` does everything, and under `hidden` others cannot decrypt.
const KEYS: &str = concat!(
    "{\"name\":\"from\",\"type\":\"aes128\",\"hex\":\"2b7e151628aed2a6abf7158809cf4f3c\",\"algorithms\":[\"cbc\"]}\n",
    "{\"name\":\"plain\",\"type\":\"aes128\",\"hex\":\"3b7e151628aed2a6abf7158809cf4f3c\",\"algorithms\":[\"cbc\"]}\n",
    "{\"name\":\"hidden\",\"type\":\"aes128\",\"hex\":\"4b7e151628aed2a6abf7158809cf4f3c\",\"algorithms\":[\"cbc\"],",
    "\"operations\":[\"translate-to\"]}\n",
    "{\"name\":\"codes\",\"type\":\"hmac\",\"hex\":\"5b7e151628aed2a6abf7158809cf4f3c\"}\n",
);

/// A server whose clients have these grants: the names of keys, and of operations.
async fn server_with(grants: &[(&str, &[&str])]) -> TestServer {
    TestServer::with(|config, _| {
        let mut first = config.grants[0].clone();
        first.clients.push("loopback".into());
        let grant = |(keys, schemes): &(&str, &[&str])| GrantConfig {
            keys: vec![(*keys).into()],
            schemes: schemes.iter().map(|scheme| (*scheme).into()).collect(),
            ..first.clone()
        };
        config.grants = grants.iter().map(grant).collect();
        write_secret(config.keys.records.as_deref().unwrap(), KEYS);
    })
    .await
}

async fn bring(link: &ServerLink, handle: u32, secret: &[u8]) {
    let symmetric = proto::Symmetric { r#type: "aes128".into(), secret: secret.to_vec().into() };
    open(link, handle, open_key::Source::Symmetric(symmetric)).await;
}

fn translate<'e>() -> BatchEntry<'e> {
    let entry = BatchEntry::new(BatchTask::translate(ALG, ALG)).iv(EntryIv::Zero);
    entry.second_iv(EntryIv::Generated).input(&[7; 16])
}

/// The example of RFC 3394 4.1: this key wraps that of the client.
const WRAPPING: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const WRAPPED: [u8; 24] = [
    0x1f, 0xa6, 0x8b, 0x0a, 0x81, 0x12, 0xb4, 0x47, 0xae, 0xf3, 0x4b, 0xd8, 0xfb, 0x5a, 0x7b, 0x82, 0x9d,
    0x3e, 0x86, 0x23, 0x71, 0xd2, 0xcf, 0xe5,
];

#[tokio::test]
async fn a_translation_to_a_key_of_the_client_is_a_decryption() {
    for (schemes, expected) in [
        (&["translate-*", "aes128-cbc-encrypt"][..], Code::PermissionDenied),
        (&["translate-*", "aes128-cbc-decrypt"], Code::Done),
    ] {
        let server = server_with(&[("*", schemes)]).await;
        let link = ServerLink::open(&server.unix()).await.unwrap();
        open_resident(&link, 0, "from").await;
        bring(&link, 1, &[9; 16]).await;
        bring(&link, 2, &WRAPPING).await;
        assert_eq!(alone(&link, translate().key(0).second_key(1)).await.0, expected, "{schemes:?}");

        // The client knows a key that its own key unwraps, too.
        let mut builder = BatchBuilder::new();
        let slot = builder.slot(16);
        let unwrap = BatchTask::unwrap_key(KeyWrap::Aes(WrapAlg::Aes128Kw), KeyType::Aes128);
        let unwrap = BatchEntry::new(unwrap).key(2).input(&WRAPPED).output(EntryOutput::Slot(slot));
        builder.add(unwrap).unwrap();
        builder.add(translate().key(0).second_key_from(KeySource::Slot(slot))).unwrap();
        let results = process(&link, &builder.batch()).await;
        let code = results.codes.get(1).map_or(Code::Done, |code| Code::try_from(i32::from(*code)).unwrap());
        assert_eq!(code, expected, "{schemes:?}: {:?}", results.faults);
        assert!(results.codes.first().is_none_or(|code| *code == Code::Done as u8), "{:?}", results.faults);
    }
}

#[tokio::test]
async fn a_translation_from_a_key_of_the_client_is_an_encryption() {
    for (schemes, expected) in [
        (&["translate-*", "aes128-cbc-decrypt"][..], Code::PermissionDenied),
        (&["translate-*", "aes128-cbc-encrypt"], Code::Done),
    ] {
        let server = server_with(&[("*", schemes)]).await;
        let link = ServerLink::open(&server.unix()).await.unwrap();
        open_resident(&link, 0, "plain").await;
        bring(&link, 1, &[9; 16]).await;
        assert_eq!(alone(&link, translate().key(1).second_key(0)).await.0, expected, "{schemes:?}");
        // Between keys of its own everything is the client's.
        bring(&link, 2, &[8; 16]).await;
        assert_eq!(alone(&link, translate().key(1).second_key(2)).await.0, Code::Done);
    }
}

/// The other key need not be the client's: it is enough that the client decrypts under it.
#[tokio::test]
async fn a_translation_gives_no_more_than_the_grants_of_both_keys() {
    let grants: [(&str, &[&str]); 3] =
        [("from", &["translate-*"]), ("plain", &["translate-*", "aes128-cbc-decrypt"]), ("hidden", &["*"])];
    let server = server_with(&grants).await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    for (handle, name) in [(0, "from"), (1, "plain"), (2, "hidden")] {
        open_resident(&link, handle, name).await;
    }
    let denied = Code::PermissionDenied;
    for (from, to, expected) in [(0, 1, denied), (0, 2, Code::Done), (1, 0, Code::Done), (1, 2, Code::Done)] {
        let found = alone(&link, translate().key(from).second_key(to)).await.0;
        assert_eq!(found, expected, "from {from} to {to}");
    }
    // Each record of a batch has its own answer.
    let mut builder = BatchBuilder::new();
    for to in [2, 1, 2] {
        builder.add(translate().key(0).second_key(to)).unwrap();
    }
    let results = process(&link, &builder.batch()).await;
    assert_eq!(results.codes[..], [Code::Done, denied, Code::Done].map(|code| code as u8));
    let message = &results.faults[0].message;
    assert!(message.contains("can decrypt under the other key") && message.contains("\"from\""), "{message}");
}

#[tokio::test]
async fn who_may_verify_codes_makes_none() {
    let messages = || vec![Bytes::from_static(b"message")];
    for (schemes, may_make, may_verify) in [
        (&["hmac-sha256-verify"][..], false, true),
        (&["hmac-sha256"], true, true),
        (&["hmac-sha512-verify", "hmac-sha1"], false, false),
    ] {
        let server = server_with(&[("codes", schemes)]).await;
        let url = format!("http://{}", server.addresses.plaintext.unwrap());
        let channel = Channel::from_shared(url).unwrap().connect().await.unwrap();
        let mut client = CryptoserverClient::new(channel);
        let request = MacRequest { key: "codes".into(), messages: messages(), ..Default::default() };
        let made = client.mac(request).await;
        let is_denied = |status: tonic::Status| status.code() == tonic::Code::PermissionDenied;
        assert!(made.is_ok() == may_make && made.err().is_none_or(is_denied), "{schemes:?}");
        let request = VerifyMacRequest {
            key: "codes".into(),
            messages: messages(),
            macs: vec![Bytes::from_static(&[0; 32])],
            ..Default::default()
        };
        let verified = client.verify_mac(request).await;
        assert!(verified.is_ok() == may_verify && verified.err().is_none_or(is_denied), "{schemes:?}");
        let link = ServerLink::open(&server.unix()).await.unwrap();
        open_resident(&link, 0, "codes").await;
        let mac = BatchEntry::new(BatchTask::mac(MacAlg::HmacSha256)).key(0).input(b"message");
        let expected = if may_make { Code::Done } else { Code::PermissionDenied };
        assert_eq!(alone(&link, mac).await.0, expected, "{schemes:?}");
    }
}

/// Signs with the key under handle 1, and encrypts with the one under handle 2.
async fn use_own_keys(link: &ServerLink, key: &oarlock::Key) -> [Code; 2] {
    let job = Job::sign(SigningScheme::ED25519, key, Input::Message(b"message"));
    let jobs = request::Body::Jobs(jobs::write([(job, 1)].into_iter()).unwrap());
    let response::Body::Results(results) = link.call(jobs).await.unwrap() else { panic!("no results") };
    let signed = results.codes.first().map_or(Code::Done, |code| Code::try_from(i32::from(*code)).unwrap());
    let encrypt = BatchEntry::new(BatchTask::encrypt(ALG)).key(2).iv(EntryIv::Zero).input(&[7; 16]);
    [signed, alone(link, encrypt).await.0]
}

#[tokio::test]
async fn keys_of_clients_do_not_outlive_the_setting_that_allows_them() {
    let server = TestServer::new().await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    let key = generate::ed25519().unwrap();
    let bring_both = async || {
        let pem = export::private_pkcs8_pem(&key).unwrap();
        open(&link, 1, open_key::Source::Asymmetric(pem.as_bytes().to_vec().into())).await;
        bring(&link, 2, &[9; 16]).await;
    };
    bring_both().await;
    assert_eq!(use_own_keys(&link, &key).await, [Code::Done; 2]);
    let mut config = server.config.clone();
    config.limits.may_bring_keys = false;
    server.reloads.reload(config).await.unwrap();
    assert_eq!(use_own_keys(&link, &key).await, [Code::PermissionDenied; 2]);
    // What was refused once has to come again.
    server.reloads.reload(server.config.clone()).await.unwrap();
    assert_eq!(use_own_keys(&link, &key).await, [Code::PermissionDenied; 2]);
    bring_both().await;
    assert_eq!(use_own_keys(&link, &key).await, [Code::Done; 2]);
}
