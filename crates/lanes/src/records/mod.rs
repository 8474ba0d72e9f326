//! From columns of records to groups of lanes.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | the walk over a run: windows of records, accepted and in order of length |
//! | `columns` | columns that are read at random: one value, or a slice |
//! | `order` | longest first, in linear time |
//! | `fast_rule` | records that a few comparisons show to be good |
//!
//! Reading parameters is a good part of what a short operation costs, so records that are plainly good are told by a few comparisons;
//! about all others [`Records::record`] decides, which knows every rule.

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
use crate::simd::{LANES, fetch_ahead};
use columns::FlatColumn;
use fast_rule::FastRule;
use order::{OrderedRecords, StepCounts};

/// Records that are put in order of length together: enough that groups of 512 lanes of mixed lengths waste few of their steps,
/// few enough that their order stays in the second cache.
const WINDOW: usize = 4096;

/// Records of one length that are accepted together, where there is nothing to order: so many that their list stays in the first
/// cache.
const EQUAL_WINDOW: usize = 1024;

/// A record that can be computed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordRef {
    /// Its index in the part.
    pub(crate) index: u32,
    /// Bytes of its input.
    pub(crate) len: u32,
    /// Where its input starts in the data, or [`ELSEWHERE`].
    pub(crate) input: u32,
    /// Where its output starts, or [`ELSEWHERE`].
    pub(crate) output: u32,
    /// Where its IV starts in the data.
    pub(crate) iv: u32,
    /// The number of its key in the table, or [`ELSEWHERE`].
    pub(crate) key: u32,
}

impl RecordRef {
    /// The same without input.
    pub(crate) fn emptied(self) -> Self {
        Self { len: 0, ..self }
    }
}

/// The input or the output is a slot. No span of any byte starts there.
const ELSEWHERE: u32 = u32::MAX;

/// How the records of a shape are worked upon.
pub(crate) trait RecordKernel {
    /// The shape.
    fn shape(&self) -> Shape;

    /// What a record of so many bytes costs, for putting records of like cost side by side.
    fn steps(&self, len: usize) -> usize;

