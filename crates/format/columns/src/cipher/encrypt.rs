//! The records of an encryption.

use oarlock::{OutputSink, Span};
use oarlock_keytable::{BatchTask, IvSource};
use oarlock_records::Padding;

use super::associated_data::AssociatedValues;
use super::derived_iv::DerivedIvs;
use super::{ColumnIv, Encryption, check_associated_data};
use crate::output::Computed;
use crate::records::{BatchParts, BatchRecords, NewRecord};
use crate::run::{ChunkRow, ChunkRows, ColumnOperation, EvenBytes, RowError};
use crate::{ColumnCipher, ColumnError, ColumnKeys, RowFault};

pub(super) struct EncryptRows<'a> {
    key: u32,
    key_name: &'a str,
    cipher: ColumnCipher,
    aad: AssociatedValues<'a>,
    ivs: EncryptionIvs<'a>,
}

enum EncryptionIvs<'a> {
    Random,
    Derived(Box<DerivedIvs<'a>>),
    /// AES-SIV has no IV, and AES-GCM-SIV has zeros.
    Zero,
}

impl<'a> EncryptRows<'a> {
    pub(super) fn new(keys: &ColumnKeys, options: &Encryption<'a>, rows: usize) -> Result<Self, ColumnError> {
        let cipher = options.cipher;
        let aad = AssociatedValues::read(&[cipher], &options.aad, rows)?;
        check_associated_data(cipher, &aad)?;
        let ivs = match (options.iv, cipher) {
            (ColumnIv::Usual | ColumnIv::Zero, ColumnCipher::Siv(_))
            | (ColumnIv::Zero, ColumnCipher::GcmSiv(_)) => EncryptionIvs::Zero,
            (_, ColumnCipher::Siv(_)) => {
                return Err(ColumnError::Options(format!(
                    "{cipher} has no IV in columns: leave it out, or choose a cipher of the kind gcm-siv"
                )));
            }
            (ColumnIv::Zero, _) => {
                return Err(ColumnError::Options(format!(
                    "{cipher} cannot have the same IV twice: choose a cipher of the kind siv or gcm-siv if equal values \
                     shall have equal results"
                )));
            }
            (ColumnIv::Usual | ColumnIv::Random, _) => EncryptionIvs::Random,
            (ColumnIv::Derived { key, row_ids }, _) => {
                let derived = DerivedIvs::new(keys, key, row_ids, rows, cipher.iv_len())?;
                EncryptionIvs::Derived(Box::new(derived))
            }
        };
        Ok(Self { key: keys.index(options.key)?, key_name: options.key, cipher, aad, ivs })
    }

