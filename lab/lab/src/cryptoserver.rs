//! The cryptoserver of a measurement: like `oarlock serve`, in a process of its own. A proxy or a mail filter may run
//! beside it.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use oarlock::Accelerator;
use oarlock_milter::{MilterServer, MilterServerError, MilterSettings};
use oarlock_proxy::{BoundProxy, ProxyConfig, ProxyService, ProxyServiceError};
use oarlock_server::{BoundServer, CryptoserverConfig, CryptoserverError, config::ConfigError};
use oarlock_terminal::{CommandError, FailureKind};

use crate::bench::AcceptingFilters;
use crate::role_process::{answer, stay_on};

/// The name with which a process of this role is called.
pub(crate) const ROLE: &str = "cryptoserver";

/// Arguments of the role.
#[derive(Args, Debug)]
pub(crate) struct CryptoserverArgs {
    #[arg(long)]
    config: PathBuf,
    #[arg(long)]
    core: Option<usize>,
    /// Directory of the certificate of a proxy in front of the plaintext listener
    #[arg(long)]
    proxy: Option<PathBuf>,
    /// Starts a mail filter, too
    #[arg(long)]
    filter: bool,
}

/// An error of the role.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CryptoserverRoleError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Server(#[from] CryptoserverError),
    #[error("the proxy: {0}")]
    Proxy(#[from] ProxyServiceError),
    #[error("the proxy: {0}")]
    ProxyConfig(#[from] oarlock_service_kit::settings::SettingsError),
    #[error("the mail filter: {0}")]
    Filter(#[from] MilterServerError),
}

impl CommandError for CryptoserverRoleError {
    fn kind(&self) -> FailureKind {
        FailureKind::Machine
    }
}

pub(crate) fn run(args: &CryptoserverArgs) -> Result<(), CryptoserverRoleError> {
    stay_on(args.core)?;
    oarlock_service_kit::raise_open_files();
    // As `oarlock serve` does: memory that the allocator keeps would look like memory that clients hold.
    oarlock_service_kit::keep_little_memory();
    let config = CryptoserverConfig::read(&args.config)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let server = BoundServer::bind(
            config,
            Accelerator::builder().environment(true).cost_cache(oarlock::default_cost_cache()),
        )
        .await?;
        let addresses = server.addresses();
        let proxy = match (&args.proxy, addresses.plaintext) {
            (Some(certificates), Some(backend)) => Some(bind_proxy(certificates, backend).await?),
            _ => None,
        };
        let filter = match args.filter {
            true => Some(bind_filter().await?),
            false => None,
        };
        answer(&serde_json::json!({
            "tcp": addresses.tcp, "plaintext": addresses.plaintext, "unix": addresses.unix,
            "proxy": proxy.as_ref().map(|proxy| proxy.addresses()[0].clone()),
            "filter": filter.as_ref().map(|filter| filter.sockets()[0].to_string()),
        }))?;
        let proxied = async {
            match proxy {
                Some(proxy) => Ok::<_, CryptoserverRoleError>(proxy.run(std::future::pending()).await?),
                None => std::future::pending().await,
            }
        };
        let filtered = async {
            match filter {
                Some(filter) => filter.run(std::future::pending()).await,
                None => std::future::pending().await,
            }
        };
        let served = async { Ok(server.run(std::future::pending()).await?) };
        tokio::select! {
            ended = proxied => ended,
            () = filtered => Ok(()),
            ended = served => ended,
        }
    })
}

/// Binds a proxy in front of the plaintext listener, with default limits and the clients of the server.
async fn bind_proxy(certificates: &Path, backend: SocketAddr) -> Result<BoundProxy, CryptoserverRoleError> {
    let authorities = certificates.with_file_name("ca.pem");
    let text = format!(
        "listen.sockets = [\"127.0.0.1:0\"]\nbackend.address = \"{backend}\"\ntls.alpn = [\"h2\"]\n\
         certificates.path = \"{}\"\nclients.authorities = \"{}\"\n",
        certificates.display(),
        authorities.display()
    );
    let path = certificates.with_file_name("proxy.toml");
    fs::write(&path, text)?;
    let service = ProxyService::open(ProxyConfig::read(&path)?, Accelerator::builder().environment(true));
    Ok(service.await?.bind().await?)
}

/// Binds a mail filter with default limits.
async fn bind_filter() -> Result<MilterServer<AcceptingFilters>, CryptoserverRoleError> {
    let socket = "inet:0@127.0.0.1".parse().map_err(io::Error::other)?;
    Ok(MilterServer::bind(&[socket], AcceptingFilters, MilterSettings::default()).await?)
}
