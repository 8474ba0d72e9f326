//! GCM of many records side by side. NIST SP 800-38D 7.
//!
//! A step encrypts four counters of each record in flight. The last counter of the first step is that of the tag, so
//! a record of up to 48 bytes takes one step. A slot takes the next record as soon as its own is finished.

use super::chunk;
use super::ghash::{GcmKey, NO_KEY, lengths};
use super::rounds::encrypt;
use super::schedule::NONE;
use super::tag::TagAction;
use crate::simd::{AesBlocks, BLOCK, BlockSimd, FOUR_BLOCKS, OneBlock, SingleSimd};

/// A record to seal or to open.
#[derive(Clone, Copy)]
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

const IDLE: GcmRecord<'static> = GcmRecord {
    key: &NO_KEY,
    iv: &[],
    aad: &[],
    input: &[],
    output: 0,
    tag: TagAction::Write(0, 0),
    index: 0,
};

/// The state of a record in flight.
struct GcmState<'a, S: BlockSimd> {
    message: GcmRecord<'a>,
    /// The counter block of the next step with its bytes reversed.
    counter: OneBlock<S>,
    /// The number of bytes that are finished.
    done: usize,
    sum: OneBlock<S>,
    /// The encrypted counter of the tag.
    mask: OneBlock<S>,
}

/// Seals or opens every record of `next`, and calls `reject` with the index of each record whose tag is wrong.
#[inline(always)]
pub(super) fn run<'a, S: BlockSimd, const PLACES: usize, const ROUNDS: usize>(
    simd: S,
    next: impl FnMut() -> Option<GcmRecord<'a>>,
    output: &mut [u8],
    mut reject: impl FnMut(usize),
) {
    chunk::each(
        IDLE,
        next,
        #[inline(always)]
        |records: &[GcmRecord<'a>]| {
            let (groups, mut rest) = records.as_chunks();
            if records.iter().all(|record| record.input.len() <= FIRST) {
                for group in groups {
                    run_short::<S, PLACES, ROUNDS>(simd, group, output, &mut reject);
                }
            } else {
                rest = records;
            }
            run_long::<S, PLACES, ROUNDS>(simd, rest, output, &mut reject);
        },
    );
}

/// The bytes of data that the first step encrypts. Its last block is the counter of the tag.
const FIRST: usize = FOUR_BLOCKS - BLOCK;

/// Seals or opens records that need one step.
#[inline(always)]
fn run_short<'a, S: BlockSimd, const PLACES: usize, const ROUNDS: usize>(
    simd: S,
    group: &[GcmRecord<'a>; PLACES],
    output: &mut [u8],
    reject: &mut impl FnMut(usize),
) {
    let mut counters = [simd.splat_block(&[0; BLOCK]); PLACES];
    let mut keys = [&NONE; PLACES];
    for index in 0..PLACES {
        let GcmRecord { key, iv, .. } = group[index];
        counters[index] = simd.counters(first_counter(simd, key, iv), [1, 2, 3, 0]).reversed();
        keys[index] = &key.schedule;
    }
    let streams = encrypt::<_, PLACES, ROUNDS>(
        #[inline(always)]
        |key| simd.splat_block(key),
        counters,
        &keys,
    );
    // A loop for each part, so that the processor finds products of other records while it waits for one.
    let mut hashed = streams;
    for index in 0..PLACES {
        let GcmRecord { aad, input, output: at, .. } = group[index];
        let [piece, result] = simd.crypt_prefix(input, streams[index], &mut output[at..at + input.len()]);
        let blocks = group[index].ciphertext(piece, result).reversed();
        hashed[index] = simd.with_words(blocks, input.len().div_ceil(BLOCK), lengths(aad.len(), input.len()));
    }
    let mut tags = [simd.single().block_of_words([0; 2]); PLACES];
    for index in 0..PLACES {
        let GcmRecord { key, aad, input, .. } = group[index];
        let sum = key.absorb_bytes(simd, tags[index], aad);
        let sum = key.absorb(simd, sum, hashed[index], input.len().div_ceil(BLOCK) + 1);
        tags[index] = sum.reversed() ^ simd.last_block(streams[index]);
    }
    for index in 0..PLACES {
        group[index].finish(simd, tags[index], output, reject);
    }
}

