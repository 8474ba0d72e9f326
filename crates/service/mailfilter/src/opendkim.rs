//! The settings and tables of OpenDKIM in the form of this filter.
//!
//! | file | content |
//! |---|---|
//! | `opendkim` | the import and its result |
//! | `opendkim/conf` | the lines of `opendkim.conf` |
//! | `opendkim/dataset` | data sets: flat files, files of patterns and lists |
//! | `opendkim/keys` | the key table |
//! | `opendkim/signatures` | the signing table, and the lines that it becomes |
//! | `opendkim/pattern` | the patterns of the signing table |
//! | `opendkim/settings` | the other settings, and the text of `milter.toml` |
//!
//! Nothing quotes the value of a key table, which may be a private key.

mod conf;
mod dataset;
mod keys;
mod pattern;
mod settings;
mod signatures;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use conf::ConfLines;
use dataset::DataSet;
use keys::OpendkimKeyTable;
use signatures::{RuleMatching, SigningRules};

/// The files to import: `opendkim.conf`, or the two tables, or all of them. Tables that are named here replace those of
/// the settings.
#[derive(Clone, Debug, Default)]
pub struct ImportSources {
    /// The path of `opendkim.conf`.
    pub config: Option<PathBuf>,
    /// The key table, as `opendkim.conf` names it: a path, `file:PATH` or `refile:PATH`.
    pub key_table: Option<String>,
    /// The signing table, as `opendkim.conf` names it.
    pub signing_table: Option<String>,
}

/// The settings and the signing table of this filter, made from those of OpenDKIM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFilter {
    /// The text of `milter.toml`. It names the table `signing.table` beside it.
    pub settings: String,
    /// The text of the signing table.
    pub table: String,
    /// The number of lines of the signing table.
    pub lines: usize,
    /// The entries and settings that are not carried over, or only in part.
    pub warnings: Vec<ImportWarning>,
}

/// An entry or a setting that is not carried over, or only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportWarning {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1. None if the warning concerns the file as a whole.
    pub line: Option<usize>,
    /// The name of the setting, the pattern or the key. Empty if it cannot be shown.
    pub entry: String,
    /// The reason why the entry has no counterpart.
    pub reason: String,
}

impl fmt::Display for ImportWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match self.entry.as_str() {
            "" => write!(f, ": {}", self.reason),
            entry => write!(f, ": {entry}: {}", self.reason),
        }
    }
}

/// An error that prevents an import.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A table has a form that is not a file or a list.
    #[error(
        "{name}: {form}: this form of data set cannot be read: expected a file (a path, file:PATH or refile:PATH) or a \
         list; write the data to a file and name it by --key-table or --signing-table"
    )]
    DataSet {
        /// The name of the setting.
        name: String,
        /// The form found, without its address or password.
        form: String,
    },
    /// Files include each other without end.
    #[error("{}:{line}: Include: expected at most {max} levels of files", path.display())]
    Includes {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The maximum.
        max: usize,
    },
    /// One of the two tables is missing.
    #[error("{found} without {missing}: expected both tables, or Domain, Selector and KeyFile, in one place")]
    OneTable {
        /// The name of the table that is set.
        found: &'static str,
        /// The name of the table that is not set.
        missing: &'static str,
    },
}

/// The position of an entry in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EntryPosition {
    path: PathBuf,
    line: usize,
}

impl EntryPosition {
    fn warning(&self, entry: &str, reason: impl Into<String>) -> ImportWarning {
        let (path, entry) = (self.path.clone(), entry.to_owned());
        ImportWarning { path, line: Some(self.line), entry, reason: reason.into() }
    }
}

/// A reader of files. Fuzz targets and tests read none.
type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// Imports the settings and tables that `sources` names. `read` reads a file.
///
/// # Errors
/// A file cannot be read, or the tables are not files.
pub fn import(sources: &ImportSources, read: ReadFile<'_>) -> Result<ImportedFilter, ImportError> {
    let mut warnings = Vec::new();
    let mut conf = match &sources.config {
        Some(path) => ConfLines::read(path, read, &mut warnings)?,
        None => ConfLines::default(),
    };
    conf.replace("KeyTable", sources.key_table.as_deref());
    conf.replace("SigningTable", sources.signing_table.as_deref());
    let rules = rules(&conf, sources, read, &mut warnings)?;
    let lines = rules.map_or_else(Vec::new, |rules| rules.lines(&mut warnings));
    let settings = settings::text(&conf, !lines.is_empty(), read, &mut warnings)?;
    let table: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Ok(ImportedFilter { settings, table, lines: lines.len(), warnings })
}

/// Returns the rules for signing of the tables, or of a single key. None if nothing is signed.
fn rules(
    conf: &ConfLines,
    sources: &ImportSources,
    read: ReadFile<'_>,
    warnings: &mut Vec<ImportWarning>,
) -> Result<Option<SigningRules>, ImportError> {
    let open =
        |name: &'static str| conf.get(name).map(|line| DataSet::open(line, conf.base(), read)).transpose();
    let (keys, signing) = match (open("KeyTable")?, open("SigningTable")?) {
        (Some(keys), Some(signing)) => (keys, signing),
        (None, None) => return signatures::of_single_key(conf, read, warnings),
        (Some(_), None) => return Err(ImportError::OneTable { found: "KeyTable", missing: "SigningTable" }),
        (None, Some(_)) => return Err(ImportError::OneTable { found: "SigningTable", missing: "KeyTable" }),
    };
    let matching = match (&sources.config, conf.is_true("MultipleSignatures")) {
        (None, _) => RuleMatching::Every,
        (Some(_), true) => RuleMatching::Multiple,
        (Some(_), false) => RuleMatching::First,
    };
    let keys = OpendkimKeyTable::parse(&keys, conf.base(), warnings);
    Ok(Some(SigningRules::parse(&signing, keys, matching, warnings)))
}

#[cfg(test)]
mod tests;
