//! The table as a batch sees it, and the way it follows changes.
//!
//! Engines read the keys of a table side by side. While a batch reads them, nobody may change them. A copy of all
//! keys for each key that comes in the meantime would cost the square of their number. So changes wait. A batch that
//! begins before they could be made gets only the keys that it names.

use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::Arc;

use oarlock_core::{Batch, Column, Fingerprint, Key, KeyParts, KeySource, Records, SecretBytes};

use super::held::HeldKeys;
use super::{KeyEntry, KeyIdentity, KeyTable, RightSet};

/// The keys that a batch may use, side by side.
pub(crate) struct TableSnapshot {
    /// The keys by index. A removed key is replaced by one that fits no shape.
    pub(crate) keys: Vec<Key>,
    /// The rights by index, and one more entry: the rights of a key that does not exist.
    pub(crate) rights: Vec<RightSet>,
    pub(crate) entries: Vec<Option<Arc<KeyEntry>>>,
}

/// A key of the table with what is known of it.
#[derive(Clone)]
pub(super) struct TableKey {
    pub(super) key: Key,
    pub(super) identity: KeyIdentity,
    pub(super) rights: RightSet,
    pub(super) entry: Arc<KeyEntry>,
}

/// All keys by index, and a snapshot of them that may be some changes behind.
#[derive(Default)]
pub(super) struct TableKeys {
    all: Vec<Option<TableKey>>,
    snapshot: Arc<TableSnapshot>,
    /// Indices whose keys the snapshot does not have as they are.
    waiting: BTreeSet<u32>,
}

/// Key columns that name keys by their places in a snapshot.
pub(crate) type KeyColumns = [Column<'static, KeySource>; 2];

/// The snapshot that a batch sees. Changes that waited for its end are made when this is dropped.
pub(crate) struct SnapshotGuard<'t> {
    // This field is dropped first: a removed key is wiped when the last batch that knew it ends.
    snapshot: Arc<TableSnapshot>,
    _end: BatchEnd<'t>,
}

struct BatchEnd<'t>(&'t KeyTable);

impl Default for TableSnapshot {
    fn default() -> Self {
        Self { keys: Vec::new(), rights: vec![RightSet::NONE], entries: Vec::new() }
    }
}

impl TableSnapshot {
    pub(crate) fn entry(&self, index: u32) -> Option<&KeyEntry> {
        self.entries.get(index as usize)?.as_deref()
    }

    fn push(&mut self, key: Option<&TableKey>) {
        let last = self.rights.len() - 1;
        self.rights.insert(last, key.map_or(RightSet::NONE, |key| key.rights));
        self.keys.push(key.map_or_else(no_key, |key| key.key.clone()));
        self.entries.push(key.map(|key| Arc::clone(&key.entry)));
    }

    fn set(&mut self, index: u32, key: Option<&TableKey>) {
        let index = index as usize;
        if index == self.keys.len() {
            return self.push(key);
        }
        self.rights[index] = key.map_or(RightSet::NONE, |key| key.rights);
        self.keys[index] = key.map_or_else(no_key, |key| key.key.clone());
        self.entries[index] = key.map(|key| Arc::clone(&key.entry));
    }
}

/// Fits no shape.
fn no_key() -> Key {
    Key::local(KeyParts::Secret(SecretBytes::default()), Fingerprint::new([0; 32]))
}

impl TableKeys {
    pub(super) fn get(&self, index: u32) -> Option<&TableKey> {
        self.all.get(index as usize)?.as_ref()
    }

