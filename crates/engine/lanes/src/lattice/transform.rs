//! The layers of the number-theoretic transform, across polynomials: a vector holds one coefficient of every job. FIPS
//! 203 4.3 and FIPS 204 7.5.

use super::{COEFFICIENTS, Poly};
use crate::simd::{ShortSimd, ShortVector};

/// The field of the coefficients, and the units that hold them.
pub(crate) trait TransformField {
    /// A constant factor.
    type Factor: Copy;

    /// Returns the root of unity to the bit reversal of `at`, of as many bits as the transform has layers.
    fn zeta(at: usize) -> Self::Factor;

    /// Computes a product, whose bound does not depend on the words.
    fn times<S: ShortSimd>(simd: S, factor: Self::Factor, words: S::V) -> S::V;

    fn add<V: ShortVector>(a: V, b: V) -> V;

    fn sub<V: ShortVector>(a: V, b: V) -> V;

    /// Computes a sum of the inverse layer with this distance, reduced if later layers need that.
    fn inverse_sum<S: ShortSimd>(simd: S, distance: usize, a: S::V, b: S::V) -> S::V;
}

/// The factors of the last layer of the inverse transform: a number, and the same times the layer's root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InverseScale<F> {
    pub(crate) sums: F,
    pub(crate) differences: F,
}

/// Computes the layers from distance `BLOCK` / 2 on, two for 4 words that are loaded together, and three for 8.
#[inline(always)]
pub(crate) fn forward_layers<S: ShortSimd, F: TransformField, const WORDS: usize, const BLOCK: usize>(
    simd: S,
    poly: &mut Poly<S::V>,
) {
    let stride = BLOCK / WORDS;
    for (block, words) in poly.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let zeta = COEFFICIENTS / BLOCK + block;
        for at in 0..stride {
            let mut loaded: [S::V; WORDS] = std::array::from_fn(
                #[inline(always)]
                |word| words[at + stride * word],
            );
            let (mut half, mut parts) = (WORDS / 2, 1);
            while half > 0 {
                for part in 0..parts {
                    let factor = F::zeta(zeta * parts + part);
                    for low in 2 * half * part..2 * half * part + half {
                        let product = F::times(simd, factor, loaded[low + half]);
                        (loaded[low], loaded[low + half]) =
                            (F::add(loaded[low], product), F::sub(loaded[low], product));
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

/// Computes the layers up to distance `BLOCK` / 2: two for 4 words that are loaded together, and three for 8. The last
/// layer of the transform needs a scale.
#[inline(always)]
pub(crate) fn inverse_layers<S: ShortSimd, F: TransformField, const WORDS: usize, const BLOCK: usize>(
    simd: S,
    poly: &mut Poly<S::V>,
    scale: Option<InverseScale<F::Factor>>,
) {
    let first = BLOCK / WORDS;
    for (block, words) in poly.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        for at in 0..first {
            let mut loaded: [S::V; WORDS] = std::array::from_fn(
                #[inline(always)]
                |word| words[at + first * word],
            );
            let mut half = 1;
            while half < WORDS {
                let parts = WORDS / (2 * half);
                let scale = scale.filter(|_| parts == 1);
                // The factors are used from the last to the first.
                let last = COEFFICIENTS / (first * half) - 1 - block * parts;
                for part in 0..parts {
                    for low in 2 * half * part..2 * half * part + half {
                        let (a, b) = (loaded[low], loaded[low + half]);
                        (loaded[low], loaded[low + half]) = match scale {
                            Some(InverseScale { sums, differences }) => (
                                F::times(simd, sums, F::add(a, b)),
                                F::times(simd, differences, F::sub(b, a)),
                            ),
                            None => (
                                F::inverse_sum(simd, first * half, a, b),
                                F::times(simd, F::zeta(last - part), F::sub(b, a)),
                            ),
                        };
                    }
                }
                half *= 2;
            }
            for (word, loaded) in loaded.into_iter().enumerate() {
                words[at + first * word] = loaded;
            }
        }
    }
}
