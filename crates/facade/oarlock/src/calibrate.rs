//! The cost model's first figures: measured once, kept in a cache file, followed by the dispatcher from then on.
//!
//! | file | what it holds |
//! |---|---|
//! | this one | a few batches of each engine and shape at first start, and their cache |
//! | `first_use` | the same for one engine and shape when it is first wanted |
//! | `fit` | constants from timings |
//! | `grid` | many batches of one engine and shape, for those who want to know how well the model holds |

mod first_use;
mod fit;
mod grid;

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use oarlock_core::{BatchSize, Engine, Jobs, Operation, Outcomes, Records, Shape};
use oarlock_dispatch::EngineCost;

pub(crate) use self::first_use::FirstUseCosts;
pub use self::fit::{BatchTiming, CostFit};
pub use self::grid::TimingGrid;
use crate::selftest::{proved_shapes, representative, sample_operations, sample_records};

/// Measured costs by engine and shape.
pub(crate) type EngineCosts = Vec<(&'static str, Shape, EngineCost)>;

/// The number of times that each batch is timed. The fastest time counts, because nothing makes a batch too fast.
const ROUNDS: usize = 3;

/// The source of the costs, for `oarlock engines` to print.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Calibration {
    /// Read from the cache file.
    Cached(PathBuf),
    /// Measured now and written to the cache file.
    Measured(PathBuf),
    /// Measured now; the cache file could not be written, so the next start measures again.
    NotKept {
        /// The reason why it could not be written.
        reason: String,
    },
    /// Read or measured shape by shape, each at its first use
    /// ([`AcceleratorBuilder::lazy`](crate::AcceleratorBuilder::lazy)).
    AtFirstUse {
        /// The cache file.
        cache: Option<PathBuf>,
    },
}

/// Returns the costs of `engines`: from the cache if it is of this machine and version and lists them all, and
/// measured otherwise.
pub(crate) fn costs(engines: &[&dyn Engine], cache: Option<&Path>) -> (EngineCosts, Calibration) {
    let Some(path) = cache else {
        let reason = "no cache directory is known".into();
        return (measure(engines), Calibration::NotKept { reason });
    };
    if let Some(costs) = read(engines, path) {
        return (costs, Calibration::Cached(path.to_owned()));
    }
    let costs = measure(engines);
    match write(engines, &costs, path) {
        Ok(()) => (costs, Calibration::Measured(path.to_owned())),
        Err(error) => {
            let reason = format!("cannot write {}: {error}", path.display());
            (costs, Calibration::NotKept { reason })
        }
    }
}

/// Returns the usual cache file: `$XDG_CACHE_HOME/oarlock/costs`, or `~/.cache/oarlock/costs` if the home directory
/// exists.
///
/// This reads the environment variables `XDG_CACHE_HOME` and `HOME`. A program with raised privileges must not use
/// it.
pub fn default_cost_cache() -> Option<PathBuf> {
    cache_of(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))
}

fn cache_of(xdg_cache_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    // Accounts of services often name a home directory that was never made. A library must not make it.
    let home = || absolute(home).filter(|home| home.is_dir());
    let base = absolute(xdg_cache_home).or_else(|| Some(home()?.join(".cache")))?;
    Some(base.join("oarlock").join("costs"))
}

fn measure(engines: &[&dyn Engine]) -> EngineCosts {
    let pairs =
        engines.iter().flat_map(|engine| proved_shapes().into_iter().map(move |shape| (*engine, shape)));
    pairs.filter_map(|(engine, shape)| Some((engine.name(), shape, measure_one(engine, shape)?))).collect()
}

fn measure_one(engine: &dyn Engine, shape: Shape) -> Option<EngineCost> {
    let lanes = engine.offers(shape)?;
    if let Some((measured, ratio)) = hash_ratio(shape).filter(|(measured, _)| *measured != shape) {
        let EngineCost { per_batch_ns, per_op_ns, per_byte_ns } = measure_one(engine, measured)?;
        return Some(EngineCost { per_batch_ns, per_op_ns: per_op_ns * ratio, per_byte_ns });
    }
    if shape.is_record() {
        measure_records(engine, shape, lanes)
    } else {
        measure_operations(engine, shape, lanes)
    }
}

