//! Helpers of the zone tests: engines, a verification in one call, and a small signer that shares no code with the
//! crate.

pub mod by_engine;
pub mod signer;
pub mod zones;

use std::sync::LazyLock;

use oarlock::Accelerator;
use oarlock_dnssec::zone::ZoneReader;
use oarlock_dnssec::{
    RecordSets, Severity, TrustAnchor, VerifyCounts, VerifyReport, VerifySettings, ZoneFinding, ZoneRecords,
    ZoneVerifier,
};

use self::by_engine::by_engine;

/// The time in tests.
pub const NOW: u32 = 1_700_000_000;

/// Returns one accelerator for each engine of this machine.
pub fn engines() -> &'static [Accelerator] {
    static ENGINES: LazyLock<Vec<Accelerator>> =
        LazyLock::new(|| oarlock::KNOWN_ENGINES.into_iter().map(by_engine).collect());
    &ENGINES
}

/// Reads a zone file. Returns its records, and its faults as `line: reason`.
pub fn read(text: &str) -> (ZoneRecords, Vec<String>) {
    let mut records = ZoneRecords::new();
    let include = &mut |path: &str| match path {
        "more" => Ok(b"included 3600 IN A 192.0.2.9\n".to_vec()),
        _ => Err("not found".to_owned()),
    };
    let mut reader = ZoneReader::new(None, include);
    reader.read(text.as_bytes(), true, &mut records);
    let faults = reader.faults().iter().map(|fault| format!("{}: {}", fault.line, fault.error)).collect();
    (records, faults)
}

/// The result of a verification, with findings as lines `line owner type reason`. A `~` marks a warning, and `-`
/// stands for the line of a missing record.
#[derive(Debug, PartialEq)]
pub struct CheckedZone {
    pub lines: Vec<String>,
    pub counts: VerifyCounts,
    pub report: VerifyReport,
    pub faults: Vec<String>,
}

/// Verifies a zone on each engine, and checks that all results are equal.
pub fn verify(text: &str) -> CheckedZone {
    verify_with(text, VerifySettings::at(NOW), &[])
}

pub fn verify_with(text: &str, settings: VerifySettings, anchors: &[TrustAnchor]) -> CheckedZone {
    let (records, faults) = read(text);
    let sets = RecordSets::new(&records);
    let verifier = ZoneVerifier::new(&sets, settings).unwrap();
    let reports = engines().iter().map(|engine| check(&verifier, engine, anchors));
    let report = reports.reduce(|one, other| {
        assert_eq!(one, other, "engines differ");
        one
    });
    let report = report.unwrap();
    let lines = report.findings.iter().map(|finding| line(&records, finding)).collect();
    CheckedZone { lines, counts: report.counts, report, faults }
}

fn check(verifier: &ZoneVerifier<'_>, engine: &Accelerator, anchors: &[TrustAnchor]) -> VerifyReport {
    let mut report = verifier.check_whole(engine).unwrap();
    // The result must not depend on the ranges of names.
    let (count, mut pieces) = (verifier.name_count(), VerifyReport::default());
    for name in 0..count {
        pieces.merge(verifier.check_names(engine, name..name + 1).unwrap());
    }
    let whole = verifier.check_names(engine, 0..count).unwrap();
    assert_eq!((pieces.counts, pieces.failures()), (whole.counts, whole.failures()));
    report.merge(whole);
    if !anchors.is_empty() {
        report.merge(verifier.check_anchors(engine, anchors).unwrap());
    }
    report
}

fn line(records: &ZoneRecords, finding: &ZoneFinding) -> String {
    let severity = if finding.severity == Severity::Warning { "~" } else { "" };
    let line = finding.row.map_or("-".to_owned(), |row| records.get(row as usize).line.to_string());
    format!("{severity}{line} {} {} {}", finding.owner, finding.rtype, finding.reason.code())
}

/// The lines of a zone, for tests that change one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone(pub Vec<String>);

impl Zone {
    pub fn text(&self) -> String {
        self.0.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Returns the number of the only line with this start.
    pub fn line(&self, start: &str) -> usize {
        let mut found = self.0.iter().enumerate().filter(|(_, line)| line.starts_with(start));
        let (at, _) = found.next().unwrap_or_else(|| panic!("no line begins with {start}"));
        assert!(found.next().is_none(), "several lines begin with {start}");
        at + 1
    }

    /// Returns the zone with one line changed.
    pub fn with(&self, start: &str, change: impl Fn(&str) -> String) -> Self {
        let mut zone = self.clone();
        let at = zone.line(start) - 1;
        let changed = change(&zone.0[at]);
        assert_ne!(zone.0[at], changed, "nothing changed");
        zone.0[at] = changed;
        zone
    }

    /// Returns the zone with one text in a line replaced by another.
    pub fn replaced(&self, start: &str, from: &str, to: &str) -> Self {
        self.with(start, |line| line.replacen(from, to, 1))
    }

    /// Returns the zone with the lines of this start emptied. The numbers of the other lines stay.
    pub fn without(&self, start: &str) -> Self {
        let mut zone = self.clone();
        let mut count = 0;
        for line in zone.0.iter_mut().filter(|line| line.starts_with(start)) {
            line.clear();
            count += 1;
        }
        assert!(count > 0, "no line begins with {start}");
        zone
    }

    /// Returns the zone with a line added.
    pub fn and(&self, line: &str) -> Self {
        let mut zone = self.clone();
        zone.0.push(line.to_owned());
        zone
    }

    pub fn verify(&self) -> CheckedZone {
        verify(&self.text())
    }
}

/// Seeds of Ed25519 keys whose DNSKEYs have one tag, found by trying.
pub const ONE_TAG: [[u8; 32]; 2] = [number(143), number(297)];

const fn number(number: u16) -> [u8; 32] {
    let mut seed = [0; 32];
    [seed[0], seed[1]] = number.to_be_bytes();
    seed
}
