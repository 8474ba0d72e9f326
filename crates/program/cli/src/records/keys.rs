//! Keys by flag, or from a file of keys.

use std::io;
use std::path::Path;
use std::sync::Arc;

use oarlock::keys::text_file::checked_text;
use oarlock_key_files::check_private;
use oarlock_key_files::sealed::is_sealed;
use oarlock_keytable::{CounterStore, FileCounter, IvRule, KeyPolicy, KeyTable, KeyType};
use oarlock_records::{Encoding, KeyFrom, KeyNames, SecretBuffer, fill_buffer, load_keys};

use super::args::{RecordKeyArgs, RecordsArgs};
use super::{RecordsError, is_standard};

/// The key table, and the selection of keys for rows.
#[derive(Debug)]
pub(super) struct JobKeys {
    pub(super) table: KeyTable,
    pub(super) names: KeyNames,
    pub(super) from: KeyFrom,
    /// The key that encrypts in a translation.
    pub(super) to: Option<KeyFrom>,
}

/// Loads the keys that the arguments name.
pub(super) fn load(args: &RecordsArgs) -> Result<JobKeys, RecordsError> {
    let own = args.keys();
    let (table, names) = load_file(own.keys.as_deref())?;
    let loader = KeyLoader { args, own, table: &table, names: &names };
    let from = match (&own.key_name, &own.key_column) {
        (_, Some(column)) => KeyFrom::Column(column.clone()),
        (Some(name), None) => loader.named(name)?,
        (None, None) => loader.alone(args.key_type(), "the key", own.read()?)?,
    };
    let to = match args.to_keys() {
        None => None,
        Some((to, key_type)) => {
            let alone = |secret| loader.alone(key_type, "the key to encrypt with", secret);
            match (&to.to_key_name, &to.to_key_column, &to.to_key_file, &to.to_key_env) {
                (_, Some(column), ..) => Some(KeyFrom::Column(column.clone())),
                (Some(name), ..) => Some(loader.named(name)?),
                (.., Some(path), _) => Some(alone(from_file(path)?)?),
                (.., Some(name)) => Some(alone(from_environment(name)?)?),
                _ => None,
            }
        }
    };
    Ok(JobKeys { table, names, from, to })
}

fn load_file(path: Option<&Path>) -> Result<(KeyTable, KeyNames), RecordsError> {
    let Some(path) = path else { return Ok((KeyTable::new(), KeyNames::default())) };
    let text = read(path)?;
    // The path of a counter is relative to the directory of the file of keys.
    let open = |name: &str| -> io::Result<Arc<dyn CounterStore>> {
        let path = path.parent().unwrap_or(Path::new("")).join(name);
        let counter = match FileCounter::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => FileCounter::create(&path, 0)?,
            opened => opened?,
        };
        Ok(Arc::new(counter))
    };
    let loaded =
        load_keys(&text, open).map_err(|error| RecordsError::Keys { path: path.to_path_buf(), error })?;
    for (name, weakness) in &loaded.warnings {
        eprintln!("oarlock: {}: key {name:?} is {weakness}", path.display());
    }
    Ok((loaded.table, loaded.names))
}

struct KeyLoader<'l> {
    args: &'l RecordsArgs,
    own: &'l RecordKeyArgs,
    table: &'l KeyTable,
    names: &'l KeyNames,
}

impl KeyLoader<'_> {
    fn named(&self, name: &str) -> Result<KeyFrom, RecordsError> {
        let path = || self.own.keys.clone().unwrap_or_default();
        let index = self.names.find(name.as_bytes());
        index.map(KeyFrom::One).ok_or_else(|| RecordsError::NoKey { path: path(), name: name.to_owned() })
    }

    /// Adds a key that is given without a file of keys. It may be used for everything.
    fn alone(
        &self,
        key_type: KeyType,
        name: &str,
        secret: (String, SecretBuffer),
    ) -> Result<KeyFrom, RecordsError> {
        let (origin, secret) = secret;
        let mut policy = KeyPolicy::any_data(key_type).weak_keys(self.own.weak_keys.into());
        if self.args.has_key_ivs() {
            policy = policy.ivs([IvRule::KeyItself]);
        }
        // No name of a file of keys begins with a space: names are found in `names` only, so they cannot be confused.
        let added = self.table.insert(format!(" {name}"), key_type, &secret[..], policy);
        let added = added.map_err(|error| RecordsError::Key { origin: origin.clone(), error })?;
        if let Some(weakness) = added.warning {
            eprintln!("oarlock: {origin}: {weakness}");
        }
        Ok(KeyFrom::One(added.index))
    }
}

impl RecordKeyArgs {
    /// Returns the origin and the bytes of a key that is given without a file of keys.
    fn read(&self) -> Result<(String, SecretBuffer), RecordsError> {
        match (&self.key_file, &self.key_env, &self.key) {
            (Some(path), ..) => from_file(path),
            (_, Some(name), _) => from_environment(name),
            (.., Some(hex)) => {
                eprintln!(
                    "oarlock: --key: every user of this machine can see the key: --key-file and --key-env hide it"
                );
                decode("--key".to_owned(), hex.as_bytes())
            }
            _ => Err(RecordsError::Usage(
                "expected one of --key-file, --key-env, --key, --key-name, --key-column",
            )),
        }
    }
}

fn from_file(path: &Path) -> Result<(String, SecretBuffer), RecordsError> {
    let origin = path.display().to_string();
    let text = read(path)?;
    // Its end may be any.
    let hex = checked_text(text.trim_ascii_end());
    let hex = hex.map_err(|fault| RecordsError::Text { origin: origin.clone(), fault })?;
    decode(origin, hex.trim_ascii())
}

fn from_environment(name: &str) -> Result<(String, SecretBuffer), RecordsError> {
    let hex = std::env::var_os(name).ok_or_else(|| RecordsError::NoVariable(name.to_owned()))?;
    decode(name.to_owned(), hex.as_encoded_bytes().trim_ascii())
}

fn decode(origin: String, hex: &[u8]) -> Result<(String, SecretBuffer), RecordsError> {
    let mut secret = SecretBuffer::default();
    match Encoding::Hex.decode(hex, &mut secret) {
        Some(_) => Ok((origin, secret)),
        None => Err(RecordsError::NotHex { origin }),
    }
}

/// Reads a whole file into memory that is wiped afterwards.
fn read(path: &Path) -> Result<SecretBuffer, RecordsError> {
    let fail = |error| RecordsError::Open { path: path.to_path_buf(), error };
    let mut text = SecretBuffer::default();
    if is_standard(path) {
        while fill_buffer(&mut io::stdin(), &mut text, 4096).map_err(fail)? > 0 {}
        return Ok(text);
    }
    let mut file = std::fs::File::open(path).map_err(fail)?;
    while fill_buffer(&mut file, &mut text, 4096).map_err(fail)? > 0 {}
    // Everybody may read a sealed file. The parser names the way to open it.
    if !is_sealed(&text) {
        check_private(path, &file).map_err(fail)?;
    }
    Ok(text)
}
