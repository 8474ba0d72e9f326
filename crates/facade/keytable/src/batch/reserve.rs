//! Uses of keys, counted per key over a batch and then reserved in one atomic step per key.

use oarlock_core::{KeySource, Status};

use super::Batch;
use super::plan::BatchRow;
use super::slots::SlotClaims;
use crate::table::{KeyEntry, KeyUses, TableSnapshot, UseLimit};

/// The number of uses of each key of the table in a batch.
#[derive(Debug)]
pub(super) struct UseTally {
    /// Uses that are wanted; after a reservation, uses that are granted and not yet spent.
    uses: Vec<u32>,
    /// The keys among them, once each.
    keys: Vec<u32>,
}

type LimitOf = fn(&KeyUses) -> Option<&UseLimit>;

impl UseTally {
    fn new(keys: usize) -> Self {
        Self { uses: vec![0; keys], keys: Vec::new() }
    }

    #[inline]
    fn add(&mut self, key: u32) {
        let Some(uses) = self.uses.get_mut(key as usize) else { return };
        if *uses == 0 {
            self.keys.push(key);
        }
        *uses += 1;
    }

    /// Counts one more use of a key. A key outside the table is not counted.
    #[inline]
    pub(super) fn add_source(&mut self, source: KeySource) {
        if let KeySource::Table(key) = source {
            self.add(key);
        }
    }

    /// Forgets the keys whose uses do not count.
    fn keep(&mut self, counts: impl Fn(u32) -> bool) {
        self.keys.retain(|key| counts(*key));
    }

    /// Reserves all uses, or as many as are left.
    fn reserve(&mut self, snapshot: &TableSnapshot, limit: LimitOf) -> bool {
        let mut is_whole = true;
        for key in &self.keys {
            let wanted = &mut self.uses[*key as usize];
            if let Some(limit) = snapshot.entry(*key).map(KeyEntry::uses).and_then(limit) {
                let granted = limit.take(u64::from(*wanted)) as u32;
                is_whole &= granted == *wanted;
                *wanted = granted;
            }
        }
        is_whole
    }

    /// Reserves all, or nothing.
    fn reserve_all(&mut self, snapshot: &TableSnapshot, limit: LimitOf) -> bool {
        let is_whole = self.reserve(snapshot, limit);
        if !is_whole {
            self.give_back(snapshot, limit);
        }
        is_whole
    }

    /// Gives back what was granted and not spent.
    fn give_back(&self, snapshot: &TableSnapshot, limit: LimitOf) {
        for key in &self.keys {
            if let Some(limit) = snapshot.entry(*key).map(KeyEntry::uses).and_then(limit) {
                limit.give_back(u64::from(self.uses[*key as usize]));
            }
        }
    }

    /// Spends one granted use.
    fn spend(&mut self, key: u32) -> bool {
        let Some(left) = self.uses.get_mut(key as usize).filter(|left| **left > 0) else { return false };
        *left -= 1;
        true
    }
}

/// Reserves the uses that `count_records` finds, and the encryptions under GCM that `count_seals` finds, or none if a
/// key has too few left.
pub(super) fn reserve_all(
    snapshot: &TableSnapshot,
    count_records: impl FnOnce(&mut UseTally),
    count_seals: impl FnOnce(&mut UseTally),
) -> bool {
    let mut records = UseTally::new(snapshot.entries.len());
    count_records(&mut records);
    if !records.reserve_all(snapshot, LIMITS[RECORDS]) {
        return false;
    }
    let mut sealed = UseTally::new(snapshot.entries.len());
    count_seals(&mut sealed);
    sealed.keep(|index| snapshot.rights[index as usize].counts_gcm());
    let is_reserved = sealed.reserve_all(snapshot, LIMITS[SEALS]);
    // The general path reserves again and refuses only the records that are too many.
    if !is_reserved {
        records.give_back(snapshot, LIMITS[RECORDS]);
    }
    is_reserved
}

/// The counts of a record: pairs of a tally and a key.
type Counted = [Option<(usize, u32)>; 3];

/// The tallies of a batch: records, encryptions under GCM, and encryptions under GCM with unwrapped keys.
const LIMITS: [LimitOf; 3] =
    [|uses| uses.records.as_ref(), |uses| Some(&uses.gcm), |uses| Some(&uses.gcm_of_unwrapped)];

