//! From columns of records to groups of lanes.
//!
//! | module | contents |
//! |---|---|
//! | this one | the loop over a run: windows of accepted records in order of length |
//! | `columns` | columns with random access: one value, or a slice |
//! | `order` | longest first, in linear time |
//! | `fast_rule` | a fast check with a few comparisons |
//!
//! Reading parameters is a large part of the cost of a short operation. So a few comparisons accept ordinary
//! records, and [`Records::record`], which knows every rule, decides about the others.

mod columns;
mod fast_rule;
mod order;

use std::ops::Range;

use oarlock_core::{
    EngineFault, InputSource, Key, KeySource, Outcomes, OutputSink, PartMut, Records, SecretBytes, Shape,
    Span, Status,
};

use crate::fault::failed;
use crate::scratch::ThreadScratch;
use crate::simd::fetch_ahead;
use columns::FlatColumn;
use fast_rule::FastRule;
use order::{OrderedRecords, StepCounts};

/// The number of records that are sorted by length together. Groups of 512 lanes of mixed lengths waste few of their
/// steps at this size, and the sorted list stays in the second-level cache.
const WINDOW: usize = 4096;

/// The number of records of equal length that are accepted together, without sorting. Their list stays in the
/// first-level cache.
const EQUAL_WINDOW: usize = 1024;

/// A reference to a record that was accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordRef {
    /// The index in the part.
    pub(crate) index: u32,
    /// The length of the input in bytes.
    pub(crate) len: u32,
    /// The start of the input in the data, or [`ELSEWHERE`].
    pub(crate) input: u32,
    /// The start of the output, or [`ELSEWHERE`].
    pub(crate) output: u32,
    /// The start of the IV in the data.
    pub(crate) iv: u32,
    /// The index of the key in the table, or [`ELSEWHERE`].
    pub(crate) key: u32,
}

impl RecordRef {
    /// Returns the same record without input.
    pub(crate) fn emptied(self) -> Self {
        Self { len: 0, ..self }
    }
}

/// Marks an input, output or key in a slot. No span with a byte starts at this offset.
const ELSEWHERE: u32 = u32::MAX;

/// The computation of one shape of records.
pub(crate) trait RecordKernel {
    /// Returns the shape.
    fn shape(&self) -> Shape;

    /// Returns the cost of a record of `len` bytes. Records of similar cost are put side by side.
    fn steps(&self, len: usize) -> usize;