    fn derived(&self) -> Option<&DerivedIvs<'a>> {
        match &self.ivs {
            EncryptionIvs::Derived(derived) => Some(&**derived),
            _ => None,
        }
    }

    /// Returns the bytes of the result behind the IV.
    fn sealed_len(&self, value_len: usize) -> usize {
        match self.cipher {
            ColumnCipher::Cbc(alg) => value_len - value_len % alg.block_len() + alg.block_len(),
            _ => value_len + self.cipher.tag_len(),
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
            ColumnCipher::Gcm(alg) | ColumnCipher::GcmSiv(alg) | ColumnCipher::Siv(alg) => {
                BatchTask::seal(alg)
            }
        };
        BatchParts { task, key: self.key, second_key: self.key }
    }

    fn gathers(&self) -> bool {
        matches!(self.cipher, ColumnCipher::Cbc(_)) || self.derived().is_some() || !self.aad.is_none()
    }

    fn has_row_data(&self) -> bool {
        self.derived().is_some() || self.aad.is_per_row()
    }

    fn extra_len(&self, row: usize) -> Result<usize, ColumnError> {
        let id_len = self.derived().map_or(Ok(0), |derived| derived.row_id_len(row))?;
        Ok(self.aad.extra_len(row)?.saturating_add(id_len))
    }

    fn max_result_len(&self, value_len: usize) -> usize {
        self.cipher.iv_len() + self.sealed_len(value_len)
    }

    fn prepare(&mut self, chunk: &ChunkRows<'_>, keys: &ColumnKeys) -> Result<(), ColumnError> {
        match &mut self.ivs {
            EncryptionIvs::Derived(derived) => derived.prepare(chunk, &self.aad, keys),
            _ => Ok(()),
        }
    }

    /// Adds a value, and behind it the padding of CBC.
    fn gather(&self, value: &[u8], records: &mut BatchRecords) -> Result<Span, RowFault> {
        let mut stored = records.store(value)?;
        if let ColumnCipher::Cbc(alg) = self.cipher {
            Padding::Pkcs7.fill(alg.block_len(), stored.start as usize, records.gathered_mut());
            stored.len = (records.gathered_len() - stored.start as usize) as u32;
        }
        Ok(stored)
    }

    fn gather_even(&self, texts: &EvenBytes<'_>, records: &mut BatchRecords) -> Option<(Span, usize)> {
        let len = texts.even.first.len;
        let padded_len = match self.cipher {
            ColumnCipher::Cbc(_) => self.sealed_len(len),
            _ => len,
        };
        let first = Span::new(records.gathered_len(), padded_len)?;
        if let (Some(values), true) = (texts.joined(), padded_len == len) {
            records.store(values).ok()?;
            return Some((first, len));
        }
        if padded_len == 0 {
            return Some((first, 0));
        }
        let (start, gathered_len) = (records.gathered_len(), padded_len * texts.even.count);
        records.gathered_mut().append(gathered_len, |gathered| {
            // All paddings at once, and the values over the rest.
            gathered.resize(start + gathered_len, (padded_len - len) as u8);
            for (to, value) in gathered[start..].chunks_exact_mut(padded_len).zip(texts.values()) {
                copy_blocks(value, to);
            }
        });
        Some((first, padded_len))
    }

    fn add(
        &self,
        row: usize,
        index: usize,
        value: Span,
        records: &mut BatchRecords,
    ) -> Result<Span, RowError> {
        let mut record = NewRecord::new(value, Span::default());
        let mut result_len = value.len as usize + self.cipher.tag_len();
        // IV, ciphertext and tag lie side by side. A derived IV is an input, and is put in front of them later.
        let mut start = None;
        match &self.ivs {
            EncryptionIvs::Random => {
                let iv = records.reserve(self.cipher.iv_len())?;
                record.iv_from = Some(IvSource::Generated(OutputSink::Output(iv)));
                result_len += self.cipher.iv_len();
                start = Some(iv);
            }
            EncryptionIvs::Derived(derived) => record.iv = Some(records.store(derived.iv(index)?)?),
            EncryptionIvs::Zero if self.cipher.iv_len() > 0 => {
                // Nobody writes there, and outputs begin as zeros.
                start = Some(records.reserve(self.cipher.iv_len())?);
                result_len += self.cipher.iv_len();
                record.iv_from = Some(IvSource::Zero);
            }
            EncryptionIvs::Zero => {}
        }
        if let ColumnCipher::Siv(_) = self.cipher {
            let tag = records.reserve(self.cipher.tag_len())?;
            record.tag = Some(tag);
            start = Some(tag);
        }
        let output = records.reserve(value.len as usize)?;
        record.output = OutputSink::Output(output);
        if let ColumnCipher::Gcm(_) | ColumnCipher::GcmSiv(_) = self.cipher {
            record.tag = Some(records.reserve(self.cipher.tag_len())?);
        }
        record.aad = self.aad.store(row, records)?;
        records.push(record);
        Ok(Span { start: start.unwrap_or(output).start, len: result_len as u32 })
    }

    fn push_result(&self, row: &ChunkRow<'_>, output: &[u8], computed: &mut Computed) {
        let iv = match &self.ivs {
            EncryptionIvs::Random | EncryptionIvs::Zero => &[],
            // unreachable error because a row with a fault has no result
            EncryptionIvs::Derived(derived) => derived.iv(row.index).unwrap_or(&[]),
        };
        computed.push_value(iv, output);
    }

    fn is_deterministic(&self) -> bool {
        // Derived IVs follow from the row id too, so equal values have different results.
        matches!(self.ivs, EncryptionIvs::Zero) && !self.aad.is_per_row()
    }
}

/// Copies a value to the front of a longer buffer. Whole blocks have a constant length, so no call is made for them.
#[inline]
fn copy_blocks(value: &[u8], to: &mut [u8]) {
    let (blocks, rest) = value.as_chunks::<16>();
    let (to_blocks, _) = to.as_chunks_mut::<16>();
    for (to, block) in to_blocks.iter_mut().zip(blocks) {
        *to = *block;
    }
    if !rest.is_empty() {
        to[value.len() - rest.len()..value.len()].copy_from_slice(rest);
    }
}
