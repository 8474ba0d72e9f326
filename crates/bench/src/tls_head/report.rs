//! Rows of numbers as table and JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::HeadError;

/// What one configuration gave.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) connections: usize,
    pub(super) answers: u64,
    pub(super) rate_per_s: f64,
    /// By the TLS server's CPU time.
    pub(super) rate_per_cpu_s: f64,
    pub(super) server_cpu_us: f64,
    pub(super) cryptoserver_cpu_us: Option<f64>,
    /// To the first row with as many connections, by `rate_per_cpu_s`.
    pub(super) ratio: Option<f64>,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
}

pub(super) fn print(rows: &mut [Row], as_json: bool) -> Result<(), HeadError> {
    compare(rows);
    let mut out = io::stdout().lock();
    if as_json {
        let text = serde_json::to_string_pretty(rows).map_err(io::Error::other)?;
        return Ok(writeln!(out, "{text}")?);
    }
    writeln!(
        out,
        "TLS 1.3 connections, RSA-2048, no resumption: HEAD of 19 bytes, answer of 107; CPU times per connection, ratio to the \
         first row by the TLS server's"
    )?;
    writeln!(
        out,
        "{:<15} {:>11} {:>8} {:>9} {:>9} {:>12} {:>6} {:>9} {:>9}",
        "by", "connections", "/s", "/CPU s", "CPU", "cryptoserver", "ratio", "p50", "p99"
    )?;
    for row in rows {
        writeln!(
            out,
            "{:<15} {:>11} {:>8.0} {:>9.0} {:>6.0} µs {:>12} {:>6} {:>6.2} ms {:>6.2} ms",
            row.name,
            row.connections,
            row.rate_per_s,
            row.rate_per_cpu_s,
            row.server_cpu_us,
            row.cryptoserver_cpu_us.map_or_else(|| "-".to_owned(), |us| format!("{us:.0} µs")),
            row.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
            row.p50_us / 1e3,
            row.p99_us / 1e3,
        )?;
    }
    Ok(out.flush()?)
}

fn compare(rows: &mut [Row]) {
    let firsts = rows.to_vec();
    for row in rows {
        let first = firsts.iter().find(|first| first.connections == row.connections);
        row.ratio = first.map(|first| row.rate_per_cpu_s / first.rate_per_cpu_s);
    }
}
