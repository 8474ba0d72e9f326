//! `oarlock speed`: operations per second, engine by engine, beside OpenSSL and AWS-LC in the same run.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | the command: arguments and rows |
//! | `measure` | contenders taking turns |
//! | `peers` | the peers of an operation, and the better of several ways to measure one |
//! | `public`, `records` | their work |
//! | `report` | rows as table, JSON and picture |
//! | `fit` | `--fit`: constants of the cost model instead of rates |

mod error;
mod fit;
mod measure;
mod peers;
mod public;
mod records;
mod report;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use oarlock::Outcomes;
use oarlock::engine_api::schemes::shape_of;
use oarlock::{Accelerator, AcceleratorBuilder, Shape, ShapeReport};
use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, check_writable, progress};

pub use self::error::SpeedError;
pub(crate) use self::measure::SpeedContender;
use self::measure::{SpeedRate, compete};
use self::peers::{PeerRates, SpeedPeers};
pub(crate) use self::public::{AcceleratorJobs, is_right};
use self::records::{AcceleratorRecords, RecordWork};
use self::report::SpeedRow;
use crate::operation::{NamedOperation, PublicKeyWork};
use crate::peer::openssl_speed::{self, OpensslSpeedError};
use crate::peer::{Libcrypto, PeerError, aws_lc_version};

/// Arguments of `oarlock speed`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "A name with N needs a number of bytes, such as aes128-gcm-1024. -hot rows verify often under a few keys.\n\n\
                  Examples: oarlock speed --op rsa2048-sign\n          \
                  oarlock speed --ops p256-sign,p256-verify --seconds 0.2 --plot p256.svg\n          \
                  oarlock speed --op aes128-gcm-1024 --threads 2 --json"
)]
pub struct SpeedArgs {
    /// Operations, separated by commas [default: all at their usual sizes]
    #[arg(long, visible_alias = "op", value_name = "NAMES", value_delimiter = ',', help = ops_help())]
    ops: Vec<NamedOperation>,
    /// Seconds of work per row and engine or library, above 0 and at most 3600
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: Duration,
    /// Path of a libcrypto.so of OpenSSL 3.0 or later to compare with beside AWS-LC; repeatable [default: that of the
    /// system]
    #[arg(long, value_name = "PATH")]
    libcrypto: Vec<PathBuf>,
    /// Number of different keys, 1 to 65536; several numbers give one row each [default: 8 for -hot, 1024 for
    /// records, else up to 64]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=65_536))]
    keys: Vec<u32>,
    /// Number of public-key jobs per call, 1 to 65536
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    batch: u32,
    /// Number of records per call, 1 to 4194304
    #[arg(long, value_name = "N", default_value = "65536", value_parser = clap::value_parser!(u32).range(1..=4_194_304))]
    records: u32,
    /// Use only this leaf of the lanes; `oarlock engines` shows the leaf of each shape [default: the best]
    #[arg(long, value_name = "NAME")]
    leaf: Option<String>,
    /// Draw the result into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Do not run `openssl speed`, whose rate counts if it is better than OpenSSL's rate in this process
    #[arg(long)]
    no_check: bool,
    /// Print the cost of a batch (C1), an operation (C2) and a byte (C3) by engine and shape instead, with the error
    /// of the fit
    #[arg(long, conflicts_with_all = ["seconds", "libcrypto", "keys", "batch", "records", "plot", "no_check"])]
    fit: bool,
}

fn ops_help() -> String {
    let families = NamedOperation::known_families().join("\n  ");
    format!("Operations, separated by commas [default: all at their usual sizes]:\n  {families}")
}

/// Parses the time of a measurement in seconds, above 0 and at most 3600.
///
/// # Errors
/// It is none; the text says what is expected.
pub fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number above 0 and at most 3600".into()),
    }
}

/// Measures rates, and prints them as a table or JSON; draws them if `--plot` is given.
///
/// # Errors
/// A file that cannot be written before anything is measured, keys that cannot be made, an engine or a library that
/// fails.
pub fn run(global: &GlobalOptions, args: &SpeedArgs) -> Result<(), SpeedError> {
    if args.fit {
        return fit::run(global, &args.ops);
    }
    if let Some(path) = &args.plot {
        check_writable(path).map_err(|error| SpeedError::Write { path: path.clone(), error })?;
    }
    let session = SpeedSession::open(global, args)?;
    let rows = session.measure_all()?;
    if let Some(path) = &args.plot {
        report::plot(&rows, path).map_err(|error| SpeedError::Write { path: path.clone(), error })?;
    }
    let text = |in_colour| {
        let (table, sentence) = (report::table(&rows, in_colour), report::sentence(&rows));
        format!("{}\n\n{table}\n{sentence}\n", session.heading())
    };
    Ok(print_report(global.json, &rows, text)?)
}

