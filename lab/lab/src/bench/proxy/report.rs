//! The rows of the report.

use std::time::Duration;

use oarlock_measure::statistics::median;
use serde::Serialize;

use super::super::BenchError;
use super::super::handshake::{ClientTlsGroup, ClientTlsVersion};
use super::super::plan::ServerKeyKind;
use super::args::ProxyBenchArgs;
use super::plan::{ProxyLoad, ProxyName};
use super::turns::{ProxyRatio, ProxyTurn, ratio};

/// The turns of a proxy with one key.
#[derive(Clone, Debug)]
pub(super) struct MeasuredProxy {
    pub(super) name: ProxyName,
    /// The group of its handshakes. None if it was never measured.
    pub(super) group: Option<ClientTlsGroup>,
    /// The turns of each load.
    pub(super) turns: Vec<Vec<ProxyTurn>>,
    /// The reason why the proxy could not be measured, or not to the end.
    pub(super) why_not: Option<String>,
}

/// The unit of a row's amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AmountUnit {
    Handshakes,
    Bytes,
}

/// The result of a proxy with one key and one load in all turns together. The fields are those of the documented JSON.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ProxyRow {
    pub(super) proxy: ProxyName,
    pub(super) key: ServerKeyKind,
    pub(super) load: ProxyLoad,
    pub(super) tls: ClientTlsVersion,
    /// The group that the proxy chose.
    pub(super) group: Option<ClientTlsGroup>,
    /// The number of workers of the proxy.
    pub(super) threads: u32,
    pub(super) connections: usize,
    /// The number of turns that were measured.
    pub(super) turns: usize,
    pub(super) unit: AmountUnit,
    /// The handshakes or bytes of all turns.
    pub(super) amount: u64,
    /// The CPU time of all processes of the proxy for them.
    pub(super) proxy_cpu_us: u64,
    /// The CPU time of the cryptoserver, which is no part of the proxy's.
    pub(super) cryptoserver_cpu_us: Option<u64>,
    /// Per second of elapsed time.
    pub(super) rate_per_s: Option<f64>,
    /// Per second of the proxy's CPU time: the median over turns.
    pub(super) rate_per_cpu_s: Option<f64>,
    /// The share of its core that the proxy used.
    pub(super) core_share: Option<f64>,
    /// From connecting to the end of the handshake: the median over turns.
    pub(super) p50_us: Option<f64>,
    /// The number of handshakes that were resumed.
    pub(super) resumed: Option<u64>,
    /// The number of connections that failed.
    pub(super) errors: u64,
    pub(super) first_error: Option<String>,
    /// Ratios of `rate_per_cpu_s` to every other proxy that was measured.
    pub(super) ratios: Vec<ProxyRatio>,
    pub(super) available: bool,
    pub(super) why_not: Option<String>,
}

impl MeasuredProxy {
    pub(super) fn new(name: ProxyName, loads: usize) -> Self {
        Self { name, group: None, turns: vec![Vec::new(); loads], why_not: None }
    }

    /// Adds a turn of the load with this index.
    pub(super) fn add_turn(&mut self, index: usize, turn: ProxyTurn) {
        if let Some(turns) = self.turns.get_mut(index) {
            turns.push(turn);
        }
    }

    fn turns_at(&self, index: usize) -> &[ProxyTurn] {
        self.turns.get(index).map(Vec::as_slice).unwrap_or_default()
    }
}

impl ProxyRow {
    /// Makes a row without ratios.
    fn new(
        args: &ProxyBenchArgs,
        key: ServerKeyKind,
        load: ProxyLoad,
        proxy: &MeasuredProxy,
        turns: &[ProxyTurn],
    ) -> Self {
        let sum = |number: fn(&ProxyTurn) -> u64| turns.iter().map(number).sum::<u64>();
        let (amount, proxy_cpu_us) = (sum(|turn| turn.amount), sum(|turn| turn.cpu.proxy_us));
        let elapsed: Duration = turns.iter().map(|turn| turn.elapsed).sum();
        let rates: Option<Vec<f64>> = turns.iter().map(ProxyTurn::rate_per_cpu_s).collect();
        let latencies: Option<Vec<f64>> = turns.iter().map(|turn| turn.p50_us).collect();
        let cryptoserver_cpu_us: Option<u64> = turns.iter().map(|turn| turn.cpu.cryptoserver_us).sum();
        let is_of_handshakes = load.is_of_handshakes();
        Self {
            proxy: proxy.name,
            key,
            load,
            tls: args.tls,
            group: proxy.group,
            threads: 1,
            connections: args.connections(),
            turns: turns.len(),
            unit: if is_of_handshakes { AmountUnit::Handshakes } else { AmountUnit::Bytes },
            amount,
            proxy_cpu_us,
            cryptoserver_cpu_us: cryptoserver_cpu_us.filter(|_| !turns.is_empty()),
            rate_per_s: finite(amount as f64 / elapsed.as_secs_f64()),
            rate_per_cpu_s: rates.and_then(median),
            core_share: finite(proxy_cpu_us as f64 / 1e6 / elapsed.as_secs_f64()),
            p50_us: latencies.and_then(median),
            resumed: is_of_handshakes.then(|| sum(|turn| turn.resumed)),
            errors: sum(|turn| turn.errors),
            first_error: turns.iter().find(|turn| turn.errors > 0).map(|turn| turn.first_error.clone()),
            ratios: Vec::new(),
            available: !turns.is_empty(),
            why_not: proxy.why_not.clone(),
        }
    }

    /// Returns the share of handshakes that were resumed, in percent. None if there were no handshakes.
    pub(super) fn resumed_percent(&self) -> Option<f64> {
        let share = 100.0 * self.resumed? as f64 / self.amount as f64;
        Some(share).filter(|share| share.is_finite())
    }

    /// Returns the ratio to another proxy.
    pub(super) fn ratio_to(&self, other: ProxyName) -> Option<&ProxyRatio> {
        self.ratios.iter().find(|ratio| ratio.to == other)
    }
}

/// Makes the rows of one key: those of the first load, then those of the others.
pub(super) fn rows(args: &ProxyBenchArgs, key: ServerKeyKind, proxies: &[MeasuredProxy]) -> Vec<ProxyRow> {
    let mut rows = Vec::new();
    for (index, load) in args.loads().into_iter().enumerate() {
        for proxy in proxies {
            let turns = proxy.turns_at(index);
            let others = proxies.iter().filter(|other| other.name != proxy.name);
            let ratios = others.filter_map(|other| ratio(turns, other.name, other.turns_at(index)));
            rows.push(ProxyRow { ratios: ratios.collect(), ..ProxyRow::new(args, key, load, proxy, turns) });
        }
    }
    rows
}

/// Fails if nothing was measured, or if connections failed.
pub(super) fn check(rows: &[ProxyRow]) -> Result<(), BenchError> {
    let failed: u64 = rows.iter().map(|row| row.errors).sum();
    match rows.iter().find(|row| row.errors > 0) {
        Some(row) => Err(BenchError::ProxyConnections {
            failed,
            name: row.proxy.to_string(),
            first: row.first_error.clone().unwrap_or_default(),
        }),
        None if rows.iter().all(|row| !row.available) => Err(BenchError::NothingMeasured),
        None => Ok(()),
    }
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}