/// Seals or opens records of any lengths.
#[inline(always)]
fn run_long<'a, S: BlockSimd, const PLACES: usize, const ROUNDS: usize>(
    simd: S,
    records: &[GcmRecord<'a>],
    output: &mut [u8],
    reject: &mut impl FnMut(usize),
) {
    let mut next = records.iter();
    let mut running = [const { None::<GcmState<'a, S>> }; PLACES];
    loop {
        let mut counters = [simd.splat_block(&[0; BLOCK]); PLACES];
        let mut keys = [&NONE; PLACES];
        for ((state, counters), key) in running.iter_mut().zip(&mut counters).zip(&mut keys) {
            if state.is_none() {
                *state = next.next().map(
                    #[inline(always)]
                    |message| GcmState::new(simd, *message),
                );
            }
            if let Some(state) = state {
                *counters = state.counters(simd);
                *key = &state.message.key.schedule;
            }
        }
        // Idle slots encrypt zeros under a schedule of zeros, so the rounds below have no branch.
        if running.iter().all(Option::is_none) {
            break;
        }
        let streams = encrypt::<_, PLACES, ROUNDS>(
            #[inline(always)]
            |key| simd.splat_block(key),
            counters,
            &keys,
        );
        for (slot, stream) in running.iter_mut().zip(streams) {
            if let Some(state) = slot
                && state.step(simd, stream, output)
            {
                state.message.finish(simd, state.sum.reversed() ^ state.mask, output, reject);
                *slot = None;
            }
        }
    }
}

impl<'a, S: BlockSimd> GcmState<'a, S> {
    /// Prepares the first step: computes the first counter block and absorbs the associated data.
    #[inline(always)]
    fn new(simd: S, message: GcmRecord<'a>) -> Self {
        let zero = simd.single().block_of_words([0; 2]);
        let counter = first_counter(simd, message.key, message.iv);
        let sum = message.key.absorb_bytes(simd, zero, message.aad);
        Self { message, counter, done: 0, sum, mask: zero }
    }

    /// Returns the counter blocks of the next step: those of the data, followed by that of the tag in the first step.
    #[inline(always)]
    fn counters(&mut self, simd: S) -> S::Four {
        // J0 is the counter of the tag; the data begin with J0 + 1.
        let steps = if self.done == 0 { [1, 2, 3, 0] } else { [0, 1, 2, 3] };
        // Counters wrap modulo 2^32: inc32 of NIST SP 800-38D 6.2.
        let counters = simd.counters(self.counter, steps).reversed();
        self.counter = simd.single().add_to_counter(self.counter, 4);
        counters
    }

    /// Encrypts and hashes the next piece. Returns true if it was the last.
    #[inline(always)]
    fn step(&mut self, simd: S, stream: S::Four, output: &mut [u8]) -> bool {
        // The last block of the first step is the counter of the tag, so that step has one block less for data.
        let max = if self.done == 0 { FIRST } else { FOUR_BLOCKS };
        if self.done == 0 {
            self.mask = simd.last_block(stream);
        }
        let input = &self.message.input[self.done.min(self.message.input.len())..];
        let input = &input[..input.len().min(max)];
        let at = self.message.output + self.done;
        let [piece, result] = simd.crypt_prefix(input, stream, &mut output[at..at + input.len()]);
        let hashed = self.message.ciphertext(piece, result);
        self.done += input.len();
        let is_last = self.done == self.message.input.len();
        self.hash(simd, hashed.reversed(), input.len().div_ceil(BLOCK), is_last);
        is_last
    }

    /// Absorbs `count` blocks, and after the last ones the lengths.
    #[inline(always)]
    fn hash(&mut self, simd: S, blocks: S::Four, count: usize, is_last: bool) {
        let GcmRecord { key, aad, input, .. } = self.message;
        let lengths = lengths(aad.len(), input.len());
        self.sum = match (is_last, count) {
            (false, _) => key.absorb(simd, self.sum, blocks, count),
            // The block of lengths fits behind up to three blocks, which saves a product per record.
            (true, 0..=3) => key.absorb(simd, self.sum, simd.with_words(blocks, count, lengths), count + 1),
            (true, _) => {
                let sum = key.absorb(simd, self.sum, blocks, count);
                key.absorb_words(simd, sum, lengths)
            }
        };
    }
}

impl GcmRecord<'_> {
    /// Returns the ciphertext, which GHASH covers: the result of sealing, or the input of opening.
    #[inline(always)]
    fn ciphertext<B>(&self, input: B, result: B) -> B {
        match self.tag {
            TagAction::Write(..) => result,
            TagAction::Compare(_) => input,
        }
    }

    /// Writes the tag, or compares it. If it is wrong, replaces the output with zeros.
    #[inline(always)]
    fn finish<S: BlockSimd>(
        &self,
        simd: S,
        tag: OneBlock<S>,
        output: &mut [u8],
        reject: &mut impl FnMut(usize),
    ) {
        let text = self.output..self.output + self.input.len();
        if !self.tag.finish(simd.single(), tag, output, text) {
            reject(self.index);
        }
    }
}

/// Returns the counter block J0 with its bytes reversed. NIST SP 800-38D 7.1 step 2.
#[inline(always)]
fn first_counter<S: BlockSimd>(simd: S, key: &GcmKey, iv: &[u8]) -> OneBlock<S> {
    if let Ok(iv) = <&[u8; 12]>::try_from(iv) {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *iv;
        let (high, low) = (u64::from_be_bytes([a, b, c, d, e, f, g, h]), u32::from_be_bytes([i, j, k, l]));
        // J0 = IV || 0^31 || 1, without a hash.
        return simd.single().block_of_words([u64::from(low) << 32 | 1, high]);
    }
    let sum = key.absorb_bytes(simd, simd.single().block_of_words([0; 2]), iv);
    key.absorb_words(simd, sum, lengths(0, iv.len()))
}
