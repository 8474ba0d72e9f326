//! Columns with random access.

use std::borrow::Cow;
use std::slice;

use oarlock_core::{Column, ColumnValue};

/// A column as a slice, or as a first value and a stride. Runs are expanded.
pub(super) struct FlatColumn<'a, T: ColumnValue> {
    values: Cow<'a, [T]>,
    /// The distance between values, or None if each record has its own value.
    stride: Option<u32>,
}

impl<'a, T: ColumnValue> FlatColumn<'a, T> {
    /// Reads the column of a batch of `len` records.
    // Inlined, because a part of one record reads eight columns.
    #[inline(always)]
    pub(super) fn new(column: &'a Column<'a, T>, len: usize) -> Self {
        let (values, stride) = match column {
            // Borrowed: a part of one record would spend more on eight allocations than on its check.
            Column::One(value) => (Cow::Borrowed(slice::from_ref(value)), Some(0)),
            Column::Stride { first, stride } => (Cow::Borrowed(slice::from_ref(first)), Some(*stride)),
            Column::Each(values) => (Cow::Borrowed(&values[..]), None),
            // Runs have no random access. Expanding them costs one pass, and records are visited out of order.
            Column::Runs(_) => (column.cursor().take(len).collect(), None),
        };
        Self { values, stride }
    }

    /// Returns the distance between values, or None if each record has its own value.
    pub(super) fn stride(&self) -> Option<u32> {
        self.stride
    }

    /// Returns the values if each record has its own.
    pub(super) fn values(&self) -> Option<&[T]> {
        self.stride.is_none().then_some(&self.values[..])
    }

    /// Returns the value of a record. `index` must be in bounds.
    #[inline(always)]
    pub(super) fn at(&self, index: u32) -> T {
        match self.stride {
            Some(stride) => {
                let first = self.values[0];
                // unreachable because the column covers its records
                first.further(u64::from(stride) * u64::from(index)).unwrap_or(first)
            }
            None => self.values[index as usize],
        }
    }
}
