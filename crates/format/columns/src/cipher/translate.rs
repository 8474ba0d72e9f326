//! The records of a translation.

use oarlock::{InputSource, OutputSink, Span};
use oarlock_keytable::{BatchTask, IvSource};

use super::associated_data::AssociatedValues;
use super::decrypt::SealedParts;
use super::{Translation, check_associated_data};
use crate::records::{BatchParts, BatchRecords, NewRecord};
use crate::run::{ColumnOperation, RowError};
use crate::{ColumnCipher, ColumnError, ColumnKeys};

pub(super) struct TranslateRows<'a> {
    from_key: u32,
    to_key: u32,
    key_names: String,
    tasks: TranslationTasks,
    from: ColumnCipher,
    to: ColumnCipher,
    aad: AssociatedValues<'a>,
}

enum TranslationTasks {
    /// One record decrypts and encrypts. The padding stays as it is.
    Whole(BatchTask),
    /// One record opens into a secret slot, and the next one seals what is there.
    OpenAndSeal(BatchTask, BatchTask),
}

impl<'a> TranslateRows<'a> {
    pub(super) fn new(
        keys: &ColumnKeys,
        options: &Translation<'a>,
        rows: usize,
    ) -> Result<Self, ColumnError> {
        let (from, to) = (options.from.cipher, options.to_cipher);
        let tasks = match (from.aead(), to.aead(), from, to) {
            (Some(from), Some(to), ..) => {
                TranslationTasks::OpenAndSeal(BatchTask::open(from), BatchTask::seal(to))
            }
            (_, _, ColumnCipher::Cbc(from), ColumnCipher::Cbc(to)) if from.block_len() == to.block_len() => {
                TranslationTasks::Whole(BatchTask::translate(from, to))
            }
            _ => {
                return Err(ColumnError::Options(format!(
                    "{from} cannot be translated to {to}: expected two ciphers that authenticate, or two of CBC with the \
                     same length of a block. Decrypt the column and encrypt it again"
                )));
            }
        };
        let aad = AssociatedValues::read(&[from, to], &options.from.aad, rows)?;
        check_associated_data(from, &aad)?;
        Ok(Self {
            from_key: keys.index(options.from.key)?,
            to_key: keys.index(options.to_key)?,
            key_names: format!("{} or {}", options.from.key, options.to_key),
            tasks,
            from,
            to,
            aad,
        })
    }

    fn add_whole(&self, parts: &SealedParts, records: &mut BatchRecords) -> Result<Span, RowError> {
        let iv = records.reserve(self.to.iv_len())?;
        let output = records.reserve(parts.ciphertext.len as usize)?;
        records.push(NewRecord {
            iv: Some(parts.iv),
            second_iv_from: Some(IvSource::Generated(OutputSink::Output(iv))),
            ..NewRecord::new(parts.ciphertext, output)
        });
        Ok(Span { start: iv.start, len: iv.len + output.len })
    }

    fn add_pair(
        &self,
        row: usize,
        (open, seal): (BatchTask, BatchTask),
        parts: &SealedParts,
        records: &mut BatchRecords,
    ) -> Result<Span, RowError> {
        let aad = self.aad.store(row, records)?;
        let len = parts.ciphertext.len;
        let is_siv = matches!(self.to, ColumnCipher::Siv(_));
        let iv = records.reserve(self.to.iv_len())?;
        let (output, tag) = match is_siv {
            true => {
                let tag = records.reserve(self.to.tag_len())?;
                (records.reserve(len as usize)?, tag)
            }
            false => (records.reserve(len as usize)?, records.reserve(self.to.tag_len())?),
        };
        // AES-SIV has no IV, so it takes the empty one.
        let iv_from = if is_siv { IvSource::Given } else { IvSource::Generated(OutputSink::Output(iv)) };
        let slot = records.slot(len);
        let opened = NewRecord {
            iv: Some(parts.iv),
            iv_from: Some(IvSource::Given),
            aad: Some(aad.unwrap_or(open.absent_aad())),
            tag: Some(parts.tag),
            output: OutputSink::Slot(slot),
            ..NewRecord::new(parts.ciphertext, Span::default())
        };
        records.push_task(open, self.from_key, opened);
        let sealed = NewRecord {
            input: InputSource::Slot(slot),
            iv: Some(Span::default()),
            iv_from: Some(iv_from),
            aad: Some(aad.unwrap_or(seal.absent_aad())),
            tag: Some(tag),
            ..NewRecord::new(Span::default(), output)
        };
        records.push_task(seal, self.to_key, sealed);
        Ok(Span { start: iv.start, len: iv.len + output.len + tag.len })
    }
}

impl ColumnOperation for TranslateRows<'_> {
    fn key_names(&self) -> &str {
        &self.key_names
    }

    fn parts(&self) -> BatchParts {
        let (TranslationTasks::Whole(task) | TranslationTasks::OpenAndSeal(task, _)) = self.tasks;
        BatchParts { task, key: self.from_key, second_key: self.to_key }
    }

    fn gathers(&self) -> bool {
        !self.aad.is_none()
    }

    fn has_row_data(&self) -> bool {
        self.aad.is_per_row() || self.records_per_row() > 1
    }

    fn extra_len(&self, row: usize) -> Result<usize, ColumnError> {
        self.aad.extra_len(row)
    }

    fn records_per_row(&self) -> usize {
        match self.tasks {
            TranslationTasks::Whole(_) => 1,
            TranslationTasks::OpenAndSeal(..) => 2,
        }
    }

    fn max_result_len(&self, value_len: usize) -> usize {
        let overhead = |cipher: ColumnCipher| cipher.iv_len() + cipher.tag_len();
        value_len + overhead(self.to).saturating_sub(overhead(self.from))
    }

    fn add(
        &self,
        row: usize,
        _index: usize,
        value: Span,
        records: &mut BatchRecords,
    ) -> Result<Span, RowError> {
        let parts = SealedParts::from_span(self.from, value)?;
        match self.tasks {
            TranslationTasks::Whole(_) => self.add_whole(&parts, records),
            TranslationTasks::OpenAndSeal(open, seal) => self.add_pair(row, (open, seal), &parts, records),
        }
    }

    fn is_deterministic(&self) -> bool {
        false
    }
}
