//! Programs that are run to their end, and their cost.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use super::error::ZoneBenchError;
use crate::process_stats::ended_children_us;
use crate::product::oarlock_path;

/// The cost of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProgramCost {
    pub(super) seconds: f64,
    /// The CPU time of all threads, in user and kernel mode.
    pub(super) cpu_seconds: f64,
}

/// A program with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct ZoneProgram {
    /// The name in the report.
    pub(super) name: String,
    /// True for `oarlock`.
    pub(super) is_own: bool,
    path: String,
    arguments: Vec<String>,
}

impl ZoneProgram {
    pub(super) fn new<S: Into<String>>(path: &str, arguments: impl IntoIterator<Item = S>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { name: path.to_owned(), is_own: false, path: path.to_owned(), arguments }
    }

    /// Returns the program `oarlock` with these arguments.
    pub(crate) fn oarlock<S: Into<String>>(
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Self, ZoneBenchError> {
        let path = oarlock_path()?;
        Ok(Self { name: "oarlock".into(), is_own: true, ..Self::new(&path.to_string_lossy(), arguments) })
    }

    pub(super) fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Runs the program in a directory to its end.
    ///
    /// # Errors
    /// The program could not be started or failed.
    pub(crate) fn run(&self, folder: &Path) -> Result<(Output, ProgramCost), ZoneBenchError> {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments).current_dir(folder).stdin(Stdio::null());
        let (before, began) = (ended_children_us(), Instant::now());
        let output = command.output().map_err(|error| failure(&self.name, &error.to_string()))?;
        let seconds = began.elapsed().as_secs_f64();
        let cpu_us = before.and_then(|before| Ok(ended_children_us()? - before));
        let cpu_seconds = cpu_us.map_err(|error| failure(&self.name, &error.to_string()))? as f64 / 1e6;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            return Err(failure(&self.name, &format!("{}: {last}", output.status)));
        }
        Ok((output, ProgramCost { seconds, cpu_seconds }))
    }

    /// True if the program is installed.
    pub(super) fn is_here(&self) -> bool {
        let started = Command::new(&self.path)
            .arg("-h")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        !matches!(started, Err(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

fn failure(program: &str, reason: &str) -> ZoneBenchError {
    ZoneBenchError::Program { program: program.to_owned(), reason: reason.to_owned() }
}
