//! The number-theoretic transform of ML-KEM. FIPS 203 4.3.

use super::reduce::{KemFactor, reduce};
use super::{COEFFICIENTS, Poly};
use crate::lattice::transform::{InverseScale, TransformField, forward_layers, inverse_layers};
use crate::simd::{ShortSimd, ShortVector};

/// The powers of zeta = 17 in the order of FIPS 203 appendix A: factor `i` is zeta to the bit reversal of `i`.
pub(super) const ZETAS: [KemFactor; 128] = powers(1, 0);

/// The factors by which products of pairs are reduced: zeta to 2 b + 1, where b is the bit reversal of the index. FIPS
/// 203 algorithm 11.
pub(super) const GAMMAS: [KemFactor; COEFFICIENTS / 2] = powers(2, 1);

/// Returns zeta to `times` b + `plus` for the bit reversal b of each index of seven bits.
const fn powers(times: u32, plus: u32) -> [KemFactor; 128] {
    let mut factors = [KemFactor::new(0); 128];
    let mut at = 0;
    while at < factors.len() {
        let exponent = times * ((at as u8).reverse_bits() >> 1) as u32 + plus;
        let (mut power, mut count) = (1, 0);
        while count < exponent {
            power = power * 17 % 3329;
            count += 1;
        }
        factors[at] = KemFactor::new(power);
        at += 1;
    }
    factors
}

/// The field of ML-KEM, in units of 16 bits.
struct KemField;

impl TransformField for KemField {
    type Factor = KemFactor;

    #[inline(always)]
    fn zeta(at: usize) -> KemFactor {
        // The compiler does not see that the index is in range.
        ZETAS[at % ZETAS.len()]
    }

    #[inline(always)]
    fn times<S: ShortSimd>(simd: S, factor: KemFactor, words: S::V) -> S::V {
        factor.times(simd, words)
    }

    #[inline(always)]
    fn add<V: ShortVector>(a: V, b: V) -> V {
        a.add16(b)
    }

    #[inline(always)]
    fn sub<V: ShortVector>(a: V, b: V) -> V {
        a.sub16(b)
    }

    #[inline(always)]
    fn inverse_sum<S: ShortSimd>(simd: S, distance: usize, a: S::V, b: S::V) -> S::V {
        let sum = a.add16(b);
        if matches!(distance, 8 | 64) { reduce(simd, sum) } else { sum }
    }
}

/// Transforms coefficients between -q and q. The result is between -8 q and 8 q. FIPS 203 algorithm 9.
pub(super) fn forward<S: ShortSimd>(simd: S, poly: &mut Poly<S::V>) {
    simd.call(
        #[inline(always)]
        || {
            forward_layers::<S, KemField, 8, 256>(simd, poly);
            forward_layers::<S, KemField, 4, 32>(simd, poly);
            forward_layers::<S, KemField, 4, 8>(simd, poly);
        },
    );
}

/// Returns the scale of an inverse transform that multiplies by a number.
pub(super) const fn inverse_scale(number: u32) -> InverseScale<KemFactor> {
    // 1729 is the root of the last layer.
    let differences = KemFactor::new((number as u64 * 1729 % 3329) as u32);
    InverseScale { sums: KemFactor::new(number), differences }
}

/// Transforms coefficients from 0 to q back and multiplies them by `scale`, which undoes the factor 128. The result is
/// between -q and q. FIPS 203 algorithm 10.
pub(super) fn inverse<S: ShortSimd>(simd: S, poly: &mut Poly<S::V>, scale: InverseScale<KemFactor>) {
    simd.call(
        #[inline(always)]
        || {
            inverse_layers::<S, KemField, 4, 8>(simd, poly, None);
            inverse_layers::<S, KemField, 4, 32>(simd, poly, None);
            inverse_layers::<S, KemField, 8, 256>(simd, poly, Some(scale));
        },
    );
}
