//! The server as a process of its own.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "each test file uses some of it")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use oarlock_server::development::Development;
use serde_json::Value;

use crate::program::command;

/// A server process of its own.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) state: PathBuf,
    pub(crate) said: Value,
}

impl Served {
    /// With a development set-up, of which only the TCP port is the system's choice.
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
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut log = String::new();
            child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
            panic!("{log}")
        });
        Self { child, state: state.to_owned(), said }
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
