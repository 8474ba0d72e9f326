//! A cryptoserver of the test's own.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

use std::fs;
use std::path::PathBuf;

use oarlock::Accelerator;
use oarlock::keys::reference::Reference;
use oarlock::keys::{export, import};
use oarlock_server::{BoundServer, Config};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::common::Place;

/// A cryptoserver in this process, at `server/oarlock.sock` of a place; its keys are the PEM files in `server/keys`.
pub struct CryptoServer {
    runtime: Runtime,
    directory: PathBuf,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// What it may be told beside that.
pub const EVERYTHING: &str = "[[grant]]\nkeys = [\"*\"]\nclients = [\"*\"]\n";

impl CryptoServer {
    /// One that lets every client use every key.
    pub fn start(place: &Place) -> Self {
        Self::with(place, EVERYTHING)
    }

    pub fn with(place: &Place, settings: &str) -> Self {
        let directory = place.path("server");
        fs::create_dir_all(directory.join("keys")).unwrap();
        let bring = if settings.contains("may_bring_keys") { "" } else { "limits.may_bring_keys = true\n" };
        let config = format!("listen.unix = \"oarlock.sock\"\nkeys.directory = \"keys\"\n{bring}{settings}");
        fs::write(directory.join("oarlock.toml"), config).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut server = Self { runtime, directory, running: None };
        server.begin();
        server
    }

    /// Where it listens.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("oarlock.sock")
    }

    /// The lines of the provider's section that lead to it.
    pub fn section(&self) -> String {
        format!("mode = service\nsocket = {}", self.socket().display())
    }

    /// Puts the key of a PEM file among its keys, from where it is read again when the server starts.
    pub fn hold(&self, place: &Place, file: &str, name: &str) {
        fs::copy(place.path(file), self.directory.join("keys").join(format!("{name}.pem"))).unwrap();
    }

    /// Writes a PEM file that names a key of the server, with the public half of the key in another file.
    pub fn reference(&self, place: &Place, name: &str, key: &str, file: &str) {
        let key = import::any(&place.read(key), None).unwrap();
        let spki = Some(export::spki_der(&key).unwrap());
        place.write(file, Reference { name: name.to_owned(), spki }.to_pem().unwrap());
    }

    /// Starts it, once it was stopped.
    pub fn begin(&mut self) {
        let config = Config::read(&self.directory.join("oarlock.toml")).unwrap();
        let engines = Accelerator::builder().threads(1).lazy();
        let server = self.runtime.block_on(BoundServer::bind(config, engines)).unwrap();
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
