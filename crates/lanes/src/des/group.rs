//! Up to 512 records side by side: their bytes in and out of rows.

use oarlock_core::{KeySource, PartMut, Span};
use zeroize::{Zeroize, Zeroizing};

use super::bits::{BITS, BLOCKS, transpose};
use super::schedule::Schedule;
use crate::records::{Accepted, Part};
use crate::simd::{LANES, Simd, Vector};

/// Bytes of a block.
pub(super) const BLOCK: usize = 8;

/// Blocks of a record that are read at once: a vector of them.
pub(super) const CHUNK: usize = 8;

/// One bit of 512 blocks in each vector, or eight blocks.
pub(super) type Rows<V> = [V; BITS];

/// Eight blocks of each record.
pub(super) type Chunk<V> = [Rows<V>; CHUNK];

/// Records side by side, longest first. Record `8 g + w` is bit `g` of word `w`.
#[derive(Clone, Copy)]
pub(super) struct Group<'a, 'p> {
    pub(super) part: &'a Part<'p>,
    pub(super) records: &'a [Accepted],
}

impl<'a, 'p> Group<'a, 'p> {
    /// The groups of accepted records.
    pub(super) fn all(part: &'a Part<'p>, records: &'a [Accepted]) -> impl Iterator<Item = Self> {
        records.chunks(BLOCKS).map(move |records| Self { part, records })
    }

    /// Bytes of the longest record.
    pub(super) fn most_bytes(&self) -> usize {
        self.records.first().map_or(0, |record| record.len as usize)
    }

    /// Bytes of the shortest record.
    pub(super) fn fewest_bytes(&self) -> usize {
        self.records.last().map_or(0, |record| record.len as usize)
    }

    /// A word of each record's IV, bit by bit.
    pub(super) fn ivs<S: Simd>(
        &self,
        simd: S,
        rows: &mut Rows<S::V>,
        span: impl Fn(&Part<'p>, Accepted) -> Span,
    ) {
        self.gather(
            simd,
            rows,
            self.part.data(),
            #[inline(always)]
            |record| span(self.part, record).start,
        );
    }

    /// The key schedules of the records' keys, from a table of them all where there is one.
    pub(super) fn schedules<S: Simd>(
        &self,
        simd: S,
        rows: &mut Rows<S::V>,
        schedules: &mut [Schedule<S::V>],
        table: &[u8],
    ) {
        if table.is_empty() {
            return self.schedules_of(simd, rows, schedules, Part::key_bytes);
        }
        let len = (BLOCK * schedules.len()) as u32;
        for (at, schedule) in schedules.iter_mut().enumerate() {
            self.gather(
                simd,
                rows,
                table,
                #[inline(always)]
                |record| match self.part.key(record) {
                    KeySource::Table(index) => index * len + (BLOCK * at) as u32,
                    // unreachable because there is no table where there are slots
                    KeySource::Slot(_) => u32::MAX,
                },
            );
            schedule.fill(rows);
        }
    }

    /// The key schedules of these keys: one for each eight bytes.
    pub(super) fn schedules_of<S: Simd>(
        &self,
        simd: S,
        rows: &mut Rows<S::V>,
        schedules: &mut [Schedule<S::V>],
        key: impl Fn(&Part<'p>, Accepted) -> &'p [u8],
    ) {
        let len = BLOCK * schedules.len();
        let mut keys = Zeroizing::new(vec![0; len * self.records.len()]);
        for (place, record) in keys.chunks_exact_mut(len).zip(self.records) {
            place.iter_mut().zip(key(self.part, *record)).for_each(|(to, from)| *to = *from);
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

    /// Eight bytes of each record from where `start` says, bit by bit. Lanes without a record have zeros.
    #[inline(always)]
    fn gather<S: Simd>(
        &self,
        simd: S,
        rows: &mut Rows<S::V>,
        bytes: &[u8],
        mut start: impl FnMut(Accepted) -> u32,
    ) {
        simd.call(
            #[inline(always)]
            || {
                let mut eights = self.records.chunks(LANES);
                for row in rows.iter_mut() {
                    let mut starts = [u32::MAX; LANES];
                    for (place, record) in starts.iter_mut().zip(eights.next().unwrap_or_default()) {
                        *place = start(*record);
                    }
                    *row = simd.gather(bytes, &starts);
                }
            },
        );
        transpose(simd, rows);
    }

    /// Reads a chunk of up to eight blocks of each record from byte `first` on, zeros where it has ended. `pad` adds to what is
    /// read of a record of that length.
    pub(super) fn read<S: Simd>(
        &self,
        simd: S,
        chunk: &mut [Rows<S::V>],
        first: usize,
        pad: impl Fn(S::V, usize) -> S::V,
    ) {
        simd.call(
            #[inline(always)]
            || {
                let mut eights = self.records.chunks(LANES);
                for row in 0..BITS {
                    let eight = eights.next().unwrap_or_default();
                    let mut messages = [simd.zero(); LANES];
                    for (message, record) in messages.iter_mut().zip(eight) {
                        let message_from = self.part.input(*record, first);
                        *message = pad(simd.load_prefix(message_from), record.len as usize);
                    }
                    let blocks_of_eight = S::V::transpose(messages);
                    for (rows, block) in chunk.iter_mut().zip(blocks_of_eight) {
                        rows[row] = block;
                    }
                }
            },
        );
    }

    /// Writes eight blocks of each record from byte `first` on, as far as it goes.
    pub(super) fn write<S: Simd>(&self, simd: S, chunk: &Chunk<S::V>, first: usize, out: &mut PartMut<'_>) {
        simd.call(
            #[inline(always)]
            || {
                for (row, eight) in self.records.chunks(LANES).enumerate() {
                    let blocks = std::array::from_fn(
                        #[inline(always)]
                        |block| chunk[block][row],
                    );
                    for (message, record) in S::V::transpose(blocks).into_iter().zip(eight) {
                        message.store_prefix(self.part.place(*record, first, out));
                    }
                }
            },
        );
    }

    /// One block of each record, after the rows have become blocks again.
    pub(super) fn each_block<S: Simd>(
        &self,
        simd: S,
        rows: &mut Rows<S::V>,
        mut take: impl FnMut(Accepted, &[u8; BLOCK]),
    ) {
        transpose(simd, rows);
        for (row, eight) in rows.iter().zip(self.records.chunks(LANES)) {
            let mut words = row.words();
            for (word, record) in words.iter().zip(eight) {
                take(*record, &word.to_le_bytes());
            }
            words.zeroize();
        }
    }
}