    /// The keys that are there, by index.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &TableKey)> {
        (0..).zip(&self.all).filter_map(|(index, key)| Some((index, key.as_ref()?)))
    }

    /// Returns the index behind all others; None if no index is left.
    pub(super) fn next_index(&self) -> Option<u32> {
        u32::try_from(self.all.len()).ok().filter(|index| *index < HeldKeys::FIRST)
    }

    /// Puts a key at an index that is there, or at the next one.
    pub(super) fn set(&mut self, index: u32, key: Option<TableKey>) {
        match self.all.get_mut(index as usize) {
            Some(entry) => *entry = key,
            None => self.all.push(key),
        }
        self.waiting.insert(index);
        self.catch_up();
    }

    /// Makes the changes that wait, if no batch reads the snapshot. True if it then has all keys as they are.
    pub(super) fn catch_up(&mut self) -> bool {
        if self.waiting.is_empty() {
            return true;
        }
        let Some(snapshot) = Arc::get_mut(&mut self.snapshot) else { return false };
        // Ascending, so a new index is the next one.
        for index in std::mem::take(&mut self.waiting) {
            snapshot.set(index, self.all.get(index as usize).and_then(Option::as_ref));
        }
        true
    }

    /// The snapshot of all keys; None if changes wait.
    pub(super) fn whole(&self) -> Option<Arc<TableSnapshot>> {
        self.waiting.is_empty().then(|| Arc::clone(&self.snapshot))
    }

    /// A snapshot of all keys, however many changes wait.
    #[cfg(test)]
    pub(super) fn copied(&self) -> Arc<TableSnapshot> {
        let mut copy = TableSnapshot::default();
        self.all.iter().for_each(|key| copy.push(key.as_ref()));
        Arc::new(copy)
    }

    /// The keys that the records name, as they are now, and the columns that name them there.
    pub(super) fn gather(&self, records: &Records<'_>) -> (Arc<TableSnapshot>, KeyColumns) {
        let mut gathering =
            Gathering { keys: self, snapshot: TableSnapshot::default(), positions: HashMap::new() };
        let columns = [&records.key, &records.second_key].map(|column| gathering.column(column, records.len));
        (Arc::new(gathering.snapshot), columns)
    }
}

struct Gathering<'k> {
    keys: &'k TableKeys,
    snapshot: TableSnapshot,
    /// The position in the snapshot of each index that was named.
    positions: HashMap<u32, u32>,
}

impl Gathering<'_> {
    fn column(&mut self, column: &Column<'_, KeySource>, len: usize) -> Column<'static, KeySource> {
        match column {
            Column::One(source) => Column::One(self.gather_key(*source)),
            _ => Column::Each(column.cursor().take(len).map(|source| self.gather_key(source)).collect()),
        }
    }

    fn gather_key(&mut self, source: KeySource) -> KeySource {
        let KeySource::Table(index) = source else { return source };
        if index >= Batch::FIRST_OUTSIDE {
            return source;
        }
        // A gathered snapshot never has this many keys.
        let Some(key) = self.keys.get(index) else {
            return KeySource::Table(Batch::FIRST_OUTSIDE - 1);
        };
        let next = self.snapshot.keys.len() as u32;
        let position = *self.positions.entry(index).or_insert(next);
        // Two records of one key share its copy.
        if position == next {
            self.snapshot.push(Some(key));
        }
        KeySource::Table(position)
    }
}

impl<'t> SnapshotGuard<'t> {
    pub(super) fn new(table: &'t KeyTable, snapshot: Arc<TableSnapshot>) -> Self {
        Self { snapshot, _end: BatchEnd(table) }
    }
}

impl Deref for SnapshotGuard<'_> {
    type Target = TableSnapshot;

    fn deref(&self) -> &TableSnapshot {
        &self.snapshot
    }
}

