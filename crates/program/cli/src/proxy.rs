//! `oarlock proxy`: the TLS-terminating proxy.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use oarlock_proxy::config::{BackendAddress, BackendSettings, ListenAddress};
use oarlock_proxy::{BoundProxy, ProxyConfig, ProxyService, ProxyServiceError};
use oarlock_service_kit::settings::SettingsError;
use oarlock_service_kit::signals::{Hangups, ready_until, stop_signal};
use oarlock_terminal::table::count;
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions};
use tokio::runtime::Runtime;

use crate::runtime::{raise_open_files, run_future};
use crate::serve::{LogFormat, harden, log};

/// Arguments of `oarlock proxy`.
#[derive(Args, Debug)]
#[command(
    after_help = "SIGHUP reloads the configuration, the certificates and the keys; invalid ones are rejected, and the old\n\
                  ones stay. SIGTERM and SIGINT drain: connections may end, new ones are rejected.\n\n\
                  Examples: oarlock proxy --listen :443 --backend 127.0.0.1:8080 --certificates /etc/oarlock-proxy/certificates\n          \
                  oarlock proxy --config /etc/oarlock-proxy/proxy.toml --check\n          \
                  oarlock proxy --config /etc/oarlock-proxy/proxy.toml"
)]
pub(crate) struct ProxyArgs {
    /// Configuration file; docs/proxy.toml is an example
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address to listen at: ADDRESS:PORT, :PORT, unix:PATH or systemd; may be repeated [default: :443]
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<ListenAddress>,
    /// Listen at ports at which another proxy of the same user listens too, until it has been stopped
    #[arg(long)]
    share_ports: bool,
    /// Backend: HOST:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS", conflicts_with = "config")]
    backend: Option<BackendAddress>,
    /// Directory of certificates and keys, or one PEM file with both
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "config", requires = "backend")]
    certificates: Option<PathBuf>,
    /// Application protocol that clients may negotiate; may be repeated
    #[arg(long, value_name = "PROTOCOL", conflicts_with = "config", requires = "backend")]
    alpn: Vec<String>,
    /// Address for Prometheus metrics
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "config", requires = "backend")]
    metrics: Option<SocketAddr>,
    /// Check the configuration, every certificate and every key, print what would be done, and exit
    #[arg(long)]
    check: bool,
    /// Form of the log on stderr
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log: LogFormat,
}

/// An error of `oarlock proxy`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProxyError {
    #[error(transparent)]
    ProxyConfig(#[from] SettingsError),
    #[error(transparent)]
    ProxyService(#[from] ProxyServiceError),
    #[error(
        "found neither --config nor both --backend and --certificates: expected --config FILE, or \
         --backend ADDRESS and --certificates DIRECTORY"
    )]
    NoSettings,
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for ProxyError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::ProxyService(
                ProxyServiceError::Listen(_)
                | ProxyServiceError::PortTaken { .. }
                | ProxyServiceError::Metrics(_)
                | ProxyServiceError::Start(_),
            )
            | Self::Runtime(_) => FailureKind::Machine,
            Self::ProxyService(ProxyServiceError::Holders(error)) if error.is_machines() => {
                FailureKind::Machine
            }
            Self::ProxyConfig(_) | Self::ProxyService(_) | Self::NoSettings => FailureKind::Usage,
            Self::Stdout(error) => FailureKind::of_stdout(error),
        }
    }
}

