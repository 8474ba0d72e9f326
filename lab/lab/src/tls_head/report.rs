//! Rows of `tls-head` as text and JSON.

use oarlock_terminal::table::{TableCell, TextTable, duration, si};
use serde::Serialize;

/// The result of one way to sign at one number of connections.
#[derive(Clone, Debug, Serialize)]
pub(super) struct HeadRow {
    pub(super) name: &'static str,
    pub(super) connections: usize,
    pub(super) answers: u64,
    pub(super) rate_per_s: f64,
    /// Answers per second of the TLS server's CPU time.
    pub(super) rate_per_cpu_s: f64,
    pub(super) server_cpu_us: f64,
    pub(super) cryptoserver_cpu_us: Option<f64>,
    /// `rate_per_cpu_s` divided by that of the first row with as many connections.
    pub(super) ratio: Option<f64>,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
}

/// Returns the heading and the table.
pub(super) fn to_text(rows: &[HeadRow], in_colour: bool) -> String {
    let heading = "TLS 1.3 connections, RSA-2048, no resumption: HEAD of 19 bytes, answer of 107; CPU times per connection, ratio\n\
                   to the first row by the TLS server's\n";
    let mut table = TextTable::with_columns(
        ["by"],
        ["connections", "/s", "/CPU s", "CPU", "cryptoserver", "ratio", "p50", "p99"],
    );
    let micros = |us: f64| TableCell::from(duration(us / 1e6));
    for row in rows {
        table.row([
            row.name.into(),
            row.connections.to_string().into(),
            si(row.rate_per_s).into(),
            si(row.rate_per_cpu_s).into(),
            micros(row.server_cpu_us),
            TableCell::optional(row.cryptoserver_cpu_us, micros),
            TableCell::optional(row.ratio, |ratio| format!("{ratio:.2}")),
            micros(row.p50_us),
            micros(row.p99_us),
        ]);
    }
    heading.to_owned() + &table.render(in_colour)
}

/// Sets the ratio of each row to the first row with the same number of connections.
pub(super) fn compare(rows: &mut [HeadRow]) {
    let firsts = rows.to_vec();
    for row in rows {
        let first = firsts.iter().find(|first| first.connections == row.connections);
        row.ratio = first.map(|first| row.rate_per_cpu_s / first.rate_per_cpu_s);
    }
}
