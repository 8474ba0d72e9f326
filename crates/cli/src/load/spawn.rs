//! A server of its own.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use oarlock_server::development::Development;
use oarlock_wire::{Credentials, Endpoint};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use tempfile::TempDir;
use zeroize::Zeroizing;

use super::LoadError;
use super::args::Way;
use crate::args::Global;

/// A server process, which ends with this.
pub(super) struct Spawned {
    child: Child,
    development: Development,
    tls: String,
    plaintext: String,
    _place: TempDir,
}

/// The cores of this process, divided between servers and load.
pub(super) struct Cores {
    server: Option<CpuSet>,
    own: Option<CpuSet>,
}

impl Spawned {
    /// Starts one on the first core of this process, where it has several; with these engines, joined by `+`.
    pub(super) fn start(global: &Global, engines: Option<&str>, cores: &Cores) -> Result<Self, LoadError> {
        let place = tempfile::tempdir().map_err(LoadError::Spawn)?;
        let development = Development::at(place.path());
        development.prepare()?;
        fs::write(development.config(), config(global, engines)).map_err(LoadError::Spawn)?;
        if let Some(first) = &cores.server {
            // What is started inherits it.
            sched_setaffinity(None, first).map_err(|error| LoadError::Spawn(error.into()))?;
        }
        let own = std::env::current_exe().map_err(LoadError::Spawn)?;
        let mut child = Command::new(own)
            .args(["--json", "serve", "--config"])
            .arg(development.config())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(LoadError::Spawn)?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(LoadError::Spawn)?;
        }
        let Ok(said) = serde_json::from_str::<serde_json::Value>(&line) else {
            return Err(LoadError::Ended(last_words(&mut child)));
        };
        let address = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
        let (tls, plaintext) =
            (format!("https://{}", address("tcp")), format!("http://{}", address("plaintext")));
        // What it logs is read, so that it does not wait for anybody to read it.
        if let Some(log) = child.stderr.take() {
            std::thread::spawn(move || io::copy(&mut BufReader::new(log), &mut io::sink()));
        }
        Ok(Self { child, development, tls, plaintext, _place: place })
    }

    /// The directory of its keys, which it looks at every second.
    pub(super) fn keys(&self) -> PathBuf {
        self.development.keys()
    }

    pub(super) fn endpoint(&self, way: Way) -> Result<Endpoint, LoadError> {
        let read = |path: PathBuf| fs::read(path).map_err(LoadError::Spawn);
        Ok(match way {
            Way::Tls => Endpoint::Grpc {
                url: self.tls.clone(),
                credentials: Some(Credentials {
                    server_ca: read(self.development.ca())?,
                    certificate: read(self.development.client_certificate())?,
                    private_key: Zeroizing::new(read(self.development.client_key())?),
                }),
            },
            Way::Plaintext => Endpoint::Grpc { url: self.plaintext.clone(), credentials: None },
            Way::Unix | Way::Local => Endpoint::Unix(self.development.socket()),
        })
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        // It has nothing to keep.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Cores {
    /// The first of those that this process may use is for servers, the others are its own.
    pub(super) fn divide() -> Self {
        let none = Self { server: None, own: None };
        let Ok(all) = sched_getaffinity(None) else { return none };
        let Some(first) = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)) else { return none };
        let (mut server, mut own) = (CpuSet::new(), all);
        server.set(first);
        own.unset(first);
        if own.count() == 0 { none } else { Self { server: Some(server), own: Some(own) } }
    }

    /// Moves this thread to the servers' core.
    pub(super) fn visit(&self) -> Visit {
        match (&self.server, &self.own) {
            (Some(server), Some(own)) if sched_setaffinity(None, server).is_ok() => Visit(Some(*own)),
            _ => Visit(None),
        }
    }

    /// Moves this process off the servers' core.
    pub(super) fn leave(&self) {
        match &self.own {
            Some(cores) => {
                if let Err(error) = sched_setaffinity(None, cores) {
                    eprintln!("oarlock: load and server share their cores: {error}");
                }
            }
            None => eprintln!("oarlock: there is one core: load and server share it"),
        }
    }
}

/// A thread on the servers' core, until this ends.
#[must_use]
pub(super) struct Visit(Option<CpuSet>);

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(home) = &self.0 {
            // Where it cannot go back, the rows behind this one share the servers' core: their rates show it.
            let _ = sched_setaffinity(None, home);
        }
    }
}

fn last_words(child: &mut Child) -> String {
    let _ = child.kill();
    let mut text = String::new();
    if let Some(mut log) = child.stderr.take() {
        let _ = io::Read::read_to_string(&mut log, &mut text);
    }
    text.lines().last().unwrap_or("it said nothing").to_owned()
}

fn config(global: &Global, engines: Option<&str>) -> String {
    let set = engines.map(|names| names.split('+').map(str::to_owned).collect());
    let engines = match set.as_ref().or(global.engines.as_ref()) {
        Some::<&Vec<String>>(names) => format!("allowed = {names:?}\n"),
        None => String::new(),
    };
    format!(
        "[listen]\ntcp = \"127.0.0.1:0\"\nplaintext = \"127.0.0.1:0\"\nunix = \"oarlock.sock\"\n\n\
         [tls]\ncertificate = \"server.pem\"\nprivate_key = \"server-key.pem\"\nclient_ca = \"ca.pem\"\n\n\
         [limits]\nconnections = 100000\nin_flight = 4096\n\n\
         [keys]\ndirectory = \"keys\"\n\n\
         [engines]\nnull_key = true\n{engines}\n\
         [[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n"
    )
}
