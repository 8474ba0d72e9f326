//! The sources of the keys: files that are checked for changes every second.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use oarlock::keys::Passphrase;
use oarlock_files::FileStamp;
use oarlock_hsm::{HSM_HOLDER, HsmError, HsmKey, HsmSet, Pkcs11Uri};
use oarlock_key_files::sealed::{
    AgeIdentities, IdentityReadFault, KeyFileReadFault, SEALED_ENDING, SealFault, read_key_file,
};
use oarlock_key_files::{
    ExposedSecret, KeyDirectory, KeyDirectoryChanges, KeyDirectoryError, KeyListing, KeyMaterial,
    SecretReader, check_secret_mode_for, read_passphrase,
};
use oarlock_keytable::{CounterStore, FileCounter, KeyTable};
use oarlock_records::{KeyFileError, KeyVersions, LoadedKeys, VersionRange, load_keys_at, split_version};

use super::chains::{ChainedKey, KeyChainFault, KeyChains};
use super::device_keys::DeviceKeys;
use super::identity_file::IdentityFile;
use super::{ActiveGrant, DescribedKey, Keyring, ResidentKey};
use crate::config::{ConfigError, CryptoserverConfig, KeysConfig, NonceField};
use crate::null;

/// The sources of the keys, and their last content.
#[derive(Debug)]
pub(crate) struct KeySources {
    directory: Option<KeyDirectory>,
    /// The identities that open sealed files.
    identity: IdentityFile,
    chains: KeyChains,
    devices: DeviceKeys,
    records: Option<RecordsFile>,
    counters: CounterUse,
    table: KeyTable,
    versions: Arc<KeyVersions>,
    grants: Arc<[Arc<ActiveGrant>]>,
    may_bring_keys: bool,
    has_null_key: bool,
    generation: u64,
}

/// The file of symmetric keys, and its stamp when it was read.
#[derive(Debug)]
struct RecordsFile {
    path: PathBuf,
    nonce_field: Option<NonceField>,
    seen: Option<FileStamp>,
    /// True if the file was sealed when it was read.
    is_sealed: bool,
}

/// The maximum time for which a start and a reload wait for devices. Keys that come later are used within a second.
const MAX_DEVICE_WAIT: Duration = Duration::from_secs(3);

/// The maximum bytes of the file of symmetric keys: more than half a million keys. `oarlock keys` has the same limit.
const MAX_RECORDS_BYTES: usize = 64 << 20;

impl RecordsFile {
    fn from_config(keys: &KeysConfig) -> Option<Self> {
        let path = keys.records.clone()?;
        Some(Self { path, nonce_field: keys.nonce_field, seen: None, is_sealed: false })
    }

    /// Returns the path without the ending of sealed files: the same keys may be sealed today and plain tomorrow.
    fn plain_path(&self) -> PathBuf {
        let is_sealed = self.path.extension().is_some_and(|ending| ending == SEALED_ENDING);
        if is_sealed { self.path.with_extension("") } else { self.path.clone() }
    }
}

/// The decision whether missing counters of IVs are created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterUse {
    /// Creates missing counters, as a server does.
    Create,
    /// Creates nothing, as a check does.
    Check,
}

impl CounterUse {
    /// Returns the process that will read the secrets. A check runs on behalf of another process.
    fn reader(self) -> SecretReader {
        match self {
            Self::Create => SecretReader::ThisProcess,
            Self::Check => SecretReader::Service,
        }
    }
}

