//! `oarlock load`: what a cryptoserver does for many clients at once.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments |
//! | `work` | batches as they are sent, and what must come back |
//! | `client` | clients, each on a stream of its own: closed loop and open loop |
//! | `local` | the same work in this process, without a server |
//! | `spawn` | a server of its own, on a core of its own |
//! | `report` | table, JSON and picture |

mod args;
mod client;
mod error;
mod local;
mod report;
mod spawn;
mod work;

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub(crate) use self::args::LoadArgs;
use self::args::Way;
pub(crate) use self::error::LoadError;
use self::report::Row;
use self::spawn::{Cores, Spawned};
use self::work::Work;
use crate::args::Global;

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
    let bar = progress(plans.len() * sets.len());
    let mut rows = Vec::new();
    for set in &sets {
        let spawned = match args.spawn {
            true => Some(Spawned::start(global, set.as_deref(), &cores)?),
            false => None,
        };
        if spawned.is_some() {
            cores.leave();
        }
        for plan in &plans {
            bar.set_message(plan.name());
            let works = Work::all(plan, &accelerator)?;
            let row = match (plan.way, &spawned) {
                (Way::Local, _) => local::measure(plan, &works, &accelerator, args.length())?,
                (way, spawned) => {
                    let endpoint = match spawned {
                        Some(spawned) => spawned.endpoint(way)?,
                        None => args.endpoint()?,
                    };
                    runtime.block_on(client::measure(plan, &works, &endpoint, args))?
                }
            };
            bar.inc(1);
            rows.push(row.with_engines(set.as_deref()));
        }
    }
    bar.finish_and_clear();
    report::print(global, args, &rows)?;
    fail_on_errors(&rows)
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

fn progress(rows: usize) -> ProgressBar {
    if rows < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
    let bar =
        ProgressBar::new(rows as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
