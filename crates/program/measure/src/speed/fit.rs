//! `oarlock speed --fit`: the cost of a batch, an operation and a byte, by engine and shape, and the error of the
//! model.
//!
//! The model is `C1 + C2 * operations + C3 * bytes` (Lindemann and Smith, USENIX Security 2001, section 4.1). An engine
//! with lanes takes as long for one operation as for a group of them. The model does not know that. Its error shows
//! it; the last column is the error that remains if operations are counted in whole groups.

use oarlock::{Accelerator, CostFit, EngineReport, Shape, TimingGrid};
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{TableCell, TextTable, duration};
use oarlock_terminal::{GlobalOptions, progress};
use serde::Serialize;

use super::error::SpeedError;
use crate::operation::NamedOperation;

/// One engine and shape. Times in nanoseconds, deviations relative to the time.
#[derive(Clone, Debug, Serialize)]
struct FitRow {
    engine: &'static str,
    shape: String,
    /// The number of operations that fill the engine once.
    lanes: usize,
    /// The number of batches that were timed.
    timings: usize,
    c1_ns: f64,
    c2_ns: f64,
    /// Null for public-key shapes, whose inputs have one length.
    c3_ns: Option<f64>,
    rms: f64,
    worst: f64,
    /// The same when operations are counted in whole lane groups.
    stepped_rms: f64,
    stepped_worst: f64,
}

/// The text above the table.
const HEADING: &str = "Cost of a batch: C1 + C2 x operations + C3 x bytes, fitted to batches of 1 to 65,536 operations (or\n\
                       as many as the engine takes) of 8 to 320 bytes; deviations relative to the time measured.\n\n";

/// Fits the shapes of `operations`, or all if none is named.
pub(super) fn run(global: &GlobalOptions, operations: &[NamedOperation]) -> Result<(), SpeedError> {
    let accelerator = global.builder().lazy().build()?;
    global.warn_absent_engines(&accelerator);
    let rows = measure(global, &accelerator, operations);
    Ok(print_report(global.json, &rows, |in_colour| HEADING.to_owned() + &table(&rows).render(in_colour))?)
}

fn measure(global: &GlobalOptions, accelerator: &Accelerator, operations: &[NamedOperation]) -> Vec<FitRow> {
    // Several operations may be of one shape.
    let mut shapes: Vec<Shape> = Vec::new();
    for shape in operations.iter().map(|operation| operation.shape()) {
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    let reports: Vec<EngineReport> = match &shapes[..] {
        [] => accelerator.engines().to_vec(),
        shapes => shapes.iter().flat_map(|shape| accelerator.engines_of(*shape)).collect(),
    };
    let mut todo = Vec::new();
    for name in global.measured_engines(accelerator) {
        for engine in reports.iter().filter(|engine| engine.name == name) {
            let proved = engine.shapes.iter().filter(|shape| shape.verdict.is_ok());
            todo.extend(proved.map(|shape| (name, shape.shape, shape.lanes.preferred)));
        }
    }
    let bar = progress::bar(todo.len() as u64, "{msg:20!} {wide_bar} {pos}/{len} shapes{left}");
    let mut rows = Vec::new();
    for (engine, shape, lanes) in todo {
        bar.set_message(format!("{engine} {shape}"));
        rows.extend(fit(accelerator, engine, shape, lanes));
        bar.inc(1);
    }
    bar.finish_and_clear();
    rows
}

fn fit(accelerator: &Accelerator, engine: &'static str, shape: Shape, lanes: usize) -> Option<FitRow> {
    let timings = accelerator.diagnostics().time_batches(engine, shape, &TimingGrid::default());
    let (plain, stepped) = (CostFit::from_timings(&timings, 1)?, CostFit::from_timings(&timings, lanes)?);
    Some(FitRow {
        engine,
        shape: shape.to_string(),
        lanes,
        timings: plain.timings,
        c1_ns: thousandths(plain.cost.per_batch_ns),
        c2_ns: thousandths(plain.cost.per_op_ns),
        c3_ns: shape.is_record().then(|| thousandths(plain.cost.per_byte_ns)),
        rms: thousandths(plain.rms),
        worst: thousandths(plain.worst),
        stepped_rms: thousandths(stepped.rms),
        stepped_worst: thousandths(stepped.worst),
    })
}

/// Rounds to thousandths: further digits are noise.
fn thousandths(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn table(rows: &[FitRow]) -> TextTable {
    let numbers = ["lanes", "C1", "C2", "C3/byte", "rms", "worst", "rms, whole groups"];
    let mut table = TextTable::with_columns(["engine", "shape"], numbers);
    let time = |ns: f64| TableCell::from(duration(ns * 1e-9));
    let percent = |share: f64| TableCell::from(format!("{:.1} %", share * 100.0));
    for row in rows {
        table.row([
            row.engine.into(),
            row.shape.as_str().into(),
            row.lanes.to_string().into(),
            time(row.c1_ns),
            time(row.c2_ns),
            TableCell::optional(row.c3_ns, time),
            percent(row.rms),
            percent(row.worst),
            percent(row.stepped_rms),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(engine: &'static str, shape: &str, c3_ns: Option<f64>) -> FitRow {
        FitRow {
            engine,
            shape: shape.into(),
            lanes: 512,
            timings: 36,
            c1_ns: 2_345.678,
            c2_ns: 7.25,
            c3_ns,
            rms: 0.123,
            worst: 1.5,
            stepped_rms: 0.04,
            stepped_worst: 0.1,
        }
    }

    #[test]
    fn rows_fit_a_page_and_say_nothing_where_there_is_nothing() {
        let rows =
            [row("lanes", "translate-tdes2-cbc-to-aes256-cbc", Some(0.31)), row("scalar", "x25519", None)];
        let text = table(&rows).render(false);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        assert!(text.contains("2.35 µs") && text.contains("12.3 %"), "{text}");
        assert!(text.lines().last().unwrap().contains("  -  "), "{text}");
        let json = serde_json::to_string(&rows[1]).unwrap();
        let expected = r#"{"engine":"scalar","shape":"x25519","lanes":512,"timings":36,"c1_ns":2345.678,"c2_ns":7.25,"c3_ns":null,"rms":0.123,"worst":1.5,"stepped_rms":0.04,"stepped_worst":0.1}"#;
        assert_eq!(json, expected);
    }
}
