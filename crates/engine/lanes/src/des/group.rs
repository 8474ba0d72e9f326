//! As many records side by side as a vector has bits: the path of their bytes into rows and back.

use oarlock_core::OutcomeWriter;
use zeroize::{Zeroize, Zeroizing};

use super::bits::{BITS, transpose};
use super::schedule::DesSchedule;
use crate::records::{RecordPart, RecordRef};
use crate::simd::{LaneArray, LaneValues, Simd, Vector, fetch_ahead};

/// The bytes of a block.
pub(super) const BLOCK: usize = 8;

/// One bit of all blocks in each vector, or a whole block of each lane.
pub(super) type Rows<V> = [V; BITS];

/// The blocks of each record that are read at once: a vector of them.
pub(super) type Chunk<V> = LaneValues<V, Rows<V>>;

/// Records side by side, longest first. Of vectors with `W` words, record `W g + w` is bit `g` of word `w`.
#[derive(Clone, Copy)]
pub(super) struct DesGroup<'a, 'p, V: Vector> {
    pub(super) part: &'a RecordPart<'p>,
    pub(super) records: &'a [RecordRef],
    /// The records that form whole rows.
    whole: &'a [LaneValues<V, RecordRef>],
    /// The records of a partly filled last row. Its other lanes repeat the first of them without bytes.
    rest: Option<LaneValues<V, RecordRef>>,
}

impl<'a, 'p, V: Vector> DesGroup<'a, 'p, V> {
    /// Divides accepted records into groups.
    pub(super) fn all(part: &'a RecordPart<'p>, records: &'a [RecordRef]) -> impl Iterator<Item = Self> {
        records.chunks(V::BITS).map(move |records| {
            let (whole, rest) = LaneArray::chunks(records);
            let rest = rest.first().map(|first| {
                let nothing = first.emptied();
                LaneArray::from_fn(|at| rest.get(at).copied().unwrap_or(nothing))
            });
            Self { part, records, whole, rest }
        })
    }

    /// Returns the records of a row, or None past the last row.
    #[inline(always)]
    fn row(&self, row: usize) -> Option<&LaneValues<V, RecordRef>> {
        let rest = || self.rest.as_ref().filter(|_| row == self.whole.len());
        self.whole.get(row).or_else(rest)
    }

    /// Returns the length of the longest record.
    pub(super) fn max_bytes(&self) -> usize {
        self.records.first().map_or(0, |record| record.len as usize)
    }

    /// Returns the length of the shortest record.
    pub(super) fn min_bytes(&self) -> usize {
        self.records.last().map_or(0, |record| record.len as usize)
    }

    /// Loads each record's IV in bitsliced form.
    pub(super) fn ivs<S: Simd<V = V>>(&self, simd: S, rows: &mut Rows<V>) {
        let data = self.part.data();
        self.each_row(
            simd,
            rows,
            #[inline(always)]
            |records| {
                let start = records[0].iv as usize;
                // IVs side by side are one load instead of one for each.
                match self.part.strides(records).filter(|strides| strides.iv as usize == BLOCK) {
                    Some(_) => simd.load_prefix(data.get(start..start + V::BYTES).unwrap_or_default()),
                    None => words(
                        simd,
                        data,
                        records,
                        #[inline(always)]
                        |record| record.iv,
                    ),
                }
            },
        );
    }

    /// Loads the IV of the encrypting half of each translation in bitsliced form.
    pub(super) fn second_ivs<S: Simd<V = V>>(&self, simd: S, rows: &mut Rows<V>) {
        self.gather(
            simd,
            rows,
            self.part.data(),
            #[inline(always)]
            |record| self.part.second_iv_span(record).start,
        );
    }

    /// Fills the key schedules of the records' keys. `table` holds all keys of the part; if it is empty, keys are
    /// looked up one by one.
    pub(super) fn schedules<S: Simd<V = V>>(
        &self,
        simd: S,
        rows: &mut Rows<V>,
        schedules: &mut [DesSchedule<V>],
        table: &[u8],
    ) {
        if table.is_empty() {
            return self.schedules_of(simd, rows, schedules, RecordPart::key_bytes);
        }
        // Wrapping arithmetic below: an offset past the table reads as zeros and never panics.
        let len = (BLOCK * schedules.len()) as u32;
        for (at, schedule) in schedules.iter_mut().enumerate() {
            self.gather(
                simd,
                rows,
                table,
                #[inline(always)]
                |record| record.key.wrapping_mul(len).wrapping_add((BLOCK * at) as u32),
            );
            schedule.fill(rows);
        }
    }

