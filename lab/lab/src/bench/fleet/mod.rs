//! Cryptoservers behind one name, which are restarted, killed, added and removed while clients use them.
//!
//! | module | content |
//! |---|---|
//! | `servers` | the servers, and the name that stands for them |
//! | `load` | the clients, and what they have seen in a phase |
//! | `report` | table and JSON |

mod load;
mod report;
mod servers;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clap::Args;
use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, progress};
use oarlock_wire::ServerReport;

use self::load::FleetLoad;
use self::report::{FleetPhase, FleetRow};
use self::servers::FleetServers;
use super::BenchError;
use super::directory::BenchDirectory;

/// Arguments of `oarlock bench fleet`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
                  oarlock bench fleet\n  \
                  oarlock --json bench fleet --servers 3 --rate 1000 --seconds 20 >fleet.json\n\n\
                  The servers run on this machine, each with one thread and the same P-256 key, behind one name. Clients sign \
                  through one holder, one operation each at a time. Phases:\n  \
                  calm        nothing happens\n  \
                  restarts    each server ends at SIGTERM and is started again at another address, one after the other\n  \
                  kill        a server is killed with SIGKILL; the name has its address for two more seconds\n  \
                  added       a new server joins; share is its part of the operations in the second half of the phase\n  \
                  removed     a server that runs on leaves the name; share as above\n\
                  Exit code 1 if an operation failed.")]
pub(super) struct FleetArgs {
    /// Number of servers at the start, 2 to 16
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=16))]
    servers: u8,
    /// Number of clients, each a thread with one operation at a time, 1 to 1024
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    clients: u16,
    /// Operations per second of all clients together, 1 to 1000000
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: u32,
    /// Seconds of each phase, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 12.0)]
    seconds: f64,
    /// Keep keys, configurations and logs in this directory, which must be empty or new
    #[arg(long, value_name = "DIR")]
    keep: Option<std::path::PathBuf>,
}

/// The time for which a name has the address of a killed server.
const STALE: Duration = Duration::from_secs(2);

/// Runs the phases. Fails if an operation failed.
pub(super) fn run(global: &GlobalOptions, args: &FleetArgs) -> Result<(), BenchError> {
    if !(args.seconds.is_finite() && (1.0..=3600.0).contains(&args.seconds)) {
        return Err(BenchError::Usage("--seconds: expected 1 to 3600"));
    }
    let directory = BenchDirectory::new(args.keep.as_deref())?;
    let mut fleet = FleetServers::start(global, &directory, args.servers.into())?;
    let load = FleetLoad::start(&fleet.names(), args.clients.into(), args.rate)?;
    let phases = FleetPhase::ALL;
    let bar = progress::bar(phases.len() as u64, super::BAR);
    let mut rows = Vec::new();
    for phase in phases {
        bar.set_message(phase.name());
        load.begin_phase();
        let began = Instant::now();
        let half = Duration::from_secs_f64(args.seconds / 2.0);
        let watched = disturb(&mut fleet, phase, half * 2)?;
        // The second half shows the share of a server after the clients have had time to learn of the change.
        wait_until(began + half);
        let before = load.servers();
        wait_until(began + 2 * half);
        let share = watched.map(|address| share(address, &before, &load.servers()));
        rows.push(FleetRow::new(phase, load.end_phase(), began.elapsed(), fleet.len(), share));
        fleet.check()?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    drop(load);
    print_report(global.json, &rows, |in_colour| report::to_text(&rows, args, in_colour))?;
    let failed = rows.iter().map(|row| row.failed).sum();
    match rows.iter().find_map(|row| row.first_failure.clone()) {
        Some(first) => Err(BenchError::Fleet { failed, first }),
        None => Ok(()),
    }
}

/// Does what the phase is about, and returns the address of the server whose share is of interest.
fn disturb(
    fleet: &mut FleetServers,
    phase: FleetPhase,
    length: Duration,
) -> Result<Option<SocketAddr>, BenchError> {
    match phase {
        FleetPhase::Calm => Ok(None),
        FleetPhase::Restarts => {
            let began = Instant::now();
            let count = fleet.len() as u32;
            for turn in 0..count {
                fleet.restart_oldest()?;
                // Evenly spread over the phase.
                wait_until(began + length / count * (turn + 1));
            }
            Ok(None)
        }
        FleetPhase::Kill => {
            fleet.kill_oldest()?;
            wait_until(Instant::now() + STALE);
            fleet.replace_killed()?;
            Ok(None)
        }
        FleetPhase::Added => fleet.add().map(Some),
        FleetPhase::Removed => Ok(Some(fleet.remove_oldest_from_name())),
    }
}

/// Returns the part of the operations between two readings that a server answered.
fn share(address: SocketAddr, before: &[ServerReport], after: &[ServerReport]) -> f64 {
    let answered = |reports: &[ServerReport], address: &str| {
        reports.iter().find(|report| report.address == address).map_or(0, |report| report.answered)
    };
    let (mut of_server, mut all) = (0, 0);
    for report in after {
        let answers = report.answered - answered(before, &report.address).min(report.answered);
        all += answers;
        if report.address.ends_with(&format!(" at {address}")) {
            of_server += answers;
        }
    }
    if all == 0 { 0.0 } else { of_server as f64 / all as f64 }
}

fn wait_until(time: Instant) {
    while let Some(left) = time.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        std::thread::park_timeout(left);
    }
}
