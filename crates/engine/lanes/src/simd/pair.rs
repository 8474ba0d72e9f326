//! Eight lanes as two vectors of four, for CPUs whose registers have 256 bits.

use std::fmt;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use zeroize::Zeroize;

use super::{BlindMulVector, BlindVector, HalfMask, LANES, Mask, MulVector, Vector, Words};

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

    /// Transposes four rows: lane `j` of row `i` becomes lane `i` of row `j`.
    fn transpose4(rows: [Self; HALF]) -> [Self; HALF];
}

/// Two vectors of four lanes: the lower lanes first.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Pair<V>(pub(super) [V; 2]);

/// Computes an expression for both vectors of pairs. A macro, because a function of functions would not be compiled for
/// the CPU.
macro_rules! both {
    ($($name:ident = $pair:expr),+ => $body:expr) => {{
        let low = {
            $(let $name = $pair.0[0];)+
            $body
        };
        let high = {
            $(let $name = $pair.0[1];)+
            $body
        };
        Self([low, high])
    }};
}

/// Joins the lanes that an expression returns for both vectors of pairs.
macro_rules! lanes_of_both {
    ($($name:ident = $pair:expr),+ => $body:expr) => {{
        let low = {
            $(let $name = $pair.0[0];)+
            $body
        };
        let high = {
            $(let $name = $pair.0[1];)+
            $body
        };
        low | high << HALF
    }};
}

impl<V: HalfVector> Pair<V> {
    /// Returns ones in lanes whose mask bit is set, and zero in the others.
    #[inline(always)]
    pub(super) fn ones_if(self, mask: Mask) -> Self {
        Self([self.0[0].ones_if(mask), self.0[1].ones_if(mask >> HALF)])
    }
}

/// Splits an array into those of both vectors.
#[inline(always)]
pub(super) fn halves<T, const N: usize, const M: usize>(whole: &[T; N]) -> [&[T; M]; 2] {
    const { assert!(N == 2 * M) };
    match whole.as_chunks().0 {
        [low, high] => [low, high],
        // unreachable because the whole has two halves
        _ => unreachable!(),
    }
}

impl<V: HalfVector> BlindVector for Pair<V> {
    type Mask = Mask;
    // Products are long, so they are functions and loops.
    const UNROLLS: bool = false;

    #[inline(always)]
    fn shl<const N: u32>(self) -> Self {
        both!(half = self => half.shl::<N>())
    }

    #[inline(always)]
    fn shr<const N: u32>(self) -> Self {
        both!(half = self => half.shr::<N>())
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        both!(half = self, other = other => half.and_not(other))
    }

    #[inline(always)]
    fn add_if(self, mask: Mask, other: Self) -> Self {
        self + (self.ones_if(mask) & other)
    }
}

impl<V: HalfVector> Vector for Pair<V> {
    const WORDS: usize = LANES;
    const HAS_TERNARY: bool = V::HAS_TERNARY;
    const HASHES_IN_PAIRS: bool = false;

    type Lanes<T: Copy> = [T; LANES];
    type Bytes = [u8; 8 * LANES];