impl Drop for BatchEnd<'_> {
    fn drop(&mut self) {
        self.0.catch_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{BatchBuilder, BatchEntry, EntryIv};
    use crate::table::KeyPolicy;
    use oarlock_core::{BatchTask, BlockCipher, KeyType, Status};

    const KEYS: u32 = 5_000;

    fn insert(table: &KeyTable, name: u32) -> u32 {
        let secret = [&[7; 12][..], &name.to_be_bytes()].concat();
        let policy = KeyPolicy::any_data(KeyType::Aes128);
        table.insert(name.to_string(), KeyType::Aes128, secret, policy).unwrap().index
    }

    fn batch_of(keys: &[u32]) -> BatchBuilder {
        let mut builder = BatchBuilder::new();
        for key in keys {
            let encrypt = BatchEntry::new(BatchTask::encrypt(BlockCipher::Aes128)).key(*key);
            builder.add(encrypt.iv(EntryIv::Bytes(&[0; 16])).input(&[1; 16])).unwrap();
        }
        builder
    }

    /// Counts the owners of a key's entry: the table, and each snapshot that contains it.
    fn holders(table: &KeyTable, index: u32) -> usize {
        let state = table.read();
        Arc::strong_count(&state.keys.get(index).unwrap().entry)
    }

    #[test]
    fn keys_that_come_while_a_batch_runs_copy_no_others() {
        let table = KeyTable::new();
        (0..KEYS).for_each(|name| assert_eq!(insert(&table, name), name));
        let empty = batch_of(&[]);
        let (running, columns) = table.begin(&empty.batch().records);
        assert!(columns.is_none() && running.keys.len() == KEYS as usize);
        let mut gathered = 0;
        for name in KEYS..2 * KEYS {
            insert(&table, name);
            let builder = batch_of(&[name, 3, name, 77]);
            let (seen, columns) = table.begin(&builder.batch().records);
            gathered += seen.keys.len();
            let Some([Column::Each(sources), _]) = columns else { panic!("{columns:?}") };
            assert_eq!(sources[..], [0, 1, 0, 2].map(KeySource::Table));
        }
        // Three, and the first, which a record without a second key names in its column.
        assert_eq!(gathered, 4 * KEYS as usize, "a batch gets the keys that it names");
        for index in [0, 3, KEYS - 1] {
            assert_eq!(holders(&table, index), 2, "the table and the batch that runs");
        }
        assert_eq!(holders(&table, KEYS), 1, "the table alone");
        drop(running);
        assert_eq!(holders(&table, KEYS), 2, "changes are made when the last batch ends");
        assert_eq!(table.begin(&empty.batch().records).0.keys.len(), 2 * KEYS as usize);
    }

    #[test]
    fn a_batch_beside_another_computes_the_same() {
        let table = KeyTable::new();
        let accelerator = crate::batch::tests::accelerator();
        (0..20).for_each(|name| assert_eq!(insert(&table, name), name));
        let builder = batch_of(&[19, 3, 20, 19, 99]);
        let empty = batch_of(&[]);
        let (running, _) = table.begin(&empty.batch().records);
        insert(&table, 20);
        let beside = table.run(accelerator, &builder.batch()).unwrap();
        drop(running);
        let alone = table.run(accelerator, &builder.batch()).unwrap();
        use Status::{Done, UnknownKey};
        assert_eq!(beside.statuses(), [Done, Done, Done, Done, UnknownKey]);
        assert_eq!((beside.statuses(), beside.output()), (alone.statuses(), alone.output()));
    }

    #[test]
    fn an_index_is_used_again_only_if_its_owner_says_so() {
        let table = KeyTable::new();
        (0..3).for_each(|name| assert_eq!(insert(&table, name), name));
        assert!(table.remove("1"));
        assert_eq!(insert(&table, 3), 3, "the index of a removed key is never given again");
        assert!(table.recycle("2") && !table.recycle("2"));
        assert_eq!((table.index("2"), table.len()), (None, 2));
        let old = batch_of(&[2]);
        let accelerator = crate::batch::tests::accelerator();
        let statuses = |table: &KeyTable| table.run(accelerator, &old.batch()).unwrap().statuses().to_vec();
        assert_eq!(statuses(&table), [Status::UnknownKey]);
        assert_eq!((insert(&table, 4), insert(&table, 5)), (2, 4));
        assert_eq!(statuses(&table), [Status::Done]);
        assert_eq!(&*table.info(2).unwrap().name, "4");
    }

    /// Keys that are opened and closed for ever take no more memory than those that are open, with and without a
    /// batch.
    #[test]
    fn recycled_indices_keep_the_table_short() {
        let table = KeyTable::new();
        let empty = batch_of(&[]);
        let (running, _) = table.begin(&empty.batch().records);
        for name in 0..1000 {
            assert_eq!(insert(&table, name), 0);
            assert!(table.recycle(&name.to_string()));
        }
        let waiting = table.read().keys.waiting.len();
        assert_eq!(waiting, 1, "a change of the same index waits once");
        drop(running);
        assert_eq!(table.begin(&empty.batch().records).0.keys.len(), 1);
    }
}
