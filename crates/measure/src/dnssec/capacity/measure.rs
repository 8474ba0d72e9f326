//! Rates of verification on this machine, as the paper measured them: independent runs, mean and standard deviation.

use std::time::Duration;

use cpu_time::ThreadTime;
use indicatif::ProgressBar;
use oarlock::{Accelerator, JobError};

use super::CapacityError;
use super::args::MachineArgs;
use super::machine::{Algorithm, Machine, Rate, processor};
use crate::operation::{Operation, PublicKeyWork};
use crate::options::GlobalOptions;
use crate::peer::{Libcrypto, PeerError, Prepared};
use crate::progress::bar;
use crate::speed::{Alone, Contender, OurJobs, SpeedError, is_right, load};

/// Jobs of a call where there are lanes to fill.
const BATCH: usize = 64;
/// Operations of a library between two looks at the clock.
const PEER_BATCH: usize = 8;
/// Signatures that are different at least.
const JOBS: usize = 256;

/// Measures every algorithm that is asked for with every implementation that is here.
pub(super) fn measure(global: &GlobalOptions, args: &MachineArgs) -> Result<Machine, CapacityError> {
    let (runs, run_time) = args.plan();
    let session = Session::open(global, args)?;
    let algorithms =
        if args.algorithms.is_empty() { Algorithm::ALL.to_vec() } else { args.algorithms.clone() };
    let bar = bar(u64::from(runs) * algorithms.len() as u64, "{msg:12} {bar:20} {percent:>3} %{left}");
    let mut rates = Vec::new();
    for algorithm in algorithms {
        bar.set_message(algorithm.to_string());
        rates.extend(session.rates(algorithm, runs, run_time, &bar)?);
    }
    bar.finish_and_clear();
    Ok(Machine {
        by: format!("oarlock {}", env!("CARGO_PKG_VERSION")),
        processor: processor(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        runs,
        run_seconds: run_time.as_secs_f64(),
        rates,
    })
}

/// What can be measured here.
struct Session {
    all: Accelerator,
    engines: Vec<Alone>,
    /// Each with the name that its rates carry.
    libraries: Vec<(String, Libcrypto)>,
}

impl Session {
    fn open(global: &GlobalOptions, args: &MachineArgs) -> Result<Self, CapacityError> {
        let all = global.builder().build().map_err(SpeedError::from)?;
        global.warn_absent_engines(&all);
        let engines =
            global.measured_engines(&all).into_iter().map(Alone::new).collect::<Result<Vec<_>, _>>()?;
        let libraries = named(load(&args.libcrypto)?);
        Ok(Self { all, engines, libraries })
    }

    /// One run of each implementation after the other, again and again, so that a noisy machine is noisy for all of them.
    fn rates(
        &self,
        algorithm: Algorithm,
        runs: u32,
        run_time: Duration,
        bar: &ProgressBar,
    ) -> Result<Vec<Rate>, CapacityError> {
        let works = Works::new(algorithm, &self.all)?;
        let mut contenders = self.ours(&works)?;
        contenders.extend(self.theirs(&works)?);
        if contenders.is_empty() {
            return Err(CapacityError::NoEngine(algorithm.to_string()));
        }
        let mut measured = vec![Vec::new(); contenders.len()];
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
        Ok(names.zip(measured).map(|(name, rates)| Rate::of_runs(algorithm, name, &rates)).collect())
    }

    /// The scalar engine one signature at a time, others a batch at a time; each with keys that are met once and with keys that recur.
    fn ours<'a>(&'a self, works: &'a Works) -> Result<Vec<Named<'a>>, CapacityError> {
        let mut contenders: Vec<Named<'a>> = Vec::new();
        for engine in &self.engines {
            if !engine.offers(works.cold.operation.shape()) {
                continue;
            }
            let batch = if engine.name == SCALAR { 1 } else { BATCH };
            let name = engine.name.to_owned();
            contenders.push((name, works.cold.contender(&engine.cold, batch)));
            if let Some(hot) = &works.hot {
                let tables = hot.work.warm(&engine.hot).map_err(|error| hot.fail(error))?;
                if tables > 0 {
                    contenders.push((format!("{} hot", engine.name), hot.contender(&engine.hot, batch)));
                }
            }
        }
        Ok(contenders)
    }

    fn theirs<'a>(&'a self, works: &'a Works) -> Result<Vec<Named<'a>>, CapacityError> {
        let mut contenders: Vec<Named<'a>> = Vec::new();
        for (name, library) in &self.libraries {
            match works.cold.prepare(library, &self.all) {
                Ok(prepared) => {
                    contenders.push((name.clone(), Box::new(Peer { op: &works.cold.name, prepared })));
                }
                Err(error) if error.is_absence() => eprintln!("oarlock: {}: {error}", works.cold.name),
                Err(error) => return Err(works.cold.peer_failed(error).into()),
            }
        }
        Ok(contenders)
    }
}

/// The engine that everybody has.
const SCALAR: &str = "scalar";

type Named<'a> = (String, Box<dyn Contender + 'a>);

/// Signatures of one algorithm, under many keys and under few.
struct Works {
    cold: Work,
    hot: Option<Work>,
}

struct Work {
    operation: Operation,
    name: String,
    work: PublicKeyWork,
}

impl Works {
    fn new(algorithm: Algorithm, all: &Accelerator) -> Result<Self, CapacityError> {
        let make =
            |is_hot| algorithm.operation(is_hot).map(|operation| Work::new(operation, all)).transpose();
        let cold = make(false)?.ok_or_else(|| CapacityError::NoEngine(algorithm.to_string()))?;
        Ok(Self { cold, hot: make(true)? })
    }
}

impl Work {
    fn new(operation: Operation, all: &Accelerator) -> Result<Self, SpeedError> {
        let keys = operation.usual_keys();
        let work = operation.work(all, keys, JOBS.next_multiple_of(keys))?;
        Ok(Self { operation, name: operation.to_string(), work })
    }

    fn contender<'a>(&'a self, accelerator: &'a Accelerator, batch: usize) -> Box<dyn Contender + 'a> {
        Box::new(OurJobs { accelerator, op: &self.name, jobs: self.work.jobs(), batch, at: 0 })
    }

    /// The same for a library, each of its results checked once.
    fn prepare(&self, library: &Libcrypto, all: &Accelerator) -> Result<Prepared, PeerError> {
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

struct Peer<'a> {
    op: &'a str,
    prepared: Prepared,
}

impl Contender for Peer<'_> {
    fn run(&mut self) -> Result<usize, SpeedError> {
        let ran = self.prepared.run(PEER_BATCH);
        ran.map_err(|error| SpeedError::Peer { op: self.op.to_owned(), error })?;
        Ok(PEER_BATCH)
    }
}

/// Operations per second of CPU time, in a run of at least so long.
fn run(contender: &mut dyn Contender, run_time: Duration) -> Result<f64, SpeedError> {
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

/// Libraries by their versions; by their paths too, where two have the same.
fn named(libraries: Vec<Libcrypto>) -> Vec<(String, Libcrypto)> {
    let versions: Vec<String> = libraries.iter().map(|library| library.version().to_owned()).collect();
    let name = |(library, version): (Libcrypto, &String)| {
        let is_only = versions.iter().filter(|other| *other == version).count() == 1;
        let name = if is_only { version.clone() } else { format!("{version} {}", library.path().display()) };
        (name, library)
    };
    libraries.into_iter().zip(&versions).map(name).collect()
}
