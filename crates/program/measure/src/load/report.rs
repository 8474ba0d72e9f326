//! Rows of numbers as table, JSON and picture.

use oarlock_terminal::table::{CellAlign, TableCell, TextTable, si};
use serde::Serialize;

use super::args::{LoadPlan, LoadTransport};
use crate::plot::{AxisScale, ChartPanel, LineChart};

/// The result of one configuration.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct LoadRow {
    pub(super) name: String,
    /// The server's engines, if a set was asked for.
    pub(super) engines: Option<String>,
    pub(super) clients: usize,
    pub(super) in_flight: usize,
    pub(super) batch: usize,
    pub(super) secure: bool,
    pub(super) remote: bool,
    pub(super) operations: u64,
    pub(super) rate_per_s: f64,
    pub(super) server_cpu_us_per_op: Option<f64>,
    /// The CPU time of all clients, which is that of this process.
    pub(super) client_cpu_us_per_op: Option<f64>,
    pub(super) wire_bytes_per_op: Option<f64>,
    pub(super) request_bytes: usize,
    pub(super) p50_us: Option<f64>,
    pub(super) p99_us: Option<f64>,
    /// The CPU time per operation of the same work in this process, as a share of the server's.
    pub(super) of_local: Option<f64>,
    /// The server's CPU time of a call as a multiple of that of an empty call in the same turn: the median, the
    /// lowest and the highest of all turns.
    pub(super) of_empty_call: Option<[f64; 3]>,
    pub(super) errors: u64,
    #[serde(skip)]
    pub(super) first_error: String,
    pub(super) rss_start_kb: Option<u64>,
    pub(super) rss_end_kb: Option<u64>,
}

impl LoadRow {
    /// Returns a row before it is measured.
    pub(super) fn from_plan(plan: &LoadPlan, request_bytes: usize) -> Self {
        Self {
            name: plan.name(),
            clients: plan.clients,
            in_flight: plan.in_flight,
            batch: plan.batch,
            secure: plan.way == LoadTransport::Tls,
            remote: plan.way != LoadTransport::Local,
            request_bytes,
            ..Self::default()
        }
    }

    /// Sets the engines of the server.
    pub(super) fn with_engines(self, engines: Option<&str>) -> Self {
        Self { engines: engines.map(str::to_owned), ..self }
    }

    /// Returns the name of the row in tables and pictures.
    fn label(&self) -> String {
        match &self.engines {
            Some(engines) => format!("{} {engines}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Returns the heading and the table.
pub(super) fn to_text(rows: &[LoadRow], in_colour: bool) -> String {
    let heading = "load: clients x batches in flight of each x operations in a batch; CPU: the server's; client: the CPU of the clients\n";
    heading.to_owned() + &table(rows).render(in_colour)
}

fn table(rows: &[LoadRow]) -> TextTable {
    // Only some operations have an empty call to be compared with, and the column is wide.
    let has_calls = rows.iter().any(|row| row.of_empty_call.is_some());
    let of_empty_call = has_calls.then_some("of empty call");
    let numbers = ["load", "ops/s", "CPU/op", "client/op", "of local"];
    let numbers = numbers.into_iter().chain(of_empty_call).chain(["bytes/op", "p50", "p99", "errors"]);
    let columns = [("work", CellAlign::Left)].into_iter().chain(numbers.map(|name| (name, CellAlign::Right)));
    let mut table = TextTable::new(columns).with_max_columns(NAMES_COLUMNS);
    for row in rows {
        let mut cells = vec![
            row.label().into(),
            format!("{} x {} x {}", row.clients, row.in_flight, row.batch).into(),
            si(row.rate_per_s).into(),
            TableCell::optional(row.server_cpu_us_per_op, |us| format!("{us:.2} µs")),
            TableCell::optional(row.client_cpu_us_per_op, |us| format!("{us:.2} µs")),
            TableCell::optional(row.of_local, |ratio| format!("{ratio:.3}")),
        ];
        if has_calls {
            cells.push(TableCell::optional(row.of_empty_call, |[median, least, most]| {
                format!("{median:.3} ({least:.2}-{most:.2})")
            }));
        }
        cells.extend([
            TableCell::optional(row.wire_bytes_per_op, |bytes| format!("{bytes:.0}")),
            TableCell::optional(row.p50_us, time),
            TableCell::optional(row.p99_us, time),
            row.errors.to_string().into(),
        ]);
        table.row(cells);
    }
    table
}

/// The width of a table with names like `rsa2048-sign-plaintext scalar+lanes`.
const NAMES_COLUMNS: usize = 120;

fn time(us: f64) -> String {
    if us < 1000.0 { format!("{us:.0} µs") } else { format!("{:.2} ms", us / 1000.0) }
}

/// Draws the rate against the operations in flight, one line for each kind of work.
pub(super) fn to_svg(rows: &[LoadRow]) -> String {
    let mut names: Vec<String> = rows.iter().map(LoadRow::label).collect();
    names.dedup();
    let line = |name: &String| -> Vec<(f64, f64)> {
        let of_name = rows.iter().filter(|row| row.label() == *name);
        let mut points: Vec<_> =
            of_name.map(|row| ((row.clients * row.in_flight * row.batch) as f64, row.rate_per_s)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let lines = names.iter().map(line).collect();
    LineChart {
        title: "Operations a second against operations in flight".into(),
        x_label: "operations in flight".into(),
        x_axis: AxisScale::Logarithmic,
        y_label: "operations a second".into(),
        y_axis: AxisScale::Logarithmic,
        series: names,
        panels: vec![ChartPanel { title: String::new(), lines }],
    }
    .to_svg()
}
