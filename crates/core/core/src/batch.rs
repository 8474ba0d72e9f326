//! Records of mixed tasks, as a key table and a holder take them.

use std::borrow::Cow;
use std::fmt;

use crate::{BatchTask, Column, IvSource, KeySource, Records};

/// Records of mixed tasks.
///
/// The first record that names a slot writes it, and later records read it. A slot that an unwrapping fills is used
/// as a key only. A slot that any other record fills is used as data only. Data that a translate-only key has
/// decrypted can only be encrypted again. Slots end with the call.
#[derive(Clone)]
pub struct Batch<'a> {
    /// The task of each record.
    pub task: Column<'a, BatchTask>,
    /// The columns in the form that engines take.
    ///
    /// `keys` are keys of the caller beside those of the table ([`Batch::outside_key`] names them). `slots` is
    /// ignored. The tag column holds the check values of unwrapped keys.
    pub records: Records<'a>,
    /// The source of each IV. The spans of `records.iv` are those of [`IvSource::Given`].
    pub iv_from: Column<'a, IvSource>,
    /// The source of the IV of the encrypting half of a translation.
    pub second_iv_from: Column<'a, IvSource>,
    /// The capacity of each secret slot, in bytes.
    pub slots: Cow<'a, [u32]>,
}

impl<'a> Batch<'a> {
    /// The first index in a key column that names a key of the caller, in `records.keys`, and not one of a key table.
    pub const FIRST_OUTSIDE: u32 = 1 << 31;

    /// Creates a batch of mixed tasks, with the caller's IVs and without slots.
    #[must_use]
    pub fn new(task: Column<'a, BatchTask>, records: Records<'a>) -> Self {
        let iv = Column::One(IvSource::Given);
        Self { task, records, iv_from: iv.clone(), second_iv_from: iv, slots: Cow::Borrowed(&[]) }
    }

    /// Creates a batch of one task, with the caller's IVs and without slots.
    #[must_use]
    pub fn uniform(task: impl Into<BatchTask>, records: Records<'a>) -> Self {
        Self::new(Column::One(task.into()), records)
    }

    /// Names the key at `index` of `records.keys`, which the caller brings instead of the table.
    ///
    /// No policy holds for it. No IV for GCM is made under it, because nobody counts its uses.
    #[must_use]
    pub fn outside_key(index: u32) -> KeySource {
        KeySource::Table(Self::FIRST_OUTSIDE | index)
    }

    /// True if every column covers every record.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let len = self.records.len;
        self.records.is_complete()
            && self.task.covers(len)
            && self.iv_from.covers(len)
            && self.second_iv_from.covers(len)
    }
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({:?}, {} slots)", self.records, self.slots.len())
    }
}
