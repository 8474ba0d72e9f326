//! Columns that are read at random.

use std::borrow::Cow;

use oarlock_core::Column;

/// A column as a slice: a single value is read at any index, runs have been written out.
pub(crate) struct Flat<'a, T: Copy> {
    values: Cow<'a, [T]>,
    /// Nothing of an index counts where there is one value for all.
    mask: usize,
}

impl<'a, T: Copy> Flat<'a, T> {
    /// The column of a batch of `len` records.
    pub(crate) fn new(column: &'a Column<'a, T>, len: usize) -> Self {
        match column {
            Column::One(value) => Self { values: vec![*value].into(), mask: 0 },
            Column::Each(values) => Self { values: Cow::Borrowed(values), mask: usize::MAX },
            Column::Runs(_) => Self { values: column.cursor().take(len).collect(), mask: usize::MAX },
        }
    }

    /// The value of a record that there is.
    #[inline(always)]
    pub(crate) fn at(&self, index: u32) -> T {
        self.values[index as usize & self.mask]
    }
}
