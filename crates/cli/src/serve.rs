//! `oarlock serve`: the cryptoserver.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use oarlock_server::development::{CLIENT, Development, DevelopmentError};
use oarlock_server::{Addresses, Config, Server, ServerError, config::ConfigError};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tracing::level_filters::LevelFilter;

use crate::args::Global;

/// Arguments of `oarlock serve`.
#[derive(Args, Debug)]
#[command(
    after_help = "Without --config a development set-up is made once under the XDG state directory: an authority, certificates \
                  for the server and one client, sample keys, and the configuration that names them.\n\
                  SIGTERM and SIGINT drain: requests under way are answered, new ones refused."
)]
pub(crate) struct ServeArgs {
    /// The configuration [default: a development set-up]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the configuration and what it names, and say what would be served
    #[arg(long)]
    check: bool,
    /// Where the development set-up is [default: oarlock in the XDG state directory]
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "config")]
    state: Option<PathBuf>,
    /// How the log on stderr is written
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Log {
    /// For people
    Text,
    /// A JSON object a line
    Json,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Development(#[from] DevelopmentError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl ServeError {
    /// True where the user's words or files are wrong, false where the machine failed.
    pub(crate) fn is_users(&self) -> bool {
        match self {
            Self::Config(_) | Self::Development(DevelopmentError::NoPlace) => true,
            Self::Server(error) => !matches!(error, ServerError::Grpc(_) | ServerError::Listen { .. }),
            _ => false,
        }
    }
}

pub(crate) fn run(global: &Global, args: &ServeArgs) -> Result<(), ServeError> {
    let (path, development) = match &args.config {
        Some(path) => (path.clone(), None),
        None => {
            let development = match &args.state {
                Some(state) => Development::at(state),
                None => Development::of_user()?,
            };
            if development.prepare()? {
                eprintln!(
                    "oarlock: made keys and certificates for development: do not use them for anything else"
                );
            }
            (development.config(), Some(development))
        }
    };
    let config = Config::read(&path)?;
    log(args.log, global.verbose);
    harden(config.limits.connections);
    let runtime = Runtime::new().map_err(ServeError::Runtime)?;
    runtime.block_on(async {
        let server = Server::bind(config, global.builder()).await?;
        say(global, args, &path, &server.addresses(), development.as_ref())?;
        if args.check {
            return Ok(());
        }
        Ok(server.run(stopped()).await?)
    })
}

pub(crate) fn log(form: Log, is_verbose: bool) {
    let level = if is_verbose { LevelFilter::DEBUG } else { LevelFilter::INFO };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_target(false);
    match form {
        Log::Text => log.with_ansi(io::stderr().is_terminal()).init(),
        Log::Json => log.json().init(),
    }
}

/// Room for connections; and keys are not for core dumps, nor for a swap disk where the system lets us say so.
pub(crate) fn harden(connections: usize) {
    let most = oarlock_server::raise_open_files();
    // A few files are no connections: listeners, logs, keys that are being read.
    if most.is_some_and(|most| most < connections as u64 + 32) {
        tracing::warn!(
            open_files = most,
            connections,
            "the system allows fewer open files than limits.connections"
        );
    }
    for warning in oarlock_server::harden() {
        tracing::warn!("{warning}");
    }
}

/// Ready when the process is asked to end.
pub(crate) async fn stopped() {
    let (terminate, interrupt) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    match (terminate, interrupt) {
        (Ok(mut terminate), Ok(mut interrupt)) => {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        }
        _ => {
            tracing::warn!("signals cannot be heard: this server ends only by being killed");
            std::future::pending::<()>().await;
        }
    }
}

fn say(
    global: &Global,
    args: &ServeArgs,
    config: &Path,
    addresses: &Addresses,
    development: Option<&Development>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if global.json {
        let value = serde_json::json!({
            "config": config, "tcp": addresses.tcp, "plaintext": addresses.plaintext, "unix": addresses.unix,
            "metrics": addresses.metrics,
        });
        return writeln!(out, "{value}");
    }
    let verb = if args.check { "would listen at" } else { "listens at" };
    writeln!(out, "oarlock {verb}")?;
    if let Some(address) = addresses.tcp {
        writeln!(out, "  https://{address}  gRPC, mutual TLS 1.3")?;
    }
    if let Some(address) = addresses.plaintext {
        writeln!(out, "  http://{address}  gRPC, every process of this machine")?;
    }
    if let Some(path) = &addresses.unix {
        writeln!(out, "  {}  frames", path.display())?;
    }
    if let Some(address) = addresses.metrics {
        writeln!(out, "  http://{address}/metrics  for Prometheus; /healthz")?;
    }
    writeln!(out, "with the configuration {}", config.display())?;
    if let (Some(development), false) = (development, args.check) {
        let state = match &args.state {
            Some(state) => format!(" --state {}", state.display()),
            None => String::new(),
        };
        writeln!(
            out,
            "\nFrom another shell:\n  \
             oarlock call{state} keys\n  \
             echo hello > hello.txt\n  \
             oarlock call{state} sign --key rsa2048 --in hello.txt --out hello.sig\n  \
             oarlock call{state} public-key rsa2048 --out rsa2048.pub\n  \
             openssl dgst -sha256 -verify rsa2048.pub -signature hello.sig hello.txt\n  \
             oarlock load{state} --seconds 2\n\
             Over TLS, as {CLIENT}: --server https://{} (certificates in {})",
            addresses.tcp.map(|address| address.to_string()).unwrap_or_default(),
            development.ca().parent().unwrap_or(Path::new("")).display(),
        )?;
    }
    out.flush()
}
