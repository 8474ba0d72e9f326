//! `oarlock load`: a cryptoserver under the load of many clients.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments |
//! | `work` | batches as they are sent, and the expected answers |
//! | `client` | clients with a stream each: closed loop and open loop |
//! | `local` | the same work in this process, without a server |
//! | `spawn` | a server process on a core of its own |
//! | `turns` | rows that were measured several times |
//! | `report` | table, JSON and picture |

mod args;
mod client;
mod error;
mod local;
mod report;
mod spawn;
mod turns;
mod work;

use std::fs;

use indicatif::ProgressBar;
use oarlock::Accelerator;
use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, progress};
use oarlock_wire::Endpoint;
use tokio::runtime::Runtime;

pub use self::args::LoadArgs;
use self::args::{LoadKeyHome, LoadPlan, LoadTransport};
pub use self::error::LoadError;
use self::report::LoadRow;
use self::spawn::SpawnedServer;
pub use self::spawn::{LoadedServer, ServerFiles};
use self::work::LoadWork;
use crate::cores::DividedCores;

/// Puts a load on a server, and prints what it did as a table or JSON.
///
/// # Errors
/// Wrong arguments, a server that cannot be reached or that answers wrongly.
pub fn run(global: &GlobalOptions, args: &LoadArgs, server: &LoadedServer<'_>) -> Result<(), LoadError> {
    // Before the measurement, whose result would be lost.
    if let Some(path) = &args.plot {
        oarlock_terminal::check_writable(path)
            .map_err(|error| LoadError::Write { path: path.clone(), error })?;
    }
    let plans = args.plans(server)?;
    let accelerator = global.builder().build()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(LoadError::Runtime)?;
    let (sets, cores) = (args.sets(), DividedCores::divide());
    let turns = plans.len() * sets.len() * args.turns as usize;
    let bar = progress::bar(turns as u64, "{bar:20} {pos}/{len} {wide_msg}");
    let mut rows = Vec::new();
    for set in &sets {
        let target = match server {
            LoadedServer::Spawned(set_up) => {
                let spawned = SpawnedServer::start(global, *set_up, set.as_deref(), &cores)?;
                cores.leave();
                LoadTarget::Spawned(Box::new(spawned))
            }
            LoadedServer::At(endpoint) => LoadTarget::At(endpoint),
        };
        let bench =
            LoadBench { global, args, accelerator: &accelerator, runtime: &runtime, target, cores: &cores };
        let turns = bench.turns(&plans, &bar)?;
        rows.extend(turns::middles(&plans, &turns).into_iter().map(|row| row.with_engines(set.as_deref())));
    }
    bar.finish_and_clear();
    if let Some(path) = &args.plot {
        fs::write(path, report::to_svg(&rows))
            .map_err(|error| LoadError::Write { path: path.clone(), error })?;
    }
    print_report(global.json, &rows, |in_colour| report::to_text(&rows, in_colour))?;
    fail_on_errors(&rows)
}

/// The server that a row measures.
enum LoadTarget<'a> {
    Spawned(Box<SpawnedServer>),
    At(&'a Endpoint),
}

/// The state that all rows with one set of engines share.
struct LoadBench<'a> {
    global: &'a GlobalOptions,
    args: &'a LoadArgs,
    accelerator: &'a Accelerator,
    runtime: &'a Runtime,
    target: LoadTarget<'a>,
    cores: &'a DividedCores,
}

impl LoadBench<'_> {
    /// Measures every plan once per turn, and returns the rows of each turn.
    fn turns(&self, plans: &[LoadPlan], bar: &ProgressBar) -> Result<Vec<Vec<LoadRow>>, LoadError> {
        let prepared = plans.iter().enumerate().map(|(index, plan)| self.prepare(index, plan));
        let works = prepared.collect::<Result<Vec<_>, _>>()?;
        let mut turns = Vec::new();
        for _ in 0..self.args.turns {
            let mut rows = Vec::new();
            for (plan, works) in plans.iter().zip(&works) {
                bar.set_message(plan.name());
                rows.push(self.row(plan, works)?);
                bar.inc(1);
            }
            turns.push(rows);
        }
        Ok(turns)
    }

    fn prepare(&self, index: usize, plan: &LoadPlan) -> Result<Vec<LoadWork>, LoadError> {
        let mut works = LoadWork::all(plan, self.accelerator)?;
        if let Some(name) = &self.args.key {
            works.iter_mut().try_for_each(|work| work.use_key(name))?;
        }
        if let (LoadKeyHome::Server, LoadTarget::Spawned(spawned)) = (plan.home, &self.target) {
            for (number, work) in works.iter_mut().enumerate() {
                work.leave_keys(spawned.keys(), &format!("load{index}-{number}"))?;
            }
        }
        Ok(works)
    }

    fn row(&self, plan: &LoadPlan, works: &[LoadWork]) -> Result<LoadRow, LoadError> {
        let endpoint = match (plan.way, &self.target) {
            (LoadTransport::Local, target) => {
                // On the server's own core, for cores differ.
                let _there = matches!(target, LoadTarget::Spawned(_)).then(|| self.cores.visit());
                return local::measure(plan, works, self.accelerator, self.args);
            }
            (way, LoadTarget::Spawned(spawned)) => spawned.endpoint(way)?,
            (_, LoadTarget::At(endpoint)) => (*endpoint).clone(),
        };
        self.runtime.block_on(client::measure(plan, works, &endpoint, self.args, self.global))
    }
}

/// Fails if answers were missing or wrong: the numbers of such a run mean nothing.
fn fail_on_errors(rows: &[LoadRow]) -> Result<(), LoadError> {
    match rows.iter().find(|row| row.errors > 0) {
        Some(row) => Err(LoadError::Errors {
            name: row.name.clone(),
            errors: row.errors,
            first: row.first_error.clone(),
        }),
        None => Ok(()),
    }
}
