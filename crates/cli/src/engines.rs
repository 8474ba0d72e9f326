//! `oarlock engines`: what this machine has.

use std::io::Write;

use oarlock::engine_api::EngineLocation;
use oarlock::{Accelerator, Calibration, EngineReport, ShapeReport};
use serde::Serialize;

use crate::args::Global;
use crate::exit::Failure;
use crate::table::{Align, Cell, Table, Tone, bytes, count, duration, wants_colour};

pub(crate) fn run(global: &Global) -> Result<(), Failure> {
    let accelerator = global.builder().build()?;
    if global.json {
        global.tell_absent(&accelerator);
        print_json(&accelerator)?;
    } else {
        print_table(&accelerator)?;
    }
    let failed: Vec<String> = accelerator
        .engines()
        .iter()
        .flat_map(|engine| failed(engine).map(|shape| format!("{} {}", engine.name, shape.shape)))
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(Failure::SelfTest(failed.join(", "))) }
}

fn failed(engine: &EngineReport) -> impl Iterator<Item = &ShapeReport> {
    engine.shapes.iter().filter(|shape| shape.verdict.is_err())
}

fn print_table(accelerator: &Accelerator) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    for engine in accelerator.engines() {
        let jobs: usize = engine.shapes.iter().flat_map(|shape| &shape.verdict).map(|proof| proof.jobs).sum();
        let verdict = match failed(engine).count() {
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
        writeln!(
            out,
            "{name} ({reach}): {}, {} in {took}, {verdict}{tables}\n",
            count(shapes as u64, "shape"),
            count(jobs as u64, "known answer"),
        )?;
        writeln!(out, "{}", shapes_table(engine).render(wants_colour()))?;
    }
    for absent in accelerator.absent() {
        writeln!(out, "{}: absent, {}\n", absent.name, absent.reason)?;
    }
    writeln!(
        out,
        "Cost of a batch: C1 + C2 x operations (whole lane groups) + C3 x bytes. {}",
        origin(accelerator)
    )?;
    Ok(())
}

fn shapes_table(engine: &EngineReport) -> Table {
    let mut table = Table::new([
        ("shape", Align::Left),
        ("self test", Align::Left),
        ("lanes", Align::Right),
        ("at most", Align::Right),
        ("confirms", Align::Left),
        ("C1", Align::Right),
        ("C2", Align::Right),
        ("C3/byte", Align::Right),
    ]);
    for shape in &engine.shapes {
        let verdict = match &shape.verdict {
            Ok(_) => Cell::toned("passed", Tone::Good),
            Err(failure) => Cell::toned(failure.to_string(), Tone::Bad),
        };
        let cost = |ns: Option<f64>| ns.map_or_else(Cell::none, |ns| duration(ns * 1e-9).into());
        table.row([
            shape.shape.to_string().into(),
            verdict,
            shape.lanes.preferred.to_string().into(),
            shape.lanes.max.to_string().into(),
            if shape.confirms { "yes".into() } else { Cell::none() },
            cost(shape.cost.map(|cost| cost.per_batch_ns)),
            cost(shape.cost.map(|cost| cost.per_op_ns)),
            cost(shape.cost.map(|cost| cost.per_byte_ns).filter(|_| shape.shape.is_record())),
        ]);
    }
    table
}

fn origin(accelerator: &Accelerator) -> String {
    match accelerator.calibration() {
        Calibration::Cached(path) => format!("Read from {}.", path.display()),
        Calibration::Measured(path) => format!("Measured now, kept in {}.", path.display()),
        Calibration::NotKept { reason } => format!("Measured now and not kept: {reason}."),
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
struct Row<'a> {
    engine: &'a str,
    /// None in the row of an absent engine, as all that follows but its reason.
    shape: Option<String>,
    passed: Option<bool>,
    failure: Option<String>,
    lanes: Option<usize>,
    max: Option<usize>,
    confirms: Option<bool>,
    c1_ns: Option<f64>,
    c2_ns: Option<f64>,
    c3_ns: Option<f64>,
    /// The reason why the engine takes no part.
    absence: Option<String>,
}

fn print_json(accelerator: &Accelerator) -> Result<(), Failure> {
    let present = accelerator.engines().iter().flat_map(|engine| {
        engine.shapes.iter().map(|shape| Row {
            engine: engine.name,
            shape: Some(shape.shape.to_string()),
            passed: Some(shape.verdict.is_ok()),
            failure: shape.verdict.as_ref().err().map(ToString::to_string),
            lanes: Some(shape.lanes.preferred),
            max: Some(shape.lanes.max),
            confirms: Some(shape.confirms),
            c1_ns: shape.cost.map(|cost| cost.per_batch_ns),
            c2_ns: shape.cost.map(|cost| cost.per_op_ns),
            c3_ns: shape.cost.map(|cost| cost.per_byte_ns),
            absence: None,
        })
    });
    let absent = accelerator.absent().iter().map(|absent| Row {
        engine: absent.name,
        absence: Some(absent.reason.to_string()),
        ..Row::default()
    });
    print_rows(&present.chain(absent).collect::<Vec<_>>())
}

/// Writes rows as a JSON array in one line, alone on stdout, as every command writes its document.
pub(crate) fn print_rows<T: Serialize>(rows: &[T]) -> Result<(), Failure> {
    let text = serde_json::to_string(rows).map_err(std::io::Error::other)?;
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(())
}
