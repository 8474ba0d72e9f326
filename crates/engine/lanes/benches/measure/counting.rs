//! The portable leaf with a counter of multiplications, for the minimum times of
//! `docs/performance/public-key.md`.

use std::cell::Cell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use zeroize::Zeroize;

use crate::curve25519::field::field_of_limbs;
use crate::ecdsa::field::curves_of_limbs;
use crate::simd::Leaf;
use crate::simd::{
    BlindMulVector, BlindSimd, BlindVector, Cpu, HalfMask, LANES, Mask, MulSimd, MulVector, PortableSimd,
    PortableVector, Simd, Vector, Words,
};

thread_local! {
    static MULTIPLICATIONS: Cell<u64> = const { Cell::new(0) };
}

/// A token for any CPU, whose vectors count the `vpmadd52` instructions that AVX-512 would execute on this thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountingSimd;

/// A vector whose multiplications are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedVector(PortableVector);

impl CountingSimd {
    /// Returns the number of multiply-add instructions that `body` executes.
    pub(crate) fn count(body: impl FnOnce()) -> u64 {
        let before = MULTIPLICATIONS.get();
        body();
        MULTIPLICATIONS.get() - before
    }
}

fn one_more() {
    MULTIPLICATIONS.set(MULTIPLICATIONS.get() + 1);
}

impl Cpu for CountingSimd {
    const LEAF: Leaf = Leaf::Portable;

    fn detect() -> Option<Self> {
        Some(Self)
    }

    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }

    fn clear_registers(self) {}
}

impl MulSimd for CountingSimd {
    type RunState = ();

    #[inline(always)]
    fn run_state(self) {}
}

field_of_limbs!(CountingSimd);
curves_of_limbs!(CountingSimd);

impl BlindSimd for CountingSimd {
    type V = CountedVector;

    fn splat(self, word: u64) -> CountedVector {
        CountedVector(PortableSimd.splat(word))
    }
}

impl Simd for CountingSimd {
    fn load(self, words: &Words) -> CountedVector {
        CountedVector(PortableSimd.load(words))
    }

    fn load_bytes(self, bytes: &[u8; 8 * LANES]) -> CountedVector {
        CountedVector(PortableSimd.load_bytes(bytes))
    }

    fn splat32(self, word: u32) -> CountedVector {
        CountedVector(PortableSimd.splat32(word))
    }

    fn load_prefix(self, bytes: &[u8]) -> CountedVector {
        CountedVector(PortableSimd.load_prefix(bytes))
    }
}

impl BlindVector for CountedVector {
    type Mask = Mask;

    fn shl<const N: u32>(self) -> Self {
        Self(self.0.shl::<N>())
    }

    fn shr<const N: u32>(self) -> Self {
        Self(self.0.shr::<N>())
    }

    fn and_not(self, other: Self) -> Self {
        Self(self.0.and_not(other.0))
    }

    fn add_if(self, mask: Mask, other: Self) -> Self {
        Self(self.0.add_if(mask, other.0))
    }
}

impl Vector for CountedVector {
    const WORDS: usize = LANES;
    const HAS_TERNARY: bool = true;
    const HASHES_IN_PAIRS: bool = true;

    type Lanes<T: Copy> = [T; LANES];
    type Bytes = [u8; 8 * LANES];

    fn words(self) -> Words {
        self.0.words()
    }

    fn store_prefix(self, out: &mut [u8]) {
        self.0.store_prefix(out);
    }

    fn rotr<const N: i32>(self) -> Self {
        Self(self.0.rotr::<N>())
    }

    fn swap_bytes(self) -> Self {
        Self(self.0.swap_bytes())
    }

    fn add32(self, other: Self) -> Self {
        Self(self.0.add32(other.0))
    }

    fn add32_if(self, mask: HalfMask, other: Self) -> Self {
        Self(self.0.add32_if(mask, other.0))
    }

    fn shr32<const N: u32>(self) -> Self {
        Self(self.0.shr32::<N>())
    }

    fn rotr32<const N: i32>(self) -> Self {
        Self(self.0.rotr32::<N>())
    }

    fn swap_bytes32(self) -> Self {
        Self(self.0.swap_bytes32())
    }

    fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self {
        Self(self.0.ternary::<TABLE>(b.0, c.0))
    }

    fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
        PortableVector::<LANES>::transpose(rows.map(|row| row.0)).map(Self)
    }

    fn transpose32(rows: &mut [Self; 16]) {
        let mut plain = rows.map(|row| row.0);
        PortableVector::<LANES>::transpose32(&mut plain);
        *rows = plain.map(Self);
    }
}

impl BlindMulVector for CountedVector {
    fn madd_lo(self, a: Self, b: Self) -> Self {
        one_more();
        Self(self.0.madd_lo(a.0, b.0))
    }

    fn madd_hi(self, a: Self, b: Self) -> Self {
        one_more();
        Self(self.0.madd_hi(a.0, b.0))
    }

    fn sar<const N: u32>(self) -> Self {
        Self(self.0.sar::<N>())
    }

    fn shr_each(self, count: Self) -> Self {
        Self(self.0.shr_each(count.0))
    }

    fn shl_each(self, count: Self) -> Self {
        Self(self.0.shl_each(count.0))
    }

    fn is_equal(self, other: Self) -> Mask {
        self.0.is_equal(other.0)
    }

    fn is_below(self, other: Self) -> Mask {
        self.0.is_below(other.0)
    }

    fn has_any(self, other: Self) -> Mask {
        self.0.has_any(other.0)
    }

    fn or_if(self, mask: Mask, yes: Self) -> Self {
        Self(self.0.or_if(mask, yes.0))
    }

    fn sub_if(self, mask: Mask, other: Self) -> Self {
        Self(self.0.sub_if(mask, other.0))
    }
}

impl MulVector for CountedVector {
    fn pick16(self, low: Self, high: Self) -> Self {
        Self(self.0.pick16(low.0, high.0))
    }

    fn transpose8(rows: [Self; LANES]) -> [Self; LANES] {
        Self::transpose(rows)
    }
}

impl Zeroize for CountedVector {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Add for CountedVector {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for CountedVector {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Not for CountedVector {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl BitAnd for CountedVector {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for CountedVector {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitXor for CountedVector {
    type Output = Self;

    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}
