//! Short symmetric operations as columns.

use std::borrow::Cow;

use bytes::Bytes;
use oarlock::batch::{Batch, BatchOutcome, BatchTask, IvSource};
use oarlock::{Column, InputSource, Key, KeySource, OutputSink, Records, Span, Status};

use crate::column::{ByteColumn, NumberColumn, SLOT, each_of, marks, numbers, places_of, spans};
use crate::fault::FaultTable;
use crate::proto::{self, Code, Fault, IvRule, Spans};
use crate::{MessageLimits, WireError, task};

/// The bit of a key's column that says that the others are a slot.
const SLOT_BIT: u32 = 1 << 31;

/// Reads a batch. `key_of` says which key a handle stands for, and `keys` are those that came with the stream.
///
/// # Errors
/// A column does not fit the count, a name is not known here, or more than `limits` allow. A handle that stands for nothing is
/// for `key_of` to answer with an index that no table has, so that its record fails alone.
pub fn read<'a>(
    message: &'a proto::Records,
    limits: &MessageLimits,
    keys: &'a [Key],
    key_of: impl Fn(u32) -> KeySource,
) -> Result<Batch<'a>, WireError> {
    let count = limits.count("records", message.count)?;
    limits.bytes("output_len", message.output_len)?;
    let tasks = message.tasks.iter().map(task::read).collect::<Result<Vec<_>, _>>()?;
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
        aad: spans(message.aad.as_ref(), count, "aad", |span| span)?,
        input: spans(message.input.as_ref(), count, "input", source)?,
        output: spans(message.output.as_ref(), count, "output", sink)?,
        tag: spans(message.tag.as_ref(), count, "tag", |span| span)?,
        ..Records::default()
    };
    limits.slots(&message.slot_lens)?;
    Ok(Batch {
        iv_from,
        second_iv_from,
        slots: Cow::Borrowed(&message.slot_lens),
        ..Batch::new(task, records)
    })
}

fn sink(span: Span) -> OutputSink {
    if span.len == SLOT { OutputSink::Slot(span.start) } else { OutputSink::Output(span) }
}

fn tasks_of(
    message: &proto::Records,
    tasks: &[BatchTask],
    count: usize,
) -> Result<Column<'static, BatchTask>, WireError> {
    let task_of = ByteColumn::read(&message.task_of, count, "task_of")?;
    let (Some(first), true) = (tasks.first(), task_of.are_below(tasks.len())) else {
        return Err(WireError::Place { what: "task_of" });
    };
    Ok(match task_of {
        ByteColumn::One(mark) => Column::One(*tasks.get(usize::from(mark)).unwrap_or(first)),
        ByteColumn::Each(places) => {
            Column::Each(places.iter().map(|place| tasks[usize::from(*place)]).collect())
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
    Ok(match NumberColumn::read(bytes, count, what)? {
        NumberColumn::One(number) => Column::One(key(number)),
        NumberColumn::Each(each) => {
            Column::Each(each.iter().map(|bytes| key(u32::from_le_bytes(*bytes))).collect())
        }
    })
}

/// Where IVs come from, and where those in the data are.
fn ivs(
    places: Option<&Spans>,
    rules: &[u8],
    count: usize,
    what: &'static str,
) -> Result<(Column<'static, IvSource>, Column<'static, Span>), WireError> {
    let rules = ByteColumn::read(rules, count, what)?;
    let given = || spans(places, count, what, |span| span);
    if let ByteColumn::One(rule) = rules
        && let Some(from) = alike(rule)
    {
        let places = if from == IvSource::Given { given()? } else { Column::One(Span::default()) };
        return Ok((Column::One(from), places));
    }
    let places = given()?;
    // Only a given IV lies in the data. Another one's place must not be taken for a span of it, which may be shorter.
    let (mut from, mut in_data) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (index, place) in places.cursor().take(count).enumerate() {
        let rule = rules.at(index);
        let value = i32::from(rule);
        from.push(match IvRule::try_from(value) {
            Ok(IvRule::IvGenerated) => IvSource::Generated(sink(place)),
            Ok(IvRule::IvSlot) => IvSource::Slot(place.start),
            Ok(_) => alike(rule).unwrap_or_default(),
            Err(_) => return Err(WireError::Unknown { what: "IV rule", value }),
        });
        in_data.push(if from.last() == Some(&IvSource::Given) { place } else { Span::default() });
    }
    Ok((Column::Each(from.into()), Column::Each(in_data.into())))
}

/// A rule that needs no place.
fn alike(rule: u8) -> Option<IvSource> {
    match IvRule::try_from(i32::from(rule)).ok()? {
        IvRule::IvGiven => Some(IvSource::Given),
        IvRule::IvZero => Some(IvSource::Zero),
        IvRule::IvKey => Some(IvSource::KeyItself),
        IvRule::IvGenerated | IvRule::IvSlot => None,
    }
}

/// Writes a batch. `handle_of` gives the handle of a key that is not in a slot.
///
/// # Errors
/// A task that the protocol does not have, more than 256 of them, or an incomplete batch.
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
        input: Some(places_of(&records.input, |source| match source {
            InputSource::Data(span) => span,
            InputSource::Slot(number) => slot(number),
        })),
        aad: Some(places_of(&records.aad, |span| span)),
        iv: Some(iv),
        second_iv: Some(second_iv),
        output: Some(places_of(&records.output, place_of)),
        tag: Some(places_of(&records.tag, |span| span)),
        iv_rule,
        second_iv_rule,
        slot_lens: batch.slots.to_vec(),
    })
}