pub(crate) fn run(global: &GlobalOptions, args: &ProxyArgs) -> Result<(), ProxyError> {
    if args.config.is_none() && (args.backend.is_none() || args.certificates.is_none()) {
        return Err(ProxyError::NoSettings);
    }
    let config = read(global, args)?;
    log(args.log, global.verbose);
    // A connection has two sockets. A few files are not connections.
    raise_open_files(config.limits.max_connections.saturating_mul(2).saturating_add(64));
    // Before the runtime starts threads, and the next line before a key is read.
    oarlock_service_kit::keep_little_memory();
    harden(args.check);
    let runtime = Runtime::new().map_err(ProxyError::Runtime)?;
    run_future(&runtime, async {
        if args.check {
            let service = ProxyService::open(config.clone(), global.builder()).await?;
            let listeners = config.listeners();
            let sockets = listeners.iter().flat_map(|listener| &listener.sockets);
            let addresses: Vec<String> = sockets.map(ToString::to_string).collect();
            for warning in service.warnings() {
                eprintln!("oarlock: warning: {warning}");
            }
            return Ok(say(global, args, &service, &config, &addresses, config.listen.metrics)?);
        }
        // From now on the signals are handled: before, they would end the process, whose self tests take some seconds.
        let hangups = Hangups::handle();
        let service = ProxyService::open(config.clone(), global.builder()).await?;
        let bound = service.bind().await?;
        // A supervisor that hears that the proxy is ready may stop it at once.
        let stopped = stop_signal();
        announce(args, &bound);
        if global.json || args.log == LogFormat::Text {
            say(global, args, &service, &config, bound.addresses(), bound.metrics())?;
        }
        let reload = async || match read(global, args) {
            // The service logs the outcome.
            Ok(config) => drop(service.reconfigure(config).await),
            Err(error) => service.refuse_settings(&error),
        };
        Ok(bound.run(ready_until(stopped, hangups, reload)).await?)
    })
}

/// Reads the configuration file, or makes a configuration of the options.
fn read(global: &GlobalOptions, args: &ProxyArgs) -> Result<ProxyConfig, SettingsError> {
    let mut config = match &args.config {
        Some(path) => ProxyConfig::read(path)?,
        None => from_options(args),
    };
    if !args.listen.is_empty() {
        config.listen.sockets = Some(args.listen.clone());
    }
    config.listen.share_ports |= args.share_ports;
    config.engines.allowed = config.engines.allowed.or_else(|| global.engine_names());
    // Checked again, because options have changed what the file says.
    config.check()?;
    Ok(config)
}

fn from_options(args: &ProxyArgs) -> ProxyConfig {
    let backend = args.backend.clone().map(BackendSettings::plain).into_iter().collect();
    let mut config = ProxyConfig { backend, ..ProxyConfig::default() };
    config.certificates.path.clone_from(&args.certificates);
    config.tls.alpn.clone_from(&args.alpn);
    config.listen.metrics = args.metrics;
    config
}

/// Logs the addresses.
fn announce(args: &ProxyArgs, bound: &BoundProxy) {
    let config = args.config.as_deref().unwrap_or(Path::new("options")).display();
    for address in bound.addresses() {
        tracing::info!(kind = "proxy", address, %config, "listening");
    }
    if let Some(address) = bound.metrics() {
        tracing::info!(kind = "metrics", %address, %config, "listening");
    }
}

fn say(
    global: &GlobalOptions,
    args: &ProxyArgs,
    service: &ProxyService,
    config: &ProxyConfig,
    addresses: &[String],
    metrics: Option<SocketAddr>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let certificates = service.certificates().len();
    let backends: Vec<String> = config.backend_addresses().map(|address| address.to_string()).collect();
    if global.json {
        let mut value = serde_json::json!({
            "config": args.config, "sockets": addresses, "backends": backends, "certificates": certificates,
            "metrics": metrics,
        });
        if args.check {
            value["warnings"] = service.warnings().iter().map(ToString::to_string).collect();
        }
        writeln!(out, "{value}")?;
        return out.flush();
    }
    writeln!(out, "oarlock {} at", if args.check { "would listen" } else { "listens" })?;
    for address in addresses {
        writeln!(out, "  {address}")?;
    }
    if let Some(address) = metrics {
        writeln!(out, "  http://{address}/metrics  for Prometheus; /healthz")?;
    }
    writeln!(out, "for {}", backends.join(", "))?;
    writeln!(out, "with {}", count(certificates as u64, "certificate"))?;
    if let Some(path) = &args.config {
        writeln!(out, "and the configuration\n  {}", path.display())?;
    }
    out.flush()
}
