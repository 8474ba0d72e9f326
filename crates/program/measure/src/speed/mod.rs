//! `oarlock speed`: operations per second, engine by engine, beside OpenSSL in the same run.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | the command: arguments, rows, OpenSSL's own figures as a check |
//! | `measure` | contenders taking turns |
//! | `public`, `records` | their work |
//! | `report` | rows as table, JSON and picture |
//! | `fit` | `--fit`: constants of the cost model instead of rates |

mod error;
mod fit;
mod measure;
mod public;
mod records;
mod report;

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
use self::public::BareOperations;
pub(crate) use self::public::{AcceleratorJobs, is_right};
use self::records::{AcceleratorRecords, BareRecords, RecordWork};
use self::report::SpeedRow;
use crate::operation::{NamedOperation, PublicKeyWork};
use crate::peer::openssl_speed::{self, OpensslRates};
use crate::peer::{Libcrypto, PeerAlgorithm, PeerError, PreparedTask};

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
    /// Path of a libcrypto.so of OpenSSL 3.0 or later to compare with; repeatable [default: that of the system]
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
    /// Do not check OpenSSL's figures with `openssl speed`
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

fn seconds(text: &str) -> Result<Duration, String> {
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
        Ok(Self { args, threads, all, engines, libraries: load(&args.libcrypto)?, tells_gaps })
    }

    fn heading(&self) -> String {
        let threads = match self.threads {
            1 => "1 thread".to_owned(),
            count => format!("{count} threads, rates added"),
        };
        let libraries: Vec<String> =
            self.libraries.iter().map(|library| library.version().to_owned()).collect();
        let beside =
            if libraries.is_empty() { "no OpenSSL here".to_owned() } else { libraries.join(" and ") };
        format!(
            "Operations per second of CPU time, from digest or record to checked result; {threads}.\nBeside: {beside}; \
             AWS-LC called bare, one operation at a time. {:.1} s each, in turns.",
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
                for engine in &self.engines {
                    rows.extend(self.measure(operation, &work, engine, &bar)?);
                }
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

    /// Measures an operation on an engine: one row per library, or a single row. No row if the engine does not offer
    /// it.
    fn measure(
        &self,
        operation: NamedOperation,
        work: &SpeedWork,
        engine: &SingleEngine,
        bar: &ProgressBar,
    ) -> Result<Vec<SpeedRow>, SpeedError> {
        let op = operation.to_string();
        if !work.shape().is_some_and(|shape| engine.offers(shape)) {
            bar.inc(PARTS as u64);
            if self.tells_gaps {
                eprintln!("oarlock: {op}: {} does not offer it", engine.name);
            }
            return Ok(Vec::new());
        }
        let accelerator = if operation.is_hot() { &engine.hot } else { &engine.cold };
        let table_bytes = match work {
            SpeedWork::Public(work) => work.warm(accelerator),
            SpeedWork::Records(_) => Ok(0),
        };
        let table_bytes = table_bytes.map_err(|error| SpeedError::Job { op: op.clone(), error })?;
        let mut peers: Vec<Option<Vec<PreparedTask>>> = Vec::new();
        for library in &self.libraries {
            peers.push(self.prepare(&op, work, library)?);
        }
        let checks: Vec<Option<OpensslRates>> =
            self.libraries.iter().map(|library| self.check(&op, library)).collect();
        let indices = peer_indices(&peers);
        let mut rates = self.compete(&op, work, accelerator, &mut peers, bar)?;
        let void = |rates: &[SpeedRate], at: usize| {
            self.void(&op, checks.get(at)?.as_ref()?, rates, *indices.get(at)?)
        };
        // Once more, because other work on the machine may have slowed one of both measurements.
        if (0..indices.len()).any(|at| void(&rates, at).is_some()) {
            rates = self.compete(&op, work, accelerator, &mut peers, bar)?;
        }
        let mut rows = Vec::new();
        for at in 0..self.libraries.len().max(1) {
            let mut openssl = indices.get(at).copied().flatten().map(|index| rates[index]);
            let bare_rate = void(&rates, at);
            if let Some(bare_rate) = bare_rate {
                self.tell_void(&op, openssl.take().unwrap_or_default(), bare_rate);
            }
            let mut row = self.row(&op, engine.name, work, self.libraries.get(at));
            row.table_bytes = table_bytes;
            row.leaf = work.shape().and_then(|shape| engine.leaf(shape));
            row.is_void = bare_rate.is_some();
            row.set_rate(rates[0], openssl, rates[1]);
            rows.push(row);
        }
        Ok(rows)
    }

    /// Returns the rate of `openssl speed` if a library's rate here is void against it.
    fn void(&self, op: &str, check: &OpensslRates, rates: &[SpeedRate], index: Option<usize>) -> Option<f64> {
        let per_thread = rates.get(index?)?.per_s / self.threads as f64;
        check.get(op).filter(|_| check.voids(op, per_thread))
    }

    fn tell_void(&self, op: &str, rate: SpeedRate, bare_rate: f64) {
        let per_s = rate.per_s / self.threads as f64;
        eprintln!(
            "oarlock: {op}: OpenSSL's {per_s:.0}/s here is more than 10 % below its own `openssl speed` ({bare_rate:.0}/s), \
             twice: the row is void"
        );
    }

    fn make(&self, operation: NamedOperation, keys: usize) -> Result<SpeedWork, SpeedError> {
        if let Some(records) = RecordWork::new(operation, self.args.records as usize, keys) {
            return Ok(SpeedWork::Records(records?));
        }
        // A multiple, so that every key has equally many jobs.
        let jobs = JOBS.max(self.args.batch as usize).min(operation.max_batch()).next_multiple_of(keys);
        Ok(SpeedWork::Public(operation.work(&self.all, keys, jobs)?))
    }

    /// Prepares the library's work, one per thread, and checks its results. None, with a note, if it lacks the
    /// algorithm.
    fn prepare(
        &self,
        op: &str,
        work: &SpeedWork,
        library: &Libcrypto,
    ) -> Result<Option<Vec<PreparedTask>>, SpeedError> {
        if PeerAlgorithm::of_operation(op).is_none() {
            eprintln!("oarlock: {op}: no OpenSSL figure: libcrypto has no such operation in one call");
            return Ok(None);
        }
        let fail = |error| SpeedError::Peer { op: op.to_owned(), error };
        let prepare = || -> Result<Vec<PreparedTask>, PeerError> {
            let mut prepared = Vec::new();
            for _ in 0..self.threads {
                prepared.push(library.prepare(work.task()?)?);
            }
            Ok(prepared)
        };
        let mut prepared = match prepare() {
            Err(error) if error.is_absence() => {
                eprintln!("oarlock: {op}: no OpenSSL figure: {error}");
                return Ok(None);
            }
            prepared => prepared.map_err(fail)?,
        };
        let ours = match work {
            SpeedWork::Records(records) => records.results(&self.all)?,
            SpeedWork::Public(_) => Vec::new(),
        };
        let is_right = |item: usize, output: &[u8]| match work {
            SpeedWork::Records(_) => ours[item] == output,
            SpeedWork::Public(work) => is_right(&self.all, work, item, output),
        };
        // All threads have the same task, so the check of one is enough.
        prepared.first_mut().map_or(Ok(()), |first| first.check_all(is_right)).map_err(fail)?;
        Ok(Some(prepared))
    }

    /// Runs the `openssl speed` of the library's version for the operation.
    fn check(&self, op: &str, library: &Libcrypto) -> Option<OpensslRates> {
        if self.args.no_check {
            return None;
        }
        // The program takes whole seconds only.
        let seconds = self.args.seconds.as_secs().clamp(1, 3) as u32;
        // Without the program the rates are printed unchecked.
        openssl_speed::measure(library, &[op], seconds).ok()
    }

    /// Measures Oarlock, AWS-LC called bare, then each library that has the algorithm.
    fn compete(
        &self,
        op: &str,
        work: &SpeedWork,
        accelerator: &Accelerator,
        peers: &mut [Option<Vec<PreparedTask>>],
        bar: &ProgressBar,
    ) -> Result<Vec<SpeedRate>, SpeedError> {
        let fail = |error| SpeedError::Job { op: op.to_owned(), error };
        let mut threads: Vec<Vec<Box<dyn SpeedContender + '_>>> = Vec::new();
        for index in 0..self.threads {
            threads.push(self.own_contenders(op, work, accelerator, index).map_err(fail)?);
        }
        for prepared in peers.iter_mut().flatten() {
            for (thread, prepared) in threads.iter_mut().zip(prepared.iter_mut()) {
                thread.push(Box::new(LibcryptoContender {
                    op,
                    prepared,
                    batch: work.peer_batch(self.args.batch as usize),
                }));
            }
        }
        let start = bar.position();
        let rates = compete(threads, self.args.seconds, &|share| {
            bar.set_position(start + (share.min(1.0) * PARTS as f64) as u64);
        });
        bar.set_position(start + PARTS as u64);
        rates
    }

    fn own_contenders<'w>(
        &self,
        op: &'w str,
        work: &'w SpeedWork,
        accelerator: &'w Accelerator,
        index: usize,
    ) -> Result<Vec<Box<dyn SpeedContender + 'w>>, oarlock::JobError> {
        let referee = accelerator.diagnostics().referee();
        let batch = self.args.batch as usize;
        Ok(match work {
            SpeedWork::Records(work) => vec![
                Box::new(AcceleratorRecords {
                    accelerator,
                    work: work.clone(),
                    outcomes: Outcomes::default(),
                }),
                Box::new(BareRecords { engine: referee, work: work.clone(), outcomes: Outcomes::default() }),
            ],
            SpeedWork::Public(work) => {
                let (jobs, batch) = (work.jobs(), work.batch(batch));
                let bare = BareOperations::new(referee, op, &jobs, batch.min(BARE_BATCH))?;
                let at = index * batch % jobs.len().max(1);
                vec![Box::new(AcceleratorJobs { accelerator, op, jobs, batch, at }), Box::new(bare)]
            }
        })
    }

    fn row(&self, op: &str, engine: &'static str, work: &SpeedWork, library: Option<&Libcrypto>) -> SpeedRow {
        let (batch, keys, bytes) = match work {
            SpeedWork::Records(work) => (self.args.records as usize, work.keys(), work.input_len()),
            SpeedWork::Public(work) => {
                (work.batch(self.args.batch as usize), work.keys.len(), work.inputs.get(0).len())
            }
        };
        SpeedRow {
            op: op.to_owned(),
            engine,
            leaf: None,
            threads: self.threads,
            batch,
            keys,
            bytes,
            ops_per_s: 0.0,
            batch_us: 0.0,
            openssl_ops_per_s: None,
            ratio: None,
            is_void: false,
            libcrypto: library.map(|library| library.version().to_owned()),
            table_bytes: 0,
            aws_lc_per_s: 0.0,
        }
    }
}

