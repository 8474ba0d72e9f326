//! The counts of all keys, and the choice of the tables that another table evicts.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use oarlock_core::Fingerprint;

use super::{KeyUse, VerifyTable};

/// The largest number of entries. Beyond it, the older half of the keys without a table is forgotten. An entry takes
/// about 200 bytes.
const MAX_ENTRIES: usize = 8192;

/// The factor by which a key waits longer if its table did not fit.
const PATIENCE: u32 = 8;

/// The owner and the type of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TableName(Fingerprint, TypeId);

impl TableName {
    pub(super) fn new<T: VerifyTable>(fingerprint: Fingerprint) -> Self {
        Self(fingerprint, TypeId::of::<T>())
    }

    pub(super) fn is_of(&self, fingerprint: Fingerprint) -> bool {
        self.0 == fingerprint
    }
}

/// Hashes eight bytes of the fingerprint, which is a hash already. The map's own random key keeps the order secret.
impl Hash for TableName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [first, ..] = self.0.as_bytes().as_chunks::<8>().0 else { return };
        state.write_u64(u64::from_ne_bytes(*first));
    }
}

/// The result of a look-up.
pub(super) enum TableLookup<T> {
    VerifyTable(Arc<T>),
    /// No table, and no reason to build one now.
    Nothing,
    /// A new key, or one with enough uses.
    Due,
}

/// The keys and tables of one process.
pub(super) struct TableStore {
    budget: usize,
    /// The number of look-ups, by which the age of a table is measured.
    clock: AtomicU64,
    store: RwLock<StoredTables>,
}

#[derive(Default)]
struct StoredTables {
    entries: HashMap<TableName, TableEntry>,
    /// The bytes of all tables.
    bytes: usize,
}

struct TableEntry {
    public: Box<[u8]>,
    /// The clock at the last use.
    used: AtomicU64,
    state: TableState,
}

enum TableState {
    /// A number of uses since the clock showed `since`. A table is due at `needed`.
    Counted { since: u64, uses: AtomicU32, needed: u32 },
    /// In the queue or being built. Its uses began at `since`.
    Building { since: u64 },
    /// A table, and its number of bytes.
    Ready(Arc<dyn Any + Send + Sync>, usize),
    /// No table can be built.
    Refused,
}

impl TableStore {
    pub(super) fn new(budget: usize) -> Self {
        Self { budget, clock: AtomicU64::new(0), store: RwLock::default() }
    }

    pub(super) fn bytes(&self) -> usize {
        self.read().bytes
    }

    pub(super) fn drop_tables(&self) {
        *self.write() = StoredTables::default();
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.read().entries.len()
    }

    /// Looks all keys up under one lock, and counts their uses.
    pub(super) fn find<T: VerifyTable>(&self, wanted: &[KeyUse<'_>]) -> Vec<TableLookup<T>> {
        // Relaxed: the clock only ranks the ages of tables. An age that is off by one evicts another idle table.
        let now = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        let store = self.read();
        let find = |wanted: &KeyUse<'_>| match store.entries.get(&wanted.name) {
            Some(entry) if *entry.public == *wanted.public => entry.find(wanted.uses, now),
            // Two keys with one fingerprint are a mistake of the importer. It must not become a wrong answer.
            Some(_) => TableLookup::Nothing,
            None => TableLookup::Due,
        };
        wanted.iter().map(find).collect()
    }

    /// Takes note of a key that is due.
    ///
    /// Returns true if its table is to be built now: `threshold` uses are counted, and `bytes` fit beside the tables
    /// that were used since then.
    pub(super) fn claim(&self, wanted: &KeyUse<'_>, threshold: u32, bytes: usize) -> bool {
        let now = self.now();
        let mut store = self.write();
        store.enter(wanted, threshold, now);
        let Some((since, needed)) = store.due(wanted) else { return false };
        // Tables that were idle while this key was counted may be evicted for it; tables in use may not.
        let is_affordable = store.bytes + bytes <= self.budget
            || store.bytes - store.idle(since).map(|(_, _, bytes)| bytes).sum::<usize>() + bytes
                <= self.budget;
        // Without a longer wait, a key that never fits would take the lock for every few uses.
        let state = if is_affordable {
            TableState::Building { since }
        } else {
            TableState::Counted {
                since: now,
                uses: AtomicU32::new(0),
                needed: needed.saturating_mul(PATIENCE),
            }
        };
        store.set(wanted.name, state);
        is_affordable
    }

