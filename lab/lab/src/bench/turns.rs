//! Providers in turns. A machine's speed changes between turns, so only results of the same turn are compared.

use oarlock_measure::statistics::median;

use super::args::TlsArgs;
use super::handshake::ClientTlsGroup;
use super::plan::{BenchProgram, TlsProvider, TlsRowName};
use super::report::TlsRow;

/// CPU time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuUse {
    /// The CPU time of all server processes.
    pub(super) server_us: u64,
    /// The cryptoserver's part of it, if there is one.
    pub(super) cryptoserver_us: Option<u64>,
}

/// The result of one provider in one turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct TlsTurn {
    pub(super) handshakes: u64,
    /// The number of them that resumed a session.
    pub(super) resumed: u64,
    pub(super) cpu: CpuUse,
    /// The median latency of a handshake, and the latency that one in a hundred exceeds.
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
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
    /// Returns the CPU time of a handshake in microseconds.
    fn cpu_each_us(&self) -> f64 {
        self.cpu.server_us as f64 / self.handshakes as f64
    }
}

/// The turns of one provider.
#[derive(Debug)]
pub(super) struct ProviderTurns {
    /// The group that its clients offer.
    pub(super) group: ClientTlsGroup,
    pub(super) turns: Vec<TlsTurn>,
    /// The same turns with X25519 alone, if another group is measured.
    pub(super) with_x25519: Vec<TlsTurn>,
}

/// Makes a row for each provider of a name with so many connections; `turns` are by provider.
pub(super) fn rows(
    name: TlsRowName,
    connections: usize,
    args: &TlsArgs,
    turns: &[ProviderTurns],
) -> Vec<TlsRow> {
    let Some(default) = turns.first() else { return Vec::new() };
    let handshake = args.handshake();
    let row = |(provider, turns): (TlsProvider, &ProviderTurns)| {
        let measured = &turns.turns;
        let handshakes: u64 = measured.iter().map(|turn| turn.handshakes).sum();
        let (cpu, latency) = (
            Ratios::of(&default.turns, measured, TlsTurn::cpu_each_us),
            Ratios::of(&default.turns, measured, |turn| turn.p50_us),
        );
        let server_cpu_us: u64 = measured.iter().map(|turn| turn.cpu.server_us).sum();
        TlsRow {
            name,
            provider,
            connections,
            workers: if provider.program(name) == BenchProgram::Nginx { args.workers } else { 1 },
            seconds: args.seconds,
            turns: args.turns,
            tls: handshake.version,
            group: turns.group,
            client_certificates: handshake.has_client_certificates,
            handshakes,
            resumed: measured.iter().map(|turn| turn.resumed).sum(),
            server_cpu_us,
            cryptoserver_cpu_us: measured.iter().map(|turn| turn.cpu.cryptoserver_us).sum(),
            handshakes_per_cpu_s: finite(handshakes as f64 * 1e6 / server_cpu_us as f64),
            p50_us: median(measured.iter().map(|turn| turn.p50_us)).unwrap_or(f64::NAN),
            p99_us: median(measured.iter().map(|turn| turn.p99_us)).unwrap_or(f64::NAN),
            ratio: cpu.map(|ratios| ratios.median),
            ratio_range: cpu.map(|ratios| ratios.range),
            latency_ratio: latency.map(|ratios| ratios.median),
            latency_ratio_range: latency.map(|ratios| ratios.range),
            group_share: group_share(&turns.with_x25519, measured),
        }
    };
    args.providers().into_iter().zip(turns).map(row).collect()
}

/// Ratios to the default in the same turn: larger is better.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ratios {
    median: f64,
    /// The lowest and the highest.
    range: [f64; 2],
}

impl Ratios {
    /// Compares what a handshake costs. None if a turn was too short for the clock of processes.
    fn of(default: &[TlsTurn], measured: &[TlsTurn], cost: impl Fn(&TlsTurn) -> f64) -> Option<Self> {
        let ratio = |(default, turn): (&TlsTurn, &TlsTurn)| finite(cost(default) / cost(turn));
        let ratios: Vec<f64> = default.iter().zip(measured).map(ratio).collect::<Option<_>>()?;
        let range = [ratios.iter().copied().reduce(f64::min)?, ratios.iter().copied().reduce(f64::max)?];
        Some(Self { median: median(ratios)?, range })
    }
}

/// Returns the share of a handshake's CPU time that the group costs beyond X25519, the median over turns. None if
/// X25519 was not measured beside it.
fn group_share(with_x25519: &[TlsTurn], measured: &[TlsTurn]) -> Option<f64> {
    let share = |(x25519, turn): (&TlsTurn, &TlsTurn)| 1.0 - x25519.cpu_each_us() / turn.cpu_each_us();
    median(with_x25519.iter().zip(measured).map(share)).and_then(finite)
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(handshakes: u64, server_us: u64, p50_us: f64) -> TlsTurn {
        TlsTurn {
            handshakes,
            resumed: 0,
            cpu: CpuUse { server_us, cryptoserver_us: None },
            p50_us,
            p99_us: p50_us,
        }
    }

    #[test]
    fn ratios_compare_providers_within_one_turn() {
        // The machine is half as fast in the second turn.
        let default = [turn(128, 1024, 16.0), turn(128, 2048, 32.0), turn(128, 1024, 16.0)];
        let measured = [turn(256, 1024, 8.0), turn(256, 2048, 16.0), turn(192, 1024, 12.0)];
        assert_eq!(
            Ratios::of(&default, &default, TlsTurn::cpu_each_us),
            Some(Ratios { median: 1.0, range: [1.0, 1.0] })
        );
        let expected = Some(Ratios { median: 2.0, range: [1.5, 2.0] });
        assert_eq!(Ratios::of(&default, &measured, TlsTurn::cpu_each_us), expected);
        let expected = Some(Ratios { median: 2.0, range: [16.0 / 12.0, 2.0] });
        assert_eq!(Ratios::of(&default, &measured, |turn| turn.p50_us), expected);
    }

    #[test]
    fn a_groups_share_is_what_a_handshake_costs_beyond_x25519_in_the_same_turn() {
        let with_x25519 = [turn(100, 6000, 1.0), turn(100, 12_000, 1.0), turn(200, 12_000, 1.0)];
        let measured = [turn(100, 8000, 1.0), turn(50, 8000, 1.0), turn(100, 8000, 1.0)];
        assert_eq!(group_share(&with_x25519, &measured), Some(0.25));
        assert_eq!(group_share(&[], &measured), None);
        assert_eq!(group_share(&with_x25519[..1], &[turn(1, 0, 1.0)]), None);
    }

    #[test]
    fn a_turn_without_measurable_cpu_time_has_no_ratio() {
        assert_eq!(Ratios::of(&[turn(1, 0, 1.0)], &[turn(1, 0, 1.0)], TlsTurn::cpu_each_us), None);
    }

    #[test]
    fn the_cryptoservers_cpu_time_is_reported_as_a_part_of_all() {
        let before = CpuUse { server_us: 100, cryptoserver_us: Some(30) };
        let after = CpuUse { server_us: 180, cryptoserver_us: Some(70) };
        assert_eq!(after.since(&before), CpuUse { server_us: 80, cryptoserver_us: Some(40) });
        assert_eq!(after.since(&CpuUse::default()).cryptoserver_us, None);
    }
}
