//! `--compare`: the scalar engine and the fastest one at a corpus of messages, as tables 2 to 6 of "Accelerating DKIM" have
//! software and hardware.

use std::io;
use std::path::{Path, PathBuf};

use cpu_time::ThreadTime;
use oarlock::Accelerator;
use oarlock_dkim::{Limits, Message};
use oarlock_io::mail::{self, to_crlf};
use serde::Serialize;

use super::Work;
use super::args::CompareArgs;
use super::error::MailBenchError;
use super::ours::{Ours, alone};
use super::task::{Input, Kind, Task};
use crate::options::{GlobalOptions, check_writable};
use crate::plot::BarChart;
use crate::progress;
use crate::report::print_report;
use crate::statistics::{median, take_turns};
use crate::table::{Align, Cell, Table, count, thousands};

/// Messages that are signed or verified together.
const BATCH: usize = 128;
/// The engine that stands for software.
const SOFTWARE: &str = "scalar";

/// The reason why a machine with one engine gets no picture.
const NOTHING_TO_DRAW: &str = "--plot: the scalar engine is the only one here, and the picture shows the gain of another over it: \
                               leave --plot out (`oarlock engines` lists the engines)";

/// A table of the paper: which signatures, and the milliseconds per message of its hardware and its software.
struct PaperTable {
    number: u8,
    kind: Kind,
    sign_ms: [f64; 2],
    verify_ms: [f64; 2],
}

const PAPER: [PaperTable; 4] = [
    PaperTable {
        number: 2,
        kind: Kind::Rsa1024Sha1,
        sign_ms: [6.072_024, 9.946_899],
        verify_ms: [6.469_257, 6.677_209],
    },
    PaperTable {
        number: 3,
        kind: Kind::Rsa1024,
        sign_ms: [6.417_706, 9.999_939],
        verify_ms: [6.651_458, 6.932_569],
    },
    PaperTable {
        number: 4,
        kind: Kind::Rsa2048Sha1,
        sign_ms: [6.160_404, 13.968_011],
        verify_ms: [6.502_682, 7.183_801],
    },
    PaperTable {
        number: 5,
        kind: Kind::Rsa2048,
        sign_ms: [6.189_453, 13.984_166],
        verify_ms: [6.621_802, 7.185_308],
    },
];

/// One line of one of the tables.
#[derive(Clone, Debug, Serialize)]
struct Row {
    /// Of the paper; null for what it has not.
    table: Option<u8>,
    algorithm: &'static str,
    task: &'static str,
    software_us: f64,
    /// Null where this machine has one engine alone.
    engine: Option<&'static str>,
    engine_us: Option<f64>,
    gain_percent: Option<f64>,
    paper_hardware_us: Option<f64>,
    paper_software_us: Option<f64>,
    paper_gain_percent: Option<f64>,
}

/// Everything that `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    messages: usize,
    left_out: usize,
    average_bytes: f64,
    median_bytes: usize,
    batch: usize,
    threads: usize,
    turns: u32,
    rows: Vec<Row>,
}

