//! Known answers of the record shapes, in every form of column, with keys, inputs and outputs in secret slots too.

use std::borrow::Cow;

use oarlock_core::{
    BatchSize, Column, Engine, InputSource, Jobs, Key, KeySource, Outcomes, OutputSink, Records, SecretSlots,
    Shape, Span, Status,
};
use oarlock_keys::raw;

use super::rows::{KnownRecord, rows};
use super::text::bad_key;
use super::{Difference, SelfTestFailure, SelfTestProof, batch_len, compare, nothing_left};

/// Runs three parts in one call: a value per record with bad records and slots among them, runs of equal values, and
/// one value for all.
pub(super) fn prove(
    engine: &dyn Engine,
    lanes: BatchSize,
    shape: Shape,
) -> Result<SelfTestProof, SelfTestFailure> {
    let rows = rows(shape)?;
    let parts = [each(shape, &rows, lanes)?, in_runs(&rows, lanes)?, uniform(&rows, lanes)?];
    let mut jobs = 0;
    for group in grouped(&parts, lanes.max) {
        let records: Vec<&Records<'_>> = group.iter().map(|part| &part.records).collect();
        let run = Jobs::Records(shape, &records);
        let mut outcomes = Outcomes::for_jobs(&run);
        engine.run(&run, &mut outcomes)?;
        check(group, &mut outcomes).map_err(|(lane, difference)| SelfTestFailure::Wrong {
            engine: engine.name(),
            shape,
            lane,
            difference,
        })?;
        jobs += run.len();
    }
    Ok(SelfTestProof { jobs })
}

/// All parts in one run if the engine takes as many records, else each in its own.
fn grouped(parts: &[KnownPart], max: usize) -> Vec<&[KnownPart]> {
    let all: usize = parts.iter().map(|part| part.expectations.len()).sum();
    if all <= max { vec![parts] } else { parts.chunks(1).collect() }
}

/// Records with the known answer of each.
struct KnownPart {
    records: Records<'static>,
    expectations: Vec<RecordExpectation>,
}

/// The spans of one record's results, and the expected results.
struct RecordExpectation {
    output: OutputSink,
    tag: Span,
    expected: Result<ExpectedRecord, Status>,
}

struct ExpectedRecord {
    output: Vec<u8>,
    tag: Vec<u8>,
    /// The result is shorter than its span.
    is_short: bool,
}

/// Makes one value per record. The last two use slots: one for key and input, one for the output.
fn each(shape: Shape, rows: &[KnownRecord], lanes: BatchSize) -> Result<KnownPart, SelfTestFailure> {
    let count = batch_len(lanes, rows.len() + 2);
    let (key_slot, input_slot, output_slot) = (0, 1, 2);
    let slotted = rows.iter().find(|row| row.expected.is_ok() && !row.input.is_empty());
    let slotted = slotted.ok_or(SelfTestFailure::NoVectors { shape })?;
    let mut builder = KnownColumns::default();
    for row in rows.iter().cycle().take(count.saturating_sub(2)) {
        builder.push(row)?;
    }
    // An engine that takes fewer than three records at a time gets none with slots.
    if count > 2 {
        builder.push(slotted)?;
        builder.key[count - 2] = KeySource::Slot(key_slot);
        builder.input[count - 2] = InputSource::Slot(input_slot);
        builder.push(slotted)?;
        builder.output[count - 1] = OutputSink::Slot(output_slot);
    }
    builder.fill_slots(slotted);
    builder.finish(ColumnForm::Each)
}

/// Rows in runs of growing length.
fn in_runs(rows: &[KnownRecord], lanes: BatchSize) -> Result<KnownPart, SelfTestFailure> {
    let count = batch_len(lanes, 9);
    let mut builder = KnownColumns::default();
    let runs = rows.iter().cycle().zip(1..).flat_map(|(row, length)| std::iter::repeat_n(row, length));
    for row in runs.take(count) {
        builder.push(row)?;
    }
    builder.finish(ColumnForm::BatchRuns)
}

/// One key, IV, input and tag for all.
fn uniform(rows: &[KnownRecord], lanes: BatchSize) -> Result<KnownPart, SelfTestFailure> {
    let mut builder = KnownColumns::default();
    for _ in 0..batch_len(lanes, 3) {
        builder.push(&rows[0])?;
    }
    builder.finish(ColumnForm::One)
}

