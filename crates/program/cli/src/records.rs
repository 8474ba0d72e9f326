//! `oarlock records`: columns of CSV, NDJSON and Arrow files, encrypted, decrypted, translated and authenticated.
//!
//! Rows stream through in constant memory and keep their order. A row that fails is rejected with its line and the
//! reason; the others go on. A file appears whole or not at all: it is written beside its name, synced, then renamed.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command's arguments, and the job that they describe |
//! | `arrow` | Arrow files, batch by batch |
//! | `column` | the column of a batch, computed and replaced |
//! | `keys` | keys by flag, from a file of keys, or at a cryptoserver |
//! | `source` | the input file, cut into chunks of whole rows |
//! | `pipeline` | threads that read, compute and write in turns |
//! | `order` | chunks in their order, rejected rows, progress |
//! | `error` | the errors |

mod args;
mod arrow;
mod column;
mod error;
mod keys;
mod messages;
mod order;
mod pipeline;
mod source;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use indicatif::ProgressBar;
use oarlock::Accelerator;
use oarlock_files::output::OutputFile;
use oarlock_records::{FileFormat, FilePlan};
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::count;
use oarlock_terminal::{GlobalOptions, progress};
use oarlock_wire::RemoteHolder;
use serde::Serialize;

pub(crate) use self::args::RecordsArgs;
use self::args::{FileArgs, InputFormat};
pub(crate) use self::error::RecordsError;
use self::order::{ChunkOrder, RowTotals};
use self::pipeline::RecordPipeline;
use self::source::{ChunkSource, InputFile};

/// Runs the command.
///
/// # Errors
/// Wrong usage or input, a machine that failed, or rows that were rejected: everything else is then done.
pub(crate) fn run(global: &GlobalOptions, args: &RecordsArgs) -> Result<(), RecordsError> {
    let files = args.files();
    files.check(global.json)?;
    let mut input = InputFile::open(&files.input)?;
    match files.format(&mut input)? {
        InputFormat::Arrow => arrow::run(global, args, input),
        InputFormat::Rows(format) => run_rows(global, args, input, format),
    }
}

/// Runs the command on a file of rows.
fn run_rows(
    global: &GlobalOptions,
    args: &RecordsArgs,
    input: InputFile,
    format: FileFormat,
) -> Result<(), RecordsError> {
    let files = args.files();
    let keys = keys::load(global, args)?;
    let job = args.job(&keys)?;
    let name = input.name.clone();
    let mut source = ChunkSource::new(input, format);
    let (plan, header) =
        source.look(|chunk| FilePlan::new(job, keys.names, format, chunk).map_err(RecordsError::Plan))?;
    let secret = args.writes_plaintext();
    // Opened after the plan, so that options that do not fit leave no file behind.
    let output = OutputFile::open(&files.output, secret)?;
    let rejects = files.rejects.as_deref().map(|path| OutputFile::open(path, true)).transpose()?;
    let accelerator = build_accelerator(global, keys.server)?;
    let threads = global.bulk_threads();
    global.note(|| count(threads as u64, "thread"));

    let started = Instant::now();
    let bar = progress_bar(source.len_bytes());
    let order = ChunkOrder::new(&plan, output, rejects, header, &bar)?;
    let shared = RecordPipeline { plan: &plan, accelerator: &accelerator, table: &keys.table, source, order };
    let totals = shared.run(threads);
    // Before an error is returned, because the bar would stay on the terminal.
    bar.finish_and_clear();
    let totals = totals?;
    totals.warn_of_no_rows(&name);
    let summary = RecordsSummary::from_totals(&totals, threads, started.elapsed().as_secs_f64());
    summary.print(global)?;
    totals.verdict()
}

fn build_accelerator(
    global: &GlobalOptions,
    server: Option<RemoteHolder>,
) -> Result<Accelerator, RecordsError> {
    let builder =
        server.into_iter().fold(global.builder(), |builder, server| builder.holder(Arc::new(server)));
    let accelerator = builder.lazy().build()?;
    // Every engine gives the same rows, so absent engines matter only to users who name engines.
    if global.verbose || global.engines.is_some() {
        global.warn_absent_engines(&accelerator);
    }
    Ok(accelerator)
}

/// Returns a bar over the bytes of a file. The length of a pipe is unknown.
fn progress_bar(len_bytes: Option<u64>) -> ProgressBar {
    match len_bytes {
        Some(len) if len > 0 => progress::bar(len, "{wide_bar} {bytes} of {total_bytes}{left}"),
        _ => progress::bar(0, "{spinner} {bytes}"),
    }
}

/// The summary, as `--json` prints it.
#[derive(Debug, Serialize)]
struct RecordsSummary {
    rows: u64,
    done: u64,
    rejected: u64,
    bytes_in: u64,
    bytes_out: u64,
    seconds: f64,
    rows_per_s: f64,
    threads: usize,
}

impl RecordsSummary {
    fn from_totals(totals: &RowTotals, threads: usize, seconds: f64) -> Self {
        Self {
            rows: totals.rows,
            done: totals.rows - totals.rejected,
            rejected: totals.rejected,
            bytes_in: totals.bytes_in,
            bytes_out: totals.bytes_out,
            seconds,
            rows_per_s: totals.rows as f64 / seconds.max(f64::EPSILON),
            threads,
        }
    }

    fn print(&self, global: &GlobalOptions) -> Result<(), RecordsError> {
        global.note(|| {
            format!("{} in {:.3} s, {:.0} rows/s", count(self.rows, "row"), self.seconds, self.rows_per_s)
        });
        Ok(print_report(global.json, self, |_| String::new())?)
    }
}

/// True for `-`, which stands for standard input or output.
fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// True if two paths are one file.
fn is_same(left: &Path, right: &Path) -> bool {
    if is_standard(left) || is_standard(right) {
        return false;
    }
    // A file that does not exist yet has no canonical path, and is compared by its name.
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    resolved(left) == resolved(right)
}

impl FileArgs {
    fn check(&self, json: bool) -> Result<(), RecordsError> {
        let mut written = vec![&self.output];
        written.extend(&self.rejects);
        if let Some(path) = written.iter().find(|path| is_same(path, &self.input)) {
            return Err(RecordsError::OverInput { path: (*path).clone() });
        }
        // `is_same` compares files only, so `-` given twice is found by its name.
        if let Some(rejects) = &self.rejects
            && (is_same(rejects, &self.output) || rejects == &self.output)
        {
            return Err(RecordsError::Usage("--out and --rejects are the same file: expected two files"));
        }
        if json && written.iter().any(|path| is_standard(path)) {
            return Err(RecordsError::Usage(
                "with --json stdout has JSON only: expected --out FILE for the rows",
            ));
        }
        Ok(())
    }
}
