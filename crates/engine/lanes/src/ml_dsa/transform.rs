//! The number-theoretic transform of ML-DSA. FIPS 204 7.5.

use super::reduce::{DsaFactor, Q};
use super::{COEFFICIENTS, Poly};
use crate::lattice::transform::{InverseScale, TransformField, forward_layers, inverse_layers};
use crate::simd::{ShortSimd, ShortVector, Vector};

/// The root of unity. FIPS 204 table 1.
pub(super) const ZETA: u64 = 1753;

/// The powers of zeta: factor `i` is zeta to the bit reversal of `i`. FIPS 204 appendix B.
const ZETAS: [DsaFactor; COEFFICIENTS] = {
    let mut powers = [0; COEFFICIENTS];
    let (mut power, mut exponent) = (1, 0);
    while exponent < COEFFICIENTS {
        powers[(exponent as u8).reverse_bits() as usize] = power;
        power = power * ZETA % Q as u64;
        exponent += 1;
    }
    let mut factors = [DsaFactor::new(0); COEFFICIENTS];
    let mut at = 0;
    while at < COEFFICIENTS {
        factors[at] = DsaFactor::new(powers[at]);
        at += 1;
    }
    factors
};

/// The root of the last layer of the inverse transform: zeta to 128.
const LAST_ROOT: u64 = {
    let (mut power, mut exponent) = (1, 0);
    while exponent < 128 {
        power = power * ZETA % Q as u64;
        exponent += 1;
    }
    power
};

/// The inverse of 256, by which the inverse transform multiplies.
const OVER_256: u64 = 8_347_681;

/// The field of ML-DSA, in units of 32 bits.
struct DsaField;

impl TransformField for DsaField {
    type Factor = DsaFactor;

    #[inline(always)]
    fn zeta(at: usize) -> DsaFactor {
        // The compiler does not see that the index is in range.
        ZETAS[at % ZETAS.len()]
    }

    #[inline(always)]
    fn times<S: ShortSimd>(simd: S, factor: DsaFactor, words: S::V) -> S::V {
        factor.times(simd, words)
    }

    #[inline(always)]
    fn add<V: ShortVector>(a: V, b: V) -> V {
        a.add32(b)
    }

    #[inline(always)]
    fn sub<V: ShortVector>(a: V, b: V) -> V {
        a.sub32(b)
    }

    #[inline(always)]
    fn inverse_sum<S: ShortSimd>(_simd: S, _distance: usize, a: S::V, b: S::V) -> S::V {
        a.add32(b)
    }
}

/// Transforms coefficients between -q and q. The result is between -9 q and 9 q. FIPS 204 algorithm 41.
pub(super) fn forward<S: ShortSimd>(simd: S, poly: &mut Poly<S::V>) {
    simd.call(
        #[inline(always)]
        || {
            forward_layers::<S, DsaField, 8, 256>(simd, poly);
            forward_layers::<S, DsaField, 8, 32>(simd, poly);
            forward_layers::<S, DsaField, 4, 4>(simd, poly);
        },
    );
}

/// Returns the scale of an inverse transform that multiplies by 2^`bits`.
pub(super) const fn inverse_scale(bits: u32) -> InverseScale<DsaFactor> {
    let number = (OVER_256 << bits) % Q as u64;
    let differences = number * LAST_ROOT % Q as u64;
    InverseScale { sums: DsaFactor::new(number), differences: DsaFactor::new(differences) }
}

/// Transforms coefficients back that [`divide_sums`](super::reduce::divide_sums) has made, and scales them. The result
/// is between -q and q. FIPS 204 algorithm 42.
pub(super) fn inverse<S: ShortSimd>(simd: S, poly: &mut Poly<S::V>, scale: InverseScale<DsaFactor>) {
    simd.call(
        #[inline(always)]
        || {
            inverse_layers::<S, DsaField, 8, 8>(simd, poly, None);
            inverse_layers::<S, DsaField, 8, 64>(simd, poly, None);
            inverse_layers::<S, DsaField, 4, 256>(simd, poly, Some(scale));
        },
    );
}
