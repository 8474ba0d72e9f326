//! The store: what its users call.

use std::fmt;
use std::path::Path;

use aws_lc_rs::rand;
use rusqlite::{Connection, Transaction, params};

use super::database::{Database, read_changes};
use super::error::{ObjectStoreError, StoreFault};
use super::login::{self, StoreLogin};
use super::master_key::MasterKey;
use super::object::{ChangedObject, ObjectId, StoreChange, StoredAttributes, StoredObject, UnstoredObject};
use super::pin::{EPOCH_LEN, PinRules, PinState, StoreEpoch, WrappedMaster};
use super::role::PinRole;
use super::rows::{self, ObjectAccess, SecretValues, StoreListing};

/// The maximum length of a label in bytes. PKCS#11 v3.2 3.2, `CK_TOKEN_INFO`.
const MAX_LABEL_BYTES: usize = 32;
/// A serial number has 16 characters. PKCS#11 v3.2 3.2, `CK_TOKEN_INFO`.
const SERIAL_BYTES: usize = 8;

/// A file of objects. Any number of threads and processes may have it open. See [the module](super).
pub struct ObjectStore {
    database: Database,
}

/// The description of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreDescription {
    /// The label of the token.
    pub label: String,
    /// The serial number: 16 hexadecimal digits, drawn when the file was created.
    pub serial: String,
    /// The rules for PINs.
    pub pin_rules: PinRules,
}

impl ObjectStore {
    /// Creates a file, which only its owner can read, and opens it. It has no objects and no user PIN.
    ///
    /// # Errors
    /// The file exists already or cannot be written, or the label, the PIN or the rules are not allowed.
    pub fn create(
        path: &Path,
        label: &str,
        so_pin: &[u8],
        rules: PinRules,
    ) -> Result<Self, ObjectStoreError> {
        let created = || {
            check_label(label)?;
            rules.check()?.check_pin(so_pin)?;
            let new = NewEpoch::draw(so_pin)?;
            let serial = random::<SERIAL_BYTES>()?.map(|byte| format!("{byte:02x}")).concat();
            Database::create(path, |transaction| {
                transaction.execute(
                    "INSERT INTO token (id, serial, label, epoch, changes, pin_min_bytes, pin_max_bytes, max_tries)
                     VALUES (1, ?1, ?2, ?3, 0, ?4, ?5, ?6)",
                    params![serial, label, new.epoch, rules.min_bytes, rules.max_bytes, rules.max_tries],
                )?;
                login::write_pin(transaction, PinRole::SecurityOfficer, &new.wrapped)
            })
        };
        created().map_err(|fault: StoreFault| fault.at(path))?;
        Self::open(path)
    }

    /// Opens a file.
    ///
    /// # Errors
    /// There is no such file, other users may read it, or it is not a store.
    pub fn open(path: &Path) -> Result<Self, ObjectStoreError> {
        let database = Database::open(path).map_err(|fault| fault.at(path))?;
        let store = Self { database };
        store.describe()?;
        Ok(store)
    }

    /// Removes all objects and the user PIN, and sets another label. The serial number and the PIN of the security
    /// officer stay. The new objects have another master key, so older logins end.
    ///
    /// # Errors
    /// The PIN of the security officer is wrong, which counts as a try; or the file cannot be written.
    pub fn initialise_again(&self, so_pin: &[u8], label: &str) -> Result<(), ObjectStoreError> {
        let initialised = || {
            check_label(label)?;
            let lock = self.database.lock_logins()?;
            login::try_pin(&self.database, &lock, PinRole::SecurityOfficer, so_pin)?;
            let new = NewEpoch::draw(so_pin)?;
            self.database.write(|transaction| {
                rows::remove_all(transaction)?;
                transaction.execute("DELETE FROM pin", [])?;
                transaction.execute("UPDATE token SET label = ?1, epoch = ?2", params![label, new.epoch])?;
                next_change(transaction)?;
                login::write_pin(transaction, PinRole::SecurityOfficer, &new.wrapped)
            })?;
            self.database.empty_log();
            Ok(())
        };
        initialised().map_err(self.at())
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// Returns label, serial number and rules.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn describe(&self) -> Result<StoreDescription, ObjectStoreError> {
        let described = self.database.read(|read| {
            let pin_rules = login::read_rules(read)?;
            let (label, serial) =
                read.query_row("SELECT label, serial FROM token", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(StoreDescription { label, serial, pin_rules })
        });
        described.map_err(self.at())
    }

    /// Returns the state of a PIN.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn pin_state(&self, role: PinRole) -> Result<PinState, ObjectStoreError> {
        self.database.read(|read| login::read_state(read, role)).map_err(self.at())
    }

