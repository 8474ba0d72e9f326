//! Keys opened once in each process.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oarlock::process::ProcessLocal;
use oarlock::{Accelerator, Key, keys};
use oarlock_columns::{ColumnError, ColumnKeys};
use oarlock_key_files::read_private;
use oarlock_keytable::{CounterStore, FileCounter, KeyTable};
use oarlock_records::load_keys;
use oarlock_wire::{Credentials, Endpoint, RemoteConfig, RemoteError, RemoteHolder, ServerUsers};

use crate::reference::KeyReference;

/// The keys of a reference, opened once in each process.
pub(crate) type OpenedKeys = ProcessLocal<Arc<NamedKeys>>;

/// Keys by name, in this process or at a server.
pub(crate) struct NamedKeys {
    accelerator: Accelerator,
    table: KeyTable,
    columns: ColumnKeys,
    /// The keys of signatures, as far as they are known.
    signature_keys: Mutex<HashMap<String, Key>>,
    server: Option<RemoteHolder>,
}

/// The most bytes of a file of keys.
const MAX_FILE_BYTES: usize = 64 << 20;
/// The most time of a server for a batch. A batch takes milliseconds, but others may wait before it.
const PATIENCE: Duration = Duration::from_secs(30);

/// The name of the holder of a server's keys.
const HOLDER: &str = "cryptoserver";

impl NamedKeys {
    fn new(
        accelerator: Accelerator,
        table: KeyTable,
        signature_keys: HashMap<String, Key>,
        server: Option<RemoteHolder>,
    ) -> Self {
        let columns = ColumnKeys::new(accelerator.clone(), table.clone());
        Self { accelerator, table, columns, signature_keys: Mutex::new(signature_keys), server }
    }

    /// Returns the keys of columns, those of these names among them. A server says only at their use whether it has
    /// them.
    pub(crate) fn columns(&self, names: &[&str]) -> Result<&ColumnKeys, ColumnError> {
        if self.server.is_some() {
            for name in names {
                let inserted = self.table.insert_held(*name, HOLDER, name);
                inserted.map_err(|error| ColumnError::Machine(error.to_string()))?;
            }
        }
        Ok(&self.columns)
    }

    /// Returns the accelerator that signs and verifies.
    pub(crate) fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }

    /// Returns the key of signatures with this name.
    pub(crate) fn signature_key(&self, name: &str) -> Result<Key, ColumnError> {
        // The lock is held for a look-up or an insertion, and never while the server is asked.
        let known = || self.signature_keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = known().get(name) {
            return Ok(key.clone());
        }
        let unknown = || ColumnError::UnknownKey { name: name.to_owned() };
        let found = self.server.as_ref().ok_or_else(unknown)?.key(name).map_err(|error| match error {
            RemoteError::NoKey { name, reason } => ColumnError::KeyRefused { name, reason },
            RemoteError::Key { name, error } => ColumnError::KeyRefused { name, reason: error.to_string() },
            other => ColumnError::Machine(other.to_string()),
        })?;
        known().insert(name.to_owned(), found.clone());
        Ok(found)
    }
}

/// Opens the keys of a reference.
pub(crate) fn open(reference: &KeyReference) -> Result<NamedKeys, ColumnError> {
    match reference {
        KeyReference::File { path, pem } => open_file(path, pem),
        KeyReference::Server { address, ca, certificate, key } => {
            let read = Credentials::read(ca, certificate, key);
            let credentials = read.map_err(|error| ColumnError::Options(error.to_string()))?;
            open_server(Endpoint::Grpc { url: address.clone(), credentials: Some(credentials) })
        }
        KeyReference::Unix { path, user } => {
            open_server(Endpoint::Unix { path: path.clone(), users: ServerUsers::with_user(user) })
        }
    }
}

fn open_file(path: &Path, pem: &[(String, std::path::PathBuf)]) -> Result<NamedKeys, ColumnError> {
    let text = read_private(path, MAX_FILE_BYTES).map_err(|error| unreadable(path, &error))?;
    // The path of a counter is relative to the directory of the file of keys.
    let counter = |name: &str| -> io::Result<Arc<dyn CounterStore>> {
        let path = path.parent().unwrap_or(Path::new("")).join(name);
        let counter = match FileCounter::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => FileCounter::create(&path, 0)?,
            opened => opened?,
        };
        Ok(Arc::new(counter))
    };
    let bad = |path: &Path, error: &dyn std::fmt::Display| {
        ColumnError::Options(format!("{}: {error}", path.display()))
    };
    let loaded = load_keys(&text, counter).map_err(|error| bad(path, &error))?;
    let mut signature_keys = HashMap::new();
    for (name, path) in pem {
        // A public key may be read by anyone, and a private one only by its owner.
        let bytes =
            std::fs::read(path).map(zeroize::Zeroizing::new).map_err(|error| unreadable(path, &error))?;
        let key = keys::import::any(&bytes, None).map_err(|error| bad(path, &error))?;
        if key.parts().is_some() && !key.kind().is_public() {
            let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
            oarlock_key_files::check_private(path, &file).map_err(|error| unreadable(path, &error))?;
        }
        signature_keys.insert(name.clone(), key);
    }
    Ok(NamedKeys::new(accelerator(|builder| builder)?, loaded.table, signature_keys, None))
}

fn open_server(endpoint: Endpoint) -> Result<NamedKeys, ColumnError> {
    let failed = |error: &dyn std::fmt::Display| ColumnError::Machine(error.to_string());
    let mut config = RemoteConfig::new(HOLDER, vec![endpoint]);
    config.patience = PATIENCE;
    let checker = Accelerator::builder().engines(["scalar"]).threads(1).lazy().build();
    let checker = checker.map_err(|error| failed(&error))?;
    let holder = RemoteHolder::new(config, checker).map_err(|error| failed(&error))?;
    let accelerator = accelerator(|builder| builder.holder(Arc::new(holder.clone())))?;
    Ok(NamedKeys::new(accelerator, KeyTable::new(), HashMap::new(), Some(holder)))
}

/// Builds an accelerator for columns.
pub(crate) fn accelerator(
    with: impl FnOnce(oarlock::AcceleratorBuilder) -> oarlock::AcceleratorBuilder,
) -> Result<Accelerator, ColumnError> {
    // Columns are computed on the thread that calls. Threads of the accelerator only serve jobs of held keys.
    let built = with(Accelerator::builder().threads(1).lazy()).build();
    built.map_err(|error| ColumnError::Machine(error.to_string()))
}

fn unreadable(path: &Path, error: &io::Error) -> ColumnError {
    ColumnError::Options(format!("{}: {error}", path.display()))
}