/// Measures the messages of some paths, and prints the tables of the paper for them; draws the gains if `--plot` is given.
///
/// # Errors
/// No message that could be signed, a file that cannot be written, engines that fail.
pub fn run(
    global: &GlobalOptions,
    paths: &[PathBuf],
    options: mail::MailOptions,
    args: &CompareArgs,
) -> Result<(), MailBenchError> {
    let all = global.builder().build()?;
    global.warn_absent_engines(&all);
    let fastest = global.measured_engines(&all).into_iter().rfind(|engine| *engine != SOFTWARE);
    if let Some(path) = &args.plot {
        if fastest.is_none() {
            return Err(MailBenchError::Usage(NOTHING_TO_DRAW));
        }
        check_writable(path).map_err(|error| MailBenchError::Plot { path: path.clone(), error })?;
    }
    let (messages, left_out) = load(paths, options)?;
    if fastest.is_none() {
        eprintln!("oarlock: {SOFTWARE} is the only engine here: there is nothing to compare it with");
    }
    let engines = std::iter::once(SOFTWARE).chain(fastest);
    let engines: Vec<Accelerator> = engines.map(alone).collect::<Result<_, _>>()?;
    let steps = (Kind::ALL.len() * 2) as u64;
    let bar = progress::bar(steps, "{msg:20!} {wide_bar} {pos}/{len} rows{left}");
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        for task in [Task::Sign(kind), Task::Verify(kind)] {
            bar.set_message(task.name());
            rows.push(row(task, &messages, &engines, fastest, args.turns)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let mut sizes: Vec<usize> = messages.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    let report = Report {
        messages: messages.len(),
        left_out,
        average_bytes: sizes.iter().sum::<usize>() as f64 / sizes.len() as f64,
        median_bytes: sizes[sizes.len() / 2],
        batch: BATCH,
        threads: 1,
        turns: args.turns,
        rows,
    };
    print_report(global.json, &report, |in_colour| report.to_text(in_colour))?;
    match &args.plot {
        Some(path) => report.plot(path).map_err(|error| MailBenchError::Plot { path: path.clone(), error }),
        None => Ok(()),
    }
}

/// Messages that can be signed, and how many others there were.
fn load(paths: &[PathBuf], options: mail::MailOptions) -> Result<(Vec<Vec<u8>>, usize), MailBenchError> {
    let mails = mail::discover(paths, options).mails();
    let (mut messages, mut left_out) = (Vec::new(), 0);
    let limits = Limits::default();
    while let Some(mail::MailItem { mail, .. }) = mails.pull() {
        match mail {
            Ok(mail) => {
                let wire = to_crlf(&mail.bytes).into_owned();
                let has_author = Message::parse(&wire, &limits).is_ok_and(|message| {
                    message.headers.iter().filter(|header| header.is(b"From")).count() == 1
                });
                if has_author { messages.push(wire) } else { left_out += 1 }
            }
            Err(error) => {
                eprintln!("oarlock: {error}");
                left_out += 1;
            }
        }
    }
    if messages.is_empty() {
        return Err(MailBenchError::Usage("there is no message that could be signed"));
    }
    Ok((messages, left_out))
}

fn row(
    task: Task,
    messages: &[Vec<u8>],
    engines: &[Accelerator],
    fastest: Option<&'static str>,
    turns: u32,
) -> Result<Row, MailBenchError> {
    let input =
        Input::new(task, messages, engines.last().ok_or(MailBenchError::Usage("there is no engine"))?)?;
    let works = engines.iter().map(|engine| Ours::new(engine, &input, BATCH));
    let mut works: Vec<Ours> = works.collect::<Result<_, _>>()?;
    let times = take_turns(&mut works, turns, |_, work| pass(work, messages.len()))?;
    let mut medians = times.into_iter().filter_map(median);
    let software_us = medians.next().unwrap_or_default();
    let engine_us = medians.next();
    let kind = task.kind();
    let paper = PAPER.iter().find(|table| table.kind == kind);
    let [paper_hardware_us, paper_software_us] = match (paper, task) {
        (None, _) => [None; 2],
        (Some(table), Task::Sign(_)) => table.sign_ms.map(|ms| Some(1e3 * ms)),
        (Some(table), Task::Verify(_)) => table.verify_ms.map(|ms| Some(1e3 * ms)),
    };
    let gain = |software: f64, other: Option<f64>| other.map(|other| 100.0 * (software / other - 1.0));
    Ok(Row {
        table: paper.map(|table| table.number),
        algorithm: kind.title(),
        task: match task {
            Task::Sign(_) => "signing",
            Task::Verify(_) => "verification",
        },
        software_us,
        engine: fastest,
        engine_us,
        gain_percent: gain(software_us, engine_us),
        paper_hardware_us,
        paper_software_us,
        paper_gain_percent: paper_software_us.and_then(|software| gain(software, paper_hardware_us)),
    })
}

/// Microseconds of CPU per message, all of them once.
fn pass(work: &mut Ours<'_>, messages: usize) -> Result<f64, MailBenchError> {
    let cpu = ThreadTime::now();
    let mut done = 0;
    while done < messages {
        done += work.batch()?;
    }
    Ok(1e6 * cpu.elapsed().as_secs_f64() / done as f64)
}

impl Report {
    fn to_text(&self, in_colour: bool) -> String {
        let Self { messages, left_out, average_bytes, median_bytes, batch, turns, .. } = self;
        let mut text = format!(
            "{} of {:.1} KB on average, median {:.1} KB{}; relaxed/relaxed, batches of {batch}, one key, one thread; \
             microseconds of CPU per message, median of {}\n",
            count(*messages as u64, "message"),
            average_bytes / 1e3,
            *median_bytes as f64 / 1e3,
            if *left_out > 0 { format!(", {left_out} left out") } else { String::new() },
            count((*turns).into(), "turn"),
        );
        for rows in self.rows.chunks(2) {
            let Some(first) = rows.first() else { continue };
            text += &match first.table {
                Some(number) => format!("\nTable {number}: {}\n", first.algorithm),
                None => format!("\nBeyond the paper: {}\n", first.algorithm),
            };
            text += &Self::times(rows).render(in_colour);
        }
        text + "\nTable 6: gains from end to end\n" + &self.gains().render(in_colour)
    }

    fn times(rows: &[Row]) -> Table {
        // On a machine with one engine there is no column for another.
        let engine = rows.first().and_then(|row| row.engine);
        let mut head = vec![("", Align::Left)];
        head.extend(engine.map(|engine| (engine, Align::Right)));
        head.extend([SOFTWARE, "paper: hardware", "paper: software"].map(|name| (name, Align::Right)));
        let mut table = Table::new(head);
        for row in rows {
            let mut cells: Vec<Cell> = vec![row.task.into()];
            cells.extend(engine.map(|_| micros(row.engine_us)));
            cells.extend([Some(row.software_us), row.paper_hardware_us, row.paper_software_us].map(micros));
            table.row(cells);
        }
        table
    }

    fn gains(&self) -> Table {
        let mut table = Table::new([
            ("algorithm", Align::Left),
            ("task", Align::Left),
            ("gain", Align::Right),
            ("paper", Align::Right),
        ]);
        let percent = |value: Option<f64>| value.map_or(Cell::none(), |value| format!("{value:.1} %").into());
        for row in &self.rows {
            table.row([
                row.algorithm.into(),
                row.task.into(),
                percent(row.gain_percent),
                percent(row.paper_gain_percent),
            ]);
        }
        table
    }

    /// Gains as bars, the paper's beside.
    fn plot(&self, path: &Path) -> io::Result<()> {
        let group = |row: &Row| {
            (
                format!("{} {}", row.algorithm, row.task),
                vec![
                    row.gain_percent.ok_or_else(|| "one engine".to_owned()),
                    row.paper_gain_percent.ok_or_else(|| "not in the paper".to_owned()),
                ],
            )
        };
        let engine = self.rows.first().and_then(|row| row.engine).unwrap_or("no engine");
        let chart = BarChart {
            title: "oarlock dkim --compare".into(),
            x_label: format!(
                "gain over the {SOFTWARE} engine, from end to end, {}",
                count(self.messages as u64, "message")
            ),
            unit: " %".into(),
            mark: None,
            series: vec![engine.into(), "hardware of the paper".into()],
            groups: self.rows.iter().map(group).collect(),
        };
        std::fs::write(path, chart.to_svg())
    }
}

/// Microseconds, to three digits.
fn micros(value: Option<f64>) -> Cell {
    value.map_or(Cell::none(), |value| match value {
        ..10.0 => format!("{value:.2}").into(),
        ..100.0 => format!("{value:.1}").into(),
        _ => thousands(value.round() as u64).into(),
    })
}
