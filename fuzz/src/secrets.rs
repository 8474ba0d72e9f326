//! Checks that no text quotes bytes of a private key. The seeds are the test keys, so most inputs are damaged test
//! keys.

use std::collections::HashSet;
use std::fmt::{Debug, Display};
use std::sync::LazyLock;

use oarlock_core::{Key, KeyParts};
use oarlock_keys::threshold::Share;
use oarlock_keys::{bind, import};
use oarlock_records::{Encoding, SecretBuffer};

/// The number of consecutive bytes of a secret that make a leak.
const RUN: usize = 6;
/// The characters of base64 that six bytes determine, at any position.
const CHARACTERS: usize = 7;

/// The symmetric keys of the seeds, in hexadecimal digits.
const SYMMETRIC: [&str; 2] = ["0123456789abcdeffedcba9876543210", "000102030405060708090a0b0c0d0e0f"];

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../crates/engine/keys/tests/data/", $name)).as_slice()
    };
}

/// Parts of the seeds' secrets: as bytes, as digits, in base64.
struct Runs {
    raw: HashSet<Vec<u8>>,
    hex: HashSet<Vec<u8>>,
    base64: HashSet<Vec<u8>>,
}

static RUNS: LazyLock<Runs> = LazyLock::new(|| {
    let mut runs = Runs { raw: HashSet::new(), hex: HashSet::new(), base64: HashSet::new() };
    let pem = [
        fixture!("rsa1024.pem"),
        fixture!("rsa2048.pem"),
        fixture!("rsa2048-pkcs1.pem"),
        fixture!("p256.pem"),
        fixture!("p256-sec1.pem"),
        fixture!("p384.pem"),
        fixture!("p384-sec1.pem"),
        fixture!("ed25519.pem"),
        fixture!("x25519.pem"),
    ];
    let mut keys: Vec<Key> = pem.iter().map(|text| import::any(text, None).expect("a seed")).collect();
    // Not the key of RFC 8080: its bytes are decimal digits.
    for text in [fixture!("bind/rfc6605-p256.private"), fixture!("bind/rsasha256.private")] {
        keys.push(bind::import(text).expect("a seed").key);
    }
    keys.push(Share::from_pem(fixture!("threshold/share512.pem"), None).expect("a seed").key().clone());
    keys.iter().for_each(|key| runs.add_key(key));
    for key in SYMMETRIC {
        let mut bytes = SecretBuffer::default();
        Encoding::Hex.decode(key.as_bytes(), &mut bytes).expect("digits");
        runs.add(&bytes);
    }
    runs
});

impl Runs {
    fn add_key(&mut self, key: &Key) {
        match key.parts() {
            Some(KeyParts::RsaPrivate(rsa)) => {
                [&rsa.d, &rsa.p, &rsa.q, &rsa.dp, &rsa.dq, &rsa.qinv]
                    .iter()
                    .for_each(|part| self.add(part.expose()));
            }
            Some(KeyParts::EcPrivate(ec)) => self.add(ec.scalar.expose()),
            Some(KeyParts::Ed25519Private(ed)) => self.add(ed.seed.expose()),
            Some(KeyParts::X25519Private(x)) => self.add(x.scalar.expose()),
            Some(KeyParts::ModExp(share)) => self.add(share.exponent.expose()),
            _ => panic!("a seed without a secret"),
        }
    }

    fn add(&mut self, secret: &[u8]) {
        for run in secret.windows(RUN).filter(|run| run.iter().collect::<HashSet<_>>().len() > 2) {
            self.raw.insert(run.to_vec());
            self.hex.insert(run.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes());
            for before in 0..3 {
                let mut text = SecretBuffer::default();
                Encoding::Base64.encode(&[&vec![0; before][..], run].concat(), &mut text);
                let first = (8 * before).div_ceil(6);
                self.base64.insert(text[first..first + CHARACTERS].to_vec());
            }
        }
    }

    fn are_in(&self, text: &[u8]) -> bool {
        let shows = |text: &[u8], len: usize, runs: &HashSet<Vec<u8>>| {
            text.windows(len).any(|window| runs.contains(window))
        };
        shows(text, RUN, &self.raw)
            || shows(&text.to_ascii_lowercase(), 2 * RUN, &self.hex)
            || shows(text, CHARACTERS, &self.base64)
    }
}

/// Checks the outcome of a parser. Both texts of an error are searched.
pub fn check_error<T, E: Display + Debug>(result: Result<T, E>) -> Option<T> {
    result.map_err(|error| check_text(&format!("{error} {error:?}"))).ok()
}

/// Searches bytes in the notation of Rust too: `[45, 45, 66]` and `\x1b`.
fn check_text(text: &str) {
    let numbers = text.split(|char: char| !char.is_ascii_digit()).filter_map(|part| part.parse().ok());
    let listed: Vec<u8> = numbers.collect();
    for view in [text.as_bytes(), &listed, &unescaped(text.as_bytes())] {
        assert!(!RUNS.are_in(view), "bytes of a private key in {text}");
    }
}

/// Replaces `\x1b` and the like by the bytes that they stand for.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, behind)) = rest.split_first() {
        let escape = rest.strip_prefix(b"\\x").and_then(|digits| digits.split_first_chunk::<2>());
        let byte =
            escape.and_then(|(digits, _)| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match (byte, escape) {
            (Some(byte), Some((_, behind))) => {
                out.push(byte);
                rest = behind;
            }
            _ => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    out
}
