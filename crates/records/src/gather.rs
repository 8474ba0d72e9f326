//! The columns of a batch, decoded out of the rows of a chunk.

use std::borrow::Cow;

use oarlock::batch::{Batch, IvSource};
use oarlock::engine_api::erase;
use oarlock::{Column, InputSource, KeySource, OutputSink, Records, Span};

use crate::columns::Written;
use crate::error::Reason;
use crate::job::{Cipher, IvFrom, KeyFrom, Work};
use crate::plan::Plan;
use crate::row::{Cell, CellKind, MAX_COLUMNS};
use crate::text;
use crate::{Buffer, Encoding};

/// Columns in memory that is kept from chunk to chunk.
#[derive(Default)]
pub(crate) struct Gathered {
    data: Buffer,
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
    places: Vec<Places>,
}

/// Where the results of a record lie in the output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    pub(crate) result: Span,
    pub(crate) iv: Span,
    pub(crate) tag: Span,
}

/// Bytes of a tag that is made.
const TAG_LEN: usize = 16;
/// Bytes of an IV that is made for GCM. SP 800-38D 8.2.
const GCM_IV_LEN: usize = 12;

impl Places {
    pub(crate) fn of(&self, what: Written) -> Span {
        match what {
            Written::Result => self.result,
            Written::Iv => self.iv,
            Written::Tag => self.tag,
        }
    }
}

impl Gathered {
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
        self.places.clear();
    }

    pub(crate) fn places(&self, record: usize) -> Places {
        self.places[record]
    }

    /// Adds the record of a row, or nothing.
    #[inline]
    pub(crate) fn push(
        &mut self,
        plan: &Plan,
        chunk: &[u8],
        cells: &[Cell; MAX_COLUMNS],
    ) -> Result<(), Reason> {
        let start = self.data.len();
        let taken = self.take(&Row { plan, chunk, cells });
        if taken.is_err() {
            self.data.truncate(start);
        }
        let record = taken?;
        let places = self.lay_out(plan, record.input.len as usize);
        let columns = &plan.columns;
        push_if(columns.key.is_some(), &mut self.key, record.key);
        push_if(columns.second_key.is_some(), &mut self.second_key, record.second_key);
        push_if(columns.iv.is_some(), &mut self.iv, record.iv);
        push_if(columns.second_iv.is_some(), &mut self.second_iv, record.second_iv);
        push_if(columns.aad.is_some(), &mut self.aad, record.aad);
        push_if(columns.tag.is_some(), &mut self.tag, record.tag);
        push_if(places.tag.len > 0, &mut self.tag, places.tag);
        push_if(places.iv.len > 0, &mut self.new_iv, IvSource::Generated(OutputSink::Output(places.iv)));
        self.input.push(InputSource::Data(record.input));
        self.output.push(OutputSink::Output(places.result));
        self.places.push(places);
        Ok(())
    }

    /// The batch of all records.
    pub(crate) fn batch(&self, plan: &Plan) -> Batch<'_> {
        let nothing = Span::default();
        let records = Records {
            len: self.input.len(),
            data: Cow::Borrowed(&self.data),
            output_len: self.output_len,
            key: column(&self.key, KeySource::Table(index_of(&plan.job.key))),
            second_key: column(&self.second_key, second_key_of(&plan.job.work)),
            iv: column(&self.iv, nothing),
            second_iv: column(&self.second_iv, nothing),
            aad: column(&self.aad, nothing),
            input: Column::Each(Cow::Borrowed(&self.input)),
            output: Column::Each(Cow::Borrowed(&self.output)),
            tag: column(&self.tag, nothing),
            ..Records::default()
        };
        let mut batch = Batch::of(plan.job.task(), records);
        match &plan.job.work {
            Work::Encrypt { iv, .. } | Work::Decrypt { iv, .. } => batch.iv_from = self.iv_from(iv),
            Work::Translate { iv, to_iv, .. } => {
                batch.iv_from = self.iv_from(iv);
                batch.second_iv_from = self.iv_from(to_iv);
            }
            Work::Mac { .. } => {}
        }
        batch
    }

    fn iv_from(&self, iv: &IvFrom) -> Column<'_, IvSource> {
        match iv {
            IvFrom::Column(_) => Column::One(IvSource::Given),
            IvFrom::New(_) => Column::Each(Cow::Borrowed(&self.new_iv)),
            IvFrom::Zero => Column::One(IvSource::Zero),
            IvFrom::Key => Column::One(IvSource::KeyItself),
        }
    }

    #[inline]
    fn take(&mut self, row: &Row<'_>) -> Result<Taken, Reason> {
        let columns = &row.plan.columns;
        let start = self.data.len();
        let (value, plain) = (row.plan.job.value_encoding(), row.plan.job.encoding);
        let binary = plain.of_binary();
        self.decode(row, columns.value, value)?;
        if let Some((padding, block_len)) = row.plan.job.fills() {
            padding.fill(block_len, start, &mut self.data);
        }
        let input = span(start, self.data.len());
        Ok(Taken {
            input,
            key: row.key(columns.key)?,
            second_key: row.key(columns.second_key)?,
            iv: self.decode_if(row, columns.iv, binary)?,
            second_iv: self.decode_if(row, columns.second_iv, binary)?,
            aad: self.decode_if(row, columns.aad, plain)?,
            tag: self.decode_if(row, columns.tag, binary)?,
        })
    }

    fn decode_if(
        &mut self,
        row: &Row<'_>,
        column: Option<usize>,
        encoding: Encoding,
    ) -> Result<Span, Reason> {
        column.map_or(Ok(Span::default()), |column| self.decode(row, column, encoding))
    }

    /// Adds what a column holds to the data.
    #[inline]
    fn decode(&mut self, row: &Row<'_>, column: usize, encoding: Encoding) -> Result<Span, Reason> {
        let (cell, start) = (row.cells[column], self.data.len());
        let decoded = match cell.kind {
            CellKind::Text => encoding.decode(&row.chunk[cell.range()], &mut self.data),
            CellKind::Other => return Err(Reason::NotText { column: column as u8 }),
            _ => {
                let mut text = row.text(column)?.into_owned();
                let decoded = encoding.decode(&text, &mut self.data);
                erase(&mut text);
                decoded
            }
        };
        decoded.ok_or(Reason::Encoding { column: column as u8 })?;
        Ok(span(start, self.data.len()))
    }

    /// The places of a record's results, one behind the other.
    fn lay_out(&mut self, plan: &Plan, input_len: usize) -> Places {
        let (mut result_len, mut iv_len, mut tag_len) = (input_len, 0, 0);
        match &plan.job.work {
            Work::Encrypt { cipher, iv, .. } => {
                let made = matches!(iv, IvFrom::New(_));
                (iv_len, tag_len) = match cipher {
                    Cipher::Cbc(alg) => (alg.block_len(), 0),
                    Cipher::Gcm(_) => (GCM_IV_LEN, TAG_LEN),
                };
                iv_len *= usize::from(made);
            }
            Work::Translate { to, to_iv: IvFrom::New(_), .. } => iv_len = to.block_len(),
            Work::Mac { len, .. } => result_len = *len,
            Work::Decrypt { .. } | Work::Translate { .. } => {}
        }
        Places { result: self.place(result_len), iv: self.place(iv_len), tag: self.place(tag_len) }
    }

    fn place(&mut self, len: usize) -> Span {
        let start = self.output_len;
        self.output_len += len;
        if len > 0 { span(start, self.output_len) } else { Span::default() }
    }
}

