//! Records against rustls: each side opens what the other seals, and both refuse the same bad records.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use oarlock_sockets::{
    ConnectionSide, Content, KeyBlock, KeyUpdate, Keys, Opened, Opener, OpeningError, RecordChoices, Sealer,
    Suite,
};
use rustls::crypto::aws_lc_rs::{cipher_suite, default_provider};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, SupportedCipherSuite,
};

use crate::common::{self, accelerator};

/// Keeps the secrets of a handshake.
#[derive(Debug, Default)]
struct Secrets(Mutex<Vec<LoggedSecret>>);

/// A label, the client's random value, and the secret.
type LoggedSecret = (String, Vec<u8>, Vec<u8>);

impl rustls::KeyLog for Secrets {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        self.0.lock().unwrap().push((label.to_owned(), client_random.to_vec(), secret.to_vec()));
    }
}

impl Secrets {
    fn get(&self, label: &str) -> (Vec<u8>, Vec<u8>) {
        let secrets = self.0.lock().unwrap();
        let found = secrets.iter().find(|(name, _, _)| name == label).expect("the handshake is done");
        (found.1.clone(), found.2.clone())
    }
}

/// A server of rustls whose client is replaced by this crate once the handshake is done.
struct Pair {
    server: ServerConnection,
    sealer: Sealer,
    opener: Opener,
}

/// The configurations of one suite, made once: a certificate takes long.
struct Configs {
    client: ClientConfig,
    server: Arc<ServerConfig>,
    suite: Suite,
}

impl Configs {
    fn new(rustls_suite: SupportedCipherSuite, suite: Suite) -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let mut provider = default_provider();
        provider.cipher_suites = vec![rustls_suite];
        let provider = Arc::new(provider);
        let versions = [rustls_suite.version()];
        let client = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        Self { client, server: Arc::new(server), suite }
    }

    /// Connects, and takes the client's keys away from rustls.
    fn connect(&self) -> Pair {
        let secrets = Arc::new(Secrets::default());
        let mut config = self.client.clone();
        config.key_log = secrets.clone();
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut server = ServerConnection::new(self.server.clone()).unwrap();
        let (mut server_random, mut to_client) = ([0; 32], Vec::new());
        while client.is_handshaking() || server.is_handshaking() {
            let mut wire = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut wire).unwrap();
            }
            feed(&mut server, &wire).unwrap();
            to_client.clear();
            while server.wants_write() {
                server.write_tls(&mut to_client).unwrap();
            }
            if to_client.first() == Some(&22) && server_random == [0; 32] {
                server_random.copy_from_slice(&to_client[11..43]);
            }
            // Tickets come behind the end of the handshake. They stay for our opener.
            if client.is_handshaking() {
                let mut input = &to_client[..];
                while !input.is_empty() {
                    client.read_tls(&mut input).unwrap();
                    client.process_new_packets().unwrap();
                }
            }
        }
        let [write, read] = self.keys(&secrets, &server_random);
        let mut opener = Opener::new(accelerator(), read).unwrap();
        let sealer = Sealer::new(accelerator(), write).unwrap();
        if server.protocol_version() == Some(rustls::ProtocolVersion::TLSv1_3) {
            let _ = open_all(&mut opener, &mut to_client).unwrap();
        }
        Pair { server, sealer, opener }
    }

    fn keys(&self, secrets: &Secrets, server_random: &[u8; 32]) -> [Keys; 2] {
        if self.suite.protocol() == oarlock_sockets::Protocol::Tls13 {
            return ["CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"]
                .map(|label| Keys::tls13(self.suite, &secrets.get(label).1).unwrap());
        }
        let (client_random, master) = secrets.get("CLIENT_RANDOM");
        let (client_random, master) = (client_random.try_into().unwrap(), master.try_into().unwrap());
        let block = KeyBlock::derive(self.suite, &master, &client_random, server_random).unwrap();
        // Record 0 of each side was Finished.
        Keys::tls12(&block, ConnectionSide::Client).map(|keys| keys.with_sequence(1))
    }
}

fn feed(server: &mut ServerConnection, mut wire: &[u8]) -> Result<(), rustls::Error> {
    while !wire.is_empty() {
        server.read_tls(&mut wire).unwrap();
        server.process_new_packets()?;
    }
    Ok(())
}

type OpenedContent = (Content, Vec<u8>, Option<KeyUpdate>);

fn open_all(opener: &mut Opener, wire: &mut [u8]) -> Result<Vec<OpenedContent>, OpeningError> {
    let (mut opened, mut rest) = (Vec::new(), wire);
    while !rest.is_empty() {
        let Opened::Record(record) = opener.next(rest)? else { panic!("rustls writes whole records") };
        opened.push((record.content, record.data.to_vec(), record.key_update));
        let used = record.used;
        rest = &mut rest[used..];
    }
    Ok(opened)
}

impl Pair {
    fn read_server(&mut self) -> Vec<u8> {
        let mut data = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(len @ 1..) = self.server.reader().read(&mut buffer) {
            data.extend_from_slice(&buffer[..len]);
        }
        data
    }

    fn server_output(&mut self) -> Vec<u8> {
        let mut wire = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut wire).unwrap();
        }
        wire
    }
}

