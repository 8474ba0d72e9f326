//! Keys by flag, from a file of keys, or at a cryptoserver.

use std::io;
use std::path::Path;
use std::sync::Arc;

use oarlock::keys::text_file::checked_text;
use oarlock_key_files::check_private;
use oarlock_key_files::sealed::is_sealed;
use oarlock_keytable::{CounterStore, FileCounter, IvRule, KeyPolicy, KeyTable, KeyType};
use oarlock_records::{
    Encoding, KeyFrom, KeyNames, SecretBuffer, fill_buffer, load_keys, split_version, version_name,
};
use oarlock_service_kit::CRYPTOSERVER_HOLDER;
use oarlock_terminal::GlobalOptions;
use oarlock_wire::RemoteHolder;

use super::args::{RecordKeyArgs, RecordsArgs};
use super::{RecordsError, is_standard};
use crate::call::{connect_observer, server_holder};

/// The key table, and the selection of keys for rows.
#[derive(Debug)]
pub(super) struct JobKeys {
    pub(super) table: KeyTable,
    pub(super) names: KeyNames,
    pub(super) from: KeyFrom,
    /// The key that encrypts in a translation.
    pub(super) to: Option<KeyFrom>,
    /// The server that has the keys.
    pub(super) server: Option<RemoteHolder>,
}

/// Loads the keys that the arguments name.
pub(super) fn load(global: &GlobalOptions, args: &RecordsArgs) -> Result<JobKeys, RecordsError> {
    let key_args = args.keys();
    let (table, names, server) = match &key_args.keys {
        Some(path) => {
            let (table, names) = load_file(path)?;
            (table, names, None)
        }
        None if args.names_keys() && !args.server.is_named() => {
            return Err(RecordsError::Usage(
                "a key is named: expected --keys FILE, or --server ADDRESS for a key at a cryptoserver",
            ));
        }
        None if args.names_keys() => {
            let (table, names, server) = list_server_keys(global, args)?;
            (table, names, Some(server))
        }
        None => Default::default(),
    };
    let loader = KeyLoader { args, key_args, table: &table, names: &names, server: server.as_ref() };
    let from = match (&key_args.key_name, &key_args.key_column) {
        (_, Some(column)) => KeyFrom::Column(column.clone()),
        (Some(name), None) => loader.named(name)?,
        (None, None) => loader.alone(args.key_type(), "the key", key_args.read()?)?,
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
    Ok(JobKeys { table, names, from, to, server })
}

/// Returns the symmetric keys that this client may use at the server, and the server.
fn list_server_keys(
    global: &GlobalOptions,
    args: &RecordsArgs,
) -> Result<(KeyTable, KeyNames, RemoteHolder), RecordsError> {
    let holder = server_holder(&args.server, connect_observer(global))?;
    let listed = holder.keys().map_err(RecordsError::ServerKeys)?;
    let (table, mut names) = (KeyTable::new(), Vec::new());
    for key in listed.into_iter().filter(|key| key.public_key.is_empty() && key.share_index == 0) {
        // The newest version has two names, with its number and without.
        let newest = split_version(&key.name).is_none().then(|| version_name(&key.name, key.version));
        for name in newest.into_iter().chain([key.name]) {
            // Fails only if no index is left, after a billion keys. Such a key counts as unknown.
            let index = table.insert_held(&*name, CRYPTOSERVER_HOLDER, &name);
            names.extend(index.map(|index| (name, index)));
        }
    }
    Ok((table, names.into_iter().collect(), holder))
}

fn server_address(holder: &RemoteHolder) -> String {
    holder.servers().into_iter().map(|server| server.address).collect::<Vec<_>>().join(", ")
}

fn load_file(path: &Path) -> Result<(KeyTable, KeyNames), RecordsError> {
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
    key_args: &'l RecordKeyArgs,
    table: &'l KeyTable,
    names: &'l KeyNames,
    server: Option<&'l RemoteHolder>,
}

impl KeyLoader<'_> {
    fn named(&self, name: &str) -> Result<KeyFrom, RecordsError> {
        let index = self.names.find(name.as_bytes());
        index.map(KeyFrom::One).ok_or_else(|| match self.server {
            Some(server) => {
                RecordsError::NoServerKey { server: server_address(server), name: name.to_owned() }
            }
            None => {
                let path = self.key_args.keys.clone().unwrap_or_default();
                RecordsError::NoKey { path, name: name.to_owned() }
            }
        })
    }

    /// Adds a key that is given without a file of keys. It may be used for everything.
    fn alone(
        &self,
        key_type: KeyType,
        name: &str,
        secret: (String, SecretBuffer),
    ) -> Result<KeyFrom, RecordsError> {
        let (origin, secret) = secret;
        if self.server.is_some() {
            return Err(RecordsError::Usage(
                "one key is here and the other at a server: expected both here, or both at the server",
            ));
        }
        let mut policy = KeyPolicy::any_data(key_type).weak_keys(self.key_args.weak_keys.into());
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