    /// Looks at what all records of a part share.
    fn begin(&mut self, part: &RecordPart<'_>);

    /// Computes accepted records in any order, writes their results and sets the status of those that end otherwise than done.
    fn compute(&mut self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut PartMut<'_>);
}

/// Computes every record of every part into `out`.
pub(crate) fn run(
    work: &mut impl RecordKernel,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    const UNFIT: &str = "the outcomes were not made for these records";
    if out.parts() != parts.len() {
        return Err(failed(UNFIT));
    }
    for (index, records) in parts.iter().enumerate() {
        let mut out = out.part_mut(index);
        let is_countable = u32::try_from(records.len).is_ok();
        if !is_countable || out.statuses.len() != records.len || out.output.len() != records.output_len {
            return Err(failed(UNFIT));
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
        out.statuses[window.clone()].fill(Status::Pending);
        part.accept(window.clone(), &mut ordered, out, |len| work.steps(len));
        let records = ordered.longest_first(|len| work.steps(len));
        work.compute(part, records, out);
        finish_pending(&mut out.statuses[window]);
    }
}

/// Sets the status of every record that was accepted and that its kernel has not rejected.
///
/// The results are in their places by now: the contract lets nothing be `Done` before.
fn finish_pending(statuses: &mut [Status]) {
    for status in statuses {
        if *status == Status::Pending {
            *status = Status::Done;
        }
    }
}

/// The records of one part, each column readable at random.
pub(crate) struct RecordPart<'a> {
    shape: Shape,
    records: &'a Records<'a>,
    /// The bytes of each key where there are fewer keys than records; else they are looked up one by one.
    keys: Vec<&'a [u8]>,
    key: FlatColumn<'a, KeySource>,
    second_key: FlatColumn<'a, KeySource>,
    iv: FlatColumn<'a, Span>,
    second_iv: FlatColumn<'a, Span>,
    aad: FlatColumn<'a, Span>,
    tag: FlatColumn<'a, Span>,
    input: FlatColumn<'a, InputSource>,
    output: FlatColumn<'a, OutputSink>,
    /// What a plainly good record satisfies.
    rule: Option<FastRule>,
    /// Keys of `keys` that all will do for that; none where one does not.
    plain_keys: u32,
    /// Where records lie that are good but for their keys, all of one length and a stride apart.
    equal: Option<EqualRecords>,
}

/// Records of one length that lie a stride apart.
#[derive(Clone, Copy)]
struct EqualRecords {
    first: RecordRef,
    strides: Strides,
}

/// Bytes from a record to the next.
#[derive(Clone, Copy)]
pub(crate) struct Strides {
    pub(crate) input: u32,
    pub(crate) output: u32,
    pub(crate) iv: u32,
}

impl EqualRecords {
    #[inline(always)]
    fn record(&self, index: u32, key: u32) -> RecordRef {
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
        let recur = records.keys.len() <= 2 * records.len;
        let keys: Vec<_> = if recur { records.keys.iter().map(secret).collect() } else { Vec::new() };
        let rule = FastRule::for_shape(shape, records);
        let all_will_do = rule.is_some_and(|rule| {
            let mut lens = records.keys.iter().map(|key| key.secret().map(SecretBytes::len));
            recur && lens.all(|len| rule.takes_key(len))
        });
        let mut part = Self {
            shape,
            records,
            rule,
            plain_keys: if all_will_do { keys.len() as u32 } else { 0 },
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

    /// What the first and the last satisfy, all between them do.
    fn equal_records(&self) -> Option<EqualRecords> {
        let last = u32::try_from(self.len().checked_sub(1)?).ok()?;
        let strides =
            Strides { input: self.input.stride()?, output: self.output.stride()?, iv: self.iv.stride()? };
        self.aad.stride().and(self.tag.stride())?;
        let first = self.fit_record(0, 0)?;
        self.fit_record(last, 0)?;
        Some(EqualRecords { first, strides })
    }

    /// Number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.len
    }

    /// The bytes of each key of the table where they recur, nothing where every key is used about once. Keys that are no symmetric ones have
    /// none.
    pub(crate) fn recurring_keys(&self) -> &[&'a [u8]] {
        &self.keys
    }

    /// The handles of the key table.
    pub(crate) fn key_table(&self) -> &'a [Key] {
        &self.records.keys
    }

    /// True where keys or inputs may come from slots.
    pub(crate) fn has_slots(&self) -> bool {
        !self.records.slots.is_empty()
    }

    /// Where a record's key is.
    #[inline(always)]
    pub(crate) fn key(&self, record: RecordRef) -> KeySource {
        self.key.at(record.index)
    }

    /// The bytes of a record's key.
    #[inline(always)]
    pub(crate) fn key_bytes(&self, record: RecordRef) -> &'a [u8] {
        self.secret_of(self.key.at(record.index)).unwrap_or_default()
    }

    /// The bytes of the second key of a translation.
    #[inline(always)]
    pub(crate) fn second_key_bytes(&self, record: RecordRef) -> &'a [u8] {
        self.secret_of(self.second_key.at(record.index)).unwrap_or_default()
    }

    /// Where a record's IV, or its chaining state, lies in the data.
    #[inline(always)]
    pub(crate) fn iv_span(&self, record: RecordRef) -> Span {
        self.iv.at(record.index)
    }

    /// Where the IV of the encrypting half of a translation lies in the data.
    #[inline(always)]
    pub(crate) fn second_iv_span(&self, record: RecordRef) -> Span {
        self.second_iv.at(record.index)
    }

    /// Where a record's associated data lies in the data.
    #[inline(always)]
    pub(crate) fn aad_span(&self, record: RecordRef) -> Span {
        self.aad.at(record.index)
    }

    /// Where a record's tag lies: in the output when encrypting, in the data when decrypting.
    #[inline(always)]
    pub(crate) fn tag_span(&self, record: RecordRef) -> Span {
        self.tag.at(record.index)
    }

