//! Contenders in processes of their own, and what they are asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::facade::Facade;
use crate::meter::{Turn, TurnLength};
use crate::plan::{BenchRow, BenchTask, find_row};
use crate::signer::ModuleSigner;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ContenderKind {
    Module {
        path: PathBuf,
        /// True for Oarlock's module.
        is_own: bool,
    },
    /// The crate `oarlock`, called directly, with all engines or with one.
    Facade { engine: Option<String> },
}

impl ContenderKind {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Module { is_own: true, .. } => "oarlock-pkcs11".into(),
            Self::Module { path, .. } => {
                path.file_stem().unwrap_or_default().to_string_lossy().trim_start_matches("lib").into()
            }
            Self::Facade { engine: None } => "facade".into(),
            Self::Facade { engine: Some(engine) } => format!("facade, {engine}"),
        }
    }

    /// Returns a command that runs this contender, whose files are in a directory.
    pub(crate) fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("--worker").arg(serde_json::to_string(self).unwrap());
        command.env("OARLOCK_PKCS11_CONF", directory.join("pkcs11.toml"));
        command.env("SOFTHSM2_CONF", directory.join("softhsm2.conf"));
        command
    }
}

/// A request to a contender, one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Makes the keys and this number of other objects. The answer has the turn of the objects.
    Prepare {
        objects: usize,
    },
    /// Logs in to a token that another process has made.
    Open,
    Run {
        row: String,
        threads: usize,
        length: TurnLength,
    },
    /// Creates objects on the token.
    Create {
        objects: usize,
    },
}

/// A contender in a process of its own.
pub(crate) struct Contender {
    pub(crate) kind: ContenderKind,
    pub(crate) directory: PathBuf,
    pub(crate) objects: usize,
    /// The turn in which the objects were created.
    pub(crate) creation: Option<Turn>,
    process: WorkerProcess,
}

/// A process that answers requests.
pub(crate) struct WorkerProcess {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Contender {
    /// Starts a contender, with keys and objects.
    pub(crate) fn start(kind: ContenderKind, parent: &Path, objects: usize) -> Self {
        let directory = parent.join(kind.name());
        fs::create_dir_all(directory.join("tokens")).unwrap();
        fs::write(directory.join("pkcs11.toml"), "[[slot]]\nkind = \"store\"\npath = \"token\"\n").unwrap();
        let tokens = format!("directories.tokendir = {}\n", directory.join("tokens").display());
        fs::write(directory.join("softhsm2.conf"), tokens).unwrap();
        let mut process = WorkerProcess::start(kind.command(&directory));
        let turn = process.ask(&Request::Prepare { objects });
        let creation = matches!(kind, ContenderKind::Module { .. }).then_some(turn);
        Self { kind, directory, objects, creation, process }
    }

    /// True if the contender has such operations.
    pub(crate) fn supports(&self, row: &BenchRow) -> bool {
        match (&self.kind, row.task) {
            (ContenderKind::Module { is_own: true, .. }, _) => true,
            (ContenderKind::Module { .. }, BenchTask::SignMany(_) | BenchTask::SignAsync(_)) => false,
            (ContenderKind::Module { .. }, _) => true,
            (ContenderKind::Facade { .. }, task) => matches!(
                task,
                BenchTask::Sign(_)
                    | BenchTask::SignMany(_)
                    | BenchTask::SignAsync(_)
                    | BenchTask::EncryptBlocks
            ),
        }
    }

    pub(crate) fn run(&mut self, row: &BenchRow, length: TurnLength) -> Turn {
        self.process.ask(&Request::Run { row: row.name.into(), threads: row.threads, length })
    }
}

impl WorkerProcess {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let requests = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, requests, answers }
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Turn {
        self.send(request);
        self.answer()
    }

    pub(crate) fn send(&mut self, request: &Request) {
        writeln!(self.requests, "{}", serde_json::to_string(request).unwrap()).unwrap();
    }

    pub(crate) fn answer(&mut self) -> Turn {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        // A contender that panics ends without an answer, after a message on stderr.
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("a contender ended: {:?}", self.child.wait()))
    }

    /// Ends the process, and waits for it.
    pub(crate) fn end(self) {
        let Self { mut child, requests, .. } = self;
        drop(requests);
        assert!(child.wait().unwrap().success(), "a contender failed at its end");
    }
}

/// Answers requests until the input ends.
pub(crate) fn serve(kind: &ContenderKind) {
    let mut contender: Box<dyn FnMut(Request) -> Turn> = match kind {
        ContenderKind::Module { path, .. } => {
            let mut signer = ModuleSigner::load(path);
            Box::new(move |request| match request {
                Request::Prepare { objects } => signer.prepare(objects),
                Request::Open => signer.open(),
                Request::Run { row, threads, length } => signer.run(known_row(&row), threads, length),
                Request::Create { objects } => signer.create_objects(objects),
            })
        }
        ContenderKind::Facade { engine } => {
            let facade = Facade::new(engine.as_deref());
            Box::new(move |request| match request {
                Request::Run { row, threads, length } => facade.run(known_row(&row), threads, length),
                _ => Turn { operations: 0, cpu_s: 0.0, wall_s: 0.0 },
            })
        }
    };
    for line in std::io::stdin().lines() {
        let turn = contender(serde_json::from_str(&line.unwrap()).unwrap());
        println!("{}", serde_json::to_string(&turn).unwrap());
    }
}

fn known_row(name: &str) -> &'static BenchRow {
    find_row(name).unwrap_or_else(|| panic!("no row is called {name}"))
}
