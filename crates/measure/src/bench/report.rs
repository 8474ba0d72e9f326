//! Rows of numbers as table and JSON.

use serde::Serialize;

use super::plan::{Measure, Provider, RowName};
use crate::table::{Align, Cell, Table, duration, si, thousands};

/// What one provider gave in all turns together.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: RowName,
    pub(super) provider: Provider,
    pub(super) connections: usize,
    /// Worker processes of the TLS server.
    pub(super) workers: u32,
    /// Of each turn.
    pub(super) seconds: f64,
    pub(super) turns: u32,
    pub(super) handshakes: u64,
    /// CPU time of all processes on the servers' side for these handshakes.
    pub(super) server_cpu_us: u64,
    /// The cryptoserver's part of it, where there is one.
    pub(super) cryptoserver_cpu_us: Option<u64>,
    pub(super) handshakes_per_cpu_s: Option<f64>,
    /// From connecting to the end of the handshake.
    pub(super) p50_us: f64,
    /// To the default of the same name: larger is better.
    pub(super) ratio: Option<f64>,
    pub(super) ratio_of: Measure,
}

/// Returns the heading and the table.
pub(super) fn to_text(rows: &[Row], in_colour: bool) -> String {
    let heading = "TLS 1.3 handshakes without resumption; CPU: of all processes of the server together, on one core;\n\
                   ratio: to the default in the same turn, by handshakes per CPU second, or by latency if it is marked\n";
    heading.to_owned() + &table(rows).render(in_colour)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        ("row", Align::Left),
        ("provider", Align::Left),
        ("load", Align::Right),
        ("handshakes", Align::Right),
        ("/CPU s", Align::Right),
        ("CPU each", Align::Right),
        ("p50", Align::Right),
        ("ratio", Align::Right),
    ]);
    for row in rows {
        let or = |value: Option<f64>, text: &dyn Fn(f64) -> String| {
            value.map_or_else(Cell::none, |value| text(value).into())
        };
        let mark = if row.ratio_of == Measure::Latency { " latency" } else { "" };
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
