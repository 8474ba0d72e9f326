//! Providers in turns: a machine's speed changes between turns, so what is compared is of one turn.

use super::args::TlsArgs;
use super::plan::{Measure, Program, RowName};
use super::report::Row;
use crate::statistics::median;

/// CPU time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuUse {
    /// Of all processes on the servers' side.
    pub(super) server_us: u64,
    /// The cryptoserver's part of it, where there is one.
    pub(super) cryptoserver_us: Option<u64>,
}

/// What one provider gave in one turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct TlsTurn {
    pub(super) handshakes: u64,
    pub(super) cpu: CpuUse,
    /// The median latency of a handshake.
    pub(super) p50_us: f64,
}

impl CpuUse {
    pub(super) fn since(&self, before: &Self) -> Self {
        let cryptoserver = self.cryptoserver_us.zip(before.cryptoserver_us);
        Self {
            server_us: self.server_us.saturating_sub(before.server_us),
            cryptoserver_us: cryptoserver.map(|(after, before)| after.saturating_sub(before)),
        }
    }
}

impl TlsTurn {
    /// What it is compared by: larger is better.
    fn merit(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Cpu => self.handshakes as f64 / self.cpu.server_us as f64,
            Measure::Latency => 1.0 / self.p50_us,
        }
    }
}

/// A row for each provider of a name; `turns` are by provider.
pub(super) fn rows(name: RowName, args: &TlsArgs, turns: &[Vec<TlsTurn>]) -> Vec<Row> {
    let Some(default) = turns.first() else { return Vec::new() };
    let row = |(provider, own): (_, &Vec<TlsTurn>)| {
        let handshakes: u64 = own.iter().map(|turn| turn.handshakes).sum();
        let server_cpu_us: u64 = own.iter().map(|turn| turn.cpu.server_us).sum();
        Row {
            name,
            provider,
            connections: args.connections(name),
            workers: if name.program() == Program::Nginx { args.workers } else { 1 },
            seconds: args.seconds,
            turns: args.turns,
            handshakes,
            server_cpu_us,
            cryptoserver_cpu_us: own.iter().map(|turn| turn.cpu.cryptoserver_us).sum(),
            handshakes_per_cpu_s: finite(handshakes as f64 * 1e6 / server_cpu_us as f64),
            p50_us: median(own.iter().map(|turn| turn.p50_us)).unwrap_or(f64::NAN),
            ratio: ratio(name.measure(), default, own),
            ratio_of: name.measure(),
        }
    };
    name.providers().iter().copied().zip(turns).map(row).collect()
}

/// The median over turns; None where a turn was too short for the clock of processes.
fn ratio(measure: Measure, default: &[TlsTurn], own: &[TlsTurn]) -> Option<f64> {
    let ratio = |(default, own): (&TlsTurn, &TlsTurn)| own.merit(measure) / default.merit(measure);
    median(default.iter().zip(own).map(ratio)).and_then(finite)
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(handshakes: u64, server_us: u64, p50_us: f64) -> TlsTurn {
        TlsTurn { handshakes, cpu: CpuUse { server_us, cryptoserver_us: None }, p50_us }
    }

    #[test]
    fn ratios_are_of_one_turn() {
        // The machine is half as fast in the second turn.
        let default = [turn(128, 1024, 16.0), turn(128, 2048, 32.0), turn(128, 1024, 16.0)];
        let own = [turn(256, 1024, 8.0), turn(256, 2048, 16.0), turn(192, 1024, 12.0)];
        assert_eq!(ratio(Measure::Cpu, &default, &default), Some(1.0));
        assert_eq!(ratio(Measure::Cpu, &default, &own), Some(2.0));
        assert_eq!(ratio(Measure::Latency, &default, &own), Some(2.0));
    }

    #[test]
    fn what_the_clock_did_not_see_has_no_ratio() {
        assert_eq!(ratio(Measure::Cpu, &[turn(1, 0, 1.0)], &[turn(1, 0, 1.0)]), None);
    }

    #[test]
    fn a_part_of_the_time_is_the_cryptoservers() {
        let before = CpuUse { server_us: 100, cryptoserver_us: Some(30) };
        let after = CpuUse { server_us: 180, cryptoserver_us: Some(70) };
        assert_eq!(after.since(&before), CpuUse { server_us: 80, cryptoserver_us: Some(40) });
        assert_eq!(after.since(&CpuUse::default()).cryptoserver_us, None);
    }
}
