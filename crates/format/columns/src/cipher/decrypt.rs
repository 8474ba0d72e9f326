//! The records of a decryption.

use oarlock::Span;
use oarlock_keytable::BatchTask;
use oarlock_records::Padding;

use super::associated_data::AssociatedValues;
use super::{Decryption, check_associated_data};
use crate::output::Computed;
use crate::records::{BatchParts, BatchRecords, NewRecord};
use crate::run::{ChunkRow, ColumnOperation, EvenBytes, RowError, push_equal_results};
use crate::{ColumnCipher, ColumnError, ColumnKeys, RowFault};

pub(super) struct DecryptRows<'a> {
    key: u32,
    key_name: &'a str,
    cipher: ColumnCipher,
    aad: AssociatedValues<'a>,
}

/// The places of the parts of an encrypted value.
pub(super) struct SealedParts {
    pub(super) iv: Span,
    pub(super) ciphertext: Span,
    /// The tag, which CBC does not have.
    pub(super) tag: Span,
}

impl SealedParts {
    /// Returns the parts of an encrypted value, or a fault if it is too short or not whole blocks.
    pub(super) fn from_span(cipher: ColumnCipher, value: Span) -> Result<Self, RowFault> {
        let (iv_len, tag_len) = (cipher.iv_len(), cipher.tag_len());
        let overhead = iv_len + tag_len;
        let len = (value.len as usize).checked_sub(overhead).ok_or(RowFault::Length)?;
        if let ColumnCipher::Cbc(alg) = cipher {
            // A padding has at least one byte, so an encrypted value has at least one block.
            if len == 0 || !len.is_multiple_of(alg.block_len()) {
                return Err(RowFault::Length);
            }
        }
        let part = |at: usize, len: usize| Span { start: value.start + at as u32, len: len as u32 };
        Ok(match cipher {
            ColumnCipher::Siv(_) => {
                Self { iv: Span::default(), ciphertext: part(tag_len, len), tag: part(0, tag_len) }
            }
            _ => {
                Self { iv: part(0, iv_len), ciphertext: part(iv_len, len), tag: part(iv_len + len, tag_len) }
            }
        })
    }
}

impl<'a> DecryptRows<'a> {
    pub(super) fn new(keys: &ColumnKeys, options: &Decryption<'a>, rows: usize) -> Result<Self, ColumnError> {
        let aad = AssociatedValues::read(&[options.cipher], &options.aad, rows)?;
        check_associated_data(options.cipher, &aad)?;
        let key = keys.index(options.key)?;
        Ok(Self { key, key_name: options.key, cipher: options.cipher, aad })
    }
}

impl ColumnOperation for DecryptRows<'_> {
    fn key_names(&self) -> &str {
        self.key_name
    }

    fn parts(&self) -> BatchParts {
        let task = match self.cipher {
            ColumnCipher::Cbc(alg) => BatchTask::decrypt(alg),
            ColumnCipher::Gcm(alg) | ColumnCipher::GcmSiv(alg) | ColumnCipher::Siv(alg) => {
                BatchTask::open(alg)
            }
        };
        BatchParts { task, key: self.key, second_key: self.key }
    }

    fn gathers(&self) -> bool {
        !self.aad.is_none()
    }

    fn has_row_data(&self) -> bool {
        self.aad.is_per_row()
    }

    fn extra_len(&self, row: usize) -> Result<usize, ColumnError> {
        self.aad.extra_len(row)
    }

    fn max_result_len(&self, value_len: usize) -> usize {
        value_len.saturating_sub(self.cipher.iv_len() + self.cipher.tag_len())
    }

    fn add(
        &self,
        row: usize,
        _index: usize,
        value: Span,
        records: &mut BatchRecords,
    ) -> Result<Span, RowError> {
        let parts = SealedParts::from_span(self.cipher, value)?;
        let aad = self.aad.store(row, records)?;
        let output = records.reserve(parts.ciphertext.len as usize)?;
        let tag = self.cipher.aead().map(|_| parts.tag);
        let record = NewRecord::new(parts.ciphertext, output);
        records.push(NewRecord { iv: Some(parts.iv), aad, tag, ..record });
        Ok(output)
    }

    fn push_result(&self, _row: &ChunkRow<'_>, output: &[u8], computed: &mut Computed) {
        let ColumnCipher::Cbc(alg) = self.cipher else { return computed.push_value(&[], output) };
        match Padding::Pkcs7.strip(alg.block_len(), output) {
            Some(value) => computed.push_value(&[], value),
            None => computed.push_fault(RowFault::Padding),
        }
    }

    fn push_even(&self, texts: &EvenBytes<'_>, output: &[u8], computed: &mut Computed) -> bool {
        // Values of one length may have paddings of several.
        let has_padding = matches!(self.cipher, ColumnCipher::Cbc(_));
        !has_padding && push_equal_results(texts, output, computed)
    }

    fn is_deterministic(&self) -> bool {
        !self.aad.is_per_row()
    }
}