/// What a row holds, in the data.
struct Taken {
    input: Span,
    key: KeySource,
    second_key: KeySource,
    iv: Span,
    second_iv: Span,
    aad: Span,
    tag: Span,
}

struct Row<'r> {
    plan: &'r Plan,
    chunk: &'r [u8],
    cells: &'r [Cell; MAX_COLUMNS],
}

impl<'r> Row<'r> {
    fn key(&self, column: Option<usize>) -> Result<KeySource, Reason> {
        let Some(column) = column else { return Ok(KeySource::Table(0)) };
        let index = self.plan.keys.find(&self.text(column)?).ok_or(Reason::UnknownKey)?;
        Ok(KeySource::Table(index))
    }

    fn text(&self, column: usize) -> Result<Cow<'r, [u8]>, Reason> {
        let cell = self.cells[column];
        if cell.kind == CellKind::Missing {
            return Err(Reason::NoField { column: column as u8 });
        }
        let text = match self.plan.is_json() {
            true => text::of_json(self.chunk, cell),
            false => Some(text::unescaped(self.chunk, cell)),
        };
        text.ok_or(Reason::NotText { column: column as u8 })
    }
}

fn span(start: usize, end: usize) -> Span {
    // Chunks, and what is made of them, are far below 4 GiB.
    Span { start: start as u32, len: (end - start) as u32 }
}

fn push_if<T>(is_used: bool, column: &mut Vec<T>, value: T) {
    if is_used {
        column.push(value);
    }
}

/// A column of values, or of one for all.
fn column<T: Copy>(each: &[T], one: T) -> Column<'_, T> {
    if each.is_empty() { Column::One(one) } else { Column::Each(Cow::Borrowed(each)) }
}

fn index_of(key: &KeyFrom) -> u32 {
    match key {
        KeyFrom::One(index) => *index,
        KeyFrom::Column(_) => 0,
    }
}

fn second_key_of(work: &Work) -> KeySource {
    match work {
        Work::Translate { to_key, .. } => KeySource::Table(index_of(to_key)),
        _ => KeySource::Table(0),
    }
}
