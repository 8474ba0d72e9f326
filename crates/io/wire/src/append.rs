//! Records that are appended to an open request.
//!
//! An open request fixes the tasks of its records, the source of their IVs and the length of their associated data. So
//! an append has only what differs: keys, lengths and bytes. The short-DES paper proposes such requests to remove the
//! cost per batch (section 4.1.1). [`RecordAppender`] makes appends, and [`AppendLayout`] reads them.

use std::borrow::Cow;
use std::fmt;

use bytes::{BufMut, Bytes, BytesMut};
use oarlock::batch::{Batch, BatchTask, IvSource};
use oarlock::{Column, Direction, InputSource, Key, KeySource, OutputSink, Records, Shape, Span};

use crate::column::{WireBytes, WireNumbers, write_bytes, write_numbers};
use crate::proto::{AppendRecords, IvRule, OpenRecords};
use crate::{MessageLimits, WireError, task};

/// The length of the tags of sealed records.
const TAG_LEN: usize = 16;

/// The tasks of an open request, and the positions of their inputs and outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendLayout {
    tasks: Vec<TaskLayout>,
    iv_rule: IvRule,
    /// The length of an IV of a task that has one.
    iv_len: usize,
    aad_len: usize,
}

/// A task, and the lengths that depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TaskLayout {
    task: BatchTask,
    iv_len: usize,
    /// The length of the tag at the end of an input.
    tag_in: usize,
    /// The length of the tag after an output.
    tag_out: usize,
    /// The length of a MAC or a digest.
    fixed_output: Option<usize>,
}

/// The number of records of an append, and the bytes that they read and write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppendSizes {
    /// The number of records.
    pub records: usize,
    /// The bytes of IVs, associated data and inputs.
    pub data: usize,
    /// The bytes of all outputs.
    pub output: usize,
}

impl AppendSizes {
    /// Returns the sizes of both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            records: self.records + other.records,
            data: self.data + other.data,
            output: self.output + other.output,
        }
    }

    /// Returns true if one batch may have these sizes.
    #[must_use]
    pub fn fit(self, limits: &MessageLimits) -> bool {
        self.records <= limits.max_operations as usize
            && self.data <= limits.max_message_bytes
            && self.output <= limits.max_output_bytes as usize
    }
}

/// Returns a copy of an append in memory of its own, as one allocation.
#[must_use]
pub fn compact(message: &AppendRecords) -> AppendRecords {
    let mut bytes = BytesMut::with_capacity(
        message.task_of.len() + message.key_of.len() + message.input_lens.len() + message.data.len(),
    );
    let mut copy = |column: &Bytes| {
        bytes.put_slice(column);
        bytes.split().freeze()
    };
    AppendRecords {
        count: message.count,
        task_of: copy(&message.task_of),
        key_of: copy(&message.key_of),
        input_lens: copy(&message.input_lens),
        data: copy(&message.data),
    }
}

impl AppendLayout {
    /// Reads the opening of a request.
    ///
    /// # Errors
    /// A name is not known here, a task cannot be appended, or IVs have different lengths.
    pub fn read(message: &OpenRecords, limits: &MessageLimits) -> Result<Self, WireError> {
        limits.bytes("aad_len", message.aad_len)?;
        let value = message.iv_rule;
        let iv_rule = IvRule::try_from(value).ok().filter(|rule| *rule != IvRule::IvSlot);
        let iv_rule = iv_rule.ok_or(WireError::Unknown { what: "IV rule of an open request", value })?;
        let max = usize::from(u8::MAX) + 1;
        let (found, bound) = (message.tasks.len() as u64, max as u64);
        match message.tasks.len() {
            0 => return Err(WireError::Missing { what: "tasks" }),
            count if count > max => return Err(WireError::TooMany { what: "tasks", found, bound }),
            _ => {}
        }
        let tasks: Vec<_> =
            message.tasks.iter().map(|own| TaskLayout::of(task::read(own)?)).collect::<Result<_, _>>()?;
        let mut iv_lens = tasks.iter().map(|task| task.iv_len).filter(|len| *len > 0);
        let iv_len = iv_lens.next().unwrap_or(0);
        if let Some(other) = iv_lens.find(|len| *len != iv_len) {
            let expected = format!("tasks whose IVs have {iv_len} bytes each");
            return Err(WireError::Column { what: "tasks", expected, found: other });
        }
        Ok(Self { tasks, iv_rule, iv_len, aad_len: message.aad_len as usize })
    }

