//! `oarlock engines`: the engines of this machine.

use oarlock::engine_api::{EngineLocation, LeafAbsence};
use oarlock::{Accelerator, Calibration, EngineReport, ShapeReport};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{CellAlign, CellTone, TableCell, TextTable, bytes, count, duration};
use serde::Serialize;

use crate::error::ProgramError;

pub(crate) fn run(global: &GlobalOptions) -> Result<(), ProgramError> {
    // Not lazy: the command shows every self test and every cost.
    let accelerator = global.builder().build()?;
    if global.json {
        global.warn_absent_engines(&accelerator);
    }
    print_report(global.json, &rows(&accelerator), |in_colour| to_text(&accelerator, in_colour))?;
    let failed: Vec<String> = accelerator
        .engines()
        .iter()
        .flat_map(|engine| failed_shapes(engine).map(|shape| format!("{} {}", engine.name, shape.shape)))
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(ProgramError::SelfTest(failed.join(", "))) }
}

fn failed_shapes(engine: &EngineReport) -> impl Iterator<Item = &ShapeReport> {
    engine.shapes.iter().filter(|shape| shape.verdict.is_err())
}

fn to_text(accelerator: &Accelerator, in_colour: bool) -> String {
    let mut text = String::new();
    for engine in accelerator.engines() {
        let jobs: usize = engine.shapes.iter().flat_map(|shape| &shape.verdict).map(|proof| proof.jobs).sum();
        let verdict = match failed_shapes(engine).count() {
            0 => "all passed".to_owned(),
            count => format!("{count} FAILED and not used"),
        };
        let (name, shapes, took) =
            (engine.name, engine.shapes.len(), duration(engine.proved_in.as_secs_f64()));
        let reach = reach(engine.location);
        let tables = match engine.table_bytes {
            0 => String::new(),
            max => format!(", up to {} of tables for keys that recur", bytes(max)),
        };
        let (shapes, answers) = (count(shapes as u64, "shape"), count(jobs as u64, "known answer"));
        text += &format!("{name} ({reach}): {shapes}, {answers} in {took}, {verdict}{tables}\n\n");
        text += &shapes_table(engine).render(in_colour);
        text.push('\n');
        text += &missing_leaves(engine);
        text += &missing_shapes(accelerator, engine);
    }
    for absent in accelerator.absent() {
        text += &format!("{}: absent, {}\n\n", absent.name, absent.reason);
    }
    text + "Cost of a batch: C1 + C2 x operations (whole lane groups) + C3 x bytes. "
        + &origin(accelerator)
        + "\n"
}

/// Returns a line for each better leaf that some shapes do without, with the reason.
fn missing_leaves(engine: &EngineReport) -> String {
    let mut missing: Vec<(&str, LeafAbsence, &str, usize)> = Vec::new();
    for leaf in engine.shapes.iter().filter_map(|shape| shape.leaf) {
        let Some((better, reason)) = leaf.better else { continue };
        let known = missing.iter_mut().find(|row| (row.0, row.1, row.2) == (better, reason, leaf.name));
        match known {
            Some((.., shapes)) => *shapes += 1,
            None => missing.push((better, reason, leaf.name, 1)),
        }
    }
    let line = |(better, reason, leaf, shapes): &(&str, LeafAbsence, &str, usize)| {
        format!("{}: {leaf} and not {better}, which is {reason}.\n", count(*shapes as u64, "shape"))
    };
    let lines: String = missing.iter().map(line).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// Returns a line with the shapes that other engines compute and this one does not.
fn missing_shapes(accelerator: &Accelerator, engine: &EngineReport) -> String {
    let mut text = String::new();
    for other in accelerator.engines().iter().filter(|other| other.name != engine.name) {
        let is_missing = |shape: &&ShapeReport| engine.shapes.iter().all(|known| known.shape != shape.shape);
        let missing: Vec<String> =
            other.shapes.iter().filter(is_missing).map(|shape| shape.shape.to_string()).collect();
        if !missing.is_empty() {
            let shapes = count(missing.len() as u64, "shape");
            let (name, other) = (engine.name, other.name);
            text += &format!("{shapes}: {other} and not {name}, which does not offer them here:\n");
            text += &listed(&missing);
            text += "\n";
        }
    }
    text
}

/// Returns names with commas, in indented lines of a terminal's width.
fn listed(names: &[String]) -> String {
    const MAX_COLUMNS: usize = 80;
    let mut lines = vec![String::new()];
    for (at, name) in names.iter().enumerate() {
        let end = if at + 1 == names.len() { "." } else { "," };
        let word = format!(" {name}{end}");
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.len() + word.len() < MAX_COLUMNS => line.push_str(&word),
            _ => lines.push(word),
        }
    }
    lines.iter().map(|line| format!(" {line}\n")).collect()
}

