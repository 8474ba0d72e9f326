//! `oarlock serve`: the cryptoserver.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use oarlock_network::{PassedSockets, SocketFileError};
use oarlock_server::development::{CLIENT, Development, DevelopmentError};
use oarlock_server::{Addresses, BoundServer, CryptoserverConfig, CryptoserverError, config::ConfigError};
use oarlock_service_kit::signals::{Hangups, ready_until, stop_signal};
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions, screen};
use tokio::runtime::Runtime;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::runtime::run_future;

/// Arguments of `oarlock serve`.
#[derive(Args, Debug)]
#[command(
    after_help = "Without --config the command sets up a server for trials once, in the directory of --state: an authority, \
                  certificates for the server and one client, sample keys, and the configuration oarlock.toml. It listens at \
                  127.0.0.1:7443 and at oarlock.sock in that directory, shows its state to browsers at http://127.0.0.1:9091, and \
                  prints commands to try.\n\
                  SIGHUP reloads certificates, keys and grants, and opens the audit log again.\n\
                  SIGTERM and SIGINT drain: current requests are answered, new ones rejected.\n\n\
                  Examples: oarlock serve\n          \
                  oarlock serve --config /etc/oarlock/oarlock.toml --check\n          \
                  oarlock serve --config /etc/oarlock/oarlock.toml --log json"
)]
pub(crate) struct ServeArgs {
    /// Configuration file; docs/oarlock.toml is an example [default: oarlock.toml in the directory of --state]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the configuration and its files without changing anything, print what would be served, and exit
    #[arg(long)]
    check: bool,
    /// Directory of the server for trials [default: $XDG_STATE_HOME/oarlock, else ~/.local/state/oarlock]
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "config")]
    state: Option<PathBuf>,
    /// Form of the log on stderr
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines of text
    Text,
    /// One JSON object per line
    Json,
}

/// An error of `oarlock serve`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Development(#[from] DevelopmentError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Server(#[from] CryptoserverError),
    #[error("LISTEN_FDS: expected listening sockets of TCP or UNIX: {0}")]
    Passed(io::Error),
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for ServeError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Config(_) | Self::Development(DevelopmentError::NoDirectory) => FailureKind::Usage,
            Self::Server(CryptoserverError::SocketFile(SocketFileError::NotASocket { .. })) => {
                FailureKind::Usage
            }
            Self::Server(
                CryptoserverError::SocketFile(_) | CryptoserverError::Stopped | CryptoserverError::Listen(_),
            ) => FailureKind::Machine,
            Self::Server(CryptoserverError::Devices(error)) if error.is_machines() => FailureKind::Machine,
            Self::Server(_) => FailureKind::Usage,
            Self::Development(_) | Self::Runtime(_) | Self::Passed(_) => FailureKind::Machine,
            Self::Stdout(error) => FailureKind::of_stdout(error),
        }
    }
}

pub(crate) fn run(global: &GlobalOptions, args: &ServeArgs) -> Result<(), ServeError> {
    let development = match (&args.config, &args.state) {
        (Some(_), _) => None,
        (None, Some(state)) => Some(Development::at(state)),
        (None, None) => Some(Development::of_user()?),
    };
    let path = match (&args.config, &development) {
        (Some(path), _) => path.clone(),
        (None, Some(development)) => development.config(),
        (None, None) => return Err(DevelopmentError::NoDirectory.into()),
    };
    // Before the files of a development server are made: a check changes nothing.
    if args.check {
        return check(global, args, &path);
    }
    log(args.log, global.verbose);
    if let Some(development) = &development
        && development.prepare()?
    {
        tracing::warn!("made keys and certificates for development: do not use them for anything else");
    }
    let config = read(&path, global.engine_names())?;
    oarlock_service_kit::raise_open_files();
    // Before the runtime starts threads, and the next line before a key is read.
    oarlock_service_kit::keep_little_memory();
    harden(false);
    let runtime = Runtime::new().map_err(ServeError::Runtime)?;
    run_future(&runtime, async {
        // From now on the signals are handled: before, they end the process.
        let hangups = Hangups::handle();
        let passed = PassedSockets::from_env().map_err(ServeError::Passed)?;
        let server = BoundServer::bind_passed(config, global.builder(), passed).await?;
        // A supervisor may stop the server as soon as it is ready.
        let stopped = stop_signal();
        let addresses = server.addresses();
        announce(&addresses, &path);
        if global.json || args.log == LogFormat::Text {
            say(global, args, &path, &addresses, development.as_ref())?;
        }
        let reloads = server.reload_handle();
        // A configuration that cannot be read changes nothing.
        let reload = async || match read(&path, global.engine_names()) {
            // The server itself logs the outcome.
            Ok(config) => drop(reloads.reload(config).await),
            Err(error) => tracing::error!(%error, "nothing was reloaded: what was there before stays in use"),
        };
        Ok(server.run(ready_until(stopped, hangups, reload)).await?)
    })
}

