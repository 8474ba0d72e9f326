//! `--compare`: the scalar engine and the fastest one with the caller's messages, as tables 2 to 6 of "Accelerating
//! DKIM" compare software and hardware.

use std::io;
use std::path::{Path, PathBuf};

use cpu_time::ThreadTime;
use oarlock::Accelerator;
use oarlock_dkim::{MailLimits, ParsedMail, to_crlf};
use oarlock_mail_files::mail;
use oarlock_measure::plot::BarChart;
use oarlock_measure::statistics::{median, take_turns};
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::{CellAlign, TableCell, TextTable, count, thousands};
use oarlock_terminal::{GlobalOptions, check_writable, progress};
use serde::Serialize;

use super::MailWork;
use super::args::CompareArgs;
use super::error::MailBenchError;
use super::ours::{EngineMailWork, alone};
use super::task::{MailInput, MailTask, SignatureKind};

/// The number of messages that are signed or verified together.
const BATCH: usize = 128;
/// The engine that stands for software.
const SOFTWARE: &str = "scalar";

/// The reason why a machine with one engine gets no picture.
const NOTHING_TO_DRAW: &str = "--plot: the scalar engine is the only one here, and the picture shows the gain of another over it: \
                               leave --plot out (`oarlock engines` lists the engines)";

/// A table of the paper: the kind of signature, and the milliseconds per message of its hardware and its software.
struct PaperTable {
    number: u8,
    kind: SignatureKind,
    sign_ms: [f64; 2],
    verify_ms: [f64; 2],
}

const PAPER: [PaperTable; 4] = [
    PaperTable {
        number: 2,
        kind: SignatureKind::Rsa1024Sha1,
        sign_ms: [6.072_024, 9.946_899],
        verify_ms: [6.469_257, 6.677_209],
    },
    PaperTable {
        number: 3,
        kind: SignatureKind::Rsa1024,
        sign_ms: [6.417_706, 9.999_939],
        verify_ms: [6.651_458, 6.932_569],
    },
    PaperTable {
        number: 4,
        kind: SignatureKind::Rsa2048Sha1,
        sign_ms: [6.160_404, 13.968_011],
        verify_ms: [6.502_682, 7.183_801],
    },
    PaperTable {
        number: 5,
        kind: SignatureKind::Rsa2048,
        sign_ms: [6.189_453, 13.984_166],
        verify_ms: [6.621_802, 7.185_308],
    },
];

/// One line of one of the tables.
#[derive(Clone, Debug, Serialize)]
struct CompareRow {
    /// The number in the paper; null for signatures that the paper does not measure.
    table: Option<u8>,
    algorithm: &'static str,
    task: &'static str,
    software_us: f64,
    /// Null if this machine has only one engine.
    engine: Option<&'static str>,
    engine_us: Option<f64>,
    gain_percent: Option<f64>,
    paper_hardware_us: Option<f64>,
    paper_software_us: Option<f64>,
    paper_gain_percent: Option<f64>,
}

/// The document that `--json` prints.
#[derive(Debug, Serialize)]
struct CompareReport {
    messages: usize,
    left_out: usize,
    average_bytes: f64,
    median_bytes: usize,
    batch: usize,
    threads: usize,
    turns: u32,
    rows: Vec<CompareRow>,
}