/// Reserves the uses of every record that may run. If they are too few, later records of the batch are refused.
pub(super) fn reserve(
    batch: &Batch<'_>,
    snapshot: &TableSnapshot,
    claims: &mut SlotClaims<'_>,
    statuses: &mut [Status],
) {
    let mut tallies = LIMITS.map(|_| UseTally::new(snapshot.entries.len()));
    let pending = |statuses: &[Status], index: usize| statuses[index] == Status::Pending;
    for index in (0..batch.records.len).filter(|index| pending(statuses, *index)) {
        for (tally, key) in counted(&BatchRow::at(batch, index), snapshot, claims).into_iter().flatten() {
            tallies[tally].add(key);
        }
    }
    // One atomic step per key and limit: batches of other threads reserve at the same time.
    for (tally, limit) in tallies.iter_mut().zip(LIMITS) {
        tally.reserve(snapshot, limit);
    }
    for index in 0..batch.records.len {
        if pending(statuses, index) && !spend(&BatchRow::at(batch, index), snapshot, claims, &mut tallies) {
            statuses[index] = Status::KeyUsedUp;
        }
    }
    // Uses that no record has spent go back, such as the first use of a record that lacks a second one.
    for (tally, limit) in tallies.iter().zip(LIMITS) {
        tally.give_back(snapshot, limit);
    }
}

/// Spends all uses of a record, or none.
fn spend(
    row: &BatchRow,
    snapshot: &TableSnapshot,
    claims: &mut SlotClaims<'_>,
    tallies: &mut [UseTally; 3],
) -> bool {
    let counted = counted(row, snapshot, claims);
    for (at, (tally, key)) in counted.iter().flatten().copied().enumerate() {
        if !tallies[tally].spend(key) {
            // A record counts for all its keys or for none.
            for (tally, key) in counted.iter().flatten().take(at) {
                tallies[*tally].uses[*key as usize] += 1;
            }
            return false;
        }
    }
    let slots = slot_keys(row);
    if slots.iter().flatten().any(|slot| claims.key(*slot).is_ok_and(|key| key.uses_left == 0)) {
        for (tally, key) in counted.iter().flatten() {
            tallies[*tally].uses[*key as usize] += 1;
        }
        return false;
    }
    for slot in slots.iter().flatten() {
        if let Some(key) = claims.key_mut(*slot) {
            key.uses_left = key.uses_left.saturating_sub(1);
        }
    }
    true
}

/// Returns the counts of a record: one for each key, and one more for an encryption under GCM.
fn counted(row: &BatchRow, snapshot: &TableSnapshot, claims: &SlotClaims<'_>) -> Counted {
    let in_table = |source| match source {
        KeySource::Table(index) if index < TableSnapshot::FIRST_OUTSIDE => Some((RECORDS, index)),
        _ => None,
    };
    let first = in_table(row.key).filter(|_| row.task.has_key());
    let second = in_table(row.second_key).filter(|own| row.task.has_second_key() && Some(*own) != first);
    [first, second, counted_seal(row, snapshot, claims).filter(|_| row.task.is_gcm_seal())]
}

const RECORDS: usize = 0;
const SEALS: usize = 1;
const SEALS_OF_UNWRAPPED: usize = 2;

fn counted_seal(row: &BatchRow, snapshot: &TableSnapshot, claims: &SlotClaims<'_>) -> Option<(usize, u32)> {
    match row.key {
        KeySource::Table(index) => {
            let rights = snapshot.rights.get(index as usize)?;
            rights.counts_gcm().then_some((SEALS, index))
        }
        KeySource::Slot(slot) => {
            let key = claims.key(slot).ok()?;
            key.root.filter(|_| key.rights.counts_gcm()).map(|root| (SEALS_OF_UNWRAPPED, root))
        }
    }
}

fn slot_keys(row: &BatchRow) -> [Option<u32>; 2] {
    let slot = |source| match source {
        KeySource::Slot(slot) => Some(slot),
        KeySource::Table(_) => None,
    };
    let first = slot(row.key).filter(|_| row.task.has_key());
    [first, slot(row.second_key).filter(|own| row.task.has_second_key() && Some(*own) != first)]
}
