//! Uses of keys, counted per key over a batch and then reserved in one atomic step per key.

use oarlock_core::{Batch, KeySource, Status};

use super::slots::SlotClaims;
use super::wave_plan::BatchRow;
use crate::table::{KeyEntry, KeyUses, TableSnapshot, UseLimit};

/// The uses of keys that a batch wants, and after a reservation those that it has and has not spent.
pub(super) struct BatchUses {
    /// By the index of their limit.
    tallies: [UseTally; LIMITS.len()],
}

type KeyLimit = fn(&KeyUses) -> Option<&UseLimit>;

/// The limits of a key: records, encryptions under GCM, and encryptions under GCM with unwrapped keys.
const LIMITS: [KeyLimit; 3] =
    [|uses| uses.records.as_ref(), |uses| Some(&uses.gcm), |uses| Some(&uses.gcm_of_unwrapped)];

const RECORDS: usize = 0;
const SEALS: usize = 1;
const SEALS_OF_UNWRAPPED: usize = 2;

impl BatchUses {
    pub(super) fn new(snapshot: &TableSnapshot) -> Self {
        Self { tallies: LIMITS.map(|_| UseTally::new(snapshot.entries.len())) }
    }

    /// Counts one more use of a key, and with `is_gcm_seal` one more encryption under GCM. A key outside the table is
    /// not counted.
    #[inline]
    pub(super) fn add(&mut self, source: KeySource, is_gcm_seal: bool) {
        if let KeySource::Table(key) = source {
            self.tallies[RECORDS].add(key);
            if is_gcm_seal {
                self.tallies[SEALS].add(key);
            }
        }
    }

    /// Reserves all uses, or none if a key has too few left.
    pub(super) fn reserve_all(mut self, snapshot: &TableSnapshot) -> bool {
        self.tallies[SEALS].keys.retain(|index| snapshot.rights[*index as usize].counts_gcm());
        let mut tallies = self.tallies.iter_mut().zip(LIMITS);
        // The limits behind one that lacks uses are not asked.
        let Some(short) = tallies.position(|(tally, limit)| !tally.reserve(snapshot, limit)) else {
            return true;
        };
        // Waves reserve again, and refuse only the records that are too many.
        self.give_back(snapshot, short);
        false
    }

    /// Gives back what was granted and not spent under the limits up to the one at `last`.
    fn give_back(&self, snapshot: &TableSnapshot, last: usize) {
        for (tally, limit) in self.tallies[..=last].iter().zip(LIMITS) {
            tally.give_back(snapshot, limit);
        }
    }

    /// Spends all uses of a record, or none.
    fn spend(&mut self, counted: &RecordUses) -> bool {
        for (at, (limit, key)) in counted.iter().flatten().enumerate() {
            if !self.tallies[*limit].spend(*key) {
                counted.iter().flatten().take(at).for_each(|counted| self.unspend(*counted));
                return false;
            }
        }
        true
    }

    fn unspend(&mut self, (limit, key): (usize, u32)) {
        self.tallies[limit].uses[key as usize] += 1;
    }
}

/// Reserves the uses of one key by all records of a batch, or none. No list of all keys is made: a table may have many
/// more of them than the batch has records.
pub(super) fn reserve_one_key(
    index: u32,
    records: usize,
    is_gcm_seal: bool,
    snapshot: &TableSnapshot,
) -> bool {
    // A key outside the table is not counted.
    let Some(uses) = snapshot.entry(index).map(KeyEntry::uses) else { return true };
    let counts_seals = is_gcm_seal && snapshot.rights[index as usize].counts_gcm();
    let wanted = records as u64;
    let limits = [uses.records.as_ref(), counts_seals.then_some(&uses.gcm)];
    let granted = limits.map(|limit| limit.map_or(wanted, |limit| limit.take(wanted)));
    let is_whole = granted == [wanted; 2];
    if !is_whole {
        // Waves reserve again, and refuse only the records that are too many.
        limits.into_iter().zip(granted).for_each(|(limit, uses)| {
            if let Some(limit) = limit {
                limit.give_back(uses);
            }
        });
    }
    is_whole
}

/// The number of uses of each key under one limit.
struct UseTally {
    /// The uses by key.
    uses: Vec<u32>,
    /// The keys among them, once each.
    keys: Vec<u32>,
}

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

    /// Reserves all uses, or as many as are left. True if these are all.
    ///
    /// One atomic step per key: batches of other threads reserve at the same time.
    fn reserve(&mut self, snapshot: &TableSnapshot, limit: KeyLimit) -> bool {
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

    fn give_back(&self, snapshot: &TableSnapshot, limit: KeyLimit) {
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

/// The uses of a record: pairs of a limit and a key.
type RecordUses = [Option<(usize, u32)>; 3];

/// Reserves the uses of every record that may run. If they are too few, later records of the batch are refused.
pub(super) fn reserve(
    batch: &Batch<'_>,
    snapshot: &TableSnapshot,
    claims: &mut SlotClaims<'_>,
    statuses: &mut [Status],
) {
    let mut uses = BatchUses::new(snapshot);
    let pending = |statuses: &[Status], index: usize| statuses[index] == Status::Pending;
    for index in (0..batch.records.len).filter(|index| pending(statuses, *index)) {
        for (limit, key) in counted(&BatchRow::at(batch, index), snapshot, claims).into_iter().flatten() {
            uses.tallies[limit].add(key);
        }
    }
    for (tally, limit) in uses.tallies.iter_mut().zip(LIMITS) {
        tally.reserve(snapshot, limit);
    }
    for index in 0..batch.records.len {
        if pending(statuses, index) && !spend(&BatchRow::at(batch, index), snapshot, claims, &mut uses) {
            statuses[index] = Status::KeyUsedUp;
        }
    }
    // Uses that no record has spent go back, such as the first use of a record that lacks a second one.
    uses.give_back(snapshot, LIMITS.len() - 1);
}

/// Spends all uses of a record, or none.
fn spend(
    row: &BatchRow,
    snapshot: &TableSnapshot,
    claims: &mut SlotClaims<'_>,
    uses: &mut BatchUses,
) -> bool {
    let counted = counted(row, snapshot, claims);
    if !uses.spend(&counted) {
        return false;
    }
    let slots = slot_keys(row);
    if slots.iter().flatten().any(|slot| claims.key(*slot).is_ok_and(|key| key.uses_left == 0)) {
        counted.into_iter().flatten().for_each(|counted| uses.unspend(counted));
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
fn counted(row: &BatchRow, snapshot: &TableSnapshot, claims: &SlotClaims<'_>) -> RecordUses {
    let in_table = |source| match source {
        KeySource::Table(index) if index < Batch::FIRST_OUTSIDE => Some((RECORDS, index)),
        _ => None,
    };
    let first = in_table(row.key).filter(|_| row.task.has_key());
    let second =
        in_table(row.second_key).filter(|second| row.task.has_second_key() && Some(*second) != first);
    [first, second, counted_seal(row, snapshot, claims).filter(|_| row.task.is_gcm_seal())]
}

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
    [first, slot(row.second_key).filter(|second| row.task.has_second_key() && Some(*second) != first)]
}