    /// Logs in. A wrong PIN uses a try, on disk before the PIN is judged. A login takes one key derivation: tens of
    /// milliseconds and 16 MiB. It waits for other logins into the same file.
    ///
    /// # Errors
    /// The PIN is wrong, locked, not set, or has a length that the rules forbid; or the file cannot be written.
    pub fn login(&self, role: PinRole, pin: &[u8]) -> Result<StoreLogin, ObjectStoreError> {
        login::login(&self.database, role, pin).map_err(self.at())
    }

    /// Replaces a PIN. The old PIN is tried as in a login.
    ///
    /// # Errors
    /// As of [`login`](Self::login); or the new PIN has a length that the rules forbid, which uses no try.
    pub fn set_pin(&self, role: PinRole, old: &[u8], new: &[u8]) -> Result<(), ObjectStoreError> {
        login::set_pin(&self.database, role, old, new).map_err(self.at())
    }

    /// Sets the user PIN with the login of the security officer. This also unlocks a locked PIN. Private objects stay.
    ///
    /// # Errors
    /// The login is of the user or has ended, the PIN has a length that the rules forbid, or the file cannot be
    /// written.
    pub fn init_pin(&self, so_login: &StoreLogin, new: &[u8]) -> Result<(), ObjectStoreError> {
        login::init_pin(&self.database, so_login, new).map_err(self.at())
    }

    /// Returns a number that grows with each change of objects, by this process or another. It costs microseconds if
    /// the file has not changed.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn data_version(&self) -> Result<u64, ObjectStoreError> {
        self.database.changes().map_err(self.at())
    }

    /// Returns all objects, in the order of their numbers, with concealed secret values. Private objects are among
    /// them after a login of the user only. A damaged object is left out and named.
    ///
    /// # Errors
    /// The file cannot be read or its tables are damaged, or the login has ended.
    pub fn list(&self, login: Option<&StoreLogin>) -> Result<StoreListing, ObjectStoreError> {
        let listed =
            self.database.read(|read| rows::list(read, &access(login, read)?, SecretValues::Concealed));
        listed.map_err(self.at())
    }

    /// Returns an object, with its secret values after a login.
    ///
    /// # Errors
    /// There is no such object; it is private and the user has not logged in; the file cannot be read or is damaged;
    /// or the login has ended.
    pub fn read(&self, login: Option<&StoreLogin>, id: ObjectId) -> Result<StoredObject, ObjectStoreError> {
        self.database.read(|read| rows::read(read, &access(login, read)?, id)).map_err(self.at())
    }

    /// Adds an object. It is on disk when this returns.
    ///
    /// # Errors
    /// As of [`apply`](Self::apply).
    pub fn insert(
        &self,
        login: Option<&StoreLogin>,
        object: UnstoredObject,
    ) -> Result<ChangedObject, ObjectStoreError> {
        self.apply_one(login, StoreChange::Insert(object))
    }

    /// Sets and removes attributes of an object, if it still has this version.
    ///
    /// # Errors
    /// As of [`apply`](Self::apply).
    pub fn update(
        &self,
        login: Option<&StoreLogin>,
        old: ChangedObject,
        set: StoredAttributes,
        remove: Vec<u64>,
    ) -> Result<ChangedObject, ObjectStoreError> {
        let ChangedObject { id, version } = old;
        self.apply_one(login, StoreChange::Update { id, version, set, remove })
    }

    /// Removes an object.
    ///
    /// # Errors
    /// As of [`apply`](Self::apply).
    pub fn remove(
        &self,
        login: Option<&StoreLogin>,
        id: ObjectId,
    ) -> Result<ChangedObject, ObjectStoreError> {
        self.apply_one(login, StoreChange::Remove(id))
    }

    /// Makes several changes in one transaction: all of them or none. They are on disk when this returns. Private
    /// objects and secret attributes need a login; private objects need the user's.
    ///
    /// # Errors
    /// An object does not exist, has another version, is too long, or needs a login; the disk is full; another process
    /// writes for too long; the file is damaged; or the login has ended.
    pub fn apply(
        &self,
        login: Option<&StoreLogin>,
        changes: &[StoreChange],
    ) -> Result<Vec<ChangedObject>, ObjectStoreError> {
        let applied = self.database.write(|transaction| {
            let (access, version) = (access(login, transaction)?, next_change(transaction)?);
            changes.iter().map(|change| apply_change(transaction, &access, version, change)).collect()
        });
        applied.map_err(self.at())
    }

    fn apply_one(
        &self,
        login: Option<&StoreLogin>,
        change: StoreChange,
    ) -> Result<ChangedObject, ObjectStoreError> {
        let applied = self.database.write(|transaction| {
            let (access, version) = (access(login, transaction)?, next_change(transaction)?);
            apply_change(transaction, &access, version, &change)
        });
        applied.map_err(self.at())
    }

    fn at(&self) -> impl Fn(StoreFault) -> ObjectStoreError {
        |fault| fault.at(self.path())
    }

    #[cfg(test)]
    pub(super) fn database(&self) -> &Database {
        &self.database
    }
}

