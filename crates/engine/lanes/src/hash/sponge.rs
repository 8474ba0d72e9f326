//! SHA-3 and SHAKE of many messages side by side, each in a lane. FIPS 202.

use zeroize::Zeroize;

use super::{HalfMask, LaneHash, LaneMessages, MessageEnding, WORDS, marks, row_and_mark};
use crate::keccak::{KeccakState, LAST_BIT, RATE_128, SHA3_SUFFIX, SHAKE_SUFFIX, STATE_WORDS, permute};
use crate::simd::{BlindVector, LaneArray, Mask, Simd, Vector};

/// A function with blocks of `RATE` words, and the byte that follows a message.
#[derive(Debug)]
pub(crate) struct LaneSponge<const RATE: usize, const SUFFIX: u64>;

/// SHA-3. FIPS 202 6.1.
pub(crate) type Sha3Sponge<const RATE: usize> = LaneSponge<RATE, SHA3_SUFFIX>;

/// SHAKE. FIPS 202 6.2.
pub(crate) type ShakeSponge<const RATE: usize> = LaneSponge<RATE, SHAKE_SUFFIX>;

/// The bytes of a state.
const STATE_BYTES: usize = 8 * STATE_WORDS;

/// The words of the longest block, as many as fill groups of eight lanes.
const MAX_RATE: usize = RATE_128.next_multiple_of(8);

/// The words of a state, as many as fill groups of eight lanes.
const STATE_ROWS: usize = STATE_WORDS.next_multiple_of(8);

impl<const RATE: usize, const SUFFIX: u64> LaneHash for LaneSponge<RATE, SUFFIX> {
    type Chain<V: Vector> = KeccakState<V>;
    type Words<V: Vector> = [V; MAX_RATE];
    type Rows<V: Vector> = [V; STATE_ROWS];
    type State = [u8; STATE_BYTES];

    const BLOCK: usize = 8 * RATE;
    const WORD: usize = 8;
    // The suffix and both bits of the padding fit into a byte.
    const MIN_PADDING: usize = 1;
    // Two states of 25 vectors do not fit into the registers, and the rows of one fill the pipelines.
    const IN_PAIRS: bool = false;
    const MAX_ALONE: usize = 1;

    #[inline(always)]
    fn load<S: Simd>(simd: S, messages: &LaneMessages<'_>, step: usize) -> [S::V; MAX_RATE] {
        block::<S, RATE>(
            simd,
            #[inline(always)]
            |lane, at| {
                let rest = &messages[lane][Self::BLOCK * step + at..];
                match LaneArray::chunks(rest).0.first() {
                    Some(bytes) => simd.load_bytes(bytes),
                    // The last vector of a block reaches behind it, where the message may have ended.
                    None => simd.load_prefix(rest),
                }
            },
        )
    }

    #[inline(always)]
    fn load_end<S: Simd>(
        simd: S,
        messages: &LaneMessages<'_>,
        step: usize,
        last: HalfMask,
        ending: MessageEnding,
    ) -> [S::V; MAX_RATE] {
        let mut words = block::<S, RATE>(
            simd,
            #[inline(always)]
            |lane, at| {
                row_and_mark(simd, messages[lane], Self::BLOCK * step + at, const { &marks(SUFFIX as u8) })
            },
        );
        if matches!(ending, MessageEnding::Padded { .. }) {
            // Neither a message nor the suffix has this bit in a last block, so the sum sets it. FIPS 202 5.1.
            words[RATE - 1] = words[RATE - 1].add_if(last as Mask, simd.splat(LAST_BIT));
        }
        words
    }

    #[inline(always)]
    fn compress<S: Simd, const N: usize>(
        simd: S,
        chains: &mut [KeccakState<S::V>; N],
        words: [[S::V; MAX_RATE]; N],
        running: [HalfMask; N],
        meanwhile: impl FnMut(usize),
    ) {
        (0..WORDS).for_each(meanwhile);
        for ((chain, words), running) in chains.iter_mut().zip(words).zip(running) {
            if running == HalfMask::MAX {
                add_block::<S, RATE>(simd, chain, words);
                continue;
            }
            // A lane that has ended is permuted too, and keeps its state.
            let mut next = *chain;
            add_block::<S, RATE>(simd, &mut next, words);
            for (word, next) in chain.iter_mut().zip(next) {
                *word = word.add_if(running as Mask, next - *word);
            }
        }
    }

    #[inline(always)]
    fn to_rows<S: Simd>(simd: S, chain: &KeccakState<S::V>) -> [S::V; STATE_ROWS] {
        let mut rows = [simd.zero(); STATE_ROWS];
        rows[..STATE_WORDS].copy_from_slice(chain);
        transpose(&mut rows);
        rows
    }

    #[inline(always)]
    fn from_rows<V: Vector>(mut rows: [V; STATE_ROWS]) -> KeccakState<V> {
        transpose(&mut rows);
        let mut chain = [rows[0]; STATE_WORDS];
        chain.copy_from_slice(&rows[..STATE_WORDS]);
        chain
    }

    fn absorb_alone(state: &mut [u8; STATE_BYTES], message: &[u8], at: usize, ending: MessageEnding) {
        let mut words = [0; STATE_WORDS];
        for (word, bytes) in words.iter_mut().zip(state.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let blocks = message[at..].chunks_exact(Self::BLOCK);
        let rest = blocks.remainder();
        blocks.for_each(|block| permute_alone(&mut words, block));
        if matches!(ending, MessageEnding::Padded { .. }) {
            let mut block = [0; 8 * MAX_RATE];
            let block = &mut block[..Self::BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            block[rest.len()] = SUFFIX as u8;
            block[Self::BLOCK - 1] |= 0x80;
            permute_alone(&mut words, block);
            block.zeroize();
        }
        for (bytes, word) in state.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        words.zeroize();
    }
}

/// Adds a block to every state, and permutes them. FIPS 202 algorithm 8, step 6.
#[inline(always)]
fn add_block<S: Simd, const RATE: usize>(simd: S, state: &mut KeccakState<S::V>, words: [S::V; MAX_RATE]) {
    for (word, new) in state.iter_mut().zip(words).take(RATE) {
        *word = *word ^ new;
    }
    permute(simd, state);
}

/// Adds a block to one state, and permutes it.
fn permute_alone(words: &mut [u64; STATE_WORDS], block: &[u8]) {
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word ^= u64::from_le_bytes(*bytes);
    }
    ::keccak::Keccak::new().with_f1600(|permute| permute(words));
}

/// Returns the words of a block of each lane. `row` loads the vector of a lane's message at an offset in the block.
#[inline(always)]
fn block<S: Simd, const RATE: usize>(simd: S, row: impl Fn(usize, usize) -> S::V) -> [S::V; MAX_RATE] {
    let lanes = S::V::WORDS;
    let mut words = [simd.zero(); MAX_RATE];
    for (at, word) in words.iter_mut().enumerate().take(RATE.next_multiple_of(lanes)) {
        *word = row(at % lanes, S::V::BYTES * (at / lanes));
    }
    transpose(&mut words);
    words
}

/// Turns rows into words, or words into rows: row `r * LANES + j` is part `r` of lane `j`.
#[inline(always)]
fn transpose<V: Vector>(rows: &mut [V]) {
    for part in V::Lanes::<V>::chunks_mut(rows) {
        *part = V::transpose(*part);
    }
}
