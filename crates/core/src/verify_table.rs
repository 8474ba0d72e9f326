//! Verification tables of keys that recur: counted, built behind the caller's back, bounded by one budget. An engine has one
//! [`VerifyTableCache`] and types of [`VerifyTable`]; what a table holds is the engine's own.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | [`VerifyTableCache`], asked once per run for the tables of all its jobs |
//! | `store` | what is known of each key, and which tables make room for another |
//! | `builder` | the queue of tables to build, and the thread that lives while the queue is not empty |
//!
//! A table belongs to (fingerprint, type of table) and is handed out only for the very public key it was built of. Keys
//! seen here are public halves; no private part is kept.

mod builder;
mod store;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use self::builder::TableBuilder;
use self::store::{TableLookup, TableName, TableStore};
use crate::{Key, TableUsage};

/// Bytes of tables that an engine keeps unless told otherwise.
pub const DEFAULT_TABLE_BYTES: usize = 64 << 20;

/// Multiples of one public key, by which verifying under it is faster.
pub trait VerifyTable: Any + Send + Sync + Sized {
    /// Bytes of a table.
    const BYTES: usize;

    /// Uses of a key after which its table is built: about those that pay for building it.
    const USES: u32;

    /// What a table is built of, or None where the key has no such thing.
    fn public(key: &Key) -> Option<&[u8]>;

    /// Checks a table that was just built of `public`, by other means than those that built it. One that is wrong is never
    /// used.
    fn is_right(&self, public: &[u8]) -> bool;
}

/// The tables of one engine.
pub struct VerifyTableCache {
    budget: usize,
    timing: BuildTiming,
    own: CacheGeneration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BuildTiming {
    /// By a thread of its own, once a key was used [`VerifyTable::USES`] times.
    Behind,
    /// By the caller, before the first use: for tests.
    AtOnce,
}

/// What one process knows. The child of a fork starts anew: its parent's builder is not there and may have held a lock.
struct CacheGeneration {
    process: u32,
    shared: Arc<CacheState>,
    child: OnceLock<Box<Self>>,
}

/// What runs and the builder share.
struct CacheState {
    store: TableStore,
    builder: TableBuilder,
}

/// A key that a run asks for, with its uses there.
struct KeyUse<'a> {
    name: TableName,
    public: &'a [u8],
    uses: u32,
}

/// The tables of a run's jobs.
pub struct VerifyTables<T> {
    found: Vec<Option<Arc<T>>>,
    /// Which of `found` is each job's.
    of_jobs: Vec<u32>,
}

impl<T> VerifyTables<T> {
    /// The table for the job at `place` of the keys asked for.
    pub fn of(&self, place: usize) -> Option<&T> {
        self.found.get(self.of_jobs[place] as usize)?.as_deref()
    }
}

impl VerifyTableCache {
    /// Tables of at most `budget` bytes together; one that is being built, or evicted while a run still reads it, is not
    /// counted.
    pub fn new(budget: usize) -> Self {
        Self { budget, timing: BuildTiming::Behind, own: CacheGeneration::new(std::process::id(), budget) }
    }

    /// The same, all empty, with another budget.
    pub fn with_budget(self, budget: usize) -> Self {
        Self { timing: self.timing, ..Self::new(budget) }
    }

    /// The same, building each table before its first use: for tests.
    pub fn at_once(self) -> Self {
        Self { timing: BuildTiming::AtOnce, ..self }
    }

    /// What is ready now.
    pub fn table_usage(&self) -> TableUsage {
        TableUsage { bytes: self.shared().store.bytes(), max_bytes: self.budget }
    }

    /// Drops every table and every count.
    pub fn drop_tables(&self) {
        self.shared().store.drop_tables();
    }

    /// Waits until no table is queued or being built.
    pub fn wait_for_tables(&self) {
        self.shared().builder.wait_for_tables();
    }

