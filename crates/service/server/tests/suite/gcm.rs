//! Tests of resident AES-GCM keys: a right to encrypt gives no key stream, and a reload gives a key no new uses.

use std::path::Path;

use oarlock::{AeadAlg, BlockCipher, OutputSink};
use oarlock_keytable::{Batch, BatchBuilder, BatchEntry, BatchTask, EntryIv, IvSource};
use oarlock_server::CryptoserverConfig;
use oarlock_wire::proto::{self, Code, open_key, request, response};
use oarlock_wire::{ServerLink, records};

use crate::test_server::{self, TestServer, open, open_resident, write_secret};

pub async fn process(link: &ServerLink, batch: &Batch<'_>) -> proto::RecordResults {
    let message = records::write(batch, |index| index).unwrap();
    match link.call(request::Body::Records(message)).await.unwrap() {
        response::Body::RecordResults(results) => results,
        other => panic!("{other:?}"),
    }
}

/// Runs one record. Returns its code, its output and the generated IV.
pub async fn alone(link: &ServerLink, entry: BatchEntry<'_>) -> (Code, Vec<u8>, Vec<u8>) {
    let mut builder = BatchBuilder::new();
    builder.add(entry).unwrap();
    let batch = builder.batch();
    let results = process(link, &batch).await;
    let faults: Vec<&str> = results.faults.iter().map(|fault| &*fault.message).collect();
    assert!(!results.codes.contains(&(Code::Invalid as u8)), "{faults:?}");
    let code = results.codes.first().map_or(Code::Done, |code| Code::try_from(i32::from(*code)).unwrap());
    let bytes = |sink: Option<OutputSink>| match sink {
        Some(OutputSink::Output(span)) => span.slice(&results.output).unwrap_or_default().to_vec(),
        _ => Vec::new(),
    };
    let made = match batch.iv_from.get(0) {
        Some(IvSource::Generated(sink)) => Some(sink),
        _ => None,
    };
    (code, bytes(batch.records.output.get(0)), bytes(made))
}

fn seal<'e>() -> BatchEntry<'e> {
    BatchEntry::new(BatchTask::seal(AeadAlg::Aes128Gcm)).key(0)
}

/// The counter block that encrypts the first block of a record. NIST SP 800-38D 7.1.
fn counter_block(nonce: &[u8]) -> Vec<u8> {
    [nonce, &[0, 0, 0, 2]].concat()
}

fn differs(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter().zip(other).map(|(one, other)| one ^ other).collect()
}

#[tokio::test]
async fn gives_no_key_stream_to_a_client_that_may_only_encrypt() {
    let server = TestServer::with(|config, _| {
        config.grants[0].schemes = vec!["*-encrypt".into(), "translate-*".into()];
    })
    .await;
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "aes128").await;
    let symmetric =
        proto::Symmetric { r#type: "aes128".into(), secret: (1..=16).collect::<Vec<u8>>().into() };
    open(&link, 1, open_key::Source::Symmetric(symmetric)).await;
    let plain = b"a secret of 16 B";
    let (code, sealed, nonce) = alone(&link, seal().iv(EntryIv::Generated).input(plain)).await;
    assert_eq!((code, sealed.len(), nonce.len()), (Code::Done, 16, 12));
    let key_stream = differs(plain, &sealed);
    let block = counter_block(&nonce);

    let denied = Code::PermissionDenied;
    assert_eq!(alone(&link, seal().iv(EntryIv::Bytes(&nonce)).input(&[0; 16])).await.0, denied);
    let open_it =
        BatchEntry::new(BatchTask::open(AeadAlg::Aes128Gcm)).key(0).iv(EntryIv::Bytes(&nonce)).tag(&[0; 16]);
    assert_eq!(alone(&link, open_it.input(&sealed)).await.0, denied);
    let cbc = BatchEntry::new(BatchTask::encrypt(BlockCipher::Aes128)).key(0).input(&block);
    let translate = BatchEntry::new(BatchTask::translate(BlockCipher::Aes128, BlockCipher::Aes128));
    let translate = translate.key(1).second_key(0).iv(EntryIv::Zero);
    // The client's own key decrypts this to the counter block.
    let zero_iv =
        BatchEntry::new(BatchTask::encrypt(BlockCipher::Aes128)).key(1).iv(EntryIv::Zero).input(&block);
    let (code, wrapped, _) = alone(&link, zero_iv).await;
    assert_eq!(code, Code::Done);
    for iv in [EntryIv::Zero, EntryIv::Bytes(&[0; 16]), EntryIv::KeyItself] {
        assert_eq!(alone(&link, cbc.iv(iv)).await.0, denied, "{iv:?}");
        assert_eq!(alone(&link, translate.second_iv(iv).input(&wrapped)).await.0, denied, "{iv:?}");
    }
    // With random IVs both are allowed, and the output is another block.
    for entry in [cbc.iv(EntryIv::Generated), translate.second_iv(EntryIv::Generated).input(&wrapped)] {
        let (code, output, _) = alone(&link, entry).await;
        assert_eq!((code, output.len()), (Code::Done, 16));
        assert_ne!(output, key_stream);
    }
}

