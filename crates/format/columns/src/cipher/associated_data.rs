//! Data beside a value: what is authenticated with it, or the tweak of its token.

use arrow_array::Array;
use oarlock::Span;

use crate::records::BatchRecords;
use crate::run::RowError;
use crate::values::ValueColumn;
use crate::{ColumnCipher, ColumnError, RowFault};

/// The associated data of a column, or the tweaks of tokens.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum AssociatedData<'a> {
    /// No associated data.
    #[default]
    None,
    /// The same bytes for every row. AES-SIV tells an empty string from no associated data.
    Constant(&'a [u8]),
    /// The bytes of another column, row by row.
    Column(&'a dyn Array),
}

/// Associated data that can be read row by row.
pub(crate) enum AssociatedValues<'a> {
    None,
    Constant(&'a [u8]),
    /// A column, and the fault of a row that has no value in it.
    Column(ValueColumn<'a>, RowFault),
}

impl<'a> AssociatedValues<'a> {
    pub(super) fn read(
        ciphers: &[ColumnCipher],
        aad: &AssociatedData<'a>,
        rows: usize,
    ) -> Result<Self, ColumnError> {
        let is_siv = ciphers.iter().any(|cipher| matches!(cipher, ColumnCipher::Siv(_)));
        match aad {
            AssociatedData::Constant([]) if is_siv => Ok(Self::Constant(&[])),
            _ => Self::read_as("associated data", RowFault::NoAssociatedData, aad, rows),
        }
    }

    /// Reads data of another name, whose absence is the fault `absent`.
    pub(crate) fn read_as(
        what: &'static str,
        absent: RowFault,
        data: &AssociatedData<'a>,
        rows: usize,
    ) -> Result<Self, ColumnError> {
        Ok(match data {
            AssociatedData::None | AssociatedData::Constant([]) => Self::None,
            AssociatedData::Constant(bytes) => Self::Constant(bytes),
            AssociatedData::Column(array) => Self::Column(read_beside(what, *array, rows)?, absent),
        })
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// True if equal values may have different data.
    pub(crate) fn is_per_row(&self) -> bool {
        matches!(self, Self::Column(..))
    }

    /// Returns the bytes that a batch has for the data of one row. Data of all rows is there once.
    pub(crate) fn extra_len(&self, row: usize) -> Result<usize, ColumnError> {
        match self {
            Self::None | Self::Constant(_) => Ok(0),
            Self::Column(values, _) => Ok(values.value(row)?.map_or(0, <[u8]>::len)),
        }
    }

    /// Stores the data of a row among the bytes of a batch, and returns its place, if there is any.
    pub(super) fn store(&self, row: usize, records: &mut BatchRecords) -> Result<Option<Span>, RowError> {
        match self {
            Self::None => Ok(None),
            Self::Constant(bytes) => Ok(Some(records.store_once(bytes)?)),
            Self::Column(..) => Ok(Some(records.store(self.value(row)?)?)),
        }
    }

    /// Returns the data of a row, or a fault if it is null.
    pub(crate) fn value(&self, row: usize) -> Result<&'a [u8], RowError> {
        match self {
            Self::None => Ok(&[]),
            Self::Constant(bytes) => Ok(bytes),
            Self::Column(values, absent) => Ok(values.value(row)?.ok_or(*absent)?),
        }
    }
}

/// Reads a column that has a row for each of `rows` values.
pub(super) fn read_beside<'a>(
    what: &'static str,
    array: &'a dyn Array,
    rows: usize,
) -> Result<ValueColumn<'a>, ColumnError> {
    let values = ValueColumn::read(what, array)?;
    if values.len() == rows {
        return Ok(values);
    }
    Err(ColumnError::Rows { what, expected: rows, found: values.len() })
}
