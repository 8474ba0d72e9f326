//! What was measured, as a table, as JSON and as a picture.

use serde::Serialize;

use super::LatencyArgs;
use super::rounds::rounds;
use super::setup::Setup;
use crate::plot::{Axis, LineChart, Panel};
use crate::table::{Align, Cell, Table, Tone, count, duration, thousands};

/// One rule at one load.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) op: String,
    pub(super) rule: String,
    pub(super) load_percent: f64,
    /// Jobs that arrived.
    pub(super) offered_per_s: f64,
    /// Jobs done in time.
    pub(super) per_s: f64,
    /// None where no job was done.
    pub(super) p50_us: Option<f64>,
    pub(super) p99_us: Option<f64>,
    /// False where the rule did not keep up: its latencies grow for as long as the load lasts.
    pub(super) stable: bool,
    pub(super) threads: usize,
    pub(super) engines: Vec<&'static str>,
}

/// The share by which more jobs are done than arrive if a backlog is worked off; less is chance.
const WORKED_OFF: f64 = 0.02;

impl Row {
    /// True if more jobs were done than arrived while it counted.
    fn works_off(&self) -> bool {
        self.per_s > self.offered_per_s * (1.0 + WORKED_OFF)
    }

    fn note(&self) -> Cell {
        match (self.stable, self.works_off()) {
            (false, _) => Cell::toned("unstable", Tone::Bad),
            (true, true) => "above offered".into(),
            (true, false) => "".into(),
        }
    }
}

/// Everything that a report shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report<'a> {
    pub(super) setup: &'a Setup,
    pub(super) args: &'a LatencyArgs,
    pub(super) rows: &'a [Row],
}

impl Report<'_> {
    pub(super) fn to_text(self, in_colour: bool) -> String {
        let Setup { threads, capacity_per_s, engines, .. } = self.setup;
        let LatencyArgs { op, loads, seconds, .. } = self.args;
        let workers = count(*threads as u64, "worker thread");
        let capacity = thousands(capacity_per_s.round() as u64);
        let rounds = count(rounds(self.args) as u64, "round");
        let mut text = format!(
            "{op} on {}: {workers} beside the one that makes the load\n\
             scalar capacity {capacity}/s; {seconds} s of Poisson arrivals at {loads} % of it for each rule,\n\
             in {rounds} by turns; latency counts from the due arrival\n\n",
            engines.join(", ")
        );
        text += &self.table().render(in_colour);
        if self.rows.iter().any(|row| !row.stable) {
            text += "\nunstable: under 95 % of the load was done in time, so latency grows while it lasts\n";
        }
        if self.rows.iter().any(Row::works_off) {
            text += "\nabove offered: jobs that arrived while a round warmed up were done while it counted\n";
        }
        text
    }

    fn table(&self) -> Table {
        let left = |name| (name, Align::Left);
        let right = |name| (name, Align::Right);
        let mut table = Table::new([
            right("load"),
            left("rule"),
            right("p50"),
            right("p99"),
            right("offered/s"),
            right("done/s"),
            left("note"),
        ]);
        let latency = |us: Option<f64>| us.map_or_else(Cell::none, |us| duration(us * 1e-6).into());
        for row in self.rows {
            table.row([
                format!("{} %", row.load_percent).into(),
                row.rule.as_str().into(),
                latency(row.p50_us),
                latency(row.p99_us),
                thousands(row.offered_per_s.round() as u64).into(),
                thousands(row.per_s.round() as u64).into(),
                row.note(),
            ]);
        }
        table
    }

    /// p50 beside p99 against load. A line ends where its rule does not keep up, since no latency can be told there.
    pub(super) fn to_svg(self) -> String {
        let panel = |title: &str, us: fn(&Row) -> Option<f64>| {
            let rules = self.setup.contenders.iter().map(|contender| contender.rule.as_str());
            Panel { title: title.into(), lines: rules.map(|rule| self.line(rule, us)).collect() }
        };
        let ends = match self.rows.iter().all(|row| row.stable) {
            true => "",
            false => "; lines end where a rule falls behind",
        };
        let chart = LineChart {
            title: format!("{} under load ({}){ends}", self.args.op, self.setup.engines.join(", ")),
            x_label: "load, % of scalar capacity".into(),
            x_axis: Axis::Linear,
            y_label: "latency, ms".into(),
            y_axis: Axis::Logarithmic,
            series: self.setup.contenders.iter().map(|contender| contender.rule.clone()).collect(),
            panels: vec![panel("p50", |row| row.p50_us), panel("p99", |row| row.p99_us)],
        };
        chart.to_svg()
    }

    fn line(&self, rule: &str, us: fn(&Row) -> Option<f64>) -> Vec<(f64, f64)> {
        let own = self.rows.iter().filter(|row| row.rule == rule && row.stable);
        let mut points: Vec<(f64, f64)> =
            own.filter_map(|row| Some((row.load_percent, us(row)? / 1000.0))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }
}
