//! The key table: `NAME DOMAIN:SELECTOR:PATH`. opendkim.conf(5), KeyTable.

use std::collections::HashMap;
use std::path::Path;

use oarlock_dkim::ascii_form;
use oarlock_hsm::UriError;
use oarlock_service_kit::HeldKeyName;

use super::dataset::DataSet;
use super::{EntryPosition, ImportWarning};

/// The name of a domain or a file that stands for the domain of the author.
const ANY: &str = "%";

const RELATIVE: &str = "the path of the key is relative: OpenDKIM starts at its working directory, this filter at the \
                        directory of the signing table";

/// A key of the key table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpendkimKey {
    /// The value of `d=`. None stands for the author's own domain.
    pub(super) domain: Option<String>,
    pub(super) selector: String,
    /// The path of the key file, or the URI of a key in a device. `%` stands for the author's own domain.
    pub(super) path: String,
}

/// The keys by name.
#[derive(Clone, Debug, Default)]
pub(super) struct OpendkimKeyTable {
    keys: HashMap<String, OpendkimKey>,
    /// The names, in the order of the table.
    names: Vec<String>,
}

/// A fault of an entry. None of them quotes the value, which may be a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeyEntryFault {
    #[error("expected NAME DOMAIN:SELECTOR:PATH, found {0} of the three fields after the name")]
    Fields(usize),
    #[error("the first field is not a domain name: expected a domain, or % for the author's domain")]
    Domain,
    #[error("the second field is not a selector: expected a domain name")]
    Selector,
    #[error("the private key is in the table itself: write it to a file with mode 0600 and name its path")]
    Inline,
    #[error("the path has white space, which the signing table cannot hold: rename the file")]
    Space,
    #[error("the URI of the key: {0}")]
    Uri(#[from] UriError),
    #[error("an earlier entry has the same name")]
    Twice,
}

impl OpendkimKey {
    /// Returns true if the path is the URI of a key in a device, which has `%` for other purposes.
    pub(super) fn is_in_device(&self) -> bool {
        matches!(HeldKeyName::from_path(Path::new(&self.path)), Ok(Some(_)))
    }
}

impl OpendkimKeyTable {
    /// Parses a table. Relative paths start at `base`.
    pub(super) fn parse(table: &DataSet, base: &Path, warnings: &mut Vec<ImportWarning>) -> Self {
        let mut keys = Self::default();
        for entry in &table.entries {
            let parsed = match keys.keys.contains_key(&entry.key) {
                true => Err(KeyEntryFault::Twice),
                false => parse(entry.value.as_deref().unwrap_or_default(), base),
            };
            match parsed {
                Ok(key) => {
                    if !key.is_in_device() && Path::new(&key.path).is_relative() {
                        warnings.push(entry.source.warning(&entry.key, RELATIVE));
                    }
                    keys.insert(&entry.key, key);
                }
                Err(fault) => warnings.push(warning(&entry.source, &entry.key, fault)),
            }
        }
        keys
    }

    pub(super) fn insert(&mut self, name: &str, key: OpendkimKey) {
        self.names.push(name.to_owned());
        self.keys.insert(name.to_owned(), key);
    }

    pub(super) fn get(&self, name: &str) -> Option<&OpendkimKey> {
        self.keys.get(name)
    }

    /// Returns the names that are domain names, in ASCII form.
    pub(super) fn domains(&self) -> impl Iterator<Item = String> {
        self.names.iter().filter_map(|name| ascii_form(name)).map(String::from)
    }
}

/// Returns a warning. A line without fields may be a line of a key that was pasted, so its name is not shown.
fn warning(source: &EntryPosition, name: &str, fault: KeyEntryFault) -> ImportWarning {
    let name = if fault == KeyEntryFault::Fields(0) { "" } else { name };
    source.warning(name, fault.to_string())
}

fn parse(value: &str, base: &Path) -> Result<OpendkimKey, KeyEntryFault> {
    let mut fields = value.splitn(3, ':').map(str::trim).filter(|field| !field.is_empty());
    let (Some(domain), Some(selector), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
        return Err(KeyEntryFault::Fields(
            value.splitn(3, ':').filter(|field| !field.trim().is_empty()).count(),
        ));
    };
    let domain = match domain {
        ANY => None,
        domain => Some(ascii_form(domain).ok_or(KeyEntryFault::Domain)?.into_owned()),
    };
    let selector = ascii_form(selector).ok_or(KeyEntryFault::Selector)?.into_owned();
    let path = path_of_file(path, base)?;
    Ok(OpendkimKey { domain, selector, path })
}

/// Returns the path of a key file, or the URI of a key. Another value is a key itself. opendkim.conf(5), KeyTable.
fn path_of_file(path: &str, base: &Path) -> Result<String, KeyEntryFault> {
    if HeldKeyName::from_path(Path::new(path))?.is_some() {
        return Ok(path.to_owned());
    }
    if !["/", "./", "../"].iter().any(|start| path.starts_with(start)) {
        return Err(KeyEntryFault::Inline);
    }
    // `join` keeps `./`, which means the same.
    let path = base.join(path.strip_prefix("./").unwrap_or(path)).to_string_lossy().into_owned();
    if path.contains(char::is_whitespace) { Err(KeyEntryFault::Space) } else { Ok(path) }
}
