//! Products of a kept key's rows with a vector of polynomials, in the transformed domain. FIPS 203 2.4.7 and algorithm
//! 11.
//!
//! Two coefficients of a job are one half lane of 32 bits, so one instruction multiplies both and adds the products. A
//! pair of polynomials' words becomes two vectors: the jobs of the even quarters, and those of the odd ones.

use zeroize::Zeroize;

use super::key::{KeptKey, POLY_WORDS};
use super::reduce::{divide_sums, reduce};
use super::transform::GAMMAS;
use super::{COEFFICIENTS, GROUPS, KemSet, MAX_K, Poly};
use crate::simd::{LaneArray, LaneValues, ShortSimd, ShortVector, Vector};

/// The pairs of a polynomial.
const PAIRS: usize = COEFFICIENTS / 2;

/// The jobs of the even and of the odd quarters.
type Pair<V> = [V; 2];

/// A factor (y0, y1) of every pair, as the products need it: (y0, gamma y1) and (y1, y0).
#[derive(Clone, Copy, Zeroize)]
pub(super) struct FactorPair<V: Zeroize> {
    straight: Pair<V>,
    crossed: Pair<V>,
}

impl<V: Vector> FactorPair<V> {
    pub(super) fn splat(word: V) -> Self {
        Self { straight: [word; 2], crossed: [word; 2] }
    }
}

/// Prepares a polynomial between -8 q and 8 q as a factor.
pub(super) fn prepare<S: ShortSimd>(simd: S, poly: &Poly<S::V>, out: &mut [FactorPair<S::V>]) {
    simd.call(
        #[inline(always)]
        || {
            let quarters = simd.splat32(0xFFFF);
            for ((pair, out), gamma) in poly.as_chunks::<2>().0.iter().zip(out).zip(GAMMAS) {
                let [first, second] = *pair;
                let times_gamma = gamma.times(simd, second);
                let (low, high) = Vector::swap_halves::<16>(first, times_gamma, quarters);
                out.straight = [low, high];
                let (low, high) = Vector::swap_halves::<16>(second, first, quarters);
                out.crossed = [low, high];
            }
        },
    );
}

/// The keys of the jobs that are computed together.
pub(super) enum GroupKeys<'a> {
    /// One key for all jobs.
    Same(&'a KeptKey),
    /// A key for each job, and the last one again for places without a job.
    Each(&'a [&'a KeptKey]),
}

impl<'a> GroupKeys<'a> {
    pub(super) fn new(keys: &'a [&'a KeptKey]) -> Self {
        match keys {
            [first, others @ ..] if others.iter().all(|key| std::ptr::eq(*key, *first)) => Self::Same(first),
            _ => Self::Each(keys),
        }
    }

    /// Returns a word of each job of a group, which `word` reads from its key.
    #[inline(always)]
    pub(super) fn load<S: ShortSimd>(&self, simd: S, group: usize, word: impl Fn(&KeptKey) -> u64) -> S::V {
        match self {
            Self::Same(key) => simd.splat(word(key)),
            Self::Each(keys) => simd.load(&LaneArray::from_fn(
                #[inline(always)]
                |lane| word(key_at(keys, group * S::V::WORDS + lane)),
            )),
        }
    }
}

#[inline(always)]
fn key_at<'a>(keys: &[&'a KeptKey], job: usize) -> &'a KeptKey {
    keys[job.min(keys.len() - 1)]
}

/// Multiplies row `row` of kept keys with the vector of `factors`, whose polynomials have [`PAIRS`] pairs each. The
/// result is between 0 and q, inclusive.
pub(super) fn multiply<S: ShortSimd, P: KemSet>(
    simd: S,
    keys: &GroupKeys<'_>,
    row: usize,
    factors: &[FactorPair<S::V>],
    out: &mut Poly<S::V>,
) {
    match keys {
        GroupKeys::Same(key) => simd.call(
            #[inline(always)]
            || {
                let polys: [_; MAX_K] = std::array::from_fn(|column| key.poly::<P>(row, column));
                products::<S, P>(
                    simd,
                    factors,
                    out,
                    #[inline(always)]
                    |column, at| [simd.splat32((polys[column][at / 2] >> (32 * (at % 2))) as u32); 2],
                );
            },
        ),
        GroupKeys::Each(keys) => {
            multiply_each::<S, P>(simd, |job, column| key_at(keys, job).poly::<P>(row, column), factors, out);
        }
    }
}

