//! The rows of the record shapes' known answers, read from the data files and turned into the shape's direction.

use oarlock_core::{
    AeadAlg, ChainOrder, CipherMode, CipherSpec, DigestAlg, Direction, FpeAlg, MacAlg, Shape, Status, WrapAlg,
};

use super::SelfTestFailure;
use super::text::{bytes, lines, tagged};

/// One record: its inputs, and the expected result or status.
#[derive(Default)]
pub(super) struct KnownRecord {
    pub(super) key: Vec<u8>,
    pub(super) second_key: Vec<u8>,
    pub(super) iv: Vec<u8>,
    pub(super) second_iv: Vec<u8>,
    pub(super) aad: Vec<u8>,
    /// The record has no associated data, not even an empty string.
    pub(super) lacks_aad: bool,
    pub(super) input: Vec<u8>,
    /// The input's span ends beyond the data.
    pub(super) is_beyond_data: bool,
    /// The bytes of the output's span.
    pub(super) reserved_len: usize,
    /// The tag to compare when opening.
    pub(super) given_tag: Vec<u8>,
    /// Bytes of tag to make when sealing.
    pub(super) made_tag_len: usize,
    /// Output and tag, or the status.
    pub(super) expected: KnownRecordResult,
}

pub(super) struct KnownRecordResult(pub(super) Result<(Vec<u8>, Vec<u8>), Status>);

impl Default for KnownRecordResult {
    fn default() -> Self {
        Self(Err(Status::Pending))
    }
}

impl std::ops::Deref for KnownRecordResult {
    type Target = Result<(Vec<u8>, Vec<u8>), Status>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

const CBC: &str = include_str!("data/cbc.txt");
const GCM: &str = include_str!("data/gcm.txt");
const CTR: &str = include_str!("data/ctr.txt");
const CHACHA: &str = include_str!("data/chacha.txt");
const CHACHA_SSH: &str = include_str!("data/chacha-ssh.txt");
const SIV: &str = include_str!("data/siv.txt");
const GCM_SIV: &str = include_str!("data/gcm-siv.txt");
const FF1: &str = include_str!("data/ff1.txt");
const CHAIN: &str = include_str!("data/chain.txt");
const HMAC: &str = include_str!("data/hmac.txt");
const MAC: &str = include_str!("data/mac.txt");
const DIGEST: &str = include_str!("data/digest.txt");
const SHA224: &str = include_str!("data/sha224.txt");
const SHA3: &str = include_str!("data/sha3.txt");
const WRAP: &str = include_str!("data/wrap.txt");

/// Every row of a shape, with rows of a wrong length and a span that does not exist third and fourth.
pub(super) fn rows(shape: Shape) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = match shape {
        Shape::Cipher { alg, mode, direction } => cipher(CipherSpec { alg, mode }, direction)?,
        Shape::Chain { cipher, mac, order, direction } => {
            chain(&format!("{cipher}-{mac}-{order}"), order, direction)?
        }
        Shape::Translate { from, to } => translate(from, to)?,
        Shape::Aead { alg, direction } => aead(alg, direction)?,
        Shape::Fpe { alg, direction } => fpe(alg, direction)?,
        Shape::Mac { alg } => mac(alg)?,
        Shape::Digest { alg } => digest(alg)?,
        Shape::DigestPart { alg } => digest_part(alg)?,
        Shape::Wrap { alg, direction } => wrap(alg, direction)?,
        _ => Vec::new(),
    };
    if rows.len() < 3 {
        return Err(SelfTestFailure::NoVectors { shape });
    }
    let (misfit, beyond) = (misfit(&rows[0]), beyond(&rows[1]));
    rows.insert(2, misfit);
    rows.insert(3, beyond);
    Ok(rows)
}

/// No result of any shape here is three bytes long.
fn misfit(row: &KnownRecord) -> KnownRecord {
    KnownRecord { reserved_len: 3, expected: KnownRecordResult(Err(Status::BadLength)), ..row.copy() }
}

fn beyond(row: &KnownRecord) -> KnownRecord {
    KnownRecord { is_beyond_data: true, expected: KnownRecordResult(Err(Status::Malformed)), ..row.copy() }
}

