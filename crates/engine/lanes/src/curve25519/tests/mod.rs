//! Tests against big integers and affine arithmetic, on both leaves.

mod field;
mod group;
mod scalars;

use num_bigint::BigUint;

use crate::simd::{LANES, MulSimd, MulVector, Words};

/// Pseudorandom numbers (SplitMix64).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.word() as u8)
    }
}

/// Runs a test on every leaf of this machine. On x86-64, the portable ones need the feature `portable`.
macro_rules! on_every_leaf {
    ($test:ident) => {{
        crate::curve25519::tests::on_every_leaf_of_limbs!($test);
        #[cfg(any(feature = "portable", miri, not(target_arch = "x86_64")))]
        $test(crate::simd::PortableFma);
        #[cfg(target_arch = "x86_64")]
        if let Some(fma) = <crate::simd::FmaSimd as crate::simd::Cpu>::detect() {
            $test(fma);
        }
    }};
}
pub(super) use on_every_leaf;

/// Runs a test on every leaf of this machine that has products of 52 bits.
macro_rules! on_every_leaf_of_limbs {
    ($test:ident) => {{
        #[cfg(any(feature = "portable", miri, not(target_arch = "x86_64")))]
        $test(crate::simd::PortableSimd);
        #[cfg(target_arch = "x86_64")]
        if let Some(ifma) = <crate::simd::IfmaSimd as crate::simd::Cpu>::detect() {
            $test(ifma);
        }
    }};
}
pub(super) use on_every_leaf_of_limbs;

pub(super) fn p() -> BigUint {
    (BigUint::from(1_u8) << 255) - 19_u8
}

pub(super) fn order() -> BigUint {
    (BigUint::from(1_u8) << 252) + "27742317777372353535851937790883648493".parse::<BigUint>().unwrap()
}

/// Returns the integer of each lane from limbs of which the low 52 bits count.
pub(super) fn integers<V: MulVector>(limbs: &[V]) -> [BigUint; LANES] {
    let words: Vec<Words> = limbs.iter().map(|limb| limb.words()).collect();
    std::array::from_fn(|lane| {
        words.iter().rev().fold(BigUint::default(), |sum, limb| (sum << 52) + (limb[lane] & ((1 << 52) - 1)))
    })
}

/// Returns one integer per lane as limbs of radix 2^52.
pub(super) fn limbs<S: MulSimd>(simd: S, lanes: &[BigUint; LANES]) -> [S::V; 5] {
    std::array::from_fn(|at| {
        let limb = |value: &BigUint| (value >> (52 * at)) & BigUint::from((1_u64 << 52) - 1);
        simd.load(&lanes.each_ref().map(|value| limb(value).try_into().unwrap()))
    })
}
