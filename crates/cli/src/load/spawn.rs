//! A server of its own.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use oarlock_server::development::Development;
use oarlock_wire::{Credentials, Endpoint};
use tempfile::TempDir;
use zeroize::Zeroizing;

use super::LoadError;
use super::args::Way;
use crate::args::Global;
use crate::cores::Cores;

/// A server process, which ends with this.
pub(super) struct Spawned {
    child: Child,
    development: Development,
    tls: String,
    plaintext: String,
    _place: TempDir,
}

impl Spawned {
    /// Starts one on the first core of this process, where it has several; with these engines, joined by `+`.
    pub(super) fn start(global: &Global, engines: Option<&str>, cores: &Cores) -> Result<Self, LoadError> {
        let place = tempfile::tempdir().map_err(LoadError::Spawn)?;
        let development = Development::at(place.path());
        development.prepare()?;
        fs::write(development.config(), config(global, engines)).map_err(LoadError::Spawn)?;
        // What is started inherits it.
        let there = cores.visit();
        let own = std::env::current_exe().map_err(LoadError::Spawn)?;
        let mut child = Command::new(own)
            .args(["--json", "serve", "--config"])
            .arg(development.config())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(LoadError::Spawn)?;
        drop(there);
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
         [limits]\nmax_connections = 100000\nmax_connections_per_client = 100000\nmax_in_flight = 4096\nmay_bring_keys = true\n\
         max_brought_keys_per_second = 1000000000\nmax_brought_rsa_bits = 16384\nmax_queued_seconds_per_client = 86400\n\
         max_bytes_per_client = 8589934592\nmax_bytes = 8589934592\n\n\
         [keys]\ndirectory = \"keys\"\n\n\
         [engines]\nnull_key = true\n{engines}\n\
         [[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n"
    )
}
