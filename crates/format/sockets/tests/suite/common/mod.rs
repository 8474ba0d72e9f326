//! Helpers of the tests of this crate.

pub mod relay;
pub mod tls_session;

use std::sync::LazyLock;

use oarlock::Accelerator;
use oarlock_sockets::{Content, ExposedKeys, Keys, Opened, Opener, Protocol, RecordChoices, Sealer, Suite};

/// One accelerator for all tests of a program: each shape is tested at its first use.
pub fn accelerator() -> &'static Accelerator {
    static ACCELERATOR: LazyLock<Accelerator> = LazyLock::new(|| Accelerator::new().unwrap());
    &ACCELERATOR
}

/// Returns bytes that look random and are the same in every run.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// Returns keys of a suite that depend on `seed`. Those of TLS 1.3 come from a traffic secret.
pub fn keys(suite: Suite, seed: u64) -> Keys {
    if suite.protocol() == Protocol::Tls13 {
        return Keys::tls13(suite, &bytes(seed, suite.digest().output_len())).unwrap();
    }
    let (key, mac_key, iv) =
        (bytes(seed, suite.key_len()), bytes(seed + 1, suite.mac_key_len()), bytes(seed + 2, suite.iv_len()));
    Keys::new(suite, &ExposedKeys { key: &key, mac_key: &mac_key, iv: &iv, sequence: 0 }).unwrap()
}

pub fn sealer(suite: Suite, seed: u64) -> Sealer {
    Sealer::new(accelerator(), keys(suite, seed)).unwrap()
}

pub fn opener(suite: Suite, seed: u64) -> Opener {
    Opener::new(accelerator(), keys(suite, seed)).unwrap()
}

/// Returns the kind of content that carries data.
pub fn data_of(suite: Suite) -> Content {
    if suite.protocol() == Protocol::Ssh { Content::Packet } else { Content::ApplicationData }
}

/// Returns one sealed record.
pub fn seal(sealer: &mut Sealer, payload: &[u8]) -> Vec<u8> {
    let mut wire = Vec::new();
    sealer.seal(data_of(sealer.suite()), &[payload], &mut wire).unwrap();
    wire
}

/// Opens a whole record.
pub fn open(opener: &mut Opener, wire: &[u8]) -> (Content, Vec<u8>) {
    let mut wire = wire.to_vec();
    match opener.next(&mut wire).unwrap() {
        Opened::Record(record) => (record.content, record.data.to_vec()),
        Opened::NeedMore(missing) => panic!("{missing} bytes are missing"),
    }
}

/// Seals a record again as a peer sealed it: with the IV of `wire` and the given padding.
pub fn seal_again(
    sealer: &mut Sealer,
    content: Content,
    data: &[u8],
    wire: &[u8],
    padding: &[u8],
) -> Vec<u8> {
    let explicit_iv = sealer.suite().explicit_iv_len();
    let is_ssh = sealer.suite().protocol() == Protocol::Ssh;
    let choices = RecordChoices {
        explicit_iv: (explicit_iv > 0).then(|| &wire[5..5 + explicit_iv]),
        padding: is_ssh.then_some(padding),
        zeros: 0,
    };
    let mut again = Vec::new();
    sealer.seal_with(content, &[data], &choices, &mut again).unwrap();
    again
}

/// Returns the bytes of hexadecimal digits. Spaces are ignored.
pub fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}
