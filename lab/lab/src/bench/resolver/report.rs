//! Rows as table and JSON.

use oarlock_terminal::table::{TableCell, TextTable, count, duration, ratio, si};
use serde::Serialize;

use super::args::ResolverBenchArgs;
use super::rounds::ResolverRow;

/// The document of `--json`. `oarlock dnssec capacity --overhead-from` reads it.
#[derive(Debug, Serialize)]
pub(super) struct ResolverReport {
    /// The program that measured, with its version.
    pub(super) by: String,
    pub(super) bench: &'static str,
    pub(super) names_per_turn: u32,
    pub(super) turns: u32,
    pub(super) rows: Vec<ResolverRow>,
}

/// The name of this bench in its document.
const BENCH: &str = "resolver";

impl ResolverReport {
    pub(super) fn new(args: &ResolverBenchArgs, rows: Vec<ResolverRow>) -> Self {
        let by = format!("oarlock {}", env!("CARGO_PKG_VERSION"));
        Self { by, bench: BENCH, names_per_turn: args.names, turns: args.turns, rows }
    }

    pub(super) fn to_text(&self, in_colour: bool) -> String {
        let heading = format!(
            "CPU time of a resolver per validated answer, {} of {} that it has not seen;\n\
             unvalidated: the same without a DS record; limit: the ratio if a verification cost nothing\n",
            count(u64::from(self.turns), "turn"),
            count(u64::from(self.names_per_turn), "name"),
        );
        heading + &self.table().render(in_colour)
    }

    fn table(&self) -> TextTable {
        let mut table = TextTable::with_columns(
            ["row", "engine"],
            ["/CPU s", "CPU each", "unvalidated", "verify", "overhead", "ratio", "limit"],
        );
        let mut last = "";
        for row in &self.rows {
            if row.name != last {
                table.row(default_cells(row));
                last = &row.name;
            }
            table.row(cells(row));
        }
        table
    }
}

/// Returns the cells of the default provider beside a row.
fn default_cells(row: &ResolverRow) -> Vec<TableCell> {
    vec![
        row.name.clone().into(),
        row.peer.clone().into(),
        si(row.peer_rate_per_cpu_s).into(),
        microseconds(row.peer_cpu_us),
        microseconds(row.peer_unvalidated_cpu_us),
        optional_microseconds(row.peer_verify_us),
        optional_microseconds(row.peer_overhead_us),
        ratio(1.0).into(),
        TableCell::optional(row.limit, ratio),
    ]
}

fn cells(row: &ResolverRow) -> Vec<TableCell> {
    vec![
        row.name.clone().into(),
        row.engine.clone().into(),
        si(row.rate_per_cpu_s).into(),
        microseconds(row.cpu_us),
        microseconds(row.unvalidated_cpu_us),
        optional_microseconds(row.verify_us),
        optional_microseconds(row.overhead_us),
        TableCell::optional(row.ratio, ratio),
        TableCell::none(),
    ]
}

fn microseconds(time_us: f64) -> TableCell {
    // A difference of two measurements may be negative.
    if time_us < 0.0 {
        format!("-{}", duration(-time_us / 1e6)).into()
    } else {
        duration(time_us / 1e6).into()
    }
}

fn optional_microseconds(time_us: Option<f64>) -> TableCell {
    TableCell::optional(time_us, microseconds)
}
