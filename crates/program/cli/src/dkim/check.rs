//! `oarlock dkim check`.

use oarlock::Key;
use oarlock_dkim::{KeyAnswer, KeyName, KeyRecord, KeyRecordError, ascii_form};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use serde::Serialize;

use super::DkimError;
use super::args::CheckArgs;
use super::lookup::KeyRecordSource;
use crate::keys::key_file;

/// The length in bits below which an RSA key gets a warning. RFC 8301 3.2.
const ADVISED_BITS: u32 = 2048;

/// The result of the check, as `--json` prints it.
#[derive(Debug, Serialize)]
struct RecordCheck {
    name: String,
    records: usize,
    key_type: Option<&'static str>,
    key_bits: Option<u32>,
    /// True if the private key belongs to the record; null if none was given.
    matches: Option<bool>,
    faults: Vec<String>,
    warnings: Vec<String>,
}

pub(super) fn run(global: &GlobalOptions, args: &CheckArgs) -> Result<(), DkimError> {
    let form =
        |name: &str| ascii_form(name).map(String::from).ok_or_else(|| DkimError::Domain(name.to_owned()));
    let name = KeyName::new(&form(&args.selector)?, &form(&args.domain)?);
    let passphrase = args.passphrase.read()?;
    let key = args.key.as_ref().map(|path| key_file::read(path, passphrase.as_ref())).transpose()?;
    let answers = KeyRecordSource::open(&args.lookup)?.find(std::iter::once(&name));
    let mut report = RecordCheck::new(&name);
    match answers.get(&name) {
        Some(KeyAnswer::Records { records, .. }) => report.read(records, key.as_ref()),
        // An error and not a fault of the record, because it is unknown whether DNS has the record.
        Some(KeyAnswer::Unknown(reason)) => return Err(DkimError::Lookup(reason.clone())),
        Some(KeyAnswer::NoRecord) | None => report.faults.push("there is no record of this name".into()),
    }
    report.print(global)?;
    match report.faults.as_slice() {
        [] => Ok(()),
        faults => Err(DkimError::No(format!("{name}: {}", faults.join("; ")))),
    }
}

impl RecordCheck {
    fn new(name: &KeyName) -> Self {
        Self {
            name: name.to_string(),
            records: 0,
            key_type: None,
            key_bits: None,
            matches: None,
            faults: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn read(&mut self, records: &[Result<KeyRecord, KeyRecordError>], key: Option<&Key>) {
        self.records = records.len();
        if records.len() > 1 {
            self.warnings
                .push(format!("there are {} records, of which verifiers may take any", records.len()));
        }
        match records.iter().find_map(|record| record.as_ref().ok()) {
            Some(record) => self.judge(record, key),
            None => self
                .faults
                .extend(records.iter().filter_map(|record| record.as_ref().err()).map(ToString::to_string)),
        }
    }

    fn judge(&mut self, record: &KeyRecord, key: Option<&Key>) {
        let bits = record.key_bits();
        self.key_bits = Some(bits);
        self.key_type = oarlock_dkim::SignatureAlgorithm::for_key(&record.key)
            .map(oarlock_dkim::SignatureAlgorithm::key_type);
        if self.key_type == Some("rsa") && bits < ADVISED_BITS {
            self.warnings.push(format!("the key has {bits} bits, and {ADVISED_BITS} are advised"));
        }
        if record.is_testing {
            self.warnings.push("the record says that the domain only tests (t=y)".into());
        }
        if let Some(key) = key {
            let is_same = key.fingerprint() == record.key.fingerprint();
            self.matches = Some(is_same);
            if !is_same {
                self.faults.push("the record and the file have different keys".into());
            }
        }
    }

    fn print(&self, global: &GlobalOptions) -> Result<(), DkimError> {
        Ok(print_report(global.json, self, |_| {
            for warning in &self.warnings {
                eprintln!("oarlock: warning: {}: {warning}", self.name);
            }
            if !self.faults.is_empty() {
                return String::new();
            }
            let what = if self.matches.is_some() { ", the same as in the file" } else { "" };
            let (bits, kind) = (self.key_bits.unwrap_or(0), self.key_type.unwrap_or("unknown"));
            format!("{}: a key of type {kind} with {bits} bits{what}\n", self.name)
        })?)
    }
}
