//! The short symmetric operations of a message, as columns.

use std::borrow::Cow;

use bytes::Bytes;
use oarlock::{Column, InputSource, Key, KeySource, OutputSink, Records, Span, Status};
use oarlock_keytable::{Batch, BatchOutcome, BatchTask, IvSource};

use crate::column::{
    SLOT, WireBytes, WireNumbers, read_spans, write_bytes, write_each_span, write_numbers, write_spans,
};
use crate::fault::FaultTable;
use crate::proto::{self, Code, Fault, IvRule, Spans};
use crate::{MessageLimits, WireError, task};

/// The bit in a column of keys that marks the other bits as the number of a slot.
const SLOT_BIT: u32 = 1 << 31;

/// Reads a batch. `key_of` returns the key of a handle, and `keys` are the keys that came with the stream. For a handle
/// without a key, `key_of` returns an index that no table has, so that its record fails alone.
///
/// # Errors
/// A column does not fit the count, a name is not known here, or a number exceeds `limits`.
pub fn read<'a>(
    message: &'a proto::Records,
    limits: &MessageLimits,
    keys: &'a [Key],
    key_of: impl Fn(u32) -> KeySource,
) -> Result<Batch<'a>, WireError> {
    let count = limits.count("records", message.count)?;
    limits.bytes("output_len", message.output_len)?;
    let tasks = message.tasks.iter().map(task::read).collect::<Result<Vec<_>, _>>()?;
    // A batch without records needs a task too, because a column of tasks has at least one value.
    if tasks.is_empty() {
        return Err(WireError::Missing { what: "tasks" });
    }
    let task = tasks_of(message, &tasks, count)?;
    let source =
        |span: Span| if span.len == SLOT { InputSource::Slot(span.start) } else { InputSource::Data(span) };
    let (iv_from, iv) = ivs(message.iv.as_ref(), &message.iv_rule, count, "iv")?;
    let (second_iv_from, second_iv) =
        ivs(message.second_iv.as_ref(), &message.second_iv_rule, count, "second_iv")?;
    let records = Records {
        len: count,
        keys: Cow::Borrowed(keys),
        data: Cow::Borrowed(&message.data),
        output_len: message.output_len as usize,
        key: keys_of(&message.key_of, count, "key_of", &key_of)?,
        second_key: keys_of(&message.second_key_of, count, "second_key_of", &key_of)?,
        iv,
        second_iv,
        aad: read_spans(message.aad.as_ref(), count, "aad", |span| span)?,
        input: read_spans(message.input.as_ref(), count, "input", source)?,
        output: read_spans(message.output.as_ref(), count, "output", sink)?,
        tag: read_spans(message.tag.as_ref(), count, "tag", |span| span)?,
        ..Records::default()
    };
    // Slots are allocated by the batch, so their sum is limited like the output.
    limits.slots(&message.slot_lens)?;
    Ok(Batch {
        iv_from,
        second_iv_from,
        slots: Cow::Borrowed(&message.slot_lens),
        ..Batch::new(task, records)
    })
}

/// Checks that a batch is within the limits of a message, as [`read`] does for one that arrives as columns.
///
/// # Errors
/// A number exceeds `limits`.
pub fn check(batch: &Batch<'_>, limits: &MessageLimits) -> Result<(), WireError> {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    limits.count("records", number(batch.records.len))?;
    limits.bytes("output_len", number(batch.records.output_len))?;
    limits.slots(&batch.slots)
}

fn sink(span: Span) -> OutputSink {
    if span.len == SLOT { OutputSink::Slot(span.start) } else { OutputSink::Output(span) }
}

fn tasks_of(
    message: &proto::Records,
    tasks: &[BatchTask],
    count: usize,
) -> Result<Column<'static, BatchTask>, WireError> {
    let task_of = WireBytes::read(&message.task_of, count, "task_of")?;
    let (Some(first), true) = (tasks.first(), task_of.are_below(tasks.len())) else {
        return Err(WireError::Index { what: "task_of" });
    };
    Ok(match task_of {
        WireBytes::One(mark) => Column::One(*tasks.get(usize::from(mark)).unwrap_or(first)),
        WireBytes::Each(indices) => {
            Column::Each(indices.iter().map(|index| tasks[usize::from(*index)]).collect())
        }
    })
}

fn keys_of(
    bytes: &[u8],
    count: usize,
    what: &'static str,
    key_of: impl Fn(u32) -> KeySource,
) -> Result<Column<'static, KeySource>, WireError> {
    let key = |number: u32| match number & SLOT_BIT {
        0 => key_of(number),
        _ => KeySource::Slot(number & !SLOT_BIT),
    };
    Ok(match WireNumbers::read(bytes, count, what)? {
        WireNumbers::One(number) => Column::One(key(number)),
        WireNumbers::Each(each) => {
            Column::Each(each.iter().map(|bytes| key(u32::from_le_bytes(*bytes))).collect())
        }
    })
}

