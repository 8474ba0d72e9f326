//! Eight lanes as two vectors of four, for CPUs whose registers have 256 bits.

use std::fmt;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use zeroize::Zeroize;

use super::{HalfMask, LANES, LaneArray, Mask, MulVector, Vector, Words};

/// The lanes of a half.
const HALF: usize = LANES / 2;

/// Four lanes with the operations from which those of [`MulVector`] are made. Each takes the same time for all values.
pub(crate) trait HalfVector: Vector<Lanes<u64> = [u64; HALF], Bytes = [u8; 8 * HALF]> {
    /// Multiplies the low 32 bits of the words.
    fn mul32(self, other: Self) -> Self;

    /// Shifts to the right by the count in each lane, logically. Counts of 64 and more give zero.
    fn shr_each(self, count: Self) -> Self;

    /// Shifts to the left by the count in each lane. Counts of 64 and more give zero.
    fn shl_each(self, count: Self) -> Self;

    /// Returns the lanes in which both words are equal.
    fn is_equal(self, other: Self) -> Mask;

    /// Returns the lanes in which this word is below the other, unsigned.
    fn is_below(self, other: Self) -> Mask;

    /// Returns ones in lanes whose mask bit is set, and zero in the others. The vector only proves the instructions.
    fn ones_if(self, mask: Mask) -> Self;

    /// Returns `yes` in lanes of ones of `ones`, and `self` in lanes of zeros.
    fn blend(self, ones: Self, yes: Self) -> Self;

    /// Selects one of sixteen words by the low four bits of each lane. Reads all vectors.
    fn pick16(self, words: [Self; 4]) -> Self;

    /// Returns the same word in every lane. The vector only proves the instructions.
    fn same(self, word: u64) -> Self;
}

/// Two vectors of four lanes: the lower lanes first.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Pair<V>(pub(super) [V; 2]);

impl<V: HalfVector> Pair<V> {
    #[inline(always)]
    fn map(self, f: impl Fn(V) -> V) -> Self {
        Self([f(self.0[0]), f(self.0[1])])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(V, V) -> V) -> Self {
        Self([f(self.0[0], other.0[0]), f(self.0[1], other.0[1])])
    }

    #[inline(always)]
    fn zip3(self, b: Self, c: Self, f: impl Fn(V, V, V) -> V) -> Self {
        Self([f(self.0[0], b.0[0], c.0[0]), f(self.0[1], b.0[1], c.0[1])])
    }

    #[inline(always)]
    fn test(self, other: Self, f: impl Fn(V, V) -> Mask) -> Mask {
        f(self.0[0], other.0[0]) | f(self.0[1], other.0[1]) << HALF
    }

    /// Returns ones in lanes whose mask bit is set, and zero in the others.
    #[inline(always)]
    pub(super) fn ones_if(self, mask: Mask) -> Self {
        Self([self.0[0].ones_if(mask), self.0[1].ones_if(mask >> HALF)])
    }

    /// Splits an array of both halves' values.
    #[inline(always)]
    pub(super) fn halves<T: Copy, const N: usize, const M: usize>(whole: &[T; N]) -> [[T; M]; 2] {
        std::array::from_fn(|half| std::array::from_fn(|at| whole[half * M + at]))
    }
}

impl<V: HalfVector> Vector for Pair<V> {
    const WORDS: usize = LANES;
    const UNROLLS: bool = V::UNROLLS;
    const HAS_TERNARY: bool = V::HAS_TERNARY;
    const HASHES_IN_PAIRS: bool = false;

    type Lanes<T: Copy> = [T; LANES];
    type Bytes = [u8; 8 * LANES];

    #[inline(always)]
    fn words(self) -> Words {
        let [low, high] = [self.0[0].words(), self.0[1].words()];
        std::array::from_fn(|lane| if lane < HALF { low[lane] } else { high[lane - HALF] })
    }

    #[inline(always)]
    fn store_prefix(self, place: &mut [u8]) {
        let (low, high) = place.split_at_mut(place.len().min(8 * HALF));
        self.0[0].store_prefix(low);
        self.0[1].store_prefix(high);
    }

    #[inline(always)]
    fn shl<const N: u32>(self) -> Self {
        self.map(
            #[inline(always)]
            |half| half.shl::<N>(),
        )
    }

    #[inline(always)]
    fn shr<const N: u32>(self) -> Self {
        self.map(
            #[inline(always)]
            |half| half.shr::<N>(),
        )
    }

    #[inline(always)]
    fn rotr<const N: i32>(self) -> Self {
        self.map(
            #[inline(always)]
            |half| half.rotr::<N>(),
        )
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        self.map(V::swap_bytes)
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        self.zip(other, V::add32)
    }

    #[inline(always)]
    fn add32_if(self, mask: HalfMask, other: Self) -> Self {
        Self([self.0[0].add32_if(mask, other.0[0]), self.0[1].add32_if(mask >> (2 * HALF), other.0[1])])
    }

    #[inline(always)]
    fn shr32<const N: u32>(self) -> Self {
        self.map(
            #[inline(always)]
            |half| half.shr32::<N>(),
        )
    }

    #[inline(always)]
    fn rotr32<const N: i32>(self) -> Self {
        self.map(
            #[inline(always)]
            |half| half.rotr32::<N>(),
        )
    }

