//! `oarlock audit verify`.

use std::fmt::Write as _;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::Args;
use oarlock_mail_files::compressed::{self, STDIN};
use oarlock_server::audit_chain::{ChainFile, ChainReport, ChainVerifier, LineHash, read_chain_end};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::count;

use super::AuditCommandError;

/// Arguments of `oarlock audit verify`.
#[derive(Args, Debug)]
#[command(
    after_help = "Each line of the log carries the hash of the line before it. The command reports each line that does not fit, \
                  and ends with exit code 1 if there is one. Give all files of a log that was rotated: the command finds \
                  their order.\n\
                  The chain has no key. A user who may write the file can make a new chain, so keep a hash elsewhere: compare \
                  --last with the hash that syslog or an earlier run has.\n\n\
                  Examples: oarlock audit verify /var/log/oarlock/audit.jsonl*\n          \
                  oarlock audit verify --first HASH audit.jsonl   (HASH: \"last\" of an earlier run)\n          \
                  oarlock --json audit verify audit.jsonl.1.gz audit.jsonl"
)]
pub(super) struct VerifyAuditArgs {
    /// Files of one log, also as .gz, .xz or .zst; `-` is standard input. Files `NAME.chain` are skipped
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Hash that the first line must carry: that of the last line before it
    #[arg(long, value_name = "HASH")]
    first: Option<LineHash>,
    /// Hash of the last line [default: the content of FILE.chain, which a server leaves when it stops]
    #[arg(long, value_name = "HASH")]
    last: Option<LineHash>,
}

pub(super) fn run(global: &GlobalOptions, args: &VerifyAuditArgs) -> Result<(), AuditCommandError> {
    // A pattern such as `audit.jsonl*` fits the kept hash too.
    let files: Vec<&PathBuf> = args.files.iter().filter(|path| !is_chain_end(path)).collect();
    let last = match args.last {
        Some(last) => Some(last),
        None => kept_end(&files)?,
    };
    let mut verifier = ChainVerifier::new(args.first, last);
    for path in files {
        let failed = |error| AuditCommandError::Read { path: path.clone(), error };
        let mut input = BufReader::new(compressed::open(path).map_err(failed)?);
        verifier.read(&path.display().to_string(), &mut input).map_err(failed)?;
    }
    let report = verifier.finish();
    // Printed before the error: the report is the answer also if the chain is broken.
    print_report(global.json, &report, |_| text(&report))?;
    match report.faults.first() {
        None => Ok(()),
        Some(_) if report.fault_count > 1 => {
            Err(AuditCommandError::Broken(count(report.fault_count, "break")))
        }
        Some(fault) => Err(AuditCommandError::Broken(fault.to_string())),
    }
}

fn is_chain_end(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "chain")
}

/// Returns the hash that a server left beside one of the files when it stopped.
fn kept_end(files: &[&PathBuf]) -> Result<Option<LineHash>, AuditCommandError> {
    // Standard input has no path beside which a hash could be.
    for path in files.iter().filter(|path| path.as_path() != Path::new(STDIN)) {
        let kept = read_chain_end(path);
        let kept = kept.map_err(|error| AuditCommandError::Read {
            path: oarlock_server::audit_chain::chain_end_path(path),
            error,
        })?;
        if kept.is_some() {
            return Ok(kept);
        }
    }
    Ok(None)
}

fn text(report: &ChainReport) -> String {
    let mut text = String::new();
    for file in &report.files {
        let ChainFile { file, entries, unchained, torn, .. } = file;
        // Writing to a string cannot fail.
        let _ = write!(text, "{file}: {}", count(*entries, "entry"));
        if *unchained > 0 {
            let _ = write!(text, ", {unchained} of them from before the chain began");
        }
        if *torn > 0 {
            let _ = write!(text, ", {}", count(*torn, "cut line"));
        }
        text.push('\n');
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    more(&mut text, report.note_count, report.notes.len(), "note");
    for fault in &report.faults {
        let _ = writeln!(text, "broken: {fault}");
    }
    more(&mut text, report.fault_count, report.faults.len(), "break");
    if let Some(last) = report.last {
        let _ = writeln!(text, "last: {last}");
    }
    if report.is_whole {
        let _ = writeln!(text, "the chain is whole: {}", count(report.entries, "entry"));
    }
    text
}

fn more(text: &mut String, all: u64, listed: usize, noun: &str) {
    let hidden = all - listed as u64;
    if hidden > 0 {
        let _ = writeln!(text, "{} more", count(hidden, noun));
    }
}