    /// Prepares the values that all records of a part share.
    fn begin(&mut self, part: &RecordPart<'_>);

    /// Computes accepted records in any order and writes their results. Sets the status of a record only if it
    /// fails.
    fn compute(&mut self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut PartMut<'_>);
}

/// Computes every record of every part into `out`.
pub(crate) fn run(
    work: &mut impl RecordKernel,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    const MISMATCH: &str = "the outcomes do not match the records: make them with Outcomes::for_jobs";
    if out.parts() != parts.len() {
        return Err(failed(MISMATCH));
    }
    for (index, records) in parts.iter().enumerate() {
        let mut out = out.part_mut(index);
        // Indices and offsets are 32 bits wide: half the memory of a `RecordRef`, which bounds the sorting.
        let is_countable = u32::try_from(records.len).is_ok();
        if !is_countable || out.statuses.len() != records.len || out.output.len() != records.output_len {
            return Err(failed(MISMATCH));
        }
        run_part(work, &RecordPart::new(work.shape(), records), &mut out);
    }
    Ok(())
}

fn run_part(work: &mut impl RecordKernel, part: &RecordPart<'_>, out: &mut PartMut<'_>) {
    let mut ordered = ThreadScratch::take(OrderedRecords::default);
    work.begin(part);
    let max = if part.equal.is_some() { EQUAL_WINDOW } else { WINDOW };
    for first in (0..part.len()).step_by(max) {
        let window = first..part.len().min(first + max);
        // Outcomes can be reused: an old `Done` must not hide a record that a kernel skips.
        out.statuses[window.clone()].fill(Status::Pending);
        part.accept(window.clone(), &mut ordered, out, |len| work.steps(len));
        let records = ordered.longest_first(|len| work.steps(len));
        // Window by window, so that records, outputs and statuses are still in the cache.
        work.compute(part, records, out);
        finish_pending(&mut out.statuses[window]);
    }
}

/// Sets `Done` for every record that is still pending: accepted, and not rejected by its kernel.
///
/// The contract allows `Done` only after the result is written. So this runs after the kernel, once per window and
/// over adjacent bytes, which the compiler vectorises.
fn finish_pending(statuses: &mut [Status]) {
    for status in statuses {
        if *status == Status::Pending {
            *status = Status::Done;
        }
    }
}

/// The records of one part, with random access to each column.
pub(crate) struct RecordPart<'a> {
    shape: Shape,
    records: &'a Records<'a>,
    /// The bytes of each key, if keys recur. Otherwise empty, and keys are looked up one by one.
    keys: Vec<&'a [u8]>,
    key: FlatColumn<'a, KeySource>,
    second_key: FlatColumn<'a, KeySource>,
    iv: FlatColumn<'a, Span>,
    second_iv: FlatColumn<'a, Span>,
    aad: FlatColumn<'a, Span>,
    tag: FlatColumn<'a, Span>,
    input: FlatColumn<'a, InputSource>,
    output: FlatColumn<'a, OutputSink>,
    /// The conditions of the fast check.
    rule: Option<FastRule>,
    /// The number of keys in `keys` if all pass the fast check, and zero otherwise.
    valid_keys: u32,
    /// The layout of records of equal length at a constant stride, if all pass the fast check but for their keys.
    equal: Option<EqualRecords>,
}

/// Records of equal length at a constant stride.
#[derive(Clone, Copy)]
struct EqualRecords {
    first: RecordRef,
    strides: Strides,
}

/// The bytes from one record to the next.
#[derive(Clone, Copy)]
pub(crate) struct Strides {
    pub(crate) input: u32,
    pub(crate) output: u32,
    pub(crate) iv: u32,
}

impl EqualRecords {
    #[inline(always)]
    fn record(&self, index: u32, key: u32) -> RecordRef {
        // Cannot wrap: the last record was found to be in bounds, and its offset is the largest.
        let moved = |first: u32, stride: u32| first.wrapping_add(stride.wrapping_mul(index));
        let Self { first, strides } = self;
        RecordRef {
            index,
            len: first.len,
            input: moved(first.input, strides.input),
            output: moved(first.output, strides.output),
            iv: moved(first.iv, strides.iv),
            key,
        }
    }
}

impl<'a> RecordPart<'a> {
    fn new(shape: Shape, records: &'a Records<'a>) -> Self {
        // A table of all keys pays if each is used at least about half a time; a huge key table with few records
        // must not be walked.
        let recur = records.keys.len() <= 2 * records.len;
        let keys: Vec<_> = if recur { records.keys.iter().map(secret).collect() } else { Vec::new() };
        let rule = FastRule::for_shape(shape, records);
        let are_keys_valid = rule.is_some_and(|rule| {
            let mut lens = records.keys.iter().map(|key| key.secret().map(SecretBytes::len));
            recur && lens.all(|len| rule.accepts_key(len))
        });
        let mut part = Self {
            shape,
            records,
            rule,
            valid_keys: if are_keys_valid { keys.len() as u32 } else { 0 },
            keys,
            key: FlatColumn::new(&records.key, records.len),
            second_key: FlatColumn::new(&records.second_key, records.len),
            iv: FlatColumn::new(&records.iv, records.len),
            second_iv: FlatColumn::new(&records.second_iv, records.len),
            aad: FlatColumn::new(&records.aad, records.len),
            tag: FlatColumn::new(&records.tag, records.len),
            input: FlatColumn::new(&records.input, records.len),
            output: FlatColumn::new(&records.output, records.len),
            equal: None,
        };
        part.equal = part.equal_records();
        part
    }

    /// Returns the layout of records at a constant stride. All of them are in bounds if the first and the last are.
    fn equal_records(&self) -> Option<EqualRecords> {
        let last = u32::try_from(self.len().checked_sub(1)?).ok()?;
        let strides =
            Strides { input: self.input.stride()?, output: self.output.stride()?, iv: self.iv.stride()? };
        // Both columns must have a constant stride too, because the check of the first and the last record covers
        // them.
        self.aad.stride().and(self.tag.stride())?;
        // Key 0 stands for any: keys are compared record by record when a window is accepted.
        let first = self.fit_record(0, 0)?;
        self.fit_record(last, 0)?;
        Some(EqualRecords { first, strides })
    }

    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.len
    }

    /// Returns the bytes of each key of the table if keys recur, and an empty list otherwise. A key that is not
    /// symmetric has no bytes.
    pub(crate) fn recurring_keys(&self) -> &[&'a [u8]] {
        &self.keys
    }