#[derive(Clone, Copy)]
enum ColumnForm {
    One,
    BatchRuns,
    Each,
}

/// Collects rows into columns; equal rows share their key, their spans of data and hence their column values.
#[derive(Default)]
struct KnownColumns<'r> {
    seen: Vec<(&'r KnownRecord, usize)>,
    keys: Vec<Key>,
    data: Vec<u8>,
    output_len: usize,
    slots: SecretSlots,
    key: Vec<KeySource>,
    second_key: Vec<KeySource>,
    iv: Vec<Span>,
    second_iv: Vec<Span>,
    aad: Vec<Span>,
    input: Vec<InputSource>,
    output: Vec<OutputSink>,
    tag: Vec<Span>,
    expectations: Vec<RecordExpectation>,
}

impl<'r> KnownColumns<'r> {
    fn push(&mut self, row: &'r KnownRecord) -> Result<(), SelfTestFailure> {
        match self.seen.iter().find(|(known, _)| std::ptr::eq(*known, row)) {
            Some(&(_, first)) => self.repeat(first),
            None => self.add_inputs(row)?,
        }
        self.add_outputs(row)
    }

    /// The inputs of an earlier record again.
    fn repeat(&mut self, first: usize) {
        self.key.push(self.key[first]);
        self.second_key.push(self.second_key[first]);
        self.iv.push(self.iv[first]);
        self.second_iv.push(self.second_iv[first]);
        self.aad.push(self.aad[first]);
        self.input.push(self.input[first]);
    }

    fn add_inputs(&mut self, row: &'r KnownRecord) -> Result<(), SelfTestFailure> {
        self.seen.push((row, self.input.len()));
        let (key, second_key) = (self.import(&row.key)?, self.import(&row.second_key)?);
        self.key.push(key);
        self.second_key.push(second_key);
        let [iv, second_iv, aad, input] =
            [&row.iv, &row.second_iv, &row.aad, &row.input].map(|bytes| self.store(bytes));
        self.iv.push(iv?);
        self.second_iv.push(second_iv?);
        self.aad.push(if row.lacks_aad { Span::ABSENT } else { aad? });
        let input = input?;
        // A span near 2^32 would wrap around in an engine that adds its start and length in 32 bits.
        self.input.push(InputSource::Data(if row.is_beyond_data {
            Span { start: u32::MAX - 8, ..input }
        } else {
            input
        }));
        Ok(())
    }

    /// A span of its own for every record's results. A tag that is given lies in the data, one that is made in the
    /// output.
    fn add_outputs(&mut self, row: &'r KnownRecord) -> Result<(), SelfTestFailure> {
        let output = OutputSink::Output(self.reserve(row.reserved_len)?);
        let tag = match (row.given_tag.is_empty(), row.made_tag_len) {
            (false, _) => self.store(&row.given_tag)?,
            (true, 0) => Span::default(),
            (true, len) => self.reserve(len)?,
        };
        self.output.push(output);
        self.tag.push(tag);
        let expected = row.expected.as_ref().map_err(|status| *status).map(|(output, tag)| ExpectedRecord {
            output: output.clone(),
            tag: tag.clone(),
            is_short: output.len() < row.reserved_len,
        });
        self.expectations.push(RecordExpectation { output, tag, expected });
        Ok(())
    }

    fn import(&mut self, bytes: &[u8]) -> Result<KeySource, SelfTestFailure> {
        if bytes.is_empty() {
            return Ok(KeySource::Table(0));
        }
        self.keys.push(raw::secret(bytes.to_vec()).map_err(bad_key)?);
        Ok(KeySource::Table(self.keys.len() as u32 - 1))
    }

    fn store(&mut self, bytes: &[u8]) -> Result<Span, SelfTestFailure> {
        let span = span(self.data.len(), bytes.len())?;
        self.data.extend_from_slice(bytes);
        Ok(span)
    }

    fn reserve(&mut self, len: usize) -> Result<Span, SelfTestFailure> {
        let span = span(self.output_len, len)?;
        self.output_len += len;
        Ok(span)
    }