    /// Fills the key schedules of the keys that `key` returns: one schedule for each eight bytes.
    pub(super) fn schedules_of<S: Simd<V = V>>(
        &self,
        simd: S,
        rows: &mut Rows<V>,
        schedules: &mut [DesSchedule<V>],
        key: impl Fn(&RecordPart<'p>, RecordRef) -> &'p [u8],
    ) {
        let len = BLOCK * schedules.len();
        // Keys from slots lie anywhere, so they are copied side by side first. The capacity is exact: nothing moves.
        let mut keys = Zeroizing::new(vec![0; len * self.records.len()]);
        for (slot, record) in keys.chunks_exact_mut(len).zip(self.records) {
            slot.iter_mut().zip(key(self.part, *record)).for_each(|(to, from)| *to = *from);
        }
        for (at, schedule) in schedules.iter_mut().enumerate() {
            let mut starts = (BLOCK * at..).step_by(len);
            self.gather(
                simd,
                rows,
                &keys,
                #[inline(always)]
                |_| starts.next().map_or(u32::MAX, |start| start as u32),
            );
            schedule.fill(rows);
        }
    }

    /// Loads eight bytes of each record in bitsliced form, from the offset that `start` returns. Rows without a
    /// record become zeros.
    #[inline(always)]
    fn gather<S: Simd<V = V>>(
        &self,
        simd: S,
        rows: &mut Rows<V>,
        bytes: &[u8],
        mut start: impl FnMut(RecordRef) -> u32,
    ) {
        self.each_row(
            simd,
            rows,
            #[inline(always)]
            |records| words(simd, bytes, records, &mut start),
        );
    }

    /// Transposes the rows that `load` returns. Rows without a record become zeros.
    #[inline(always)]
    fn each_row<S: Simd<V = V>>(&self, simd: S, rows: &mut Rows<V>, mut load: impl FnMut(&[RecordRef]) -> V) {
        simd.call(
            #[inline(always)]
            || {
                for (at, row) in rows.iter_mut().enumerate() {
                    // Zeros and not what was there: rows without a record would otherwise show an earlier run's.
                    *row = match self.row(at) {
                        Some(records) => load(records.as_ref()),
                        None => simd.zero(),
                    };
                }
            },
        );
        transpose(simd, rows);
    }

    /// Reads one block of each record from byte `first` on, and zeros past the end of a record. Words that become lanes
    /// need no transposition, which [`DesGroup::read`] does.
    pub(super) fn read_block<S: Simd<V = V>>(&self, simd: S, rows: &mut Rows<V>, first: usize) {
        simd.call(
            #[inline(always)]
            || {
                for (at, row) in rows.iter_mut().enumerate() {
                    let Some(records) = self.row(at).map(AsRef::as_ref) else {
                        *row = simd.zero();
                        continue;
                    };
                    let mut words = simd.zero().words();
                    if let Some(strides) = self.part.strides(records) {
                        let input = self.part.input_and_beyond(&records[0], first);
                        for (at, word) in words.as_mut().iter_mut().enumerate() {
                            *word = word_at(input, at * strides.input as usize);
                        }
                    } else {
                        for (word, record) in words.as_mut().iter_mut().zip(records) {
                            *word = word_at(self.part.input(record, first), 0);
                        }
                    }
                    *row = simd.load(&words);
                }
            },
        );
    }

    /// Writes one block of each record from byte `first` on.
    pub(super) fn write_block<S: Simd<V = V>>(
        &self,
        simd: S,
        rows: &Rows<V>,
        first: usize,
        out: &mut OutcomeWriter<'_>,
    ) {
        simd.call(
            #[inline(always)]
            || {
                for (at, row) in rows.iter().enumerate() {
                    let Some(records) = self.row(at).map(AsRef::as_ref) else { return };
                    let words = row.words();
                    if let Some(strides) = self.part.strides(records) {
                        let output = out.output.get_mut(records[0].output as usize + first..);
                        let mut rest = output.unwrap_or_default();
                        for word in words.as_ref() {
                            if let Some(block) = rest.first_chunk_mut() {
                                *block = word.to_le_bytes();
                            }
                            rest = rest.get_mut(strides.output as usize..).unwrap_or_default();
                        }
                        continue;
                    }
                    for (word, record) in words.as_ref().iter().zip(records) {
                        let output = self.part.output_bytes(record, first, out);
                        if let Some(block) = output.first_chunk_mut() {
                            *block = word.to_le_bytes();
                        }
                    }
                }
            },
        );
    }

    /// Reads a chunk of up to a vector of blocks of each record from byte `first` on, and zeros past the end of a
    /// record.
    /// `pad` adds padding to the bytes of a record of a given length.
    pub(super) fn read<S: Simd<V = V>>(
        &self,
        simd: S,
        chunk: &mut [Rows<V>],
        first: usize,
        pad: impl Fn(V, usize) -> V,
    ) {
        simd.call(
            #[inline(always)]
            || {
                for row in 0..BITS {
                    let mut messages = LaneValues::<V, V>::from_fn(
                        #[inline(always)]
                        |_| simd.zero(),
                    );
                    let Some(records) = self.row(row).map(AsRef::as_ref) else {
                        store_blocks(chunk, row, messages);
                        continue;
                    };
                    if let Some(strides) = self.part.strides(records) {
                        let len = records[0].len as usize;
                        fetch_later::<V>(self.part.data(), records[0].input, strides.input, first);
                        let mut input = self.part.input_and_beyond(&records[0], first);
                        for message in messages.as_mut() {
                            let rest = input.get(..len.saturating_sub(first)).unwrap_or_default();
                            *message = pad(simd.load_prefix(rest), len);
                            input = input.get(strides.input as usize..).unwrap_or_default();
                        }
                    } else {
                        // All inputs are found before any is loaded, so that their cache misses overlap.
                        let inputs = LaneValues::<V, &[u8]>::from_fn(
                            #[inline(always)]
                            |lane| self.part.input(&records[lane], first),
                        );
                        let sources = inputs.as_ref().iter().zip(records);
                        for (message, (input, record)) in messages.as_mut().iter_mut().zip(sources) {
                            *message = pad(simd.load_prefix(input), record.len as usize);
                        }
                    }
                    store_blocks(chunk, row, messages);
                }
            },
        );
    }

    /// Writes up to a vector of blocks of each record from byte `first` on.
    pub(super) fn write<S: Simd<V = V>>(
        &self,
        simd: S,
        chunk: &Chunk<V>,
        first: usize,
        out: &mut OutcomeWriter<'_>,
    ) {
        simd.call(
            #[inline(always)]
            || {
                for row in 0..BITS {
                    let Some(records) = self.row(row).map(AsRef::as_ref) else { return };
                    let blocks = LaneValues::<V, V>::from_fn(
                        #[inline(always)]
                        |block| chunk.as_ref()[block][row],
                    );
                    let messages = V::transpose(blocks);
                    // Adjoining records are written as one stretch, with one check of its bounds.
                    if let Some(strides) = self.part.strides(records) {
                        let len = (records[0].len as usize).saturating_sub(first).min(V::BYTES);
                        fetch_later::<V>(out.output, records[0].output, strides.output, first);
                        let (start, stride) = (records[0].output as usize + first, strides.output as usize);
                        let stretch = start..start + (V::WORDS - 1) * stride + len;
                        let Some(mut rest) = out.output.get_mut(stretch) else { continue };
                        for message in messages.as_ref() {
                            message.store_prefix(&mut rest[..len]);
                            rest = rest.get_mut(stride..).unwrap_or_default();
                        }
                        continue;
                    }
                    for (message, record) in messages.as_ref().iter().zip(records) {
                        message.store_prefix(self.part.output_bytes(record, first, out));
                    }
                }
            },
        );
    }

    /// Transposes rows back into blocks and calls `take` with one block of each record.
    pub(super) fn each_block<S: Simd<V = V>>(
        &self,
        simd: S,
        rows: &mut Rows<V>,
        mut take: impl FnMut(RecordRef, &[u8; BLOCK]),
    ) {
        transpose(simd, rows);
        for (row, records) in rows.iter().zip(self.records.chunks(V::WORDS)) {
            let mut words = row.words();
            for (word, record) in words.as_ref().iter().zip(records) {
                take(*record, &word.to_le_bytes());
            }
            // The tags of MACs in slots are secret.
            words.as_mut().zeroize();
        }
    }
}

/// Prefetches what the next group has in the row that begins at `start`, once per row: for the first bytes of records
/// that are not long.
#[inline(always)]
fn fetch_later<V: Vector>(bytes: &[u8], start: u32, stride: u32, first: usize) {
    const LINE: usize = 64;
    const MAX_STRIDE: u32 = 128;
    if first > 0 || stride > MAX_STRIDE {
        return;
    }
    let later = start.saturating_add(stride * V::BITS as u32);
    for line in (0..stride * V::WORDS as u32).step_by(LINE) {
        fetch_ahead(bytes, later.saturating_add(line));
    }
}

/// Loads eight bytes of each record of a row, from the offset that `start` returns.
#[inline(always)]
fn words<S: Simd>(
    simd: S,
    bytes: &[u8],
    records: &[RecordRef],
    mut start: impl FnMut(RecordRef) -> u32,
) -> S::V {
    // Not `from_fn`, which the compiler leaves as a call for each row.
    let mut words = simd.zero().words();
    for (slot, record) in words.as_mut().iter_mut().zip(records) {
        *slot = word_at(bytes, start(*record) as usize);
    }
    simd.load(&words)
}

/// Returns the eight bytes from `start` on, or zero past the end.
#[inline(always)]
fn word_at(bytes: &[u8], start: usize) -> u64 {
    let bytes = bytes.get(start..start + BLOCK).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Stores the blocks of a row of messages, one row of the chunk for each block number.
#[inline(always)]
fn store_blocks<V: Vector>(chunk: &mut [Rows<V>], row: usize, messages: LaneValues<V, V>) {
    for (rows, block) in chunk.iter_mut().zip(V::transpose(messages).as_ref()) {
        rows[row] = *block;
    }
}
