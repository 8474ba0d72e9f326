//! The summary as text and as JSON.

use std::path::Path;
use std::time::Instant;

use cpu_time::ProcessTime;
use oarlock_dnssec::sign::{KeyRole, Signatures, SigningPlan, ZoneDraft};
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{count, thousands};
use serde::Serialize;

use super::super::DnssecError;
use super::skr::BundleSummary;

/// The summary of a signed zone.
#[derive(Debug, Serialize)]
pub(super) struct SignSummary {
    zone: String,
    serial: u32,
    /// The number of records without signatures.
    records: usize,
    signed_sets: usize,
    signatures: usize,
    made: usize,
    reused: usize,
    /// The number of earlier signatures that did not verify.
    replaced: usize,
    keys: Vec<KeyLine>,
    /// The bundle of the signed key response, if the keys come from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<BundleSummary>,
    changes: Vec<ChangeLine>,
    threads: usize,
    seconds: f64,
    cpu_seconds: f64,
    signatures_per_s: f64,
    signatures_per_cpu_s: f64,
}

#[derive(Debug, Serialize)]
struct KeyLine {
    key_tag: u16,
    algorithm: u8,
    role: &'static str,
    phase: String,
}

#[derive(Debug, Serialize)]
struct ChangeLine {
    change: String,
    count: u64,
    first: String,
}

impl SignSummary {
    pub(super) fn new(
        draft: &ZoneDraft,
        signatures: &[Signatures],
        seal: &Signatures,
        threads: usize,
        (started, cpu): (Instant, ProcessTime),
    ) -> Self {
        let all = || signatures.iter().chain([seal]);
        let sum = |count: fn(&Signatures) -> usize| all().map(count).sum::<usize>();
        let (count, reused) = (sum(Signatures::len), sum(Signatures::reused));
        let (seconds, cpu_seconds) = (started.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
        let rate = |seconds: f64| count as f64 / seconds.max(f64::EPSILON);
        Self {
            zone: draft.apex().to_string(),
            serial: draft.serial(),
            records: draft.records().len(),
            signed_sets: sum(Signatures::sets),
            signatures: count,
            made: count - reused,
            reused,
            replaced: sum(Signatures::replaced),
            keys: draft.keys().iter().map(KeyLine::from_key).collect(),
            response: None,
            changes: changes(draft).collect(),
            threads,
            seconds,
            cpu_seconds,
            signatures_per_s: rate(seconds),
            signatures_per_cpu_s: rate(cpu_seconds),
        }
    }

    /// Prints the summary as JSON on standard output, or in words on stderr.
    pub(super) fn print(&self, is_json: bool) -> Result<(), DnssecError> {
        if is_json {
            return Ok(print_report(true, self, |_| String::new())?);
        }
        let number = |number: usize| thousands(number as u64);
        let Self { zone, serial, seconds, threads, .. } = self;
        let replaced = match self.replaced {
            0 => String::new(),
            replaced => format!(" ({} earlier ones did not verify)", number(replaced)),
        };
        let presigned = self.response.as_ref().map(presigned).unwrap_or_default();
        eprintln!(
            "oarlock: {zone} serial {serial}: {} with {}, {} made{replaced}, {} reused{presigned}; {seconds:.2} s on {}, \
             {} per second of CPU, reading and writing included",
            count(self.signed_sets as u64, "set"),
            count(self.signatures as u64, "signature"),
            number(self.made),
            number(self.reused),
            count(*threads as u64, "thread"),
            count(self.signatures_per_cpu_s as u64, "signature"),
        );
        Ok(())
    }
}

/// Counts the signatures that were made elsewhere, and names their sets.
fn presigned(response: &BundleSummary) -> String {
    let signatures = response.signatures();
    let mut types: Vec<&str> = signatures.iter().map(|signature| &*signature.rtype).collect();
    types.dedup();
    format!("; {} of {} from the response", count(signatures.len() as u64, "signature"), types.join(", "))
}

impl KeyLine {
    fn from_key(key: &oarlock_dnssec::sign::SignerKey) -> Self {
        let role = match key.role() {
            KeyRole::Ksk => "ksk",
            KeyRole::Zsk => "zsk",
            KeyRole::Csk => "csk",
        };
        Self { key_tag: key.tag(), algorithm: key.algorithm().number(), role, phase: key.phase().to_string() }
    }
}

/// Tells the size of the signatures before they are made, if an experimental algorithm makes them long.
pub(super) fn tell_size(plan: &SigningPlan<'_>, draft: &ZoneDraft) {
    if draft.keys().iter().any(|key| key.algorithm().is_experimental()) {
        let (signatures, bytes) = plan.signatures_len();
        let signatures = count(signatures, "signature");
        eprintln!("oarlock: {signatures} of {:.1} MB together, before base64", bytes as f64 / 1e6);
    }
}

/// Warns about records that were changed.
pub(super) fn tell_changes(path: &Path, draft: &ZoneDraft) {
    for ChangeLine { change, count, first } in changes(draft) {
        let path = path.display();
        match count {
            1 => eprintln!("oarlock: {path}: warning: {first}: {change}"),
            _ => eprintln!("oarlock: {path}: warning: {first}: {change}; {} such in all", thousands(count)),
        }
    }
}

fn changes(draft: &ZoneDraft) -> impl Iterator<Item = ChangeLine> {
    let line = |(change, count, spot): (_, _, &oarlock_dnssec::sign::RecordLocation)| {
        let change: oarlock_dnssec::sign::ZoneChange = change;
        ChangeLine { change: change.to_string(), count, first: spot.to_string() }
    };
    draft.changes().iter().map(line)
}