    /// Returns the tasks, in the order of their indices.
    pub fn tasks(&self) -> impl Iterator<Item = BatchTask> {
        self.tasks.iter().map(|own| own.task)
    }

    /// Checks an append, and returns its sizes.
    ///
    /// # Errors
    /// A column does not fit the count, or a number exceeds `limits`.
    pub fn check(&self, message: &AppendRecords, limits: &MessageLimits) -> Result<AppendSizes, WireError> {
        let records = limits.count("records", message.count)?;
        if records == 0 {
            return Err(WireError::Missing { what: "count" });
        }
        let columns = AppendColumns::read(message)?;
        if !columns.task_of.are_below(self.tasks.len()) {
            return Err(WireError::Index { what: "task_of" });
        }
        let data = self.head_len(records) as u64 + columns.lens.sum(records);
        if data != message.data.len() as u64 {
            let expected = format!("{data} bytes of IVs, associated data and inputs");
            return Err(WireError::Column { what: "data", expected, found: message.data.len() });
        }
        let output: u64 = match (columns.task_of, columns.lens) {
            (WireBytes::One(index), WireNumbers::One(len)) => {
                (self.task(index).output_len(self.iv_rule, len as usize) * records) as u64
            }
            (task_of, lens) => (0..records)
                .map(|at| self.task(task_of.at(at)).output_len(self.iv_rule, lens.at(at) as usize) as u64)
                .sum(),
        };
        let bound = u64::from(limits.max_output_bytes);
        if output > bound {
            return Err(WireError::TooMany { what: "output", found: output, bound });
        }
        Ok(AppendSizes { records, data: message.data.len(), output: output as usize })
    }

    /// Returns the length of a record's output, with its generated IV and its tag. `task` is the index of its task.
    #[must_use]
    pub fn output_len(&self, task: u8, input_len: usize) -> usize {
        self.task(task).output_len(self.iv_rule, input_len)
    }

