//! IVs that follow from the row.

use oarlock::{MacAlg, Status};
use oarlock_keytable::{BatchOutcome, BatchTask};
use oarlock_records::SecretBuffer;

use super::associated_data::{AssociatedValues, read_beside};
use crate::keys::row_fault;
use crate::records::{BatchParts, BatchRecords, NewRecord};
use crate::run::{ChunkRows, RowError};
use crate::values::ValueColumn;
use crate::{ColumnError, ColumnKeys, RowFault};

/// The IVs of a chunk: HMAC-SHA256 over the row id, the associated data and the value.
///
/// The associated data is part of it because GCM must never use one IV for two different messages, and two messages
/// that differ only in their associated data would reveal the key of the tag.
pub(super) struct DerivedIvs<'a> {
    key: u32,
    key_name: &'a str,
    row_ids: ValueColumn<'a>,
    iv_len: usize,
    /// The IV of each row of the chunk that has a value, or its fault.
    ivs: Vec<Result<[u8; MAX_IV], RowFault>>,
    message: SecretBuffer,
    records: BatchRecords,
    outcome: BatchOutcome,
}

/// The longest IV in bytes: a block of AES.
const MAX_IV: usize = 16;
const ALGORITHM: MacAlg = MacAlg::HmacSha256;

impl<'a> DerivedIvs<'a> {
    pub(super) fn new(
        keys: &ColumnKeys,
        key: &'a str,
        row_ids: &'a dyn arrow_array::Array,
        rows: usize,
        iv_len: usize,
    ) -> Result<Self, ColumnError> {
        Ok(Self {
            key: keys.index(key)?,
            key_name: key,
            row_ids: read_beside("row id", row_ids, rows)?,
            iv_len,
            ivs: Vec::new(),
            message: SecretBuffer::default(),
            records: BatchRecords::default(),
            outcome: BatchOutcome::default(),
        })
    }

    /// Returns the length of the id of a row.
    pub(super) fn row_id_len(&self, row: usize) -> Result<usize, ColumnError> {
        Ok(self.row_ids.value(row)?.map_or(0, <[u8]>::len))
    }

    /// Makes the IVs of a chunk.
    pub(super) fn prepare(
        &mut self,
        chunk: &ChunkRows<'_>,
        aad: &AssociatedValues<'_>,
        keys: &ColumnKeys,
    ) -> Result<(), ColumnError> {
        self.records.clear();
        self.ivs.clear();
        let max_len = ColumnKeys::limits(self.key).value_bytes;
        for (row, span) in chunk.rows {
            let len = span.len.saturating_add(self.row_id_len(*row)?).saturating_add(aad.extra_len(*row)?);
            let added = if len > max_len {
                Err(RowError::Row(RowFault::TooLong))
            } else {
                self.add(*row, chunk.values.bytes(*span), aad)
            };
            match added {
                Ok(()) => self.ivs.push(Ok([0; MAX_IV])),
                Err(RowError::Row(fault)) => self.ivs.push(Err(fault)),
                Err(RowError::Call(error)) => return Err(error),
            }
        }
        if self.records.len() == 0 {
            return Ok(());
        }
        let parts = BatchParts { task: BatchTask::mac(ALGORITHM), key: self.key, second_key: self.key };
        keys.run_batch(&self.records.batch(&parts, None), self.key_name, &mut self.outcome)?;
        let codes = self.outcome.output().chunks_exact(ALGORITHM.tag_len());
        let mut codes = codes.zip(self.outcome.statuses()).enumerate();
        for iv in self.ivs.iter_mut().filter(|iv| iv.is_ok()) {
            *iv = match codes.next() {
                Some((_, (code, Status::Done))) => Ok(std::array::from_fn(|at| code[at])),
                Some((record, _)) => Err(row_fault(&self.outcome, record, self.key_name)?),
                None => return Err(ColumnError::Machine("there are too few codes".to_owned())),
            };
        }
        Ok(())
    }

    /// Adds the code of a row. Lengths precede what is not the last part, so that no two rows have the same message.
    fn add(&mut self, row: usize, value: &[u8], aad: &AssociatedValues<'_>) -> Result<(), RowError> {
        let row_id = self.row_ids.value(row)?.ok_or(RowFault::NoRowId)?;
        self.message.clear();
        for part in [row_id, aad.value(row)?] {
            self.message.extend(&(part.len() as u64).to_be_bytes());
            self.message.extend(part);
        }
        self.message.extend(value);
        let input = self.records.store(&self.message)?;
        let output = self.records.reserve(ALGORITHM.tag_len())?;
        self.records.push(NewRecord::new(input, output));
        Ok(())
    }

    /// Returns the IV of a row of the chunk.
    pub(super) fn iv(&self, index: usize) -> Result<&[u8], RowFault> {
        match &self.ivs[index] {
            Ok(iv) => Ok(&iv[..self.iv_len]),
            Err(fault) => Err(*fault),
        }
    }
}