/// An error of the sources of keys.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
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
    /// The identity file cannot be read, or is none.
    #[error("[keys] identity: {}: {error}", path.display())]
    Identity {
        /// The file.
        path: PathBuf,
        /// The fault.
        error: IdentityReadFault,
    },
    /// The file of symmetric keys is sealed and cannot be opened, or is not sealed although its name says so.
    #[error("[keys] records: {}: {fault}", path.display())]
    SealedRecords {
        /// The file.
        path: PathBuf,
        fault: SealFault,
    },
    /// The file of symmetric keys is too long.
    #[error("[keys] records: {}: expected at most {max} bytes", path.display())]
    LongRecords {
        /// The file.
        path: PathBuf,
        /// The maximum.
        max: usize,
    },
    /// The file of symmetric keys cannot be read.
    #[error("[keys] records: {}: {error}", path.display())]
    ReadRecords {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file of symmetric keys has a fault.
    #[error("[keys] records: {}: {error}", path.display())]
    Records {
        /// The file.
        path: PathBuf,
        /// The fault and its line.
        error: Box<KeyFileError>,
    },
    /// A key has an older newest version than before: an old file was put back.
    #[error(
        "[keys] records: {}: the newest version of {name:?} is {found}, and was {known}: an old file was put back. The keys \
         read before stay in use. To go back on purpose, restart the server", path.display()
    )]
    RolledBack {
        /// The file.
        path: PathBuf,
        /// The name of the key.
        name: String,
        /// The newest version in the file.
        found: u32,
        /// The newest version that was read before.
        known: u32,
    },
    /// Other users may read a secret.
    #[error("[keys] {setting}: {error}")]
    Exposed {
        /// The setting that names the file.
        setting: &'static str,
        /// The file and the next step.
        error: ExposedSecret,
    },
    /// A grant is invalid.
    #[error(transparent)]
    Grants(#[from] ConfigError),
}

/// The changes since the last check.
#[derive(Debug, Default)]
pub(crate) struct KeyChanges {
    /// The new keys, if anything changed.
    pub(crate) keyring: Option<Keyring>,
    pub(crate) changes: KeyDirectoryChanges,
    /// The refused files whose former keys stay in use.
    pub(crate) former_keys: Vec<PathBuf>,
    /// The files of certificates that cannot be used. Their keys are not affected.
    pub(crate) chain_faults: Vec<(PathBuf, KeyChainFault)>,
    /// The faults of sources as a whole. The last content of a faulty source stays in use.
    pub(crate) faults: Vec<ResidentKeysError>,
    pub(crate) has_new_records: bool,
    /// The keys whose devices have become unavailable, with the reasons.
    pub(crate) missing: Vec<(String, HsmError)>,
}

impl KeySources {
    /// Reads all keys and returns the first keyring. A fault of a single file of the directory does not fail the whole,
    /// and neither does a device that is not available. `devices` is `None` for a check, which must not log in.
    pub(crate) fn open(
        config: &CryptoserverConfig,
        devices: Option<HsmSet>,
        counters: CounterUse,
    ) -> Result<(Self, Keyring, KeyChanges), ResidentKeysError> {
        let KeysConfig { directory, identity, passphrase_file, .. } = &config.keys;
        let passphrase = passphrase(passphrase_file.as_deref(), counters.reader())?;
        let identity = IdentityFile::open(identity.as_deref(), counters.reader())?;
        let directory = directory.clone().map(|path| KeyDirectory::new(path, passphrase));
        let mut directory = directory.map(|directory| directory.require_private(counters.reader()));
        if let Some(directory) = &mut directory {
            directory.set_identities(identity.identities().cloned());
        }
        let mut sources = Self {
            directory,
            identity,
            chains: KeyChains::default(),
            devices: DeviceKeys::new(devices, config.keys.device_keys(&config.devices)?),
            records: RecordsFile::from_config(&config.keys),
            counters,
            table: KeyTable::new(),
            versions: Arc::default(),
            grants: ActiveGrant::activate(&config.grants, &[])?,
            may_bring_keys: config.limits.may_bring_keys,
            has_null_key: config.engines.null_key,
            generation: 0,
        };
        sources.devices.wait(MAX_DEVICE_WAIT);
        let mut first = sources.refresh();
        // At the start there is no last content that could stay in use, so a fault of a source ends it.
        match first.faults.pop() {
            Some(fault) => Err(fault),
            None => {
                let keyring = first.keyring.take().unwrap_or_else(|| sources.keyring());
                Ok((sources, keyring, first))
            }
        }
    }

