//! The findings in a zone, as text and as JSON.

use std::io::{self, Write};

use oarlock_dnssec::zone::FaultyEntry;
use oarlock_dnssec::{DomainName, Severity, VerifyCounts, VerifyReport, ZoneFinding};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::table::{count, thousands};
use serde::Serialize;

use super::DnssecError;
use super::verify::counted;
use super::zone_file::ZoneFile;

/// A zone that was verified.
#[derive(Debug)]
pub(super) struct VerifiedZone<'a> {
    pub(super) zone: &'a ZoneFile,
    pub(super) apex: DomainName<'a>,
    pub(super) serial: Option<u32>,
    pub(super) now: u32,
    pub(super) report: &'a VerifyReport,
    pub(super) threads: usize,
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    pub(super) with_warnings: bool,
}

/// The whole answer, as `--json` prints it.
#[derive(Debug, Serialize)]
struct ZoneAnswer<'a> {
    zone: String,
    serial: Option<u32>,
    verdict: &'static str,
    now: u32,
    records: usize,
    names: u64,
    signed_sets: u64,
    good_signatures: u64,
    unsupported_signatures: u64,
    verifications: u64,
    delegations: u64,
    secure_delegations: u64,
    unread_entries: usize,
    failures: usize,
    warnings: usize,
    findings: Vec<FindingLine<'a>>,
    threads: usize,
    seconds: f64,
    cpu_seconds: f64,
    good_signatures_per_s: f64,
    good_signatures_per_cpu_s: f64,
}

/// A finding, or an entry that was not read.
#[derive(Debug, Serialize)]
struct FindingLine<'a> {
    severity: &'static str,
    reason: &'a str,
    text: String,
    owner: Option<String>,
    #[serde(rename = "type")]
    rtype: Option<String>,
    key_tag: Option<u16>,
    file: Option<String>,
    line: Option<u32>,
}

impl<'a> VerifiedZone<'a> {
    /// Prints a line for each finding, and the summary.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        for line in self.lines() {
            line.print(out)?;
        }
        if self.zone.more_faults > 0 {
            writeln!(out, "{} more could not be read", count(self.zone.more_faults as u64, "entry"))?;
        }
        let (failures, warnings) = (self.failures(), self.warnings());
        writeln!(out, "{} {}: {}", self.apex, self.word(), counted(&self.report.counts))?;
        let signatures = self.report.counts.verifications;
        writeln!(
            out,
            "{}, {}; {} in {:.2} s on {}, {} per second of CPU",
            count(failures as u64, "failure"),
            count(warnings as u64, "warning"),
            count(signatures, "verification"),
            self.seconds,
            count(self.threads as u64, "thread"),
            thousands((signatures as f64 / self.cpu_seconds.max(f64::EPSILON)) as u64),
        )
    }

    pub(super) fn print_json(&self, out: &mut impl Write) -> io::Result<()> {
        let VerifyCounts { good_signatures, .. } = self.report.counts;
        let rate = |seconds: f64| good_signatures as f64 / seconds.max(f64::EPSILON);
        let answer = ZoneAnswer {
            zone: self.apex.to_string(),
            serial: self.serial,
            verdict: self.word(),
            now: self.now,
            records: self.zone.records.len(),
            names: self.report.counts.names,
            signed_sets: self.report.counts.signed_sets,
            good_signatures,
            unsupported_signatures: self.report.counts.unsupported_signatures,
            verifications: self.report.counts.verifications,
            delegations: self.report.counts.delegations,
            secure_delegations: self.report.counts.secure_delegations,
            unread_entries: self.zone.faults.len() + self.zone.more_faults,
            failures: self.failures(),
            warnings: self.warnings(),
            findings: self.lines().collect(),
            threads: self.threads,
            seconds: self.seconds,
            cpu_seconds: self.cpu_seconds,
            good_signatures_per_s: rate(self.seconds),
            good_signatures_per_cpu_s: rate(self.cpu_seconds),
        };
        serde_json::to_writer(&mut *out, &answer).map_err(io::Error::other)?;
        writeln!(out)
    }

    /// Fails if the zone is bad.
    pub(super) fn verdict(&self) -> Result<(), DnssecError> {
        match self.failures() {
            0 => Ok(()),
            failures => {
                Err(DnssecError::No(format!("{} is bad: {}", self.apex, count(failures as u64, "failure"))))
            }
        }
    }

    /// Returns the verdict of the zone in a word.
    fn word(&self) -> &'static str {
        match self.failures() {
            // Nothing is wrong, but nothing was verified either.
            0 if self.report.counts.good_signatures == 0 => "unsupported",
            0 => "good",
            _ => "bad",
        }
    }

    /// Returns the number of failures, including entries that could not be read.
    fn failures(&self) -> usize {
        let damaged = usize::from(self.zone.damage.is_some());
        self.report.failures() + self.zone.faults.len() + self.zone.more_faults + damaged
    }

    fn warnings(&self) -> usize {
        self.report.findings.len() - self.report.failures()
    }

    fn lines(&self) -> impl Iterator<Item = FindingLine<'a>> {
        let zone = self.zone;
        let with_warnings = self.with_warnings;
        let is_wanted = move |finding: &&ZoneFinding| with_warnings || finding.severity == Severity::Failure;
        let findings = self
            .report
            .findings
            .iter()
            .filter(is_wanted)
            .map(|finding| FindingLine::from_finding(finding, zone));
        unread(zone).chain(findings)
    }
}

