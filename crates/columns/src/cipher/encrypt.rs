//! The records of an encryption.

use oarlock::batch::{BatchTask, IvSource};
use oarlock::{OutputSink, Span};
use oarlock_records::Padding;

use super::associated_data::AssociatedValues;
use super::derived_iv::DerivedIvs;
use super::{ColumnIv, Encryption, TAG_LEN, check_associated_data};
use crate::records::{BatchParts, BatchRecords, NewRecord};
use crate::run::{ChunkRows, ColumnOperation, RowError};
use crate::{ColumnCipher, ColumnError, ColumnKeys};

pub(super) struct EncryptRows<'a> {
    key: u32,
    key_name: &'a str,
    cipher: ColumnCipher,
    aad: AssociatedValues<'a>,
    /// The IVs of derived ones; `None` for random ones.
    derived: Option<DerivedIvs<'a>>,
}

impl<'a> EncryptRows<'a> {
    pub(super) fn new(
        keys: &dyn ColumnKeys,
        options: &Encryption<'a>,
        rows: usize,
    ) -> Result<Self, ColumnError> {
        let cipher = options.cipher;
        let aad = AssociatedValues::read(&options.aad, rows)?;
        check_associated_data(cipher, &aad)?;
        let derived = match options.iv {
            ColumnIv::Random => None,
            ColumnIv::Derived { key, row_ids } => {
                Some(DerivedIvs::new(keys, key, row_ids, rows, cipher.iv_len())?)
            }
        };
        Ok(Self { key: keys.batch_key(options.key)?, key_name: options.key, cipher, aad, derived })
    }

    /// Returns the bytes of the result behind the IV.
    fn sealed_len(&self, value_len: usize) -> usize {
        match self.cipher {
            ColumnCipher::Cbc(alg) => value_len - value_len % alg.block_len() + alg.block_len(),
            ColumnCipher::Gcm(_) => value_len + TAG_LEN,
        }
    }
}

impl ColumnOperation for EncryptRows<'_> {
    fn key_names(&self) -> &str {
        self.key_name
    }

    fn parts(&self) -> BatchParts {
        let task = match self.cipher {
            ColumnCipher::Cbc(alg) => BatchTask::encrypt(alg),
            ColumnCipher::Gcm(alg) => BatchTask::seal(alg),
        };
        BatchParts { task, key: self.key, second_key: self.key }
    }

    fn gathers(&self) -> bool {
        matches!(self.cipher, ColumnCipher::Cbc(_)) || self.derived.is_some() || !self.aad.is_none()
    }

    fn extra_len(&self, row: usize) -> Result<usize, ColumnError> {
        let id_len = self.derived.as_ref().map_or(Ok(0), |derived| derived.row_id_len(row))?;
        Ok(self.aad.extra_len(row)?.saturating_add(id_len))
    }

    fn max_result_len(&self, value_len: usize) -> usize {
        self.cipher.iv_len() + self.sealed_len(value_len)
    }

    fn prepare(&mut self, chunk: &ChunkRows<'_>, keys: &dyn ColumnKeys) -> Result<(), ColumnError> {
        match &mut self.derived {
            Some(derived) => derived.prepare(chunk, &self.aad, keys),
            None => Ok(()),
        }
    }

    fn add(
        &self,
        row: usize,
        index: usize,
        value: Span,
        records: &mut BatchRecords,
    ) -> Result<Span, RowError> {
        let derived = self.derived.as_ref().map(|derived| derived.iv(index)).transpose()?;
        let mut input = value;
        if let ColumnCipher::Cbc(alg) = self.cipher {
            Padding::Pkcs7.fill(alg.block_len(), value.start as usize, records.gathered_mut());
            input.len = (records.gathered_len() - value.start as usize) as u32;
        }
        let mut record = NewRecord::new(input, Span::default());
        let mut result_len = self.sealed_len(value.len as usize);
        match derived {
            Some(iv) => record.iv = Some(records.store(iv)?),
            None => {
                let iv = records.place(self.cipher.iv_len())?;
                record.iv_from = Some(IvSource::Generated(OutputSink::Output(iv)));
                result_len += self.cipher.iv_len();
            }
        }
        let output = records.place(input.len as usize)?;
        record.output = OutputSink::Output(output);
        if let ColumnCipher::Gcm(_) = self.cipher {
            record.tag = Some(records.place(TAG_LEN)?);
        }
        if !self.aad.is_none() {
            record.aad = Some(self.aad.store(row, records)?);
        }
        records.push(record);
        // IV, ciphertext and tag lie side by side. A derived IV is not part of the output.
        let start = if derived.is_some() {
            output.start as usize
        } else {
            output.start as usize - self.cipher.iv_len()
        };
        Ok(Span { start: start as u32, len: result_len as u32 })
    }

    fn prefix(&self, index: usize) -> &[u8] {
        match &self.derived {
            // unreachable error because a row with a fault has no result
            Some(derived) => derived.iv(index).unwrap_or(&[]),
            None => &[],
        }
    }

    fn is_deterministic(&self) -> bool {
        // Derived IVs follow from the row id too, so equal values have different results.
        false
    }
}