/// Reads the sources of IVs, and the spans of IVs that are given in the data.
fn ivs(
    message: Option<&Spans>,
    rules: &[u8],
    count: usize,
    what: &'static str,
) -> Result<(Column<'static, IvSource>, Column<'static, Span>), WireError> {
    let rules = WireBytes::read(rules, count, what)?;
    let read_given = || read_spans(message, count, what, |span| span);
    if let WireBytes::One(rule) = rules
        && let Some(from) = fixed_iv(rule)
    {
        let spans = if from == IvSource::Given { read_given()? } else { Column::One(Span::default()) };
        return Ok((Column::One(from), spans));
    }
    let spans = read_given()?;
    // Only a given IV lies in the data. The span of another IV must not be checked against the data, which may be
    // shorter.
    let (mut from, mut in_data) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (index, span) in spans.cursor().take(count).enumerate() {
        let rule = rules.at(index);
        let value = i32::from(rule);
        from.push(match IvRule::try_from(value) {
            Ok(IvRule::IvGenerated) => IvSource::Generated(sink(span)),
            Ok(IvRule::IvSlot) => IvSource::Slot(span.start),
            Ok(_) => fixed_iv(rule).unwrap_or_default(),
            Err(_) => return Err(WireError::Unknown { what: "IV rule", value }),
        });
        in_data.push(if from.last() == Some(&IvSource::Given) { span } else { Span::default() });
    }
    Ok((Column::Each(from.into()), Column::Each(in_data.into())))
}

/// Returns the source of an IV that needs no span.
fn fixed_iv(rule: u8) -> Option<IvSource> {
    match IvRule::try_from(i32::from(rule)).ok()? {
        IvRule::IvGiven => Some(IvSource::Given),
        IvRule::IvZero => Some(IvSource::Zero),
        IvRule::IvKey => Some(IvSource::KeyItself),
        IvRule::IvGenerated | IvRule::IvSlot => None,
    }
}

/// Writes a batch. `handle_of` returns the handle of a key that is not in a slot.
///
/// # Errors
/// The protocol does not have a task, there are more than 256 tasks, or the batch is incomplete.
pub fn write(batch: &Batch<'_>, handle_of: impl Fn(u32) -> u32) -> Result<proto::Records, WireError> {
    let records = &batch.records;
    if !batch.is_complete() {
        return Err(WireError::Missing { what: "a value of a column" });
    }
    let (tasks, task_of) = write_tasks(&batch.task, records.len)?;
    let number = |source: KeySource| match source {
        KeySource::Table(index) => handle_of(index),
        KeySource::Slot(slot) => slot | SLOT_BIT,
    };
    let slot = |slot| Span { start: slot, len: SLOT };
    let (iv, iv_rule) = write_ivs(&batch.iv_from, &records.iv, records.len);
    let (second_iv, second_iv_rule) = write_ivs(&batch.second_iv_from, &records.second_iv, records.len);
    Ok(proto::Records {
        count: records.len as u32,
        tasks,
        task_of,
        data: Bytes::copy_from_slice(&records.data),
        output_len: records.output_len as u32,
        key_of: write_keys(&records.key, records.len, number),
        second_key_of: write_keys(&records.second_key, records.len, number),
        input: Some(write_spans(&records.input, |source| match source {
            InputSource::Data(span) => span,
            InputSource::Slot(number) => slot(number),
        })),
        aad: Some(write_spans(&records.aad, |span| span)),
        iv: Some(iv),
        second_iv: Some(second_iv),
        output: Some(write_spans(&records.output, sink_span)),
        tag: Some(write_spans(&records.tag, |span| span)),
        iv_rule,
        second_iv_rule,
        slot_lens: batch.slots.to_vec(),
    })
}

fn sink_span(sink: OutputSink) -> Span {
    match sink {
        OutputSink::Output(span) => span,
        OutputSink::Slot(slot) => Span { start: slot, len: SLOT },
    }
}

fn write_tasks(column: &Column<'_, BatchTask>, count: usize) -> Result<(Vec<proto::Task>, Bytes), WireError> {
    if let Column::One(only) = column {
        return Ok((vec![task::write(*only)?], Bytes::new()));
    }
    let (mut tasks, mut indices) = (Vec::<BatchTask>::new(), Vec::with_capacity(count));
    for task in column.cursor().take(count) {
        let index = tasks.iter().position(|known| *known == task).unwrap_or_else(|| {
            tasks.push(task);
            tasks.len() - 1
        });
        let found = tasks.len() as u64;
        indices.push(u8::try_from(index).map_err(|_| WireError::TooMany {
            what: "tasks",
            found,
            bound: 256,
        })?);
    }
    Ok((tasks.into_iter().map(task::write).collect::<Result<_, _>>()?, write_bytes(&indices)))
}

