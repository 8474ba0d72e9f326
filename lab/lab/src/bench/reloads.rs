//! nginx under load while it is reloaded and its workers are killed, as in production.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use oarlock_measure::cores::DividedCores;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{TextTable, duration, thousands};
use oarlock_terminal::{GlobalOptions, progress};
use rustix::process::Signal;
use serde::Serialize;
use tokio::time::{sleep, sleep_until};

use super::args::ReloadsArgs;
use super::client::{EnduranceTally, LostConnection, TlsClients};
use super::directory::BenchDirectory;
use super::handshake::HandshakeKind;
use super::plan::{TlsProvider, TlsRowName};
use super::stack::{ServerSite, ServerStack};
use super::{BAR, BenchError};

/// The result of one provider.
#[derive(Clone, Debug, Serialize)]
struct ReloadRow {
    name: &'static str,
    provider: TlsProvider,
    connections: usize,
    workers: u32,
    seconds: f64,
    handshakes: u64,
    reloads: u32,
    /// The number of workers that were killed.
    killed: u32,
    /// The number of faults of the cryptoserver.
    faults: u32,
    /// The number of times that the provider changed where it computes.
    decisions: usize,
    /// The number of failed connections that were open when a worker was killed.
    cut_off: u64,
    /// The number of all other failed connections.
    failed: u64,
    first_failure: Option<String>,
    /// The memory after the first reload.
    memory_kib_start: u64,
    /// The memory after the last reload.
    memory_kib_end: u64,
}

/// The time that nginx has to replace its workers before its memory is measured.
const SETTLE: Duration = Duration::from_secs(1);

/// Runs the providers one after another. Fails if a connection failed that was not open when a worker was killed.
pub(super) fn run(global: &GlobalOptions, args: &ReloadsArgs) -> Result<(), BenchError> {
    args.check()?;
    let module = args.set_up.module()?;
    let name = TlsRowName::NginxRsa2048;
    if name.program().path().is_none() {
        return Err(BenchError::NotInstalled(name.program()));
    }
    let directory = BenchDirectory::new(args.set_up.keep.as_deref())?;
    let library = directory.link_library(module)?;
    let cores = DividedCores::divide();
    cores.leave();
    let identities = directory.identities(&name.to_string(), name.key_kinds())?;
    let (workers, connections) = (args.workers, args.connections as usize);
    let handshake = HandshakeKind::PLAIN;
    let clients = TlsClients::new(handshake, &identities, None, connections)?;
    let site = ServerSite {
        global,
        library: &library,
        libssl: None,
        cores: &cores,
        workers,
        connections,
        handshake,
    };
    let providers = args.rows();
    let bar = progress::bar(providers.len() as u64 * args.seconds.ceil() as u64, BAR);
    let mut rows = Vec::new();
    let mut failure = None;
    for provider in providers {
        bar.set_message(provider.to_string());
        let mut stack = ServerStack::start(&site, name, &identities, provider)?;
        stack.wait_until_ready(&clients)?;
        let row = endure(args, &clients, &mut stack, &cores, &bar)?;
        let first = row.first_failure.clone().unwrap_or_default();
        if row.failed > 0 {
            failure.get_or_insert(BenchError::Failed { provider, failed: row.failed, first });
        }
        rows.push(row);
    }
    bar.finish_and_clear();
    print_report(global.json, &rows, |in_colour| to_text(&rows, in_colour))?;
    failure.map_or(Ok(()), Err)
}

