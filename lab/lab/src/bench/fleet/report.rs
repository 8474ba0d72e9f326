//! The phases of a fleet as table and JSON.

use std::time::Duration;

use oarlock_terminal::table::{TableCell, TextTable, thousands};
use serde::Serialize;

use super::FleetArgs;
use super::load::PhaseTally;

/// The change of the fleet in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FleetPhase {
    Calm,
    Restarts,
    Kill,
    Added,
    Removed,
}

impl FleetPhase {
    pub(super) const ALL: [Self; 5] = [Self::Calm, Self::Restarts, Self::Kill, Self::Added, Self::Removed];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Restarts => "restarts",
            Self::Kill => "kill",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }
}

/// The result of a phase.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FleetRow {
    phase: FleetPhase,
    /// The servers that the name stands for at the end.
    servers: usize,
    operations: u64,
    per_second: f64,
    pub(super) failed: u64,
    pub(super) first_failure: Option<String>,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// The part of the operations that the server of the phase answered.
    share: Option<f64>,
}

impl FleetRow {
    pub(super) fn new(
        phase: FleetPhase,
        tally: PhaseTally,
        length: Duration,
        servers: usize,
        share: Option<f64>,
    ) -> Self {
        let ms = |quantile| tally.latencies.quantile_us(quantile) / 1e3;
        Self {
            phase,
            servers,
            operations: tally.latencies.len(),
            per_second: tally.latencies.len() as f64 / length.as_secs_f64(),
            p50_ms: ms(0.5),
            p99_ms: ms(0.99),
            max_ms: ms(1.0),
            failed: tally.failed,
            first_failure: tally.first_failure,
            share,
        }
    }
}

pub(super) fn to_text(rows: &[FleetRow], args: &FleetArgs, in_colour: bool) -> String {
    let heading = format!(
        "P-256 signatures by {} servers behind one name, {} clients, {} operations per second asked for\n",
        args.servers,
        args.clients,
        thousands(args.rate.into())
    );
    let mut table = TextTable::with_columns(
        ["phase"],
        ["servers", "operations", "per s", "failed", "p50 ms", "p99 ms", "max ms", "share"],
    );
    for row in rows {
        let ms = |value: f64| TableCell::from(format!("{value:.1}"));
        table.row([
            row.phase.name().into(),
            row.servers.to_string().into(),
            thousands(row.operations).into(),
            format!("{:.0}", row.per_second).into(),
            row.failed.to_string().into(),
            ms(row.p50_ms),
            ms(row.p99_ms),
            ms(row.max_ms),
            TableCell::optional(row.share, |share| format!("{:.0} %", 100.0 * share)),
        ]);
    }
    let mut text = heading + &table.render(in_colour);
    for row in rows {
        if let Some(first) = &row.first_failure {
            text += &format!("{}: {} failed, the first: {first}\n", row.phase.name(), row.failed);
        }
    }
    text
}