    /// Slots for key and input of `row`, filled, and one for its output.
    fn fill_slots(&mut self, row: &KnownRecord) {
        // At least 64 bytes, because a MAC that is cut in an output is whole in a slot.
        let lens = [row.key.len(), row.input.len(), row.reserved_len.max(64)];
        self.slots = SecretSlots::with_capacities(&lens.map(|len| len as u32)).unwrap_or_default();
        for (slot, bytes) in [(0, &row.key), (1, &row.input)] {
            if let Some(slot_bytes) = self.slots.fill(slot, bytes.len()) {
                slot_bytes.copy_from_slice(bytes);
            }
        }
    }

    fn finish(mut self, form: ColumnForm) -> Result<KnownPart, SelfTestFailure> {
        // The last record of `each` has got another sink since its span was noted.
        for (expectation, sink) in self.expectations.iter_mut().zip(&self.output) {
            expectation.output = *sink;
        }
        let records = Records {
            len: self.expectations.len(),
            keys: Cow::Owned(self.keys),
            data: Cow::Owned(self.data),
            output_len: self.output_len,
            slots: Cow::Owned(self.slots),
            key: column(self.key, form),
            second_key: column(self.second_key, form),
            iv: column(self.iv, form),
            second_iv: column(self.second_iv, form),
            aad: column(self.aad, form),
            input: column(self.input, form),
            output: self.output.into(),
            tag: self.tag.into(),
        };
        Ok(KnownPart { records, expectations: self.expectations })
    }
}

fn span(start: usize, len: usize) -> Result<Span, SelfTestFailure> {
    Span::new(start, len)
        .ok_or_else(|| SelfTestFailure::Vectors { what: "vectors of more than 4 GiB".into() })
}

fn column<T: Copy + PartialEq>(values: Vec<T>, form: ColumnForm) -> Column<'static, T> {
    match (form, values.first()) {
        (ColumnForm::One, Some(first)) => Column::One(*first),
        (ColumnForm::BatchRuns, _) => {
            let mut runs: Vec<(u32, T)> = Vec::new();
            for value in values {
                match runs.last_mut() {
                    Some((count, last)) if *last == value => *count += 1,
                    _ => runs.push((1, value)),
                }
            }
            Column::Runs(runs.into())
        }
        _ => Column::Each(values.into()),
    }
}

/// Compares every record of every part; the lane counts through all parts.
fn check(parts: &[KnownPart], outcomes: &mut Outcomes) -> Result<(), (usize, Difference)> {
    let mut first_lane = 0;
    for (index, part) in parts.iter().enumerate() {
        for (record, expectation) in part.expectations.iter().enumerate() {
            expectation
                .check(index, record, outcomes)
                .map_err(|difference| (first_lane + record, difference))?;
        }
        first_lane += part.expectations.len();
    }
    Ok(())
}

impl RecordExpectation {
    fn check(&self, part: usize, record: usize, outcomes: &mut Outcomes) -> Result<(), Difference> {
        let short_len = outcomes.short_len(part, record);
        let result = outcomes.part_mut(part);
        let found = result.statuses[record];
        let expected = self.expected.as_ref().map_or_else(|status| *status, |_| Status::Done);
        if found != expected {
            return Err(Difference::Status { expected, found });
        }
        let output = match self.output {
            OutputSink::Output(span) => span.slice(result.output).unwrap_or_default(),
            OutputSink::Slot(slot) => result.slots.get(slot).unwrap_or_default(),
        };
        let Ok(answer) = &self.expected else { return nothing_left(output) };
        match self.output {
            OutputSink::Output(_) => {
                let len = if answer.is_short { short_len.unwrap_or(output.len()) } else { output.len() };
                compare("the output", &answer.output, output.get(..len).unwrap_or_default())?;
            }
            OutputSink::Slot(_) => {
                // A MAC that is cut in an output is whole in a slot.
                let kept = output.get(..answer.output.len()).unwrap_or(output);
                compare("the slot", &answer.output, kept)?;
            }
        }
        if answer.tag.is_empty() {
            return Ok(());
        }
        compare("the tag", &answer.tag, self.tag.slice(result.output).unwrap_or_default())
    }
}
