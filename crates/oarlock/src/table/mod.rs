//! The key table: named, indexed keys of stated types, each with a policy.
//!
//! Records of a [batch](crate::batch) name keys by index ([`KeyTable::index`] finds it by name, once); the hall checks every record
//! against the policy of its key before an engine sees it. A record that a policy refuses fails alone, with its reason as its
//! [`Status`](oarlock_core::Status).
//!
//! | file | what it holds |
//! |---|---|
//! | [`key_type`](KeyType) | what a key is for, whatever its length |
//! | [`policy`](Policy) | operations, algorithms, IVs, uses, what may come out of a wrapping key |
//! | `rights` | a policy as one word, and what a record needs of it |
//! | [`counter`](Counter) | counters that make IVs and outlive crashes |
//! | `uses` | how often keys are used |
//! | [`weakness`](Weakness) | DES keys that must not be used |
//! | `unwrap` | keys that come into the table wrapped |

mod counter;
mod error;
mod key_type;
mod policy;
mod policy_error;
mod rights;
mod unwrap;
mod uses;
mod weak_keys;
mod weakness;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use oarlock_core::{Fingerprint, Key, KeyParts, SecretBytes};

pub use self::counter::{Counter, CounterStore, FileCounter, MemoryCounter};
pub use self::error::TableError;
pub use self::key_type::KeyType;
pub use self::policy::{Algorithm, IvRule, Operation, Policy};
pub use self::policy_error::PolicyError;
pub(crate) use self::rights::Rights;
pub use self::unwrap::Wrapped;
pub(crate) use self::uses::{Limit, Uses};
pub(crate) use self::weakness::weakness;
pub use self::weakness::{WeakKeys, Weakness};

/// Named, indexed keys. Cheap to clone, safe to share: a batch sees the table as it was when the batch began.
#[derive(Clone, Default)]
pub struct KeyTable(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Changed in place where no batch holds it, else copied.
    snapshot: RwLock<Arc<Snapshot>>,
    weak_keys_met: AtomicU64,
}

/// The table at one time. Indices are never given again, so an old one never means another key.
#[derive(Clone)]
pub(crate) struct Snapshot {
    /// By index; where a key was removed, one that fits no shape.
    pub(crate) keys: Vec<Key>,
    /// By index, and one more: what a key may do that is not there.
    pub(crate) rights: Vec<Rights>,
    pub(crate) entries: Vec<Option<Arc<Entry>>>,
    names: HashMap<Arc<str>, u32>,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self { keys: Vec::new(), rights: vec![Rights::NONE], entries: Vec::new(), names: HashMap::new() }
    }
}

/// One key of the table.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: Arc<str>,
    pub(crate) key_type: KeyType,
    pub(crate) policy: Arc<Policy>,
    pub(crate) uses: Uses,
}

/// A key that has come into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// The index by which records name it.
    pub index: u32,
    /// What its policy lets in with a warning.
    pub warning: Option<Weakness>,
}

/// What is known of a key of the table.
#[derive(Clone, Debug)]
pub struct KeyInfo {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub key_type: KeyType,
    /// Its policy.
    pub policy: Arc<Policy>,
    /// Records that it may still serve, where they are counted.
    pub uses_left: Option<u64>,
    /// Encryptions under GCM with random IVs that it may still do.
    pub random_gcm_left: u64,
    /// What it is known by.
    pub fingerprint: Fingerprint,
}