/// Returns the index of each library's rate among those of the contenders: after Oarlock's and AWS-LC's. None if it
/// does not compete.
fn peer_indices(peers: &[Option<Vec<PreparedTask>>]) -> Vec<Option<usize>> {
    let mut next = 2..;
    peers.iter().map(|peer| peer.as_ref().and_then(|_| next.next())).collect()
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

/// libcrypto as a contender.
struct LibcryptoContender<'a> {
    op: &'a str,
    prepared: &'a mut PreparedTask,
    batch: usize,
}

impl SpeedContender for LibcryptoContender<'_> {
    fn run(&mut self) -> Result<usize, SpeedError> {
        let ran = self.prepared.run(self.batch);
        ran.map_err(|error| SpeedError::Peer { op: self.op.to_owned(), error })?;
        Ok(self.batch)
    }
}

/// Loads the libraries that were named, or the system's. The absence of the system's is a note, that of a named one
/// an error.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Vec<Libcrypto>, SpeedError> {
    if paths.is_empty() {
        return match Libcrypto::load(None) {
            Ok(library) => Ok(vec![library]),
            Err(error) => {
                eprintln!("oarlock: no OpenSSL to compare with: {error}");
                Ok(Vec::new())
            }
        };
    }
    paths.iter().map(|path| Libcrypto::load(Some(path)).map_err(SpeedError::Libcrypto)).collect()
}
