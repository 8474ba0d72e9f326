//! Tokens, which keep the length and the alphabet of a text.

use arrow_array::Array;
use oarlock::{FpeAlg, MAX_FF1_TWEAK, Span};
use oarlock_keytable::{BatchTask, FormatError, TokenFormat};

use crate::cipher::{AssociatedData, AssociatedValues};
use crate::output::Computed;
use crate::records::{BatchParts, BatchRecords, NewRecord};
use crate::run::{ChunkRow, ColumnOperation, EvenBytes, RowError, run};
use crate::values::ValueColumn;
use crate::{ColumnError, ColumnKeys, ColumnResult, OnError, RowFault};

/// The options of tokens. FF1, NIST SP 800-38G.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TokenOptions<'a> {
    /// The name of the key.
    pub key: &'a str,
    /// The algorithm.
    pub alg: FpeAlg,
    /// The rule by which texts become numerals and back.
    pub format: &'a TokenFormat,
    /// The tweaks, of at most 65,536 bytes: the same text has another token under another tweak.
    pub tweak: AssociatedData<'a>,
}

impl<'a> TokenOptions<'a> {
    /// Creates options without a tweak.
    #[must_use]
    pub fn new(key: &'a str, alg: FpeAlg, format: &'a TokenFormat) -> Self {
        Self { key, alg, format, tweak: AssociatedData::None }
    }

    /// Sets the tweaks.
    #[must_use]
    pub fn tweak(self, tweak: AssociatedData<'a>) -> Self {
        Self { tweak, ..self }
    }
}

/// Replaces each text by a token of the same length and alphabet. The same text has the same token, as long as key,
/// tweak and format are the same.
///
/// # Errors
/// The columns or the options do not fit, the key is unknown or refused, or the machine or the server failed.
pub fn tokenise(
    keys: &ColumnKeys,
    column: &dyn Array,
    options: &TokenOptions<'_>,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    run_tokens(keys, column, options, BatchTask::encrypt_format(options.alg), on_error)
}

/// Replaces each token by its text. FF1 does not authenticate: a changed token is restored to another text.
///
/// # Errors
/// As [`tokenise`].
pub fn detokenise(
    keys: &ColumnKeys,
    column: &dyn Array,
    options: &TokenOptions<'_>,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    run_tokens(keys, column, options, BatchTask::decrypt_format(options.alg), on_error)
}

fn run_tokens(
    keys: &ColumnKeys,
    column: &dyn Array,
    options: &TokenOptions<'_>,
    task: BatchTask,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    let values = ValueColumn::read("column", column)?;
    let tweak = AssociatedValues::read_as("tweak", RowFault::NoTweak, &options.tweak, values.len())?;
    let mut shared = options.format.radix_bytes().to_vec();
    if let AssociatedValues::Constant(tweak) = tweak {
        if tweak.len() > MAX_FF1_TWEAK {
            return Err(ColumnError::Options(format!(
                "a tweak of {} bytes: expected {MAX_FF1_TWEAK} at most",
                tweak.len()
            )));
        }
        shared.extend(tweak);
    }
    let key = keys.index(options.key)?;
    let mut rows = TokenRows { key, key_name: options.key, task, format: options.format, tweak, shared };
    run(keys, values, &mut rows)?.finish_text(on_error)
}

/// The records of tokens. Their inputs and outputs are numerals.
struct TokenRows<'a> {
    key: u32,
    key_name: &'a str,
    task: BatchTask,
    format: &'a TokenFormat,
    tweak: AssociatedValues<'a>,
    /// The radix in four bytes, and the tweak of all rows.
    shared: Vec<u8>,
}

/// The bytes of a radix.
const RADIX_LEN: u32 = 4;

impl ColumnOperation for TokenRows<'_> {
    fn key_names(&self) -> &str {
        self.key_name
    }

    fn parts(&self) -> BatchParts {
        BatchParts { task: self.task, key: self.key, second_key: self.key }
    }

    fn gathers(&self) -> bool {
        true
    }

    fn has_row_data(&self) -> bool {
        self.tweak.is_per_row()
    }

    fn extra_len(&self, row: usize) -> Result<usize, ColumnError> {
        self.tweak.extra_len(row)
    }

    fn max_result_len(&self, value_len: usize) -> usize {
        self.format.max_len(value_len)
    }

    fn gather(&self, value: &[u8], records: &mut BatchRecords) -> Result<Span, RowFault> {
        let text = std::str::from_utf8(value).map_err(|_| RowFault::NoText)?;
        let start = records.gathered_len();
        let read = records.gathered_mut().append(2 * text.len(), |out| self.format.read(text, out));
        read.map_err(|error| match error {
            FormatError::Character { .. } => RowFault::Alphabet,
            FormatError::TooShort { .. } => RowFault::TooShort,
            FormatError::TooLong { .. } => RowFault::TooLong,
            FormatError::CheckSum => RowFault::CheckSum,
            _ => RowFault::Refused,
        })?;
        Span::new(start, records.gathered_len() - start).ok_or(RowFault::TooLong)
    }

    fn gather_even(&self, texts: &EvenBytes<'_>, records: &mut BatchRecords) -> Option<(Span, usize)> {
        let (joined, len, start) = (texts.joined()?, texts.even.first.len, records.gathered_len());
        let read = records.gathered_mut().append(joined.len(), |out| self.format.read_even(joined, len, out));
        read.then(|| (records.gathered_len() - start) / texts.even.count)
            .and_then(|numerals| Some((Span::new(start, numerals)?, numerals)))
    }

    fn add(
        &self,
        row: usize,
        _index: usize,
        value: Span,
        records: &mut BatchRecords,
    ) -> Result<Span, RowError> {
        let shared = records.store_once(&self.shared)?;
        let tweak = match &self.tweak {
            AssociatedValues::Column(..) => {
                let tweak = self.tweak.value(row)?;
                if tweak.len() > MAX_FF1_TWEAK {
                    return Err(RowFault::TooLong.into());
                }
                records.store(tweak)?
            }
            _ => Span { start: shared.start + RADIX_LEN, len: shared.len - RADIX_LEN },
        };
        let output = records.reserve(value.len as usize)?;
        let radix = Span { len: RADIX_LEN, ..shared };
        records.push(NewRecord { iv: Some(radix), aad: Some(tweak), ..NewRecord::new(value, output) });
        Ok(output)
    }

    fn push_result(&self, row: &ChunkRow<'_>, output: &[u8], computed: &mut Computed) {
        // unreachable errors because the text was read before, and an engine puts out as many numerals as it got
        let written = std::str::from_utf8(row.value)
            .ok()
            .and_then(|text| computed.push_written(|out| self.format.write(text, output, out)).ok());
        if written.is_none() {
            computed.push_fault(RowFault::Refused);
        }
    }

    fn push_even(&self, texts: &EvenBytes<'_>, output: &[u8], computed: &mut Computed) -> bool {
        let (Some(joined), len) = (texts.joined(), texts.even.first.len) else { return false };
        let write = |out: &mut Vec<u8>| self.format.write_even(joined, len, output, out);
        computed.push_written_even(texts.rows, texts.nulls.as_ref(), len, write)
    }

    fn is_deterministic(&self) -> bool {
        !self.tweak.is_per_row()
    }
}
