//! A server in a separate process.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
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

/// Starts a server that lists its metrics, with more lines in its configuration and changes to its command.
pub(crate) fn with_metrics(state: &Path, more: &str, change: impl FnOnce(&mut Command)) -> Served {
    let development = Development::at(state);
    development.prepare().unwrap();
    let text = fs::read_to_string(development.config()).unwrap();
    let text = text.replace("[listen]\n", "[listen]\nmetrics = \"127.0.0.1:0\"\n");
    fs::write(development.config(), format!("{text}\n{more}")).unwrap();
    Served::start_with(state, change)
}

impl Served {
    /// Starts a server with a development set-up. The system chooses its TCP port.
    pub(crate) fn start(state: &Path) -> Self {
        Self::start_with(state, |_| {})
    }

    /// Starts a server with changes to its command.
    pub(crate) fn start_with(state: &Path, change: impl FnOnce(&mut Command)) -> Self {
        Development::at(state).prepare().unwrap();
        let path = Development::at(state).config();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(
            &path,
            text.replace("127.0.0.1:7443", "127.0.0.1:0").replace("127.0.0.1:9091", "127.0.0.1:0"),
        )
        .unwrap();
        let mut command = command(&["--json", "serve", "--log", "json", "--state"]);
        command.arg(state).stdout(Stdio::piped()).stderr(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let said = announcement(&mut child);
        Self { child, state: state.to_owned(), said }
    }

    /// Returns the log from now on, line by line.
    pub(crate) fn log(&mut self) -> PrintedLines {
        PrintedLines::from_stream(self.child.stderr.take().unwrap())
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.state.join("oarlock.sock")
    }

    /// Returns the metrics of a server that lists them.
    pub(crate) fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.said["metrics"].as_str().unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
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