fn endure(
    args: &ReloadsArgs,
    clients: &TlsClients,
    stack: &mut ServerStack,
    cores: &DividedCores,
    bar: &ProgressBar,
) -> Result<ReloadRow, BenchError> {
    let seconds = Duration::from_secs_f64;
    let (address, length, provider) = (stack.address, seconds(args.seconds), stack.provider);
    let (kills, done) = (Mutex::new(Vec::new()), bar.position());
    let (mut reloads, mut memory_start, mut memory_end) = (0, 0, 0);
    let mut faults = CryptoserverFault::ALL.into_iter().cycle().zip(0..);
    let disturb = async {
        let start = Instant::now();
        let end = start + length;
        let (every, mean) = (seconds(args.reload_every), args.kill_every);
        // Evenly spread around the mean.
        let until_next_kill = || seconds(2.0 * mean * fastrand::f64());
        let until_next_fault = || args.fault_every.map(|mean| seconds(2.0 * mean * fastrand::f64()));
        // The first and the last look at the memory are behind a reload: workers that are as old as each other.
        let (mut reload, mut kill) = (start, start + until_next_kill());
        let mut fault = until_next_fault().map(|until| start + until);
        loop {
            let next = reload.min(kill).min(end).min(fault.unwrap_or(end));
            sleep_until(next.into()).await;
            stack.check()?;
            bar.set_position(done + start.elapsed().as_secs());
            if next >= end {
                break;
            }
            if next == kill {
                // Noted before it happens, so that no connection that it cuts ends earlier.
                let at = Instant::now();
                if stack.kill_worker(|count| fastrand::usize(..count))?.is_some() {
                    kills.lock().unwrap_or_else(PoisonError::into_inner).push(at);
                }
                kill = Instant::now() + until_next_kill();
                continue;
            }
            if Some(next) == fault {
                if let Some((kind, _)) = faults.next() {
                    kind.cause(stack, cores).await?;
                }
                fault = until_next_fault().map(|until| Instant::now() + until);
                continue;
            }
            stack.reload()?;
            reloads += 1;
            reload += every;
            if reloads == 1 {
                sleep_until((Instant::now() + SETTLE).into()).await;
                memory_start = stack.memory_kib()?;
            }
        }
        stack.reload()?;
        reloads += 1;
        sleep_until((Instant::now() + SETTLE).into()).await;
        memory_end = stack.memory_kib()?;
        stack.check()
    };
    let endured = clients.endure(address, length + 2 * SETTLE, disturb)?;
    if let Some(error) = stack.excuse() {
        return Err(error);
    }
    let kills = kills.into_inner().unwrap_or_else(PoisonError::into_inner);
    let EnduranceTally { handshakes, lost } = endured;
    let (cut, failed): (Vec<LostConnection>, Vec<LostConnection>) =
        lost.into_iter().partition(|lost| lost.was_cut(&kills));
    Ok(ReloadRow {
        name: "nginx-rsa2048-reloads",
        provider,
        connections: args.connections as usize,
        workers: args.workers,
        seconds: args.seconds,
        handshakes,
        reloads,
        killed: kills.len() as u32,
        faults: faults.next().map_or(0, |(_, caused)| caused),
        decisions: stack.decisions(),
        cut_off: cut.len() as u64,
        failed: failed.len() as u64,
        first_failure: failed.into_iter().next().map(|lost| lost.reason),
        memory_kib_start: memory_start,
        memory_kib_end: memory_end,
    })
}

/// A fault of a cryptoserver.
#[derive(Clone, Copy, Debug)]
enum CryptoserverFault {
    Stopped,
    Slow,
    Restarted,
}

impl CryptoserverFault {
    const ALL: [Self; 3] = [Self::Stopped, Self::Slow, Self::Restarted];

    /// Causes the fault, for a second if it passes.
    async fn cause(self, stack: &mut ServerStack, cores: &DividedCores) -> Result<(), BenchError> {
        // A slow server has a fifth of its time.
        let (times, stopped, running) = match self {
            Self::Stopped => (1, 1000, 0),
            Self::Slow => (40, 20, 5),
            Self::Restarted => return stack.restart_cryptoserver(cores),
        };
        for _ in 0..times {
            stack.signal_cryptoserver(Signal::STOP)?;
            sleep(Duration::from_millis(stopped)).await;
            stack.signal_cryptoserver(Signal::CONT)?;
            sleep(Duration::from_millis(running)).await;
        }
        Ok(())
    }
}

impl LostConnection {
    /// True if a worker was killed while it was open.
    fn was_cut(&self, kills: &[Instant]) -> bool {
        kills.iter().any(|kill| (self.began..=self.ended).contains(kill))
    }
}

fn to_text(rows: &[ReloadRow], in_colour: bool) -> String {
    let heading =
        "TLS 1.3 handshakes with nginx and RSA-2048 while it is reloaded and its workers are killed\n";
    let mut table = TextTable::with_columns(
        ["provider"],
        [
            "load",
            "time",
            "handshakes",
            "reloads",
            "killed",
            "faults",
            "decisions",
            "cut off",
            "failed",
            "memory",
        ],
    );
    for row in rows {
        table.row([
            row.provider.to_string().into(),
            format!("{} on {}", row.connections, row.workers).into(),
            duration(row.seconds).into(),
            thousands(row.handshakes).into(),
            row.reloads.to_string().into(),
            row.killed.to_string().into(),
            row.faults.to_string().into(),
            row.decisions.to_string().into(),
            row.cut_off.to_string().into(),
            row.failed.to_string().into(),
            format!("{} to {} MiB", row.memory_kib_start >> 10, row.memory_kib_end >> 10).into(),
        ]);
    }
    heading.to_owned() + &table.render(in_colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_connections_open_at_a_kill_were_cut_by_it() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let lost =
            |began, ended| LostConnection { began: at(began), ended: at(ended), reason: String::new() };
        let kills = [at(10), at(20)];
        assert!(lost(5, 10).was_cut(&kills) && lost(10, 11).was_cut(&kills) && lost(1, 90).was_cut(&kills));
        assert!(
            !lost(1, 9).was_cut(&kills) && !lost(11, 19).was_cut(&kills) && !lost(21, 30).was_cut(&kills)
        );
        assert!(!lost(1, 90).was_cut(&[]));
    }
}
