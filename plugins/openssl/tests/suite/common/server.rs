//! A cryptoserver for tests.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;

use oarlock::Accelerator;
use oarlock::keys::reference::Reference;
use oarlock::keys::{export, import};
use oarlock_server::{BoundServer, CryptoserverConfig};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::common::TestDirectory;

/// A cryptoserver in this process. It listens at `server/oarlock.sock` of a test directory, and its keys are the PEM
/// files in `server/keys`.
pub struct CryptoServer {
    runtime: Runtime,
    directory: PathBuf,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    metrics: Option<SocketAddr>,
}

/// The settings that let every client use every key.
pub const ALL_GRANTED: &str = "[[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n";

impl CryptoServer {
    pub fn with(dir: &TestDirectory, settings: &str) -> Self {
        let directory = dir.path("server");
        fs::create_dir_all(directory.join("keys")).unwrap();
        let bring = if settings.contains("may_bring_keys") { "" } else { "limits.may_bring_keys = true\n" };
        let config = format!(
            "listen.unix = \"oarlock.sock\"\nlisten.metrics = \"127.0.0.1:0\"\nkeys.directory = \"keys\"\n{bring}{settings}"
        );
        fs::write(directory.join("oarlock.toml"), config).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut server = Self { runtime, directory, running: None, metrics: None };
        server.begin();
        server
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("oarlock.sock")
    }

    /// Returns the lines of the provider's section that select this server.
    pub fn section(&self) -> String {
        format!("mode = service\nsocket = {}", self.socket().display())
    }

    /// Copies a PEM file to the keys, which the server reads when it starts.
    pub fn hold(&self, dir: &TestDirectory, file: &str, name: &str) {
        fs::copy(dir.path(file), self.directory.join("keys").join(format!("{name}.pem"))).unwrap();
    }

    /// Writes a PEM file that names a key of the server and contains the public half of the key in another file.
    pub fn reference(&self, dir: &TestDirectory, name: &str, key: &str, file: &str) {
        let key = import::any(&dir.read(key), None).unwrap();
        let spki = Some(export::spki_der(&key).unwrap());
        dir.write(file, Reference { name: name.to_owned(), spki }.to_pem().unwrap());
    }

    /// Returns the server's metrics in Prometheus's format.
    pub fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.metrics.unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    }

    /// Starts a stopped server.
    pub fn begin(&mut self) {
        let config = CryptoserverConfig::read(&self.directory.join("oarlock.toml")).unwrap();
        let engines = Accelerator::builder().threads(1).lazy();
        let server = self.runtime.block_on(BoundServer::bind(config, engines)).unwrap();
        self.metrics = server.addresses().metrics;
        let (stop, stopped) = oneshot::channel();
        let run = async {
            let stop = async { drop(stopped.await) };
            server.run(stop).await.unwrap();
        };
        self.running = Some((stop, self.runtime.spawn(run)));
    }

    pub fn stop(&mut self) {
        if let Some((stop, running)) = self.running.take() {
            drop(stop);
            self.runtime.block_on(running).unwrap();
        }
    }
}

impl Drop for CryptoServer {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}