    /// Returns one append with the records of all, which [`check`](Self::check) has accepted.
    #[must_use]
    pub fn merge<'m>(&self, messages: &'m [AppendRecords]) -> Cow<'m, AppendRecords> {
        if let [only] = messages {
            return Cow::Borrowed(only);
        }
        let count = messages.iter().map(|message| message.count).sum();
        let numbers = |column: fn(&AppendRecords) -> &Bytes| merge_column::<4>(messages, column);
        let mut data = BytesMut::with_capacity(messages.iter().map(|message| message.data.len()).sum());
        // The sections of one append are those of the others, one after the other.
        let sections = [self.given_iv_len(), self.aad_len];
        let mut start = 0;
        for width in sections {
            for message in messages {
                let at = start * message.count as usize;
                data.put_slice(&message.data[at..at + width * message.count as usize]);
            }
            start += width;
        }
        for message in messages {
            data.put_slice(&message.data[self.head_len(message.count as usize)..]);
        }
        Cow::Owned(AppendRecords {
            count,
            task_of: merge_column::<1>(messages, |message| &message.task_of),
            key_of: numbers(|message| &message.key_of),
            input_lens: numbers(|message| &message.input_lens),
            data: data.freeze(),
        })
    }

    /// Returns the batch of an append that [`check`](Self::check) has accepted. `key_of` returns the key of a handle,
    /// and `keys` are the keys that came with the stream.
    ///
    /// # Errors
    /// A column does not fit the count, or positions exceed 32 bits.
    pub fn batch<'a>(
        &self,
        message: &'a AppendRecords,
        keys: &'a [Key],
        key_of: impl Fn(u32) -> KeySource,
    ) -> Result<Batch<'a>, WireError> {
        let count = message.count as usize;
        let columns = AppendColumns::read(message)?;
        let key = match columns.key_of {
            WireNumbers::One(handle) => Column::One(key_of(handle)),
            WireNumbers::Each(each) => {
                Column::Each(each.iter().map(|bytes| key_of(u32::from_le_bytes(*bytes))).collect())
            }
        };
        let records = Records {
            len: count,
            keys: Cow::Borrowed(keys),
            data: Cow::Borrowed(&message.data),
            key,
            ..Records::default()
        };
        match (columns.task_of, columns.lens) {
            (WireBytes::One(index), WireNumbers::One(len)) => self.even_batch(index, len, records),
            (task_of, lens) => self.uneven_batch(task_of, lens, records),
        }
    }

    /// Returns a batch of one task and one length, whose spans lie at constant strides.
    fn even_batch<'a>(&self, task: u8, len: u32, records: Records<'a>) -> Result<Batch<'a>, WireError> {
        let (layout, count) = (self.task(task), records.len);
        let mut at = self.start(count);
        let first = self.spans(layout, len as usize, &mut at)?;
        let output_stride = layout.output_len(self.iv_rule, len as usize);
        // The last output must have a position too.
        let output_len = u32::try_from(output_stride * count).map_err(|_| beyond_positions())? as usize;
        let stride = |len: usize| len as u32;
        let iv_stride = if first.iv.len == 0 { 0 } else { stride(self.iv_len) };
        let iv_from = match first.iv_from {
            IvSource::Generated(OutputSink::Output(span)) => Column::Each(
                (0..count as u32)
                    .map(|record| {
                        let start = span.start + record * output_stride as u32;
                        IvSource::Generated(OutputSink::Output(Span { start, ..span }))
                    })
                    .collect(),
            ),
            fixed => Column::One(fixed),
        };
        let tag_stride = if layout.tag_in > 0 { stride(len as usize) } else { stride(output_stride) };
        let records = Records {
            output_len,
            iv: strided(first.iv, iv_stride),
            aad: strided(first.aad, stride(self.aad_len)),
            input: strided(InputSource::Data(first.input), stride(len as usize)),
            output: strided(OutputSink::Output(first.output), stride(output_stride)),
            tag: strided(first.tag, if first.tag.len == 0 { 0 } else { tag_stride }),
            ..records
        };
        Ok(Batch { iv_from, ..Batch::new(Column::One(layout.task), records) })
    }

    fn uneven_batch<'a>(
        &self,
        task_of: WireBytes<'_>,
        lens: WireNumbers<'_>,
        records: Records<'a>,
    ) -> Result<Batch<'a>, WireError> {
        let count = records.len;
        let mut at = self.start(count);
        let mut tasks = Vec::with_capacity(count);
        let (mut iv, mut iv_from) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut aad, mut tag) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut input, mut output) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for record in 0..count {
            let layout = self.task(task_of.at(record));
            let spans = self.spans(layout, lens.at(record) as usize, &mut at)?;
            tasks.push(layout.task);
            iv.push(spans.iv);
            iv_from.push(spans.iv_from);
            aad.push(spans.aad);
            input.push(InputSource::Data(spans.input));
            output.push(OutputSink::Output(spans.output));
            tag.push(spans.tag);
        }
        // A column with one value lets a batch go to the engines unchanged.
        let task = match task_of {
            WireBytes::One(index) => Column::One(self.task(index).task),
            WireBytes::Each(_) => Column::Each(tasks.into()),
        };
        // AES-SIV tells no associated data from an empty string.
        let has_aad = self.aad_len > 0 || self.tasks.iter().any(|own| own.task.absent_aad().is_absent());
        let has_tags = self.tasks.iter().any(|own| own.tag_in + own.tag_out > 0);
        let is_generated = self.iv_rule == IvRule::IvGenerated;
        let one_iv_source = iv_from.first().copied().filter(|first| {
            !is_generated && (matches!(task_of, WireBytes::One(_)) || *first == IvSource::Given)
        });
        let one_iv_source = one_iv_source.filter(|first| iv_from.iter().all(|other| other == first));
        let records = Records {
            output_len: at.output,
            iv: Column::Each(iv.into()),
            aad: if has_aad { Column::Each(aad.into()) } else { Column::One(Span::default()) },
            input: Column::Each(input.into()),
            output: Column::Each(output.into()),
            tag: if has_tags { Column::Each(tag.into()) } else { Column::One(Span::default()) },
            ..records
        };
        let iv_from = one_iv_source.map_or_else(|| Column::Each(iv_from.into()), Column::One);
        Ok(Batch { iv_from, ..Batch::new(task, records) })
    }

    /// Returns the spans of the record at a position, and moves the position behind it.
    fn spans(
        &self,
        layout: &TaskLayout,
        len: usize,
        at: &mut AppendPosition,
    ) -> Result<AppendSpans, WireError> {
        let span = |start: usize, len: usize| Span::new(start, len).ok_or_else(beyond_positions);
        let has_iv = layout.iv_len > 0;
        let iv_out = layout.generated_iv_len(self.iv_rule);
        let iv = if has_iv { span(at.iv, self.given_iv_len())? } else { Span::default() };
        let iv_from = match self.iv_rule {
            IvRule::IvZero if has_iv => IvSource::Zero,
            IvRule::IvKey if has_iv => IvSource::KeyItself,
            IvRule::IvGenerated if has_iv => {
                IvSource::Generated(OutputSink::Output(span(at.output, iv_out)?))
            }
            _ => IvSource::Given,
        };
        let aad = match self.aad_len {
            0 => layout.task.absent_aad(),
            len => span(at.aad, len)?,
        };
        // An input that is shorter than its tag fails alone: its tag has no bytes.
        let tag_in = layout.tag_in.min(len);
        let input = span(at.input, len - tag_in)?;
        let output = span(at.output + iv_out, layout.result_len(len))?;
        let tag = match (layout.tag_in, layout.tag_out) {
            (0, 0) => Span::default(),
            (0, tag_out) => span(at.output + iv_out + len, tag_out)?,
            _ => span(at.input + len - tag_in, tag_in)?,
        };
        at.iv += self.given_iv_len();
        at.aad += self.aad_len;
        at.input += len;
        at.output += layout.output_len(self.iv_rule, len);
        Ok(AppendSpans { iv, iv_from, aad, input, output, tag })
    }

    fn start(&self, count: usize) -> AppendPosition {
        let aad = self.given_iv_len() * count;
        AppendPosition { iv: 0, aad, input: self.head_len(count), output: 0 }
    }

    /// Returns the bytes of the IVs and of the associated data of `count` records.
    fn head_len(&self, count: usize) -> usize {
        (self.given_iv_len() + self.aad_len) * count
    }

    /// Returns the length of each IV in the data. Records of tasks without an IV have these bytes too, so that the IVs
    /// of all records lie at a constant stride.
    fn given_iv_len(&self) -> usize {
        if self.iv_rule == IvRule::IvGiven { self.iv_len } else { 0 }
    }

    fn task(&self, index: u8) -> &TaskLayout {
        // Indices were checked, and there is at least one task.
        self.tasks.get(usize::from(index)).unwrap_or(&self.tasks[0])
    }
}