/// Returns the shape of SLH-DSA by which the cost of another is measured, and how many times as many hashes the other
/// computes. A signature takes up to a second, and all sets together take several.
fn hash_ratio(shape: Shape) -> Option<(Shape, f64)> {
    let (set, hashes) = match shape {
        Shape::SlhDsaKeygen { set } => (set, set.root_hashes()),
        Shape::SlhDsaSign { set } => (set, set.signing_hashes()),
        Shape::SlhDsaVerify { set } => (set, set.verifying_hashes()),
        _ => return None,
    };
    let measured = representative(Shape::SlhDsaVerify { set });
    let Shape::SlhDsaVerify { set } = measured else { return None };
    Some((measured, hashes as f64 / set.verifying_hashes() as f64))
}

/// Measures one lane group and, if that is quick, four. The difference gives C2, and the rest of one group gives C1.
fn measure_operations(engine: &dyn Engine, shape: Shape, lanes: BatchSize) -> Option<EngineCost> {
    let best = lanes.preferred.max(1);
    let many = (4 * best).min(lanes.max.max(best));
    let set = sample_operations(shape, many).ok()?;
    let operations: Vec<Operation<'_>> = set.iter().collect();
    let jobs = |ops: usize| Jobs::Operations(shape, &operations[..ops]);
    let timing = |ops, took_ns| BatchTiming { ops, bytes: 0, took_ns };
    let one = timing(best, fastest(engine, &jobs(best), Duration::ZERO)?);
    // Four slow groups would take long, and the fixed share of a slow batch is too small to matter.
    if one.took_ns > QUICK_NS || many == best {
        return Some(CostFit::from_timings(&[one], best)?.cost);
    }
    let took = fastest_of_each(engine, &[jobs(best), jobs(many)], STEADY)?;
    Some(CostFit::from_timings(&[timing(best, took[0]), timing(many, took[1])], best)?.cost)
}

/// The time during which batches that are fitted together are measured by turns.
///
/// The speed of a processor changes from one millisecond to the next, and the fixed share of a batch is a small
/// difference.
const STEADY: Duration = Duration::from_micros(1200);

/// A group slower than this is timed alone.
const QUICK_NS: f64 = 300_000.0;