    /// Publishes a table. Returns false if tables in use have taken its memory in the meantime.
    pub(super) fn publish<T: VerifyTable>(&self, name: TableName, table: &Arc<T>) -> bool {
        let now = self.now();
        let mut store = self.write();
        let Some(TableState::Building { since }) = store.entries.get(&name).map(|entry| &entry.state) else {
            // `drop_tables` has run while the table was built, so it is no longer wanted.
            return false;
        };
        let since = *since;
        while store.bytes + T::BYTES > self.budget {
            let oldest = store.idle(since).min_by_key(|(used, ..)| *used).map(|(_, name, _)| name);
            let Some(oldest) = oldest else {
                store.set(name, TableState::counted(now, T::USES));
                return false;
            };
            store.set(oldest, TableState::counted(now, T::USES));
        }
        store.set(name, TableState::Ready(Arc::clone(table) as _, T::BYTES));
        true
    }

    /// Marks a key whose table is never built.
    pub(super) fn refuse(&self, name: TableName) {
        self.write().set(name, TableState::Refused);
    }

    /// Restarts the count of a key.
    pub(super) fn recount(&self, name: TableName, threshold: u32) {
        let now = self.now();
        self.write().set(name, TableState::counted(now, threshold));
    }

    fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// A panic under the lock leaves nothing half done, because entries change by single assignments.
    fn read(&self) -> RwLockReadGuard<'_, StoredTables> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, StoredTables> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredTables {
    /// Begins to count a new key, and forgets others if there are too many.
    fn enter(&mut self, wanted: &KeyUse<'_>, threshold: u32, now: u64) {
        if self.entries.contains_key(&wanted.name) {
            return;
        }
        if self.entries.len() >= MAX_ENTRIES {
            self.forget_idle();
        }
        let uses = AtomicU32::new(wanted.uses);
        let state = TableState::Counted { since: now, uses, needed: threshold };
        let entry = TableEntry { public: wanted.public.into(), used: AtomicU64::new(now), state };
        self.entries.insert(wanted.name, entry);
    }

    /// Forgets the older half of the keys without a table.
    fn forget_idle(&mut self) {
        let is_idle =
            |entry: &TableEntry| matches!(entry.state, TableState::Counted { .. } | TableState::Refused);
        let mut ages: Vec<u64> =
            self.entries.values().filter(|entry| is_idle(entry)).map(TableEntry::used).collect();
        // Half of them at a time, so that this sort is paid once per thousands of new keys.
        let half = ages.len() / 2;
        if half == 0 {
            return;
        }
        let (_, median, _) = ages.select_nth_unstable(half);
        let median = *median;
        self.entries.retain(|_, entry| !is_idle(entry) || entry.used() > median);
    }

    /// Returns the start of the count and the needed number of uses, if the key has reached them.
    fn due(&self, wanted: &KeyUse<'_>) -> Option<(u64, u32)> {
        let entry = self.entries.get(&wanted.name).filter(|entry| *entry.public == *wanted.public)?;
        match &entry.state {
            TableState::Counted { since, uses, needed } if uses.load(Ordering::Relaxed) >= *needed => {
                Some((*since, *needed))
            }
            _ => None,
        }
    }

    /// Returns the last use, the name and the size of every table that was not used since then.
    ///
    /// Only these tables are evicted. If more keys recur than fit into the budget, the tables in use stay, instead
    /// of being built over and over.
    fn idle(&self, since: u64) -> impl Iterator<Item = (u64, TableName, usize)> {
        self.entries.iter().filter_map(move |(name, entry)| match entry.state {
            TableState::Ready(_, bytes) if entry.used() < since => Some((entry.used(), *name, bytes)),
            _ => None,
        })
    }

    fn set(&mut self, name: TableName, state: TableState) {
        let Some(entry) = self.entries.get_mut(&name) else { return };
        // Every change of state passes here, so the sum of bytes cannot drift from the tables.
        let old = std::mem::replace(&mut entry.state, state);
        self.bytes = self.bytes + entry.state.bytes() - old.bytes();
    }
}

impl TableEntry {
    fn find<T: VerifyTable>(&self, uses: u32, now: u64) -> TableLookup<T> {
        // Relaxed: callers hold the lock for reading, and the one that decides by these numbers holds it for writing.
        self.used.store(now, Ordering::Relaxed);
        match &self.state {
            TableState::Ready(table, _) => {
                Arc::clone(table).downcast().map_or(TableLookup::Nothing, TableLookup::VerifyTable)
            }
            TableState::Counted { uses: counted, needed, .. } => {
                let before = counted.fetch_add(uses, Ordering::Relaxed);
                if before.saturating_add(uses) >= *needed { TableLookup::Due } else { TableLookup::Nothing }
            }
            TableState::Building { .. } | TableState::Refused => TableLookup::Nothing,
        }
    }

    fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

impl TableState {
    fn counted(since: u64, needed: u32) -> Self {
        Self::Counted { since, uses: AtomicU32::new(0), needed }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Ready(_, bytes) => *bytes,
            _ => 0,
        }
    }
}
