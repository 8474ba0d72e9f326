//! Rates of verification on this machine, as the paper measured them: independent runs, mean and standard deviation.

use std::time::Duration;

use cpu_time::ThreadTime;
use indicatif::ProgressBar;
use oarlock::{Accelerator, JobError};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::progress::bar;

use super::CapacityError;
use super::args::MachineArgs;
use super::machine::{AlgorithmRate, MachineRates, MeasuredAlgorithm, processor};
use crate::operation::{NamedOperation, PublicKeyWork};
use crate::peer::{Libcrypto, PeerError, PreparedTask};
use crate::speed::{AcceleratorJobs, SingleEngine, SpeedContender, SpeedError, is_right, load};

/// The number of jobs of a call if there are lanes to fill.
const BATCH: usize = 64;
/// The number of a library's operations between two readings of the clock.
const PEER_BATCH: usize = 8;
/// The smallest number of different signatures.
const JOBS: usize = 256;

/// Measures every algorithm that is asked for with every implementation that is here.
pub(super) fn measure(global: &GlobalOptions, args: &MachineArgs) -> Result<MachineRates, CapacityError> {
    let (runs, run_time) = args.plan();
    let session = RateSession::open(global, args)?;
    let algorithms =
        if args.algorithms.is_empty() { MeasuredAlgorithm::ALL.to_vec() } else { args.algorithms.clone() };
    let bar = bar(u64::from(runs) * algorithms.len() as u64, "{msg:12} {bar:20} {percent:>3} %{left}");
    let mut rates = Vec::new();
    for algorithm in algorithms {
        bar.set_message(algorithm.to_string());
        rates.extend(session.rates(algorithm, runs, run_time, &bar)?);
    }
    bar.finish_and_clear();
    Ok(MachineRates {
        by: format!("oarlock {}", env!("CARGO_PKG_VERSION")),
        processor: processor(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        runs,
        run_seconds: run_time.as_secs_f64(),
        rates,
    })
}

/// The engines and libraries that are measured.
struct RateSession {
    all: Accelerator,
    engines: Vec<SingleEngine>,
    /// The libraries, each with the name of its rates.
    libraries: Vec<(String, Libcrypto)>,
}

impl RateSession {
    fn open(global: &GlobalOptions, args: &MachineArgs) -> Result<Self, CapacityError> {
        let all = global.builder().build().map_err(SpeedError::from)?;
        global.warn_absent_engines(&all);
        let engines = global
            .measured_engines(&all)
            .into_iter()
            .map(|name| SingleEngine::new(name, Accelerator::builder().environment(true)))
            .collect::<Result<Vec<_>, _>>()?;
        let libraries = named(load(&args.libcrypto)?);
        Ok(Self { all, engines, libraries })
    }

    /// Measures all implementations of an algorithm in turns, so that a noisy machine is noisy for all of them.
    fn rates(
        &self,
        algorithm: MeasuredAlgorithm,
        runs: u32,
        run_time: Duration,
        bar: &ProgressBar,
    ) -> Result<Vec<AlgorithmRate>, CapacityError> {
        let works = AlgorithmWork::new(algorithm, &self.all)?;
        let mut contenders = self.ours(&works)?;
        contenders.extend(self.theirs(&works)?);
        if contenders.is_empty() {
            return Err(CapacityError::NoEngine(algorithm.to_string()));
        }
        let mut measured = vec![Vec::new(); contenders.len()];
        // Not counted: the first batch of each finds cold caches.
        for (_, contender) in &mut contenders {
            contender.run()?;
        }
        for _ in 0..runs {
            for ((_, contender), rates) in contenders.iter_mut().zip(&mut measured) {
                rates.push(run(&mut **contender, run_time)?);
            }
            bar.inc(1);
        }
        let names = contenders.into_iter().map(|(name, _)| name);
        Ok(names.zip(measured).map(|(name, rates)| AlgorithmRate::of_runs(algorithm, name, &rates)).collect())
    }

    /// Returns Oarlock's contenders: the scalar engine with one signature at a time, others with a batch; each with
    /// many keys and with recurring keys.
    fn ours<'a>(&'a self, works: &'a AlgorithmWork) -> Result<Vec<NamedContender<'a>>, CapacityError> {
        let mut contenders: Vec<NamedContender<'a>> = Vec::new();
        for engine in &self.engines {
            if !engine.offers(works.cold.operation.shape()) {
                continue;
            }
            let batch = if engine.name == SCALAR { 1 } else { BATCH };
            let name = engine.name.to_owned();
            contenders.push((name, works.cold.contender(&engine.cold, batch)));
            if let Some(hot) = &works.hot {
                let tables = hot.work.warm(&engine.hot).map_err(|error| hot.fail(error))?;
                // Without tables the rate would be that of the row above.
                if tables > 0 {
                    contenders.push((format!("{} hot", engine.name), hot.contender(&engine.hot, batch)));
                }
            }
        }
        Ok(contenders)
    }

    fn theirs<'a>(&'a self, works: &'a AlgorithmWork) -> Result<Vec<NamedContender<'a>>, CapacityError> {
        let mut contenders: Vec<NamedContender<'a>> = Vec::new();
        for (name, library) in &self.libraries {
            match works.cold.prepare(library, &self.all) {
                Ok(prepared) => {
                    contenders
                        .push((name.clone(), Box::new(PeerContender { op: &works.cold.name, prepared })));
                }
                Err(error) if error.is_absence() => eprintln!("oarlock: {}: {error}", works.cold.name),
                Err(error) => return Err(works.cold.peer_failed(error).into()),
            }
        }
        Ok(contenders)
    }
}

/// The engine that every machine has.
const SCALAR: &str = "scalar";

type NamedContender<'a> = (String, Box<dyn SpeedContender + 'a>);

