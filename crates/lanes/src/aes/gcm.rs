//! GCM of many records side by side. NIST SP 800-38D 7.
//!
//! A step encrypts four counters of each place's record; the first step's last one is the counter of the tag, so that a record of
//! up to 48 bytes takes one step. A place takes the next record as soon as it is done.

use super::ghash::{GcmKey, with_lengths};
use super::rounds::{PLACES, encrypt};
use super::schedule::NONE;
use crate::simd::{BLOCK, BlockSimd, Mask, VECTOR_BYTES, Vector, declassify};

/// A record to seal or to open.
pub(super) struct GcmRecord<'a> {
    pub(super) key: &'a GcmKey,
    pub(super) iv: &'a [u8],
    pub(super) aad: &'a [u8],
    pub(super) input: &'a [u8],
    /// Where the output begins.
    pub(super) output: usize,
    pub(super) tag: TagAction<'a>,
    /// Whose verdict it is.
    pub(super) index: usize,
}

/// What becomes of the tag.
pub(super) enum TagAction<'a> {
    /// It is written: where it begins, and its length.
    Write(usize, usize),
    /// It is compared with this one.
    Compare(&'a [u8]),
}

/// The high word of every block.
const ODD: Mask = 0b1010_1010;

/// A record at work.
struct GcmState<'a, S: BlockSimd> {
    message: GcmRecord<'a>,
    /// The counter block but for the counter, bytes reversed.
    fixed: [u64; 2],
    counter: u32,
    /// Bytes done.
    done: usize,
    sum: S::V,
    /// The encrypted counters of the first step.
    first: S::V,
}

/// Seals or opens every record that `next` gives, and calls `reject` with the index of each whose tag is wrong.
#[inline(always)]
pub(super) fn run<'a, S: BlockSimd, const ROUNDS: usize>(
    simd: S,
    mut next: impl FnMut() -> Option<GcmRecord<'a>>,
    output: &mut [u8],
    mut reject: impl FnMut(usize),
) {
    let mut places: [Option<GcmState<'a, S>>; PLACES] = std::array::from_fn(|_| None);
    loop {
        let mut counters = [simd.zero(); PLACES];
        let mut keys = [&NONE; PLACES];
        for ((place, counters), key) in places.iter_mut().zip(&mut counters).zip(&mut keys) {
            if place.is_none() {
                *place = next().map(
                    #[inline(always)]
                    |message| GcmState::new(simd, message),
                );
            }
            if let Some(place) = place {
                *counters = place.counters(simd);
                *key = &place.message.key.schedule;
            }
        }
        if places.iter().all(Option::is_none) {
            break;
        }
        let streams = encrypt::<S, ROUNDS>(simd, counters, &keys);
        for (slot, stream) in places.iter_mut().zip(streams) {
            if let Some(place) = slot
                && place.step(simd, stream, output)
            {
                place.finish(simd, output, &mut reject);
                *slot = None;
            }
        }
    }
}

impl<'a, S: BlockSimd> GcmState<'a, S> {
    /// Everything before the first step: the first counter block, and the associated data.
    #[inline(always)]
    fn new(simd: S, message: GcmRecord<'a>) -> Self {
        let [low, high] = first_counter(simd, message.key, message.iv);
        let sum = message.key.absorb_bytes(simd, simd.zero(), message.aad);
        let fixed = [low & !u64::from(u32::MAX), high];
        Self { message, fixed, counter: low as u32, done: 0, sum, first: simd.zero() }
    }

    /// The counter blocks of the next step: those of the data, and in the first step that of the tag behind.
    #[inline(always)]
    fn counters(&mut self, simd: S) -> S::V {
        let [low, high] = self.fixed;
        let fixed = simd.splat(low).or_if(ODD, simd.splat(high));
        let steps = if self.done == 0 { [1, 0, 2, 0, 3, 0, 0, 0] } else { [0, 0, 1, 0, 2, 0, 3, 0] };
        let counters = simd.splat(u64::from(self.counter)) + simd.load(&steps);
        self.counter = self.counter.wrapping_add(4);
        // Counters are modulo 2^32: inc32 of NIST SP 800-38D 6.2.
        let low_halves = simd.splat(u64::from(u32::MAX)).or_if(ODD, simd.zero());
        simd.reverse_blocks(fixed | (counters & low_halves))
    }

    /// Encrypts and hashes the next piece; true where it is the last.
    #[inline(always)]
    fn step(&mut self, simd: S, stream: S::V, output: &mut [u8]) -> bool {
        let room = if self.done == 0 { VECTOR_BYTES - BLOCK } else { VECTOR_BYTES };
        if self.done == 0 {
            self.first = stream;
        }
        let input = &self.message.input[self.done.min(self.message.input.len())..];
        let input = &input[..input.len().min(room)];
        let piece = simd.load_prefix(input);
        let result = simd.keep_prefix(piece ^ stream, input.len());
        let at = self.message.output + self.done;
        result.store_prefix(&mut output[at..at + input.len()]);
        let hashed = match self.message.tag {
            TagAction::Write(..) => result,
            TagAction::Compare(_) => piece,
        };
        self.done += input.len();
        let is_last = self.done == self.message.input.len();
        self.hash(simd, simd.reverse_blocks(hashed), input.len().div_ceil(BLOCK), is_last);
        is_last
    }

    /// Absorbs so many blocks, and the lengths behind the last ones.
    #[inline(always)]
    fn hash(&mut self, simd: S, blocks: S::V, count: usize, is_last: bool) {
        let GcmRecord { key, aad, input, .. } = self.message;
        let end = |blocks: S::V, place: usize| with_lengths(simd, blocks, place, aad.len(), input.len());
        self.sum = match (is_last, count) {
            (false, _) => key.absorb(simd, self.sum, blocks, count),
            (true, 0..=3) => key.absorb(simd, self.sum, end(blocks, count), count + 1),
            (true, _) => {
                let sum = key.absorb(simd, self.sum, blocks, count);
                key.absorb(simd, sum, end(simd.zero(), 0), 1)
            }
        };
    }

    /// Writes the tag, or compares it and leaves zeros where it is wrong.
    #[inline(always)]
    fn finish(&mut self, simd: S, output: &mut [u8], reject: &mut impl FnMut(usize)) {
        let mask = simd.blocks_after(self.first, self.first);
        let tag = simd.reverse_blocks(self.sum) ^ mask;
        let GcmRecord { output: at, input, index, .. } = self.message;
        match self.message.tag {
            TagAction::Write(place, len) => tag.store_prefix(&mut output[place..place + len]),
            TagAction::Compare(expected) => {
                let difference = simd.keep_prefix(tag ^ simd.load_prefix(expected), expected.len());
                if declassify(difference.has_any(difference)) != 0 {
                    output[at..at + input.len()].fill(0);
                    reject(index);
                }
            }
        }
    }
}

/// The counter block J0 as words, its bytes reversed. NIST SP 800-38D 7.1 step 2.
#[inline(always)]
fn first_counter<S: BlockSimd>(simd: S, key: &GcmKey, iv: &[u8]) -> [u64; 2] {
    if let Ok(iv) = <&[u8; 12]>::try_from(iv) {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *iv;
        let (high, low) = (u64::from_be_bytes([a, b, c, d, e, f, g, h]), u32::from_be_bytes([i, j, k, l]));
        return [u64::from(low) << 32 | 1, high];
    }
    let sum = key.absorb_bytes(simd, simd.zero(), iv);
    let sum = key.absorb(simd, sum, with_lengths(simd, simd.zero(), 0, 0, iv.len()), 1);
    let [low, high, ..] = sum.words();
    [low, high]
}
