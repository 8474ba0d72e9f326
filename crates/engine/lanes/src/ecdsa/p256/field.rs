//! The integers modulo p = 2^256 - 2^224 + 2^192 + 2^96 - 1. SP 800-186 3.2.1.3. `docs/math/p256.md` has bounds and
//! counts.

use crate::ecdsa::constants::limbs;
use crate::ecdsa::element::{Element, LooseElement, ProductColumns};
use crate::ecdsa::interleaved::Interleaved;
use crate::ecdsa::kernels::carry;
use crate::ecdsa::ring::{FieldModulus, OddModulus};
use crate::simd::BlindMulSimd;

/// The prime p of P-256.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPrime;

impl OddModulus<5> for FieldPrime {
    const LIMBS: [u64; 5] = limbs("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");

    /// Reduces with the column itself as the digit of its row, because -1/p = 1 mod 2^96. Adding q p clears the
    /// column: -q cancels it. The terms q 2^96 and half of q 2^192 are shifts, which run beside the multiplications.
    #[inline(always)]
    fn reduce<S: BlindMulSimd, const N: usize>(
        simd: S,
        mut wide: ProductColumns<S::V, 5, N>,
    ) -> LooseElement<S::V, 5, N> {
        // p + 1 = 2^96 + 2^192 + (2^256 - 2^224): bit 44 of limb 1, bit 36 of limb 3, and 2^48 - 2^16 in limb 4.
        let [first, third, top] =
            [1 << 44, 1 << 36, (1 << 48) - (1 << 16)].map(|word| Interleaved::splat(simd, word));
        for row in 0..5 {
            let digit = wide.at(row);
            wide.set(row + 1, wide.at(row + 1).madd_lo(digit, first));
            // Arithmetic, because columns are signed: `double` reduces a negative multiple of a square.
            wide.add(row + 1, digit.sar::<52>());
            wide.set(row + 2, wide.at(row + 2).madd_hi(digit, first));
            wide.set(row + 3, wide.at(row + 3).madd_lo(digit, third));
            wide.set(row + 4, wide.at(row + 4).madd_hi(digit, third));
            wide.set(row + 4, wide.at(row + 4).madd_lo(digit, top));
            wide.set(row + 5, wide.at(row + 5).madd_hi(digit, top));
        }
        LooseElement(wide.high)
    }
}

impl FieldModulus<5> for FieldPrime {
    /// Folds the part above 2^256. The quotient t is rounded down a little, so the result is not negative: `v - t p
    /// = v - t 2^256 + t (2^224 - 2^192 - 2^96 + 1)`.
    #[inline(always)]
    fn reduce_weakly<S: BlindMulSimd, const N: usize>(
        simd: S,
        loose: LooseElement<S::V, 5, N>,
    ) -> Element<S::V, 5, N> {
        let mut limbs = loose.0;
        // 2^21 covers the borrows of lower limbs and t 2^224, so the result is positive: docs/math/p256.md, Weak
        // reduction.
        let t = (limbs[4] - Interleaved::splat(simd, 1 << 21)).sar::<48>();
        limbs[0] = limbs[0] + t;
        limbs[1] = limbs[1] - t.shl::<44>();
        limbs[3] = limbs[3] - t.shl::<36>();
        limbs[4] = limbs[4] - t.shl::<48>() + t.shl::<16>();
        carry(simd, LooseElement(limbs))
    }
}
