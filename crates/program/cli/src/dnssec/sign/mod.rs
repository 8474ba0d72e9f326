//! `oarlock dnssec sign`.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments, and the options that they make |
//! | `delegation_args` | the arguments about the zones above and below, and the changes that they make |
//! | `dssets` | files with DS records of children, and for the parent |
//! | `parent_records` | CDS and CDNSKEY records |
//! | `skr` | keys from a signed key response |
//! | `keys` | the signing keys and their roles |
//! | `ordered` | pieces of work on all threads, with results in order |
//! | `summary` | the summary as text and as JSON |

mod args;
mod delegation_args;
mod dssets;
mod keys;
mod ordered;
mod parent_records;
mod skr;
mod summary;

use std::path::Path;
use std::time::Instant;

use cpu_time::ProcessTime;
use indicatif::ProgressBar;
use oarlock::Accelerator;
use oarlock_dnssec::sign::{Signatures, SignerKey, SigningPlan, ZoneDraft, ZoneSignError};
use oarlock_dnssec::{DomainNameBuf, RecordType};
use oarlock_files::output::OutputFile;
use oarlock_mail_files::compressed::TextLimit;
use oarlock_terminal::table::count;
use oarlock_terminal::{GlobalOptions, progress};

pub(super) use self::args::ZoneSignArgs;
use self::delegation_args::ZoneKeys;
pub(crate) use self::keys::KeyObstacle;
use self::keys::{DirectoryKeys, LoadedKey};
use self::summary::SignSummary;
use super::zone_file::ZoneFile;
use super::{DnssecError, origin};

pub(super) fn run(global: &GlobalOptions, args: &ZoneSignArgs) -> Result<(), DnssecError> {
    let started = (Instant::now(), ProcessTime::now());
    args.check(global.json)?;
    let origin = origin(args.origin.as_deref())?;
    let read = |path| read(path, origin.as_ref(), args.text.limit());
    let zone = read(&args.zone)?;
    let previous = args.previous.as_deref().map(read).transpose()?;
    let previous = previous.as_ref().map(|previous| &previous.records);
    let apex = apex(&zone)?;
    let has_response = args.delegations.has_response();
    let directory = DirectoryKeys::read(&args.keys, apex.name(), args.key_clock(), has_response)?;
    let files = args.keys.files.open(global, args.keys.paths().chain(directory.paths()))?;
    let loaded = keys::load(&args.keys, &files, apex.name(), &directory)?;
    let described = |LoadedKey { path, signer }: &LoadedKey| (path.clone(), signer.tag(), signer.algorithm());
    let described: Vec<_> = loaded.iter().map(described).collect();
    let keys: Vec<SignerKey> = loaded.into_iter().map(|key| key.signer).collect();
    for key in keys.iter().filter(|key| key.is_in_use()) {
        args.keys.experimental.check(key.algorithm())?;
    }
    let accelerator = files.builder(global).lazy().build()?;
    if global.verbose || global.engines.is_some() {
        global.warn_absent_engines(&accelerator);
    }
    let fail = |error| DnssecError::Sign { path: args.zone.clone(), error: Box::new(error) };
    let mut options = args.options();
    let response = args.delegations.response(&accelerator, apex.name(), options.lifetime.now, &keys)?;
    if let Some(response) = &response {
        response.tell(&zone.records, apex.name());
        options.presigned.clone_from(&response.sets);
    }
    let known = ZoneKeys { signers: &keys, directory: &directory };
    let changed = args.delegations.change(&accelerator, &zone, apex.name(), &known)?;
    let records = changed.as_ref().unwrap_or(&zone.records);
    let draft = ZoneDraft::new(&accelerator, records, keys, options, previous)
        .map_err(|error| keys::name_files(error, &args.zone, &described))?;
    summary::tell_changes(&args.zone, &draft);
    global.note(|| {
        let records = count(draft.records().len() as u64, "record");
        format!("{records} to sign after {:.2} s", started.0.elapsed().as_secs_f64())
    });
    let threads = global.threads.map_or_else(cores, usize::from);
    let mut plan = SigningPlan::new(&draft, previous).map_err(fail)?;
    summary::tell_size(&plan, &draft);
    let signatures = sign(&accelerator, &plan, threads).map_err(fail)?;
    // After all other signatures, because the digest of the zone covers them. RFC 8976.
    let seal = plan.seal(&accelerator, &signatures).map_err(fail)?;
    global.note(|| format!("signed after {:.2} s", started.0.elapsed().as_secs_f64()));
    write(&plan, &signatures, threads, args.out.as_deref())?;
    args.delegations.write_dsset(&accelerator, &draft)?;
    let mut summary = SignSummary::new(&draft, &signatures, &seal, threads, started);
    summary.response = response.map(|response| response.summary);
    summary.print(global.json)
}

