//! Conversion between byte strings and limbs. All integers are little-endian.

use zeroize::Zeroizing;

use crate::simd::{BlindMulSimd, BlindMulVector, LANES, MulSimd, MulVector, Vector, Words};

/// The bits of a limb.
pub(crate) const RADIX: usize = 52;

/// Loads `N` words of 64 bits from `8 N` bytes of each lane. The bytes can be secret.
pub(crate) fn load<S: MulSimd, const N: usize>(simd: S, lanes: [&[u8]; LANES]) -> [S::V; N] {
    // Through memory and not by `gather`: the byte strings of the lanes lie anywhere, and need not be aligned.
    let mut columns = Zeroizing::new([[0; LANES]; N]);
    for (lane, bytes) in lanes.into_iter().enumerate() {
        debug_assert_eq!(bytes.len(), 8 * N);
        for (column, word) in columns.iter_mut().zip(bytes.as_chunks().0) {
            column[lane] = u64::from_le_bytes(*word);
        }
    }
    let mut words = [simd.zero(); N];
    simd.call(
        #[inline(always)]
        || {
            for (word, column) in words.iter_mut().zip(columns.iter()) {
                *word = simd.load(column);
            }
        },
    );
    words
}

/// Returns each lane's four words as bytes.
pub(crate) fn bytes<S: MulSimd>(simd: S, words: &[S::V; 4]) -> [[u8; 32]; LANES] {
    let mut lanes = [[0; 32]; LANES];
    let mut columns = [[0; LANES]; 4];
    simd.call(
        #[inline(always)]
        || {
            for (column, word) in columns.iter_mut().zip(words) {
                *column = word.words();
            }
        },
    );
    for (at, lane) in lanes.iter_mut().enumerate() {
        for (bytes, column) in lane.as_chunks_mut().0.iter_mut().zip(&columns) {
            *bytes = column[at].to_le_bytes();
        }
    }
    lanes
}

/// Converts words of 64 bits to limbs of radix 2^52. Bits above the last limb are cut off.
#[inline(always)]
pub(crate) fn split<S: BlindMulSimd, const N: usize, const M: usize>(
    simd: S,
    words: &[S::V; N],
) -> [S::V; M] {
    let mut limbs = [simd.zero(); M];
    for (at, limb) in limbs.iter_mut().enumerate() {
        *limb = window::<S, 64>(simd, words, RADIX * at, RADIX);
    }
    limbs
}

/// Converts limbs below 2^52 of a value below 2^256 to words of 64 bits.
#[inline(always)]
pub(crate) fn join<S: BlindMulSimd>(simd: S, limbs: &[S::V; 5]) -> [S::V; 4] {
    let mut words = [simd.zero(); 4];
    for (at, word) in words.iter_mut().enumerate() {
        *word = window::<S, RADIX>(simd, limbs, 64 * at, 64);
    }
    words
}

/// Returns `count` bits, at most 64, from bit `from` on, of an integer in carried digits of `DIGIT` bits.
#[inline(always)]
pub(crate) fn window<S: BlindMulSimd, const DIGIT: usize>(
    simd: S,
    digits: &[S::V],
    from: usize,
    count: usize,
) -> S::V {
    let mut bits = simd.zero();
    // Positions are public and the same in all lanes, so the shifts are constants after unrolling.
    let (first, last) = (from / DIGIT, (from + count - 1) / DIGIT);
    for (at, digit) in digits.iter().enumerate().take(last + 1).skip(first) {
        let start = at * DIGIT;
        let part = if start < from {
            digit.shr_each(simd.splat((from - start) as u64))
        } else {
            digit.shl_each(simd.splat((start - from) as u64))
        };
        bits = bits | part;
    }
    // A shift by 64 would overflow, and 64 bits need no mask.
    if count < 64 { bits & simd.splat((1 << count) - 1) } else { bits }
}

/// Loads one row of `8 R` words per lane: word `i` of each lane's row is in vector `i`.
#[inline(always)]
pub(crate) fn load_rows<S: MulSimd, const R: usize>(
    simd: S,
    rows: &[&[Words; R]; LANES],
) -> [[S::V; LANES]; R] {
    let mut columns = [[simd.zero(); LANES]; R];
    for (part, columns) in columns.iter_mut().enumerate() {
        let mut lanes = [simd.zero(); LANES];
        for (lane, row) in lanes.iter_mut().zip(rows) {
            *lane = simd.load(&row[part]);
        }
        *columns = S::V::transpose8(lanes);
    }
    columns
}
