//! `oarlock milter`: the mail filter.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use oarlock_mailfilter::{
    FilterConfig, FilterConfigError, FilterService, FilterServiceError, RotationWarning, SigningKeyFault,
};
use oarlock_milter::MilterSocket;
use oarlock_network::PassedSockets;
use oarlock_service_kit::signals::{Hangups, ready_until, stop_signal};
use oarlock_terminal::table::count;
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions};
use tokio::runtime::Runtime;

use crate::key_records::{self, SourceError};
use crate::runtime::{raise_open_files, run_future};
use crate::serve::{LogFormat, harden, log};

/// Arguments of `oarlock milter`.
#[derive(Args, Debug)]
#[command(
    after_help = "Without --config it listens at unix:/run/oarlock-milter/milter.sock, verifies, and signs nothing.\n\
                  SIGHUP reloads the configuration, the signing table and the keys; invalid ones are rejected, and the\n\
                  old ones stay. SIGTERM and SIGINT drain: current messages are finished. SIGUSR1 and SIGUSR2 do nothing.\n\n\
                  Examples: oarlock milter --config /etc/oarlock/milter.toml --check\n          \
                  oarlock milter --config /etc/oarlock/milter.toml\n\
                  Postfix: smtpd_milters = unix:/run/oarlock-milter/milter.sock (docs/milter.md)\n\n\
                  Rotation by date, without a reload on the day:\n  \
                  1. oarlock dkim keygen example.com s2 --out s2.pem; publish the record that it prints.\n  \
                  2. In the signing table end the old line and begin the new one: until=2026-07-01, from=2026-07-01.\n  \
                  3. oarlock milter --config FILE --check warns until DNS has the record of s2, and of days without a key.\n  \
                  4. On 2026-07-01, 00:00 UTC, the filter signs with s2. Keep the record of the old key for a week.\n\
                  `oarlock dkim import` takes over the settings and tables of OpenDKIM."
)]
pub(crate) struct MilterArgs {
    /// Configuration file; docs/milter.toml is an example [default: every setting has its default]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the configuration, the signing table, every key and the records of coming selectors, print what would be
    /// done, and exit
    #[arg(long)]
    check: bool,
    /// Read key records from this file instead of DNS: lines of a zone file, or lines of a name and a record
    #[arg(long, value_name = "FILE")]
    keys_file: Option<PathBuf>,
    /// Form of the log on stderr
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    log: LogFormat,
}

/// An error of `oarlock milter`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MilterError {
    #[error(transparent)]
    FilterConfig(#[from] FilterConfigError),
    #[error(transparent)]
    FilterService(#[from] FilterServiceError),
    #[error(transparent)]
    Records(#[from] SourceError),
    #[error("{}", list(.0))]
    Keys(Vec<SigningKeyFault>),
    #[error("LISTEN_FDS: expected listening sockets of TCP or UNIX: {0}")]
    Passed(io::Error),
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for MilterError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::FilterConfig(_) | Self::Keys(_) => FailureKind::Usage,
            Self::Records(error) => error.kind(),
            Self::FilterService(
                FilterServiceError::Server(_) | FilterServiceError::Metrics(_) | FilterServiceError::Start(_),
            ) => FailureKind::Machine,
            Self::FilterService(FilterServiceError::Holders(error)) if error.is_machines() => {
                FailureKind::Machine
            }
            Self::FilterService(_) => FailureKind::Usage,
            Self::Runtime(_) | Self::Passed(_) => FailureKind::Machine,
            Self::Stdout(error) => FailureKind::of_stdout(error),
        }
    }
}

