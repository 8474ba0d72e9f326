//! Tables, JSON and picture of `oarlock sockets bench`.

use oarlock_measure::plot::BarChart;
use oarlock_measure::sockets::SocketSuite;
use oarlock_terminal::table::{CellAlign, CellTone, TableCell, TextTable, bytes};
use serde::Serialize;

use super::args::{SealMethod, SocketFrames};
use super::paper;
use super::plan::{RowPlan, WayRun};
use super::wire::WireCalls;

/// A row of the tables. The fields are those of the documented JSON.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SocketsRow {
    pub(super) way: SealMethod,
    pub(super) suite: SocketSuite,
    /// The bytes of a buffer.
    pub(super) size: usize,
    pub(super) streams: usize,
    pub(super) frames: SocketFrames,
    pub(super) records_per_call: usize,
    /// From the first call to the arrival of the last byte.
    pub(super) seconds: Option<f64>,
    /// The CPU time of the sender's thread.
    pub(super) cpu_seconds: Option<f64>,
    pub(super) calls_per_buffer: Option<f64>,
    pub(super) border_bytes_per_byte: Option<f64>,
    pub(super) copied_bytes_per_byte: Option<f64>,
    pub(super) gb_per_cpu_s: Option<f64>,
    /// The calls under the names that strace gives them.
    pub(super) calls: Option<WireCalls>,
    pub(super) available: bool,
    pub(super) why_not: Option<String>,
}

impl SocketsRow {
    /// Makes the row of a way that is not there.
    pub(super) fn absent(plan: &RowPlan, reason: String) -> Self {
        Self {
            way: plan.way,
            suite: plan.suite,
            size: plan.sizes.size,
            streams: plan.streams,
            frames: plan.sizes.frames,
            records_per_call: plan.sizes.records_per_call,
            seconds: None,
            cpu_seconds: None,
            calls_per_buffer: None,
            border_bytes_per_byte: None,
            copied_bytes_per_byte: None,
            gb_per_cpu_s: None,
            calls: None,
            available: false,
            why_not: Some(reason),
        }
    }

    /// Makes the row of a turn.
    pub(super) fn measured(plan: &RowPlan, bytes: u64, run: &WayRun) -> Self {
        let (result, buffers) = (&run.result, bytes.div_ceil(plan.sizes.size as u64));
        Self {
            seconds: Some(result.seconds),
            cpu_seconds: Some(result.cpu_seconds),
            calls_per_buffer: Some(result.calls.calls() as f64 / buffers as f64),
            border_bytes_per_byte: Some(result.calls.bytes() as f64 / bytes as f64),
            copied_bytes_per_byte: Some(run.copied_bytes_per_byte),
            gb_per_cpu_s: Some(bytes as f64 / 1e9 / result.cpu_seconds),
            calls: Some(result.calls),
            available: true,
            why_not: None,
            ..Self::absent(plan, String::new())
        }
    }

    /// True if both rows differ in nothing but their way and their size.
    fn is_beside(&self, other: &Self) -> bool {
        let key = |row: &Self| (row.suite, row.streams, row.frames, row.records_per_call);
        key(self) == key(other)
    }

    /// Returns the border's bytes without the file's own read.
    fn border_without_file(&self) -> Option<f64> {
        let read = if self.way == SealMethod::Sendfile { 0.0 } else { 1.0 };
        self.border_bytes_per_byte.map(|bytes| bytes - read)
    }
}

/// Returns both tables, and the reasons of the ways that are not there.
pub(super) fn to_text(rows: &[SocketsRow], in_colour: bool) -> String {
    let mut text = String::new();
    for group in groups(rows) {
        let first = group[0];
        text += &format!(
            "{}, {} connection(s), {} frames, {} buffer(s) a call\n",
            first.suite.name(),
            first.streams,
            first.frames,
            first.records_per_call
        );
        text += &first_table(&group).render(in_colour);
        let second = second_table(&group);
        if let Some(second) = second {
            text += "\nSaved by the kernel, beside the paper's figures (- is more, not less)\n";
            text += &second.render(in_colour);
        }
        text.push('\n');
    }
    text + &reasons(rows)
}

