//! `oarlock milter`: the mail filter.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use oarlock_milter::Socket;
use oarlock_milter::dkim::{Config, ConfigError, KeyFault, Service, ServiceError};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::Global;
use crate::key_records::{self, SourceError};
use crate::serve::{Log, harden, log, stopped};

/// Arguments of `oarlock milter`.
#[derive(Args, Debug)]
#[command(after_help = "Without --config it listens at inet:8891@127.0.0.1, verifies, and signs nothing.\n\
                  SIGHUP has the signing table read again. SIGTERM and SIGINT drain: messages under way are finished.")]
pub(crate) struct MilterArgs {
    /// The configuration [default: every setting at its default]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the configuration, the signing table and every key, and say what would be done
    #[arg(long)]
    check: bool,
    /// Key records from this file and not from DNS: zone file lines, or `name record`
    #[arg(long, value_name = "FILE")]
    keys_file: Option<PathBuf>,
    /// How the log on stderr is written
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
}

/// Why no mail is filtered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MilterError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error(transparent)]
    Records(#[from] SourceError),
    #[error("{}", list(.0))]
    Keys(Vec<KeyFault>),
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl MilterError {
    /// True where the user's words or files are wrong, false where the machine failed.
    pub(crate) fn is_users(&self) -> bool {
        match self {
            Self::Config(_) | Self::Keys(_) => true,
            Self::Records(error) => error.is_users(),
            Self::Service(error) => !matches!(
                error,
                ServiceError::Server(_)
                    | ServiceError::Metrics { .. }
                    | ServiceError::Remote(_)
                    | ServiceError::Start(_)
            ),
            _ => false,
        }
    }
}

fn list(faults: &[KeyFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

pub(crate) fn run(global: &Global, args: &MilterArgs) -> Result<(), MilterError> {
    let config = match &args.config {
        Some(path) => Config::read(path)?,
        None => Config::default(),
    };
    log(args.log, global.verbose);
    harden(config.limits.connections);
    let runtime = Runtime::new().map_err(MilterError::Runtime)?;
    runtime.block_on(async {
        let patience = Duration::from_millis(config.dns.timeout_ms);
        let lookups = key_records::open(args.keys_file.as_deref(), &config.name_servers()?, patience)?;
        let service = Service::open(config.clone(), global.builder(), lookups).await?;
        if args.check {
            let faults = service.check_keys().await;
            if !faults.is_empty() {
                return Err(MilterError::Keys(faults));
            }
            let sockets = config.listen.sockets.clone();
            return Ok(say(global, args, &service, &sockets, config.listen.metrics)?);
        }
        let bound = service.bind().await?;
        // Heard from now on: until then the signal would end the process.
        let hangups = tokio::spawn(hear_hangups(signal(SignalKind::hangup()), service.clone()));
        let sockets: Vec<String> = bound.sockets().iter().map(Socket::to_string).collect();
        say(global, args, &service, &sockets, bound.metrics())?;
        bound.run(stopped()).await;
        hangups.abort();
        Ok(())
    })
}

async fn hear_hangups(hangups: io::Result<Signal>, service: Service) {
    let Ok(mut hangups) = hangups else {
        tracing::warn!("SIGHUP cannot be heard: the signing table is read again only when it changes");
        return;
    };
    while hangups.recv().await.is_some() {
        service.reload(true).await;
    }
}

fn say(
    global: &Global,
    args: &MilterArgs,
    service: &Service,
    sockets: &[String],
    metrics: Option<SocketAddr>,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let (name, lines) = (service.authserv_id(), service.signing_lines());
    if global.json {
        let value = serde_json::json!({
            "config": args.config, "sockets": sockets, "authserv_id": name, "signing_lines": lines,
            "metrics": metrics,
        });
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
    writeln!(out, "  {lines} lines in the signing table")?;
    let config = args.config.as_deref().unwrap_or(Path::new("defaults"));
    writeln!(out, "with the configuration {}", config.display())?;
    out.flush()
}
