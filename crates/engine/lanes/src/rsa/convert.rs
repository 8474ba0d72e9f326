//! Conversion between one number per lane and vectors of limbs.

use zeroize::Zeroizing;

use super::leaf::RsaLeaf;
use super::memory::{Number, number};
use super::window::{LIMB, LIMB_BITS};
use crate::simd::{BlindMulVector, LANES, MulSimd, MulVector, Vector, Words};

const WORD_BITS: usize = 64;

/// The vectors past the end of a number in which its last bits are looked up.
const MARGIN: usize = 2;

/// Loads limb j of every lane's number into vector j. A number that is too short is extended with zeros. Numbers
/// whose length is a multiple of eight load fastest.
#[inline(always)]
pub(super) fn gather<S: MulSimd>(simd: S, numbers: &[&[u64]; LANES], out: &mut [S::V]) {
    for (at, block) in out.chunks_mut(LANES).enumerate() {
        // Eight loads of whole lines and a transposition, instead of one gather of eight words per limb.
        let mut rows = [simd.zero(); LANES];
        for (row, number) in rows.iter_mut().zip(numbers) {
            *row = simd.load(&words_at(number, at * LANES));
        }
        let columns = S::V::transpose8(rows);
        for (to, column) in block.iter_mut().zip(columns) {
            *to = column;
        }
    }
}

/// Runs [`gather`] as a separate function.
pub(super) fn gather_into<S: MulSimd>(simd: S, numbers: [&[u64]; LANES], out: &mut [S::V]) {
    simd.call(
        #[inline(always)]
        || gather(simd, &numbers, out),
    );
}

#[inline(always)]
fn words_at(number: &[u64], at: usize) -> Words {
    // Numbers are padded to eight words, so this is the usual case; the copy below serves short numbers.
    if let Some(words) = number.get(at..at + LANES).and_then(<[u64]>::first_chunk) {
        return *words;
    }
    let mut words = [0; LANES];
    let rest = number.get(at..).unwrap_or_default();
    words[..rest.len()].copy_from_slice(rest);
    words
}

/// A buffer for one big-endian number per lane on their way in or out, all of one length.
#[derive(Debug)]
pub(super) struct Staging<L: RsaLeaf<N>, const N: usize> {
    leaf: L,
    /// The limbs of the moduli.
    limbs: usize,
    /// The words of a lane's number, lowest first: a multiple of eight.
    count: usize,
    /// The words lane by lane.
    words: Zeroizing<Vec<u64>>,
    /// The same words vector by vector.
    vectors: Number<L>,
}

impl<L: RsaLeaf<N>, const N: usize> Staging<L, N> {
    /// Allocates a buffer for numbers of `len` bytes under moduli of `limbs` limbs.
    pub(super) fn new(leaf: L, limbs: usize, len: usize) -> Self {
        let count = len.div_ceil(8).next_multiple_of(8);
        let words = Zeroizing::new(vec![0; N * count]);
        Self { leaf, limbs, count, words, vectors: number(leaf, count + MARGIN) }
    }

    /// Reads numbers as limbs.
    pub(super) fn read(&mut self, numbers: [&[u8]; N], limbs: &mut [L::Limb]) {
        let Self { leaf, limbs: modulus_limbs, count, words, vectors } = self;
        for (number, words) in numbers.iter().zip(words.chunks_exact_mut(*count)) {
            words_of(number, words);
        }
        let lanes: [&[u64]; N] = std::array::from_fn(|lane| &words[lane * *count..(lane + 1) * *count]);
        leaf.limbs_of_words(*modulus_limbs, lanes, vectors, limbs);
    }

    /// Stores numbers of reduced limbs, for [`Staging::write`].
    pub(super) fn take(&mut self, limbs: &[L::Limb]) {
        self.leaf.words_of_limbs(self.limbs, limbs, &mut self.words, self.count);
    }

    /// Writes a lane's number, which must fit.
    pub(super) fn write(&self, lane: usize, out: &mut [u8]) {
        // `zip` stops at the length of the result; higher words are zero, because the number is below its modulus.
        let words = &self.words[lane * self.count..(lane + 1) * self.count];
        let (first, whole) = out.as_rchunks_mut::<8>();
        let (low, high) = words.split_at(whole.len());
        for (bytes, word) in whole.iter_mut().rev().zip(low) {
            *bytes = word.to_be_bytes();
        }
        if let Some(word) = high.first() {
            let bytes = word.to_be_bytes();
            first.copy_from_slice(&bytes[bytes.len() - first.len()..]);
        }
    }
}

/// Converts one number of `space.len() - MARGIN` words per lane to limbs of 52 bits.
pub(super) fn limbs_of_words<S: MulSimd>(
    simd: S,
    words: &[&[u64]; LANES],
    space: &mut [S::V],
    limbs: &mut [S::V],
) {
    let count = space.len() - MARGIN;
    simd.call(
        #[inline(always)]
        || {
            gather(simd, words, &mut space[..count]);
            for (at, limb) in limbs.iter_mut().enumerate() {
                *limb = bits_at(simd, space, WORD_BITS, at * LIMB_BITS as usize) & simd.splat(LIMB);
            }
        },
    );
}

/// Converts numbers of carried limbs to `count` words per lane, lane by lane.
pub(super) fn words_of_limbs<S: MulSimd>(simd: S, limbs: &[S::V], words: &mut [u64], count: usize) {
    simd.call(
        #[inline(always)]
        || {
            for block in (0..count).step_by(LANES) {
                let mut columns = [simd.zero(); LANES];
                for (at, column) in columns.iter_mut().enumerate() {
                    *column = bits_at(simd, limbs, LIMB_BITS as usize, (block + at) * WORD_BITS);
                }
                for (lane, row) in S::V::transpose8(columns).iter().enumerate() {
                    let first = lane * count + block;
                    words[first..first + LANES].copy_from_slice(&row.words());
                }
            }
        },
    );
}

/// Converts a big-endian number to words, lowest first.
fn words_of(number: &[u8], words: &mut [u64]) {
    let (first, whole) = number.as_rchunks::<8>();
    let (low, high) = words.split_at_mut(whole.len());
    for (word, bytes) in low.iter_mut().zip(whole.iter().rev()) {
        *word = u64::from_be_bytes(*bytes);
    }
    high.fill(0);
    if let Some(word) = high.first_mut() {
        *word = first.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
}

/// Returns 64 bits from bit `at` on of a number in digits of `width` bits.
#[inline(always)]
fn bits_at<S: MulSimd>(simd: S, digits: &[S::V], width: usize, at: usize) -> S::V {
    // Positions are public and the same in every lane.
    let (first, shift) = (at / width, at % width);
    let mut bits = simd.zero();
    if let Some(digit) = digits.get(first) {
        bits = digit.shr_each(simd.splat(shift as u64));
    }
    // 64 bits can span three digits of 52 bits.
    for next in 1..=WORD_BITS.div_ceil(width) {
        if let Some(digit) = digits.get(first + next) {
            bits = bits | digit.shl_each(simd.splat((next * width - shift) as u64));
        }
    }
    bits
}
