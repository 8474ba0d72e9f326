//! Keys at a cryptoserver of this process.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BinaryArray, StringArray};
use oarlock::keys::{export, generate};
use oarlock::{Accelerator, Blame, DigestAlg};
use oarlock_columns::{
    AssociatedData, ColumnCipher, ColumnError, ColumnIv, ColumnKeys, Decryption, Encryption, MacOptions,
    OnError, SignatureKey, Translation, decrypt, encrypt, hash, mac, parse_mac, sign, translate, verify,
};
use oarlock_keytable::KeyTable;
use oarlock_server::{BoundServer, CryptoserverConfig};
use oarlock_wire::{Endpoint, RemoteConfig, RemoteHolder};
use tokio::runtime::Runtime;

use super::common::{random_values, values_of};

const KEYS: &str = r#"{"name":"aes128","type":"aes128","hex":"01010101010101010101010101010101"}
{"name":"given","type":"aes128","hex":"02020202020202020202020202020202","ivs":["column"],"algorithms":["gcm"]}
{"name":"cbc","type":"aes128","hex":"03030303030303030303030303030303","algorithms":["cbc"]}
{"name":"hmac","type":"hmac","hex":"04040404040404040404040404040404"}
{"name":"scarce","type":"hmac","hex":"05050505050505050505050505050505","max_uses":3}
"#;
const SETTINGS: &str = "listen.unix = \"oarlock.sock\"\nkeys.records = \"keys\"\nkeys.directory = \"signing\"\n\
                        [[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n";

/// A server with its directory, and its keys as a client sees them.
struct TestServer {
    runtime: Option<Runtime>,
    directory: tempfile::TempDir,
    accelerator: Accelerator,
    holder: RemoteHolder,
    keys: ColumnKeys,
}

impl TestServer {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| write_private(&directory.path().join(name), text);
        write("keys", KEYS);
        write("oarlock.toml", SETTINGS);
        std::fs::create_dir(directory.path().join("signing")).unwrap();
        let key = generate::ed25519().unwrap();
        write("signing/ed25519.pem", &export::private_pkcs8_pem(&key).unwrap());
        let mut config =
            RemoteConfig::new("server", vec![Endpoint::unix(directory.path().join("oarlock.sock"))]);
        config.patience = Duration::from_secs(60);
        let accelerator = || Accelerator::builder().threads(1).lazy();
        let holder = RemoteHolder::new(config, accelerator().build().unwrap()).unwrap();
        let accelerator = accelerator().holder(Arc::new(holder.clone())).build().unwrap();
        let table = KeyTable::new();
        for name in ["aes128", "given", "cbc", "hmac", "scarce", "nobody"] {
            table.insert_held(name, "server", name).unwrap();
        }
        let keys = ColumnKeys::new(accelerator.clone(), table);
        let mut server = Self { runtime: None, directory, accelerator, holder, keys };
        server.serve();
        server
    }

    fn serve(&mut self) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let config = CryptoserverConfig::read(&self.directory.path().join("oarlock.toml")).unwrap();
        let engines = Accelerator::builder().threads(1).lazy();
        let bound = runtime.block_on(BoundServer::bind(config, engines)).unwrap();
        runtime.spawn(bound.run(std::future::pending()));
        self.runtime = Some(runtime);
    }
}

