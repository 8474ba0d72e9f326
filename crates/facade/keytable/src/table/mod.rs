//! The key table: named, indexed keys of stated types, each with a policy.
//!
//! Records of a [batch](crate::Batch) name keys by index. [`KeyTable::index`] finds the index of a name, once. Every
//! record is checked against the policy of its key before an engine sees it. A record that a policy refuses fails
//! alone, with the reason as its [`Status`](oarlock_core::Status).
//!
//! | file | content |
//! |---|---|
//! | [`policy`](KeyPolicy) | operations, algorithms, IVs, uses, and the keys that may come out of a wrapping key |
//! | `effects` | the uses of a key that break others, in one table |
//! | `rights` | a policy as one word, and the needs of a record |
//! | [`counter`](IvCounter) | counters that make IVs and survive crashes |
//! | `held` | keys that live with a holder |
//! | `snapshot` | the local keys side by side, as a batch sees them |
//! | [`identity`](KeyIdentity) | the recognition of equal keys |
//! | `uses` | the counts of uses |
//! | [`weakness`](KeyWeakness) | DES keys that must not be used |

mod counter;
mod effects;
mod error;
mod held;
mod identity;
mod policy;
mod policy_error;
mod rights;
mod snapshot;
mod uses;
mod weak_keys;
mod weakness;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use oarlock_core::{Fingerprint, KeyType, Records, SecretBytes};

pub use self::counter::{CounterStore, FileCounter, IvCounter, MemoryCounter};
pub use self::effects::KeyBreach;
pub use self::error::TableError;
use self::held::HeldKeys;
pub use self::identity::KeyIdentity;
pub use self::policy::{IvRule, KeyAlgorithm, KeyOperation, KeyPolicy, MIN_MAC_LEN};
pub use self::policy_error::PolicyError;
pub(crate) use self::rights::{IvUse, RightSet};
pub(crate) use self::snapshot::{KeyColumns, SnapshotGuard, TableSnapshot};
use self::snapshot::{TableKey, TableKeys};
pub(crate) use self::uses::{KeyUses, UseLimit};
pub(crate) use self::weakness::weakness;
pub use self::weakness::{KeyWeakness, WeakKeyRule};

/// A table of named, indexed keys.
///
/// It is cheap to clone and safe to share. A batch sees the table as it was when the batch began.
#[derive(Clone, Default)]
pub struct KeyTable(Arc<TableShared>);

#[derive(Default)]
struct TableShared {
    state: RwLock<KeyTableState>,
    weak_keys_met: AtomicU64,
}

#[derive(Default)]
struct KeyTableState {
    keys: TableKeys,
    held: HeldKeys,
    names: HashMap<Arc<str>, u32>,
    /// Indices that [`KeyTable::recycle`] gave back.
    free: Vec<u32>,
}

/// One key of the table.
#[derive(Debug)]
pub(crate) struct KeyEntry {
    pub(crate) name: Arc<str>,
    pub(crate) key_type: KeyType,
    pub(crate) policy: Arc<KeyPolicy>,
    pub(crate) uses: KeyUses,
}

/// A key that was inserted into a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertedKey {
    /// The index by which records name it.
    pub index: u32,
    /// The weakness of the key, if the policy accepts it with a warning.
    pub warning: Option<KeyWeakness>,
}

/// The public facts about a local key of the table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyInfo {
    /// The name, unique in the table.
    pub name: Arc<str>,
    /// The type, which decides the length.
    pub key_type: KeyType,
    /// The policy under which the key may be used.
    pub policy: Arc<KeyPolicy>,
    /// Records that it may still serve, if they are counted.
    pub uses_left: Option<u64>,
    /// Encryptions under GCM with random IVs that it may still do.
    pub random_gcm_left: u64,
    /// The fingerprint of the key.
    pub fingerprint: Fingerprint,
    /// The identity, which every key of the same bytes shares.
    pub identity: KeyIdentity,
}

impl KeyTable {
    /// Creates an empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts a key under a name.
    ///
    /// # Errors
    /// The name is taken, the length is not one of the type's, the policy does not suit the type, or the key is weak
    /// and the policy refuses such keys.
    pub fn insert(
        &self,
        name: impl Into<Arc<str>>,
        key_type: KeyType,
        secret: impl Into<SecretBytes>,
        policy: impl Into<Arc<KeyPolicy>>,
    ) -> Result<InsertedKey, TableError> {
        let (name, secret, policy) = (name.into(), secret.into(), policy.into());
        policy.check(key_type)?;
        if !key_type.takes_len(secret.len()) {
            return Err(TableError::Length { key_type, found: secret.len() });
        }
        // Before the key enters the table: a batch of another thread could use it at once.
        let warning = policy
            .weak_keys
            .judge(weakness(key_type, secret.expose()))
            .map_err(|weakness| TableError::WeakKey { weakness })?;
        let identity = KeyIdentity::from_secret(secret.expose())?;
        let key = oarlock_keys::raw::secret(secret)?;
        let entry = Arc::new(KeyEntry { name, key_type, uses: KeyUses::from_policy(&policy), policy });
        let rights = RightSet::compile(key_type, &entry.policy);
        let index = self.write().add(TableKey { key, identity, rights, entry })?;
        self.count_weak(u64::from(warning.is_some()));
        Ok(InsertedKey { index, warning })
    }

    /// Removes a key, and returns false if there is no such name.
    ///
    /// Later batches do not find the key, and its index is never given again. The key is wiped when the last batch
    /// that uses it ends.
    pub fn remove(&self, name: &str) -> bool {
        self.write().remove(name).is_some()
    }

