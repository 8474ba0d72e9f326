//! Acceptance of records, for engines that compute many of them in one call.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`RecordPart`]: the records of a part with random access, and the acceptance of a window |
//! | `equal` | records of equal length at a constant stride |
//! | `columns` | columns with random access: one value, or a slice |
//! | `order` | accepted records, longest first, in linear time |
//! | `fast_rule` | a fast check with a few comparisons |
//!
//! Reading parameters is a large part of the cost of a short operation. So a few comparisons accept ordinary
//! records, and the check of [`Records::resolve_row`], which knows every rule, decides about the others.

mod columns;
mod equal;
mod fast_rule;
mod order;
#[cfg(test)]
mod tests;

use std::fmt;
use std::iter::repeat_n;
use std::ops::Range;

use oarlock_core::{
    InputSource, Key, KeySource, OutcomeWriter, OutputSink, RecordRow, Records, SecretBytes, SecretSlots,
    Shape, Span, Status,
};

use columns::FlatColumn;
use equal::EqualRecords;
pub use equal::{EqualFields, Strides};
use fast_rule::FastRule;
use order::StepCounts;
pub use order::{OrderedRecords, StepRule};

/// A reference to a record that was accepted.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordRef {
    /// The index in the part.
    pub index: u32,
    /// The length of the input in bytes.
    pub len: u32,
    /// The start of the input in the data, or `u32::MAX` if it is in a slot.
    pub input: u32,
    /// The start of the output, or `u32::MAX` if it is a slot.
    pub output: u32,
    /// The start of the IV in the data.
    pub iv: u32,
    /// The index of the key in the table, or `u32::MAX` if it is in a slot.
    pub key: u32,
}

impl RecordRef {
    /// Returns the same record without input.
    #[must_use]
    #[inline]
    pub fn emptied(self) -> Self {
        Self { len: 0, ..self }
    }
}

/// Marks an input, output or key in a slot. No span with a byte starts at this offset.
const ELSEWHERE: u32 = u32::MAX;

/// The records of one part, with random access to each column.
///
/// An engine accepts the records of one window after the other with [`RecordPart::accept`]. Then it computes the
/// accepted ones and reads their values by index. A record that was not accepted has its status already.
pub struct RecordPart<'a> {
    shape: Shape,
    records: &'a Records<'a>,
    /// The bytes of each key, if keys recur and the engine reads them. Otherwise empty, and keys are looked up one by
    /// one.
    keys: Vec<&'a [u8]>,
    /// True if there are at most two keys for each record, so that one pass over all of them pays.
    do_keys_recur: bool,
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
    /// The number of keys if they recur and all pass the fast check, and zero otherwise.
    valid_keys: u32,
    /// The layout of records of equal length at a constant stride, if all pass the fast check but for their keys.
    equal: Option<EqualRecords>,
}

impl<'a> RecordPart<'a> {
    /// Reads the columns of `records`. Every column must cover every record, as [`Records::is_complete`] or
    /// [`Records::covered`] states.
    #[must_use]
    pub fn new(shape: Shape, records: &'a Records<'a>) -> Self {
        let mut part = Self::without_key_bytes(shape, records);
        if part.do_keys_recur {
            part.keys = records.keys.iter().map(secret).collect();
        }
        part
    }

