//! Recorded sessions of TLS: the bytes of both directions and the logged secrets, checked record by record.

use std::collections::BTreeMap;

use oarlock_sockets::{ConnectionSide, Content, KeyBlock, Keys, Opened, Opener, Sealer, Suite};

use super::{accelerator, hex, seal_again};

/// The bytes of one session.
pub struct TlsSession {
    pub to_server: Vec<u8>,
    pub to_client: Vec<u8>,
    /// The lines of a key log.
    pub key_log: String,
}

/// The content of a checked session.
#[derive(Debug, Default)]
pub struct SessionContent {
    pub suite: Option<Suite>,
    /// Application data of the client and of the server.
    pub data: [Vec<u8>; 2],
    /// The number of records that were opened and sealed again.
    pub records: usize,
    pub key_updates: usize,
    /// The client's sealer behind its last record.
    pub client: Option<Sealer>,
}

/// The values of the hello messages.
struct Hello {
    client_random: [u8; 32],
    server_random: [u8; 32],
    code: u16,
    is_tls13: bool,
    has_etm: bool,
}

/// Opens every protected record of a session and seals it again. Both must agree byte for byte.
pub fn check_session(session: &TlsSession) -> SessionContent {
    let hello = read_hellos(session);
    let suite = Suite::from_tls(hello.code, hello.has_etm).expect("a suite of this crate");
    let mut content = SessionContent { suite: Some(suite), ..SessionContent::default() };
    let secrets = secrets(&session.key_log, &hello.client_random);
    if hello.is_tls13 {
        for (side, name, wire) in [(0, "CLIENT", &session.to_server), (1, "SERVER", &session.to_client)] {
            let handshake = &secrets[&format!("{name}_HANDSHAKE_TRAFFIC_SECRET")];
            let application = &secrets[&format!("{name}_TRAFFIC_SECRET_0")];
            let mut records = Checker::new(|| Keys::tls13(suite, handshake).unwrap());
            let mut messages = Vec::new();
            for record in records_of(wire).filter(|record| record[0] == 23) {
                let (kind, data) = records.check(record);
                if kind == Content::Handshake {
                    messages.extend(data);
                    if take_finished(&mut messages) {
                        records.rekey(|| Keys::tls13(suite, application).unwrap());
                    }
                } else if kind == Content::ApplicationData {
                    content.data[side].extend(data);
                }
            }
            content.records += records.count;
            content.key_updates += records.key_updates;
            // The client's direction comes first.
            content.client.get_or_insert(records.sealer);
        }
        return content;
    }
    let master = secrets["CLIENT_RANDOM"].as_slice().try_into().unwrap();
    let block = KeyBlock::derive(suite, master, &hello.client_random, &hello.server_random).unwrap();
    let [client, server] = Keys::tls12(&block, ConnectionSide::Client);
    for (side, keys, wire) in [(0, client, &session.to_server), (1, server, &session.to_client)] {
        let mut records = Checker::new(|| keys.clone());
        // RFC 5246 7.1: everything behind ChangeCipherSpec is protected.
        for record in records_of(wire).skip_while(|record| record[0] != 20).skip(1) {
            let (kind, data) = records.check(record);
            if kind == Content::ApplicationData {
                content.data[side].extend(data);
            }
        }
        content.records += records.count;
        content.client.get_or_insert(records.sealer);
    }
    content
}

struct Checker {
    opener: Opener,
    sealer: Sealer,
    count: usize,
    key_updates: usize,
}

impl Checker {
    fn new(keys: impl Fn() -> Keys) -> Self {
        let (opener, sealer) = (Opener::new(accelerator(), keys()), Sealer::new(accelerator(), keys()));
        Self { opener: opener.unwrap(), sealer: sealer.unwrap(), count: 0, key_updates: 0 }
    }

    fn rekey(&mut self, keys: impl Fn() -> Keys) {
        self.opener.rekey(keys()).unwrap();
        self.sealer.rekey(keys()).unwrap();
    }

    fn check(&mut self, record: &[u8]) -> (Content, Vec<u8>) {
        let mut wire = record.to_vec();
        let Opened::Record(opened) = self.opener.next(&mut wire).unwrap() else { panic!("a whole record") };
        assert_eq!(opened.used, record.len());
        let (content, data) = (opened.content, opened.data.to_vec());
        if opened.key_update.is_some() {
            let mut again = Vec::new();
            self.sealer.update_keys(data.last() == Some(&1), &mut again).unwrap();
            assert_eq!(again, record, "a KeyUpdate alone in its record");
            self.key_updates += 1;
        } else {
            let again = seal_again(&mut self.sealer, content, &data, record, &[]);
            assert_eq!(again, record, "record {} of {}", self.count, self.sealer.suite());
        }
        self.count += 1;
        (content, data)
    }
}

/// Cuts the whole records of a direction.
pub fn records_of(mut wire: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let len = 5 + usize::from(u16::from_be_bytes([*wire.get(3)?, *wire.get(4)?]));
        let (record, rest) = wire.split_at_checked(len)?;
        wire = rest;
        Some(record)
    })
}

/// Removes whole handshake messages, and returns true if one was Finished.
fn take_finished(messages: &mut Vec<u8>) -> bool {
    let mut is_finished = false;
    while let [kind, high, middle, low, ..] = messages[..] {
        let len = 4 + (usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low));
        if messages.len() < len {
            break;
        }
        is_finished |= kind == 20;
        messages.drain(..len);
    }
    is_finished
}

fn read_hellos(session: &TlsSession) -> Hello {
    // Behind the headers of the record and of the message, and the version.
    let client = &session.to_server[5 + 4 + 2..][..32];
    let len = usize::from(u16::from_be_bytes([session.to_client[7], session.to_client[8]]));
    let server = &session.to_client[5 + 4..][..len][2..];
    let code = &server[32 + 1 + usize::from(server[32])..];
    // The suite, the compression and the length of the extensions stand in front of them.
    let mut extensions = code.get(2 + 1 + 2..).unwrap_or_default();
    let (mut is_tls13, mut has_etm) = (false, false);
    while let [a, b, c, d, rest @ ..] = extensions {
        is_tls13 |= (*a, *b) == (0, 43);
        has_etm |= (*a, *b) == (0, 22);
        extensions = rest.get(usize::from(u16::from_be_bytes([*c, *d]))..).unwrap_or_default();
    }
    Hello {
        client_random: client.try_into().unwrap(),
        server_random: server[..32].try_into().unwrap(),
        code: u16::from_be_bytes([code[0], code[1]]),
        is_tls13,
        has_etm,
    }
}

/// Returns the secrets of the connection with this random value, by their labels.
fn secrets(key_log: &str, client_random: &[u8; 32]) -> BTreeMap<String, Vec<u8>> {
    let mut secrets = BTreeMap::new();
    for line in key_log.lines() {
        if let [label, random, secret] = line.split(' ').collect::<Vec<_>>()[..]
            && hex(random) == client_random
        {
            secrets.insert(label.to_owned(), hex(secret));
        }
    }
    secrets
}