/// Returns the error of a server with these symmetric keys, if there is one.
fn refusal(lines: &str) -> Option<String> {
    let directory = tempfile::tempdir().unwrap();
    let development = oarlock_server::development::Development::at(directory.path());
    development.prepare().unwrap();
    let config = CryptoserverConfig::read(&development.config()).unwrap();
    write_secret(config.keys.records.as_deref().unwrap(), lines);
    oarlock_server::check(&config, test_server::engines()).err().map(|error| error.to_string())
}

fn key(name: &str, more: &str) -> String {
    format!(
        "{{\"name\":\"{name}\",\"type\":\"aes128\",\"hex\":\"000102030405060708090a0b0c0d0e0f\"{more}}}\n"
    )
}

#[test]
fn rejects_keys_whose_policy_lets_clients_choose_gcm_nonces() {
    assert_eq!(refusal(&key("a", "")), None);
    assert_eq!(refusal(&key("a", ",\"algorithms\":[\"cbc\"],\"ivs\":[\"column-cbc\",\"zero\"]")), None);
    for more in [
        ",\"ivs\":[\"column-cbc\",\"random\"]",
        ",\"ivs\":[\"zero\"]",
        ",\"counter\":\"count\",\"nonce_field\":\"00000001\"",
    ] {
        let said = refusal(&key("a", more)).expect(more);
        assert!(said.contains("line 1") && said.contains("takes random IVs only"), "{said}");
    }
    let twice = key("a", ",\"algorithms\":[\"gcm\"]") + &key("b", ",\"algorithms\":[\"cbc\"]");
    let said = refusal(&twice).expect("the same key twice");
    assert!(said.contains("line 2: this key stands in line 1 too"), "{said}");
}

fn write_keys(config: &CryptoserverConfig, text: &str) {
    write_secret(config.keys.records.as_deref().unwrap(), text);
}

async fn seals(server: &TestServer, count: usize) -> Vec<Code> {
    let link = ServerLink::open(&server.unix()).await.unwrap();
    open_resident(&link, 0, "few").await;
    let mut codes = Vec::new();
    for _ in 0..count {
        codes.push(alone(&link, seal().iv(EntryIv::Generated).input(b"x")).await.0);
    }
    codes
}

#[tokio::test]
async fn gives_a_key_no_new_uses_at_a_reload() {
    let few = key("few", ",\"algorithms\":[\"gcm\"],\"max_random_gcm\":3");
    let server = TestServer::with(|config, _| write_keys(config, &few)).await;
    assert_eq!(seals(&server, 2).await, [Code::Done; 2]);
    write_keys(&server.config, &(few.clone() + "\n"));
    server.reloads.reload(server.config.clone()).await.unwrap();
    let used_up = Code::UsedUp;
    assert_eq!(seals(&server, 3).await, [Code::Done, used_up, used_up]);
    // With a higher maximum the key continues from its former count.
    write_keys(&server.config, &few.replace(":3", ":4"));
    server.reloads.reload(server.config.clone()).await.unwrap();
    assert_eq!(seals(&server, 2).await, [Code::Done, used_up]);
}

#[tokio::test]
async fn makes_different_nonces_at_servers_with_the_same_file() {
    let counted = key("few", ",\"algorithms\":[\"gcm\"],\"counter\":\"count\",\"nonce_field\":\"00000000\"");
    let mut seen = std::collections::HashSet::new();
    for field in ["00000001", "00000002"] {
        let change = |config: &mut CryptoserverConfig, _: &Path| {
            write_keys(config, &counted);
            config.keys.nonce_field = Some(field.to_owned().try_into().unwrap());
        };
        let server = TestServer::with(change).await;
        let link = ServerLink::open(&server.unix()).await.unwrap();
        open_resident(&link, 0, "few").await;
        for _ in 0..5 {
            let (code, _, nonce) = alone(&link, seal().iv(EntryIv::Generated).input(b"x")).await;
            assert_eq!(code, Code::Done);
            assert!(seen.insert(nonce.clone()), "{nonce:?} came twice");
            assert_eq!(nonce[..4], [0, 0, 0, field.as_bytes()[7] - b'0']);
        }
    }
}
