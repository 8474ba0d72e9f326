//! N independent vectors side by side. Every step of an algorithm runs for each vector before the next step, so the
//! multiplications of one fill the waits of the other. A carry takes four cycles per limb, a multiply-add four.

use std::ops::{Add, BitAnd, BitOr, Sub};

use zeroize::Zeroize;

use crate::simd::{BlindMulSimd, BlindMulVector, BlindVector, LaneMask, Mask};

/// N vectors, one or two: one limb of 8 N integers. The steps are written out for both, because loops take the
/// compiler long.
// Not more than two: two elements of five limbs and their columns already take the 32 registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interleaved<V, const N: usize>(pub(crate) [V; N]);

/// A bit per lane of each vector.
pub(crate) type Masks<const N: usize> = [Mask; N];

/// The same for vectors whose words cannot be seen.
pub(crate) type BlindMasks<V, const N: usize> = [<V as BlindVector>::Mask; N];

/// Inverts the bits of masks.
#[inline(always)]
pub(crate) fn not<M: LaneMask, const N: usize>(mut masks: [M; N]) -> [M; N] {
    for mask in &mut masks {
        *mask = !*mask;
    }
    masks
}

/// Returns K parts of limbs from `n` on.
#[inline(always)]
pub(crate) fn part<V: BlindMulVector, const L: usize, const N: usize, const K: usize>(
    limbs: &[Interleaved<V, N>; L],
    n: usize,
) -> [Interleaved<V, K>; L] {
    let mut part = [Interleaved([limbs[0].0[n]; K]); L];
    for limb in 0..L {
        for k in 0..K {
            part[limb].0[k] = limbs[limb].0[n + k];
        }
    }
    part
}

/// Replaces the parts of limbs from `n` on, pinned.
#[inline(always)]
pub(crate) fn set_part<V: BlindMulVector, const L: usize, const N: usize, const K: usize>(
    limbs: &mut [Interleaved<V, N>; L],
    n: usize,
    part: &[Interleaved<V, K>; L],
) {
    for limb in 0..L {
        for k in 0..K {
            // Pinning keeps the steps of the two parts in the order of the source.
            limbs[limb].0[n + k] = part[limb].0[k].pinned();
        }
    }
}

impl<V: BlindMulVector, const N: usize> Interleaved<V, N> {
    /// Returns the same word in every lane.
    #[inline(always)]
    pub(crate) fn splat<S: BlindMulSimd<V = V>>(simd: S, word: u64) -> Self {
        Self([simd.splat(word); N])
    }

    #[inline(always)]
    pub(crate) fn madd_lo(mut self, a: Self, b: Self) -> Self {
        self.0[0] = self.0[0].madd_lo(a.0[0], b.0[0]);
        if N == 2 {
            self.0[1] = self.0[1].madd_lo(a.0[1], b.0[1]);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn madd_hi(mut self, a: Self, b: Self) -> Self {
        self.0[0] = self.0[0].madd_hi(a.0[0], b.0[0]);
        if N == 2 {
            self.0[1] = self.0[1].madd_hi(a.0[1], b.0[1]);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn shl<const BITS: u32>(mut self) -> Self {
        self.0[0] = self.0[0].shl::<BITS>();
        if N == 2 {
            self.0[1] = self.0[1].shl::<BITS>();
        }
        self
    }

    #[inline(always)]
    pub(crate) fn shr<const BITS: u32>(mut self) -> Self {
        self.0[0] = self.0[0].shr::<BITS>();
        if N == 2 {
            self.0[1] = self.0[1].shr::<BITS>();
        }
        self
    }

    #[inline(always)]
    pub(crate) fn sar<const BITS: u32>(mut self) -> Self {
        self.0[0] = self.0[0].sar::<BITS>();
        if N == 2 {
            self.0[1] = self.0[1].sar::<BITS>();
        }
        self
    }

    #[inline(always)]
    pub(crate) fn or_if(mut self, masks: BlindMasks<V, N>, yes: Self) -> Self {
        self.0[0] = self.0[0].or_if(masks[0], yes.0[0]);
        if N == 2 {
            self.0[1] = self.0[1].or_if(masks[1], yes.0[1]);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn add_if(mut self, masks: BlindMasks<V, N>, other: Self) -> Self {
        self.0[0] = self.0[0].add_if(masks[0], other.0[0]);
        if N == 2 {
            self.0[1] = self.0[1].add_if(masks[1], other.0[1]);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn sub_if(mut self, masks: BlindMasks<V, N>, other: Self) -> Self {
        self.0[0] = self.0[0].sub_if(masks[0], other.0[0]);
        if N == 2 {
            self.0[1] = self.0[1].sub_if(masks[1], other.0[1]);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn is_equal(self, other: Self) -> BlindMasks<V, N> {
        let mut masks = [self.0[0].is_equal(other.0[0]); N];
        if N == 2 {
            masks[1] = self.0[1].is_equal(other.0[1]);
        }
        masks
    }

    #[inline(always)]
    pub(crate) fn is_below(self, other: Self) -> BlindMasks<V, N> {
        let mut masks = [self.0[0].is_below(other.0[0]); N];
        if N == 2 {
            masks[1] = self.0[1].is_below(other.0[1]);
        }
        masks
    }

    #[inline(always)]
    pub(crate) fn has_any(self, other: Self) -> BlindMasks<V, N> {
        let mut masks = [self.0[0].has_any(other.0[0]); N];
        if N == 2 {
            masks[1] = self.0[1].has_any(other.0[1]);
        }
        masks
    }
}

impl<V: BlindMulVector, const N: usize> Add for Interleaved<V, N> {
    type Output = Self;

    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        self.0[0] = self.0[0] + other.0[0];
        if N == 2 {
            self.0[1] = self.0[1] + other.0[1];
        }
        self
    }
}

impl<V: BlindMulVector, const N: usize> Sub for Interleaved<V, N> {
    type Output = Self;

    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        self.0[0] = self.0[0] - other.0[0];
        if N == 2 {
            self.0[1] = self.0[1] - other.0[1];
        }
        self
    }
}

impl<V: BlindMulVector, const N: usize> BitAnd for Interleaved<V, N> {
    type Output = Self;

    #[inline(always)]
    fn bitand(mut self, other: Self) -> Self {
        self.0[0] = self.0[0] & other.0[0];
        if N == 2 {
            self.0[1] = self.0[1] & other.0[1];
        }
        self
    }
}

impl<V: BlindMulVector, const N: usize> BitOr for Interleaved<V, N> {
    type Output = Self;

    #[inline(always)]
    fn bitor(mut self, other: Self) -> Self {
        self.0[0] = self.0[0] | other.0[0];
        if N == 2 {
            self.0[1] = self.0[1] | other.0[1];
        }
        self
    }
}

impl<V: BlindMulVector, const N: usize> Zeroize for Interleaved<V, N> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