impl KeyTable {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a key in under a name.
    ///
    /// # Errors
    /// The name is taken, the length is not one of the type's, the policy does not suit the type, or the key is weak and
    /// the policy refuses such keys.
    pub fn insert(
        &self,
        name: impl Into<Arc<str>>,
        key_type: KeyType,
        secret: impl Into<SecretBytes>,
        policy: impl Into<Arc<Policy>>,
    ) -> Result<Added, TableError> {
        let (name, secret, policy) = (name.into(), secret.into(), policy.into());
        policy.check(key_type)?;
        if !key_type.takes_len(secret.len()) {
            return Err(TableError::Length { key_type, found: secret.len() });
        }
        let warning = policy
            .weak_keys
            .judge(weakness(key_type, secret.expose()))
            .map_err(|weakness| TableError::WeakKey { weakness })?;
        let key = oarlock_keys::raw::secret(secret)?;
        let entry = Entry { name, key_type, uses: Uses::of(&policy), policy };
        let index = self.change(|snapshot| snapshot.add(key, entry))?;
        self.count_weak(u64::from(warning.is_some()));
        Ok(Added { index, warning })
    }

    /// Removes a key: batches that begin from now on do not find it, and its index is never given again. The key itself is
    /// wiped when the last batch that uses it ends. False where there is no such name.
    pub fn remove(&self, name: &str) -> bool {
        self.change(|snapshot| snapshot.remove(name))
    }

    /// The index of a name.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<u32> {
        self.snapshot().names.get(name).copied()
    }

    /// What is known of the key at an index.
    #[must_use]
    pub fn info(&self, index: u32) -> Option<KeyInfo> {
        let snapshot = self.snapshot();
        let entry = snapshot.entry(index)?;
        Some(KeyInfo {
            name: Arc::clone(&entry.name),
            key_type: entry.key_type,
            policy: Arc::clone(&entry.policy),
            uses_left: entry.uses.records.as_ref().map(Limit::left),
            random_gcm_left: entry.uses.gcm.left(),
            fingerprint: snapshot.keys.get(index as usize)?.fingerprint(),
        })
    }

    /// The names, by index.
    #[must_use]
    pub fn names(&self) -> Vec<(u32, Arc<str>)> {
        let snapshot = self.snapshot();
        let names = (0..).zip(&snapshot.entries);
        names.filter_map(|(index, entry)| Some((index, Arc::clone(&entry.as_ref()?.name)))).collect()
    }

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.snapshot().names.len()
    }

    /// True where there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Weak keys that policies let in with a warning, into the table and inside of batches.
    #[must_use]
    pub fn weak_keys_met(&self) -> u64 {
        self.0.weak_keys_met.load(Ordering::Relaxed)
    }

    pub(crate) fn count_weak(&self, keys: u64) {
        self.0.weak_keys_met.fetch_add(keys, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Snapshot) -> T) -> T {
        change(Arc::make_mut(&mut self.0.snapshot.write().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Entry {
    pub(crate) fn uses(&self) -> &Uses {
        &self.uses
    }
}

impl Snapshot {
    /// Indices from here on name keys that the caller brings along.
    pub(crate) const FIRST_OUTSIDE: u32 = 1 << 31;

    pub(crate) fn entry(&self, index: u32) -> Option<&Entry> {
        self.entries.get(index as usize)?.as_deref()
    }

    fn add(&mut self, key: Key, entry: Entry) -> Result<u32, TableError> {
        if self.names.contains_key(&entry.name) {
            return Err(TableError::NameTaken { name: entry.name.to_string() });
        }
        let index = u32::try_from(self.keys.len()).ok().filter(|index| *index < Self::FIRST_OUTSIDE);
        let index = index.ok_or(TableError::Full)?;
        let last = self.rights.len() - 1;
        self.rights.insert(last, Rights::compile(entry.key_type, &entry.policy));
        self.names.insert(Arc::clone(&entry.name), index);
        self.keys.push(key);
        self.entries.push(Some(Arc::new(entry)));
        Ok(index)
    }

    fn remove(&mut self, name: &str) -> bool {
        let Some(index) = self.names.remove(name).map(|index| index as usize) else { return false };
        self.rights[index] = Rights::NONE;
        self.entries[index] = None;
        self.keys[index] = Key::local(KeyParts::Secret(SecretBytes::default()), Fingerprint::new([0; 32]));
        true
    }
}

/// Shows how many keys there are.
impl fmt::Debug for KeyTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyTable({} keys)", self.len())
    }
}
