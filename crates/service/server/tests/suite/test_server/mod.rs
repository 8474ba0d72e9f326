//! A server for one test.

pub mod authority;

use std::path::Path;

use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_server::development::Development;
use oarlock_server::{Addresses, BoundServer, CryptoserverConfig, CryptoserverError, ReloadHandle};
use oarlock_service_kit::ServiceClock;
use oarlock_wire::proto::{KeyInfo, OpenKey, Request, open_key, request, response};
use oarlock_wire::{Credentials, Endpoint, ServerLink};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running server with its directory.
pub struct TestServer {
    pub directory: TempDir,
    pub development: Development,
    pub addresses: Addresses,
    /// The clock that the test can advance.
    pub clock: ServiceClock,
    pub reloads: ReloadHandle,
    /// The configuration at the start.
    pub config: CryptoserverConfig,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<Result<(), CryptoserverError>>>,
}

/// Returns engines with two threads.
pub fn engines() -> AcceleratorBuilder {
    Accelerator::builder().threads(2).lazy()
}

impl TestServer {
    /// Starts the server of a development directory, with changes to its configuration.
    pub async fn with(change: impl FnOnce(&mut CryptoserverConfig, &Path)) -> Self {
        // A thousand connections need more open files than an ordinary user has at first.
        oarlock_service_kit::raise_open_files();
        let directory = tempfile::tempdir().unwrap();
        let development = Development::at(directory.path());
        assert!(development.prepare().unwrap());
        let mut config = CryptoserverConfig::read(&development.config()).unwrap();
        config.listen.tcp = Some("127.0.0.1:0".parse().unwrap());
        config.listen.plaintext = Some("127.0.0.1:0".parse().unwrap());
        config.limits.max_drain_seconds = 5;
        // The address would be the same for all servers of the tests.
        config.listen.dashboard = None;
        change(&mut config, directory.path());
        let clock = ServiceClock::default();
        let server = BoundServer::bind_with_clock(config.clone(), engines(), clock.clone()).await.unwrap();
        let (addresses, reloads) = (server.addresses(), server.reload_handle());
        let (stop, stopped) = oneshot::channel();
        let running = Some(tokio::spawn(server.run(async { drop(stopped.await) })));
        Self { directory, development, addresses, clock, reloads, config, stop: Some(stop), running }
    }

    pub async fn new() -> Self {
        Self::with(|_, _| {}).await
    }

    pub fn credentials(&self) -> Credentials {
        Credentials {
            server_ca: std::fs::read(self.development.ca()).unwrap(),
            certificate: std::fs::read(self.development.client_certificate()).unwrap(),
            private_key: std::fs::read(self.development.client_key()).unwrap().into(),
        }
    }

    pub fn tls(&self) -> Endpoint {
        let url = format!("https://{}", self.addresses.tcp.unwrap());
        Endpoint::Grpc { url, credentials: Some(self.credentials()) }
    }

    pub fn plaintext(&self) -> Endpoint {
        Endpoint::Grpc { url: format!("http://{}", self.addresses.plaintext.unwrap()), credentials: None }
    }

    pub fn unix(&self) -> Endpoint {
        Endpoint::unix(self.addresses.unix.clone().unwrap())
    }

    pub async fn stop(&mut self) {
        self.begin_to_stop();
        self.stopped().await;
    }

    pub fn begin_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Starts the stopped server again.
    pub async fn restart(&mut self) {
        let mut config = CryptoserverConfig::read(&self.development.config()).unwrap();
        config.listen.tcp = None;
        let server = BoundServer::bind(config, engines()).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        self.running = Some(tokio::spawn(server.run(async { drop(stopped.await) })));
        self.stop = Some(stop);
    }

    pub async fn stopped(&mut self) {
        self.running.take().unwrap().await.unwrap().unwrap();
    }
}

/// Writes a file atomically, readable by its owner only.
pub fn write_secret(path: &Path, text: impl AsRef<[u8]>) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::set_permissions(&new, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::rename(new, path).unwrap();
}

pub async fn open(link: &ServerLink, handle: u32, source: open_key::Source) -> KeyInfo {
    let body = request::Body::OpenKey(OpenKey { handle, source: Some(source), ..OpenKey::default() });
    match link.call(body).await.unwrap() {
        response::Body::Key(info) => info,
        other => panic!("{other:?}"),
    }
}

pub async fn open_resident(link: &ServerLink, handle: u32, name: &str) -> KeyInfo {
    open(link, handle, open_key::Source::Resident(name.into())).await
}

pub fn request(id: u64, body: request::Body) -> Request {
    Request { id, body: Some(body) }
}