impl KnownRecord {
    fn copy(&self) -> Self {
        Self {
            key: self.key.clone(),
            second_key: self.second_key.clone(),
            iv: self.iv.clone(),
            second_iv: self.second_iv.clone(),
            aad: self.aad.clone(),
            input: self.input.clone(),
            given_tag: self.given_tag.clone(),
            expected: KnownRecordResult::default(),
            ..*self
        }
    }

    fn giving(self, output: Vec<u8>) -> Self {
        Self { reserved_len: output.len(), expected: KnownRecordResult(Ok((output, Vec::new()))), ..self }
    }
}

fn cipher(spec: CipherSpec, direction: Direction) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = Vec::new();
    let (file, tag) = match spec.mode {
        CipherMode::Ctr => (CTR, spec.to_string()),
        _ => (CBC, spec.alg.to_string()),
    };
    for words in tagged(file, &tag) {
        let [key, iv, plain, encrypted] = four(&words)?;
        let (input, output) = match direction {
            Direction::Encrypt => (plain, encrypted),
            Direction::Decrypt => (encrypted, plain),
        };
        rows.push(KnownRecord { key, iv, input, ..KnownRecord::default() }.giving(output));
    }
    Ok(rows)
}

/// Every pair of rows with the same plaintext.
fn translate(from: CipherSpec, to: CipherSpec) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = Vec::new();
    let targets = tagged(CBC, &to.alg.to_string());
    for words in tagged(CBC, &from.alg.to_string()) {
        let Some(target) = targets.iter().find(|target| target.get(2) == words.get(2)) else { continue };
        let [key, iv, _, input] = four(&words)?;
        let [second_key, second_iv, _, output] = four(target)?;
        rows.push(
            KnownRecord { key, iv, second_key, second_iv, input, ..KnownRecord::default() }.giving(output),
        );
    }
    Ok(rows)
}

fn aead(alg: AeadAlg, direction: Direction) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = Vec::new();
    let file = match alg {
        AeadAlg::ChaCha20Poly1305 => CHACHA,
        AeadAlg::ChaCha20Poly1305Ssh => CHACHA_SSH,
        _ if alg.is_siv() => SIV,
        _ if alg.may_repeat_ivs() => GCM_SIV,
        _ => GCM,
    };
    for words in lines(file) {
        let lacks_aad = words.get(3).is_some_and(|word| *word == "absent");
        let (key, iv) = (bytes(&words, 1)?, bytes(&words, 2)?);
        let aad = if lacks_aad { Vec::new() } else { bytes(&words, 3)? };
        let (plain, sealed, tag) = (bytes(&words, 4)?, bytes(&words, 5)?, bytes(&words, 6)?);
        let row = KnownRecord { iv, aad, lacks_aad, reserved_len: sealed.len(), ..KnownRecord::default() };
        let row = match direction {
            _ if key.len() != alg.key_len() => continue,
            Direction::Encrypt if words[0] != "good" => continue,
            Direction::Encrypt => {
                let made_tag_len = tag.len();
                KnownRecord {
                    input: plain,
                    made_tag_len,
                    expected: KnownRecordResult(Ok((sealed, tag))),
                    ..row
                }
            }
            Direction::Decrypt => {
                let expected =
                    if words[0] == "bad" { Err(Status::Rejected) } else { Ok((plain, Vec::new())) };
                KnownRecord { input: sealed, given_tag: tag, expected: KnownRecordResult(expected), ..row }
            }
        };
        rows.push(KnownRecord { key, ..row });
    }
    Ok(rows)
}

/// Numerals under a radix and a tweak. A line without a result has a numeral that is not below the radix.
fn fpe(alg: FpeAlg, direction: Direction) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = Vec::new();
    for words in tagged(FF1, &alg.to_string()) {
        let (key, iv, aad) = (bytes(&words, 0)?, bytes(&words, 1)?, bytes(&words, 2)?);
        let (plain, encrypted) = (bytes(&words, 3)?, bytes(&words, 4)?);
        let row = KnownRecord { key, iv, aad, reserved_len: plain.len(), ..KnownRecord::default() };
        rows.push(match direction {
            _ if encrypted.is_empty() => {
                KnownRecord { input: plain, expected: KnownRecordResult(Err(Status::OutOfRange)), ..row }
            }
            Direction::Encrypt => KnownRecord { input: plain, ..row }.giving(encrypted),
            Direction::Decrypt => KnownRecord { input: encrypted, ..row }.giving(plain),
        });
    }
    Ok(rows)
}

