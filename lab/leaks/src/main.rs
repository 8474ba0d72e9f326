//! `oarlock-leaks`. Exit code 0 means that the planted leak was found and no other, 1 the opposite, 2 wrong usage, and
//! 3 a failure of the machine.
#![forbid(unsafe_code)]

use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use oarlock_core::Engine;
use oarlock_lanes::LaneEngine;
use oarlock_leaks::leaves::{self, CheckedLeaf};
use oarlock_leaks::padding::{NAMES, PaddingSubject};
use oarlock_leaks::planted::PlantedLeak;
use oarlock_leaks::report::{LeakFinding, TimeRow, is_clean, write};
use oarlock_leaks::saved::SavedSamples;
use oarlock_leaks::subject::Subject;
use oarlock_leaks::timing::{SampleLimits, WallClock, measure_on_threads, row};
use oarlock_leaks::tls::{self, TlsSubject};
use oarlock_leaks::welch::CroppedTests;
use oarlock_leaks::{LeakError, poison};
use oarlock_scalar::ScalarEngine;
use serde::Serialize;

/// Checks that kernels do not leak secrets
#[derive(Parser)]
#[command(name = "oarlock-leaks", version, arg_required_else_help = true)]
struct LeaksArgs {
    /// Print JSON on stdout and nothing else there
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: LeaksCommand,
}

#[derive(Subcommand)]
enum LeaksCommand {
    /// Times batches under a fixed secret and under random secrets: |t| < 5 means no leak
    Time(TimeArgs),
    /// Times decryptions of valid and invalid paddings (RSA) or ciphertexts (ML-KEM), and TLS records with short and
    /// long paddings: |t| < 5 means no leak
    Padding(PaddingArgs),
    /// Runs every leaf that Valgrind knows under it, and reports branches on secrets (build with --features valgrind)
    Valgrind(SubjectArgs),
    #[command(name = poison::WATCHED, hide = true)]
    Watched(WatchedArgs),
}

#[derive(Args)]
struct TimeArgs {
    #[command(flatten)]
    subjects: SubjectArgs,
    /// Number of batches per subject
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = clap::value_parser!(u64).range(20_000..))]
    samples: u64,
    /// Leaves to time, one after the other, or `all` of this processor [default: the best leaf of each shape]
    #[arg(long = "leaf", value_name = "NAME,...", value_delimiter = ',')]
    leaves: Vec<String>,
    /// Number of threads that share the samples, each on a core of its own
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// Stop each subject after this many seconds, with the samples so far
    #[arg(long, value_name = "N")]
    max_seconds: Option<u64>,
    /// Continue from the samples in this file until there are N, and keep all there; runs may be on several machines
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

#[derive(Args)]
struct PaddingArgs {
    /// Names of the schemes and shapes [default: all]
    names: Vec<String>,
    /// Number of batches per scheme, of eight decryptions each
    #[arg(long, value_name = "N", default_value = "125000", value_parser = clap::value_parser!(u64).range(100..))]
    samples: u64,
}

#[derive(Args)]
struct WatchedArgs {
    leaf: String,
    subjects: Vec<String>,
}

#[derive(Args)]
struct SubjectArgs {
    /// Names of shapes [default: every shape with a secret, RSA up to 2048 bits]
    names: Vec<String>,
    /// Include RSA keys of 3072 and 4096 bits: the same code over more limbs, two hours for a million batches
    #[arg(long, conflicts_with = "names")]
    all: bool,
}

fn main() -> ExitCode {
    let cli = LeaksArgs::parse();
    match run(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            // A leak is 1. A measurement that failed must not look like a verdict.
            eprintln!("oarlock-leaks: {error}");
            ExitCode::from(if matches!(error, LeakError::Unknown { .. } | LeakError::UnknownLeaf { .. }) {
                2
            } else {
                3
            })
        }
    }
}

fn run(cli: &LeaksArgs) -> Result<bool, LeakError> {
    match &cli.command {
        LeaksCommand::Time(args) => finish(&time(args)?, cli.json),
        LeaksCommand::Padding(args) => finish(&padding(args)?, cli.json),
        LeaksCommand::Valgrind(args) => valgrind(args, cli.json),
        LeaksCommand::Watched(args) => watched(args),
    }
}

fn finish<F: LeakFinding + Serialize>(rows: &[F], as_json: bool) -> Result<bool, LeakError> {
    write(rows, as_json, &mut std::io::stdout().lock())?;
    Ok(is_clean(rows))
}

fn time(args: &TimeArgs) -> Result<Vec<TimeRow>, LeakError> {
    let checked = leaves::named(&args.leaves, |engine| args.subjects.names_for(engine))?;
    args.subjects.check_names(&checked)?;
    let count: usize = checked.iter().map(|leaf| leaf.subjects.len()).sum();
    let bar = progress_bar((count + checked.len()) as u64 * args.samples);
    let mut saved = args.resume.as_deref().map(SavedSamples::open).transpose()?;
    let mut one = |engine: &dyn Engine, name: &str| {
        bar.set_message(name.to_owned());
        let subject = Subject::new(name)?;
        let leaf = leaves::name_for(engine, &subject);
        let mut tests = saved.as_ref().map_or_else(Vec::new, |saved| saved.tests(name, leaf).to_vec());
        let before: u64 = tests.iter().map(CroppedTests::count).sum();
        bar.inc(before.min(args.samples));
        if before < args.samples {
            let limits = SampleLimits {
                samples: args.samples - before,
                deadline: args.max_seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
            };
            // Threads of earlier runs have numbers too, so no random number is used twice.
            let new =
                measure_on_threads(engine, &subject, limits, tests.len(), args.threads, &|| bar.inc(1))?;
            tests.extend(new);
            if let Some(saved) = &mut saved {
                saved.replace(name, leaf, tests.clone())?;
            }
        }
        let row = row(name, leaf.into(), &tests);
        if row.samples < args.samples {
            let TimeRow { subject, samples, .. } = &row;
            eprintln!(
                "oarlock-leaks: {subject}: {samples} of {} batches before the time was up",
                args.samples
            );
        }
        Ok::<_, LeakError>(row)
    };
    let mut rows = Vec::new();
    for CheckedLeaf { engine, subjects } in checked {
        for name in &subjects {
            rows.push(one(&*engine, name)?);
        }
        // A fast shape is enough, such as X25519, because the wrapper leaks and not the shape.
        if let Some(name) = subjects.iter().find(|name| name.starts_with('x')).or(subjects.last()) {
            rows.push(one(&PlantedLeak(&*engine), name)?);
        }
    }
    bar.finish_and_clear();
    Ok(rows)
}