    /// Reads everything again by another configuration. A file that still holds the same key keeps the tables that
    /// engines have built for it.
    ///
    /// # Errors
    /// A source cannot be used as a whole. Then nothing changes.
    pub(crate) fn reload(&mut self, config: &CryptoserverConfig) -> Result<KeyChanges, ResidentKeysError> {
        let passphrase = passphrase(config.keys.passphrase_file.as_deref(), self.reader())?;
        let identity = IdentityFile::open(config.keys.identity.as_deref(), self.reader())?;
        let grants = ActiveGrant::activate(&config.grants, &self.grants)?;
        // Only the listing can fail as a whole. The fault of a single file is reported and does not stop a reload.
        let listed = self.list(config.keys.directory.as_deref())?;
        let device_keys = config.keys.device_keys(&config.devices)?;
        let mut records = RecordsFile::from_config(&config.keys);
        let identities = identity.identities().map(|identities| &**identities);
        let table = read_records(&mut records, identities, self.counters)?;
        let path = |file: &Option<RecordsFile>| file.as_ref().map(RecordsFile::plain_path);
        // Another file may have other keys under the same names.
        if let (Some(loaded), true) = (&table, path(&records) == path(&self.records)) {
            self.check_rollback(loaded)?;
        }
        // Everything that can fail is above this line, so a reload changes all or nothing.
        let has_new_records = table.is_some();
        let (table, versions) = table.map(|loaded| (loaded.table, loaded.versions)).unwrap_or_default();
        self.replace_table(table, versions);
        (self.records, self.grants, self.identity) = (records, grants, identity);
        self.may_bring_keys = config.limits.may_bring_keys;
        let changes = self.read_directory(listed, passphrase);
        let mut found = KeyChanges { changes, has_new_records, ..KeyChanges::default() };
        self.note_former_keys(&mut found);
        self.devices.replace_names(device_keys);
        self.devices.wait(MAX_DEVICE_WAIT);
        self.take_device_keys(&mut found);
        self.chains.forget_stamps();
        self.read_chains(&mut found);
        found.keyring = Some(self.keyring());
        Ok(found)
    }