fn shapes_table(engine: &EngineReport) -> TextTable {
    let mut table = TextTable::new([
        ("shape", CellAlign::Left),
        ("failure", CellAlign::Left),
        ("leaf", CellAlign::Left),
        ("batch", CellAlign::Right),
        ("max", CellAlign::Right),
        ("confirms", CellAlign::Left),
        ("C1", CellAlign::Right),
        ("C2", CellAlign::Right),
        ("C3/byte", CellAlign::Right),
    ]);
    for shape in &engine.shapes {
        let failure = match &shape.verdict {
            Ok(_) => TableCell::none(),
            Err(failure) => TableCell::toned(failure.to_string(), CellTone::Bad),
        };
        let cost = |ns: Option<f64>| TableCell::optional(ns, |ns| duration(ns * 1e-9));
        table.row([
            shape.shape.to_string().into(),
            failure,
            TableCell::optional(shape.leaf, |leaf| leaf.name),
            shape.lanes.preferred.to_string().into(),
            shape.lanes.max.to_string().into(),
            if shape.confirms { "yes".into() } else { TableCell::none() },
            cost(shape.cost.map(|cost| cost.per_batch_ns)),
            cost(shape.cost.map(|cost| cost.per_op_ns)),
            cost(shape.cost.map(|cost| cost.per_byte_ns).filter(|_| shape.shape.is_record())),
        ]);
    }
    table.without_empty_columns()
}

fn origin(accelerator: &Accelerator) -> String {
    match accelerator.calibration() {
        Calibration::Cached(path) => format!("Read from\n  {}", path.display()),
        Calibration::Measured(path) => format!("Measured now, kept in\n  {}", path.display()),
        Calibration::NotKept { reason } => format!("Measured now and not kept:\n  {reason}."),
        _ => String::new(),
    }
}

fn reach(reach: EngineLocation) -> &'static str {
    match reach {
        EngineLocation::Near => "on the CPU",
        EngineLocation::Far => "on a device",
    }
}

#[derive(Default, Serialize)]
struct EngineRow<'a> {
    engine: &'a str,
    /// None in the row of an absent engine, like all following fields except the reason.
    shape: Option<String>,
    passed: Option<bool>,
    failure: Option<String>,
    lanes: Option<usize>,
    max: Option<usize>,
    /// The group of instructions that computes the shape, if the engine has several.
    leaf: Option<&'static str>,
    /// The better leaf that does not compute the shape here.
    better_leaf: Option<&'static str>,
    /// The reason why it does not.
    better_leaf_absence: Option<String>,
    confirms: Option<bool>,
    c1_ns: Option<f64>,
    c2_ns: Option<f64>,
    c3_ns: Option<f64>,
    /// The reason why the engine is absent.
    absence: Option<String>,
}

fn rows(accelerator: &Accelerator) -> Vec<EngineRow<'_>> {
    let present = accelerator.engines().iter().flat_map(|engine| {
        engine.shapes.iter().map(|shape| EngineRow {
            engine: engine.name,
            shape: Some(shape.shape.to_string()),
            passed: Some(shape.verdict.is_ok()),
            failure: shape.verdict.as_ref().err().map(ToString::to_string),
            lanes: Some(shape.lanes.preferred),
            max: Some(shape.lanes.max),
            leaf: shape.leaf.map(|leaf| leaf.name),
            better_leaf: shape.leaf.and_then(|leaf| leaf.better).map(|(better, _)| better),
            better_leaf_absence: shape
                .leaf
                .and_then(|leaf| leaf.better)
                .map(|(_, reason)| reason.to_string()),
            confirms: Some(shape.confirms),
            c1_ns: shape.cost.map(|cost| cost.per_batch_ns),
            c2_ns: shape.cost.map(|cost| cost.per_op_ns),
            c3_ns: shape.cost.map(|cost| cost.per_byte_ns),
            absence: None,
        })
    });
    let absent = accelerator.absent().iter().map(|absent| EngineRow {
        engine: absent.name,
        absence: Some(absent.reason.to_string()),
        ..EngineRow::default()
    });
    present.chain(absent).collect()
}
