//! A server in a separate process.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "each test file uses some of it")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use oarlock_server::development::Development;
use serde_json::Value;

use crate::program::command;
use crate::program::printed::{PrintedLines, announcement};

/// A server in a separate process.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) state: PathBuf,
    pub(crate) said: Value,
}

impl Served {
    /// Starts a server with a development set-up. The system chooses its TCP port.
    pub(crate) fn start(state: &Path) -> Self {
        Development::at(state).prepare().unwrap();
        let path = Development::at(state).config();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("127.0.0.1:7443", "127.0.0.1:0")).unwrap();
        let mut child = command(&["--json", "serve", "--log", "json", "--state"])
            .arg(state)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = announcement(&mut child);
        Self { child, state: state.to_owned(), said }
    }

    /// Returns the log from now on, line by line.
    pub(crate) fn log(&mut self) -> PrintedLines {
        PrintedLines::of(self.child.stderr.take().unwrap())
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.state.join("oarlock.sock")
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap(), log)
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Output {
        command(&["call", "--state"]).arg(&self.state).args(arguments).output().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