fn list(faults: &[SigningKeyFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

pub(crate) fn run(global: &GlobalOptions, args: &MilterArgs) -> Result<(), MilterError> {
    let config = read(global, args)?;
    log(args.log, global.verbose);
    // A few files are not connections: listeners, logs, keys that are being read.
    raise_open_files(config.limits.max_connections.saturating_add(32));
    // Before a key is read.
    harden(args.check);
    let runtime = Runtime::new().map_err(MilterError::Runtime)?;
    run_future(&runtime, async {
        if args.check {
            return check(global, args, &config).await;
        }
        // From now on the signals are handled: before, they would end the process, whose self tests take some seconds.
        let hangups = Hangups::handle();
        let service = open(global, args, &config).await?;
        let bound = service.bind_passed(PassedSockets::from_env().map_err(MilterError::Passed)?).await?;
        // A supervisor that hears that the filter is ready may stop it at once.
        let stopped = stop_signal();
        let sockets: Vec<String> = bound.sockets().iter().map(MilterSocket::to_string).collect();
        announce(args, &sockets, bound.metrics());
        if global.json || args.log == LogFormat::Text {
            say(global, args, &service, &sockets, bound.metrics(), &[])?;
        }
        let reload = async || match read(global, args) {
            // The service logs the outcome.
            Ok(config) => drop(service.reconfigure(config).await),
            Err(error) => service.refuse_settings(&error),
        };
        bound.run(ready_until(stopped, hangups, reload)).await;
        Ok(())
    })
}

/// Reads the configuration file. Engines of the command line count if the configuration names none.
fn read(global: &GlobalOptions, args: &MilterArgs) -> Result<FilterConfig, FilterConfigError> {
    let mut config = match &args.config {
        Some(path) => FilterConfig::read(path)?,
        None => FilterConfig::default(),
    };
    config.engines.allowed = config.engines.allowed.or_else(|| global.engine_names());
    Ok(config)
}

async fn open(
    global: &GlobalOptions,
    args: &MilterArgs,
    config: &FilterConfig,
) -> Result<FilterService, MilterError> {
    let patience = Duration::from_millis(config.dns.timeout_ms);
    let lookups =
        key_records::open(args.keys_file.as_deref(), &config.name_servers()?, patience, config.validators())?;
    // A check computes little, and what is wrong with a setting is to be said at once.
    let engines = if args.check { global.builder().lazy() } else { global.builder() };
    Ok(FilterService::open(config.clone(), engines, lookups).await?)
}

/// Checks the configuration and every key, and prints what would be done.
async fn check(global: &GlobalOptions, args: &MilterArgs, config: &FilterConfig) -> Result<(), MilterError> {
    let service = open(global, args, config).await?;
    let faults = service.check_keys().await;
    if !faults.is_empty() {
        return Err(MilterError::Keys(faults));
    }
    let warnings = service.check_rotation().await;
    for warning in &warnings {
        eprintln!("oarlock: warning: {warning}");
    }
    Ok(say(global, args, &service, &config.listen.sockets, config.listen.metrics, &warnings)?)
}

/// Logs the addresses.
fn announce(args: &MilterArgs, sockets: &[String], metrics: Option<SocketAddr>) {
    let config = args.config.as_deref().unwrap_or(Path::new("defaults")).display();
    for address in sockets {
        tracing::info!(kind = "milter", address, %config, "listening");
    }
    if let Some(address) = metrics {
        tracing::info!(kind = "metrics", %address, %config, "listening");
    }
}

fn say(
    global: &GlobalOptions,
    args: &MilterArgs,
    service: &FilterService,
    sockets: &[String],
    metrics: Option<SocketAddr>,
    warnings: &[RotationWarning],
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let (name, lines) = (service.authserv_id(), service.signing_lines());
    if global.json {
        let mut value = serde_json::json!({
            "config": args.config, "sockets": sockets, "authserv_id": name, "signing_lines": lines,
            "metrics": metrics,
        });
        if args.check {
            value["warnings"] = warnings.iter().map(ToString::to_string).collect();
        }
        writeln!(out, "{value}")?;
        return out.flush();
    }
    writeln!(out, "oarlock {} as {name}", if args.check { "would filter mail" } else { "filters mail" })?;
    for socket in sockets {
        writeln!(out, "  {socket}")?;
    }
    if let Some(address) = metrics {
        writeln!(out, "  http://{address}/metrics  for Prometheus; /healthz")?;
    }
    writeln!(out, "  {} in the signing table", count(lines as u64, "line"))?;
    let config = args.config.as_deref().unwrap_or(Path::new("defaults"));
    writeln!(out, "with the configuration\n  {}", config.display())?;
    out.flush()
}