fn place_of(sink: OutputSink) -> Span {
    match sink {
        OutputSink::Output(span) => span,
        OutputSink::Slot(slot) => Span { start: slot, len: SLOT },
    }
}

fn write_tasks(column: &Column<'_, BatchTask>, count: usize) -> Result<(Vec<proto::Task>, Bytes), WireError> {
    if let Column::One(only) = column {
        return Ok((vec![task::write(*only)?], Bytes::new()));
    }
    let (mut tasks, mut places) = (Vec::<BatchTask>::new(), Vec::with_capacity(count));
    for task in column.cursor().take(count) {
        let place = tasks.iter().position(|own| *own == task).unwrap_or_else(|| {
            tasks.push(task);
            tasks.len() - 1
        });
        let found = tasks.len() as u64;
        places.push(u8::try_from(place).map_err(|_| WireError::TooMany {
            what: "tasks",
            found,
            bound: 256,
        })?);
    }
    Ok((tasks.into_iter().map(task::write).collect::<Result<_, _>>()?, marks(&places)))
}

fn write_keys(column: &Column<'_, KeySource>, count: usize, number: impl Fn(KeySource) -> u32) -> Bytes {
    if let Column::One(source) = column {
        return numbers([number(*source)].into_iter());
    }
    let all: Vec<u32> = column.cursor().take(count).map(number).collect();
    numbers(all.iter().copied())
}

fn write_ivs(from: &Column<'_, IvSource>, given: &Column<'_, Span>, count: usize) -> (Spans, Bytes) {
    let rule = |iv| match iv {
        IvSource::Given => IvRule::IvGiven,
        IvSource::Zero => IvRule::IvZero,
        IvSource::KeyItself => IvRule::IvKey,
        IvSource::Generated(_) => IvRule::IvGenerated,
        IvSource::Slot(_) => IvRule::IvSlot,
    };
    match from {
        Column::One(IvSource::Given) => return (places_of(given, |span| span), Bytes::new()),
        Column::One(iv @ (IvSource::Zero | IvSource::KeyItself)) => {
            return (Spans::default(), marks(&[rule(*iv) as u8]));
        }
        _ => {}
    }
    let rules: Vec<u8> = from.cursor().take(count).map(|iv| rule(iv) as u8).collect();
    let places = from.cursor().zip(given.cursor()).take(count).map(|(iv, given)| match iv {
        IvSource::Generated(sink) => place_of(sink),
        IvSource::Slot(slot) => Span { start: slot, len: 0 },
        _ => given,
    });
    (each_of(places), marks(&rules))
}

/// Writes what a batch gave. `explain` says why a record is not done.
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
        if codes.is_empty() {
            codes = vec![Code::Done as u8; count];
            fault_of = vec![0; count];
        }
        let fault = explain(index, *status);
        codes[index] = fault.code() as u8;
        fault_of[index] = faults.add(index as u32, &fault);
    }
    proto::RecordResults {
        codes: marks(&codes),
        output: Bytes::copy_from_slice(outcome.output()),
        fault_of: marks(&fault_of),
        faults: faults.into_faults(),
    }
}

/// The code of each record of an answer to `count` records.
///
/// # Errors
/// The column does not fit the count.
pub fn codes(results: &proto::RecordResults, count: usize) -> Result<impl Iterator<Item = Code>, WireError> {
    let marks = ByteColumn::read(&results.codes, count, "codes")?;
    Ok((0..count).map(move |index| Code::try_from(i32::from(marks.at(index))).unwrap_or(Code::Failed)))
}
