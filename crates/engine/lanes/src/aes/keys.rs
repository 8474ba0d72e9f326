//! The prepared keys of records.

use oarlock_core::{Key, KeySource, Records, SecretBytes, Status};

use super::schedule::PrepareAes;
use crate::records::{RecordPart, RecordRef};
use crate::simd::BlockSimd;

/// Prepared keys: cached with handles, or made for slots.
pub(super) struct PreparedKeys<'a, K> {
    pub(super) part: &'a RecordPart<'a>,
    /// The keys by index in the key table. Empty if keys do not recur.
    pub(super) table: &'a [Option<&'a K>],
    /// The keys by slot, made for one window.
    pub(super) slots: &'a [Option<K>],
}

/// Returns the prepared forms of all keys of `len` bytes, or an empty list if keys do not recur.
pub(super) fn prepare_table<'a, S: BlockSimd, K: PrepareAes>(
    simd: S,
    records: &'a Records<'_>,
    len: usize,
) -> Vec<Option<&'a K>> {
    // The same bound as in `RecordPart::new`: a huge table with few records must not be walked.
    if records.keys.len() > 2 * records.len {
        return Vec::new();
    }
    records.keys.iter().map(|key| prepared(simd, key, len)).collect()
}

/// Prepares the keys of the records in a window whose keys come from slots.
pub(super) fn prepare_slots<S: BlockSimd, K: PrepareAes>(
    simd: S,
    part: &RecordPart<'_>,
    records: &[RecordRef],
) -> Vec<Option<K>> {
    let mut slots = Vec::new();
    if !part.has_slots() {
        return slots;
    }
    for record in records {
        if let KeySource::Slot(slot) = part.key_at(record.index) {
            let slot = slot as usize;
            slots.resize_with(slots.len().max(slot + 1), || None);
            // A slot is written once before this run, so all records that use it can share the prepared key.
            slots[slot].get_or_insert_with(|| K::prepare(simd, part.key_bytes(*record)));
        }
    }
    slots
}

impl<'a, K: PrepareAes> PreparedKeys<'a, K> {
    /// Returns the key of a record.
    #[inline(always)]
    pub(super) fn find<S: BlockSimd>(&self, simd: S, record: RecordRef) -> Option<&'a K> {
        match self.table.get(record.key as usize) {
            Some(key) => *key,
            None => self.look_up(simd, record.index),
        }
    }

    #[cold]
    fn look_up<S: BlockSimd>(&self, simd: S, record: u32) -> Option<&'a K> {
        match self.part.key_at(record) {
            KeySource::Slot(slot) => self.slots.get(slot as usize)?.as_ref(),
            KeySource::Table(index) => {
                let key = self.part.key_table().get(index as usize)?;
                prepared(simd, key, key.secret()?.len())
            }
        }
    }
}

/// Returns the prepared form that is cached with the key's handle, if the secret has `len` bytes.
fn prepared<S: BlockSimd, K: PrepareAes>(simd: S, key: &Key, len: usize) -> Option<&K> {
    let secret = key.secret().map(SecretBytes::expose).filter(|secret| secret.len() == len)?;
    key.prepared(|_| Ok::<_, Status>(K::prepare(simd, secret))).ok()
}