    /// As [`RecordPart::new`], for an engine that keeps prepared keys: reads no list of the keys' bytes.
    #[must_use]
    pub fn without_key_bytes(shape: Shape, records: &'a Records<'a>) -> Self {
        // A table of all keys pays if each is used at least about half a time; a huge key table with few records
        // must not be walked.
        let do_keys_recur = !records.keys.is_empty() && records.keys.len() <= 2 * records.len;
        let rule = FastRule::for_shape(shape, records);
        let are_keys_valid = rule.is_some_and(|rule| {
            let mut lens = records.keys.iter().map(|key| key.secret().map(SecretBytes::len));
            do_keys_recur && lens.all(|len| rule.accepts_key(len))
        });
        let mut part = Self {
            shape,
            records,
            rule,
            valid_keys: if are_keys_valid { records.keys.len() as u32 } else { 0 },
            keys: Vec::new(),
            do_keys_recur,
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

    /// Returns the same records, read as another shape. Records that were accepted must have lengths that fit it too.
    #[must_use]
    pub fn read_as(&self, shape: Shape) -> Self {
        Self::new(shape, self.records)
    }

    /// Returns the secret slots that keys and inputs can come from.
    #[must_use]
    #[inline]
    pub fn slots(&self) -> &'a SecretSlots {
        &self.records.slots
    }

    /// Returns the layout of records at a constant stride. All of them are in bounds if the first and the last are.
    fn equal_records(&self) -> Option<EqualRecords> {
        // One record is checked once, when it is accepted.
        let last = u32::try_from(self.len().checked_sub(1)?).ok().filter(|last| *last > 0)?;
        let strides =
            Strides { input: self.input.stride()?, output: self.output.stride()?, iv: self.iv.stride()? };
        // Both columns must have a constant stride too, because the check of the first and the last record covers
        // them.
        self.aad.even().and(self.tag.even())?;
        // Key 0 stands for any: keys are compared record by record when a window is accepted.
        let first = self.fit_record(0, 0)?;
        self.fit_record(last, 0)?;
        let output_len = self.output_span(first).len;
        let (iv_len, aad, tag) = (self.iv.at(0).len, self.aad.even()?, self.tag.even()?);
        Some(EqualRecords { first, strides, iv_len, output_len, aad, tag })
    }

    /// Returns the number of records.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.records.len
    }

