//! The columns of a batch, decoded out of the rows of a chunk.

use std::borrow::Cow;

use oarlock::engine_api::{ColumnValue, erase};
use oarlock::{Column, InputSource, KeySource, OutputSink, Records, Span};
use oarlock_keytable::{Batch, IvSource, MAX_HELD_BYTES, MAX_HELD_RECORDS};

use crate::columns::ColumnOutput;
use crate::error::RejectReason;
use crate::job::{IvFrom, KeyFrom, RowCipher, RowOperation, TweakFrom};
use crate::plan::FilePlan;
use crate::row::{CellKind, CellSpan, MAX_COLUMNS};
use crate::text;
use crate::{Encoding, SecretBuffer};

/// The columns of a batch, in memory that is reused for the next chunk.
#[derive(Default)]
pub(crate) struct GatheredColumns {
    data: SecretBuffer,
    output_len: usize,
    key: Vec<KeySource>,
    second_key: Vec<KeySource>,
    iv: Vec<Span>,
    second_iv: Vec<Span>,
    new_iv: Vec<IvSource>,
    aad: Vec<Span>,
    input: Vec<InputSource>,
    output: Vec<OutputSink>,
    tag: Vec<Span>,
    result_spans: Vec<ResultSpans>,
    /// The radix and the tweak of all rows, in front of their values.
    shared: SharedParameters,
    /// The texts of values or tokens, whose numerals are the inputs.
    texts: Vec<Span>,
    /// The numerals of one text.
    numerals: SecretBuffer,
}

/// The parameters of tokens that all rows have.
#[derive(Clone, Copy, Debug, Default)]
struct SharedParameters {
    radix: Span,
    tweak: Span,
}

/// The positions of a record's results in the output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResultSpans {
    pub(crate) result: Span,
    pub(crate) iv: Span,
    pub(crate) tag: Span,
}

/// The largest batch of a worker.
#[derive(Clone, Copy)]
pub(crate) struct GatherLimits {
    pub(crate) rows: usize,
    /// The bytes of the decoded values of a row, and of those of all rows before the last one.
    pub(crate) bytes: usize,
}

impl GatherLimits {
    /// The limits under local keys: rows fill all lanes many times over, and their columns stay in the second cache.
    pub(crate) const LOCAL: Self = Self { rows: 4_096, bytes: usize::MAX };
    /// IVs, tags and padding make the output longer than the data.
    pub(crate) const HELD: Self =
        Self { rows: MAX_HELD_RECORDS, bytes: (MAX_HELD_BYTES - 64 * MAX_HELD_RECORDS) / 2 };
}

/// The length of a new tag in bytes.
const TAG_LEN: usize = 16;

impl ResultSpans {
    pub(crate) fn span(&self, what: ColumnOutput) -> Span {
        match what {
            ColumnOutput::Result => self.result,
            ColumnOutput::Iv => self.iv,
            ColumnOutput::Tag => self.tag,
        }
    }
}

