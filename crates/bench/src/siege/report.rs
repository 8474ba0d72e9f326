//! Rows of a siege as table and JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::attack::Attack;
use super::{SiegeArgs, SiegeError};

/// The result of one attack.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    name: &'static str,
    /// Answers that the honest client got during the attack.
    answers: usize,
    failures: usize,
    calm_p99_ms: f64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    start_mib: f64,
    peak_mib: f64,
    bound_mib: f64,
    /// Until memory was within 1.5 times of that at the start; none if it stayed.
    recovery_s: Option<f64>,
    /// Everything that is not as it should be.
    pub(super) faults: Vec<String>,
}

impl Row {
    pub(super) fn new(
        attack: Attack,
        [before, during]: [Vec<Duration>; 2],
        failures: Vec<String>,
        [start_kb, peak_kb, bound_kb]: [u64; 3],
        recovery: Option<Duration>,
        args: &SiegeArgs,
    ) -> Self {
        let mib = |kb: u64| kb as f64 / 1024.0;
        let mut row = Self {
            name: attack.name(),
            answers: during.len(),
            failures: failures.len(),
            calm_p99_ms: quantile(before, 0.99),
            p50_ms: quantile(during.clone(), 0.5),
            p99_ms: quantile(during.clone(), 0.99),
            max_ms: quantile(during, 1.0),
            start_mib: mib(start_kb),
            peak_mib: mib(peak_kb),
            bound_mib: mib(bound_kb),
            recovery_s: recovery.map(|recovery| recovery.as_secs_f64()),
            faults: Vec::new(),
        };
        row.faults = row.judge(&failures, args);
        row
    }

    fn judge(&self, failures: &[String], args: &SiegeArgs) -> Vec<String> {
        let mut faults = Vec::new();
        if let Some(first) = failures.first() {
            faults.push(format!("{} honest requests failed, the first: {first}", failures.len()));
        }
        if self.answers == 0 {
            faults.push("the honest client got no answer".to_owned());
        }
        if self.p99_ms > args.max_p99_ms {
            faults.push(format!("p99 is {:.1} ms, allowed are {} ms", self.p99_ms, args.max_p99_ms));
        }
        if self.peak_mib > self.bound_mib {
            faults.push(format!(
                "{:.0} MiB of memory, the limits say {:.0} MiB",
                self.peak_mib, self.bound_mib
            ));
        }
        if self.recovery_s.is_none() {
            let allowed = args.max_recovery_seconds;
            faults.push(format!("memory is not within 1.5 times of that at the start after {allowed} s"));
        }
        faults
    }
}

fn quantile(mut times: Vec<Duration>, share: f64) -> f64 {
    times.sort_unstable();
    let last = times.len().saturating_sub(1);
    let at = ((times.len() as f64 * share).ceil() as usize).saturating_sub(1).min(last);
    times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

pub(super) fn print(rows: &[Row], args: &SiegeArgs, as_json: bool) -> Result<(), SiegeError> {
    let mut out = io::stdout().lock();
    if as_json {
        let text = serde_json::to_string(rows).map_err(io::Error::other)?;
        return Ok(writeln!(out, "{text}")?);
    }
    writeln!(
        out,
        "One honest client, Ed25519 one at a time over TLS, beside attackers for {} s each: its latency in ms, memory of the \
         server in MiB, seconds until memory is back",
        args.seconds
    )?;
    writeln!(
        out,
        "{:<18} {:>7} {:>6} {:>8} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6} {:>6}",
        "attack", "answers", "failed", "calm p99", "p50", "p99", "max", "start", "peak", "bound", "back"
    )?;
    for row in rows {
        let back = row.recovery_s.map_or_else(|| "never".to_owned(), |seconds| format!("{seconds:.1}"));
        writeln!(
            out,
            "{:<18} {:>7} {:>6} {:>8.1} {:>7.1} {:>7.1} {:>7.1} {:>6.0} {:>6.0} {:>6.0} {back:>6}",
            row.name,
            row.answers,
            row.failures,
            row.calm_p99_ms,
            row.p50_ms,
            row.p99_ms,
            row.max_ms,
            row.start_mib,
            row.peak_mib,
            row.bound_mib
        )?;
        for fault in &row.faults {
            writeln!(out, "  {}: {fault}", row.name)?;
        }
    }
    Ok(out.flush()?)
}