/// Returns the rows of each combination of suite, connections, frames and calls.
fn groups(rows: &[SocketsRow]) -> Vec<Vec<&SocketsRow>> {
    let mut groups: Vec<Vec<&SocketsRow>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| group[0].is_beside(row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// The paper's table I, with the counts beside the times.
fn first_table(rows: &[&SocketsRow]) -> TextTable {
    let mut table = TextTable::with_columns(
        ["way"],
        ["buffer", "seconds", "paper's", "CPU s", "GB/CPU s", "calls/buffer", "border B/B", "copied B/B"],
    );
    for row in rows {
        let number = |value: Option<f64>, decimals: usize| {
            TableCell::optional(value, |value| format!("{value:.decimals$}"))
        };
        let seconds = match row.seconds {
            Some(_) => number(row.seconds, 3),
            None => TableCell::toned("not here", CellTone::Faint),
        };
        let paper = match row.way {
            SealMethod::User => paper::at_size(paper::USER_SECONDS, row.size),
            SealMethod::Device => paper::at_size(paper::DEVICE_SECONDS, row.size),
            SealMethod::Kernel => paper::at_size(paper::KERNEL_SECONDS, row.size),
            SealMethod::Sendfile | SealMethod::Plain => None,
        };
        table.row([
            row.way.name().into(),
            bytes(row.size).into(),
            seconds,
            number(paper, 2),
            number(row.cpu_seconds, 3),
            number(row.gb_per_cpu_s, 2),
            number(row.calls_per_buffer, 4),
            number(row.border_bytes_per_byte, 4),
            number(row.copied_bytes_per_byte, 2),
        ]);
    }
    table
}

/// A comparison of table II: the kernel's way, another one, a figure of both, and the paper's percentages.
type SavedFigure = (&'static str, SealMethod, SealMethod, fn(&SocketsRow) -> Option<f64>, Option<[f64; 3]>);

const SAVED: [SavedFigure; 9] = [
    (
        "seconds, kernel for user",
        SealMethod::Kernel,
        SealMethod::User,
        |row| row.seconds,
        Some(paper::SAVED_AGAINST_USER),
    ),
    (
        "seconds, kernel for device",
        SealMethod::Kernel,
        SealMethod::Device,
        |row| row.seconds,
        Some(paper::SAVED_AGAINST_DEVICE),
    ),
    (
        "calls, kernel for device",
        SealMethod::Kernel,
        SealMethod::Device,
        |row| row.calls_per_buffer,
        Some([paper::SAVED_CALLS; 3]),
    ),
    (
        "copies, kernel for device",
        SealMethod::Kernel,
        SealMethod::Device,
        SocketsRow::border_without_file,
        Some([paper::SAVED_COPIES; 3]),
    ),
    ("calls, kernel for user", SealMethod::Kernel, SealMethod::User, |row| row.calls_per_buffer, None),
    ("copies, kernel for user", SealMethod::Kernel, SealMethod::User, SocketsRow::border_without_file, None),
    ("CPU s, kernel for user", SealMethod::Kernel, SealMethod::User, |row| row.cpu_seconds, None),
    ("calls, sendfile for user", SealMethod::Sendfile, SealMethod::User, |row| row.calls_per_buffer, None),
    ("CPU s, sendfile for user", SealMethod::Sendfile, SealMethod::User, |row| row.cpu_seconds, None),
];

/// The paper's table II. None if no row has its counterpart.
fn second_table(rows: &[&SocketsRow]) -> Option<TextTable> {
    let mut sizes: Vec<usize> = rows.iter().map(|row| row.size).collect();
    sizes.dedup();
    let head = sizes
        .iter()
        .flat_map(|size| [(bytes(*size), CellAlign::Right), ("paper's".into(), CellAlign::Right)]);
    let mut table = TextTable::new([("saved".to_owned(), CellAlign::Left)].into_iter().chain(head));
    let mut is_empty = true;
    for (name, one, other, figure, papers) in SAVED {
        let at = |way, size| {
            rows.iter().find(|row| (row.way, row.size) == (way, size)).and_then(|row| figure(row))
        };
        let mut cells: Vec<TableCell> = vec![name.into()];
        let mut has_value = false;
        for size in &sizes {
            let saved =
                at(one, *size).zip(at(other, *size)).and_then(|(one, other)| saved_percent(one, other));
            has_value |= saved.is_some();
            cells.push(TableCell::optional(saved, |percent| format!("{percent:.1} %")));
            let paper = papers.and_then(|figures| paper::at_size(figures, *size));
            cells.push(TableCell::optional(paper, |percent| format!("{percent:.0} %")));
        }
        if has_value {
            is_empty = false;
            table.row(cells);
        }
    }
    (!is_empty).then_some(table)
}

fn saved_percent(one: f64, other: f64) -> Option<f64> {
    // A difference of nothing is 0 and not -0.
    Some(100.0 * (1.0 - one / other)).filter(|percent| percent.is_finite()).map(|percent| percent + 0.0)
}

/// Returns a line for each reason.
fn reasons(rows: &[SocketsRow]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for row in rows {
        if let Some(reason) = &row.why_not {
            let line = format!("{} is not here: {reason}\n", row.way.name());
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.concat()
}

/// Draws the CPU time of each way.
pub(super) fn to_svg(rows: &[SocketsRow]) -> String {
    let mut ways: Vec<SealMethod> = Vec::new();
    let mut groups: Vec<(String, &SocketsRow)> = Vec::new();
    for row in rows {
        if !ways.contains(&row.way) {
            ways.push(row.way);
        }
        let name = format!(
            "{} {}, {} streams, {}, {} a call",
            row.suite.name(),
            bytes(row.size),
            row.streams,
            row.frames,
            row.records_per_call
        );
        if groups.iter().all(|(known, _)| *known != name) {
            groups.push((name, row));
        }
    }
    let bar = |first: &SocketsRow, way: SealMethod| {
        let row = rows.iter().find(|row| row.way == way && row.size == first.size && row.is_beside(first));
        match row {
            Some(row) => row.gb_per_cpu_s.ok_or_else(|| row.why_not.clone().unwrap_or_default()),
            None => Err("not measured".to_owned()),
        }
    };
    let groups =
        groups.iter().map(|(name, first)| (name.clone(), ways.iter().map(|way| bar(first, *way)).collect()));
    let chart = BarChart {
        title: "oarlock sockets bench".into(),
        x_label: "GB per second of the sender's CPU".into(),
        unit: String::new(),
        mark: None,
        series: ways.iter().map(|way| way.name().to_owned()).collect(),
        groups: groups.collect(),
    };
    chart.to_svg()
}
