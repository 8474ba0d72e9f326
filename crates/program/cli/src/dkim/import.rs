//! `oarlock dkim import`: OpenDKIM's settings and tables for `oarlock milter`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use oarlock_files::atomic_file::{self, WriteOptions};
use oarlock_mailfilter::opendkim::{ImportSources, ImportWarning, ImportedFilter, import};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::report::print_report;
use oarlock_terminal::table::count;
use serde::Serialize;

use super::DkimError;
use super::args::OpendkimArgs;

/// The names of the files, which the settings name too.
const SETTINGS: &str = "milter.toml";
const TABLE: &str = "signing.table";

/// The files name users and domains, and no secrets. Their directory decides who may read them.
const OPTIONS: WriteOptions = WriteOptions { mode: 0o644, is_synced: true };

/// The result, as `--json` prints it.
#[derive(Debug, Serialize)]
struct ImportReport<'a> {
    /// The paths of the files that were written. Null without `--out`.
    settings_file: Option<&'a Path>,
    table_file: Option<&'a Path>,
    settings: &'a str,
    table: &'a str,
    signing_lines: usize,
    warnings: Vec<ReportedWarning<'a>>,
}

#[derive(Debug, Serialize)]
struct ReportedWarning<'a> {
    file: &'a Path,
    line: Option<usize>,
    entry: &'a str,
    reason: &'a str,
}

pub(super) fn run(global: &GlobalOptions, args: &OpendkimArgs) -> Result<(), DkimError> {
    let sources = ImportSources {
        config: args.config.clone(),
        key_table: args.key_table.clone(),
        signing_table: args.signing_table.clone(),
    };
    let files = args.out.as_deref().map(|out| (out.join(SETTINGS), out.join(TABLE)));
    // Nothing is read if nothing may be written.
    if let (Some((settings, table)), false) = (&files, args.force) {
        [settings, table].into_iter().try_for_each(|path| refuse_existing(path))?;
    }
    let imported = import(&sources, &oarlock_files::read_text)?;
    if let Some((settings, table)) = &files {
        // The table first: the settings must not name a table that is missing.
        write(table, &imported.table)?;
        write(settings, &imported.settings)?;
    }
    for warning in &imported.warnings {
        eprintln!("oarlock: warning: {warning}");
    }
    let report = report(&imported, files.as_ref());
    Ok(print_report(global.json, &report, |_| match &files {
        Some((settings, table)) => written(&imported, settings, table),
        None => format!("# {SETTINGS}\n{}\n# {TABLE}\n{}", imported.settings, imported.table),
    })?)
}

fn report<'a>(imported: &'a ImportedFilter, files: Option<&'a (PathBuf, PathBuf)>) -> ImportReport<'a> {
    let warning = |ImportWarning { path, line, entry, reason }: &'a ImportWarning| ReportedWarning {
        file: path,
        line: *line,
        entry,
        reason,
    };
    ImportReport {
        settings_file: files.map(|(settings, _)| settings.as_path()),
        table_file: files.map(|(_, table)| table.as_path()),
        settings: &imported.settings,
        table: &imported.table,
        signing_lines: imported.lines,
        warnings: imported.warnings.iter().map(warning).collect(),
    }
}

fn written(imported: &ImportedFilter, settings: &Path, table: &Path) -> String {
    format!(
        "{}: {}\n{}: the settings\n{}\nThe filter's user must own the keys, with mode 0600. Then check everything:\n  \
         oarlock milter --config {} --check\n",
        table.display(),
        count(imported.lines as u64, "line"),
        settings.display(),
        count(imported.warnings.len() as u64, "warning"),
        settings.display()
    )
}

fn refuse_existing(path: &Path) -> Result<(), DkimError> {
    // A link whose target is missing counts as a file too.
    match fs::symlink_metadata(path) {
        Ok(_) => Err(DkimError::Exists(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(DkimError::Write { path: path.to_owned(), error }),
    }
}

fn write(path: &Path, text: &str) -> Result<(), DkimError> {
    let failed = |error| DkimError::Write { path: path.to_owned(), error };
    fs::create_dir_all(atomic_file::folder_of(path)).map_err(failed)?;
    atomic_file::write(path, text.as_bytes(), OPTIONS).map_err(failed)
}