    /// Returns the handles of the key table.
    pub(crate) fn key_table(&self) -> &'a [Key] {
        &self.records.keys
    }

    /// Returns true if keys or inputs can come from slots.
    pub(crate) fn has_slots(&self) -> bool {
        !self.records.slots.is_empty()
    }

    /// Returns the source of a record's key.
    #[inline(always)]
    pub(crate) fn key(&self, record: RecordRef) -> KeySource {
        self.key.at(record.index)
    }

    /// Returns the bytes of a record's key.
    #[inline(always)]
    pub(crate) fn key_bytes(&self, record: RecordRef) -> &'a [u8] {
        self.secret_of(self.key.at(record.index)).unwrap_or_default()
    }

    /// Returns the bytes of the second key of a translation.
    #[inline(always)]
    pub(crate) fn second_key_bytes(&self, record: RecordRef) -> &'a [u8] {
        self.secret_of(self.second_key.at(record.index)).unwrap_or_default()
    }

    /// Returns the span of a record's IV, or of its chaining state.
    #[inline(always)]
    pub(crate) fn iv_span(&self, record: RecordRef) -> Span {
        self.iv.at(record.index)
    }

    /// Returns the span of the IV of the encrypting half of a translation.
    #[inline(always)]
    pub(crate) fn second_iv_span(&self, record: RecordRef) -> Span {
        self.second_iv.at(record.index)
    }

    /// Returns the span of a record's associated data.
    #[inline(always)]
    pub(crate) fn aad_span(&self, record: RecordRef) -> Span {
        self.aad.at(record.index)
    }

    /// Returns the span of a record's tag: in the output for encryption, in the data for decryption.
    #[inline(always)]
    pub(crate) fn tag_span(&self, record: RecordRef) -> Span {
        self.tag.at(record.index)
    }

    /// Returns the buffer that spans refer to.
    #[inline(always)]
    pub(crate) fn data(&self) -> &'a [u8] {
        &self.records.data
    }

    /// Returns a record's input from byte `first` on, or an empty slice past its end.
    #[inline(always)]
    pub(crate) fn input(&self, record: &RecordRef, first: usize) -> &'a [u8] {
        let (start, len) = (record.input as usize, record.len as usize);
        let whole = match record.input {
            ELSEWHERE => return self.slot_input(record).get(first..).unwrap_or_default(),
            _ => self.data().get(start + first.min(len)..start + len),
        };
        whole.unwrap_or_default()
    }

    /// Returns the data from byte `first` of a record's input on.
    #[inline(always)]
    pub(crate) fn input_and_beyond(&self, record: &RecordRef, first: usize) -> &'a [u8] {
        self.data().get(record.input as usize + first..).unwrap_or_default()
    }

    #[cold]
    fn slot_input(&self, record: &RecordRef) -> &'a [u8] {
        match self.input.at(record.index) {
            InputSource::Slot(slot) => self.records.slots.get(slot).unwrap_or_default(),
            // An empty input can start at offset 2^32 - 1, which equals the mark.
            InputSource::Data(span) => span.of(self.data()).unwrap_or_default(),
        }
    }

    /// Returns the output of a result as long as the input, from byte `first` on, or an empty slice past its end.
    #[inline(always)]
    pub(crate) fn place<'o>(
        &self,
        record: &RecordRef,
        first: usize,
        out: &'o mut PartMut<'_>,
    ) -> &'o mut [u8] {
        let (start, len) = (record.output as usize, record.len as usize);
        match record.output {
            ELSEWHERE => {
                let place = out.place(self.output(*record), len).unwrap_or_default();
                place.get_mut(first..).unwrap_or_default()
            }
            _ => out.output.get_mut(start + first.min(len)..start + len).unwrap_or_default(),
        }
    }

    /// Returns the strides of records if they follow each other in the batch and the batch has a constant stride.
    #[inline(always)]
    pub(crate) fn strides(&self, records: &[RecordRef]) -> Option<Strides> {
        let ([first, .., last], count) = (records, records.len() as u32) else { return None };
        self.equal.map(|equal| equal.strides).filter(|_| last.index == first.index + (count - 1))
    }

    /// Returns the start of a record's output, or None if it is a slot.
    #[inline(always)]
    pub(crate) fn output_start(&self, record: RecordRef) -> Option<usize> {
        match record.output {
            ELSEWHERE => match self.output(record) {
                OutputSink::Output(span) => Some(span.start as usize),
                OutputSink::Slot(_) => None,
            },
            start => Some(start as usize),
        }
    }

    /// Returns the span of a record's output, or an empty span if it is a slot.
    #[inline(always)]
    pub(crate) fn output_span(&self, record: RecordRef) -> Span {
        match self.output(record) {
            OutputSink::Output(span) => span,
            OutputSink::Slot(_) => Span::default(),
        }
    }

    /// Returns the destination of a record's output.
    #[inline(always)]
    pub(crate) fn output(&self, record: RecordRef) -> OutputSink {
        self.output.at(record.index)
    }

    #[inline(always)]
    fn secret_of(&self, source: KeySource) -> Option<&'a [u8]> {
        match source {
            // An index past the table gives no bytes; the check of the record has refused it.
            KeySource::Table(index) if self.keys.is_empty() => {
                self.records.keys.get(index as usize).map(secret)
            }
            KeySource::Table(index) => self.keys.get(index as usize).copied(),
            KeySource::Slot(slot) => self.records.slots.get(slot),
        }
    }

    /// Accepts the records of a window. Records that cannot be computed get their status; the others stay pending.
    /// Meanwhile the bytes that accepted records read and write are fetched into the cache.
    fn accept(
        &self,
        window: Range<usize>,
        ordered: &mut OrderedRecords,
        out: &mut PartMut<'_>,
        steps: impl Fn(usize) -> usize,
    ) {
        let at_once = self.accept_equal(&window, ordered, out);
        if at_once.or_else(|| self.accept_values(&window, ordered, out, steps)).is_some() {
            return;
        }
        ordered.clear();
        let first = window.start as u32;
        for (index, status) in (first..).zip(&mut out.statuses[window]) {
            let plain = match (self.valid_key(index), &self.equal) {
                (Some(key), Some(places)) => Some(places.record(index, key)),
                (Some(key), None) => self.fit_record(index, key),
                (None, _) => None,
            };
            match plain.map_or_else(|| self.check_fully(index), Ok) {
                Ok(accepted) => {
                    fetch_ahead(self.data(), accepted.input);
                    fetch_ahead(out.output, accepted.output);
                    ordered.push(accepted);
                }
                Err(rejected) => *status = rejected,
            }
        }
    }

    /// Accepts all records of a window at once if they have a constant stride and all their keys pass the fast
    /// check.
    fn accept_equal(
        &self,
        window: &Range<usize>,
        ordered: &mut OrderedRecords,
        out: &PartMut<'_>,
    ) -> Option<()> {
        let places = self.equal?;
        let list = ordered.equal(window.len()).iter_mut().zip(window.start as u32..);
        if self.is_keyless() {
            list.for_each(|(place, index)| *place = places.record(index, 0));
            self.fetch_next(window, &places, out);
            return Some(());
        }
        let keys = self.key.values()?.get(window.clone())?;
        let mut are_keys_valid = self.valid_keys > 0;
        for ((place, index), key) in list.zip(keys) {
            let (KeySource::Table(number) | KeySource::Slot(number)) = *key;
            // Looks at every key even after a failure, so that the loop has no branch.
            are_keys_valid &= matches!(key, KeySource::Table(_)) & (number < self.valid_keys);
            *place = places.record(index, number);
        }
        if !are_keys_valid {
            return None;
        }
        self.fetch_next(window, &places, out);
        Some(())
    }

    /// Prefetches what the next window reads and writes; the loads run while this window is computed.
    fn fetch_next(&self, window: &Range<usize>, places: &EqualRecords, out: &PartMut<'_>) {
        let next = |start: u32, stride: u32| {
            // Long records would fill the cache before they are read. Their kernels prefetch by themselves.
            let bytes = if stride > MAX_FETCHED { 0 } else { stride.saturating_mul(window.len() as u32) };
            let start = start.saturating_add(bytes);
            (start..start.saturating_add(bytes)).step_by(LINE)
        };
        let first = places.record(window.start as u32, 0);
        next(first.input, places.strides.input).for_each(|at| fetch_ahead(self.data(), at));
        next(first.output, places.strides.output).for_each(|at| fetch_ahead(out.output, at));
    }

    /// Returns true if records of the shape have no keys.
    fn is_keyless(&self) -> bool {
        self.rule.is_some_and(|rule| rule.is_keyless())
    }

    /// Accepts all records of a window at once, in order, if all pass the fast check and each has its own values.
    fn accept_values(
        &self,
        window: &Range<usize>,
        ordered: &mut OrderedRecords,
        out: &PartMut<'_>,
        steps: impl Fn(usize) -> usize,
    ) -> Option<()> {
        let rule = self.rule.filter(FastRule::is_tagless)?;
        // Shapes without keys read key 0, whatever the column holds.
        let is_keyless = self.is_keyless();
        let keys = if is_keyless { &[] } else { self.key.values()?.get(window.clone())? };
        let key_at = |at: usize| keys.get(at).copied().unwrap_or(KeySource::Table(0));
        let inputs = self.input.values()?.get(window.clone())?;
        let outputs = self.output.values()?.get(window.clone())?;
        let (mut together, mut last_key) = (rule.together(), 0);
        let mut counts = StepCounts::default();
        for (at, (input, output)) in inputs.iter().zip(outputs).enumerate() {
            let (key, input, output) = in_memory(key_at(at), *input, *output)?;
            fetch_ahead(self.data(), input.start);
            fetch_ahead(out.output, output.start);
            last_key = last_key.max(key);
            together.add(input, output);
            counts.add(steps(input.len as usize));
        }
        let mut ivs = window.clone().map(|index| self.iv.at(index as u32));
        // At a constant stride the first and the last IV decide for all.
        let do_ivs_fit = match self.iv.stride() {
            Some(_) => [ivs.next(), ivs.next_back()].into_iter().flatten().all(|iv| rule.fits_iv(iv)),
            None => ivs.all(|iv| rule.fits_iv(iv)),
        };
        // All comparisons come after the loop, so that the loop over the records has no branch.
        if (last_key >= self.valid_keys && !is_keyless) || !do_ivs_fit || !together.fit() {
            return None;
        }
        // Counted in the loop above, so the list is sorted by one pass that puts each record into its place.
        let mut ordered = ordered.counted(&counts);
        for (at, (input, output)) in inputs.iter().zip(outputs).enumerate() {
            let (key, Span { start, len }, output) = in_memory(key_at(at), *input, *output)?;
            let index = (window.start + at) as u32;
            let iv = self.iv.at(index).start;
            let record = RecordRef { index, len, input: start, output: output.start, iv, key };
            ordered.insert(record, steps(len as usize));
        }
        Some(())
    }

    /// Returns a record if it passes the fast check with this key and is not in slots.
    #[inline(always)]
    fn fit_record(&self, index: u32, key: u32) -> Option<RecordRef> {
        let (InputSource::Data(input), OutputSink::Output(output)) =
            (self.input.at(index), self.output.at(index))
        else {
            return None;
        };
        let (rule, iv) = (self.rule?, self.iv.at(index));
        let fits = rule.fits(iv, input, output)
            && rule.fits_tag(
                #[inline(always)]
                || [self.aad.at(index), self.tag.at(index)],
            );
        let Span { start, len } = input;
        fits.then_some(RecordRef { index, len, input: start, output: output.start, iv: iv.start, key })
    }

    /// Returns the index of a record's key if it is in the table and passes the fast check.
    #[inline(always)]
    fn valid_key(&self, index: u32) -> Option<u32> {
        match self.key.at(index) {
            KeySource::Table(key) if self.is_valid_key(key) => Some(key),
            _ => None,
        }
    }

    #[inline(always)]
    fn is_valid_key(&self, key: u32) -> bool {
        match self.keys.is_empty() {
            false => key < self.valid_keys,
            true => {
                let len = self.records.keys.get(key as usize).and_then(Key::secret).map(SecretBytes::len);
                self.rule.is_some_and(|rule| rule.accepts_key(len))
            }
        }
    }

    /// Checks a record by all rules of the contract.
    #[cold]
    fn check_fully(&self, index: u32) -> Result<RecordRef, Status> {
        let record = self.records.record(self.shape, index as usize)?;
        let input = match self.input.at(index) {
            InputSource::Data(span) => span.start,
            InputSource::Slot(_) => ELSEWHERE,
        };
        let output = match record.output {
            OutputSink::Output(span) => span.start,
            OutputSink::Slot(_) => ELSEWHERE,
        };
        let key = match self.key.at(index) {
            KeySource::Table(key) => key,
            KeySource::Slot(_) => ELSEWHERE,
        };
        // Cannot fail for spans, which have 32 bits; a slot is bounded by its capacity.
        let len = u32::try_from(record.input.len()).map_err(|_| Status::BadLength)?;
        Ok(RecordRef { index, len, input, output, iv: self.iv.at(index).start, key })
    }
}

/// Returns the key, the input and the output of a record, or None if one of them is a slot.
#[inline(always)]
fn in_memory(key: KeySource, input: InputSource, output: OutputSink) -> Option<(u32, Span, Span)> {
    let (KeySource::Table(key), InputSource::Data(input), OutputSink::Output(output)) = (key, input, output)
    else {
        return None;
    };
    Some((key, input, output))
}

/// The bytes of a cache line.
const LINE: usize = 64;

/// The longest stride of records that are prefetched for the next window. A window has 1 MiB then, about as much as a
/// second-level cache.
const MAX_FETCHED: u32 = 1024;

fn secret(key: &Key) -> &[u8] {
    key.secret().map(SecretBytes::expose).unwrap_or_default()
}