/// One run of the command.
struct SpeedSession<'a> {
    args: &'a SpeedArgs,
    threads: usize,
    /// Every engine, also those that are not measured: makes the work and checks results.
    all: Accelerator,
    engines: Vec<SingleEngine>,
    libraries: Vec<Libcrypto>,
    /// True if rows that an engine does not offer get a note.
    tells_gaps: bool,
    /// Notes that were printed, so that none is printed twice.
    told: RefCell<BTreeSet<String>>,
}

/// One engine by itself.
pub(crate) struct SingleEngine {
    pub(crate) name: &'static str,
    /// Builds no verification tables: for rows whose few keys stand for many.
    pub(crate) cold: Accelerator,
    /// Builds verification tables as by default.
    pub(crate) hot: Accelerator,
}

impl SingleEngine {
    /// Builds the engine with the settings of `builder`.
    pub(crate) fn new(name: &'static str, builder: AcceleratorBuilder) -> Result<Self, SpeedError> {
        let builder = builder.engines([name]).lazy();
        let hot = builder.clone().build()?;
        // Without tables both would be the same, and one is enough.
        let has_tables = hot.max_prepared_bytes() > 0;
        let cold = if has_tables { builder.table_bytes(0).build()? } else { hot.clone() };
        Ok(Self { name, cold, hot })
    }

    /// Returns the leaf that computes a shape, if the engine has several.
    pub(crate) fn leaf(&self, shape: Shape) -> Option<&'static str> {
        self.report(shape)?.leaf.map(|leaf| leaf.name)
    }

    /// True if it computes the shape and has passed its self test.
    pub(crate) fn offers(&self, shape: Shape) -> bool {
        self.report(shape).is_some_and(|report| report.verdict.is_ok())
    }

    /// Returns the findings about a shape. The shape is tested and measured now, so that no turn pays for it.
    fn report(&self, shape: Shape) -> Option<ShapeReport> {
        let of_engine = |accelerator: &Accelerator| {
            let mut reports = accelerator.engines_of(shape).into_iter();
            reports.find(|engine| engine.name == self.name)?.shapes.pop()
        };
        // Only for its effect: each of the two tests and measures by itself.
        of_engine(&self.cold);
        of_engine(&self.hot)
    }
}

/// The work of one row.
enum SpeedWork {
    Public(PublicKeyWork),
    Records(RecordWork),
}

impl<'a> SpeedSession<'a> {
    fn open(global: &GlobalOptions, args: &'a SpeedArgs) -> Result<Self, SpeedError> {
        let with_leaf = |builder: AcceleratorBuilder| match &args.leaf {
            Some(leaf) => builder.leaf(leaf),
            None => builder,
        };
        let allowed = with_leaf(global.builder()).lazy().build()?;
        global.warn_absent_engines(&allowed);
        global.note(|| format!("costs: {:?}", allowed.calibration()));
        // Lazy, because few of its shapes make the work of a row.
        let all = Accelerator::builder()
            .environment(true)
            .cost_cache(oarlock::default_cost_cache())
            .lazy()
            .build()?;
        let engines = global
            .measured_engines(&allowed)
            .into_iter()
            .map(|name| SingleEngine::new(name, with_leaf(Accelerator::builder().environment(true))))
            .collect::<Result<Vec<_>, SpeedError>>()?;
        let threads = global.threads.map_or(1, usize::from);
        let tells_gaps = global.verbose || !args.ops.is_empty();
        let libraries = load(&args.libcrypto)?;
        Ok(Self { args, threads, all, engines, libraries, tells_gaps, told: RefCell::default() })
    }

