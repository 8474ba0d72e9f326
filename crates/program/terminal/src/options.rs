//! The options that every command takes.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use clap::Args;
use oarlock::{Accelerator, AcceleratorBuilder};

use crate::screen::ColorChoice;

/// The heading of [`GlobalOptions`] in each command's help.
const GLOBAL_OPTIONS: &str = "Global options";

/// The engine that every machine has.
const SCALAR: &str = "scalar";

/// Options of every command, before it or after it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = GLOBAL_OPTIONS)]
pub struct GlobalOptions {
    /// Use only these engines, separated by commas; `oarlock engines` lists them [default: all]
    #[arg(long, global = true, value_name = "NAMES", value_delimiter = ',')]
    pub engines: Option<Vec<String>>,
    /// Number of threads, 1 to 4096; the help of each command states its default
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// Print one JSON document on stdout, in one line, and nothing else; commands that read mail print one line per
    /// message within it
    #[arg(long, global = true)]
    pub json: bool,
    /// Use colours in tables, errors and the log
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
    /// Print more details on stderr
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

impl GlobalOptions {
    /// Returns an accelerator's builder with the engines and threads of these options.
    #[must_use]
    pub fn builder(&self) -> AcceleratorBuilder {
        let builder = match &self.engines {
            Some(names) => Accelerator::builder()
                .environment(true)
                .cost_cache(oarlock::default_cost_cache())
                .engines(names.iter().map(|name| name.trim())),
            None => Accelerator::builder().environment(true).cost_cache(oarlock::default_cost_cache()),
        };
        match self.threads {
            Some(threads) => builder.threads(usize::from(threads)),
            None => builder,
        }
    }

    /// Returns the names that `--engines` gives.
    #[must_use]
    pub fn engine_names(&self) -> Option<Vec<String>> {
        self.engines.as_ref().map(|names| names.iter().map(|name| name.trim().to_owned()).collect())
    }

    /// Returns the number of threads for bulk work: that of `--threads`, else the number of cores.
    #[must_use]
    pub fn bulk_threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(cores, usize::from)
    }

    /// Returns the engines to measure one by one: those of `all` that `--engines` allows. If none of them is present,
    /// the scalar engine does their work, so it is measured instead.
    #[must_use]
    pub fn measured_engines(&self, all: &Accelerator) -> Vec<&'static str> {
        let is_wanted = |name: &&str| {
            self.engines.as_ref().is_none_or(|wanted| wanted.iter().any(|engine| engine.trim() == *name))
        };
        let wanted: Vec<&'static str> = all.engine_names().filter(is_wanted).collect();
        if wanted.is_empty() { vec![SCALAR] } else { wanted }
    }

    /// Warns on stderr about each engine that is absent, with the reason.
    pub fn warn_absent_engines(&self, accelerator: &Accelerator) {
        for absent in accelerator.absent() {
            eprintln!("oarlock: {}: {}; the scalar engine does its work", absent.name, absent.reason);
        }
    }

    /// Prints a note on stderr if `--verbose` is given.
    pub fn note(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            eprintln!("oarlock: {}", text());
        }
    }
}

/// Checks that a file can be written, and creates it if it does not exist. A long measurement does this before it
/// begins, so that its result is not lost at the end.
///
/// # Errors
/// The file cannot be opened for writing.
pub fn check_writable(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).create(true).open(path).map(drop)
}