/// Reads a whole zone. A zone with unreadable entries is not signed.
fn read(path: &Path, origin: Option<&DomainNameBuf>, limit: TextLimit) -> Result<ZoneFile, DnssecError> {
    let zone = ZoneFile::read(path, origin.map(DomainNameBuf::name), limit)?;
    for fault in &zone.faults {
        let (file, line) = zone.position_of_fault(fault);
        eprintln!("oarlock: {file}:{line}: {}", fault.error);
    }
    let unread = zone.faults.len() + zone.more_faults;
    match &zone.damage {
        Some(damage) => Err(DnssecError::Usage(format!("{}: {damage}", path.display()))),
        None if unread > 0 => Err(DnssecError::Usage(format!(
            "{}: {} could not be read",
            path.display(),
            count(unread as u64, "entry")
        ))),
        None => Ok(zone),
    }
}

fn apex(zone: &ZoneFile) -> Result<DomainNameBuf, DnssecError> {
    let soa = zone.records.iter().find(|record| record.rtype == RecordType::SOA);
    let none = || DnssecError::Sign { path: zone.path.clone(), error: Box::new(ZoneSignError::NoSoa) };
    soa.map(|soa| soa.owner.to_buf()).ok_or_else(none)
}

fn sign(
    accelerator: &Accelerator,
    plan: &SigningPlan<'_>,
    threads: usize,
) -> Result<Vec<Signatures>, ZoneSignError> {
    let bar = bar(plan, "signing {wide_bar} {pos}/{len} names{left}");
    let mut signatures = Vec::with_capacity(plan.ranges().len());
    let work = |names| plan.sign(accelerator, names);
    let result = ordered::run(threads, plan.ranges().collect(), work, |names, signed| {
        bar.inc(names.len() as u64);
        signatures.push(signed);
        Ok(())
    });
    bar.finish_and_clear();
    result.map(|()| signatures)
}

/// Writes the zone. All threads make its text.
fn write(
    plan: &SigningPlan<'_>,
    signatures: &[Signatures],
    threads: usize,
    out: Option<&Path>,
) -> Result<(), DnssecError> {
    let mut target = OutputFile::open(out.unwrap_or(Path::new("-")), false)?;
    let bar = bar(plan, "writing {wide_bar} {pos}/{len} names{left}");
    let pieces: Vec<_> = plan.ranges().zip(signatures).collect();
    let work = |(names, signatures)| {
        let mut text = Vec::new();
        plan.write(names, signatures, &mut text);
        Ok(text)
    };
    let result = ordered::run(threads, pieces, work, |(names, _), text| {
        bar.inc(names.len() as u64);
        target.write(&text).map_err(DnssecError::Output)
    });
    bar.finish_and_clear();
    result?;
    // Synced before it gets its name: a crash leaves the old zone or the whole new one.
    target.sync()?;
    Ok(target.name()?)
}

fn bar(plan: &SigningPlan<'_>, template: &str) -> ProgressBar {
    progress::bar(plan.name_count() as u64, template)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