fn suites() -> Vec<Configs> {
    [
        (cipher_suite::TLS13_AES_128_GCM_SHA256, Suite::TLS13_AES_128_GCM),
        (cipher_suite::TLS13_AES_256_GCM_SHA384, Suite::TLS13_AES_256_GCM),
        (cipher_suite::TLS13_CHACHA20_POLY1305_SHA256, Suite::TLS13_CHACHA20_POLY1305),
        (cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, Suite::TLS12_AES_128_GCM),
        (cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, Suite::TLS12_AES_256_GCM),
        (cipher_suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, Suite::TLS12_CHACHA20_POLY1305),
    ]
    .map(|(rustls, suite)| Configs::new(rustls, suite))
    .into()
}

#[test]
fn each_side_opens_the_records_of_the_other() {
    for configs in suites() {
        let mut pair = configs.connect();
        for len in [1, 15, 16, 17, 1000, 16_384, 0, 5] {
            let payload = common::bytes(len as u64, len);
            let mut wire = Vec::new();
            pair.sealer.seal(Content::ApplicationData, &[&payload], &mut wire).unwrap();
            feed(&mut pair.server, &wire).unwrap();
            assert_eq!(pair.read_server(), payload, "{}", configs.suite);

            pair.server.writer().write_all(&payload).unwrap();
            let mut wire = pair.server_output();
            let opened = open_all(&mut pair.opener, &mut wire).unwrap();
            let data: Vec<u8> = opened.into_iter().flat_map(|(_, data, _)| data).collect();
            assert_eq!(data, payload, "{}", configs.suite);
        }
        let mut close = Vec::new();
        pair.sealer.seal(Content::Alert, &[&[1, 0]], &mut close).unwrap();
        feed(&mut pair.server, &close).unwrap();
        pair.server.send_close_notify();
        let mut wire = pair.server_output();
        open_all(&mut pair.opener, &mut wire).unwrap();
        assert!(pair.opener.is_closed(), "{}", configs.suite);
    }
}

#[test]
fn key_updates_go_both_ways() {
    for configs in suites().into_iter().take(3) {
        let mut pair = configs.connect();
        for asks_peer in [true, false, true] {
            let mut wire = Vec::new();
            pair.sealer.update_keys(asks_peer, &mut wire).unwrap();
            pair.sealer.seal(Content::ApplicationData, &[b"new keys"], &mut wire).unwrap();
            feed(&mut pair.server, &wire).unwrap();
            assert_eq!(pair.read_server(), b"new keys");
            pair.server.writer().write_all(b"answer").unwrap();
            let mut wire = pair.server_output();
            let opened = open_all(&mut pair.opener, &mut wire).unwrap();
            let updates: Vec<KeyUpdate> = opened.iter().filter_map(|(_, _, update)| *update).collect();
            assert_eq!(updates, if asks_peer { vec![KeyUpdate::NotRequested] } else { vec![] });
            assert_eq!(opened.last().map(|(_, data, _)| &data[..]), Some(&b"answer"[..]));
        }
        pair.server.refresh_traffic_keys().unwrap();
        let mut wire = pair.server_output();
        let opened = open_all(&mut pair.opener, &mut wire).unwrap();
        assert_eq!(opened[0].2, Some(KeyUpdate::Requested));
    }
}

/// Flips bits anywhere in a record. Neither side may accept it.
#[test]
fn both_refuse_damaged_records() {
    for configs in suites() {
        for position in [0, 1, 3, 4, 5, 6, 12, 20, 40, 60] {
            let mut pair = configs.connect();
            let mut wire = Vec::new();
            let start = pair.sealer.sequence();
            let keys = pair.sealer.into_keys().with_sequence(start);
            let mut sealer = Sealer::new(accelerator(), keys.clone()).unwrap();
            sealer.seal(Content::ApplicationData, &[&[7; 50]], &mut wire).unwrap();
            let position = position.min(wire.len() - 1);
            wire[position] ^= 0x10;
            wire.resize(wire.len() + 20_000, 0);
            let mut opener = Opener::new(accelerator(), keys).unwrap();
            assert!(feed(&mut pair.server, &wire).is_err(), "{}, byte {position}", configs.suite);
            let opened = opener.next(&mut wire);
            assert!(
                !matches!(opened, Ok(Opened::Record(_))),
                "{}, byte {position}: {opened:?}",
                configs.suite
            );
        }
    }
}

/// Records that verify: both sides give the same answer to their content.
#[test]
fn both_judge_contents_alike() {
    let contents: [(Content, &[u8], usize); 7] = [
        (Content::ApplicationData, b"", 0),
        (Content::ApplicationData, b"data", 100),
        (Content::Handshake, &[24, 0, 0, 1, 2], 0),
        (Content::Handshake, &[24, 0, 0, 2, 0, 0], 0),
        (Content::Handshake, &[24, 0, 0, 1, 0, 0], 0),
        (Content::Alert, &[1], 0),
        (Content::Alert, &[2, 40], 0),
    ];
    for configs in suites().into_iter().take(3) {
        for (content, data, zeros) in contents {
            let mut pair = configs.connect();
            let keys = pair.sealer.into_keys();
            let mut sealer = Sealer::new(accelerator(), keys.clone()).unwrap();
            let mut opener = Opener::new(accelerator(), keys).unwrap();
            let mut wire = Vec::new();
            let choices = RecordChoices { zeros, ..RecordChoices::default() };
            sealer.seal_with(content, &[data], &choices, &mut wire).unwrap();
            let theirs = feed(&mut pair.server, &wire);
            let ours = opener.next(&mut wire).map(|_| ());
            // rustls reports a fatal alert of the peer as an error, and this crate as the end of the connection.
            let is_end = opener.is_closed();
            assert_eq!(theirs.is_ok(), ours.is_ok() && !is_end, "{content} {data:?}: {theirs:?}, {ours:?}");
        }
    }
}
