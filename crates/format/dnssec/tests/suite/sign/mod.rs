//! Zones signed: chains, rules and signatures, on every engine.

mod bad;
mod chains;
mod load_rules;
mod phases;
mod presigned;
mod rules;
mod signatures;
mod zones;

use oarlock::Curve;
use oarlock::keys::{generate, raw};
use oarlock::{Accelerator, NonceRule};
use oarlock_dnssec::ZoneRecords;
use oarlock_dnssec::sign::{
    KeyRole, LoadRules, SignOptions, SignatureLifetime, Signatures, SignerKey, SigningPlan, ZoneDraft,
    ZoneSignError,
};
use oarlock_dnssec::zone::{ZoneReader, write_record};

use crate::common::by_engine::by_engine;

const NOW: u32 = 1_700_000_000;

fn engines() -> [Accelerator; 2] {
    ["scalar", "lanes"].map(by_engine)
}

fn scalar() -> Accelerator {
    by_engine("scalar")
}

fn zone(text: &str) -> ZoneRecords {
    let include = &mut |_: &str| Err(String::new());
    let mut reader = ZoneReader::new(None, include);
    let mut records = ZoneRecords::new();
    reader.read(text.as_bytes(), true, &mut records);
    assert_eq!(reader.faults(), []);
    records
}

/// Makes a key from a number. The same number gives the same key, except for RSA.
fn key(algorithm: u8, role: KeyRole, number: u8) -> SignerKey {
    let key = match algorithm {
        13 => raw::ec_private(Curve::P256, &[number; 32]).unwrap(),
        14 => raw::ec_private(Curve::P384, &[number; 48]).unwrap(),
        15 => raw::ed25519_private(&[number; 32]).unwrap(),
        _ => generate::rsa(2048).unwrap(),
    };
    let flags = if role == KeyRole::Zsk { 256 } else { 257 };
    SignerKey::new(key, role, flags, algorithm.into()).unwrap()
}

fn pair() -> Vec<SignerKey> {
    vec![key(13, KeyRole::Ksk, 1), key(13, KeyRole::Zsk, 2)]
}

/// The options of most tests, whose zones are smaller than name servers accept.
fn options() -> SignOptions {
    let options = SignOptions::new(SignatureLifetime::from(NOW));
    SignOptions { nonce: NonceRule::Deterministic, load_rules: LoadRules::Warn, ..options }
}

fn draft(text: &str, options: SignOptions) -> Result<ZoneDraft, ZoneSignError> {
    ZoneDraft::new(&scalar(), &zone(text), pair(), options, None)
}

/// Returns all records of a draft as lines, without TTLs and classes.
fn drafted(text: &str, options: SignOptions) -> Vec<String> {
    let draft = draft(text, options).unwrap();
    lines(draft.records())
}

fn lines(records: &ZoneRecords) -> Vec<String> {
    let mut out = Vec::new();
    records.iter().for_each(|record| write_record(&record, &mut out));
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

fn of_type(lines: &[String], rtype: &str) -> Vec<String> {
    let is_of = |line: &&String| line.split(' ').nth(3) == Some(rtype);
    lines.iter().filter(is_of).cloned().collect()
}

/// Signs a whole zone range by range, and returns its text and the number of new and kept signatures.
fn signed(
    accelerator: &Accelerator,
    zone: &ZoneRecords,
    keys: Vec<SignerKey>,
    options: SignOptions,
    previous: Option<&ZoneRecords>,
) -> (String, Vec<Signatures>) {
    let draft = ZoneDraft::new(accelerator, zone, keys, options, previous).unwrap();
    let mut plan = SigningPlan::new(&draft, previous).unwrap();
    let signatures: Vec<_> = plan.ranges().map(|names| plan.sign(accelerator, names).unwrap()).collect();
    plan.seal(accelerator, &signatures).unwrap();
    let mut out = Vec::new();
    for (names, signatures) in plan.ranges().zip(&signatures) {
        plan.write(names, signatures, &mut out);
    }
    (String::from_utf8(out).unwrap(), signatures)
}
