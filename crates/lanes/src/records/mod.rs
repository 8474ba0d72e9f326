//! From columns of records to groups of lanes.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | the walk over a run: windows of records, accepted and in order of length |
//! | `columns` | columns that are read at random: one value, or a slice |
//! | `order` | longest first, in linear time |
//! | `plain` | records that a few comparisons show to be good |
//!
//! Reading parameters is a good part of what a short operation costs, so records that are plainly good are told by a few comparisons;
//! about all others [`Records::record`] decides, which knows every rule.

mod columns;
mod order;
mod plain;

use std::ops::Range;

use oarlock_core::{
    EngineFault, Key, KeySource, Outcomes, PartMut, Records, SecretBytes, Shape, Sink, Source, Span, Status,
};

use crate::engine::failed;
use columns::Flat;
use order::Ordered;
use plain::PlainRule;

/// Records that are put in order of length together: enough that groups of 512 lanes of mixed lengths waste few of their steps,
/// few enough that their order stays in the second cache.
const WINDOW: usize = 4096;

/// A record that can be computed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accepted {
    /// Its index in the part.
    pub(crate) index: u32,
    /// Bytes of its input.
    pub(crate) len: u32,
    /// Where its input starts in the data, or [`ELSEWHERE`].
    input: u32,
    /// Where its output starts, or [`ELSEWHERE`].
    output: u32,
}

/// The input or the output is a slot. No span of any byte starts there.
const ELSEWHERE: u32 = u32::MAX;

/// How the records of a shape are worked upon.
pub(crate) trait Work {
    /// The shape.
    fn shape(&self) -> Shape;

    /// What a record of so many bytes costs, for putting records of like cost side by side.
    fn steps(&self, len: usize) -> usize;

    /// Looks at what all records of a part share.
    fn begin(&mut self, part: &Part<'_>);

    /// Computes accepted records in any order, writes their results and sets the status of those that end otherwise than done.
    fn compute(&mut self, part: &Part<'_>, records: &[Accepted], out: &mut PartMut<'_>);
}

/// Computes every record of every part into `out`.
pub(crate) fn run(
    work: &mut impl Work,
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
        run_part(work, &Part::new(work.shape(), records), &mut out);
    }
    Ok(())
}

fn run_part(work: &mut impl Work, part: &Part<'_>, out: &mut PartMut<'_>) {
    let mut ordered = Ordered::with_capacity(part.len().min(WINDOW));
    work.begin(part);
    for first in (0..part.len()).step_by(WINDOW) {
        let window = first..part.len().min(first + WINDOW);
        part.accept(window, &mut ordered, out.statuses);
        let records = ordered.longest_first(|len| work.steps(len));
        work.compute(part, records, out);
    }
}

/// The records of one part, each column readable at random.
pub(crate) struct Part<'a> {
    shape: Shape,
    records: &'a Records<'a>,
    /// The bytes of each key where there are fewer keys than records; else they are looked up one by one.
    keys: Vec<&'a [u8]>,
    key: Flat<'a, KeySource>,
    second_key: Flat<'a, KeySource>,
    iv: Flat<'a, Span>,
    second_iv: Flat<'a, Span>,
    aad: Flat<'a, Span>,
    tag: Flat<'a, Span>,
    input: Flat<'a, Source>,
    output: Flat<'a, Sink>,
    /// What a plainly good record satisfies.
    rule: Option<PlainRule>,
    /// Keys of `keys` that all will do for that; none where one does not.
    plain_keys: u32,
}

impl<'a> Part<'a> {
    fn new(shape: Shape, records: &'a Records<'a>) -> Self {
        let recur = records.keys.len() < records.len;
        let keys: Vec<_> = if recur { records.keys.iter().map(secret).collect() } else { Vec::new() };
        let rule = PlainRule::of(shape, records);
        let all_will_do = rule.is_some_and(|rule| {
            let mut lens = records.keys.iter().map(|key| key.secret().map(SecretBytes::len));
            recur && lens.all(|len| rule.takes_key(len))
        });
        Self {
            shape,
            records,
            rule,
            plain_keys: if all_will_do { keys.len() as u32 } else { 0 },
            keys,
            key: Flat::new(&records.key, records.len),
            second_key: Flat::new(&records.second_key, records.len),
            iv: Flat::new(&records.iv, records.len),
            second_iv: Flat::new(&records.second_iv, records.len),
            aad: Flat::new(&records.aad, records.len),
            tag: Flat::new(&records.tag, records.len),
            input: Flat::new(&records.input, records.len),
            output: Flat::new(&records.output, records.len),
        }
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
    pub(crate) fn key(&self, record: Accepted) -> KeySource {
        self.key.at(record.index)
    }

    /// The bytes of a record's key.
    #[inline(always)]
    pub(crate) fn key_bytes(&self, record: Accepted) -> &'a [u8] {
        self.secret_of(self.key.at(record.index)).unwrap_or_default()
    }