    #[inline(always)]
    fn words(self) -> Words {
        let [low, high] = [self.0[0].words(), self.0[1].words()];
        let ([a, b, c, d], [e, f, g, h]) = (low, high);
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn store_prefix(self, out: &mut [u8]) {
        let (low, high) = out.split_at_mut(out.len().min(8 * HALF));
        self.0[0].store_prefix(low);
        self.0[1].store_prefix(high);
    }

    #[inline(always)]
    fn rotr<const N: i32>(self) -> Self {
        both!(half = self => half.rotr::<N>())
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        both!(half = self => half.swap_bytes())
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        both!(half = self, other = other => half.add32(other))
    }

    #[inline(always)]
    fn add32_if(self, mask: HalfMask, other: Self) -> Self {
        Self([self.0[0].add32_if(mask, other.0[0]), self.0[1].add32_if(mask >> (2 * HALF), other.0[1])])
    }

    #[inline(always)]
    fn shr32<const N: u32>(self) -> Self {
        both!(half = self => half.shr32::<N>())
    }

    #[inline(always)]
    fn rotr32<const N: i32>(self) -> Self {
        both!(half = self => half.rotr32::<N>())
    }

    #[inline(always)]
    fn swap_bytes32(self) -> Self {
        both!(half = self => half.swap_bytes32())
    }

    #[inline(always)]
    fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self {
        both!(a = self, b = b, c = c => a.ternary::<TABLE>(b, c))
    }

    #[inline(always)]
    fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
        // Four blocks of four rows and lanes: each is transposed, and two change places. Loops, because functions on arrays
        // would not be compiled for the CPU.
        let mut transposed = rows;
        for half in 0..2 {
            for upper in 0..2 {
                let [a, b, c, d] = [0, 1, 2, 3].map(|at| HALF * upper + at);
                let block = [rows[a].0[half], rows[b].0[half], rows[c].0[half], rows[d].0[half]];
                let block = V::transpose4(block);
                for at in 0..HALF {
                    transposed[HALF * half + at].0[upper] = block[at];
                }
            }
        }
        transposed
    }

    #[inline(always)]
    fn transpose32(rows: &mut [Self; 16]) {
        // As for `transpose`, with blocks of eight half lanes.
        // No kernel of this leaf transposes half lanes, so functions on arrays are fast enough.
        let block = |row: usize, half: usize| std::array::from_fn(|at| rows[row + at % 8].0[half]);
        let mut blocks: [[V; 16]; 4] = [block(0, 0), block(8, 0), block(0, 1), block(8, 1)];
        blocks.iter_mut().for_each(V::transpose32);
        for at in 0..8 {
            rows[at] = Self([blocks[0][at], blocks[1][at]]);
            rows[8 + at] = Self([blocks[2][at], blocks[3][at]]);
        }
    }
}

impl<V: HalfVector> BlindMulVector for Pair<V> {
    const HAS_PRODUCTS: bool = false;

    #[inline(always)]
    fn madd_lo(self, a: Self, b: Self) -> Self {
        both!(sum = self, a = a, b = b => multiply_add_low(sum, a, b))
    }

    #[inline(always)]
    fn madd_hi(self, a: Self, b: Self) -> Self {
        both!(sum = self, a = a, b = b => multiply_add_high(sum, a, b))
    }

    #[inline(always)]
    fn sar<const N: u32>(self) -> Self {
        // An offset makes every word positive, and its shifted image is subtracted again.
        both!(half = self => {
                let sign = half.same(1 << 63);
                (half ^ sign).shr::<N>() - sign.shr::<N>()
        })
    }

    #[inline(always)]
    fn shr_each(self, count: Self) -> Self {
        both!(half = self, count = count => half.shr_each(count))
    }

    #[inline(always)]
    fn shl_each(self, count: Self) -> Self {
        both!(half = self, count = count => half.shl_each(count))
    }

    #[inline(always)]
    fn is_equal(self, other: Self) -> Mask {
        lanes_of_both!(half = self, other = other => half.is_equal(other))
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Mask {
        lanes_of_both!(half = self, other = other => half.is_below(other))
    }

    #[inline(always)]
    fn has_any(self, other: Self) -> Mask {
        let common = self & other;
        !lanes_of_both!(half = common => half.is_equal(half.same(0)))
    }

    #[inline(always)]
    fn or_if(self, mask: Mask, yes: Self) -> Self {
        both!(no = self, ones = self.ones_if(mask), yes = yes => no.blend(ones, yes))
    }

    #[inline(always)]
    fn sub_if(self, mask: Mask, other: Self) -> Self {
        self - (self.ones_if(mask) & other)
    }
}

impl<V: HalfVector> MulVector for Pair<V> {
    #[inline(always)]
    fn pick16(self, low: Self, high: Self) -> Self {
        let words = [low.0[0], low.0[1], high.0[0], high.0[1]];
        both!(index = self => index.pick16(words))
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
                both!(half = self, other = other => half.$method(other))
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
        both!(half = self => !half)
    }
}

/// Prints no lanes, which can hold secrets.
impl<V> fmt::Debug for Pair<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pair")
    }
}
