//! Columns that are read at random.

use std::borrow::Cow;

use oarlock_core::{Column, ColumnValue};

/// A column as a slice, or as what its values are a stride apart from; runs have been written out.
pub(crate) struct FlatColumn<'a, T: ColumnValue> {
    values: Cow<'a, [T]>,
    /// Of the first value; None where each has a value of its own.
    stride: Option<u32>,
}

impl<'a, T: ColumnValue> FlatColumn<'a, T> {
    /// The column of a batch of `len` records.
    pub(crate) fn new(column: &'a Column<'a, T>, len: usize) -> Self {
        let (values, stride) = match column {
            Column::One(value) => (vec![*value].into(), Some(0)),
            Column::Stride { first, stride } => (vec![*first].into(), Some(*stride)),
            Column::Each(values) => (Cow::Borrowed(&values[..]), None),
            Column::Runs(_) => (column.cursor().take(len).collect(), None),
        };
        Self { values, stride }
    }

    /// How far values are apart, unless each record has one of its own.
    pub(crate) fn stride(&self) -> Option<u32> {
        self.stride
    }

    /// The values, where each record has one of its own.
    pub(crate) fn values(&self) -> Option<&[T]> {
        self.stride.is_none().then_some(&self.values[..])
    }

    /// The value of a record that there is.
    #[inline(always)]
    pub(crate) fn at(&self, index: u32) -> T {
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