    /// The bytes of the second key of a translation.
    #[inline(always)]
    pub(crate) fn second_key_bytes(&self, record: Accepted) -> &'a [u8] {
        self.secret_of(self.second_key.at(record.index)).unwrap_or_default()
    }

    /// Where a record's IV, or its chaining state, lies in the data.
    #[inline(always)]
    pub(crate) fn iv_span(&self, record: Accepted) -> Span {
        self.iv.at(record.index)
    }

    /// Where the IV of the encrypting half of a translation lies in the data.
    #[inline(always)]
    pub(crate) fn second_iv_span(&self, record: Accepted) -> Span {
        self.second_iv.at(record.index)
    }

    /// Where a record's associated data lies in the data.
    #[inline(always)]
    pub(crate) fn aad_span(&self, record: Accepted) -> Span {
        self.aad.at(record.index)
    }

    /// Where a record's tag lies: in the output when encrypting, in the data when decrypting.
    #[inline(always)]
    pub(crate) fn tag_span(&self, record: Accepted) -> Span {
        self.tag.at(record.index)
    }

    /// The buffer of spans.
    #[inline(always)]
    pub(crate) fn data(&self) -> &'a [u8] {
        &self.records.data
    }

    /// A record's input from byte `first` on; nothing where it has ended.
    #[inline(always)]
    pub(crate) fn input(&self, record: Accepted, first: usize) -> &'a [u8] {
        let (start, len) = (record.input as usize, record.len as usize);
        let whole = match record.input {
            ELSEWHERE => return self.slot_input(record).get(first..).unwrap_or_default(),
            _ => self.data().get(start + first.min(len)..start + len),
        };
        whole.unwrap_or_default()
    }

    #[cold]
    fn slot_input(&self, record: Accepted) -> &'a [u8] {
        match self.input.at(record.index) {
            Source::Slot(slot) => self.records.slots.get(slot).unwrap_or_default(),
            // Bytes at the very end of four gibibytes.
            Source::Data(span) => span.of(self.data()).unwrap_or_default(),
        }
    }

    /// The place of a result as long as the input, from byte `first` on; nothing past its end.
    #[inline(always)]
    pub(crate) fn place<'o>(&self, record: Accepted, first: usize, out: &'o mut PartMut<'_>) -> &'o mut [u8] {
        let (start, len) = (record.output as usize, record.len as usize);
        match record.output {
            ELSEWHERE => {
                let place = out.place(self.output(record), len).unwrap_or_default();
                place.get_mut(first..).unwrap_or_default()
            }
            _ => out.output.get_mut(start + first.min(len)..start + len).unwrap_or_default(),
        }
    }

    /// Where a record's output goes.
    #[inline(always)]
    pub(crate) fn output(&self, record: Accepted) -> Sink {
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

    /// Accepts the records of a window; those that cannot be computed get their status. The others get theirs too, so that it is
    /// written where what follows is done.
    fn accept(&self, window: Range<usize>, ordered: &mut Ordered, statuses: &mut [Status]) {
        ordered.clear();
        let first = window.start as u32;
        for (index, status) in (first..).zip(&mut statuses[window]) {
            *status = match self.plain(index).map_or_else(|| self.any(index), Ok) {
                Ok(accepted) => {
                    ordered.push(accepted);
                    Status::Done
                }
                Err(status) => status,
            };
        }
    }

    /// A record that is plainly good, with everything in the caller's memory.
    #[inline(always)]
    fn plain(&self, index: u32) -> Option<Accepted> {
        let (KeySource::Table(key), Source::Data(input), Sink::Output(output)) =
            (self.key.at(index), self.input.at(index), self.output.at(index))
        else {
            return None;
        };
        let rule = self.rule?;
        let is_plain = self.is_plain_key(key)
            && rule.fits(self.iv.at(index), input, output)
            && rule.fits_tag(
                #[inline(always)]
                || [self.aad.at(index), self.tag.at(index)],
            );
        is_plain.then_some(Accepted { index, len: input.len, input: input.start, output: output.start })
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
    fn any(&self, index: u32) -> Result<Accepted, Status> {
        let record = self.records.record(self.shape, index as usize)?;
        let input = match self.input.at(index) {
            Source::Data(span) => span.start,
            Source::Slot(_) => ELSEWHERE,
        };
        let output = match record.output {
            Sink::Output(span) => span.start,
            Sink::Slot(_) => ELSEWHERE,
        };
        let len = u32::try_from(record.input.len()).map_err(|_| Status::BadLength)?;
        Ok(Accepted { index, len, input, output })
    }
}

fn secret(key: &Key) -> &[u8] {
    key.secret().map(SecretBytes::expose).unwrap_or_default()
}
