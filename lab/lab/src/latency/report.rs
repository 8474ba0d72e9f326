//! The results as a table, as JSON and as a picture.

use oarlock_measure::plot::{AxisScale, ChartPanel, LineChart};
use oarlock_terminal::table::{CellAlign, CellTone, TableCell, TextTable, count, duration, thousands};
use serde::Serialize;

use super::LatencyArgs;
use super::rounds::rounds;
use super::setup::LatencySetup;

/// One rule at one load.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LatencyRow {
    pub(super) op: String,
    pub(super) rule: String,
    pub(super) load_percent: f64,
    /// Jobs that arrived.
    pub(super) offered_per_s: f64,
    /// Jobs done in time.
    pub(super) per_s: f64,
    /// None if no job was done.
    pub(super) p50_us: Option<f64>,
    pub(super) p99_us: Option<f64>,
    /// False if the rule did not keep up: its latencies grow as long as the load lasts.
    pub(super) stable: bool,
    pub(super) threads: usize,
    pub(super) engines: Vec<&'static str>,
}

/// The share by which more jobs are done than arrive if a backlog is worked off; less is chance.
const WORKED_OFF: f64 = 0.02;

impl LatencyRow {
    /// True if more jobs were done than arrived while it counted.
    fn works_off(&self) -> bool {
        self.per_s > self.offered_per_s * (1.0 + WORKED_OFF)
    }

    fn note(&self) -> TableCell {
        match (self.stable, self.works_off()) {
            (false, _) => TableCell::toned("unstable", CellTone::Bad),
            (true, true) => "above offered".into(),
            (true, false) => "".into(),
        }
    }
}

/// Everything that a report shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct LatencyReport<'a> {
    pub(super) setup: &'a LatencySetup,
    pub(super) args: &'a LatencyArgs,
    pub(super) rows: &'a [LatencyRow],
}

impl LatencyReport<'_> {
    pub(super) fn to_text(self, in_colour: bool) -> String {
        let LatencySetup { threads, capacity_per_s, engines, .. } = self.setup;
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
        if self.rows.iter().any(LatencyRow::works_off) {
            text += "\nabove offered: jobs that arrived while a round warmed up were done while it counted\n";
        }
        text
    }

    fn table(&self) -> TextTable {
        let left = |name| (name, CellAlign::Left);
        let right = |name| (name, CellAlign::Right);
        let mut table = TextTable::new([
            right("load"),
            left("rule"),
            right("p50"),
            right("p99"),
            right("offered/s"),
            right("done/s"),
            left("note"),
        ]);
        let latency = |us: Option<f64>| TableCell::optional(us, |us| duration(us * 1e-6));
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

    /// Draws p50 beside p99 against load. A line ends where its rule does not keep up, because there is no stable
    /// latency beyond.
    pub(super) fn to_svg(self) -> String {
        let panel = |title: &str, us: fn(&LatencyRow) -> Option<f64>| {
            let rules = self.setup.contenders.iter().map(|contender| contender.rule.name.as_str());
            ChartPanel { title: title.into(), lines: rules.map(|rule| self.line(rule, us)).collect() }
        };
        let ends = match self.rows.iter().all(|row| row.stable) {
            true => "",
            false => "; a line ends if its rule falls behind",
        };
        let chart = LineChart {
            title: format!("{} under load ({}){ends}", self.args.op, self.setup.engines.join(", ")),
            x_label: "load, % of scalar capacity".into(),
            x_axis: AxisScale::Linear,
            y_label: "latency, ms".into(),
            y_axis: AxisScale::Logarithmic,
            series: self.setup.contenders.iter().map(|contender| contender.rule.name.clone()).collect(),
            panels: vec![panel("p50", |row| row.p50_us), panel("p99", |row| row.p99_us)],
        };
        chart.to_svg()
    }

    fn line(&self, rule: &str, us: fn(&LatencyRow) -> Option<f64>) -> Vec<(f64, f64)> {
        let rows = self.rows.iter().filter(|row| row.rule == rule && row.stable);
        let mut points: Vec<(f64, f64)> =
            rows.filter_map(|row| Some((row.load_percent, us(row)? / 1000.0))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }
}
