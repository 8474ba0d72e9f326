//! Rows as table and JSON.

use oarlock_terminal::table::{CellAlign, TableCell, TextTable, count, ratio, thousands};
use serde::Serialize;

use super::ZoneBenchArgs;
use super::program::ProgramCost;

/// A row as the benches of all protocols print it. Other programs have rows of their own too.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ZoneBenchRow {
    pub(super) name: String,
    pub(super) engine: String,
    pub(super) threads: usize,
    pub(super) delegations: u64,
    /// Signatures, or records if a zone is only read.
    pub(super) operations: u64,
    pub(super) rate_per_s: f64,
    pub(super) rate_per_cpu_s: f64,
    pub(super) peer: Option<String>,
    pub(super) peer_rate_per_cpu_s: Option<f64>,
    pub(super) ratio: Option<f64>,
}

impl ZoneBenchRow {
    pub(super) fn new(
        name: &str,
        engine: &str,
        threads: usize,
        delegations: u64,
        operations: u64,
        cost: ProgramCost,
    ) -> Self {
        let rate = |seconds: f64| operations as f64 / seconds.max(f64::EPSILON);
        Self {
            name: name.to_owned(),
            engine: engine.to_owned(),
            threads,
            delegations,
            operations,
            rate_per_s: rate(cost.seconds),
            rate_per_cpu_s: rate(cost.cpu_seconds),
            peer: None,
            peer_rate_per_cpu_s: None,
            ratio: None,
        }
    }

    pub(super) fn beside(mut self, peer: Option<&ZoneBenchRow>) -> Self {
        if let Some(peer) = peer {
            self.peer = Some(peer.engine.clone());
            self.peer_rate_per_cpu_s = Some(peer.rate_per_cpu_s);
            self.ratio = Some(self.rate_per_cpu_s / peer.rate_per_cpu_s);
        }
        self
    }
}

/// Returns the heading and the table.
pub(super) fn to_text(args: &ZoneBenchArgs, rows: &[ZoneBenchRow], in_colour: bool) -> String {
    let heading = format!(
        "whole programs, start to end; one key of each role; median of {}; signatures, for parse records\n",
        count(args.turns.into(), "turn")
    );
    let mut table = TextTable::new([
        ("row", CellAlign::Left),
        ("engine or program", CellAlign::Left),
        ("threads", CellAlign::Right),
        ("operations", CellAlign::Right),
        ("per s", CellAlign::Right),
        ("per CPU s", CellAlign::Right),
        ("best peer", CellAlign::Left),
        ("ratio", CellAlign::Right),
    ]);
    for row in rows {
        table.row([
            TableCell::from(row.name.clone()),
            row.engine.clone().into(),
            row.threads.to_string().into(),
            thousands(row.operations).into(),
            thousands(row.rate_per_s.round() as u64).into(),
            thousands(row.rate_per_cpu_s.round() as u64).into(),
            TableCell::optional(row.peer.as_deref(), TableCell::from),
            TableCell::optional(row.ratio, ratio),
        ]);
    }
    heading + &table.render(in_colour)
}