    /// The tables for jobs under these keys, as far as they are ready. Counts the uses of the other keys and has tables built
    /// that have earned it: `build` makes one from what [`VerifyTable::public`] gave, or None where that is no usable key.
    pub fn tables<'a, T: VerifyTable>(
        &self,
        keys: impl ExactSizeIterator<Item = &'a Key>,
        build: impl Fn(&[u8]) -> Option<T> + Copy + Send + 'static,
    ) -> VerifyTables<T> {
        let (wanted, of_jobs) = distinct::<T>(keys);
        if T::BYTES > self.budget {
            return VerifyTables { found: Vec::new(), of_jobs };
        }
        let shared = self.shared();
        let threshold = if self.timing == BuildTiming::AtOnce { 1 } else { T::USES };
        let found = shared.store.find::<T>(&wanted);
        let tables = wanted.iter().zip(found).map(|(wanted, found)| match found {
            TableLookup::VerifyTable(table) => Some(table),
            TableLookup::Nothing => None,
            TableLookup::Due if shared.store.claim(wanted, threshold, T::BYTES) => self.order(wanted, build),
            TableLookup::Due => None,
        });
        VerifyTables { found: tables.collect(), of_jobs }
    }

    /// Has a table built: now or later.
    fn order<T: VerifyTable>(
        &self,
        wanted: &KeyUse<'_>,
        build: impl Fn(&[u8]) -> Option<T> + Send + 'static,
    ) -> Option<Arc<T>> {
        let (shared, name) = (self.shared(), wanted.name);
        if self.timing == BuildTiming::AtOnce {
            return shared.make(name, wanted.public, build);
        }
        let public: Box<[u8]> = wanted.public.into();
        let ordered =
            TableBuilder::push(shared, Box::new(move |shared| drop(shared.make(name, &public, build))));
        if !ordered {
            shared.store.recount(name, T::USES);
        }
        None
    }

    fn shared(&self) -> &Arc<CacheState> {
        let process = std::process::id();
        let mut generation = &self.own;
        while generation.process != process {
            generation =
                generation.child.get_or_init(|| Box::new(CacheGeneration::new(process, self.budget)));
        }
        &generation.shared
    }
}

impl CacheState {
    /// Builds a table, checks it and puts it where runs find it. What cannot be built, or is wrong, is not tried again.
    fn make<T: VerifyTable>(
        &self,
        name: TableName,
        public: &[u8],
        build: impl Fn(&[u8]) -> Option<T>,
    ) -> Option<Arc<T>> {
        let built = catch_unwind(AssertUnwindSafe(|| build(public).filter(|table| table.is_right(public))));
        let Ok(Some(table)) = built else {
            self.store.refuse(name);
            return None;
        };
        let table = Arc::new(table);
        self.store.publish(name, &table).then_some(table)
    }
}

impl CacheGeneration {
    fn new(process: u32, budget: usize) -> Self {
        let shared = CacheState { store: TableStore::new(budget), builder: TableBuilder::default() };
        Self { process, shared: Arc::new(shared), child: OnceLock::new() }
    }
}

/// Nobody waits for tables of an engine that is gone.
impl Drop for CacheGeneration {
    fn drop(&mut self) {
        self.shared.builder.close();
    }
}

/// The distinct keys of a run, and which of them each job has. Remembers one key per low byte of the fingerprint: a key
/// that comes twice in spite of that is only looked up twice.
fn distinct<'a, T: VerifyTable>(keys: impl ExactSizeIterator<Item = &'a Key>) -> (Vec<KeyUse<'a>>, Vec<u32>) {
    let mut last_of = [u32::MAX; 256];
    let mut wanted: Vec<KeyUse<'a>> = Vec::new();
    let mut of_jobs = Vec::with_capacity(keys.len());
    for key in keys {
        let Some(public) = T::public(key) else {
            of_jobs.push(u32::MAX);
            continue;
        };
        let fingerprint = key.fingerprint();
        let last = &mut last_of[usize::from(fingerprint.as_bytes()[0])];
        match wanted.get_mut(*last as usize) {
            Some(known) if known.name.is_of(fingerprint) && known.public == public => known.uses += 1,
            _ => {
                *last = wanted.len() as u32;
                wanted.push(KeyUse { name: TableName::new::<T>(fingerprint), public, uses: 1 });
            }
        }
        of_jobs.push(*last);
    }
    (wanted, of_jobs)
}

impl fmt::Debug for VerifyTableCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HotKeys({:?}, {:?})", self.timing, self.table_usage())
    }
}

impl<T> fmt::Debug for VerifyTables<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tables({} of {} keys)", self.found.iter().flatten().count(), self.found.len())
    }
}