    #[inline(always)]
    fn swap_bytes32(self) -> Self {
        self.map(V::swap_bytes32)
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.zip(other, V::and_not)
    }

    #[inline(always)]
    fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self {
        self.zip3(
            b,
            c,
            #[inline(always)]
            |a, b, c| a.ternary::<TABLE>(b, c),
        )
    }

    #[inline(always)]
    fn add_if(self, mask: Mask, other: Self) -> Self {
        self + (self.ones_if(mask) & other)
    }

    #[inline(always)]
    fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
        // Four blocks of four rows and lanes: each is transposed, and two change places.
        let block = |row: usize, half: usize| {
            V::transpose(LaneArray::from_fn(
                #[inline(always)]
                |at| rows[row + at].0[half],
            ))
        };
        let (upper, lower) = ([block(0, 0), block(0, 1)], [block(HALF, 0), block(HALF, 1)]);
        std::array::from_fn(
            #[inline(always)]
            |row| Self([&upper, &lower].map(|blocks| blocks[row / HALF].as_ref()[row % HALF])),
        )
    }

    #[inline(always)]
    fn transpose32(rows: &mut [Self; 16]) {
        // As for `transpose`, with blocks of eight half lanes.
        let block = |row: usize, half: usize| std::array::from_fn(|at| rows[row + at % 8].0[half]);
        let mut blocks: [[V; 16]; 4] = [block(0, 0), block(8, 0), block(0, 1), block(8, 1)];
        blocks.iter_mut().for_each(V::transpose32);
        for at in 0..8 {
            rows[at] = Self([blocks[0][at], blocks[1][at]]);
            rows[8 + at] = Self([blocks[2][at], blocks[3][at]]);
        }
    }
}

impl<V: HalfVector> MulVector for Pair<V> {
    const HAS_PRODUCTS: bool = false;

    #[inline(always)]
    fn madd_lo(self, a: Self, b: Self) -> Self {
        self.zip3(a, b, multiply_add_low)
    }

    #[inline(always)]
    fn madd_hi(self, a: Self, b: Self) -> Self {
        self.zip3(a, b, multiply_add_high)
    }

    #[inline(always)]
    fn sar<const N: u32>(self) -> Self {
        // An offset makes every word positive, and its shifted image is subtracted again.
        self.map(
            #[inline(always)]
            |half| {
                let sign = half.same(1 << 63);
                (half ^ sign).shr::<N>() - sign.shr::<N>()
            },
        )
    }

    #[inline(always)]
    fn shr_each(self, count: Self) -> Self {
        self.zip(count, V::shr_each)
    }

    #[inline(always)]
    fn shl_each(self, count: Self) -> Self {
        self.zip(count, V::shl_each)
    }

    #[inline(always)]
    fn is_equal(self, other: Self) -> Mask {
        self.test(other, V::is_equal)
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Mask {
        self.test(other, V::is_below)
    }

    #[inline(always)]
    fn has_any(self, other: Self) -> Mask {
        let both = self & other;
        !both.test(both ^ both, V::is_equal)
    }

    #[inline(always)]
    fn or_if(self, mask: Mask, yes: Self) -> Self {
        self.zip3(self.ones_if(mask), yes, V::blend)
    }

    #[inline(always)]
    fn sub_if(self, mask: Mask, other: Self) -> Self {
        self - (self.ones_if(mask) & other)
    }

    #[inline(always)]
    fn pick16(self, low: Self, high: Self) -> Self {
        let words = [low.0[0], low.0[1], high.0[0], high.0[1]];
        self.map(
            #[inline(always)]
            |half| half.pick16(words),
        )
    }

    #[inline(always)]
    fn transpose8(rows: [Self; LANES]) -> [Self; LANES] {
        Self::transpose(rows)
    }
}

/// Computes `sum + low52(a b)`.
#[inline(always)]
fn multiply_add_low<V: HalfVector>(sum: V, a: V, b: V) -> V {
    // The product modulo 2^64 from halves of 32 bits. Bits above 52 of the factors reach only bits above 52.
    let cross = a.mul32(b.shr::<32>()) + a.shr::<32>().mul32(b);
    sum + ((a.mul32(b) + cross.shl::<32>()) & a.same((1 << 52) - 1))
}

/// Computes `sum + (low52(a) low52(b) >> 52)`.
#[inline(always)]
fn multiply_add_high<V: HalfVector>(sum: V, a: V, b: V) -> V {
    // The upper halves have 20 bits, so the sum at 2^32 stays below 2^54 and the quotient is exact.
    let (upper_a, upper_b) = (a.shl::<12>().shr::<44>(), b.shl::<12>().shr::<44>());
    let middle = a.mul32(upper_b) + upper_a.mul32(b) + a.mul32(b).shr::<32>();
    sum + upper_a.mul32(upper_b).shl::<12>() + middle.shr::<20>()
}

impl<V: HalfVector> Zeroize for Pair<V> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<V: HalfVector> $trait for Pair<V> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, $trait::$method)
            }
        }
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(BitAnd, bitand);
operator!(BitOr, bitor);
operator!(BitXor, bitxor);

impl<V: HalfVector> Not for Pair<V> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self.map(Not::not)
    }
}

/// Prints no lanes, which can hold secrets.
impl<V> fmt::Debug for Pair<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pair")
    }
}