fn write_keys(column: &Column<'_, KeySource>, count: usize, number: impl Fn(KeySource) -> u32) -> Bytes {
    if let Column::One(source) = column {
        return write_numbers([number(*source)].into_iter());
    }
    let all: Vec<u32> = column.cursor().take(count).map(number).collect();
    write_numbers(all.iter().copied())
}

/// A handle that no key has: its record fails alone.
#[cfg(feature = "grpc")]
const NO_HANDLE: u32 = SLOT_BIT - 1;

/// Returns a message whose keys are handles in place of indices. `None` is a key without a handle.
#[cfg(feature = "grpc")]
pub(crate) fn with_handles(message: &proto::Records, handles: &[Option<u32>]) -> proto::Records {
    let renumber = |column: &Bytes| {
        let numbers = column.chunks(size_of::<u32>()).map(|bytes| {
            let number = bytes.try_into().map_or(0, u32::from_le_bytes);
            // A slot is not a key of the stream.
            if number & SLOT_BIT != 0 {
                number
            } else {
                handles.get(number as usize).copied().flatten().unwrap_or(NO_HANDLE)
            }
        });
        write_numbers(numbers)
    };
    proto::Records {
        key_of: renumber(&message.key_of),
        second_key_of: renumber(&message.second_key_of),
        ..message.clone()
    }
}

fn write_ivs(from: &Column<'_, IvSource>, read_given: &Column<'_, Span>, count: usize) -> (Spans, Bytes) {
    let rule = |iv| match iv {
        IvSource::Given => IvRule::IvGiven,
        IvSource::Zero => IvRule::IvZero,
        IvSource::KeyItself => IvRule::IvKey,
        IvSource::Generated(_) => IvRule::IvGenerated,
        IvSource::Slot(_) => IvRule::IvSlot,
    };
    match from {
        Column::One(IvSource::Given) => return (write_spans(read_given, |span| span), Bytes::new()),
        Column::One(iv @ (IvSource::Zero | IvSource::KeyItself)) => {
            return (Spans::default(), write_bytes(&[rule(*iv) as u8]));
        }
        _ => {}
    }
    let rules: Vec<u8> = from.cursor().take(count).map(|iv| rule(iv) as u8).collect();
    let indices = from.cursor().zip(read_given.cursor()).take(count).map(|(iv, read_given)| match iv {
        IvSource::Generated(sink) => sink_span(sink),
        IvSource::Slot(slot) => Span { start: slot, len: 0 },
        _ => read_given,
    });
    (write_each_span(indices), write_bytes(&rules))
}

/// Writes the results of a batch. `explain` returns the fault of a record that is not done.
#[must_use]
pub fn write_outcome(
    outcome: &BatchOutcome,
    mut explain: impl FnMut(usize, Status) -> Fault,
) -> proto::RecordResults {
    let count = outcome.statuses().len();
    let (mut codes, mut fault_of, mut faults) = (Vec::new(), Vec::new(), FaultTable::default());
    for (index, status) in outcome.statuses().iter().enumerate() {
        if *status == Status::Done {
            continue;
        }
        // The columns are allocated at the first failure: most batches have none.
        if codes.is_empty() {
            codes = vec![Code::Done as u8; count];
            fault_of = vec![0; count];
        }
        let fault = explain(index, *status);
        codes[index] = fault.code() as u8;
        fault_of[index] = faults.add(index as u32, &fault);
    }
    proto::RecordResults {
        codes: write_bytes(&codes),
        output: Bytes::copy_from_slice(outcome.output()),
        fault_of: write_bytes(&fault_of),
        faults: faults.into_faults(),
    }
}

/// Returns the code of each record in an answer to `count` records.
///
/// # Errors
/// The column does not fit the count.
pub fn codes(results: &proto::RecordResults, count: usize) -> Result<impl Iterator<Item = Code>, WireError> {
    let marks = WireBytes::read(&results.codes, count, "codes")?;
    Ok((0..count).map(move |index| Code::try_from(i32::from(marks.at(index))).unwrap_or(Code::Failed)))
}

/// Returns the faults in an answer to `count` records: a function of a record's index, which is `None` for a record
/// without a fault of its own.
///
/// # Errors
/// The column does not fit the count.
pub fn faults<'a>(
    results: &'a proto::RecordResults,
    count: usize,
) -> Result<impl Fn(usize) -> Option<&'a Fault>, WireError> {
    let numbers = WireBytes::read(&results.fault_of, count, "fault_of")?;
    Ok(move |index| results.faults.get(usize::from(numbers.at(index)).checked_sub(1)?))
}