    /// Lists the directory that a configuration names. The directory in use keeps its keys; another directory begins
    /// without keys.
    fn list(
        &self,
        path: Option<&Path>,
    ) -> Result<Option<(Option<KeyDirectory>, KeyListing)>, ResidentKeysError> {
        let Some(path) = path else { return Ok(None) };
        if let Some(directory) = self.directory.as_ref().filter(|directory| directory.path() == path) {
            return Ok(Some((None, directory.list()?)));
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
        let identities = self.identity.identities().cloned();
        let read = |directory: &mut KeyDirectory| {
            directory.set_identities(identities);
            directory.read_again(listing, passphrase)
        };
        self.directory.as_mut().map(read).unwrap_or_default()
    }

    fn reader(&self) -> SecretReader {
        self.counters.reader()
    }

    /// Returns the key files that hold secrets. A sealed file holds none that anybody else can read.
    pub(crate) fn secret_files(&self) -> Vec<PathBuf> {
        let of_directory = self.directory.iter().flat_map(|directory| {
            let files = directory.keys().filter(|(name, key)| key.is_private() && !directory.is_sealed(name));
            files.filter_map(|(name, _)| directory.file(name).map(Path::to_owned))
        });
        let records = self.records.iter().filter(|file| !file.is_sealed).map(|file| file.path.clone());
        of_directory.chain(records).collect()
    }

    /// Reads the files that have changed.
    pub(crate) fn refresh(&mut self) -> KeyChanges {
        let mut found = KeyChanges::default();
        match self.identity.refresh(self.counters.reader()) {
            Ok(true) => self.use_new_identities(),
            Ok(false) => {}
            Err(error) => found.faults.push(error),
        }
        match self.directory.as_mut().map(KeyDirectory::refresh) {
            Some(Ok(changes)) => found.changes = changes,
            Some(Err(error)) => found.faults.push(error.into()),
            None => {}
        }
        self.note_former_keys(&mut found);
        let identities = self.identity.identities().map(|identities| &**identities);
        let read = read_records(&mut self.records, identities, self.counters);
        let read = read.and_then(|loaded| {
            loaded.map(|loaded| self.check_rollback(&loaded).map(|()| loaded)).transpose()
        });
        match read {
            Ok(None) => {}
            Ok(Some(LoadedKeys { table, versions, .. })) => {
                self.replace_table(table, versions);
                found.has_new_records = true;
            }
            Err(error) => found.faults.push(error),
        }
        let has_device_changes = self.take_device_keys(&mut found);
        let has_new_chains = self.read_chains(&mut found);
        let changes = &found.changes;
        let is_changed =
            !(changes.added.is_empty() && changes.replaced.is_empty() && changes.removed.is_empty());
        if is_changed || has_device_changes || has_new_chains || found.has_new_records {
            found.keyring = Some(self.keyring());
        }
        found
    }

    /// Adds a key that a device has described.
    pub(crate) fn add_device_key(&mut self, name: String, uri: Pkcs11Uri, key: HsmKey) -> KeyChanges {
        let mut found = KeyChanges::default();
        self.devices.add(name, uri, key);
        if self.take_device_keys(&mut found) {
            found.keyring = Some(self.keyring());
        }
        found
    }

    /// Takes what devices have answered. Returns true if a key has changed, or the reason why one is missing.
    fn take_device_keys(&mut self, found: &mut KeyChanges) -> bool {
        let new = self.devices.refresh();
        let is_changed = !new.is_none();
        found.changes.added.extend(new.changed);
        found.missing = new.faults;
        is_changed
    }

    /// Makes the next reading open sealed files again.
    fn use_new_identities(&mut self) {
        if let Some(directory) = &mut self.directory {
            directory.set_identities(self.identity.identities().cloned());
        }
        if let Some(records) = self.records.as_mut().filter(|records| records.is_sealed) {
            records.seen = None;
        }
    }

    /// Reads the certificates beside the keys of the directory. Returns true if those of a key have changed.
    fn read_chains(&mut self, found: &mut KeyChanges) -> bool {
        let directory = self.directory.iter();
        let keys = directory.flat_map(|directory| {
            directory.keys().filter_map(|(name, material)| {
                let fingerprint = match material {
                    KeyMaterial::Key(key) => key.fingerprint(),
                    KeyMaterial::Share(share) => share.public().public().fingerprint(),
                };
                Some(ChainedKey { name, file: directory.file(name)?, fingerprint })
            })
        });
        self.chains.refresh(keys, &mut found.chain_faults)
    }

    /// Notes the refused files whose former keys stay in use.
    fn note_former_keys(&self, found: &mut KeyChanges) {
        let directory = self.directory.iter();
        let files =
            directory.flat_map(|directory| directory.keys().filter_map(|(name, _)| directory.file(name)));
        let is_refused = |file: &&Path| found.changes.refused.iter().any(|(path, _)| path == file);
        found.former_keys = files.filter(is_refused).map(Path::to_owned).collect();
    }

    /// Checks that no key has lost its newest version: encrypting under an older one would undo a rotation.
    fn check_rollback(&self, new: &LoadedKeys) -> Result<(), ResidentKeysError> {
        let names = new.table.names();
        for (name, VersionRange { newest: known, .. }) in self.versions.iter() {
            // The line of the newest version may be gone, while those of older ones are there.
            let older = names.iter().filter_map(|(_, other)| split_version(other));
            let older = older.filter(|(base, _)| *base == name).map(|(_, version)| version).max();
            let newest = new.table.index(name).map(|_| new.versions.range(name).unwrap_or_default().newest);
            // A key without any version was removed, which is no rollback.
            let Some(found) = newest.or(older) else { continue };
            if found < known {
                let path = self.records.as_ref().map(|file| file.path.clone()).unwrap_or_default();
                return Err(ResidentKeysError::RolledBack { path, name: name.to_owned(), found, known });
            }
        }
        Ok(())
    }

    /// Replaces the table of symmetric keys. Each key keeps the number of its uses, so reading a file again grants no
    /// further uses.
    fn replace_table(&mut self, table: KeyTable, versions: KeyVersions) {
        table.continue_uses_of(&self.table);
        (self.table, self.versions) = (table, versions.into());
    }

    fn keyring(&mut self) -> Keyring {
        // Sessions compare the number, not the content, to notice a new keyring.
        self.generation += 1;
        let keys = || self.directory.iter().flat_map(KeyDirectory::keys);
        let local = keys().filter_map(|(_, material)| match material {
            KeyMaterial::Key(key) if !key.kind().is_public() => Some(key.clone()),
            _ => None,
        });
        self.devices.set_twins(local);
        let resident = |material: &KeyMaterial| match material {
            KeyMaterial::Key(key) => ResidentKey::Asymmetric(key.clone()),
            KeyMaterial::Share(share) => ResidentKey::Share(share.clone()),
        };
        let chains = &self.chains;
        let described = |name: &str, key| (name.into(), DescribedKey::new(name, key, chains.of_key(name)));
        let keys = keys().map(|(name, material)| described(name, resident(material)));
        let (mut devices, mut device_secrets) = (Vec::new(), BTreeMap::new());
        for (name, key) in self.devices.found() {
            match key {
                HsmKey::Private(key) => devices.push(described(&name, ResidentKey::Asymmetric(key))),
                HsmKey::Secret { reference, key_type } => {
                    // An error means that a key of the file has the name: it wins, as a key of the directory does.
                    if self.table.insert_held(&*name, HSM_HOLDER, &reference).is_ok() {
                        device_secrets.insert(name.into(), key_type);
                    }
                }
            }
        }
        let null = self.has_null_key.then(null::key);
        let null = null.map(|(name, key)| described(&name, ResidentKey::Asymmetric(key)));
        Keyring {
            generation: self.generation,
            // A key of the directory wins, as it does over a symmetric key of its name.
            asymmetric: devices.into_iter().chain(keys).chain(null).collect(),
            missing: self.devices.missing(),
            table: self.table.clone(),
            device_secrets,
            versions: Arc::clone(&self.versions),
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

/// Returns the keys of the file of symmetric keys if it has changed since it was read.
fn read_records(
    records: &mut Option<RecordsFile>,
    identities: Option<&AgeIdentities>,
    counters: CounterUse,
) -> Result<Option<LoadedKeys>, ResidentKeysError> {
    let Some(RecordsFile { path, nonce_field, seen, is_sealed }) = records else { return Ok(None) };
    let failed = |error| ResidentKeysError::ReadRecords { path: path.clone(), error };
    // Taken before the file is read, so that a change in between is found the next time.
    let about = path.metadata().map_err(failed)?;
    let stamp = FileStamp::from(&about);
    // A stamp has the inode and the times: a replaced file differs even at the same length.
    if *seen == Some(stamp) {
        return Ok(None);
    }
    // The stamp is kept even if the file cannot be used, so that its fault is reported once.
    *seen = Some(stamp);
    let read = read_key_file(path, MAX_RECORDS_BYTES, identities);
    *is_sealed = match &read {
        Ok(content) => content.form.is_sealed(),
        Err(fault) => matches!(fault, KeyFileReadFault::Sealed(_)),
    };
    let text = read.map_err(|fault| match fault {
        KeyFileReadFault::Sealed(fault) => ResidentKeysError::SealedRecords { path: path.clone(), fault },
        KeyFileReadFault::Io(error) => failed(error),
        other => failed(io::Error::other(other)),
    })?;
    let text = text.bytes;
    // Anybody may be able to read a sealed file, so the mode is checked only when the form is known.
    if !*is_sealed {
        let setting = "records";
        check_secret_mode_for(counters.reader(), path, &about)
            .map_err(|error| ResidentKeysError::Exposed { setting, error })?;
    }
    if text.len() > MAX_RECORDS_BYTES {
        return Err(ResidentKeysError::LongRecords { path: path.clone(), max: MAX_RECORDS_BYTES });
    }
    let field = nonce_field.map(|NonceField(field)| field);
    let load = |counters| {
        load_keys_at(&text, field, |name| counter(path, name, counters))
            .map_err(|error| ResidentKeysError::Records { path: path.clone(), error: Box::new(error) })
    };
    // Checked first: a file with a faulty line must not leave counters for the lines before it.
    load(CounterUse::Check)?;
    load(counters).map(Some)
}

/// Opens a counter at its path, which is relative to the file of keys.
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

/// A counter that a server would create. It gives no values, because a check needs none.
#[derive(Debug)]
struct FutureCounter;

impl FutureCounter {
    /// Checks that the directory of the counter exists.
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