/// Measures three points: few and many short records for C1 and C2, many longer records for C3.
fn measure_records(engine: &dyn Engine, shape: Shape, lanes: BatchSize) -> Option<EngineCost> {
    let (few, many) = (lanes.preferred.max(1), (lanes.preferred.max(16) * 4).min(lanes.max));
    let sizes = [(few, 16), (many, 16), (many, 1024)];
    let samples = sizes.map(|(ops, len)| sample_records(engine, shape, ops, len).ok());
    let [Some(short), Some(broad), Some(long)] = &samples else { return None };
    let parts: [[&Records<'_>; 1]; 3] = [[short], [broad], [long]];
    let jobs = [0, 1, 2].map(|at| Jobs::Records(shape, &parts[at]));
    let took = fastest_of_each(engine, &jobs, STEADY)?;
    let timing = |(at, took_ns): (usize, f64)| BatchTiming {
        ops: sizes[at].0,
        bytes: parts[at][0].input_bytes(),
        took_ns,
    };
    let timings: Vec<BatchTiming> = took.into_iter().enumerate().map(timing).collect();
    Some(CostFit::from_timings(&timings, lanes.preferred)?.cost)
}

/// Returns the nanoseconds of the fastest run, after one run to warm up.
///
/// There are [`ROUNDS`] runs, and more until `min` has passed. Returns `None` if the engine fails.
fn fastest(engine: &dyn Engine, jobs: &Jobs<'_>, min: Duration) -> Option<f64> {
    fastest_of_each(engine, std::slice::from_ref(jobs), min)?.pop()
}

/// Returns the same for several batches that are measured by turns.
fn fastest_of_each(engine: &dyn Engine, batches: &[Jobs<'_>], min: Duration) -> Option<Vec<f64>> {
    let mut outcomes: Vec<Outcomes> = batches.iter().map(Outcomes::for_jobs).collect();
    let mut best = vec![f64::INFINITY; batches.len()];
    let (mut rounds, mut worked_ns) = (0, 0.0);
    // One round more than counts, for the first one only warms up.
    while rounds <= ROUNDS || worked_ns < min.as_nanos() as f64 {
        for ((jobs, outcomes), best) in batches.iter().zip(&mut outcomes).zip(&mut best) {
            outcomes.reset(jobs);
            let start = Instant::now();
            engine.run(jobs, outcomes).ok()?;
            let took_ns = start.elapsed().as_nanos().max(1) as f64;
            // The first round warms up.
            if rounds > 0 {
                *best = best.min(took_ns);
                worked_ns += took_ns;
            }
        }
        rounds += 1;
    }
    let clock_ns = clock_ns();
    // Never zero or less: the fit divides by the time.
    Some(best.into_iter().map(|best| (best - clock_ns).max(1.0)).collect())
}

/// Returns the time of reading the clock, which is a tenth of the shortest batches.
fn clock_ns() -> f64 {
    let read = |_| Instant::now().elapsed().as_nanos() as f64;
    (0..32).map(read).fold(f64::INFINITY, f64::min)
}

/// Reads the cache: first the line of the machine, then one line per engine and shape.
///
/// Returns `None` if the cache is of another machine or version, is damaged, or lacks a shape of an engine.
fn read(engines: &[&dyn Engine], path: &Path) -> Option<EngineCosts> {
    let rows = read_rows(path)?;
    let mut costs = EngineCosts::new();
    for engine in engines {
        for shape in proved_shapes().into_iter().filter(|shape| engine.offers(*shape).is_some()) {
            let name = shape.to_string();
            let row = rows.iter().find(|row| row.is_of(&label(*engine, shape), &name))?;
            costs.push((engine.name(), shape, row.cost));
        }
    }
    Some(costs)
}

/// A line of the cache file.
#[derive(Clone, Debug)]
struct CacheRow {
    engine: String,
    shape: String,
    cost: EngineCost,
}

impl CacheRow {
    fn is_of(&self, engine: &str, shape: &str) -> bool {
        self.engine == engine && self.shape == shape
    }

    /// Parses a line. Returns `None` if it is damaged.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(' ').collect();
        let [engine, shape, numbers @ ..] = fields.as_slice() else { return None };
        // A negative or infinite cost in a damaged file would make an engine look best for ever.
        let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        let numbers: Option<Vec<f64>> = numbers.iter().copied().map(number).collect();
        let [per_batch_ns, per_op_ns, per_byte_ns] = numbers?.try_into().ok()?;
        let cost = EngineCost { per_batch_ns, per_op_ns, per_byte_ns };
        Some(Self { engine: (*engine).to_owned(), shape: (*shape).to_owned(), cost })
    }
}

/// The undamaged lines of a cache file of this machine and version.
fn read_rows(path: &Path) -> Option<Vec<CacheRow>> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    // Costs of another processor or build say nothing about this one.
    (lines.next()? == machine()).then(|| lines.filter_map(CacheRow::parse).collect())
}

/// Returns the name of an engine in the cache. A cost belongs to the leaf that was measured.
fn label(engine: &dyn Engine, shape: Shape) -> String {
    match engine.leaf(shape) {
        Some(leaf) => format!("{}/{}", engine.name(), leaf.name),
        None => engine.name().to_owned(),
    }
}

fn write(engines: &[&dyn Engine], costs: &EngineCosts, path: &Path) -> io::Result<()> {
    let row = |(name, shape, cost): &(&'static str, Shape, EngineCost)| {
        let engine = engines.iter().find(|engine| engine.name() == *name);
        let engine = engine.map_or_else(|| (*name).to_owned(), |engine| label(*engine, *shape));
        CacheRow { engine, shape: shape.to_string(), cost: *cost }
    };
    write_rows(&costs.iter().map(row).collect::<Vec<_>>(), path)
}

/// Writes a new file beside the old one and renames it, so that another process never reads half of it.
fn write_rows(rows: &[CacheRow], path: &Path) -> io::Result<()> {
    let mut text = machine() + "\n";
    for CacheRow { engine, shape, cost } in rows {
        let EngineCost { per_batch_ns, per_op_ns, per_byte_ns } = cost;
        text += &format!("{engine} {shape} {per_batch_ns:.3} {per_op_ns:.3} {per_byte_ns:.6}\n");
    }
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    // Threads and processes write at once, so each needs a file of its own.
    let beside = path.with_extension(format!("{}-{number}", std::process::id()));
    fs::write(&beside, text)?;
    // Each try has another name, so a failed one must not leave its file.
    fs::rename(&beside, path).inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// Distinguishes the files that threads of one process write at once.
static WRITTEN: AtomicUsize = AtomicUsize::new(0);

/// The meaning of the constants. Constants of an earlier model are measured again.
const MODEL: &str = "bytes of whole groups, in turn";

/// Returns everything that costs depend on: this version and build, and the processor as the system describes it.
fn machine() -> String {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!("oarlock {} {build}, {MODEL}, on {}", env!("CARGO_PKG_VERSION"), processor())
}

fn processor() -> String {
    // Only the first processor is read. The system generates this text on each read, which takes long on a
    // large machine.
    let lines: Vec<String> = fs::File::open("/proc/cpuinfo").map_or_else(
        |_| Vec::new(),
        |file| {
            io::BufReader::new(file)
                .lines()
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect()
        },
    );
    let field = |name: &str| {
        let line = lines.iter().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let known =
        ["vendor_id", "cpu family", "model", "model name", "stepping", "CPU part", "flags"].map(field);
    let whole = known.into_iter().flatten().collect::<Vec<_>>().join("/");
    // The list of flags is long, and it is only compared with that of another start.
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, whole.as_bytes());
    let short: String = digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} {short}", std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use oarlock_scalar::ScalarEngine;

    use super::*;

    pub(super) fn temporary(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("oarlock-{}-{name}", std::process::id())).join("costs")
    }

    #[test]
    fn costs_are_measured_once_and_read_back() {
        let (scalar, path) = (ScalarEngine::detect().unwrap(), temporary("cache"));
        let engines: [&dyn Engine; 1] = [&scalar];
        let (measured, first) = costs(&engines, Some(&path));
        assert_eq!(first, Calibration::Measured(path.clone()));
        assert_eq!(measured.len(), proved_shapes().len());
        let single = BatchSize { preferred: 1, max: 1 };
        assert!(measured.iter().all(|(_, _, cost)| cost.predict_ns(single, 1, 16) > 0.0));
        let (cached, second) = costs(&engines, Some(&path));
        assert_eq!(second, Calibration::Cached(path.clone()));
        for ((_, shape, ours), (_, _, kept)) in measured.iter().zip(&cached) {
            assert!((ours.per_op_ns - kept.per_op_ns).abs() <= 0.001, "{shape}");
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn costs_of_slow_signatures_follow_from_their_numbers_of_hashes() {
        let set = oarlock_core::SlhDsaSet::Sha2_128s;
        let verify = Shape::SlhDsaVerify { set };
        assert_eq!(hash_ratio(verify), Some((verify, 1.0)));
        let (measured, ratio) = hash_ratio(Shape::SlhDsaSign { set }).unwrap();
        assert!(measured == verify && (900.0..1_200.0).contains(&ratio), "{ratio}");
        assert_eq!(hash_ratio(Shape::X25519), None);
        let scalar = ScalarEngine::detect().unwrap();
        let cost = |shape| measure_one(&scalar, shape).unwrap().per_op_ns;
        let fast = oarlock_core::SlhDsaSet::Sha2_128f;
        assert!(cost(Shape::SlhDsaSign { set }) > 5.0 * cost(Shape::SlhDsaSign { set: fast }));
    }

    #[test]
    fn no_home_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let (home, absent) = (folder.path().to_path_buf(), folder.path().join("absent"));
        let found = |xdg: &str, home: &Path| cache_of(Some(xdg.into()), Some(home.into()));
        assert_eq!(found("", &home), Some(home.join(".cache/oarlock/costs")));
        assert_eq!(found("relative", &home), Some(home.join(".cache/oarlock/costs")));
        assert_eq!(found("/stated", &absent), Some("/stated/oarlock/costs".into()));
        assert_eq!((found("", &absent), cache_of(None, None)), (None, None));
        fs::write(&absent, "").unwrap();
        assert_eq!(found("", &absent), None);
    }

    #[test]
    fn a_damaged_foreign_or_unwritable_cache_is_measured_again() {
        let (scalar, path) = (ScalarEngine::detect().unwrap(), temporary("damaged"));
        let engines: [&dyn Engine; 1] = [&scalar];
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for text in [String::new(), "another machine\n".into(), machine() + "\nscalar x25519 1 NaN -3\n"] {
            fs::write(&path, text).unwrap();
            assert!(read(&engines, &path).is_none());
        }
        let below_a_file = path.join("costs");
        assert!(write(&[], &EngineCosts::new(), &below_a_file).is_err());
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