impl TaskLayout {
    fn of(task: BatchTask) -> Result<Self, WireError> {
        let plain = Self { task, iv_len: 0, tag_in: 0, tag_out: 0, fixed_output: None };
        Ok(match task {
            BatchTask::Do(Shape::Cipher { alg, .. }) => Self { iv_len: alg.block_len(), ..plain },
            BatchTask::Do(Shape::Aead { alg, direction }) => {
                let (tag_in, tag_out) =
                    if direction == Direction::Encrypt { (0, TAG_LEN) } else { (TAG_LEN, 0) };
                Self { iv_len: alg.usual_iv_len(), tag_in, tag_out, ..plain }
            }
            BatchTask::Do(Shape::Mac { alg }) => Self { fixed_output: Some(alg.tag_len()), ..plain },
            BatchTask::Do(Shape::Digest { alg }) => Self { fixed_output: Some(alg.output_len()), ..plain },
            other => {
                return Err(WireError::Name {
                    what: "task of an open request",
                    name: other.to_string(),
                    expected: "encryption, decryption, sealing, opening, a MAC or a digest".into(),
                });
            }
        })
    }

    /// Returns the length of the result alone.
    fn result_len(&self, input_len: usize) -> usize {
        self.fixed_output.unwrap_or(input_len.saturating_sub(self.tag_in))
    }

    fn generated_iv_len(&self, rule: IvRule) -> usize {
        if rule == IvRule::IvGenerated { self.iv_len } else { 0 }
    }

    fn output_len(&self, rule: IvRule, input_len: usize) -> usize {
        self.generated_iv_len(rule) + self.result_len(input_len) + self.tag_out
    }
}

/// The positions of a record in the data and in the output.
struct AppendPosition {
    iv: usize,
    aad: usize,
    input: usize,
    output: usize,
}

/// The spans of a record.
struct AppendSpans {
    iv: Span,
    iv_from: IvSource,
    aad: Span,
    input: Span,
    output: Span,
    tag: Span,
}

/// The columns of an append.
struct AppendColumns<'a> {
    task_of: WireBytes<'a>,
    key_of: WireNumbers<'a>,
    lens: WireNumbers<'a>,
}

