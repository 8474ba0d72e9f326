//! `oarlock dnssec verify`.

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;
use cpu_time::ProcessTime;
use oarlock::{Accelerator, JobError};
use oarlock_dnssec::{RecordSets, TrustAnchor, VerifyCounts, VerifyReport, VerifySettings, ZoneVerifier};
use oarlock_mail_files::compressed::TextLimit;
use oarlock_terminal::{GlobalOptions, progress};

use super::report::{self, VerifiedZone};
use super::zone_file::{TextArgs, ZoneFile};
use super::{DnssecError, ExperimentalArgs, origin};
use crate::time::{TimePoint, now};

/// The number of names whose signatures are verified together: lanes are full many times, and the data fits into a
/// core's cache.
const NAMES: usize = 2048;

#[derive(Debug, Args)]
pub(super) struct ZoneVerifyArgs {
    /// Zone in presentation format, also as .gz, .xz or .zst; `-` is standard input
    #[arg(value_name = "ZONE")]
    zone: PathBuf,
    /// Origin of relative names [default: $ORIGIN, or the owner of the SOA record]
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,
    #[command(flatten)]
    text: TextArgs,
    /// Time of the verification: YYYYMMDDHHMMSS in UTC, seconds since 1970, or an offset from now such as +60d or -1h
    /// [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    now: Option<TimePoint>,
    /// Trusted DS or DNSKEY records of the zone in presentation format; one of them must match its keys; repeatable
    #[arg(long = "anchor", value_name = "FILE")]
    anchors: Vec<PathBuf>,
    /// Max number of keys of one tag that a signature is tried with, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    max_keys: u16,
    /// Max number of additional NSEC3 iterations that are computed
    #[arg(long, value_name = "N", default_value_t = 150)]
    max_iterations: u16,
    #[command(flatten)]
    experimental: ExperimentalArgs,
    /// Only read the zone: report syntax errors, verify nothing
    #[arg(long)]
    syntax_only: bool,
    /// Print failures only
    #[arg(long)]
    no_warnings: bool,
}

pub(super) fn run(global: &GlobalOptions, args: &ZoneVerifyArgs) -> Result<(), DnssecError> {
    let (started, cpu) = (Instant::now(), ProcessTime::now());
    let accelerator = global.builder().lazy().build()?;
    if global.verbose || global.engines.is_some() {
        global.warn_absent_engines(&accelerator);
    }
    let origin = origin(args.origin.as_deref())?;
    // Before the zone, which may take minutes to read.
    let anchors = anchors(&args.anchors, args.text.limit())?;
    let zone = ZoneFile::read(
        &args.zone,
        origin.as_ref().map(oarlock_dnssec::DomainNameBuf::name),
        args.text.limit(),
    )?;
    if args.syntax_only {
        return report::syntax(global, &zone, started.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    }
    global.note(|| {
        let records = oarlock_terminal::table::count(zone.records.len() as u64, "record");
        format!("{records} read in {:.2} s", started.elapsed().as_secs_f64())
    });
    let sets = RecordSets::new(&zone.records);
    let now = args.now.map_or_else(now, TimePoint::at_present);
    let settings = VerifySettings {
        max_keys: usize::from(args.max_keys),
        max_iterations: args.max_iterations,
        takes_experimental: args.experimental.is_given(),
        ..VerifySettings::at(now)
    };
    let verifier =
        ZoneVerifier::new(&sets, settings).map_err(|error| report::no_zone(&zone, &error.to_string()))?;
    let threads = global.bulk_threads();
    let mut found = verify(&verifier, &accelerator, threads)?;
    if !anchors.is_empty() {
        found.merge(verifier.check_anchors(&accelerator, &anchors)?);
    }
    let done = VerifiedZone {
        zone: &zone,
        apex: verifier.apex(),
        serial: verifier.serial(),
        now,
        report: &found,
        threads,
        seconds: started.elapsed().as_secs_f64(),
        cpu_seconds: cpu.elapsed().as_secs_f64(),
        with_warnings: !args.no_warnings,
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if global.json {
        done.print_json(&mut out)?;
    } else {
        done.print(&mut out)?;
    }
    out.flush()?;
    done.verdict()
}

/// Verifies on all threads. The checks of the whole zone are one piece of work, ranges of names are the others.
fn verify(
    verifier: &ZoneVerifier<'_>,
    accelerator: &Accelerator,
    threads: usize,
) -> Result<VerifyReport, JobError> {
    let names = verifier.name_count();
    let pieces = 1 + names.div_ceil(NAMES);
    let bar = progress::bar(names as u64, "verifying {wide_bar} {pos}/{len} names{left}");
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(pieces)));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(pieces) {
            scope.spawn(|| {
                loop {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= pieces {
                        return;
                    }
                    let range = range(piece, names);
                    bar.inc(range.len() as u64);
                    let report = check(verifier, accelerator, range);
                    let has_failed = report.is_err();
                    // unreachable because no thread panics while it holds the lock
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((piece, report));
                    // The other threads find no further piece, and end after the one that they have.
                    if has_failed {
                        next.store(pieces, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut reports = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Back to the order of the zone: the threads end in any order.
    reports.sort_by_key(|(piece, _)| *piece);
    let mut all = VerifyReport::default();
    for (_, report) in reports {
        all.merge(report?);
    }
    Ok(all)
}

/// Returns the names of a piece of work; the first piece has none.
fn range(piece: usize, names: usize) -> Range<usize> {
    match piece.checked_sub(1) {
        None => 0..0,
        Some(at) => at * NAMES..names.min((at + 1) * NAMES),
    }
}

fn check(
    verifier: &ZoneVerifier<'_>,
    accelerator: &Accelerator,
    names: Range<usize>,
) -> Result<VerifyReport, JobError> {
    if names.is_empty() {
        verifier.check_whole(accelerator)
    } else {
        verifier.check_names(accelerator, names)
    }
}

/// Reads DS and DNSKEY records from files.
fn anchors(paths: &[PathBuf], limit: TextLimit) -> Result<Vec<TrustAnchor>, DnssecError> {
    let mut anchors = Vec::new();
    for path in paths {
        let file = ZoneFile::read_keys(path, limit)?;
        let fault = file.faults.first().map(ToString::to_string);
        if let Some(fault) = fault.or(file.damage) {
            return Err(DnssecError::Usage(format!("{}: {fault}", path.display())));
        }
        let before = anchors.len();
        anchors.extend(file.records.iter().filter_map(|record| TrustAnchor::from_record(&record)));
        if anchors.len() == before {
            return Err(DnssecError::Usage(format!(
                "{}: expected DS or DNSKEY records, found none",
                path.display()
            )));
        }
    }
    Ok(anchors)
}

/// Describes the counts in words.
pub(super) fn counted(counts: &VerifyCounts) -> String {
    use oarlock_terminal::table::{count, thousands};
    let mut text = format!(
        "{} good, {}, {}, {} ({} secure)",
        count(counts.good_signatures, "signature"),
        count(counts.signed_sets, "set"),
        count(counts.names, "name"),
        count(counts.delegations, "delegation"),
        thousands(counts.secure_delegations),
    );
    if counts.unsupported_signatures > 0 {
        text += &format!(", {} unsupported", count(counts.unsupported_signatures, "signature"));
    }
    text
}