    /// True if there is no record.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.records.len == 0
    }

    /// Returns the length of each record if all have the same length and a constant stride, but for records with bad
    /// keys.
    #[must_use]
    #[inline]
    pub fn equal_len(&self) -> Option<usize> {
        self.equal.map(|equal| equal.first.len as usize)
    }

    /// True if results of equal records fill the output without gaps, so that a run which writes all of them writes
    /// every byte.
    #[must_use]
    pub fn fills_output(&self) -> bool {
        let has_tags = self.rule.is_some_and(|rule| rule.has_tags_in_output());
        self.equal.is_some_and(|equal| equal.fills(self.len(), self.records.output_len, has_tags))
    }

    /// Writes zeros in place of the result of a record that failed, and of its tag.
    pub fn erase_result(&self, index: u32, out: &mut OutcomeWriter<'_>) {
        out.wipe(self.output.at(index));
        if self.rule.is_some_and(|rule| rule.has_tags_in_output()) {
            out.wipe(OutputSink::Output(self.tag.at(index)));
        }
    }

    /// Returns the fields of accepted records if all have the same length and a constant stride.
    #[must_use]
    #[inline]
    pub fn equal_fields(&self) -> Option<EqualFields<'_>> {
        self.equal.as_ref().map(|records| EqualFields { data: self.data(), records })
    }

    /// Returns the bytes of each key of the table if keys recur, and an empty list otherwise. A key that is not
    /// symmetric has no bytes.
    #[must_use]
    #[inline]
    pub fn recurring_keys(&self) -> &[&'a [u8]] {
        &self.keys
    }

    /// Returns the handles of the key table.
    #[must_use]
    #[inline]
    pub fn key_table(&self) -> &'a [Key] {
        &self.records.keys
    }

    /// Returns true if keys or inputs can come from slots.
    #[must_use]
    #[inline]
    pub fn has_slots(&self) -> bool {
        !self.records.slots.is_empty()
    }

    /// Returns the source of the key of the record at an index.
    #[must_use]
    #[inline(always)]
    pub fn key_at(&self, index: u32) -> KeySource {
        self.key.at(index)
    }

    /// Returns the bytes of a record's key.
    #[must_use]
    #[inline(always)]
    pub fn key_bytes(&self, record: RecordRef) -> &'a [u8] {
        self.secret_of(self.key.at(record.index)).unwrap_or_default()
    }

    /// Returns the source of the second key of a translation or a chain.
    #[must_use]
    #[inline(always)]
    pub fn second_key(&self, record: RecordRef) -> KeySource {
        self.second_key.at(record.index)
    }

    /// Returns the bytes of the second key of a translation or a chain.
    #[must_use]
    #[inline(always)]
    pub fn second_key_bytes(&self, record: RecordRef) -> &'a [u8] {
        self.secret_of(self.second_key.at(record.index)).unwrap_or_default()
    }

    /// Returns the span of a record's IV, or of its chaining state.
    #[must_use]
    #[inline(always)]
    pub fn iv_span(&self, record: RecordRef) -> Span {
        self.iv.at(record.index)
    }

    /// Returns the span of the IV of the encrypting half of a translation.
    #[must_use]
    #[inline(always)]
    pub fn second_iv_span(&self, record: RecordRef) -> Span {
        self.second_iv.at(record.index)
    }

    /// Returns the span of a record's associated data, which is [`Span::ABSENT`] if there is none.
    #[must_use]
    #[inline(always)]
    pub fn aad_span(&self, record: RecordRef) -> Span {
        self.aad.at(record.index)
    }

    /// Returns the span of a record's tag: in the output for encryption, in the data for decryption.
    #[must_use]
    #[inline(always)]
    pub fn tag_span(&self, record: RecordRef) -> Span {
        self.tag.at(record.index)
    }

    /// Returns the buffer that spans refer to.
    #[must_use]
    #[inline(always)]
    pub fn data(&self) -> &'a [u8] {
        &self.records.data
    }

    /// Returns a record's input from byte `first` on, or an empty slice past its end.
    #[must_use]
    #[inline(always)]
    pub fn input(&self, record: &RecordRef, first: usize) -> &'a [u8] {
        let (start, len) = (record.input as usize, record.len as usize);
        let whole = match record.input {
            ELSEWHERE => return self.slot_input(record.index).get(first..).unwrap_or_default(),
            _ => self.data().get(start + first.min(len)..start + len),
        };
        whole.unwrap_or_default()
    }

    /// Returns the data from byte `first` of a record's input on.
    #[must_use]
    #[inline(always)]
    pub fn input_and_beyond(&self, record: &RecordRef, first: usize) -> &'a [u8] {
        self.data().get(record.input as usize + first..).unwrap_or_default()
    }

    #[cold]
    fn slot_input(&self, index: u32) -> &'a [u8] {
        match self.input.at(index) {
            InputSource::Slot(slot) => self.records.slots.get(slot).unwrap_or_default(),
            // An empty input can start at offset 2^32 - 1, which equals the mark.
            InputSource::Data(span) => span.slice(self.data()).unwrap_or_default(),
        }
    }

    /// Returns the output of a result as long as the input, from byte `first` on, or an empty slice past its end.
    #[inline(always)]
    pub fn output_bytes<'o>(
        &self,
        record: &RecordRef,
        first: usize,
        out: &'o mut OutcomeWriter<'_>,
    ) -> &'o mut [u8] {
        let (start, len) = (record.output as usize, record.len as usize);
        match record.output {
            ELSEWHERE => {
                let output = out.result_mut(self.output(*record), len).unwrap_or_default();
                output.get_mut(first..).unwrap_or_default()
            }
            _ => out.output.get_mut(start + first.min(len)..start + len).unwrap_or_default(),
        }
    }

    /// Returns the strides of accepted records that follow each other in the batch. The result is None if they do
    /// not, if there are none, or if the batch has no constant stride. The records must be in the order of the batch.
    #[must_use]
    #[inline(always)]
    pub fn strides(&self, records: &[RecordRef]) -> Option<Strides> {
        let (first, last) = (records.first()?, records.last()?);
        let count = last.index.wrapping_sub(first.index) as usize;
        self.equal.map(|equal| equal.strides).filter(|_| count == records.len() - 1)
    }

    /// Returns the start of a record's output, or None if it is a slot.
    #[must_use]
    #[inline(always)]
    pub fn output_start(&self, record: RecordRef) -> Option<usize> {
        match record.output {
            ELSEWHERE => match self.output(record) {
                OutputSink::Output(span) => Some(span.start as usize),
                OutputSink::Slot(_) => None,
            },
            start => Some(start as usize),
        }
    }

    /// Returns the span of a record's output, or an empty span if it is a slot.
    #[must_use]
    #[inline(always)]
    pub fn output_span(&self, record: RecordRef) -> Span {
        match self.output(record) {
            OutputSink::Output(span) => span,
            OutputSink::Slot(_) => Span::default(),
        }
    }

    /// Returns the destination of a record's output.
    #[must_use]
    #[inline(always)]
    pub fn output(&self, record: RecordRef) -> OutputSink {
        self.output.at(record.index)
    }

    /// Returns the bytes of a key, or None if it does not exist or is not symmetric.
    #[must_use]
    #[inline(always)]
    pub fn secret_of(&self, source: KeySource) -> Option<&'a [u8]> {
        match source {
            // An index past the table gives no bytes; the check of the record has refused it.
            KeySource::Table(index) if self.keys.is_empty() => {
                self.records.keys.get(index as usize).map(secret)
            }
            KeySource::Table(index) => self.keys.get(index as usize).copied(),
            KeySource::Slot(slot) => self.records.slots.get(slot),
        }
    }

    /// Accepts the records of a window, whose statuses must be pending. Records that cannot be computed get their
    /// status; the others stay pending.
    ///
    /// `steps` is the rule by which `ordered` sorts. `fetch` is called for bytes that accepted records read and write,
    /// with the buffer and an offset, which may be out of bounds. It can fetch them into the cache.
    pub fn accept(
        &self,
        window: Range<usize>,
        ordered: &mut OrderedRecords,
        out: &mut OutcomeWriter<'_>,
        steps: StepRule,
        fetch: impl Fn(&[u8], u32),
    ) {
        ordered.order_by(steps);
        let at_once = self.accept_equal(&window, ordered, out, &fetch);
        if at_once.or_else(|| self.accept_values(&window, ordered, out, steps, &fetch)).is_some() {
            return;
        }
        ordered.clear();
        let mut take = |accepted: RecordRef| {
            fetch(self.data(), accepted.input);
            fetch(out.output, accepted.output);
            ordered.push(accepted);
        };
        let first = window.start as u32;
        for (index, status) in (first..).zip(&mut out.statuses[window]) {
            // Two calls, because a record that can come from either check would pass through memory.
            if let Some(accepted) = self.accept_plain(index) {
                take(accepted);
                continue;
            }
            match self.check_fully(index) {
                Ok(accepted) => take(accepted),
                Err(rejected) => *status = rejected,
            }
        }
    }

    /// Accepts one record, or returns its status.
    ///
    /// # Errors
    /// The status of a record that cannot be computed.
    #[inline]
    pub fn accept_one(&self, index: u32) -> Result<RecordRef, Status> {
        self.accept_plain(index).map_or_else(|| self.check_fully(index), Ok)
    }

    /// Returns a record if it passes the fast check.
    #[inline(always)]
    fn accept_plain(&self, index: u32) -> Option<RecordRef> {
        match (self.valid_key(index), &self.equal) {
            (Some(key), Some(equal)) => Some(equal.record(index, key)),
            (Some(key), None) => self.fit_record(index, key),
            (None, _) => None,
        }
    }

    /// Accepts all records of a window at once if they have a constant stride and all their keys pass the fast
    /// check, or if they share one that does.
    fn accept_equal(
        &self,
        window: &Range<usize>,
        ordered: &mut OrderedRecords,
        out: &OutcomeWriter<'_>,
        fetch: impl Fn(&[u8], u32),
    ) -> Option<()> {
        let equal = self.equal?;
        let list = ordered.equal(window.len()).iter_mut().zip(window.start as u32..);
        if let Some(key) = self.shared_key() {
            list.for_each(|(slot, index)| *slot = equal.record(index, key));
            self.fetch_next(window, &equal, out, fetch);
            return Some(());
        }
        let keys = self.key.values()?.get(window.clone())?;
        let mut are_keys_valid = self.valid_keys > 0;
        for ((slot, index), key) in list.zip(keys) {
            let (KeySource::Table(number) | KeySource::Slot(number)) = *key;
            // Looks at every key even after a failure, so that the loop has no branch.
            are_keys_valid &= matches!(key, KeySource::Table(_)) & (number < self.valid_keys);
            *slot = equal.record(index, number);
        }
        if !are_keys_valid {
            return None;
        }
        self.fetch_next(window, &equal, out, fetch);
        Some(())
    }

    /// Returns the valid key that all records share, or 0 if the shape has no key.
    fn shared_key(&self) -> Option<u32> {
        // The column of keys can hold anything if the shape has none.
        if self.rule?.is_keyless() {
            return Some(0);
        }
        self.key.stride().filter(|stride| *stride == 0).and_then(|_| self.valid_key(0))
    }

    /// Prefetches what the next window reads and writes; the loads run while this window is computed.
    fn fetch_next(
        &self,
        window: &Range<usize>,
        equal: &EqualRecords,
        out: &OutcomeWriter<'_>,
        fetch: impl Fn(&[u8], u32),
    ) {
        let next = |start: u32, stride: u32| {
            // Long records would leave the cache before they are read. Their kernels prefetch by themselves.
            let bytes = if stride > MAX_FETCHED { 0 } else { stride.saturating_mul(window.len() as u32) };
            let start = start.saturating_add(bytes);
            (start..start.saturating_add(bytes)).step_by(LINE)
        };
        let first = equal.record(window.start as u32, 0);
        next(first.input, equal.strides.input).for_each(|at| fetch(self.data(), at));
        next(first.output, equal.strides.output).for_each(|at| fetch(out.output, at));
    }

    /// Accepts all records of a window at once, in order, if all pass the fast check and each has its own values.
    fn accept_values(
        &self,
        window: &Range<usize>,
        ordered: &mut OrderedRecords,
        out: &OutcomeWriter<'_>,
        steps: StepRule,
        fetch: impl Fn(&[u8], u32),
    ) -> Option<()> {
        let rule = self.rule.filter(FastRule::is_tagless)?;
        if let Some(key) = self.shared_key() {
            let keys = repeat_n(KeySource::Table(key), window.len());
            return self.accept_with_keys(rule, keys, key + 1, window, ordered, out, steps, fetch);
        }
        let keys = self.key.values()?.get(window.clone())?.iter().copied();
        self.accept_with_keys(rule, keys, self.valid_keys, window, ordered, out, steps, fetch)
    }

    /// As [`RecordPart::accept_values`], with one key for each record, which must be among the first `valid_keys`.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "one function for records with and without keys")]
    fn accept_with_keys(
        &self,
        rule: FastRule,
        keys: impl Iterator<Item = KeySource> + Clone,
        valid_keys: u32,
        window: &Range<usize>,
        ordered: &mut OrderedRecords,
        out: &OutcomeWriter<'_>,
        steps: StepRule,
        fetch: impl Fn(&[u8], u32),
    ) -> Option<()> {
        let inputs = self.input.values()?.get(window.clone())?;
        let outputs = self.output.values()?.get(window.clone())?;
        let (mut together, mut last_key) = (rule.together(), 0);
        let mut counts = StepCounts::default();
        for ((key, input), output) in keys.clone().zip(inputs).zip(outputs) {
            let (key, input, output) = in_memory(key, *input, *output)?;
            fetch(self.data(), input.start);
            fetch(out.output, output.start);
            last_key = last_key.max(key);
            together.add(input, output);
            counts.add_len(steps, input.len);
        }
        let mut ivs = window.clone().map(|index| self.iv.at(index as u32));
        // At a constant stride the first and the last IV decide for all.
        let do_ivs_fit = match self.iv.stride() {
            Some(_) => [ivs.next(), ivs.next_back()].into_iter().flatten().all(|iv| rule.fits_iv(iv)),
            None => ivs.all(|iv| rule.fits_iv(iv)),
        };
        // All comparisons come after the loop, so that the loop over the records has no branch.
        if last_key >= valid_keys || !do_ivs_fit || !together.fit() {
            return None;
        }
        // Counted in the loop above, so the list is sorted by one pass that puts each record into its place.
        let mut ordered = ordered.counted(&counts);
        for (((index, key), input), output) in (window.start as u32..).zip(keys).zip(inputs).zip(outputs) {
            let (key, Span { start, len }, output) = in_memory(key, *input, *output)?;
            let iv = self.iv.at(index).start;
            let record = RecordRef { index, len, input: start, output: output.start, iv, key };
            ordered.insert(record);
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
        // A table may have keys of other algorithms too, so one that is not known to be valid is looked at.
        if key < self.valid_keys {
            return true;
        }
        let len = self.records.keys.get(key as usize).and_then(Key::secret).map(SecretBytes::len);
        self.rule.is_some_and(|rule| rule.accepts_key(len))
    }

    /// Checks a record by all rules of the contract.
    #[cold]
    fn check_fully(&self, index: u32) -> Result<RecordRef, Status> {
        let row = RecordRow {
            key: self.key.at(index),
            second_key: self.second_key.at(index),
            iv: self.iv.at(index),
            second_iv: self.second_iv.at(index),
            aad: self.aad.at(index),
            input: self.input.at(index),
            output: self.output.at(index),
            tag: self.tag.at(index),
        };
        let record = self.records.resolve_row(self.shape, row)?;
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

#[inline]
fn secret(key: &Key) -> &[u8] {
    key.secret().map(SecretBytes::expose).unwrap_or_default()
}

/// Shows lengths only, because the records refer to secrets.
impl fmt::Debug for RecordPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordPart({} of {} records)", self.shape, self.records.len)
    }
}
