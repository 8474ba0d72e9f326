//! Rows of a siege as table and JSON.

use std::time::Duration;

use oarlock_terminal::table::{CellTone, TableCell, TextTable};
use serde::Serialize;

use super::SiegeArgs;
use super::attack::Attack;

/// The result of one attack.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SiegeRow {
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
    /// The time until memory was within 1.5 times of that at the start. None if it stayed above.
    recovery_s: Option<f64>,
    /// The violations of limits.
    pub(super) faults: Vec<String>,
}

impl SiegeRow {
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
    // The smallest time that at least this share of the answers did not exceed.
    let at = ((times.len() as f64 * share).ceil() as usize).saturating_sub(1).min(last);
    times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// Returns the heading, the table, and what is wrong in each row.
pub(super) fn to_text(rows: &[SiegeRow], args: &SiegeArgs, in_colour: bool) -> String {
    let mut text = format!(
        "One honest client, Ed25519 one at a time over TLS, beside attackers for {} s each: its latency in ms, memory of the\n\
         server in MiB, seconds until memory is back\n",
        args.seconds
    );
    let mut table = TextTable::with_columns(
        ["attack"],
        ["answers", "failed", "calm p99", "p50", "p99", "max", "start", "peak", "bound", "back"],
    );
    for row in rows {
        let (ms, mib) =
            (|ms: f64| TableCell::from(format!("{ms:.1}")), |mib: f64| TableCell::from(format!("{mib:.0}")));
        table.row([
            row.name.into(),
            row.answers.to_string().into(),
            row.failures.to_string().into(),
            ms(row.calm_p99_ms),
            ms(row.p50_ms),
            ms(row.p99_ms),
            ms(row.max_ms),
            mib(row.start_mib),
            mib(row.peak_mib),
            mib(row.bound_mib),
            row.recovery_s
                .map_or_else(|| TableCell::toned("never", CellTone::Bad), |s| format!("{s:.1}").into()),
        ]);
    }
    text += &table.render(in_colour);
    for row in rows {
        row.faults.iter().for_each(|fault| text += &format!("{}: {fault}\n", row.name));
    }
    text
}