/// Signatures of one algorithm, under many keys and under few.
struct AlgorithmWork {
    cold: VerifyWork,
    hot: Option<VerifyWork>,
}

struct VerifyWork {
    operation: NamedOperation,
    name: String,
    work: PublicKeyWork,
}

impl AlgorithmWork {
    fn new(algorithm: MeasuredAlgorithm, all: &Accelerator) -> Result<Self, CapacityError> {
        let make =
            |is_hot| algorithm.operation(is_hot).map(|operation| VerifyWork::new(operation, all)).transpose();
        let cold = make(false)?.ok_or_else(|| CapacityError::NoEngine(algorithm.to_string()))?;
        Ok(Self { cold, hot: make(true)? })
    }
}

impl VerifyWork {
    fn new(operation: NamedOperation, all: &Accelerator) -> Result<Self, SpeedError> {
        let keys = operation.usual_keys();
        // A multiple, so that every key is used equally often.
        let work = operation.work(all, keys, JOBS.next_multiple_of(keys))?;
        Ok(Self { operation, name: operation.to_string(), work })
    }

    fn contender<'a>(&'a self, accelerator: &'a Accelerator, batch: usize) -> Box<dyn SpeedContender + 'a> {
        Box::new(AcceleratorJobs { accelerator, op: &self.name, jobs: self.work.jobs(), batch, at: 0 })
    }

    /// Prepares the same work for a library, and checks each of its results once.
    fn prepare(&self, library: &Libcrypto, all: &Accelerator) -> Result<PreparedTask, PeerError> {
        let mut prepared = library.prepare(self.work.peer_task()?)?;
        prepared.check_all(|item, output| is_right(all, &self.work, item, output))?;
        Ok(prepared)
    }

    fn fail(&self, error: JobError) -> SpeedError {
        SpeedError::Job { op: self.name.clone(), error }
    }

    fn peer_failed(&self, error: PeerError) -> SpeedError {
        SpeedError::Peer { op: self.name.clone(), error }
    }
}

struct PeerContender<'a> {
    op: &'a str,
    prepared: PreparedTask,
}

impl SpeedContender for PeerContender<'_> {
    fn run(&mut self) -> Result<usize, SpeedError> {
        let ran = self.prepared.run(PEER_BATCH);
        ran.map_err(|error| SpeedError::Peer { op: self.op.to_owned(), error })?;
        Ok(PEER_BATCH)
    }
}

/// Runs a contender for at least `run_time`, and returns operations per second of CPU time.
fn run(contender: &mut dyn SpeedContender, run_time: Duration) -> Result<f64, SpeedError> {
    let mut operations = 0;
    let start = ThreadTime::now();
    loop {
        operations += contender.run()?;
        let worked = start.elapsed();
        if worked >= run_time {
            return Ok(operations as f64 / worked.as_secs_f64());
        }
    }
}

/// Names libraries by their versions, and by their paths too if two have the same version.
fn named(libraries: Vec<Libcrypto>) -> Vec<(String, Libcrypto)> {
    let versions: Vec<String> = libraries.iter().map(|library| library.version().to_owned()).collect();
    let name = |(library, version): (Libcrypto, &String)| {
        let is_only = versions.iter().filter(|other| *other == version).count() == 1;
        let name = if is_only { version.clone() } else { format!("{version} {}", library.path().display()) };
        (name, library)
    };
    libraries.into_iter().zip(&versions).map(name).collect()
}