/// As [`multiply`] for a row whose polynomials `poly` returns for each job and column.
pub(super) fn multiply_each<'a, S: ShortSimd, P: KemSet>(
    simd: S,
    poly: impl Fn(usize, usize) -> &'a [u64; POLY_WORDS],
    factors: &[FactorPair<S::V>],
    out: &mut Poly<S::V>,
) {
    simd.call(
        #[inline(always)]
        || {
            // The pairs of as many words of each job as a vector has.
            let mut loaded = [[[simd.zero(); 2]; 2 * MAX_WORDS]; MAX_K];
            for (block, out) in out.chunks_mut(4 * S::V::WORDS).enumerate() {
                for (column, loaded) in loaded.iter_mut().enumerate().take(P::K) {
                    load_pairs(
                        simd,
                        #[inline(always)]
                        |job| &LaneArray::chunks(&poly(job, column)[..]).0[block],
                        loaded,
                    );
                }
                let first = 2 * S::V::WORDS * block;
                for (at, out) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    *out = product::<S, P>(
                        simd,
                        first + at,
                        factors,
                        #[inline(always)]
                        |column| loaded[column][at],
                    );
                }
            }
        },
    );
}

/// As [`multiply`] for a row whose polynomials are in lanes.
pub(super) fn multiply_lanes<S: ShortSimd, P: KemSet>(
    simd: S,
    row: &[Poly<S::V>],
    factors: &[FactorPair<S::V>],
    out: &mut Poly<S::V>,
) {
    simd.call(
        #[inline(always)]
        || {
            let quarters = simd.splat32(0xFFFF);
            products::<S, P>(
                simd,
                factors,
                out,
                #[inline(always)]
                |column, at| {
                    let (first, second) = (row[column][2 * at], row[column][2 * at + 1]);
                    let (low, high) = Vector::swap_halves::<16>(first, second, quarters);
                    [low, high]
                },
            );
        },
    );
}

/// Computes all pairs of a product with the row that `key` returns for a column and a pair.
#[inline(always)]
fn products<S: ShortSimd, P: KemSet>(
    simd: S,
    factors: &[FactorPair<S::V>],
    out: &mut Poly<S::V>,
    key: impl Fn(usize, usize) -> Pair<S::V>,
) {
    for (at, out) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        *out = product::<S, P>(
            simd,
            at,
            factors,
            #[inline(always)]
            |column| key(column, at),
        );
    }
}

/// The words of the widest vector.
const MAX_WORDS: usize = 8;

/// Loads a block of pairs of one polynomial of every job, of which `words` returns the words.
#[inline(always)]
fn load_pairs<'a, S: ShortSimd>(
    simd: S,
    words: impl Fn(usize) -> &'a LaneValues<S::V, u64>,
    out: &mut [Pair<S::V>; 2 * MAX_WORDS],
) {
    let words: [_; GROUPS] = std::array::from_fn(
        #[inline(always)]
        |group| {
            S::V::transpose(LaneArray::from_fn(
                #[inline(always)]
                |lane| simd.load(words(group * S::V::WORDS + lane)),
            ))
        },
    );
    let halves = simd.splat(0xFFFF_FFFF);
    for (at, out) in out.as_chunks_mut::<2>().0.iter_mut().enumerate().take(S::V::WORDS) {
        let word = |group: usize| words[group].as_ref()[at];
        let (even, next_even) = Vector::swap_halves::<32>(word(0), word(2), halves);
        let (odd, next_odd) = Vector::swap_halves::<32>(word(1), word(3), halves);
        *out = [[even, odd], [next_even, next_odd]];
    }
}

/// Multiplies pair `at` of a row with the vector and reduces both sums.
#[inline(always)]
fn product<S: ShortSimd, P: KemSet>(
    simd: S,
    at: usize,
    factors: &[FactorPair<S::V>],
    key: impl Fn(usize) -> Pair<S::V>,
) -> [S::V; 2] {
    let zero = [simd.zero(); 2];
    let (mut straight, mut crossed) = (zero, zero);
    for column in 0..P::K {
        let (key, factor) = (key(column), &factors[PAIRS * column + at]);
        for side in 0..2 {
            straight[side] = straight[side].add32(key[side].madd16(factor.straight[side]));
            crossed[side] = crossed[side].add32(key[side].madd16(factor.crossed[side]));
        }
    }
    [
        reduce(simd, divide_sums(simd, straight[0], straight[1])),
        reduce(simd, divide_sums(simd, crossed[0], crossed[1])),
    ]
}
