//! The integers modulo p = 2^384 - 2^128 - 2^96 + 2^32 - 1. SP 800-186 3.2.1.4. `docs/math/p384.md` has bounds and
//! counts.

use crate::ecdsa::constants::limbs;
use crate::ecdsa::element::{Element, LooseElement, ProductColumns};
use crate::ecdsa::interleaved::Interleaved;
use crate::ecdsa::kernels::{carry, rows};
use crate::ecdsa::ring::{FieldModulus, OddModulus};
use crate::simd::BlindMulSimd;

/// The prime p of P-384.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPrime;

impl OddModulus<8> for FieldPrime {
    const LIMBS: [u64; 8] = limbs(
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
    );

    /// Reduces with -1/p = 2^32 + 1 mod 2^64, which gives the digit q by a shift. Of q p, the terms -q 2^96 and -q
    /// 2^128 are shifts, which run beside the multiplications.
    #[inline(always)]
    fn reduce<S: BlindMulSimd, const N: usize>(
        simd: S,
        mut wide: ProductColumns<S::V, 8, N>,
    ) -> LooseElement<S::V, 8, N> {
        let (bottom, top) = (Interleaved::splat(simd, (1 << 32) - 1), Interleaved::splat(simd, 1 << 20));
        rows::<S::V, 8>(
            #[inline(always)]
            |row| {
                let column = wide.at(row);
                let digit = column + column.shl::<32>();
                // Shifts to the left and back cut q to its 52 bits without a mask. q 2^96 begins at bit 44 of limb
                // row + 1, and q 2^128 at bit 24 of limb row + 2; each is split between two limbs.
                let aligned = digit.shl::<12>();
                wide.add(row + 1, column.madd_lo(digit, bottom).sar::<52>());
                wide.set(row + 1, wide.at(row + 1).madd_hi(digit, bottom));
                wide.sub(row + 1, digit.shl::<56>().shr::<12>());
                wide.sub(row + 2, aligned.shr::<20>());
                wide.sub(row + 2, digit.shl::<36>().shr::<12>());
                wide.sub(row + 3, aligned.shr::<40>());
                wide.set(row + 7, wide.at(row + 7).madd_lo(digit, top));
                wide.set(row + 8, wide.at(row + 8).madd_hi(digit, top));
            },
        );
        LooseElement(wide.high)
    }
}

impl FieldModulus<8> for FieldPrime {
    /// Folds the part above 2^384. The quotient t is rounded down a little, so the result is not negative: `v - t p
    /// = v - t 2^384 + t (2^128 + 2^96 - 2^32 + 1)`.
    #[inline(always)]
    fn reduce_weakly<S: BlindMulSimd, const N: usize>(
        simd: S,
        loose: LooseElement<S::V, 8, N>,
    ) -> Element<S::V, 8, N> {
        let mut limbs = loose.0;
        // 2^10 covers the borrows of lower limbs, so the result is positive: docs/math/p384.md, Weak reduction.
        let t = (limbs[7] - Interleaved::splat(simd, 1 << 10)).sar::<20>();
        limbs[0] = limbs[0] + t - t.shl::<32>();
        limbs[1] = limbs[1] + t.shl::<44>();
        limbs[2] = limbs[2] + t.shl::<24>();
        limbs[7] = limbs[7] - t.shl::<20>();
        carry(simd, LooseElement(limbs))
    }
}
