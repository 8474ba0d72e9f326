//! Server programs as child processes.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use oarlock_measure::cores::DividedCores;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use super::BenchError;
use super::plan::BenchProgram;
use crate::process_stats;

/// A server program. It ends when this is dropped.
pub(super) struct ServerProcess {
    program: BenchProgram,
    command: Command,
    child: Child,
    log: PathBuf,
}

/// Environment variables that would override the settings of the rows.
const SETTINGS: [&str; 8] = [
    "OARLOCK_MODE",
    "OARLOCK_SOCKET",
    "OARLOCK_SERVER_USER",
    "OARLOCK_ENGINES",
    "OARLOCK_THREADS",
    "OARLOCK_NICE",
    "OARLOCK_PATIENCE_MS",
    "OPENSSL_MODULES",
];

/// The number of log lines that errors show.
const TAIL: usize = 20;

impl ServerProcess {
    /// Starts a program on the servers' core. Its stderr goes to `log`.
    pub(super) fn start(
        program: BenchProgram,
        command: Command,
        log: PathBuf,
        cores: &DividedCores,
    ) -> Result<Self, BenchError> {
        let _visit = cores.visit();
        Self::start_here(program, command, log)
    }

    /// Starts a program on the cores of this thread. Its stderr goes to `log`.
    pub(super) fn start_here(
        program: BenchProgram,
        mut command: Command,
        log: PathBuf,
    ) -> Result<Self, BenchError> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&log);
        let file = file.map_err(|error| BenchError::File { path: log.clone(), error })?;
        for name in SETTINGS {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stderr(file);
        let child = command.spawn().map_err(|error| BenchError::Start { program, error })?;
        Ok(Self { program, command, child, log })
    }

    /// Kills it and starts it again on the servers' core, with the same log.
    pub(super) fn restart(&mut self, cores: &DividedCores) -> Result<(), BenchError> {
        let _visit = cores.visit();
        let _ = self.child.kill();
        self.wait()?;
        let log = OpenOptions::new().append(true).open(&self.log);
        self.command.stderr(log.map_err(|error| BenchError::File { path: self.log.clone(), error })?);
        let started = self.command.spawn();
        self.child = started.map_err(|error| BenchError::Start { program: self.program, error })?;
        Ok(())
    }

    /// Returns its first line on stdout, if stdout is a pipe.
    pub(super) fn first_line(&mut self) -> Result<String, BenchError> {
        let mut line = String::new();
        if let Some(out) = self.child.stdout.take() {
            let read = BufReader::new(out).read_line(&mut line);
            read.map_err(|error| BenchError::Start { program: self.program, error })?;
        }
        Ok(line)
    }

    /// Returns the number of its process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Fails if it has ended.
    pub(super) fn check(&mut self) -> Result<(), BenchError> {
        let status = match self.child.try_wait() {
            Ok(None) => return Ok(()),
            Ok(Some(status)) => status.to_string(),
            Err(error) => error.to_string(),
        };
        Err(BenchError::Ended { program: self.program, status, log: self.tail() })
    }

    /// Ends it, and returns the error that it ended.
    pub(super) fn ended(&mut self) -> BenchError {
        let _ = self.child.kill();
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        BenchError::Ended { program: self.program, status, log: self.tail() }
    }

    /// Waits until it has ended.
    pub(super) fn wait(&mut self) -> Result<(), BenchError> {
        let ended = self.child.wait();
        ended.map(drop).map_err(|error| BenchError::Start { program: self.program, error })
    }

    /// Returns the CPU time of the program and its children in microseconds.
    pub(super) fn cpu_us(&self) -> Result<u64, BenchError> {
        process_stats::cpu_us(self.child.id()).map_err(|error| self.unknown(error))
    }

    /// Returns the memory of the program and its children, in KiB.
    pub(super) fn memory_kib(&self) -> Result<u64, BenchError> {
        let unknown = |error| BenchError::Memory { program: self.program, error };
        process_stats::memory_kib(self.child.id()).map_err(unknown)
    }

    pub(super) fn signal(&self, signal: Signal) -> Result<(), BenchError> {
        send(self.child.id(), signal).map_err(|error| BenchError::Signal { program: self.program, error })
    }

    /// Kills one of its children. It is no error if the child has ended meanwhile.
    pub(super) fn kill_child(&self, child: u32) -> Result<(), BenchError> {
        match send(child, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(BenchError::Signal { program: self.program, error }),
        }
    }

    pub(super) fn children(&self) -> Result<Vec<u32>, BenchError> {
        process_stats::children(self.child.id()).map_err(|error| self.unknown(error))
    }

    /// True if the program has mapped a library.
    pub(super) fn has_loaded(&self, library: &Path) -> Result<bool, BenchError> {
        let path = PathBuf::from(format!("/proc/{}/maps", self.child.id()));
        let maps = fs::read_to_string(&path).map_err(|error| BenchError::File { path, error })?;
        let name = library.display().to_string();
        Ok(maps.lines().any(|line| line.ends_with(&name)))
    }

    /// Returns the last lines of its log.
    pub(super) fn tail(&self) -> String {
        let text = self.log();
        let lines: Vec<&str> = text.lines().collect();
        let last = lines.iter().skip(lines.len().saturating_sub(TAIL)).map(|line| format!("  {line}"));
        match lines.is_empty() {
            true => format!("  {}: nothing", self.log.display()),
            false => format!("  {}:\n", self.log.display()) + &last.collect::<Vec<_>>().join("\n"),
        }
    }

    /// Returns its whole log.
    pub(super) fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    fn unknown(&self, error: std::io::Error) -> BenchError {
        BenchError::CpuTime { program: self.program, error }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // A cryptoserver would wait for its clients. nginx ends its workers with it, and kills those that do not end.
        let signal = if self.program == BenchProgram::Cryptoserver { Signal::KILL } else { Signal::TERM };
        if let Ok(None) = self.child.try_wait() {
            let _ = send(self.child.id(), signal);
            let _ = self.child.wait();
        }
    }
}

fn send(process: u32, signal: Signal) -> Result<(), Errno> {
    let id = i32::try_from(process).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    kill_process(id, signal)
}
