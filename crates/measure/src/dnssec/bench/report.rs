//! Rows as table and JSON.

use serde::Serialize;

use super::ZoneBenchArgs;
use super::program::ProgramCost;
use crate::table::{Align, Cell, Table, count, ratio, thousands};

/// As every trade's bench prints it; the others' programs have rows of their own too.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) engine: String,
    pub(super) threads: usize,
    pub(super) delegations: u64,
    /// Signatures, or records where a zone is only read.
    pub(super) operations: u64,
    pub(super) rate_per_s: f64,
    pub(super) rate_per_cpu_s: f64,
    pub(super) peer: Option<String>,
    pub(super) peer_rate_per_cpu_s: Option<f64>,
    pub(super) ratio: Option<f64>,
}

impl Row {
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

    pub(super) fn beside(mut self, peer: Option<&Row>) -> Self {
        if let Some(peer) = peer {
            self.peer = Some(peer.engine.clone());
            self.peer_rate_per_cpu_s = Some(peer.rate_per_cpu_s);
            self.ratio = Some(self.rate_per_cpu_s / peer.rate_per_cpu_s);
        }
        self
    }
}

/// Returns the heading and the table.
pub(super) fn to_text(args: &ZoneBenchArgs, rows: &[Row], in_colour: bool) -> String {
    let heading = format!(
        "whole programs, start to end; one key of each role; median of {}; signatures, for parse records\n",
        count(args.turns.into(), "turn")
    );
    let mut table = Table::new([
        ("row", Align::Left),
        ("engine or program", Align::Left),
        ("threads", Align::Right),
        ("operations", Align::Right),
        ("per s", Align::Right),
        ("per CPU s", Align::Right),
        ("best peer", Align::Left),
        ("ratio", Align::Right),
    ]);
    for row in rows {
        table.row([
            Cell::from(row.name.clone()),
            row.engine.clone().into(),
            row.threads.to_string().into(),
            thousands(row.operations).into(),
            thousands(row.rate_per_s.round() as u64).into(),
            thousands(row.rate_per_cpu_s.round() as u64).into(),
            row.peer.clone().map_or(Cell::none(), Into::into),
            row.ratio.map_or(Cell::none(), |value| ratio(value).into()),
        ]);
    }
    heading + &table.render(in_colour)
}