impl fmt::Debug for ObjectStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("ObjectStore").field(&self.path()).finish()
    }
}

/// A new master key and its number, wrapped under the PIN of the security officer.
struct NewEpoch {
    epoch: StoreEpoch,
    wrapped: WrappedMaster,
}

impl NewEpoch {
    fn draw(so_pin: &[u8]) -> Result<Self, StoreFault> {
        let epoch = random::<EPOCH_LEN>()?;
        let master = MasterKey::generate()?;
        let wrapped = WrappedMaster::wrap(PinRole::SecurityOfficer, &epoch, &master, so_pin)?;
        Ok(Self { epoch, wrapped })
    }
}

fn apply_change(
    transaction: &Transaction<'_>,
    access: &ObjectAccess,
    version: u64,
    change: &StoreChange,
) -> Result<ChangedObject, StoreFault> {
    let id = match change {
        StoreChange::Insert(object) => rows::insert(transaction, access, version, object)?,
        StoreChange::Update { id, version: expected, set, remove } => {
            let old = ChangedObject { id: *id, version: *expected };
            rows::update(transaction, access, version, old, set, remove)?;
            *id
        }
        StoreChange::Remove(id) => {
            rows::remove(transaction, access, *id)?;
            *id
        }
    };
    Ok(ChangedObject { id, version })
}

fn access(login: Option<&StoreLogin>, connection: &Connection) -> Result<ObjectAccess, StoreFault> {
    match login {
        Some(login) => login.access(connection),
        None => Ok(ObjectAccess { key: None, sees_private: false }),
    }
}

/// Counts a change, and returns its number.
fn next_change(transaction: &Transaction<'_>) -> Result<u64, StoreFault> {
    transaction.execute("UPDATE token SET changes = changes + 1", [])?;
    read_changes(transaction)
}

fn check_label(label: &str) -> Result<(), StoreFault> {
    match label.len() {
        found if found > MAX_LABEL_BYTES => Err(StoreFault::Label { found, max: MAX_LABEL_BYTES }),
        _ => Ok(()),
    }
}

fn random<const N: usize>() -> Result<[u8; N], StoreFault> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).map_err(|_| StoreFault::Machine("drawing random bytes"))?;
    Ok(bytes)
}
