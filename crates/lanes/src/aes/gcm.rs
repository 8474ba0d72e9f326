//! GCM of many records side by side. NIST SP 800-38D 7.
//!
//! A step encrypts four counters of each record in flight. The last counter of the first step is that of the tag, so
//! a record of up to 48 bytes takes one step. A slot takes the next record as soon as its own is finished.

use super::ghash::{GcmKey, with_lengths};
use super::rounds::{PLACES, encrypt};
use super::schedule::NONE;
use crate::simd::{BLOCK, BlockSimd, Mask, MulVector, VECTOR_BYTES, Vector, declassify};

/// A record to seal or to open.
pub(super) struct GcmRecord<'a> {
    pub(super) key: &'a GcmKey,
    pub(super) iv: &'a [u8],
    pub(super) aad: &'a [u8],
    pub(super) input: &'a [u8],
    /// The offset of the output.
    pub(super) output: usize,
    pub(super) tag: TagAction<'a>,
    /// The index of the record, for its status.
    pub(super) index: usize,
}

/// The use of a computed tag.
pub(super) enum TagAction<'a> {
    /// Write the tag at an offset, with a length.
    Write(usize, usize),
    /// Compare the tag with an expected one.
    Compare(&'a [u8]),
}

/// The mask of the high word of every block.
const ODD: Mask = 0b1010_1010;

/// The state of a record in flight.
struct GcmState<'a, S: BlockSimd> {
    message: GcmRecord<'a>,
    /// The counter block with its bytes reversed and a counter of zero.
    fixed: [u64; 2],
    counter: u32,
    /// The number of bytes that are finished.
    done: usize,
    sum: S::V,
    /// The encrypted counters of the first step, of which the last block masks the tag.
    first: S::V,
}

/// Seals or opens every record of `next`, and calls `reject` with the index of each record whose tag is wrong.
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
        // Idle slots encrypt zeros under a schedule of zeros, so the rounds below have no branch.
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
    /// Prepares the first step: computes the first counter block and absorbs the associated data.
    #[inline(always)]
    fn new(simd: S, message: GcmRecord<'a>) -> Self {
        let [low, high] = first_counter(simd, message.key, message.iv);
        let sum = message.key.absorb_bytes(simd, simd.zero(), message.aad);
        // The counter is kept apart, because its increment must not carry into the IV.
        let fixed = [low & !u64::from(u32::MAX), high];
        Self { message, fixed, counter: low as u32, done: 0, sum, first: simd.zero() }
    }

    /// Returns the counter blocks of the next step: those of the data, followed by that of the tag in the first step.
    #[inline(always)]
    fn counters(&mut self, simd: S) -> S::V {
        let [low, high] = self.fixed;
        let fixed = simd.splat(low).or_if(ODD, simd.splat(high));
        // J0 is the counter of the tag; the data begin with J0 + 1. Low words count, high words stay.
        let steps = if self.done == 0 { [1, 0, 2, 0, 3, 0, 0, 0] } else { [0, 0, 1, 0, 2, 0, 3, 0] };
        let counters = simd.splat(u64::from(self.counter)) + simd.load(&steps);
        self.counter = self.counter.wrapping_add(4);
        // Counters wrap modulo 2^32: inc32 of NIST SP 800-38D 6.2.
        let low_halves = simd.splat(u64::from(u32::MAX)).or_if(ODD, simd.zero());
        simd.reverse_blocks(fixed | (counters & low_halves))
    }

    /// Encrypts and hashes the next piece. Returns true if it was the last.
    #[inline(always)]
    fn step(&mut self, simd: S, stream: S::V, output: &mut [u8]) -> bool {
        // The last block of the first step is the counter of the tag, so that step has one block less for data.
        let max = if self.done == 0 { VECTOR_BYTES - BLOCK } else { VECTOR_BYTES };
        if self.done == 0 {
            self.first = stream;
        }
        let input = &self.message.input[self.done.min(self.message.input.len())..];
        let input = &input[..input.len().min(max)];
        let piece = simd.load_prefix(input);
        let result = simd.keep_prefix(piece ^ stream, input.len());
        let at = self.message.output + self.done;
        result.store_prefix(&mut output[at..at + input.len()]);
        // GHASH always covers the ciphertext: the result of sealing, the input of opening.
        let hashed = match self.message.tag {
            TagAction::Write(..) => result,
            TagAction::Compare(_) => piece,
        };
        self.done += input.len();
        let is_last = self.done == self.message.input.len();
        self.hash(simd, simd.reverse_blocks(hashed), input.len().div_ceil(BLOCK), is_last);
        is_last
    }

    /// Absorbs `count` blocks, and after the last ones the lengths.
    #[inline(always)]
    fn hash(&mut self, simd: S, blocks: S::V, count: usize, is_last: bool) {
        let GcmRecord { key, aad, input, .. } = self.message;
        let end = |blocks: S::V, place: usize| with_lengths(simd, blocks, place, aad.len(), input.len());
        self.sum = match (is_last, count) {
            (false, _) => key.absorb(simd, self.sum, blocks, count),
            // The block of lengths fits behind up to three blocks, which saves a product per record.
            (true, 0..=3) => key.absorb(simd, self.sum, end(blocks, count), count + 1),
            (true, _) => {
                let sum = key.absorb(simd, self.sum, blocks, count);
                key.absorb(simd, sum, end(simd.zero(), 0), 1)
            }
        };
    }

    /// Writes the tag, or compares it. If it is wrong, replaces the output with zeros.
    #[inline(always)]
    fn finish(&mut self, simd: S, output: &mut [u8], reject: &mut impl FnMut(usize)) {
        // J0 was the last counter of the first step. Its block moves to the front, where the sum is.
        let mask = simd.blocks_after(self.first, self.first);
        let tag = simd.reverse_blocks(self.sum) ^ mask;
        let GcmRecord { output: at, input, index, .. } = self.message;
        match self.message.tag {
            TagAction::Write(place, len) => tag.store_prefix(&mut output[place..place + len]),
            TagAction::Compare(expected) => {
                let difference = simd.keep_prefix(tag ^ simd.load_prefix(expected), expected.len());
                // The comparison has no early exit. Only its verdict is public, and the status reveals it anyway.
                if declassify(difference.has_any(difference)) != 0 {
                    // No plaintext may be released before its tag is verified. NIST SP 800-38D 7.2.
                    output[at..at + input.len()].fill(0);
                    reject(index);
                }
            }
        }
    }
}

/// Returns the counter block J0 as words with its bytes reversed. NIST SP 800-38D 7.1 step 2.
#[inline(always)]
fn first_counter<S: BlockSimd>(simd: S, key: &GcmKey, iv: &[u8]) -> [u64; 2] {
    if let Ok(iv) = <&[u8; 12]>::try_from(iv) {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *iv;
        let (high, low) = (u64::from_be_bytes([a, b, c, d, e, f, g, h]), u32::from_be_bytes([i, j, k, l]));
        // J0 = IV || 0^31 || 1, without a hash.
        return [u64::from(low) << 32 | 1, high];
    }
    let sum = key.absorb_bytes(simd, simd.zero(), iv);
    let sum = key.absorb(simd, sum, with_lengths(simd, simd.zero(), 0, 0, iv.len()), 1);
    let [low, high, ..] = sum.words();
    [low, high]
}
