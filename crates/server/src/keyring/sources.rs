//! The sources of the keys: files that are looked at again and again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oarlock::keys::Passphrase;
use oarlock::table::{CounterStore, FileCounter, KeyTable};
use oarlock_io::{
    ExposedSecret, FileStamp, KeyDirectory, KeyDirectoryChanges, KeyDirectoryError, KeyListing, KeyMaterial,
    SecretReader, check_secret_mode_for, read_passphrase,
};
use oarlock_records::{KeyFileError, load_keys_at};

use super::{ActiveGrant, Keyring, ResidentKey};
use crate::config::{Config, ConfigError, KeysConfig, NonceField};
use crate::null;

/// The sources of the keys, and the content that was there before.
#[derive(Debug)]
pub(crate) struct KeySources {
    directory: Option<KeyDirectory>,
    records: Option<RecordsFile>,
    counters: CounterUse,
    table: KeyTable,
    grants: Arc<[Arc<ActiveGrant>]>,
    may_bring_keys: bool,
    has_null_key: bool,
    generation: u64,
}

/// The file of symmetric keys, and how it was when it was read.
#[derive(Debug)]
struct RecordsFile {
    path: PathBuf,
    nonce_field: Option<NonceField>,
    seen: Option<FileStamp>,
}

impl RecordsFile {
    fn of(keys: &KeysConfig) -> Option<Self> {
        let path = keys.records.clone()?;
        Some(Self { path, nonce_field: keys.nonce_field, seen: None })
    }
}

/// Decides if counters of IVs that do not exist yet are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterUse {
    /// The server makes them.
    Create,
    /// A check makes nothing.
    Check,
}

impl CounterUse {
    /// The process that will read the secrets: a check is made for another one.
    fn reader(self) -> SecretReader {
        match self {
            Self::Create => SecretReader::ThisProcess,
            Self::Check => SecretReader::Service,
        }
    }
}

