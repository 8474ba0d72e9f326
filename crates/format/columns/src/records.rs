//! The columns of a batch, in memory that is used again for the next chunk of rows.

use std::borrow::Cow;

use oarlock::{Column, InputSource, KeySource, OutputSink, Records, Span};
use oarlock_keytable::{Batch, BatchTask, IvSource};
use oarlock_records::SecretBuffer;

use crate::RowFault;

/// The columns of a batch. A column that an operation does not write stays empty, and has one default value.
#[derive(Default)]
pub(crate) struct BatchRecords {
    /// The bytes of the records, if the values cannot be read in place.
    gathered: SecretBuffer,
    /// The place of bytes that all records share.
    shared: Option<Span>,
    output_len: usize,
    len: usize,
    task: Vec<BatchTask>,
    key: Vec<KeySource>,
    iv: Vec<Span>,
    iv_from: Vec<IvSource>,
    second_iv_from: Vec<IvSource>,
    aad: Vec<Span>,
    input: Vec<InputSource>,
    output: Vec<OutputSink>,
    tag: Vec<Span>,
    slots: Vec<u32>,
    /// The distances between records, if there is one record that stands for all.
    strides: Option<RecordStrides>,
}

/// The distances between records that only differ in their places.
#[derive(Clone, Copy, Default)]
struct RecordStrides {
    /// The place of the first value. What lies in it moves with the values, and all records share the rest of the data.
    first_value: Span,
    /// The distance between values.
    value: u32,
    /// The distance between results, which lie side by side.
    output: u32,
}

/// One record. Fields that a task does not read keep their default.
#[derive(Clone, Copy)]
pub(crate) struct NewRecord {
    pub(crate) input: InputSource,
    pub(crate) output: OutputSink,
    pub(crate) iv: Option<Span>,
    pub(crate) iv_from: Option<IvSource>,
    pub(crate) second_iv_from: Option<IvSource>,
    pub(crate) aad: Option<Span>,
    pub(crate) tag: Option<Span>,
}

/// The task and the keys of a batch.
pub(crate) struct BatchParts {
    /// The task of all records, unless the records have tasks of their own.
    pub(crate) task: BatchTask,
    pub(crate) key: u32,
    pub(crate) second_key: u32,
}

impl NewRecord {
    pub(crate) fn new(input: Span, output: Span) -> Self {
        Self {
            input: InputSource::Data(input),
            output: OutputSink::Output(output),
            iv: None,
            iv_from: None,
            second_iv_from: None,
            aad: None,
            tag: None,
        }
    }
}

impl BatchRecords {
    /// Removes all records and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.gathered.clear();
        (self.output_len, self.len, self.shared, self.strides) = (0, 0, None, None);
        self.task.clear();
        self.key.clear();
        self.iv.clear();
        self.iv_from.clear();
        self.second_iv_from.clear();
        self.aad.clear();
        self.input.clear();
        self.output.clear();
        self.tag.clear();
        self.slots.clear();
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Copies bytes behind the gathered ones.
    pub(crate) fn store(&mut self, bytes: &[u8]) -> Result<Span, RowFault> {
        let span = Span::new(self.gathered.len(), bytes.len()).ok_or(RowFault::TooLong)?;
        self.gathered.extend(bytes);
        Ok(span)
    }

    /// Copies bytes that all records share, at the first call after a [`clear`](Self::clear).
    pub(crate) fn store_once(&mut self, bytes: &[u8]) -> Result<Span, RowFault> {
        if let Some(span) = self.shared {
            return Ok(span);
        }
        let span = self.store(bytes)?;
        self.shared = Some(span);
        Ok(span)
    }

    /// Changes the gathered bytes. A padding is added in this way behind the value before it.
    pub(crate) fn gathered_mut(&mut self) -> &mut SecretBuffer {
        &mut self.gathered
    }

    /// Returns the number of gathered bytes.
    pub(crate) fn gathered_len(&self) -> usize {
        self.gathered.len()
    }

    /// Reserves the next `len` bytes of the output.
    #[inline]
    pub(crate) fn reserve(&mut self, len: usize) -> Result<Span, RowFault> {
        let span = Span::new(self.output_len, len).ok_or(RowFault::TooLong)?;
        self.output_len += len;
        Ok(span)
    }

