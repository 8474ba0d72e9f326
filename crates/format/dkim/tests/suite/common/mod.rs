//! Helpers for the tests of this crate: engines, keys, signing and verifying.

use std::collections::HashMap;
use std::sync::LazyLock;

use oarlock::{Accelerator, Key};
use oarlock_dkim::{
    DkimSigner, KeyAnswer, MailLimits, ParsedMail, RecordOptions, SignIntake, SignOutcome, SignatureResult,
    VerifiedMessage, VerifyIntake, VerifyPolicy, record_text,
};

/// The time in tests.
pub const NOW: u64 = 1_700_000_000;

/// Returns one accelerator for each engine of this machine, with that engine alone.
pub fn engines() -> &'static [Accelerator] {
    static ENGINES: LazyLock<Vec<Accelerator>> = LazyLock::new(|| {
        let alone = |name: &&str| Accelerator::builder().engines([*name]).lazy().build().unwrap();
        oarlock::KNOWN_ENGINES.iter().map(alone).collect()
    });
    &ENGINES
}

pub fn rsa2048() -> &'static Key {
    static KEY: LazyLock<Key> = LazyLock::new(|| oarlock::keys::generate::rsa(2048).unwrap());
    &KEY
}

pub fn rsa1024() -> &'static Key {
    static KEY: LazyLock<Key> = LazyLock::new(|| oarlock::keys::generate::rsa(1024).unwrap());
    &KEY
}

pub fn ed25519() -> &'static Key {
    static KEY: LazyLock<Key> = LazyLock::new(|| oarlock::keys::generate::ed25519().unwrap());
    &KEY
}

pub fn record(key: &Key) -> String {
    record_text(key, &RecordOptions::default()).unwrap()
}

/// TXT records by name.
#[derive(Clone, Debug, Default)]
pub struct Zone(pub HashMap<String, Vec<String>>);

impl Zone {
    pub fn with(mut self, name: &str, record: impl Into<String>) -> Self {
        self.0.entry(name.into()).or_default().push(record.into());
        self
    }

    pub fn with_record(name: &str, record: impl Into<String>) -> Self {
        Self::default().with(name, record)
    }

    pub fn answer(&self, name: &str) -> KeyAnswer {
        self.0.get(name).map_or(KeyAnswer::NoRecord, KeyAnswer::from_records)
    }
}

pub fn crlf(text: &str) -> Vec<u8> {
    text.replace('\n', "\r\n").into_bytes()
}

pub fn sign(accelerator: &Accelerator, mail: &[u8], signers: &[&DkimSigner]) -> Vec<SignOutcome> {
    let mut intake = SignIntake::new(NOW);
    intake.push(ParsedMail::parse(mail, &MailLimits::default()).unwrap(), signers.iter().copied()).unwrap();
    intake.sign(accelerator).unwrap()
}

/// Returns the message with its signatures in front.
pub fn signed(accelerator: &Accelerator, mail: &[u8], signers: &[&DkimSigner]) -> Vec<u8> {
    let mut whole = Vec::new();
    for field in sign(accelerator, mail, signers) {
        whole.extend_from_slice(field.unwrap().as_bytes());
        whole.extend_from_slice(b"\r\n");
    }
    whole.extend_from_slice(mail);
    whole
}

pub fn verify_at(
    accelerator: &Accelerator,
    mails: &[&[u8]],
    zone: &Zone,
    policy: &VerifyPolicy,
    now_s: u64,
) -> Vec<VerifiedMessage> {
    let mut intake = VerifyIntake::new(policy, now_s);
    for mail in mails {
        intake.push(&ParsedMail::parse(mail, &policy.limits).unwrap()).unwrap();
    }
    let hashed = intake.hash(accelerator).unwrap();
    hashed.answer(|name| zone.answer(name.as_str())).verify(accelerator)
}

pub fn verify(accelerator: &Accelerator, mail: &[u8], zone: &Zone) -> Vec<SignatureResult> {
    verify_at(accelerator, &[mail], zone, &VerifyPolicy::default(), NOW).remove(0).signatures.into_vec()
}