/// The reason why there are no keys to begin with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResidentKeysError {
    /// The directory cannot be listed.
    #[error("[keys] directory: {0}")]
    Directory(#[from] KeyDirectoryError),
    /// The passphrase cannot be read.
    #[error("[keys] passphrase_file: {}: {error}", path.display())]
    Passphrase {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file of symmetric keys cannot be read.
    #[error("[keys] records: {}: {error}", path.display())]
    ReadRecords {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// It is no such file.
    #[error("[keys] records: {}: {error}", path.display())]
    Records {
        /// The file.
        path: PathBuf,
        /// The fault and its place.
        error: Box<KeyFileError>,
    },
    /// Others may read secrets.
    #[error("[keys] {setting}: {error}")]
    Exposed {
        /// The setting that names the file.
        setting: &'static str,
        /// The file and what to do.
        error: ExposedSecret,
    },
    /// Grants that cannot be.
    #[error(transparent)]
    Grants(#[from] ConfigError),
}

/// The result of looking again.
#[derive(Debug, Default)]
pub(crate) struct KeyChanges {
    /// The new keys, if anything changed.
    pub(crate) keyring: Option<Keyring>,
    pub(crate) changes: KeyDirectoryChanges,
    /// Faults of sources as a whole. What a faulty source gave before is still used.
    pub(crate) faults: Vec<ResidentKeysError>,
    pub(crate) has_new_records: bool,
}

impl KeySources {
    /// Everything there is, and the first keyring. What is wrong with a single file of the directory is no reason to stop.
    pub(crate) fn open(
        config: &Config,
        counters: CounterUse,
    ) -> Result<(Self, Keyring, KeyChanges), ResidentKeysError> {
        let KeysConfig { directory, passphrase_file, .. } = &config.keys;
        let passphrase = passphrase(passphrase_file.as_deref(), counters.reader())?;
        let directory = directory.clone().map(|path| KeyDirectory::new(path, passphrase));
        let mut sources = Self {
            directory: directory.map(|directory| directory.require_private(counters.reader())),
            records: RecordsFile::of(&config.keys),
            counters,
            table: KeyTable::new(),
            grants: ActiveGrant::of(&config.grants, &[])?,
            may_bring_keys: config.limits.may_bring_keys,
            has_null_key: config.engines.null_key,
            generation: 0,
        };
        let mut first = sources.refresh();
        match first.faults.pop() {
            Some(fault) => Err(fault),
            None => {
                let keyring = first.keyring.take().unwrap_or_else(|| sources.keyring());
                Ok((sources, keyring, first))
            }
        }
    }

    /// Reads everything again as another configuration says. Keys of files that hold the same key keep what engines have
    /// prepared for them.
    ///
    /// # Errors
    /// One of the sources cannot be used as a whole; then everything stays as it was.
    pub(crate) fn reload(&mut self, config: &Config) -> Result<KeyChanges, ResidentKeysError> {
        let passphrase = passphrase(config.keys.passphrase_file.as_deref(), self.reader())?;
        let grants = ActiveGrant::of(&config.grants, &self.grants)?;
        let listed = self.list(config.keys.directory.as_deref())?;
        let mut records = RecordsFile::of(&config.keys);
        let table = read_records(&mut records, self.counters)?;
        // Nothing fails from here on.
        let has_new_records = table.is_some();
        self.replace_table(table.unwrap_or_default());
        (self.records, self.grants) = (records, grants);
        self.may_bring_keys = config.limits.may_bring_keys;
        let changes = self.read_directory(listed, passphrase);
        let keyring = Some(self.keyring());
        Ok(KeyChanges { keyring, changes, faults: Vec::new(), has_new_records })
    }

    /// Lists the directory that a configuration names. The one in use keeps its keys; another one begins without.
    fn list(
        &self,
        path: Option<&Path>,
    ) -> Result<Option<(Option<KeyDirectory>, KeyListing)>, ResidentKeysError> {
        let Some(path) = path else { return Ok(None) };
        if let Some(own) = self.directory.as_ref().filter(|own| own.path() == path) {
            return Ok(Some((None, own.list()?)));
        }
        let new = KeyDirectory::new(path, None).require_private(self.reader());
        let listing = new.list()?;
        Ok(Some((Some(new), listing)))
    }

    fn read_directory(
        &mut self,
        listed: Option<(Option<KeyDirectory>, KeyListing)>,
        passphrase: Option<Passphrase>,
    ) -> KeyDirectoryChanges {
        let Some((new, listing)) = listed else {
            self.directory = None;
            return KeyDirectoryChanges::default();
        };
        if new.is_some() {
            self.directory = new;
        }
        let read = |directory: &mut KeyDirectory| directory.read_again(listing, passphrase);
        self.directory.as_mut().map(read).unwrap_or_default()
    }

    fn reader(&self) -> SecretReader {
        self.counters.reader()
    }

    /// Files that hold secrets.
    pub(crate) fn secret_files(&self) -> Vec<PathBuf> {
        let of_directory = self.directory.iter().flat_map(|directory| {
            let files = directory.keys().filter(|(_, key)| key.is_private());
            files.filter_map(|(name, _)| directory.file(name).map(Path::to_owned))
        });
        let records = self.records.iter().map(|file| file.path.clone());
        of_directory.chain(records).collect()
    }

    /// Looks again at what has changed.
    pub(crate) fn refresh(&mut self) -> KeyChanges {
        let mut found = KeyChanges::default();
        match self.directory.as_mut().map(KeyDirectory::refresh) {
            Some(Ok(changes)) => found.changes = changes,
            Some(Err(error)) => found.faults.push(error.into()),
            None => {}
        }
        match read_records(&mut self.records, self.counters) {
            Ok(None) => {}
            Ok(Some(table)) => {
                self.replace_table(table);
                found.has_new_records = true;
            }
            Err(error) => found.faults.push(error),
        }
        let changes = &found.changes;
        let is_changed =
            !(changes.added.is_empty() && changes.replaced.is_empty() && changes.removed.is_empty());
        if is_changed || found.has_new_records {
            found.keyring = Some(self.keyring());
        }
        found
    }

    /// Reading a file again gives no key more uses than it had.
    fn replace_table(&mut self, table: KeyTable) {
        table.continue_uses_of(&self.table);
        self.table = table;
    }

    fn keyring(&mut self) -> Keyring {
        self.generation += 1;
        let keys = self.directory.iter().flat_map(KeyDirectory::keys);
        let resident = |material: &KeyMaterial| match material {
            KeyMaterial::Key(key) => ResidentKey::Asymmetric(key.clone()),
            KeyMaterial::Share(share) => ResidentKey::Share(share.clone()),
        };
        let keys = keys.map(|(name, material)| (name.into(), resident(material)));
        let null = self.has_null_key.then(null::key).map(|(name, key)| (name, ResidentKey::Asymmetric(key)));
        Keyring {
            generation: self.generation,
            asymmetric: keys.chain(null).collect(),
            table: self.table.clone(),
            grants: Arc::clone(&self.grants),
            may_bring_keys: self.may_bring_keys,
        }
    }
}

fn passphrase(path: Option<&Path>, reader: SecretReader) -> Result<Option<Passphrase>, ResidentKeysError> {
    let Some(path) = path else { return Ok(None) };
    let failed = |error| ResidentKeysError::Passphrase { path: path.to_owned(), error };
    let about = path.metadata().map_err(failed)?;
    let setting = "passphrase_file";
    check_secret_mode_for(reader, path, &about)
        .map_err(|error| ResidentKeysError::Exposed { setting, error })?;
    read_passphrase(path).map(Some).map_err(failed)
}

/// Returns the table of the file of symmetric keys if it has changed since it was read.
fn read_records(
    records: &mut Option<RecordsFile>,
    counters: CounterUse,
) -> Result<Option<KeyTable>, ResidentKeysError> {
    let Some(RecordsFile { path, nonce_field, seen }) = records else { return Ok(None) };
    let failed = |error| ResidentKeysError::ReadRecords { path: path.clone(), error };
    let about = path.metadata().map_err(failed)?;
    let stamp = FileStamp::from(&about);
    if *seen == Some(stamp) {
        return Ok(None);
    }
    // Said once: the stamp is kept even if the file cannot be used.
    *seen = Some(stamp);
    let setting = "records";
    check_secret_mode_for(counters.reader(), path, &about)
        .map_err(|error| ResidentKeysError::Exposed { setting, error })?;
    let text = zeroize::Zeroizing::new(std::fs::read(&*path).map_err(failed)?);
    let field = nonce_field.map(|NonceField(field)| field);
    let load = |counters| {
        load_keys_at(&text, field, |name| counter(path, name, counters))
            .map_err(|error| ResidentKeysError::Records { path: path.clone(), error: Box::new(error) })
    };
    // A file with a wrong line must not leave counters behind for the lines before it.
    load(CounterUse::Check)?;
    let loaded = load(counters)?;
    Ok(Some(loaded.table))
}

/// A counter lies where the file of keys says, beside it unless the path is absolute.
fn counter(keys: &Path, name: &str, counters: CounterUse) -> io::Result<Arc<dyn CounterStore>> {
    let path = keys.parent().unwrap_or(Path::new("")).join(name);
    match FileCounter::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match counters {
            CounterUse::Create => Ok(Arc::new(FileCounter::create(&path, 0)?)),
            CounterUse::Check => FutureCounter::beside(&path).map(|counter| Arc::new(counter) as _),
        },
        opened => Ok(Arc::new(opened?)),
    }
}

/// A counter that a server would make. It gives no values: a check needs none.
#[derive(Debug)]
struct FutureCounter;

impl FutureCounter {
    /// Checks that there is a directory to make it in.
    fn beside(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let is_folder = folder.unwrap_or(Path::new(".")).metadata()?.is_dir();
        if is_folder { Ok(Self) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }
}

impl CounterStore for FutureCounter {
    fn reserve(&self, _: u64) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn is_persistent(&self) -> bool {
        true
    }
}