    /// Adds a slot for a plaintext that stays inside of the batch.
    pub(crate) fn slot(&mut self, len: u32) -> u32 {
        self.slots.push(len);
        self.slots.len() as u32 - 1
    }

    /// Adds a record. All records of a batch have the same fields.
    #[inline]
    pub(crate) fn push(&mut self, record: NewRecord) {
        self.input.push(record.input);
        self.output.push(record.output);
        self.iv.extend(record.iv);
        self.iv_from.extend(record.iv_from);
        self.second_iv_from.extend(record.second_iv_from);
        self.aad.extend(record.aad);
        self.tag.extend(record.tag);
        self.len += 1;
    }

    /// Lets the only record stand for `count` records, whose values are `value_stride` bytes apart. `value` is the
    /// place of the first one.
    pub(crate) fn repeat(&mut self, count: usize, value: Span, value_stride: usize) -> Result<(), RowFault> {
        let stride = |len: usize| u32::try_from(len).map_err(|_| RowFault::TooLong);
        let (value_stride, output) = (stride(value_stride)?, stride(self.output_len)?);
        self.strides = Some(RecordStrides { first_value: value, value: value_stride, output });
        self.output_len = self.output_len.checked_mul(count).ok_or(RowFault::TooLong)?;
        self.len = count;
        Ok(())
    }

    /// Adds a record with a task and a key of its own. All records of such a batch have them.
    pub(crate) fn push_task(&mut self, task: BatchTask, key: u32, record: NewRecord) {
        self.task.push(task);
        self.key.push(KeySource::Table(key));
        self.push(record);
    }

    /// Returns the batch over `data`, or over the gathered bytes if there is none.
    pub(crate) fn batch<'b>(&'b self, parts: &BatchParts, data: Option<&'b [u8]>) -> Batch<'b> {
        let strides = self.strides.unwrap_or_default();
        let in_data = |spans: &[Span]| spans.first().map_or(0, |span| strides.in_data(*span));
        let in_output = strides.output;
        let is_open = parts.task.is_open();
        let records = Records {
            len: self.len,
            data: Cow::Borrowed(data.unwrap_or(&self.gathered)),
            output_len: self.output_len,
            key: self.column(&self.key, KeySource::Table(parts.key), 0),
            second_key: Column::One(KeySource::Table(parts.second_key)),
            iv: self.column(&self.iv, Span::default(), in_data(&self.iv)),
            aad: self.column(&self.aad, parts.task.absent_aad(), in_data(&self.aad)),
            input: self.column(&self.input, InputSource::Data(Span::default()), strides.value),
            output: self.column(&self.output, OutputSink::Output(Span::default()), in_output),
            tag: self.column(
                &self.tag,
                Span::default(),
                if is_open { in_data(&self.tag) } else { in_output },
            ),
            ..Records::default()
        };
        let made_iv = |from: &[IvSource]| match from {
            [IvSource::Generated(_), ..] => in_output,
            _ => 0,
        };
        Batch {
            iv_from: self.column(&self.iv_from, IvSource::Given, made_iv(&self.iv_from)),
            second_iv_from: self.column(&self.second_iv_from, IvSource::Given, made_iv(&self.second_iv_from)),
            slots: Cow::Borrowed(&self.slots),
            ..Batch::new(self.column(&self.task, parts.task, 0), records)
        }
    }

    /// Returns a column of the values that records have, which is `absent` for all if they have none. `stride` is the
    /// distance between the values of records that one stands for.
    fn column<'b, T: Copy>(&self, values: &'b [T], absent: T, stride: u32) -> Column<'b, T> {
        match values {
            [] => Column::One(absent),
            [first, ..] if self.strides.is_some() && stride == 0 => Column::One(*first),
            [first, ..] if self.strides.is_some() => Column::Stride { first: *first, stride },
            _ => Column::Each(Cow::Borrowed(values)),
        }
    }
}

impl RecordStrides {
    /// Returns the distance between the places of records in the data.
    fn in_data(&self, span: Span) -> u32 {
        let (value, span) = (self.first_value.range(), span.range());
        if value.start <= span.start && span.end <= value.end { self.value } else { 0 }
    }
}