/// Reads a configuration. Engines of the command line count if the configuration names none.
fn read(path: &Path, engines: Option<Vec<String>>) -> Result<CryptoserverConfig, ConfigError> {
    let mut config = CryptoserverConfig::read(path)?;
    config.engines.allowed = config.engines.allowed.or(engines);
    Ok(config)
}

/// Checks a configuration without changing anything, and prints what would be served.
fn check(global: &GlobalOptions, args: &ServeArgs, path: &Path) -> Result<(), ServeError> {
    let config = read(path, global.engine_names())?;
    let warnings = oarlock_server::check(&config, global.builder())?;
    for warning in &warnings {
        eprintln!("oarlock: warning: {warning}");
    }
    let max_memory_mib = config.limits.max_memory_bytes().div_ceil(1 << 20);
    let listen = config.listen;
    let addresses = Addresses {
        tcp: listen.tcp,
        plaintext: listen.plaintext,
        unix: listen.unix,
        metrics: listen.metrics,
        dashboard: listen.dashboard,
    };
    say(global, args, path, &addresses, None)?;
    if !global.json {
        writeln!(
            io::stdout(),
            "clients can make it use {max_memory_mib} MiB of memory beyond its own ([limits])"
        )?;
    }
    Ok(())
}

/// Returns the program as a shell finds it: the path by which this process was started if it is not in a directory of
/// PATH, as after `make run`.
fn invoked_program() -> String {
    let program = std::env::args().next().filter(|program| program.contains('/'));
    program.unwrap_or_else(|| "oarlock".to_owned())
}

/// Logs the addresses.
fn announce(addresses: &Addresses, config: &Path) {
    let config = config.display();
    for (kind, address) in [
        ("tls", addresses.tcp),
        ("plaintext", addresses.plaintext),
        ("metrics", addresses.metrics),
        ("dashboard", addresses.dashboard),
    ] {
        if let Some(address) = address {
            tracing::info!(kind, %address, %config, "listening");
        }
    }
    if let Some(path) = &addresses.unix {
        tracing::info!(kind = "unix", address = %path.display(), %config, "listening");
    }
}

pub(crate) fn log(form: LogFormat, is_verbose: bool) {
    // Libraries log each frame at DEBUG.
    let level = if is_verbose { LevelFilter::DEBUG } else { LevelFilter::INFO };
    let targets = Targets::new().with_default(LevelFilter::INFO).with_target("oarlock", level);
    let lines = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_target(false);
    let registry = tracing_subscriber::registry().with(targets);
    match form {
        LogFormat::Text => registry.with(lines.with_ansi(screen::wants_colour_on_stderr())).init(),
        LogFormat::Json => registry.with(lines.json()).init(),
    }
}

/// Keeps keys out of core dumps, and out of swap if the system allows it. The log of a check does not report it: a
/// check ends at once, and the service that is checked may have other rights.
pub(crate) fn harden(is_check: bool) {
    let hardened = oarlock_service_kit::harden();
    if is_check {
        return;
    }
    for done in hardened.done {
        tracing::info!("{done}");
    }
    for warning in hardened.warnings {
        tracing::warn!("{warning}");
    }
}

fn say(
    global: &GlobalOptions,
    args: &ServeArgs,
    config: &Path,
    addresses: &Addresses,
    development: Option<&Development>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if global.json {
        let value = serde_json::json!({
            "config": config, "tcp": addresses.tcp, "plaintext": addresses.plaintext, "unix": addresses.unix,
            "metrics": addresses.metrics, "dashboard": addresses.dashboard,
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
    if let Some(address) = addresses.dashboard {
        writeln!(out, "  http://{address}/  the dashboard, for browsers of this machine")?;
    }
    writeln!(out, "with the configuration\n  {}", config.display())?;
    if let (Some(development), false) = (development, args.check) {
        let program = invoked_program();
        let state = match &args.state {
            Some(state) => format!(" --state {}", state.display()),
            None => String::new(),
        };
        writeln!(
            out,
            "\nFrom another shell, first the keys:\n  \
             {program} call{state} keys\n  \
             echo hello > hello.txt\n  \
             {program} call{state} sign --key rsa2048 --in hello.txt --out hello.sig\n  \
             {program} call{state} public-key rsa2048 --out rsa2048.pub\n  \
             openssl dgst -sha256 -verify rsa2048.pub -signature hello.sig hello.txt\n  \
             {program} load{state} --seconds 2\n\
             Over TLS, as {CLIENT}: --server https://{} with the certificates in\n  {}",
            addresses.tcp.map(|address| address.to_string()).unwrap_or_default(),
            development.ca().parent().unwrap_or(Path::new("")).display(),
        )?;
    }
    out.flush()
}