    fn heading(&self) -> String {
        let threads = match self.threads {
            1 => "1 thread".to_owned(),
            count => format!("{count} threads, rates added"),
        };
        let libraries = self.libraries.iter().map(|library| library.version().to_owned());
        let peers: Vec<String> = libraries.chain([aws_lc_version()]).collect();
        format!(
            "Operations per second of CPU time, from digest or record to checked result; {threads}.\nBeside: {}, one \
             operation at a time. {:.1} s each, in turns.",
            peers.join(", "),
            self.args.seconds.as_secs_f64()
        )
    }

    fn measure_all(&self) -> Result<Vec<SpeedRow>, SpeedError> {
        let operations = match self.args.ops.as_slice() {
            [] => NamedOperation::known().into_iter().filter(|operation| operation.is_usual()).collect(),
            named => named.to_vec(),
        };
        let each = self.args.keys.len().max(1) * self.engines.len();
        let steps = (operations.len() * each * PARTS) as u64;
        let bar = progress::bar(steps, "{msg:20!} {wide_bar} {percent:>3} %{left}");
        let mut rows = Vec::new();
        for operation in operations {
            bar.set_message(operation.to_string());
            for keys in self.key_counts(operation) {
                let work = self.make(operation, keys)?;
                rows.extend(self.measure_engines(operation, &work, &bar)?);
            }
        }
        bar.finish_and_clear();
        Ok(rows)
    }

    fn key_counts(&self, operation: NamedOperation) -> Vec<usize> {
        match &self.args.keys[..] {
            [] => vec![operation.usual_keys()],
            counts => counts.iter().map(|count| *count as usize).collect(),
        }
    }

    /// Measures an operation on each engine that offers it.
    fn measure_engines(
        &self,
        operation: NamedOperation,
        work: &SpeedWork,
        bar: &ProgressBar,
    ) -> Result<Vec<SpeedRow>, SpeedError> {
        let offers = |engine: &&SingleEngine| work.shape().is_some_and(|shape| engine.offers(shape));
        let (engines, others): (Vec<_>, Vec<_>) = self.engines.iter().partition(offers);
        for engine in others {
            bar.inc(PARTS as u64);
            if self.tells_gaps {
                eprintln!("oarlock: {operation}: {} does not offer it", engine.name);
            }
        }
        if engines.is_empty() {
            return Ok(Vec::new());
        }
        let mut peers = SpeedPeers::new(self, operation, work)?;
        let mut rows = Vec::new();
        for engine in engines {
            rows.extend(self.measure(operation, work, engine, &mut peers, bar)?);
        }
        Ok(rows)
    }

    /// Measures an operation on an engine: one row per library, or a single row.
    fn measure(
        &self,
        operation: NamedOperation,
        work: &SpeedWork,
        engine: &SingleEngine,
        peers: &mut SpeedPeers,
        bar: &ProgressBar,
    ) -> Result<Vec<SpeedRow>, SpeedError> {
        let op = operation.to_string();
        let accelerator = if operation.is_hot() { &engine.hot } else { &engine.cold };
        let table_bytes = match work {
            SpeedWork::Public(work) => work.warm(accelerator),
            SpeedWork::Records(_) => Ok(0),
        };
        let table_bytes = table_bytes.map_err(|error| SpeedError::Job { op: op.clone(), error })?;
        let (ours, rates) = self.compete(&op, work, accelerator, peers, bar)?;
        let mut row = self.row(&op, engine.name, work);
        row.table_bytes = table_bytes;
        row.leaf = work.shape().and_then(|shape| engine.leaf(shape));
        Ok(row.beside(ours, &rates))
    }

    fn make(&self, operation: NamedOperation, keys: usize) -> Result<SpeedWork, SpeedError> {
        if let Some(records) = RecordWork::new(operation, self.args.records as usize, keys) {
            return Ok(SpeedWork::Records(records?));
        }
        // A multiple, so that every key has equally many jobs.
        let jobs = JOBS.max(self.args.batch as usize).min(operation.max_batch()).next_multiple_of(keys);
        Ok(SpeedWork::Public(operation.work(&self.all, keys, jobs)?))
    }

