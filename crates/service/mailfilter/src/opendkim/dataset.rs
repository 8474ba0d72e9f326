//! Data sets of OpenDKIM. opendkim(8), DATA SETS.

use std::path::Path;

use super::conf::{ConfLine, without_comment};
use super::{EntryPosition, ImportError, ReadFile};

/// The form of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataSetForm {
    /// A key finds the entry that is equal to it.
    Keys,
    /// An entry is a pattern for keys.
    Patterns,
}

/// An entry: a key, and a value if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataEntry {
    pub(super) key: String,
    pub(super) value: Option<String>,
    pub(super) source: EntryPosition,
}

/// A data set in a file or in a setting itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DataSet {
    pub(super) form: DataSetForm,
    pub(super) entries: Vec<DataEntry>,
}

impl DataSet {
    /// Reads the data set that a setting names. Relative paths start at `base`.
    pub(super) fn open(line: &ConfLine, base: &Path, read: ReadFile<'_>) -> Result<Self, ImportError> {
        let text = line.value.as_str();
        let (form, name) = match text.split_once(':') {
            Some(("refile", name)) => (DataSetForm::Patterns, name),
            Some(("file", name)) => (DataSetForm::Keys, name),
            Some(("csl", list)) => return Ok(Self::of_list(line, list)),
            // What follows may be an address with a password.
            Some((
                form @ ("db" | "dsn" | "ldap" | "ldapi" | "ldaps" | "lua" | "memcache" | "erlang" | "mdb"),
                _,
            )) => {
                return Err(ImportError::DataSet { name: line.name.clone(), form: format!("{form}:") });
            }
            _ if text.ends_with(".db") => {
                return Err(ImportError::DataSet {
                    name: line.name.clone(),
                    form: "a Berkeley database".into(),
                });
            }
            _ if text.starts_with('/') || text.starts_with("./") || text.starts_with("../") => {
                (DataSetForm::Keys, text)
            }
            _ => return Ok(Self::of_list(line, text)),
        };
        let path = base.join(name);
        let text = read(&path).map_err(|error| ImportError::Read { path: path.clone(), error })?;
        Ok(Self { form, entries: entries(&text, &path) })
    }

    /// Returns the data set of a list `KEY,KEY` or `KEY=VALUE,KEY=VALUE`.
    fn of_list(line: &ConfLine, list: &str) -> Self {
        let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
        let entry = |item: &str| {
            let (key, value) = item.split_once('=').map_or((item, None), |(key, value)| (key, Some(value)));
            DataEntry { key: key.to_owned(), value: value.map(str::to_owned), source: line.source.clone() }
        };
        Self { form: DataSetForm::Keys, entries: items.map(entry).collect() }
    }
}

fn entries(text: &str, path: &Path) -> Vec<DataEntry> {
    let entry = |(line, number): (&str, usize)| {
        let line = without_comment(line);
        let (key, value) =
            line.split_once(char::is_whitespace).map_or((line, None), |(key, value)| (key, Some(value)));
        let source = EntryPosition { path: path.to_owned(), line: number };
        let value = value.map(|value| value.trim_start().to_owned());
        (!key.is_empty()).then(|| DataEntry { key: key.to_owned(), value, source })
    };
    text.lines().zip(1..).filter_map(entry).collect()
}
