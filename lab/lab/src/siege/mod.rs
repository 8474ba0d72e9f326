//! An honest client beside attackers: its latency, its failures, and the memory of the server.
//!
//! Each attack runs against a cryptoserver of its own, in a process of its own, with small limits. Some run against a
//! proxy in front of it, or against a mail filter, in the same process. The honest client signs with Ed25519 on
//! connections of its own, under its own certificate, or sends mail to the filter. Attackers come over the UNIX socket,
//! over plaintext, or without a certificate of a known authority.
//!
//! | module | content |
//! |---|---|
//! | `attack` | the attacks |
//! | `frames` | requests on a UNIX socket, with or without reading the answers |
//! | `http2` | half-sent calls over HTTP/2 |
//! | `honest` | the client with a small load |
//! | `server` | the cryptoserver, and its memory |
//! | `report` | table and JSON |

mod attack;
mod frames;
mod honest;
mod http2;
mod report;
mod server;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use oarlock_server::config::ConfigError;
use oarlock_server::development::DevelopmentError;
use oarlock_terminal::report::print_report;
use oarlock_terminal::{CommandError, FailureKind, progress};

use self::attack::Attack;
use self::honest::ReferenceClient;
use self::report::SiegeRow;
use self::server::AttackedServer;

/// Arguments of `oarlock-lab siege`.
#[derive(Args, Debug)]
#[command(
    after_help = "Exit code 1 if an honest request failed, waited longer than allowed, or if the server took more memory than its \
                  limits say (docs/cryptoserver/limits.md) or kept it. Attackers and server share the cores of this machine."
)]
pub(crate) struct SiegeArgs {
    /// Attacks, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Attack::ALL)]
    attacks: Vec<Attack>,
    /// Seconds of each attack, up to 3600
    #[arg(long, default_value_t = 8.0)]
    seconds: f64,
    /// Largest p99 latency of the honest client, in milliseconds
    #[arg(long, default_value_t = 50.0, value_name = "MS")]
    max_p99_ms: f64,
    /// Program `oarlock` whose `serve` is attacked [default: the same server within this program]
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Largest time until the server has released its memory, in seconds
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS")]
    max_recovery_seconds: f64,
}

/// An error of a siege.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SiegeError {
    #[error("{0}")]
    Usage(String),
    #[error("{0} attacks hurt the honest client or the machine: see above")]
    Hurt(usize),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Development(#[from] DevelopmentError),
    #[error("the honest client: {0}")]
    Honest(String),
    #[error("a key for the attackers: {0}")]
    Key(#[from] oarlock::keys::KeyError),
}

impl CommandError for SiegeError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Hurt(_) => FailureKind::AnswerNo,
            Self::Usage(_) => FailureKind::Usage,
            _ => FailureKind::Machine,
        }
    }
}

pub(crate) fn run(args: &SiegeArgs, as_json: bool) -> Result<(), SiegeError> {
    for (option, value) in [
        ("--seconds", args.seconds),
        ("--max-p99-ms", args.max_p99_ms),
        ("--max-recovery-seconds", args.max_recovery_seconds),
    ] {
        if !(value.is_finite() && value > 0.0 && value <= 3600.0) {
            return Err(SiegeError::Usage(format!("{option} {value}: expected more than 0, up to 3600")));
        }
    }
    oarlock_service_kit::raise_open_files();
    let bar = progress::bar(args.attacks.len() as u64, "{bar:20} {pos}/{len} {msg} {elapsed}");
    let mut rows = Vec::new();
    for attack in &args.attacks {
        bar.set_message(attack.name());
        rows.push(besiege(*attack, args)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    print_report(as_json, &rows, |in_colour| report::to_text(&rows, args, in_colour))?;
    match rows.iter().filter(|row| !row.faults.is_empty()).count() {
        0 => Ok(()),
        hurt => Err(SiegeError::Hurt(hurt)),
    }
}

/// Runs one attack on a new server.
fn besiege(attack: Attack, args: &SiegeArgs) -> Result<SiegeRow, SiegeError> {
    let program = args.program.as_deref();
    let mut besieged = AttackedServer::start(attack.front(), attack.open_files(), program)?;
    let honest = ReferenceClient::start(&besieged)?;
    let before = honest.wait_for(CALM_REQUESTS);
    let start_kb = besieged.resident_kb()?;
    let ends = Instant::now() + Duration::from_secs_f64(args.seconds);
    let attackers = attack.start(&besieged)?;
    // Answers from before the attack must not improve the times of the attack.
    honest.forget();
    let mut peak_kb = start_kb;
    // On a busy machine the attack continues until the honest client has got its first answer, or given up.
    while Instant::now() < ends || !honest.has_ended_a_request() {
        pause(LOOK);
        peak_kb = peak_kb.max(besieged.resident_kb()?);
    }
    // Read before the attackers stop, for the same reason.
    let during = honest.latencies();
    drop(attackers);
    let recovery = recovery(&besieged, start_kb, args)?;
    let failures = honest.stop();
    besieged.check_alive()?;
    let bound_kb = start_kb + besieged.max_memory_kb();
    Ok(SiegeRow::new(attack, [before, during], failures, [start_kb, peak_kb, bound_kb], recovery, args))
}

/// The number of requests of the honest client before the attack.
const CALM_REQUESTS: usize = 50;

/// The time between two looks at the memory.
const LOOK: Duration = Duration::from_millis(50);

/// Returns the time until the server's memory is near that at the start; None if it takes too long.
fn recovery(
    besieged: &AttackedServer,
    start_kb: u64,
    args: &SiegeArgs,
) -> Result<Option<Duration>, SiegeError> {
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < args.max_recovery_seconds {
        // Allocators keep some memory, so half as much again counts as released.
        if besieged.resident_kb()? * 2 <= start_kb * 3 {
            return Ok(Some(began.elapsed()));
        }
        pause(LOOK);
    }
    Ok(None)
}

/// Waits for this time, or a little less. It only spreads attacks and readings over time.
fn pause(time: Duration) {
    std::thread::park_timeout(time);
}
