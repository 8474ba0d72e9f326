//! `oarlock load`: what a cryptoserver does for many clients at once.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments |
//! | `work` | batches as they are sent, and what must come back |
//! | `client` | clients, each on a stream of its own: closed loop and open loop |
//! | `local` | the same work in this process, without a server |
//! | `spawn` | a server of its own, on a core of its own |
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

use indicatif::ProgressBar;
use oarlock::Accelerator;
use tokio::runtime::Runtime;

pub(crate) use self::args::LoadArgs;
use self::args::{KeyHome, Plan, Way};
pub(crate) use self::error::LoadError;
use self::report::Row;
use self::spawn::Spawned;
use self::work::Work;
use crate::args::Global;
use crate::cores::Cores;
use crate::progress;

pub(crate) fn run(global: &Global, args: &LoadArgs) -> Result<(), LoadError> {
    if let Some(path) = &args.plot {
        crate::args::check_writable(path).map_err(|error| LoadError::Write { path: path.clone(), error })?;
    }
    let plans = args.plans()?;
    oarlock_server::raise_open_files();
    let accelerator = global.builder().build()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(LoadError::Runtime)?;
    let (sets, cores) = (args.sets(), Cores::divide());
    let turns = plans.len() * sets.len() * args.turns as usize;
    let bar = progress::bar(turns as u64, "{bar:20} {pos}/{len} {wide_msg}");
    let mut rows = Vec::new();
    for set in &sets {
        let spawned = match args.spawn {
            true => Some(Spawned::start(global, set.as_deref(), &cores)?),
            false => None,
        };
        if spawned.is_some() {
            cores.leave();
        }
        let bench = Bench { args, accelerator: &accelerator, runtime: &runtime, spawned, cores: &cores };
        let turns = bench.turns(&plans, &bar)?;
        rows.extend(turns::middles(&plans, &turns).into_iter().map(|row| row.with_engines(set.as_deref())));
    }
    bar.finish_and_clear();
    report::print(global, args, &rows)?;
    fail_on_errors(&rows)
}

/// What all rows with one set of engines share.
struct Bench<'a> {
    args: &'a LoadArgs,
    accelerator: &'a Accelerator,
    runtime: &'a Runtime,
    spawned: Option<Spawned>,
    cores: &'a Cores,
}

impl Bench<'_> {
    /// Every plan in turn, as often as was asked for: rows by turn.
    fn turns(&self, plans: &[Plan], bar: &ProgressBar) -> Result<Vec<Vec<Row>>, LoadError> {
        let prepared = plans.iter().enumerate().map(|(place, plan)| self.prepare(place, plan));
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

    fn prepare(&self, place: usize, plan: &Plan) -> Result<Vec<Work>, LoadError> {
        let mut works = Work::all(plan, self.accelerator)?;
        if let (KeyHome::Server, Some(spawned)) = (plan.home, &self.spawned) {
            for (number, work) in works.iter_mut().enumerate() {
                work.leave_keys(&spawned.keys(), &format!("load{place}-{number}"))?;
            }
        }
        Ok(works)
    }

    fn row(&self, plan: &Plan, works: &[Work]) -> Result<Row, LoadError> {
        let endpoint = match (plan.way, &self.spawned) {
            (Way::Local, spawned) => {
                // On the server's own core, for cores differ.
                let _there = spawned.as_ref().map(|_| self.cores.visit());
                return local::measure(plan, works, self.accelerator, self.args);
            }
            (way, Some(spawned)) => spawned.endpoint(way)?,
            (_, None) => self.args.endpoint()?,
        };
        self.runtime.block_on(client::measure(plan, works, &endpoint, self.args))
    }
}

/// Numbers of a run in which answers were missing are no numbers.
fn fail_on_errors(rows: &[Row]) -> Result<(), LoadError> {
    match rows.iter().find(|row| row.errors > 0) {
        Some(row) => Err(LoadError::Errors {
            name: row.name.clone(),
            errors: row.errors,
            first: row.first_error.clone(),
        }),
        None => Ok(()),
    }
}