impl<'a> AppendColumns<'a> {
    fn read(message: &'a AppendRecords) -> Result<Self, WireError> {
        let count = message.count as usize;
        Ok(Self {
            task_of: WireBytes::read(&message.task_of, count, "task_of")?,
            key_of: WireNumbers::read(&message.key_of, count, "key_of")?,
            lens: WireNumbers::read(&message.input_lens, count, "input_lens")?,
        })
    }
}

fn beyond_positions() -> WireError {
    WireError::TooMany { what: "bytes of a batch", found: 1 << 32, bound: u64::from(u32::MAX) }
}

fn strided<T: oarlock::engine_api::ColumnValue>(first: T, stride: u32) -> Column<'static, T> {
    if stride == 0 { Column::One(first) } else { Column::Stride { first, stride } }
}

/// Returns a column with the values of all appends, `WIDTH` bytes each. Equal values stay one value.
fn merge_column<const WIDTH: usize>(
    messages: &[AppendRecords],
    column: impl Fn(&AppendRecords) -> &Bytes,
) -> Bytes {
    let zero = [0; WIDTH];
    let single = |message: &AppendRecords| {
        // No value stands for zero.
        let value = column(message);
        if value.is_empty() { Some(zero) } else { <[u8; WIDTH]>::try_from(&**value).ok() }
    };
    let mut singles = messages.iter().map(single);
    if let Some(Some(first)) = singles.next()
        && singles.all(|other| other == Some(first))
    {
        return Bytes::copy_from_slice(&first);
    }
    let mut merged = BytesMut::new();
    for message in messages {
        match single(message) {
            Some(value) => (0..message.count).for_each(|_| merged.put_slice(&value)),
            None => merged.put_slice(column(message)),
        }
    }
    merged.freeze()
}

/// Makes appends record by record.
pub struct RecordAppender {
    layout: AppendLayout,
    count: u32,
    task_of: Vec<u8>,
    keys: Vec<u32>,
    lens: Vec<u32>,
    ivs: BytesMut,
    aad: BytesMut,
    inputs: BytesMut,
}

/// Shows no bytes of records, which may be secret.
impl fmt::Debug for RecordAppender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordAppender({} records)", self.count)
    }
}

impl RecordAppender {
    /// Creates an appender without records.
    #[must_use]
    pub fn new(layout: AppendLayout) -> Self {
        Self {
            layout,
            count: 0,
            task_of: Vec::new(),
            keys: Vec::new(),
            lens: Vec::new(),
            ivs: BytesMut::new(),
            aad: BytesMut::new(),
            inputs: BytesMut::new(),
        }
    }

    /// Adds a record. `task` is the index of its task, `iv` its IV if IVs are given, and `input` its input; that of a
    /// record to be opened ends with the tag.
    ///
    /// # Errors
    /// There is no such task, or a length does not fit the request.
    pub fn add(&mut self, task: u8, key: u32, iv: &[u8], aad: &[u8], input: &[u8]) -> Result<(), WireError> {
        let layout = &self.layout;
        let own = layout.tasks.get(usize::from(task)).ok_or(WireError::Index { what: "task" })?;
        let expected_iv = if own.iv_len > 0 { layout.given_iv_len() } else { 0 };
        for (what, expected, found) in [("iv", expected_iv, iv.len()), ("aad", layout.aad_len, aad.len())] {
            if expected != found {
                return Err(WireError::Column { what, expected: format!("{expected} bytes"), found });
            }
        }
        let len = u32::try_from(input.len()).map_err(|_| beyond_positions())?;
        self.count += 1;
        self.task_of.push(task);
        self.keys.push(key);
        self.lens.push(len);
        self.ivs.put_slice(iv);
        self.ivs.put_bytes(0, layout.given_iv_len() - iv.len());
        self.aad.put_slice(aad);
        self.inputs.put_slice(input);
        Ok(())
    }

    /// Returns the records that were added since the last call, or `None` if there are none.
    pub fn take(&mut self) -> Option<AppendRecords> {
        if self.count == 0 {
            return None;
        }
        let mut data = std::mem::take(&mut self.ivs);
        data.unsplit(std::mem::take(&mut self.aad));
        data.unsplit(std::mem::take(&mut self.inputs));
        let append = AppendRecords {
            count: std::mem::take(&mut self.count),
            task_of: write_bytes(&self.task_of),
            key_of: write_numbers(self.keys.iter().copied()),
            input_lens: write_numbers(self.lens.iter().copied()),
            data: data.freeze(),
        };
        self.task_of.clear();
        self.keys.clear();
        self.lens.clear();
        Some(append)
    }
}