impl<'a> FindingLine<'a> {
    fn bare(reason: &'static str, text: String, position: Option<(String, u32)>) -> Self {
        let (file, line) = position.unzip();
        // Line 0 stands for the file as a whole.
        let line = line.filter(|line| *line > 0);
        Self { severity: "failure", reason, text, owner: None, rtype: None, key_tag: None, file, line }
    }

    fn from_finding(finding: &'a ZoneFinding, zone: &ZoneFile) -> Self {
        let (file, line) = zone.position(finding.row).unzip();
        Self {
            severity: if finding.severity == Severity::Failure { "failure" } else { "warning" },
            reason: finding.reason.code(),
            text: finding.reason.to_string(),
            owner: Some(finding.owner.to_string()),
            rtype: Some(finding.rtype.to_string()),
            key_tag: finding.key_tag,
            file,
            line,
        }
    }

    /// `zone:12: warning: www.example. A key 4711: the signature expired`.
    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        if let Some(file) = &self.file {
            write!(out, "{file}:")?;
            if let Some(line) = self.line {
                write!(out, "{line}:")?;
            }
            write!(out, " ")?;
        }
        if self.severity == "warning" {
            write!(out, "warning: ")?;
        }
        if let (Some(owner), Some(rtype)) = (&self.owner, &self.rtype) {
            write!(out, "{owner} {rtype}")?;
            if let Some(tag) = self.key_tag {
                write!(out, " key {tag}")?;
            }
            write!(out, ": ")?;
        }
        writeln!(out, "{}", self.text)
    }
}

/// The result of reading a zone, as `--json` prints it.
#[derive(Debug, Serialize)]
struct SyntaxSummary<'a> {
    records: usize,
    unread_entries: usize,
    findings: Vec<FindingLine<'a>>,
    seconds: f64,
    cpu_seconds: f64,
    records_per_s: f64,
    records_per_cpu_s: f64,
}

/// Reports entries that could not be read, and nothing else.
pub(super) fn syntax(
    global: &GlobalOptions,
    zone: &ZoneFile,
    seconds: f64,
    cpu_seconds: f64,
) -> Result<(), DnssecError> {
    let unread_entries = zone.faults.len() + zone.more_faults;
    let rate = |seconds: f64| zone.records.len() as f64 / seconds.max(f64::EPSILON);
    let reading = SyntaxSummary {
        records: zone.records.len(),
        unread_entries,
        findings: unread(zone).collect(),
        seconds,
        cpu_seconds,
        records_per_s: rate(seconds),
        records_per_cpu_s: rate(cpu_seconds),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if global.json {
        serde_json::to_writer(&mut out, &reading).map_err(io::Error::other)?;
        writeln!(out)?;
    } else {
        for line in &reading.findings {
            line.print(&mut out)?;
        }
        let (records, per_s) =
            (count(reading.records as u64, "record"), count(reading.records_per_cpu_s as u64, "record"));
        let unread = count(unread_entries as u64, "entry");
        writeln!(out, "{records}, {unread} unread; {seconds:.2} s, {per_s} per second of CPU")?;
    }
    out.flush()?;
    match unread_entries + usize::from(zone.damage.is_some()) {
        0 => Ok(()),
        unread => Err(DnssecError::No(format!(
            "{}: {} could not be read",
            zone.path.display(),
            count(unread as u64, "entry")
        ))),
    }
}

/// Returns lines for the entries that could not be read, and for the reason why the file could not be read to its end.
fn unread(zone: &ZoneFile) -> impl Iterator<Item = FindingLine<'_>> {
    let start = || Some((zone.path.display().to_string(), 0));
    let damage = zone.damage.iter().map(move |text| FindingLine::bare("truncated", text.clone(), start()));
    let fault = |fault: &FaultyEntry| {
        FindingLine::bare("syntax", fault.error.to_string(), Some(zone.position_of_fault(fault)))
    };
    zone.faults.iter().map(fault).chain(damage)
}

/// Returns the error that there is no zone to verify, after printing the entries that could not be read.
pub(super) fn no_zone(zone: &ZoneFile, error: &str) -> DnssecError {
    for fault in &zone.faults {
        let (file, line) = zone.position_of_fault(fault);
        eprintln!("oarlock: {file}:{line}: {}", fault.error);
    }
    DnssecError::Usage(format!("{}: {error}", zone.path.display()))
}
