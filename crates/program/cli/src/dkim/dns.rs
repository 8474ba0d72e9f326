//! `oarlock dkim dns`.

use std::path::Path;

use oarlock::Key;
use oarlock_dkim::{
    KeyName, KeyRecord, RecordOptions, SignatureAlgorithm, ascii_form, record_strings, record_text, zone_line,
};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;

use super::DkimError;
use super::args::DnsArgs;
use crate::keys::{key_file, summary};

/// A record, as `--json` prints it.
#[derive(Debug, Serialize)]
struct RecordReport {
    /// The owner name; null without a domain and a selector.
    name: Option<String>,
    record: String,
    /// The record in strings of at most 255 bytes, as DNS has it.
    strings: Vec<String>,
    zone_line: Option<String>,
    key_type: &'static str,
    key_bits: u32,
}

pub(super) fn run(global: &GlobalOptions, args: &DnsArgs) -> Result<(), DkimError> {
    let passphrase = args.passphrase.read()?;
    let key = key_file::read(&args.key, passphrase.as_ref())?;
    let options =
        RecordOptions { is_testing: args.test_mode, is_strict: args.strict, notes: args.notes.clone() };
    let CheckedRecord { text, algorithm, record } = CheckedRecord::of_key(&args.key, &key, &options)?;
    summary::warn(args.selector.as_deref().unwrap_or("the key"), &key);
    let report = RecordReport {
        name: None,
        strings: record_strings(&text).map(str::to_owned).collect(),
        record: text,
        zone_line: None,
        key_type: algorithm.key_type(),
        key_bits: record.key_bits(),
    };
    report.named(args)?.print(global)
}

/// The record of a key that verifiers can use.
pub(super) struct CheckedRecord {
    pub(super) text: String,
    pub(super) algorithm: SignatureAlgorithm,
    /// The record as a verifier reads it.
    pub(super) record: KeyRecord,
}

impl CheckedRecord {
    /// Makes the record of a key that was read from this file.
    pub(super) fn of_key(path: &Path, key: &Key, options: &RecordOptions) -> Result<Self, DkimError> {
        let unsuitable = || DkimError::NotForMail { path: path.to_owned(), found: summary::kind(key.kind()) };
        let algorithm = SignatureAlgorithm::for_key(key).ok_or_else(unsuitable)?;
        let text = record_text(key, options)?;
        // The record is parsed as a verifier does it, so that no unusable record is published.
        let record = KeyRecord::parse(text.as_bytes()).map_err(|_| unsuitable())?;
        // Verifiers need not take keys of other lengths. RFC 8301 3.2.
        if algorithm == SignatureAlgorithm::RsaSha256 && !(1024..=4096).contains(&record.key_bits()) {
            return Err(unsuitable());
        }
        Ok(Self { text, algorithm, record })
    }
}

impl RecordReport {
    fn named(self, args: &DnsArgs) -> Result<Self, DkimError> {
        let form =
            |name: &str| ascii_form(name).map(String::from).ok_or_else(|| DkimError::Domain(name.to_owned()));
        let (Some(domain), Some(selector)) = (&args.domain, &args.selector) else { return Ok(self) };
        let (domain, selector) = (form(domain)?, form(selector)?);
        Ok(Self {
            name: Some(KeyName::new(&selector, &domain).to_string()),
            zone_line: Some(zone_line(&selector, &domain, &self.record)),
            ..self
        })
    }

    fn print(&self, global: &GlobalOptions) -> Result<(), DkimError> {
        Ok(print_report(global.json, self, |_| {
            format!("{}\n", self.zone_line.as_ref().unwrap_or(&self.record))
        })?)
    }
}
