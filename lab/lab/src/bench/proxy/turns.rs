//! Turns of proxies: what they are, and the ratios between proxies in the same turn.

use std::time::Duration;

use oarlock_measure::statistics::median;
use serde::Serialize;

use super::plan::ProxyName;

/// The CPU time until a moment, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProxyCpuUse {
    /// The time of all processes of the proxy.
    pub(super) proxy_us: u64,
    /// The time of its cryptoserver, if it has one. It is no part of the other time.
    pub(super) cryptoserver_us: Option<u64>,
}

/// The result of a proxy in one turn of a load.
#[derive(Clone, Debug, Default)]
pub(super) struct ProxyTurn {
    /// The number of handshakes, or of bytes in bulk.
    pub(super) amount: u64,
    /// The number of handshakes that were resumed.
    pub(super) resumed: u64,
    pub(super) cpu: ProxyCpuUse,
    pub(super) elapsed: Duration,
    /// The median latency of a handshake.
    pub(super) p50_us: Option<f64>,
    pub(super) errors: u64,
    pub(super) first_error: String,
}

/// The ratio of a proxy to another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ProxyRatio {
    pub(super) to: ProxyName,
    /// The median over turns. Larger is better for the proxy of the row.
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl ProxyCpuUse {
    pub(super) fn since(&self, before: &Self) -> Self {
        let cryptoserver = self.cryptoserver_us.zip(before.cryptoserver_us);
        Self {
            proxy_us: self.proxy_us.saturating_sub(before.proxy_us),
            cryptoserver_us: cryptoserver.map(|(after, before)| after.saturating_sub(before)),
        }
    }
}

impl ProxyTurn {
    /// Returns the handshakes or bytes per second of the proxy's CPU time. None if the turn was too short for the clock
    /// of processes.
    pub(super) fn rate_per_cpu_s(&self) -> Option<f64> {
        let rate = self.amount as f64 * 1e6 / self.cpu.proxy_us as f64;
        Some(rate).filter(|rate| rate.is_finite() && *rate > 0.0)
    }
}

/// Returns the ratio of `turns` to the turns of another proxy, turn by turn. None if a turn has no rate.
pub(super) fn ratio(turns: &[ProxyTurn], to: ProxyName, other: &[ProxyTurn]) -> Option<ProxyRatio> {
    let each =
        |(turn, other): (&ProxyTurn, &ProxyTurn)| Some(turn.rate_per_cpu_s()? / other.rate_per_cpu_s()?);
    let ratios: Vec<f64> = turns.iter().zip(other).map(each).collect::<Option<_>>()?;
    Some(ProxyRatio {
        to,
        median: median(ratios.iter().copied())?,
        min: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        max: ratios.iter().copied().fold(0.0, f64::max),
    })
}
