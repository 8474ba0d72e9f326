//! The table and the JSON document.

use oarlock_measure::statistics::median;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{TableCell, TextTable, duration, si};
use serde::Serialize;

use crate::meter::Turn;
use crate::plan::{BenchRow, BenchTask};
use crate::process::Contender;

/// The result of a contender in a row.
#[derive(Debug, Serialize)]
pub(crate) struct RowResult {
    pub(crate) name: &'static str,
    pub(crate) contender: String,
    pub(crate) threads: usize,
    /// The number of operations in a call or in flight.
    pub(crate) batch: usize,
    pub(crate) keys: usize,
    /// The number of objects that a search looks through.
    pub(crate) objects: Option<usize>,
    rate_per_s: f64,
    rate_per_cpu_s: f64,
    cpu_us_per_op: f64,
    wall_us_per_op: f64,
    /// The rate of Oarlock's module per CPU second as a multiple of this contender's: the median over turns, the lowest
    /// and the highest turn.
    ratio: Option<[f64; 3]>,
    /// The number of calls that wait for the disk, per object.
    fsyncs: Option<f64>,
    #[serde(skip)]
    turns: Vec<Turn>,
}

impl RowResult {
    pub(crate) fn new(row: &'static BenchRow, contender: &Contender, turns: Vec<Turn>) -> Self {
        let has_objects =
            matches!(row.task, BenchTask::FindById | BenchTask::FindByLabel | BenchTask::Create);
        let objects = has_objects.then_some(contender.objects);
        Self { objects, ..Self::of_server(row, &contender.kind.name(), turns) }
    }

    pub(crate) fn with_fsyncs(self, fsyncs: Option<f64>) -> Self {
        Self { fsyncs, ..self }
    }

    /// Makes a result of turns whose CPU time is not the contender's own.
    pub(crate) fn of_server(row: &'static BenchRow, contender: &str, turns: Vec<Turn>) -> Self {
        let middle = |value: fn(&Turn) -> f64| median(turns.iter().map(value)).unwrap_or(f64::NAN);
        let cpu_s_per_op = middle(|turn| turn.cpu_s / turn.operations as f64);
        let wall_s_per_op = middle(|turn| turn.wall_s / turn.operations as f64);
        Self {
            name: row.name,
            contender: contender.to_owned(),
            threads: row.threads,
            batch: row.batch,
            keys: 1,
            objects: None,
            rate_per_s: 1.0 / wall_s_per_op,
            rate_per_cpu_s: 1.0 / cpu_s_per_op,
            cpu_us_per_op: cpu_s_per_op * 1e6,
            wall_us_per_op: wall_s_per_op * 1e6,
            ratio: None,
            fsyncs: None,
            turns,
        }
    }
}

/// Compares each contender with the first of its row, which is Oarlock's module, within each turn.
pub(crate) fn add_ratios(results: &mut [RowResult]) {
    for index in 0..results.len() {
        let Some(base) = results.iter().position(|result| result.name == results[index].name) else {
            continue;
        };
        if base == index {
            continue;
        }
        let pairs = results[base].turns.iter().zip(&results[index].turns);
        let mut ratios: Vec<f64> = pairs.map(|(turn, other)| turn.per_cpu_s() / other.per_cpu_s()).collect();
        ratios.sort_by(f64::total_cmp);
        results[index].ratio = median(ratios.iter().copied())
            .zip(ratios.first().copied().zip(ratios.last().copied()))
            .map(|(middle, (lowest, highest))| [middle, lowest, highest]);
    }
}

pub(crate) fn print_results(as_json: bool, results: &[RowResult]) {
    let heading = "Rates are per second of CPU time; in rows of a server, of its CPU time. \
                   ratio: Oarlock's module to this contender in the same turn\n";
    print_report(as_json, results, |in_colour| heading.to_owned() + &table(results).render(in_colour))
        .unwrap();
}

fn table(results: &[RowResult]) -> TextTable {
    let mut table = TextTable::with_columns(
        ["row", "contender"],
        ["threads", "batch", "objects", "/CPU s", "CPU each", "time each", "ratio", "fsyncs"],
    )
    .with_max_columns(140);
    for result in results {
        table.row([
            result.name.into(),
            result.contender.as_str().into(),
            result.threads.to_string().into(),
            result.batch.to_string().into(),
            TableCell::optional(result.objects, |objects| objects.to_string()),
            si(result.rate_per_cpu_s).into(),
            duration(result.cpu_us_per_op / 1e6).into(),
            duration(result.wall_us_per_op / 1e6).into(),
            TableCell::optional(result.ratio, |[middle, lowest, highest]| {
                format!("{middle:.2} ({lowest:.2}-{highest:.2})")
            }),
            TableCell::optional(result.fsyncs, |fsyncs| format!("{fsyncs:.2}")),
        ]);
    }
    table
}
