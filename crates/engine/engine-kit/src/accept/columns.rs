//! Columns with random access.

use std::borrow::Cow;

use oarlock_core::{Column, ColumnValue};

/// A column as a slice, or as a first value and a stride. Runs are expanded.
pub(super) struct FlatColumn<'a, T: ColumnValue> {
    /// The values of the records if each has its own.
    values: Cow<'a, [T]>,
    /// The first value and the distance between values, or None if each record has its own value.
    even: Option<(T, u32)>,
}

impl<'a, T: ColumnValue> FlatColumn<'a, T> {
    /// Reads the column of a batch of `len` records.
    // Inlined, because a part of one record reads eight columns.
    #[inline(always)]
    pub(super) fn new(column: &'a Column<'a, T>, len: usize) -> Self {
        let (values, even) = match column {
            // Borrowed: a part of one record would spend more on eight allocations than on its check.
            Column::One(value) => (Cow::Borrowed(&[][..]), Some((*value, 0))),
            Column::Stride { first, stride } => (Cow::Borrowed(&[][..]), Some((*first, *stride))),
            Column::Each(values) => (Cow::Borrowed(&values[..]), None),
            // Runs have no random access. Expanding them costs one pass, and records are visited out of order.
            Column::Runs(_) => (column.cursor().take(len).collect(), None),
        };
        Self { values, even }
    }

    /// Returns the distance between values, or None if each record has its own value.
    pub(super) fn stride(&self) -> Option<u32> {
        self.even.map(|(_, stride)| stride)
    }

    /// Returns the first value and the distance between values, or None if each record has its own value.
    pub(super) fn even(&self) -> Option<(T, u32)> {
        self.even
    }

    /// Returns the values if each record has its own.
    pub(super) fn values(&self) -> Option<&[T]> {
        self.even.is_none().then_some(&self.values[..])
    }

    /// Returns the value of a record. `index` must be in bounds.
    #[inline(always)]
    pub(super) fn at(&self, index: u32) -> T {
        match self.even {
            // Exists, because the column covers its records.
            Some((first, stride)) => first.moved(stride.wrapping_mul(index)),
            None => self.values[index as usize],
        }
    }
}
