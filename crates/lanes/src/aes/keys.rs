//! Prepared keys of records.

use oarlock_core::{Key, KeySource, Records, SecretBytes, Status};

use super::schedule::PrepareAes;
use crate::records::{RecordPart, RecordRef};
use crate::simd::BlockSimd;

/// Prepared keys: those kept with handles, and those of slots.
pub(super) struct PreparedKeys<'a, K> {
    pub(super) part: &'a RecordPart<'a>,
    /// By index in the key table, where keys recur.
    pub(super) table: &'a [Option<&'a K>],
    /// By slot: made for this window alone.
    pub(super) own: &'a [Option<K>],
}

/// The prepared forms of all keys of `len` bytes, where they recur; else nothing.
pub(super) fn table<'a, S: BlockSimd, K: PrepareAes>(
    simd: S,
    records: &'a Records<'_>,
    len: usize,
) -> Vec<Option<&'a K>> {
    if records.keys.len() > 2 * records.len {
        return Vec::new();
    }
    records.keys.iter().map(|key| prepared(simd, key, len)).collect()
}

/// The prepared keys of those records of a window that take theirs from slots.
pub(super) fn from_slots<S: BlockSimd, K: PrepareAes>(
    simd: S,
    part: &RecordPart<'_>,
    records: &[RecordRef],
) -> Vec<Option<K>> {
    let mut own = Vec::new();
    if !part.has_slots() {
        return own;
    }
    for record in records {
        if let KeySource::Slot(slot) = part.key(*record) {
            let slot = slot as usize;
            own.resize_with(own.len().max(slot + 1), || None);
            own[slot].get_or_insert_with(|| K::prepare(simd, part.key_bytes(*record)));
        }
    }
    own
}

impl<'a, K: PrepareAes> PreparedKeys<'a, K> {
    /// The key of a record, where it is one of those that recur.
    #[inline(always)]
    pub(super) fn recurring(&self, record: &RecordRef) -> Option<&'a K> {
        *self.table.get(record.key as usize)?
    }

    /// The key of a record.
    #[inline(always)]
    pub(super) fn find<S: BlockSimd>(&self, simd: S, record: RecordRef) -> Option<&'a K> {
        match self.table.get(record.key as usize) {
            Some(key) => *key,
            None => self.look_up(simd, record),
        }
    }

    #[cold]
    fn look_up<S: BlockSimd>(&self, simd: S, record: RecordRef) -> Option<&'a K> {
        match self.part.key(record) {
            KeySource::Slot(slot) => self.own.get(slot as usize)?.as_ref(),
            KeySource::Table(index) => {
                let len = self.part.key_bytes(record).len();
                prepared(simd, self.part.key_table().get(index as usize)?, len)
            }
        }
    }
}

/// The prepared form that is kept with the key's handle, of a secret of `len` bytes.
fn prepared<S: BlockSimd, K: PrepareAes>(simd: S, key: &Key, len: usize) -> Option<&K> {
    let secret = key.secret().map(SecretBytes::expose).filter(|secret| secret.len() == len)?;
    key.prepared(|_| Ok::<_, Status>(K::prepare(simd, secret))).ok()
}