fn padding(args: &PaddingArgs) -> Result<Vec<TimeRow>, LeakError> {
    let names: Vec<&str> = match &*args.names {
        [] => NAMES.into_iter().chain(tls::NAMES).collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    let (records, schemes): (Vec<&str>, Vec<&str>) =
        names.into_iter().partition(|name| tls::NAMES.contains(name));
    let engines = if records.is_empty() { Vec::new() } else { record_engines()? };
    let runs = schemes.len() + records.len() * engines.len() + 2;
    let bar = progress_bar(runs as u64 * args.samples);
    let one = |name: &str, is_planted: bool| {
        bar.set_message(name.to_owned());
        PaddingSubject::new(name, is_planted)?.measure(args.samples, &mut WallClock, &mut || bar.inc(1))
    };
    let record = |engine: &dyn Engine, name: &str, is_planted: bool| {
        bar.set_message(name.to_owned());
        let mut subject = TlsSubject::new(name, is_planted)?;
        subject.measure(engine, args.samples, &mut WallClock, &mut || bar.inc(1))
    };
    let mut rows = schemes.iter().map(|name| one(name, false)).collect::<Result<Vec<_>, _>>()?;
    // The same subject with an early exit: a measurement that does not find it is too coarse to trust.
    if !schemes.is_empty() {
        rows.push(one(NAMES[0], true)?);
    }
    for engine in &engines {
        for name in &records {
            rows.push(record(&**engine, name, false)?);
        }
    }
    if let (Some(engine), Some(name)) = (engines.first(), records.first()) {
        rows.push(record(&**engine, name, true)?);
    }
    bar.finish_and_clear();
    Ok(rows)
}

/// Returns the engines that open records: lanes with the best leaves of this processor, and AWS-LC.
fn record_engines() -> Result<Vec<Box<dyn Engine>>, LeakError> {
    let scalar = ScalarEngine::detect().ok_or(LeakError::NoLanes)?;
    let lanes = LaneEngine::detect().map(|engine| Box::new(engine) as Box<dyn Engine>);
    Ok(lanes.into_iter().chain([Box::new(scalar) as Box<dyn Engine>]).collect())
}

#[cfg(feature = "valgrind")]
fn valgrind(args: &SubjectArgs, as_json: bool) -> Result<bool, LeakError> {
    let skip = |leaf: &str| eprintln!("SKIPPED: Valgrind does not know the instructions of the leaf {leaf}");
    let (rows, said) = poison::under_valgrind(&args.names_for(&LaneEngine::portable()), skip)?;
    let is_clean = finish(&rows, as_json)?;
    // Valgrind's stack traces show the line of the branch.
    if !is_clean {
        eprintln!("{said}");
    }
    Ok(is_clean)
}

#[cfg(feature = "valgrind")]
fn watched(args: &WatchedArgs) -> Result<bool, LeakError> {
    let rows = poison::watched(&args.leaf, &args.subjects)?;
    write(&rows, true, &mut std::io::stdout().lock())?;
    Ok(true)
}

#[cfg(not(feature = "valgrind"))]
fn valgrind(_: &SubjectArgs, _: bool) -> Result<bool, LeakError> {
    Err(without_feature())
}

#[cfg(not(feature = "valgrind"))]
fn watched(_: &WatchedArgs) -> Result<bool, LeakError> {
    Err(without_feature())
}

#[cfg(not(feature = "valgrind"))]
fn without_feature() -> LeakError {
    LeakError::Valgrind("built without the feature `valgrind`".into())
}

impl SubjectArgs {
    /// Checks that each given name is that of a subject which an engine offers.
    fn check_names(&self, checked: &[CheckedLeaf]) -> Result<(), LeakError> {
        let offered = |name: &String| checked.iter().any(|leaf| leaf.subjects.contains(name));
        match self.names.iter().find(|name| !offered(name)) {
            // The error of an unknown name lists all names.
            Some(name) => Err(Subject::with_one_key(name)
                .map_or_else(|error| error, |_| LeakError::Refused { subject: name.clone() })),
            None => Ok(()),
        }
    }

    fn names_for(&self, engine: &dyn Engine) -> Vec<String> {
        let offered =
            Subject::names(engine, if self.all || !self.names.is_empty() { u16::MAX } else { 2048 });
        match &*self.names {
            [] => offered,
            names => names.iter().filter(|name| offered.contains(name)).cloned().collect(),
        }
    }
}

/// Makes a progress bar on stderr, which is hidden unless stderr is a terminal.
fn progress_bar(steps: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(steps);
    match ProgressStyle::with_template("{msg:18} {wide_bar} {percent:>3} % {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