    /// Removes a key as [`KeyTable::remove`] does, and gives its index to a later key.
    ///
    /// A later batch that still names the old key by its index uses the new key. Call this only if you know all
    /// indices in use.
    pub fn recycle(&self, name: &str) -> bool {
        let mut state = self.write();
        let index = state.remove(name);
        state.free.extend(index.filter(|index| !HeldKeys::is_held(*index)));
        index.is_some()
    }

    /// Continues the counts of uses of `old`.
    ///
    /// A key that is in both tables has its uses counted once for both, including those of batches that still run
    /// with `old`. Keys are the same if their bytes are. If several keys of `old` have the bytes, the one of the same
    /// name counts.
    pub fn continue_uses_of(&self, old: &Self) {
        let mut counted: HashMap<KeyIdentity, Vec<Arc<KeyEntry>>> = HashMap::new();
        for (_, key) in old.read().keys.iter() {
            counted.entry(key.identity).or_default().push(Arc::clone(&key.entry));
        }
        let mut state = self.write();
        let mut changed = Vec::new();
        for (index, key) in state.keys.iter() {
            let Some(known) = counted.get(&key.identity) else { continue };
            // Two lines of a key file may hold one key under different policies, each with uses of its own.
            let namesake = known.iter().find(|entry| entry.name == key.entry.name);
            let Some(before) = namesake.or(known.first()) else { continue };
            let KeyEntry { name, key_type, policy, .. } = &*key.entry;
            let (name, policy) = (Arc::clone(name), Arc::clone(policy));
            let uses = before.uses.under(&policy);
            let entry = Arc::new(KeyEntry { name, key_type: *key_type, policy, uses });
            changed.push((index, TableKey { entry, ..key.clone() }));
        }
        changed.into_iter().for_each(|(index, key)| state.keys.set(index, Some(key)));
    }

    /// Returns the index of a name.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<u32> {
        self.read().names.get(name).copied()
    }

    /// Returns the name of the key at an index.
    #[must_use]
    pub fn name(&self, index: u32) -> Option<Arc<str>> {
        let state = self.read();
        let local = || state.keys.get(index).map(|key| Arc::clone(&key.entry.name));
        state.held.name(index).or_else(local)
    }

    /// Returns the public facts about the local key at an index.
    #[must_use]
    pub fn info(&self, index: u32) -> Option<KeyInfo> {
        let state = self.read();
        let TableKey { key, identity, entry, .. } = state.keys.get(index)?;
        Some(KeyInfo {
            name: Arc::clone(&entry.name),
            key_type: entry.key_type,
            policy: Arc::clone(&entry.policy),
            uses_left: entry.uses.records.as_ref().map(UseLimit::left),
            random_gcm_left: entry.uses.gcm.left(),
            fingerprint: key.fingerprint(),
            identity: *identity,
        })
    }

    /// Returns the names of the local keys, by index.
    #[must_use]
    pub fn names(&self) -> Vec<(u32, Arc<str>)> {
        self.read().keys.iter().map(|(index, key)| (index, Arc::clone(&key.entry.name))).collect()
    }

    /// Returns the number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read().names.len()
    }

    /// True if there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of weak keys that were accepted with a warning, by the table and by batches.
    #[must_use]
    pub fn weak_keys_met(&self) -> u64 {
        self.0.weak_keys_met.load(Ordering::Relaxed)
    }

    pub(crate) fn count_weak(&self, keys: u64) {
        // Relaxed: the count is read for display only.
        self.0.weak_keys_met.fetch_add(keys, Ordering::Relaxed);
    }

    /// Returns the keys that a batch of these records sees.
    ///
    /// If the snapshot of all keys is behind and cannot be changed, the result has only the keys that the records name,
    /// with key columns that name them by their places in it.
    pub(crate) fn begin(&self, records: &Records<'_>) -> (SnapshotGuard<'_>, Option<KeyColumns>) {
        if let Some(whole) = self.read().keys.whole() {
            return (SnapshotGuard::new(self, whole), None);
        }
        self.catch_up();
        let state = self.read();
        match state.keys.whole() {
            Some(whole) => (SnapshotGuard::new(self, whole), None),
            None => {
                let (gathered, columns) = state.keys.gather(records);
                (SnapshotGuard::new(self, gathered), Some(columns))
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn snapshot(&self) -> Arc<TableSnapshot> {
        self.read().keys.copied()
    }

    /// Makes changes that waited for the end of a batch.
    fn catch_up(&self) {
        if self.read().keys.whole().is_none() {
            self.write().keys.catch_up();
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, KeyTableState> {
        self.0.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, KeyTableState> {
        self.0.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyEntry {
    pub(crate) fn uses(&self) -> &KeyUses {
        &self.uses
    }
}

impl KeyTableState {
    fn add(&mut self, key: TableKey) -> Result<u32, TableError> {
        let name = &key.entry.name;
        if self.names.contains_key(name) {
            return Err(TableError::NameTaken { name: name.to_string() });
        }
        let index = self.free.pop().or_else(|| self.keys.next_index()).ok_or(TableError::Full)?;
        self.names.insert(Arc::clone(name), index);
        self.keys.set(index, Some(key));
        Ok(index)
    }

    fn remove(&mut self, name: &str) -> Option<u32> {
        let index = self.names.remove(name)?;
        match HeldKeys::is_held(index) {
            true => self.held.remove(index),
            false => self.keys.set(index, None),
        }
        Some(index)
    }
}

/// Shows how many keys there are.
impl fmt::Debug for KeyTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyTable({} keys)", self.len())
    }
}
