//! Rows of numbers as table and JSON.

use oarlock_terminal::table::{CellAlign, TableCell, TextTable, duration, si, thousands};
use serde::Serialize;

use super::handshake::{ClientTlsGroup, ClientTlsVersion, HandshakeKind};
use super::plan::{TlsProvider, TlsRowName};

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
    pub(super) tls: ClientTlsVersion,
    pub(super) group: ClientTlsGroup,
    /// True if the server demanded a certificate from each client.
    pub(super) client_certificates: bool,
    pub(super) handshakes: u64,
    /// The number of them that resumed a session.
    pub(super) resumed: u64,
    /// The CPU time of all server processes for these handshakes.
    pub(super) server_cpu_us: u64,
    /// The cryptoserver's part of it, if there is one.
    pub(super) cryptoserver_cpu_us: Option<u64>,
    pub(super) handshakes_per_cpu_s: Option<f64>,
    /// From connecting to the end of the handshake.
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    /// The ratio of handshakes per CPU second to the default of the same name, and its lowest and highest turn: larger
    /// is better.
    pub(super) ratio: Option<f64>,
    pub(super) ratio_range: Option<[f64; 2]>,
    /// The ratio of the default's median latency to this one, likewise.
    pub(super) latency_ratio: Option<f64>,
    pub(super) latency_ratio_range: Option<[f64; 2]>,
    /// The share of a handshake's CPU time that the group costs beyond X25519, if it is another one.
    pub(super) group_share: Option<f64>,
}

/// Returns the heading and the table.
pub(super) fn to_text(handshake: HandshakeKind, rows: &[TlsRow], in_colour: bool) -> String {
    let mut heading = format!(
        "Handshakes of {handshake}; CPU: of all processes of the server together, on one core;\n\
         ratios: to the default in the same turn, by handshakes per CPU second and by latency; median (lowest-highest)\n"
    );
    if handshake.group != ClientTlsGroup::X25519 {
        heading += "exchange: the group that clients offer; group: the share of a handshake's CPU time that it costs beyond X25519, \
                    in the same turn\n";
    }
    heading + &table(handshake, rows).render(in_colour)
}

fn table(handshake: HandshakeKind, rows: &[TlsRow]) -> TextTable {
    let optional = [
        (handshake.resumes, ("resumed", CellAlign::Right)),
        (handshake.group != ClientTlsGroup::X25519, ("exchange", CellAlign::Left)),
        (handshake.group != ClientTlsGroup::X25519, ("group", CellAlign::Right)),
    ];
    let columns = [
        ("row", CellAlign::Left),
        ("provider", CellAlign::Left),
        ("load", CellAlign::Right),
        ("handshakes", CellAlign::Right),
        ("/CPU s", CellAlign::Right),
        ("CPU each", CellAlign::Right),
        ("p50", CellAlign::Right),
        ("p99", CellAlign::Right),
        ("ratio", CellAlign::Right),
        ("latency ratio", CellAlign::Right),
    ];
    let shown = optional.into_iter().filter_map(|(is_shown, column)| is_shown.then_some(column));
    let mut table = TextTable::new(columns.into_iter().chain(shown));
    for row in rows {
        let mut cells = vec![
            row.name.to_string().into(),
            row.provider.to_string().into(),
            format!("{} on {}", row.connections, row.workers).into(),
            thousands(row.handshakes).into(),
            TableCell::optional(row.handshakes_per_cpu_s, si),
            TableCell::optional(row.handshakes_per_cpu_s, |rate| duration(1.0 / rate)),
            duration(row.p50_us / 1e6).into(),
            duration(row.p99_us / 1e6).into(),
            TableCell::optional(row.ratio.zip(row.ratio_range), with_range),
            TableCell::optional(row.latency_ratio.zip(row.latency_ratio_range), with_range),
        ];
        if handshake.resumes {
            cells.push(format!("{:.1} %", 100.0 * row.resumed as f64 / row.handshakes as f64).into());
        }
        if handshake.group != ClientTlsGroup::X25519 {
            cells.push(row.group.name().into());
            cells.push(TableCell::optional(row.group_share, |share| format!("{:.1} %", 100.0 * share)));
        }
        table.row(cells);
    }
    table
}

fn with_range((ratio, [lowest, highest]): (f64, [f64; 2])) -> String {
    format!("{ratio:.3} ({lowest:.2}-{highest:.2})")
}