/// Records that a chain seals or opens. The last column of a line is the detached tag, or all decrypted bytes of a TLS
/// record.
fn chain(name: &str, order: ChainOrder, direction: Direction) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = Vec::new();
    for words in tagged(CHAIN, name) {
        let [key, second_key, iv, aad] = four(&words[1..])?;
        let [plain, sealed, last] = [bytes(&words, 5)?, bytes(&words, 6)?, bytes(&words, 7)?];
        let reserved_len = sealed.len();
        let row = KnownRecord { key, second_key, iv, aad, reserved_len, ..KnownRecord::default() };
        let is_detached = order.has_detached_tag();
        let row = match (direction, words[0]) {
            (Direction::Encrypt, "good") if is_detached => KnownRecord {
                input: plain,
                made_tag_len: last.len(),
                expected: KnownRecordResult(Ok((sealed, last))),
                ..row
            },
            (Direction::Encrypt, "good") => {
                KnownRecord { input: plain, expected: KnownRecordResult(Ok((sealed, Vec::new()))), ..row }
            }
            (Direction::Encrypt, _) => continue,
            (Direction::Decrypt, kind) => {
                let (opened, given_tag) = if is_detached { (plain, last) } else { (last, Vec::new()) };
                let expected = if kind == "bad" { Err(Status::Rejected) } else { Ok((opened, Vec::new())) };
                KnownRecord { input: sealed, given_tag, expected: KnownRecordResult(expected), ..row }
            }
        };
        rows.push(row);
    }
    Ok(rows)
}

fn mac(alg: MacAlg) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = Vec::new();
    let file = match alg {
        MacAlg::HmacSha224 => SHA224,
        MacAlg::HmacSha384 | MacAlg::HmacSha512 => HMAC,
        _ => MAC,
    };
    for words in tagged(file, &alg.to_string()) {
        let row = KnownRecord { key: bytes(&words, 0)?, input: bytes(&words, 1)?, ..KnownRecord::default() };
        rows.push(row.giving(bytes(&words, 2)?));
    }
    Ok(rows)
}

fn digest(alg: DigestAlg) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = Vec::new();
    for words in tagged(digest_file(alg), &alg.to_string()) {
        rows.push(
            KnownRecord { input: bytes(&words, 0)?, ..KnownRecord::default() }.giving(bytes(&words, 1)?),
        );
    }
    Ok(rows)
}

fn digest_file(alg: DigestAlg) -> &'static str {
    match alg {
        DigestAlg::Sha1 | DigestAlg::Sha256 | DigestAlg::Sha384 | DigestAlg::Sha512 => DIGEST,
        DigestAlg::Sha224 => SHA224,
        _ => SHA3,
    }
}

fn digest_part(alg: DigestAlg) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = Vec::new();
    for words in tagged(digest_file(alg), &format!("{alg}-part")) {
        let row = KnownRecord { iv: bytes(&words, 0)?, input: bytes(&words, 1)?, ..KnownRecord::default() };
        rows.push(row.giving(bytes(&words, 2)?));
    }
    Ok(rows)
}

fn wrap(alg: WrapAlg, direction: Direction) -> Result<Vec<KnownRecord>, SelfTestFailure> {
    let mut rows = Vec::new();
    for words in tagged(WRAP, &alg.to_string()) {
        let (key, wrapped) = (bytes(&words, 0)?, bytes(&words, 2)?);
        match (direction, words[1] == "bad") {
            (Direction::Encrypt, true) => {}
            (Direction::Encrypt, false) => {
                rows.push(
                    KnownRecord { key, input: bytes(&words, 1)?, ..KnownRecord::default() }.giving(wrapped),
                );
            }
            (Direction::Decrypt, is_bad) => {
                let expected =
                    if is_bad { Err(Status::Rejected) } else { Ok((bytes(&words, 1)?, Vec::new())) };
                let reserved_len = wrapped.len() - 8;
                let expected = KnownRecordResult(expected);
                rows.push(KnownRecord {
                    key,
                    input: wrapped,
                    reserved_len,
                    expected,
                    ..KnownRecord::default()
                });
            }
        }
    }
    Ok(rows)
}

fn four(words: &[&str]) -> Result<[Vec<u8>; 4], SelfTestFailure> {
    Ok([bytes(words, 0)?, bytes(words, 1)?, bytes(words, 2)?, bytes(words, 3)?])
}
