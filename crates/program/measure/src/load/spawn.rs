//! A server process for the load.

use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use oarlock_terminal::GlobalOptions;
use oarlock_wire::{Credentials, Endpoint};
use tempfile::TempDir;

use super::LoadError;
use super::args::LoadTransport;
use crate::cores::DividedCores;

/// The server that is put under load.
#[derive(Clone, Copy)]
pub enum LoadedServer<'a> {
    /// A server that runs already.
    At(&'a Endpoint),
    /// A server that is started for the load. The function prepares its keys and certificates in an empty directory,
    /// and returns their paths or the reason why it failed.
    Spawned(&'a dyn Fn(&Path) -> Result<ServerFiles, String>),
}

impl fmt::Debug for LoadedServer<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(endpoint) => write!(out, "At({endpoint})"),
            Self::Spawned(_) => out.write_str("Spawned"),
        }
    }
}

/// The files of a server that is started for a load, all in one directory.
#[derive(Clone, Debug)]
pub struct ServerFiles {
    /// The configuration. It is written by the bench and names the others.
    pub config: PathBuf,
    /// The directory of the keys.
    pub keys: PathBuf,
    /// The socket that the server listens at.
    pub socket: PathBuf,
    /// The authority of the server's certificate, in PEM.
    pub ca: PathBuf,
    /// The client's certificate, in PEM.
    pub client_certificate: PathBuf,
    /// The client's private key, in PEM.
    pub client_key: PathBuf,
}

/// A server process. It ends when it is dropped.
pub(super) struct SpawnedServer {
    child: Child,
    files: ServerFiles,
    tls: String,
    plaintext: String,
    _folder: TempDir,
}

impl SpawnedServer {
    /// Starts a server with these engines, joined by `+`, on the first core of this process if it has several.
    pub(super) fn start(
        global: &GlobalOptions,
        set_up: &dyn Fn(&Path) -> Result<ServerFiles, String>,
        engines: Option<&str>,
        cores: &DividedCores,
    ) -> Result<Self, LoadError> {
        let folder = tempfile::tempdir().map_err(LoadError::Spawn)?;
        let files = set_up(folder.path()).map_err(LoadError::SetUp)?;
        fs::write(&files.config, config(global, engines)).map_err(LoadError::Spawn)?;
        // A child process inherits the core.
        let there = cores.visit();
        let program = std::env::current_exe().map_err(LoadError::Spawn)?;
        let mut child = Command::new(program)
            // In JSON, the first line has the ports, which the system chooses.
            .args(["--json", "serve", "--config"])
            .arg(&files.config)
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
        // Its log is read and dropped: a full pipe would block the server.
        if let Some(log) = child.stderr.take() {
            std::thread::spawn(move || io::copy(&mut BufReader::new(log), &mut io::sink()));
        }
        Ok(Self { child, files, tls, plaintext, _folder: folder })
    }

    /// Returns the directory of its keys. It looks for new ones every second.
    pub(super) fn keys(&self) -> &Path {
        &self.files.keys
    }

    pub(super) fn endpoint(&self, way: LoadTransport) -> Result<Endpoint, LoadError> {
        let files = &self.files;
        Ok(match way {
            LoadTransport::Tls => {
                let credentials = Credentials::read(&files.ca, &files.client_certificate, &files.client_key);
                let credentials = credentials.map_err(|error| LoadError::Spawn(io::Error::other(error)))?;
                Endpoint::Grpc { url: self.tls.clone(), credentials: Some(credentials) }
            }
            LoadTransport::Plaintext => Endpoint::Grpc { url: self.plaintext.clone(), credentials: None },
            LoadTransport::Ring | LoadTransport::Unix | LoadTransport::Local => Endpoint::unix(&files.socket),
        })
    }
}

impl Drop for SpawnedServer {
    fn drop(&mut self) {
        // It has nothing to keep.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn last_words(child: &mut Child) -> String {
    // Otherwise the reading below would wait for the end of a process that still runs.
    let _ = child.kill();
    let mut text = String::new();
    if let Some(mut log) = child.stderr.take() {
        let _ = io::Read::read_to_string(&mut log, &mut text);
    }
    text.lines().last().unwrap_or("it said nothing").to_owned()
}

fn config(global: &GlobalOptions, engines: Option<&str>) -> String {
    let set = engines.map(|names| names.split('+').map(str::to_owned).collect());
    let engines = match set.as_ref().or(global.engines.as_ref()) {
        Some::<&Vec<String>>(names) => format!("allowed = {names:?}\n"),
        None => String::new(),
    };
    // The limits are far above any load, so that the work is measured and not a limit.
    format!(
        "[listen]\ntcp = \"127.0.0.1:0\"\nplaintext = \"127.0.0.1:0\"\nunix = \"oarlock.sock\"\n\n\
         [tls]\ncertificate = \"server.pem\"\nprivate_key = \"server-key.pem\"\nclient_ca = \"ca.pem\"\n\n\
         [limits]\nmax_connections = 100000\nmax_connections_per_client = 100000\nmax_in_flight = 4096\nmay_bring_keys = true\n\
         max_brought_keys_per_second = 1000000000\nmax_brought_rsa_bits = 16384\nmax_queued_seconds_per_client = 86400\n\
         max_bytes_per_client = 8589934592\nmax_bytes = 8589934592\n\n\
         [keys]\ndirectory = \"keys\"\nrecords = \"records.keys\"\n\n\
         [engines]\nnull_key = true\n{engines}\n\
         [[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n"
    )
}