impl GatheredColumns {
    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.output_len = 0;
        for keys in [&mut self.key, &mut self.second_key] {
            keys.clear();
        }
        for spans in [&mut self.iv, &mut self.second_iv, &mut self.aad, &mut self.tag] {
            spans.clear();
        }
        self.new_iv.clear();
        self.input.clear();
        self.output.clear();
        self.result_spans.clear();
        self.texts.clear();
    }

    pub(crate) fn data_len(&self) -> usize {
        self.data.len()
    }

    pub(crate) fn result_spans(&self, record: usize) -> ResultSpans {
        self.result_spans[record]
    }

    /// Adds the record of a row. If the row is rejected, nothing is added.
    #[inline]
    pub(crate) fn push(
        &mut self,
        plan: &FilePlan,
        chunk: &[u8],
        cells: &[CellSpan; MAX_COLUMNS],
        limits: GatherLimits,
    ) -> Result<(), RejectReason> {
        self.share_parameters(plan);
        let start = self.data.len();
        let mut taken = self.take(&RowView { plan, chunk, cells });
        if self.data.len() - start > limits.bytes {
            taken = Err(RejectReason::TooLong { max: limits.bytes });
        }
        // All columns of a batch must have the same length, so a rejected row may leave nothing behind.
        if taken.is_err() {
            self.data.truncate(start);
        }
        let record = taken?;
        let result_spans = self.lay_out(plan, record.input.len as usize);
        let columns = &plan.columns;
        push_if(columns.key.is_some(), &mut self.key, record.key);
        push_if(columns.second_key.is_some(), &mut self.second_key, record.second_key);
        push_if(columns.iv.is_some(), &mut self.iv, record.iv);
        push_if(columns.second_iv.is_some(), &mut self.second_iv, record.second_iv);
        push_if(columns.aad.is_some(), &mut self.aad, record.aad);
        push_if(columns.tag.is_some(), &mut self.tag, record.tag);
        push_if(result_spans.tag.len > 0, &mut self.tag, result_spans.tag);
        push_if(
            result_spans.iv.len > 0,
            &mut self.new_iv,
            IvSource::Generated(OutputSink::Output(result_spans.iv)),
        );
        push_if(plan.job.format().is_some(), &mut self.texts, record.text);
        self.input.push(InputSource::Data(record.input));
        self.output.push(OutputSink::Output(result_spans.result));
        self.result_spans.push(result_spans);
        Ok(())
    }

    /// Returns the batch of all records.
    pub(crate) fn batch(&self, plan: &FilePlan) -> Batch<'_> {
        let nothing = Span::default();
        let absent = plan.job.task().absent_aad();
        let records = Records {
            len: self.input.len(),
            data: Cow::Borrowed(&self.data),
            output_len: self.output_len,
            key: column(&self.key, KeySource::Table(index_of(&plan.job.key))),
            second_key: column(&self.second_key, second_key_of(&plan.job.operation)),
            iv: column(&self.iv, self.shared.radix),
            second_iv: column(&self.second_iv, nothing),
            aad: column(&self.aad, if absent.is_absent() { absent } else { self.shared.tweak }),
            input: Column::compact(&self.input),
            output: Column::compact(&self.output),
            tag: column(&self.tag, nothing),
            ..Records::default()
        };
        let mut batch = Batch::uniform(plan.job.task(), records);
        match &plan.job.operation {
            RowOperation::Encrypt { iv, .. } | RowOperation::Decrypt { iv, .. } => {
                batch.iv_from = self.iv_from(iv);
            }
            RowOperation::Translate { iv, to_iv, .. } => {
                batch.iv_from = self.iv_from(iv);
                batch.second_iv_from = self.iv_from(to_iv);
            }
            RowOperation::Tokenise { .. } | RowOperation::Detokenise { .. } | RowOperation::Mac { .. } => {}
        }
        batch
    }

    /// Puts the parameters of tokens in front of the first row's values.
    fn share_parameters(&mut self, plan: &FilePlan) {
        let Some((format, tweak)) = plan.job.format().filter(|_| self.data.is_empty()) else { return };
        self.data.extend(&format.radix_bytes());
        self.shared.radix = span(0, self.data.len());
        if let TweakFrom::One(tweak) = tweak {
            let start = self.data.len();
            self.data.extend(tweak);
            self.shared.tweak = span(start, self.data.len());
        }
    }

    /// Replaces the numerals of a record's result by the text that has them, and adds it to `texts`.
    ///
    /// # Errors
    /// The row is rejected: its result is no text of the format.
    pub(crate) fn token(
        &self,
        plan: &FilePlan,
        record: usize,
        results: &[u8],
        texts: &mut SecretBuffer,
    ) -> Result<ResultSpans, RejectReason> {
        let spans = self.result_spans[record];
        let Some((format, _)) = plan.job.format() else { return Ok(spans) };
        let text = self.texts[record].slice(&self.data).and_then(|text| std::str::from_utf8(text).ok());
        let numerals = spans.result.slice(results).unwrap_or_default();
        let text = text.unwrap_or_default();
        let start = texts.len();
        let written = texts.append(format.max_len(text.len()), |out| format.write(text, numerals, out));
        written.map_err(RejectReason::Format)?;
        Ok(ResultSpans { result: span(start, texts.len()), ..spans })
    }

    fn iv_from(&self, iv: &IvFrom) -> Column<'_, IvSource> {
        match iv {
            IvFrom::Column(_) => Column::One(IvSource::Given),
            IvFrom::New(_) => Column::compact(&self.new_iv),
            IvFrom::Zero => Column::One(IvSource::Zero),
            IvFrom::Key => Column::One(IvSource::KeyItself),
        }
    }

    #[inline]
    fn take(&mut self, row: &RowView<'_>) -> Result<RowRecord, RejectReason> {
        let columns = &row.plan.columns;
        let start = self.data.len();
        let (value, plain) = (row.plan.job.value_encoding(), row.plan.job.encoding);
        let binary = plain.of_binary();
        let tweak_or_aad = if row.plan.job.format().is_some() { Encoding::Text } else { plain };
        self.decode(row, columns.value, value)?;
        if let Some((padding, block_len)) = row.plan.job.fills() {
            // Before any other column is decoded: the padding must lie directly behind the value.
            padding.fill(block_len, start, &mut self.data);
        }
        let text = span(start, self.data.len());
        let input = self.numerals(row, text)?;
        Ok(RowRecord {
            input,
            text,
            key: row.key(columns.key)?,
            second_key: row.key(columns.second_key)?,
            iv: self.decode_if(row, columns.iv, binary)?,
            second_iv: self.decode_if(row, columns.second_iv, binary)?,
            aad: self.decode_if(row, columns.aad, tweak_or_aad)?,
            tag: self.decode_if(row, columns.tag, binary)?,
        })
    }

    /// Adds the numerals of a text if the job makes tokens. Otherwise the text is the input itself.
    fn numerals(&mut self, row: &RowView<'_>, text: Span) -> Result<Span, RejectReason> {
        let Some((format, _)) = row.plan.job.format() else { return Ok(text) };
        let text = text.slice(&self.data).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        self.numerals.clear();
        let read = self.numerals.append(2 * text.len(), |out| format.read(text, out));
        read.map_err(RejectReason::Format)?;
        let start = self.data.len();
        self.data.extend(&self.numerals);
        Ok(span(start, self.data.len()))
    }

    fn decode_if(
        &mut self,
        row: &RowView<'_>,
        column: Option<usize>,
        encoding: Encoding,
    ) -> Result<Span, RejectReason> {
        column.map_or(Ok(Span::default()), |column| self.decode(row, column, encoding))
    }

    /// Decodes a column and adds its bytes to the data.
    #[inline]
    fn decode(&mut self, row: &RowView<'_>, column: usize, encoding: Encoding) -> Result<Span, RejectReason> {
        let (cell, start) = (row.cells[column], self.data.len());
        let decoded = match cell.kind() {
            CellKind::Text => encoding.decode(&row.chunk[cell.range()], &mut self.data),
            CellKind::Other => return Err(RejectReason::NotText { column: column as u8 }),
            _ => {
                // The unescaped copy may be plaintext, so it is erased after the decoding.
                let mut text = row.text(column)?.into_owned();
                let decoded = encoding.decode(&text, &mut self.data);
                erase(&mut text);
                decoded
            }
        };
        decoded.ok_or(RejectReason::Encoding { column: column as u8 })?;
        Ok(span(start, self.data.len()))
    }

    /// Assigns the positions of a record's results, one after the other.
    fn lay_out(&mut self, plan: &FilePlan, input_len: usize) -> ResultSpans {
        let (mut result_len, mut iv_len, mut tag_len) = (input_len, 0, 0);
        match &plan.job.operation {
            RowOperation::Encrypt { cipher, iv, .. } => {
                let made = matches!(iv, IvFrom::New(_));
                (iv_len, tag_len) = match cipher {
                    RowCipher::Cbc(alg) => (alg.block_len(), 0),
                    RowCipher::Aead(alg) => (alg.usual_iv_len(), TAG_LEN),
                };
                iv_len *= usize::from(made);
            }
            RowOperation::Translate { to, to_iv: IvFrom::New(_), .. } => iv_len = to.block_len(),
            RowOperation::Mac { len, .. } => result_len = *len,
            RowOperation::Decrypt { .. }
            | RowOperation::Translate { .. }
            | RowOperation::Tokenise { .. }
            | RowOperation::Detokenise { .. } => {}
        }
        ResultSpans {
            result: self.reserve_output(result_len),
            iv: self.reserve_output(iv_len),
            tag: self.reserve_output(tag_len),
        }
    }

    fn reserve_output(&mut self, len: usize) -> Span {
        let start = self.output_len;
        self.output_len += len;
        if len > 0 { span(start, self.output_len) } else { Span::default() }
    }
}

