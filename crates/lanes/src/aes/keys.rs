//! Prepared keys of records.

use oarlock_core::{Key, KeySource, Records, SecretBytes, Status};

use super::schedule::Prepare;
use crate::records::{Accepted, Part};
use crate::simd::Blocks;

/// Prepared keys: those kept with handles, and those of slots.
pub(super) struct Keys<'a, K> {
    pub(super) part: &'a Part<'a>,
    /// By index in the key table, where keys recur.
    pub(super) table: &'a [Option<&'a K>],
    /// By slot: made for this window alone.
    pub(super) own: &'a [Option<K>],
}

/// The prepared forms of all keys of `len` bytes, where they recur; else nothing.
pub(super) fn table<'a, S: Blocks, K: Prepare>(
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
pub(super) fn from_slots<S: Blocks, K: Prepare>(
    simd: S,
    part: &Part<'_>,
    records: &[Accepted],
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

impl<'a, K: Prepare> Keys<'a, K> {
    /// The key of a record, where it is one of those that recur.
    #[inline(always)]
    pub(super) fn kept(&self, record: &Accepted) -> Option<&'a K> {
        *self.table.get(record.key as usize)?
    }

    /// The key of a record.
    #[inline(always)]
    pub(super) fn of<S: Blocks>(&self, simd: S, record: Accepted) -> Option<&'a K> {
        match self.table.get(record.key as usize) {
            Some(key) => *key,
            None => self.looked_up(simd, record),
        }
    }

    #[cold]
    fn looked_up<S: Blocks>(&self, simd: S, record: Accepted) -> Option<&'a K> {
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
fn prepared<S: Blocks, K: Prepare>(simd: S, key: &Key, len: usize) -> Option<&K> {
    let secret = key.secret().map(SecretBytes::expose).filter(|secret| secret.len() == len)?;
    key.prepared(|_| Ok::<_, Status>(K::prepare(simd, secret))).ok()
}
