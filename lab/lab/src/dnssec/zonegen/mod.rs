//! `oarlock dnssec zonegen`.
//!
//! | module | what it holds |
//! |---|---|
//! | `content` | apex and delegations, one after the other |
//! | `names` | names without repetition, and numbers from a seed |

mod content;
mod names;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use indicatif::ProgressBar;
use oarlock_dnssec::{DomainName, DomainNameBuf, LetterCase};
use oarlock_terminal::report::print_report;
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions, progress};
use serde::Serialize;

use self::content::ZoneContent;

/// The number of bytes that are written at once.
const BLOCK: usize = 1 << 20;
/// The number of delegations between two updates of the progress.
const STEP: u64 = 1024;
/// The default share of the delegations that have a DS.
const DS_SHARE: f64 = 0.6;
/// The default seed.
const SEED: u64 = 1;
/// The longest origin, in bytes: the longest names that are made fit before it.
const MAX_ORIGIN: usize = 128;

/// Arguments of `oarlock dnssec zonegen`.
#[derive(Args, Debug)]
#[command(
    after_help = "The zone is the same wherever and whenever it is made of the same arguments. With one NSEC for every delegation, a signature \
                  for that and one for every DS, signing adds (1 + ds-share) signatures for each delegation and 9 for the apex and \
                  its name servers: SOA, NS, DNSKEY (by one key) and NSEC, and two hosts.\n\n\
                  Example: oarlock dnssec zonegen --delegations 100000 --out tld.zone\n\n\
                  Exit codes: 0 done, 2 wrong usage, 3 the output cannot be written."
)]
pub(crate) struct ZonegenArgs {
    /// Name of the zone, such as example.
    #[arg(long, value_name = "ZONE", default_value = "example.")]
    origin: String,
    /// Number of delegations, 1 to 1000000000
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    delegations: u64,
    /// Share of the delegations that have a DS, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = DS_SHARE, value_parser = share)]
    ds_share: f64,
    /// Seed of the random names: another seed makes another zone
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The zone that was made, as `--json` prints it.
#[derive(Debug, Default, Serialize)]
struct MadeZone {
    origin: String,
    delegations: u64,
    delegations_with_ds: u64,
    records: u64,
    bytes: u64,
}

/// An error of making a zone.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ZonegenError {
    #[error("{0}")]
    Usage(String),
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for ZonegenError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Usage(_) => FailureKind::Usage,
            Self::Write { .. } => FailureKind::Machine,
            Self::Stdout(error) => FailureKind::of_stdout(error),
        }
    }
}

/// Writes a zone, and prints what is in it if `--json` is given.
///
/// # Errors
/// A name that is no origin, or an output that cannot be written.
pub(crate) fn run(global: &GlobalOptions, args: &ZonegenArgs) -> Result<(), ZonegenError> {
    if global.json && args.out.is_none() {
        return Err(ZonegenError::Usage(
            "--json: expected --out, because the zone goes to standard output".into(),
        ));
    }
    let bar = progress::bar(args.delegations, "{wide_bar} {pos}/{len} delegations{left}");
    let made = write_zone(args, &bar)?;
    Ok(print_report(global.json, &made, |_| String::new())?)
}

impl ZonegenArgs {
    /// Returns the arguments of a usual zone in a file.
    pub(super) fn new(origin: &str, delegations: u64, out: PathBuf) -> Self {
        Self { origin: origin.to_owned(), delegations, ds_share: DS_SHARE, seed: SEED, out: Some(out) }
    }
}

/// Writes a zone, and shows no progress.
///
/// # Errors
/// As those of [`run`].
pub(super) fn make(args: &ZonegenArgs) -> Result<(), ZonegenError> {
    write_zone(args, &ProgressBar::hidden()).map(drop)
}

fn write_zone(args: &ZonegenArgs, bar: &ProgressBar) -> Result<MadeZone, ZonegenError> {
    let origin = origin(&args.origin)?;
    let content = ZoneContent::new(origin.name(), args.delegations, args.ds_share, args.seed);
    let Some(path) = &args.out else { return Ok(write(&content, &mut io::stdout().lock(), bar)?) };
    let fail = |error| ZonegenError::Write { path: path.clone(), error };
    let mut file = File::create(path).map_err(fail)?;
    write(&content, &mut file, bar).map_err(fail)
}

fn origin(text: &str) -> Result<DomainNameBuf, ZonegenError> {
    let wrong = |reason: &dyn std::fmt::Display| ZonegenError::Usage(format!("--origin `{text}`: {reason}"));
    let origin = DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower)
        .map_err(|error| wrong(&error))?;
    match origin.name().as_bytes().len() {
        0..=MAX_ORIGIN => Ok(origin),
        _ => Err(wrong(&"expected a name of at most 128 bytes, so that the names below it fit")),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share @ 0.0..=1.0) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

fn write(content: &ZoneContent, out: &mut dyn Write, bar: &ProgressBar) -> io::Result<MadeZone> {
    let mut made =
        MadeZone { origin: content.origin.clone(), delegations: content.delegations, ..MadeZone::default() };
    let mut text = Vec::with_capacity(BLOCK + BLOCK / 16);
    made.records += content.write_apex(&mut text);
    for index in 0..content.delegations {
        made.records += content.write_delegation(index, &mut text);
        made.delegations_with_ds += u64::from(content.has_ds(index));
        if text.len() >= BLOCK {
            made.bytes += text.len() as u64;
            out.write_all(&text)?;
            text.clear();
        }
        if index % STEP == 0 {
            bar.set_position(index);
        }
    }
    made.bytes += text.len() as u64;
    out.write_all(&text)?;
    out.flush()?;
    bar.finish_and_clear();
    Ok(made)
}