/// Measures the messages of some paths, and prints the tables of the paper for them; draws the gains if `--plot` is
/// given.
///
/// # Errors
/// No message that could be signed, a file that cannot be written, engines that fail.
pub(super) fn run(global: &GlobalOptions, args: &CompareArgs) -> Result<(), MailBenchError> {
    let all = global.builder().lazy().build()?;
    global.warn_absent_engines(&all);
    let fastest = global.measured_engines(&all).into_iter().rfind(|engine| *engine != SOFTWARE);
    if let Some(path) = &args.plot {
        if fastest.is_none() {
            return Err(MailBenchError::Usage(NOTHING_TO_DRAW));
        }
        check_writable(path).map_err(|error| MailBenchError::Plot { path: path.clone(), error })?;
    }
    let (messages, left_out) = load(&args.paths, args.options())?;
    if fastest.is_none() {
        eprintln!("oarlock: {SOFTWARE} is the only engine here: there is nothing to compare it with");
    }
    let engines = std::iter::once(SOFTWARE).chain(fastest);
    let engines: Vec<Accelerator> = engines.map(alone).collect::<Result<_, _>>()?;
    let steps = (SignatureKind::ALL.len() * 2) as u64;
    let bar = progress::bar(steps, "{msg:20!} {wide_bar} {pos}/{len} rows{left}");
    let mut rows = Vec::new();
    for kind in SignatureKind::ALL {
        for task in [MailTask::Sign(kind), MailTask::Verify(kind)] {
            bar.set_message(task.name());
            rows.push(row(task, &messages, &engines, fastest, args.turns)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let mut sizes: Vec<usize> = messages.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    let report = CompareReport {
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

/// Returns the messages that can be signed, and the number of the others.
fn load(paths: &[PathBuf], options: mail::MailOptions) -> Result<(Vec<Vec<u8>>, usize), MailBenchError> {
    let mails = mail::discover(paths, options).mails();
    let (mut messages, mut left_out) = (Vec::new(), 0);
    let limits = MailLimits::default();
    while let Some(mail::MailItem { mail, .. }) = mails.pull() {
        match mail {
            Ok(mail) => {
                let wire = to_crlf(&mail.bytes).into_owned();
                let has_author = ParsedMail::parse(&wire, &limits).is_ok_and(|message| {
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
        return Err(MailBenchError::Usage(
            "none of the messages can be signed: expected messages with one From field",
        ));
    }
    Ok((messages, left_out))
}

fn row(
    task: MailTask,
    messages: &[Vec<u8>],
    engines: &[Accelerator],
    fastest: Option<&'static str>,
    turns: u32,
) -> Result<CompareRow, MailBenchError> {
    let input =
        MailInput::new(task, messages, engines.last().ok_or(MailBenchError::Usage("there is no engine"))?)?;
    let works = engines.iter().map(|engine| EngineMailWork::new(engine, &input, BATCH));
    let mut works: Vec<EngineMailWork> = works.collect::<Result<_, _>>()?;
    let times = take_turns(&mut works, turns, |_, work| pass(work, messages.len()))?;
    let mut medians = times.into_iter().filter_map(median);
    let software_us = medians.next().unwrap_or_default();
    let engine_us = medians.next();
    let kind = task.kind();
    let paper = PAPER.iter().find(|table| table.kind == kind);
    let [paper_hardware_us, paper_software_us] = match (paper, task) {
        (None, _) => [None; 2],
        (Some(table), MailTask::Sign(_)) => table.sign_ms.map(|ms| Some(1e3 * ms)),
        (Some(table), MailTask::Verify(_)) => table.verify_ms.map(|ms| Some(1e3 * ms)),
    };
    let gain = |software: f64, other: Option<f64>| other.map(|other| 100.0 * (software / other - 1.0));
    Ok(CompareRow {
        table: paper.map(|table| table.number),
        algorithm: kind.title(),
        task: match task {
            MailTask::Sign(_) => "signing",
            MailTask::Verify(_) => "verification",
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

/// Handles all messages once, and returns microseconds of CPU time per message.
fn pass(work: &mut EngineMailWork<'_>, messages: usize) -> Result<f64, MailBenchError> {
    let cpu = ThreadTime::now();
    let mut done = 0;
    while done < messages {
        done += work.batch()?;
    }
    Ok(1e6 * cpu.elapsed().as_secs_f64() / done as f64)
}

impl CompareReport {
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

    fn times(rows: &[CompareRow]) -> TextTable {
        // On a machine with one engine there is no column for another.
        let engine = rows.first().and_then(|row| row.engine);
        let mut head = vec![("", CellAlign::Left)];
        head.extend(engine.map(|engine| (engine, CellAlign::Right)));
        head.extend([SOFTWARE, "paper: hardware", "paper: software"].map(|name| (name, CellAlign::Right)));
        let mut table = TextTable::new(head);
        for row in rows {
            let mut cells: Vec<TableCell> = vec![row.task.into()];
            cells.extend(engine.map(|_| micros(row.engine_us)));
            cells.extend([Some(row.software_us), row.paper_hardware_us, row.paper_software_us].map(micros));
            table.row(cells);
        }
        table
    }

    fn gains(&self) -> TextTable {
        let mut table = TextTable::with_columns(["algorithm", "task"], ["gain", "paper"]);
        let percent = |value: Option<f64>| TableCell::optional(value, |value| format!("{value:.1} %"));
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

    /// Draws the gains as bars beside those of the paper.
    fn plot(&self, path: &Path) -> io::Result<()> {
        let group = |row: &CompareRow| {
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
fn micros(value: Option<f64>) -> TableCell {
    TableCell::optional(value, |value| match value {
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => thousands(value.round() as u64),
    })
}
