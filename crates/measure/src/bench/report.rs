//! Rows of numbers as table and JSON.

use serde::Serialize;

use super::plan::{RatioBasis, TlsProvider, TlsRowName};
use crate::table::{CellAlign, TableCell, TextTable, duration, si, thousands};

/// The result of one provider in all turns together.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TlsRow {
    pub(super) name: TlsRowName,
    pub(super) provider: TlsProvider,
    pub(super) connections: usize,
    /// The number of worker processes of the TLS server.
    pub(super) workers: u32,
    /// The length of each turn.
    pub(super) seconds: f64,
    pub(super) turns: u32,
    pub(super) handshakes: u64,
    /// The CPU time of all server processes for these handshakes.
    pub(super) server_cpu_us: u64,
    /// The cryptoserver's part of it, if there is one.
    pub(super) cryptoserver_cpu_us: Option<u64>,
    pub(super) handshakes_per_cpu_s: Option<f64>,
    /// From connecting to the end of the handshake.
    pub(super) p50_us: f64,
    /// The ratio to the default of the same name: larger is better.
    pub(super) ratio: Option<f64>,
    pub(super) ratio_of: RatioBasis,
}

/// Returns the heading and the table.
pub(super) fn to_text(rows: &[TlsRow], in_colour: bool) -> String {
    let heading = "TLS 1.3 handshakes without resumption; CPU: of all processes of the server together, on one core;\n\
                   ratio: to the default in the same turn, by handshakes per CPU second, or by latency if it is marked\n";
    heading.to_owned() + &table(rows).render(in_colour)
}

fn table(rows: &[TlsRow]) -> TextTable {
    let mut table = TextTable::new([
        ("row", CellAlign::Left),
        ("provider", CellAlign::Left),
        ("load", CellAlign::Right),
        ("handshakes", CellAlign::Right),
        ("/CPU s", CellAlign::Right),
        ("CPU each", CellAlign::Right),
        ("p50", CellAlign::Right),
        ("ratio", CellAlign::Right),
    ]);
    for row in rows {
        let or = |value: Option<f64>, text: &dyn Fn(f64) -> String| {
            value.map_or_else(TableCell::none, |value| text(value).into())
        };
        let mark = if row.ratio_of == RatioBasis::Latency { " latency" } else { "" };
        table.row([
            row.name.to_string().into(),
            row.provider.to_string().into(),
            format!("{} on {}", row.connections, row.workers).into(),
            thousands(row.handshakes).into(),
            or(row.handshakes_per_cpu_s, &si),
            or(row.handshakes_per_cpu_s, &|rate| duration(1.0 / rate)),
            duration(row.p50_us / 1e6).into(),
            or(row.ratio, &|ratio| format!("{ratio:.3}{mark}")),
        ]);
    }
    table
}
