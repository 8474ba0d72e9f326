//! The command line.

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::plan::{BenchRow, ROWS, find_row};
use crate::process::ContenderKind;

/// Measures PKCS#11 modules side by side.
#[derive(Debug, Parser)]
pub(crate) struct BenchArgs {
    /// Oarlock's module [default: the one that was built with this program]
    #[arg(long, value_name = "PATH")]
    module: Option<PathBuf>,
    /// Other modules, separated by commas. Each gets a new token; SOFTHSM2_CONF is set for SoftHSM
    #[arg(long, value_name = "PATHS", value_delimiter = ',')]
    beside: Vec<PathBuf>,
    /// Rows to measure, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = |name: &str| find_row(name).ok_or("no row has this name"))]
    rows: Vec<&'static BenchRow>,
    /// Seconds of each turn; a fifth of it is added to warm up
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    pub(crate) seconds: f64,
    /// Number of turns of each row
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) turns: u32,
    /// Number of token objects in the token of Oarlock's module
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    objects: usize,
    /// Number of token objects in the tokens of other modules, which may take a second for twenty
    #[arg(long, value_name = "N", default_value_t = 300)]
    peer_objects: usize,
    /// The program `oarlock`, which serves the row rsa2048-sign-server; without it there is no such row
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Set by `cargo bench`; without it every row is tried for an instant
    #[arg(long)]
    bench: bool,
    /// Be a contender
    #[arg(long, hide = true, value_parser = |text: &str| serde_json::from_str::<ContenderKind>(text))]
    pub(crate) worker: Option<ContenderKind>,
}

impl BenchArgs {
    /// Makes everything short if this is a test of the program and not a measurement.
    pub(crate) fn for_a_test_run(self) -> Self {
        if self.bench || self.worker.is_some() {
            return self;
        }
        Self { seconds: 0.01, turns: 1, objects: 20, peer_objects: 20, ..self }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &'static BenchRow> {
        ROWS.iter().filter(|row| self.rows.is_empty() || self.rows.contains(row))
    }

    /// Returns the number of objects that a search looks through.
    pub(crate) fn objects_of(&self, is_own: bool) -> usize {
        if is_own { self.objects } else { self.peer_objects }
    }

    /// Returns all contenders, Oarlock's module first.
    pub(crate) fn contenders(&self) -> Vec<ContenderKind> {
        let module = ContenderKind::Module { path: self.own_module(), is_own: true };
        let beside =
            self.beside.iter().map(|path| ContenderKind::Module { path: path.clone(), is_own: false });
        let facades = [None, Some("scalar".to_owned())].map(|engine| ContenderKind::Facade { engine });
        [module].into_iter().chain(beside).chain(facades).collect()
    }

    pub(crate) fn own_module(&self) -> PathBuf {
        let path = self.module.clone().unwrap_or_else(|| {
            let program = std::env::current_exe().unwrap();
            program.parent().unwrap_or(Path::new("/")).join("liboarlock_pkcs11.so")
        });
        path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}