/// The positions of a row's decoded values in the data.
struct RowRecord {
    input: Span,
    /// The value itself. The input has its numerals if the job makes tokens.
    text: Span,
    key: KeySource,
    second_key: KeySource,
    iv: Span,
    second_iv: Span,
    aad: Span,
    tag: Span,
}

struct RowView<'r> {
    plan: &'r FilePlan,
    chunk: &'r [u8],
    cells: &'r [CellSpan; MAX_COLUMNS],
}

impl<'r> RowView<'r> {
    fn key(&self, column: Option<usize>) -> Result<KeySource, RejectReason> {
        let Some(column) = column else { return Ok(KeySource::Table(0)) };
        let index = self.plan.keys.find(&self.text(column)?).ok_or(RejectReason::UnknownKey)?;
        Ok(KeySource::Table(index))
    }

    fn text(&self, column: usize) -> Result<Cow<'r, [u8]>, RejectReason> {
        let cell = self.cells[column];
        if cell.kind() == CellKind::Missing {
            return Err(RejectReason::NoField { column: column as u8 });
        }
        let text = match self.plan.is_json() {
            true => text::of_json(self.chunk, cell),
            false => Some(text::unescaped(self.chunk, cell)),
        };
        text.ok_or(RejectReason::NotText { column: column as u8 })
    }
}

fn span(start: usize, end: usize) -> Span {
    // Chunks and their decoded values are far below 4 GiB.
    Span { start: start as u32, len: (end - start) as u32 }
}

fn push_if<T>(is_used: bool, column: &mut Vec<T>, value: T) {
    if is_used {
        column.push(value);
    }
}

/// Returns a column of one value per record, or of one value for all.
fn column<T: ColumnValue + PartialEq>(each: &[T], one: T) -> Column<'_, T> {
    if each.is_empty() { Column::One(one) } else { Column::compact(each) }
}

fn index_of(key: &KeyFrom) -> u32 {
    match key {
        KeyFrom::One(index) => *index,
        KeyFrom::Column(_) => 0,
    }
}

fn second_key_of(operation: &RowOperation) -> KeySource {
    match operation {
        RowOperation::Translate { to_key, .. } => KeySource::Table(index_of(to_key)),
        _ => KeySource::Table(0),
    }
}
