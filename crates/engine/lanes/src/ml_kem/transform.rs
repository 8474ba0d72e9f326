//! The number-theoretic transform, across polynomials: a vector holds one coefficient of every job. FIPS 203 4.3.

use super::reduce::{ConstantFactor, reduce};
use super::{COEFFICIENTS, Poly};
use crate::simd::{ShortSimd, ShortVector};

/// The powers of zeta = 17 in the order of FIPS 203 appendix A: factor `i` is zeta to the bit reversal of `i`.
pub(super) const ZETAS: [ConstantFactor; 128] = powers(1, 0);

/// The factors by which products of pairs are reduced: zeta to 2 b + 1, where b is the bit reversal of the index. FIPS
/// 203 algorithm 11.
pub(super) const GAMMAS: [ConstantFactor; COEFFICIENTS / 2] = powers(2, 1);

/// Returns zeta to `times` b + `plus` for the bit reversal b of each index of seven bits.
const fn powers(times: u32, plus: u32) -> [ConstantFactor; 128] {
    let mut factors = [ConstantFactor::new(0); 128];
    let mut at = 0;
    while at < factors.len() {
        let exponent = times * ((at as u8).reverse_bits() >> 1) as u32 + plus;
        let (mut power, mut count) = (1, 0);
        while count < exponent {
            power = power * 17 % 3329;
            count += 1;
        }
        factors[at] = ConstantFactor::new(power);
        at += 1;
    }
    factors
}

/// Transforms coefficients between -q and q. The result is between -8 q and 8 q. FIPS 203 algorithm 9.
pub(super) fn forward<S: ShortSimd>(simd: S, poly: &mut Poly<S::V>) {
    simd.call(
        #[inline(always)]
        || {
            forward_layers::<S, 8>(simd, poly, 128);
            forward_layers::<S, 4>(simd, poly, 16);
            forward_layers::<S, 4>(simd, poly, 4);
        },
    );
}

/// Computes the layers from distance `first` on, two for 4 words that are loaded together, and three for 8.
#[inline(always)]
fn forward_layers<S: ShortSimd, const WORDS: usize>(simd: S, poly: &mut Poly<S::V>, first: usize) {
    let stride = 2 * first / WORDS;
    for (block, words) in poly.chunks_exact_mut(2 * first).enumerate() {
        let zeta = COEFFICIENTS / (2 * first) + block;
        for at in 0..stride {
            let mut loaded: [S::V; WORDS] = std::array::from_fn(
                #[inline(always)]
                |word| words[at + stride * word],
            );
            let (mut half, mut parts) = (WORDS / 2, 1);
            while half > 0 {
                for part in 0..parts {
                    let factor = ZETAS[zeta * parts + part];
                    for low in 2 * half * part..2 * half * part + half {
                        let product = factor.times(simd, loaded[low + half]);
                        (loaded[low], loaded[low + half]) =
                            (loaded[low].add16(product), loaded[low].sub16(product));
                    }
                }
                (half, parts) = (half / 2, 2 * parts);
            }
            for (word, loaded) in loaded.into_iter().enumerate() {
                words[at + stride * word] = loaded;
            }
        }
    }
}

/// Transforms coefficients from 0 to q back and multiplies them by `scale`, which undoes the factor 128. The result is
/// between -q and q. FIPS 203 algorithm 10.
pub(super) fn inverse<S: ShortSimd>(simd: S, poly: &mut Poly<S::V>, scale: ConstantFactor) {
    simd.call(
        #[inline(always)]
        || {
            inverse_layers::<S, 4>(simd, poly, 2, 2);
            inverse_layers::<S, 4>(simd, poly, 8, 0);
            inverse_layers::<S, 8>(simd, poly, 32, 1);
            for word in poly.iter_mut() {
                *word = scale.times(simd, *word);
            }
        },
    );
}

/// Computes the layers from distance `first` up. Sums of the layer `reduced` among them are reduced.
#[inline(always)]
fn inverse_layers<S: ShortSimd, const WORDS: usize>(
    simd: S,
    poly: &mut Poly<S::V>,
    first: usize,
    reduced: usize,
) {
    for (block, words) in poly.chunks_exact_mut(WORDS * first).enumerate() {
        for at in 0..first {
            let mut loaded: [S::V; WORDS] = std::array::from_fn(
                #[inline(always)]
                |word| words[at + first * word],
            );
            let (mut half, mut layer) = (1, 0);
            while half < WORDS {
                let parts = WORDS / (2 * half);
                // The factors are used from the last to the first.
                let last = COEFFICIENTS / (first * half) - 1 - block * parts;
                for part in 0..parts {
                    let factor = ZETAS[last - part];
                    for low in 2 * half * part..2 * half * part + half {
                        let (a, b) = (loaded[low], loaded[low + half]);
                        let sum = a.add16(b);
                        loaded[low] = if layer == reduced { reduce(simd, sum) } else { sum };
                        loaded[low + half] = factor.times(simd, b.sub16(a));
                    }
                }
                (half, layer) = (2 * half, layer + 1);
            }
            for (word, loaded) in loaded.into_iter().enumerate() {
                words[at + first * word] = loaded;
            }
        }
    }
}