    /// The buffer of spans.
    #[inline(always)]
    pub(crate) fn data(&self) -> &'a [u8] {
        &self.records.data
    }

    /// A record's input from byte `first` on; nothing where it has ended.
    #[inline(always)]
    pub(crate) fn input(&self, record: &RecordRef, first: usize) -> &'a [u8] {
        let (start, len) = (record.input as usize, record.len as usize);
        let whole = match record.input {
            ELSEWHERE => return self.slot_input(record).get(first..).unwrap_or_default(),
            _ => self.data().get(start + first.min(len)..start + len),
        };
        whole.unwrap_or_default()
    }

    /// The data from byte `first` of a record's input on.
    #[inline(always)]
    pub(crate) fn input_and_beyond(&self, record: &RecordRef, first: usize) -> &'a [u8] {
        self.data().get(record.input as usize + first..).unwrap_or_default()
    }

    #[cold]
    fn slot_input(&self, record: &RecordRef) -> &'a [u8] {
        match self.input.at(record.index) {
            InputSource::Slot(slot) => self.records.slots.get(slot).unwrap_or_default(),
            // Bytes at the very end of four gibibytes.
            InputSource::Data(span) => span.of(self.data()).unwrap_or_default(),
        }
    }

    /// The place of a result as long as the input, from byte `first` on; nothing past its end.
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

    /// How far apart records lie that follow each other in the batch, where the batch says so; None for any others.
    #[inline(always)]
    pub(crate) fn strides(&self, records: &[RecordRef; LANES]) -> Option<Strides> {
        let [first, .., last] = records;
        self.equal.map(|equal| equal.strides).filter(|_| last.index == first.index + (LANES as u32 - 1))
    }

    /// Where a record's output starts, unless it is a slot.
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

    /// The place of a record's output; of no length where it is a slot.
    #[inline(always)]
    pub(crate) fn output_span(&self, record: RecordRef) -> Span {
        match self.output(record) {
            OutputSink::Output(span) => span,
            OutputSink::Slot(_) => Span::default(),
        }
    }

    /// Where a record's output goes.
    #[inline(always)]
    pub(crate) fn output(&self, record: RecordRef) -> OutputSink {
        self.output.at(record.index)
    }

    #[inline(always)]
    fn secret_of(&self, source: KeySource) -> Option<&'a [u8]> {
        match source {
            KeySource::Table(index) if self.keys.is_empty() => {
                self.records.keys.get(index as usize).map(secret)
            }
            KeySource::Table(index) => self.keys.get(index as usize).copied(),
            KeySource::Slot(slot) => self.records.slots.get(slot),
        }
    }

    /// Accepts the records of a window. Records that cannot be computed get their status; the others stay pending. Meanwhile the
    /// bytes that accepted records read and write are fetched into the cache.
    fn accept(
        &self,
        window: Range<usize>,
        ordered: &mut OrderedRecords,
        out: &mut PartMut<'_>,
        steps: impl Fn(usize) -> usize,
    ) {
        let at_once = self.accept_equal(&window, ordered, out);
        if at_once.or_else(|| self.accept_plain(&window, ordered, out, steps)).is_some() {
            return;
        }
        ordered.clear();
        let first = window.start as u32;
        for (index, status) in (first..).zip(&mut out.statuses[window]) {
            let plain = match (self.plain_key(index), &self.equal) {
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

    /// Accepts the records of a window at once where all lie a stride apart and all their keys will do.
    fn accept_equal(
        &self,
        window: &Range<usize>,
        ordered: &mut OrderedRecords,
        out: &PartMut<'_>,
    ) -> Option<()> {
        let places = self.equal?;
        let keys = self.key.values()?.get(window.clone())?;
        let mut all_will_do = self.plain_keys > 0;
        for ((place, index), key) in ordered.equal(keys.len()).iter_mut().zip(window.start as u32..).zip(keys)
        {
            let (KeySource::Table(number) | KeySource::Slot(number)) = *key;
            // Every key is looked at, so that the loop has no branch.
            all_will_do &= matches!(key, KeySource::Table(_)) & (number < self.plain_keys);
            *place = places.record(index, number);
        }
        if !all_will_do {
            return None;
        }
        // While these are computed, what the next window reads and writes is brought near.
        let next = |start: u32, stride: u32| {
            let bytes = stride.saturating_mul(keys.len() as u32);
            let start = start.saturating_add(bytes);
            (start..start.saturating_add(bytes)).step_by(LINE)
        };
        let first = places.record(window.start as u32, 0);
        next(first.input, places.strides.input).for_each(|at| fetch_ahead(self.data(), at));
        next(first.output, places.strides.output).for_each(|at| fetch_ahead(out.output, at));
        Some(())
    }

    /// Accepts the records of a window at once, in order, where all are plainly good and each says where it lies.
    fn accept_plain(
        &self,
        window: &Range<usize>,
        ordered: &mut OrderedRecords,
        out: &PartMut<'_>,
        steps: impl Fn(usize) -> usize,
    ) -> Option<()> {
        let rule = self.rule.filter(FastRule::is_tagless)?;
        let keys = self.key.values()?.get(window.clone())?;
        let inputs = self.input.values()?.get(window.clone())?;
        let outputs = self.output.values()?.get(window.clone())?;
        let (mut together, mut last_key) = (rule.together(), 0);
        let mut counts = StepCounts::default();
        for ((key, input), output) in keys.iter().zip(inputs).zip(outputs) {
            let (key, input, output) = in_memory(*key, *input, *output)?;
            fetch_ahead(self.data(), input.start);
            fetch_ahead(out.output, output.start);
            last_key = last_key.max(key);
            together.add(input, output);
            counts.add(steps(input.len as usize));
        }
        let mut ivs = window.clone().map(|index| self.iv.at(index as u32));
        let do_ivs_fit = match self.iv.stride() {
            Some(_) => [ivs.next(), ivs.next_back()].into_iter().flatten().all(|iv| rule.fits_iv(iv)),
            None => ivs.all(|iv| rule.fits_iv(iv)),
        };
        if last_key >= self.plain_keys || !do_ivs_fit || !together.fit() {
            return None;
        }
        let mut ordered = ordered.counted(&counts);
        for (((index, key), input), output) in (window.start as u32..).zip(keys).zip(inputs).zip(outputs) {
            let (key, Span { start, len }, output) = in_memory(*key, *input, *output)?;
            let iv = self.iv.at(index).start;
            let record = RecordRef { index, len, input: start, output: output.start, iv, key };
            ordered.insert(record, steps(len as usize));
        }
        Some(())
    }

    /// A record that is plainly good with this key, and everything in the caller's memory.
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

    /// The number of a record's key, where it lies in the table and will do.
    #[inline(always)]
    fn plain_key(&self, index: u32) -> Option<u32> {
        match self.key.at(index) {
            KeySource::Table(key) if self.is_plain_key(key) => Some(key),
            _ => None,
        }
    }

    #[inline(always)]
    fn is_plain_key(&self, key: u32) -> bool {
        match self.keys.is_empty() {
            false => key < self.plain_keys,
            true => {
                let len = self.records.keys.get(key as usize).and_then(Key::secret).map(SecretBytes::len);
                self.rule.is_some_and(|rule| rule.takes_key(len))
            }
        }
    }

    /// Any record, by the rules of the contract.
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
        let len = u32::try_from(record.input.len()).map_err(|_| Status::BadLength)?;
        Ok(RecordRef { index, len, input, output, iv: self.iv.at(index).start, key })
    }
}

/// The key, the input and the output of a record that has nothing in slots.
#[inline(always)]
fn in_memory(key: KeySource, input: InputSource, output: OutputSink) -> Option<(u32, Span, Span)> {
    let (KeySource::Table(key), InputSource::Data(input), OutputSink::Output(output)) = (key, input, output)
    else {
        return None;
    };
    Some((key, input, output))
}

/// Bytes of a line of the caches.
const LINE: usize = 64;

fn secret(key: &Key) -> &[u8] {
    key.secret().map(SecretBytes::expose).unwrap_or_default()
}
