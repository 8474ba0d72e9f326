//! Verification tables of keys that recur.
//!
//! The cache counts the uses of keys, builds tables in the background, and keeps them within one budget of bytes. Each
//! engine has one [`VerifyTableCache`] and types of [`VerifyTable`]; the engine decides what a table contains.
//!
//! | module | content |
//! |---|---|
//! | this one | [`VerifyTableCache`], which a run asks once for the tables of all its jobs |
//! | `store` | the counts of each key, and the choice of the tables that are evicted |
//! | `builder` | the queue of tables to build, and the thread that lives while the queue is not empty |
//!
//! A table belongs to a fingerprint and a type of table, and is used only for the public key that it was built from.
//! The keys here are public halves: no private part is kept.

mod builder;
mod store;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use oarlock_core::{Key, ProcessLocal, TableUsage};

use self::builder::TableBuilder;
use self::store::{TableLookup, TableName, TableStore};

/// The number of bytes of tables that an engine keeps by default.
pub const DEFAULT_TABLE_BYTES: usize = 64 << 20;

/// Multiples of one public key, which make verification under it faster.
pub trait VerifyTable: Any + Send + Sync + Sized {
    /// Bytes of a table.
    const BYTES: usize;

    /// The number of uses after which the table of a key is built. About as many uses pay for building it.
    const USES: u32;

    /// True if the run that reaches [`Self::USES`] builds the table itself, because that takes no longer than an
    /// operation without a table.
    const IS_BUILT_AT_ONCE: bool = false;

    /// Returns the bytes that a table is built from, or `None` if the key has no such part.
    fn public(key: &Key) -> Option<&[u8]>;

    /// Checks a new table for `public` by other means than those that built it. A wrong table is never used.
    fn is_right(&self, public: &[u8]) -> bool;
}

/// The verification tables of one engine.
pub struct VerifyTableCache {
    budget: usize,
    timing: BuildTiming,
    state: ProcessLocal<CacheOwner>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BuildTiming {
    /// A thread of the cache builds the table, once the key was used [`VerifyTable::USES`] times.
    Background,
    /// The caller builds the table before the first use. For tests.
    AtOnce,
}

/// The state of the process that made it, with a builder thread.
struct CacheOwner(Arc<CacheState>);

/// The state that runs and the builder share.
struct CacheState {
    store: TableStore,
    builder: TableBuilder,
}

/// A key that a run asks for, with its number of uses in the run.
struct KeyUse<'a> {
    name: TableName,
    public: &'a [u8],
    uses: u32,
}

/// The tables for the jobs of a run.
pub struct VerifyTables<T> {
    found: Vec<Option<Arc<T>>>,
    /// For each job, its index in `found`.
    of_jobs: Vec<u32>,
}

impl<T> VerifyTables<T> {
    /// Returns the table for job `index` among the keys asked for.
    pub fn get(&self, index: usize) -> Option<&T> {
        self.found.get(self.of_jobs[index] as usize)?.as_deref()
    }
}

impl VerifyTableCache {
    /// Creates a cache of at most `budget` bytes.
    ///
    /// A table that is being built does not count, nor does an evicted table that a run still reads.
    pub fn new(budget: usize) -> Self {
        Self { budget, timing: BuildTiming::Background, state: ProcessLocal::new() }
    }

    /// Returns an empty cache of the same kind with another budget.
    pub fn with_budget(self, budget: usize) -> Self {
        Self { timing: self.timing, ..Self::new(budget) }
    }

    /// Returns the same cache, which then builds each table before its first use. For tests.
    pub fn at_once(self) -> Self {
        Self { timing: BuildTiming::AtOnce, ..self }
    }

    /// Returns the memory of the tables that are ready now.
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

    /// Returns the tables for jobs under these keys, as far as they are ready.
    ///
    /// The uses of the other keys are counted, and a table is built for each key that has enough of them. `build`
    /// makes a table from the result of [`VerifyTable::public`], or returns `None` if that is not a usable key.
    pub fn tables<'a, T: VerifyTable>(
        &self,
        keys: impl ExactSizeIterator<Item = &'a Key>,
        build: impl Fn(&[u8]) -> Option<T> + Copy + Send + 'static,
    ) -> VerifyTables<T> {
        let (wanted, of_jobs) = distinct::<T>(keys);
        if T::BYTES > self.budget {
            // Such tables are off, so keys need not be counted either.
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

    /// Builds a table now or queues it, as the timing says.
    fn order<T: VerifyTable>(
        &self,
        wanted: &KeyUse<'_>,
        build: impl Fn(&[u8]) -> Option<T> + Send + 'static,
    ) -> Option<Arc<T>> {
        let (shared, name) = (self.shared(), wanted.name);
        if T::IS_BUILT_AT_ONCE || self.timing == BuildTiming::AtOnce {
            return shared.make(name, wanted.public, build);
        }
        let public: Box<[u8]> = wanted.public.into();
        let ordered =
            TableBuilder::push(shared, Box::new(move |shared| drop(shared.make(name, &public, build))));
        if !ordered {
            // Otherwise the key would stay in the state of being built, and never be counted again.
            shared.store.recount(name, T::USES);
        }
        None
    }

    fn shared(&self) -> &Arc<CacheState> {
        &self.state.get(|_| CacheOwner::new(self.budget)).0
    }
}

impl CacheState {
    /// Builds a table, checks it and publishes it. A table that cannot be built or is wrong is not tried again.
    fn make<T: VerifyTable>(
        &self,
        name: TableName,
        public: &[u8],
        build: impl Fn(&[u8]) -> Option<T>,
    ) -> Option<Arc<T>> {
        // A panic would end the builder thread and leave every later key without a table.
        let built = catch_unwind(AssertUnwindSafe(|| build(public).filter(|table| table.is_right(public))));
        let Ok(Some(table)) = built else {
            self.store.refuse(name);
            return None;
        };
        let table = Arc::new(table);
        self.store.publish(name, &table).then_some(table)
    }
}

impl CacheOwner {
    fn new(budget: usize) -> Self {
        Self(Arc::new(CacheState { store: TableStore::new(budget), builder: TableBuilder::default() }))
    }
}

/// Drops queued builds with the engine, because nobody waits for them.
impl Drop for CacheOwner {
    fn drop(&mut self) {
        self.0.builder.close();
    }
}

/// Returns the distinct keys of a run, and for each job the index of its key.
///
/// It remembers one key per low byte of the fingerprint. A key that still appears twice costs only a second look-up.
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
        write!(f, "VerifyTableCache({:?}, {:?})", self.timing, self.table_usage())
    }
}

impl<T> fmt::Debug for VerifyTables<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyTables({} of {} keys)", self.found.iter().flatten().count(), self.found.len())
    }
}