fn write_private(path: &Path, text: &str) {
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

const GCM: ColumnCipher = ColumnCipher::AES128_GCM;

#[test]
fn columns_are_computed_at_a_server() {
    let server = TestServer::start();
    let keys = &server.keys;
    let values = random_values(90, 20_000, 40);
    let plain: BinaryArray = values.iter().map(Option::as_deref).collect();
    let ids: StringArray = (0..values.len()).map(|row| Some(row.to_string())).collect();

    let random = Encryption::new("aes128", GCM).aad(AssociatedData::Column(&ids));
    let sealed = encrypt(keys, &plain, &random, OnError::Raise).unwrap();
    let options = Decryption::new("aes128", GCM).aad(AssociatedData::Column(&ids));
    let opened = decrypt(keys, &sealed.array, &options, OnError::Raise).unwrap();
    assert!(values_of(&opened.array) == values);

    let derived = Encryption::new("given", GCM).iv(ColumnIv::Derived { key: "hmac", row_ids: &ids });
    let once = encrypt(keys, &plain, &derived, OnError::Raise).unwrap();
    assert_eq!(&encrypt(keys, &plain, &derived, OnError::Raise).unwrap().array, &once.array);

    let sealed =
        encrypt(keys, &plain, &Encryption::new("cbc", ColumnCipher::AES128_CBC), OnError::Raise).unwrap();
    let options = Decryption::new("cbc", ColumnCipher::AES128_CBC);
    assert!(values_of(&decrypt(keys, &sealed.array, &options, OnError::Raise).unwrap().array) == values);

    let codes =
        mac(keys, &plain, &MacOptions::new("hmac", parse_mac("hmac-sha256").unwrap()), OnError::Raise);
    assert_eq!(codes.unwrap().array.null_count(), plain.null_count());
    let hashes = hash(keys, &plain, DigestAlg::Sha256, OnError::Raise).unwrap();
    assert_eq!(hashes.array.null_count(), plain.null_count());
}

#[test]
fn a_bad_row_at_a_server_fails_alone() {
    let server = TestServer::start();
    let plain = StringArray::from(vec!["a", "b", "c"]);
    let sealed = encrypt(&server.keys, &plain, &Encryption::new("aes128", GCM), OnError::Raise).unwrap();
    let mut sealed = values_of(&sealed.array);
    sealed[1].as_mut().unwrap()[20] ^= 1;
    let sealed: BinaryArray = sealed.iter().map(Option::as_deref).collect();
    let options = Decryption::new("aes128", GCM);
    let opened = decrypt(&server.keys, &sealed, &options, OnError::Null).unwrap();
    assert_eq!(opened.rejected.to_string(), "1 row: the tag does not verify");
    assert_eq!(values_of(&opened.array), [Some(b"a".to_vec()), None, Some(b"c".to_vec())]);
    let moved =
        translate(&server.keys, &sealed, &Translation::new(options, "aes128", GCM), OnError::Null).unwrap();
    assert_eq!(moved.rejected.to_string(), "1 row: the tag does not verify");
    let opened = decrypt(&server.keys, &moved.array, &options, OnError::Raise).unwrap();
    assert_eq!(values_of(&opened.array), [Some(b"a".to_vec()), None, Some(b"c".to_vec())]);
}

#[test]
fn refusals_of_a_server_name_the_key_and_damage_no_later_call() {
    let server = TestServer::start();
    let plain = StringArray::from(vec!["a"; 5]);
    let seal = |key, cipher| encrypt(&server.keys, &plain, &Encryption::new(key, cipher), OnError::Null);
    for (key, cipher) in [("nobody", GCM), ("hmac", GCM), ("given", GCM), ("cbc", GCM)] {
        let error = seal(key, cipher).unwrap_err();
        assert!(matches!(&error, ColumnError::KeyRefused { name, .. } if name == key), "{key}: {error}");
        assert_eq!(error.blame(), Blame::Caller);
    }
    assert_eq!(seal("aes128", GCM).unwrap().array.null_count(), 0);
    let options = MacOptions::new("scarce", parse_mac("hmac-sha256").unwrap());
    let error = mac(&server.keys, &plain, &options, OnError::Null).unwrap_err();
    assert!(error.to_string().contains("maximum number of uses"), "{error}");
}

#[test]
fn keys_of_a_server_sign() {
    let server = TestServer::start();
    let plain = StringArray::from(vec![Some("a"), None, Some("c")]);
    let key = server.holder.key("ed25519").unwrap();
    let key = SignatureKey { name: "ed25519", key: &key };
    let signed = sign(&server.accelerator, &plain, key, None, OnError::Raise).unwrap();
    let verdicts = verify(&server.accelerator, &plain, &signed.array, key, None, OnError::Raise).unwrap();
    let verdicts: Vec<_> = verdicts.array.as_boolean().iter().collect();
    assert_eq!(verdicts, [Some(true), None, Some(true)]);
}

#[test]
fn a_server_that_is_away_is_an_error_of_the_machine_and_may_come_back() {
    let mut server = TestServer::start();
    let plain = StringArray::from(vec!["a"]);
    let options = Encryption::new("aes128", GCM);
    encrypt(&server.keys, &plain, &options, OnError::Raise).unwrap();
    drop(server.runtime.take());
    let error = encrypt(&server.keys, &plain, &options, OnError::Raise).unwrap_err();
    assert!(matches!(error, ColumnError::Server { .. }), "{error}");
    assert_eq!(error.blame(), Blame::Machine);
    server.serve();
    encrypt(&server.keys, &plain, &options, OnError::Raise).unwrap();
}
