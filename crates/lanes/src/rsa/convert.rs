//! Between one number per lane and vectors of limbs.

use zeroize::Zeroizing;

use super::window::{LIMB, LIMB_BITS};
use crate::simd::{LANES, Simd, Vector, Words};

const WORD_BITS: usize = 64;

/// Limb j of every lane's number becomes vector j. Numbers that are too short go on with zeros.
#[inline(always)]
pub(super) fn gather<S: Simd>(simd: S, numbers: [&[u64]; LANES], out: &mut [S::V]) {
    for (at, block) in out.chunks_mut(LANES).enumerate() {
        let rows = numbers.map(
            #[inline(always)]
            |number| simd.load(&words_at(number, at * LANES)),
        );
        let columns = S::V::transpose(rows);
        block.copy_from_slice(&columns[..block.len()]);
    }
}

#[inline(always)]
fn words_at(number: &[u64], at: usize) -> Words {
    if let Some(words) = number.get(at..at + LANES).and_then(<[u64]>::first_chunk) {
        return *words;
    }
    let mut words = [0; LANES];
    let rest = number.get(at..).unwrap_or_default();
    words[..rest.len()].copy_from_slice(rest);
    words
}

/// Big-endian numbers of one length, as limbs.
pub(super) fn from_bytes<S: Simd>(simd: S, numbers: [&[u8]; LANES], out: &mut [S::V]) {
    let count = numbers[0].len().div_ceil(8).next_multiple_of(LANES);
    let mut words = Zeroizing::new(vec![0; LANES * count]);
    for (number, words) in numbers.iter().zip(words.chunks_exact_mut(count)) {
        words_of(number, words);
    }
    let mut vectors = Zeroizing::new(vec![simd.zero(); count]);
    simd.call(
        #[inline(always)]
        || {
            gather(simd, std::array::from_fn(|lane| &words[lane * count..(lane + 1) * count]), &mut vectors);
            for (limb, out) in out.iter_mut().enumerate() {
                *out = bits_at(simd, &vectors, WORD_BITS, limb * LIMB_BITS as usize) & simd.splat(LIMB);
            }
        },
    );
}

/// Numbers of carried limbs, big-endian in `len` bytes each, side by side.
pub(super) fn to_bytes<S: Simd>(simd: S, limbs: &[S::V], len: usize) -> Zeroizing<Vec<u8>> {
    let count = len.div_ceil(8).next_multiple_of(LANES);
    let mut words: Zeroizing<Vec<Words>> = Zeroizing::new(vec![[0; LANES]; count]);
    simd.call(
        #[inline(always)]
        || {
            for (at, rows) in words.chunks_exact_mut(LANES).enumerate() {
                let columns = std::array::from_fn(
                    #[inline(always)]
                    |row| bits_at(simd, limbs, LIMB_BITS as usize, (at * LANES + row) * WORD_BITS),
                );
                for (row, column) in rows.iter_mut().zip(S::V::transpose(columns)) {
                    *row = column.words();
                }
            }
        },
    );
    let mut bytes = Zeroizing::new(vec![0; LANES * len]);
    for (lane, place) in bytes.chunks_exact_mut(len).enumerate() {
        for (at, bytes) in place.rchunks_mut(8).enumerate() {
            let word = words[at / LANES * LANES + lane][at % LANES].to_be_bytes();
            bytes.copy_from_slice(&word[8 - bytes.len()..]);
        }
    }
    bytes
}

/// Words of a big-endian number, lowest first.
fn words_of(number: &[u8], words: &mut [u64]) {
    let (first, whole) = number.as_rchunks::<8>();
    for (word, bytes) in words.iter_mut().zip(whole.iter().rev()) {
        *word = u64::from_be_bytes(*bytes);
    }
    if let Some(word) = words.get_mut(whole.len()) {
        *word = first.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
}

/// 64 bits from bit `at` on of a number in digits of `width` bits.
#[inline(always)]
fn bits_at<S: Simd>(simd: S, digits: &[S::V], width: usize, at: usize) -> S::V {
    let digit = inlined(
        #[inline(always)]
        |at: usize| digits.get(at).copied().unwrap_or(simd.zero()),
    );
    let (first, shift) = (at / width, at % width);
    let low = digit(first).shr_each(simd.splat(shift as u64));
    let next = digit(first + 1).shl_each(simd.splat((width - shift) as u64));
    let last = digit(first + 2).shl_each(simd.splat((2 * width - shift) as u64));
    low | next | last
}

/// A closure with an attribute may only be written as an argument.
#[inline(always)]
fn inlined<V, F: Fn(usize) -> V>(body: F) -> F {
    body
}
