//! The results as tables, as JSON and as a picture like the paper's figure 16.

use oarlock_measure::plot::{AxisScale, ChartPanel, LineChart};
use oarlock_terminal::table::{CellAlign, CellTone, TableCell, TextTable, count, si, thousands};
use serde::Serialize;

use super::args::{LadderArgs, OpLengths};
use super::steps::{LadderStep, STEPS};

/// One step at one batch size.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LadderRow {
    pub(super) step: &'static str,
    pub(super) what: &'static str,
    pub(super) control: bool,
    pub(super) cipher: String,
    pub(super) lengths: String,
    pub(super) keys: u32,
    pub(super) batch: u32,
    /// The engines that may serve it.
    pub(super) engines: Vec<&'static str>,
    /// Thousands of bytes of data per second, without keys, IVs and other parameters.
    pub(super) kb_per_s: f64,
    pub(super) ops_per_s: f64,
    pub(super) batch_us: f64,
    /// True: a result that differs from the scalar engine's ends the run.
    pub(super) compared: bool,
    /// The figure in the text of the paper, and its bounds in kilobytes per second if it has any.
    pub(super) paper: &'static str,
    pub(super) paper_min_kb_per_s: Option<u32>,
    pub(super) paper_max_kb_per_s: Option<u32>,
}

impl LadderRow {
    pub(super) fn new(args: &LadderArgs, step: &LadderStep, lengths: OpLengths, batch: u32) -> Self {
        Self {
            step: step.id,
            what: step.what.trim_start(),
            control: step.is_control(),
            cipher: args.cipher.to_string(),
            lengths: lengths.to_string(),
            keys: args.keys,
            batch,
            engines: Vec::new(),
            kb_per_s: 0.0,
            ops_per_s: 0.0,
            batch_us: 0.0,
            compared: false,
            paper: step.paper.text,
            paper_min_kb_per_s: step.paper.min,
            paper_max_kb_per_s: step.paper.max,
        }
    }

    /// Sets the result: a batch of `bytes` bytes took so many seconds, and its results were those of the referee.
    pub(super) fn set(self, seconds: f64, bytes: usize, engines: Vec<&'static str>) -> Self {
        Self {
            engines,
            kb_per_s: tenths(bytes as f64 / seconds / 1e3),
            ops_per_s: tenths(f64::from(self.batch) / seconds),
            batch_us: (seconds * 1e9).round() / 1e3,
            compared: true,
            ..self
        }
    }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Returns a table for each kind of length.
pub(super) fn to_text(args: &LadderArgs, rows: &[LadderRow], in_colour: bool) -> String {
    let mut text = format!(
        "KB/s of data by operations per batch; {}, {}. Paper: Lindemann and Smith, USENIX\n\
         Security 2001, KB/s as its text has them, at the best batch size. Every step compared with scalar.\n",
        count(args.keys.into(), "key"),
        args.cipher
    );
    for lengths in &args.lengths {
        text += &format!("\n{}\n{}", title(*lengths), table(args, rows, *lengths).render(in_colour));
    }
    text
}

fn title(lengths: OpLengths) -> &'static str {
    match lengths {
        OpLengths::Uniform => "8 to 80 bytes each, uniform",
        OpLengths::Fixed => "40 bytes each",
    }
}

fn table(args: &LadderArgs, rows: &[LadderRow], lengths: OpLengths) -> TextTable {
    let mut head = vec![(String::new(), CellAlign::Left), ("step".to_owned(), CellAlign::Left)];
    head.extend(args.batches.iter().map(|batch| (thousands(u64::from(*batch)), CellAlign::Right)));
    head.push(("paper".into(), CellAlign::Right));
    let mut table = TextTable::new(head);
    for step in &STEPS {
        let tone = if step.is_control() { CellTone::Faint } else { CellTone::Plain };
        let mut cells = vec![TableCell::toned(step.id, tone), TableCell::toned(step.what, tone)];
        for batch in &args.batches {
            let found = find(rows, step, lengths, *batch);
            cells.push(TableCell::optional(found, |row| TableCell::toned(si(row.kb_per_s), tone)));
        }
        cells.push(TableCell::toned(step.paper.text, tone));
        table.row(cells);
    }
    table
}

fn find<'r>(
    rows: &'r [LadderRow],
    step: &LadderStep,
    lengths: OpLengths,
    batch: u32,
) -> Option<&'r LadderRow> {
    let lengths = lengths.to_string();
    rows.iter().find(|row| row.step == step.id && row.lengths == lengths && row.batch == batch)
}

/// Rate against batch size, both logarithmic; the eight experiments without their controls.
pub(super) fn to_svg(args: &LadderArgs, rows: &[LadderRow]) -> String {
    let steps: Vec<&LadderStep> = STEPS.iter().filter(|step| !step.is_control()).collect();
    let mut batches = args.batches.clone();
    batches.sort_unstable();
    let line = |step: &LadderStep, lengths| {
        let rates = batches.iter().filter_map(|batch| {
            let row = find(rows, step, lengths, *batch)?;
            Some((f64::from(*batch), row.kb_per_s))
        });
        rates.collect()
    };
    let panel = |lengths: &OpLengths| ChartPanel {
        title: title(*lengths).into(),
        lines: steps.iter().map(|step| line(step, *lengths)).collect(),
    };
    let chart = LineChart {
        title: format!("The short-DES ladder ({})", args.cipher),
        x_label: "operations per batch".into(),
        x_axis: AxisScale::Logarithmic,
        y_label: "KB/s".into(),
        y_axis: AxisScale::Logarithmic,
        series: steps.iter().map(|step| format!("{} {}", step.id, step.what)).collect(),
        panels: args.lengths.iter().map(panel).collect(),
    };
    chart.to_svg()
}