    /// Lets Oarlock and its peers take turns, and runs `openssl speed` of each library's version. Returns the rates of
    /// both sides.
    fn compete(
        &self,
        op: &str,
        work: &SpeedWork,
        accelerator: &Accelerator,
        peers: &mut SpeedPeers,
        bar: &ProgressBar,
    ) -> Result<(SpeedRate, PeerRates), SpeedError> {
        let mut threads: Vec<Vec<Box<dyn SpeedContender + '_>>> =
            (0..self.threads).map(|index| vec![self.ours(op, work, accelerator, index)]).collect();
        let batch = work.peer_batch(self.args.batch as usize);
        let positions = peers.join(&mut threads, op, work, accelerator, batch)?;
        let start = bar.position();
        let rates = compete(threads, self.args.seconds, &|share| {
            bar.set_position(start + (share.min(1.0) * PARTS as f64) as u64);
        });
        bar.set_position(start + PARTS as u64);
        let rates = rates?;
        let programs = self.libraries.iter().map(|library| self.openssl_speed(op, library)).collect();
        Ok((rates[0], positions.pick(&rates, programs)))
    }

    /// Runs the `openssl speed` of the library's version for the operation, and returns its rate.
    fn openssl_speed(&self, op: &str, library: &Libcrypto) -> Option<f64> {
        // The program's rate is that of one thread, whose core has nothing else to do.
        if self.args.no_check || self.threads > 1 {
            return None;
        }
        // The program takes whole seconds only.
        let seconds = self.args.seconds.as_secs().clamp(1, 3) as u32;
        let told = |error: OpensslSpeedError| {
            let note = format!("{}: its rates are those of this process alone: {error}", library.version());
            // The program is absent for every operation.
            if self.told.borrow_mut().insert(note.clone()) {
                eprintln!("oarlock: {note}");
            }
        };
        openssl_speed::measure(library, &[op], seconds).map_err(told).ok()?.get(op)
    }

    fn ours<'w>(
        &self,
        op: &'w str,
        work: &'w SpeedWork,
        accelerator: &'w Accelerator,
        index: usize,
    ) -> Box<dyn SpeedContender + 'w> {
        match work {
            SpeedWork::Records(work) => Box::new(AcceleratorRecords {
                accelerator,
                work: work.clone(),
                outcomes: Outcomes::default(),
            }),
            SpeedWork::Public(work) => {
                let (jobs, batch) = (work.jobs(), work.batch(self.args.batch as usize));
                let at = index * batch % jobs.len().max(1);
                Box::new(AcceleratorJobs { accelerator, op, jobs, batch, at })
            }
        }
    }

    /// Makes a row without rates.
    fn row(&self, op: &str, engine: &'static str, work: &SpeedWork) -> SpeedRow {
        let (batch, keys, bytes) = match work {
            SpeedWork::Records(work) => (self.args.records as usize, work.keys(), work.input_len()),
            SpeedWork::Public(work) => {
                (work.batch(self.args.batch as usize), work.keys.len(), work.inputs.get(0).len())
            }
        };
        SpeedRow {
            op: op.to_owned(),
            engine,
            threads: self.threads,
            batch,
            keys,
            bytes,
            ..SpeedRow::default()
        }
    }
}

/// The number of steps of the progress bar per row.
const PARTS: usize = 20;
/// The smallest number of public-key jobs, so that batches differ.
const JOBS: usize = 256;
/// The number of bare operations between two readings of the clock.
const BARE_BATCH: usize = 8;

impl SpeedWork {
    fn shape(&self) -> Option<Shape> {
        match self {
            Self::Public(work) => shape_of(&work.job(0)?).ok(),
            Self::Records(work) => Some(work.shape),
        }
    }

    fn task(&self) -> Result<crate::peer::PeerTask, PeerError> {
        match self {
            Self::Public(work) => work.peer_task(),
            Self::Records(work) => work.task(),
        }
    }

    /// Returns the number of the library's operations between two readings of the clock.
    fn peer_batch(&self, batch: usize) -> usize {
        match self {
            Self::Public(work) => work.batch(batch).min(BARE_BATCH),
            Self::Records(_) => 4096,
        }
    }
}

/// Loads the libraries that were named, or the system's. The absence of the system's is a note, that of a named one
/// an error.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Vec<Libcrypto>, SpeedError> {
    if paths.is_empty() {
        return match Libcrypto::load(None) {
            Ok(library) => Ok(vec![library]),
            Err(error) => {
                eprintln!("oarlock: no OpenSSL to compare with: {error}; --libcrypto PATH names one");
                Ok(Vec::new())
            }
        };
    }
    paths.iter().map(|path| Libcrypto::load(Some(path)).map_err(SpeedError::Libcrypto)).collect()
}
