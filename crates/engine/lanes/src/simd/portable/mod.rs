//! The portable leaf: words in an array. Its width is a parameter, so that code for narrow leaves has an oracle too.

mod blocks;
mod doubles;
mod float;
mod products;
mod sha;
mod short;

use std::hint::black_box;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use zeroize::Zeroize;

use super::pair::HalfVector;
use super::{
    BlindMulVector, BlindSimd, BlindVector, Cpu, HalfMask, LANES, LaneArray, Mask, MulSimd, MulVector, Simd,
    UnzipSimd, Vector,
};
use crate::simd::Leaf;

pub(crate) use doubles::PortableFma;

const LOW_52: u64 = (1 << 52) - 1;

/// Any CPU, as a token without requirements. Its vectors have `N` words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableSimd<const N: usize = LANES>;

/// `N` words in an array.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct PortableVector<const N: usize = LANES>(pub(super) [u64; N]);

impl<const N: usize> Cpu for PortableSimd<N> {
    const LEAF: Leaf = Leaf::Portable;

    fn detect() -> Option<Self> {
        Some(Self)
    }

    // A function of its own as on the other leaves. Inlined kernels would make callers of megabytes.
    #[inline(never)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }

    // Nothing to clear: the compiler uses these registers for everything else too.
    fn clear_registers(self) {}
}

impl MulSimd for PortableSimd {
    type RunState = ();

    #[inline(always)]
    fn run_state(self) {}
}

impl UnzipSimd for PortableSimd {
    fn unzip(self, first: PortableVector, second: PortableVector) -> [PortableVector; 2] {
        [0, 1].map(|half| {
            PortableVector(std::array::from_fn(|lane| [first, second][lane % 2].0[lane / 2 * 2 + half]))
        })
    }
}

impl<const N: usize> BlindSimd for PortableSimd<N>
where
    PortableVector<N>: BlindVector,
{
    type V = PortableVector<N>;

    #[inline(always)]
    fn splat(self, word: u64) -> PortableVector<N> {
        PortableVector([word; N])
    }
}

impl<const N: usize> Simd for PortableSimd<N>
where
    PortableVector<N>: Vector<Lanes<u64> = [u64; N], Bytes: LaneArray<u8>>,
{
    #[inline(always)]
    fn load(self, words: &[u64; N]) -> PortableVector<N> {
        PortableVector(*words)
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &<PortableVector<N> as Vector>::Bytes) -> PortableVector<N> {
        let bytes = bytes.as_ref();
        let word = |lane: usize| std::array::from_fn(|byte| bytes[8 * lane + byte]);
        PortableVector(std::array::from_fn(|lane| u64::from_le_bytes(word(lane))))
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> PortableVector<N> {
        PortableVector([u64::from(word) << 32 | u64::from(word); N])
    }

    #[inline(never)]
    fn load_prefix(self, bytes: &[u8]) -> PortableVector<N> {
        let mut words = [0; N];
        for (at, byte) in bytes.iter().enumerate().take(8 * N) {
            words[at / 8] |= u64::from(*byte) << (8 * (at % 8));
        }
        PortableVector(words)
    }
}

impl<const N: usize> PortableVector<N> {
    #[inline(always)]
    fn map(self, f: impl Fn(u64) -> u64) -> Self {
        Self(self.0.map(f))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], other.0[lane])))
    }

    #[inline(always)]
    fn zip3(self, b: Self, c: Self, f: impl Fn(u64, u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], b.0[lane], c.0[lane])))
    }

    #[inline(always)]
    fn map32(self, f: impl Fn(u32) -> u32) -> Self {
        self.map(|word| joined(halves(word).map(&f)))
    }

    #[inline(always)]
    fn zip32(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        self.zip(other, |a, b| {
            let ([a, b], [c, d]) = (halves(a), halves(b));
            joined([f(a, c), f(b, d)])
        })
    }

    #[inline(always)]
    fn test(self, other: Self, f: impl Fn(u64, u64) -> bool) -> Mask {
        (0..N).fold(0, |bits, lane| bits | u8::from(f(self.0[lane], other.0[lane])) << lane)
    }

    /// Returns all ones in lanes whose mask bit is set. There is no branch, because the mask can be secret.
    /// `black_box` hides that a word is all ones or zero: with that knowledge the compiler turns selections into
    /// jumps.
    #[inline(always)]
    fn ones_if(mask: Mask) -> Self {
        Self(std::array::from_fn(|lane| black_box((u64::from(mask) >> lane & 1).wrapping_neg())))
    }

    /// Returns half lane `half` of the vector.
    #[inline(always)]
    fn half(&self, half: usize) -> u32 {
        halves(self.0[half / 2])[half % 2]
    }
}

/// Returns the low and the high half of a word.
#[inline(always)]
fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Joins a low and a high half.
#[inline(always)]
fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & LOW_52) * u128::from(b & LOW_52)
}

/// Implements vectors of a number of words.
macro_rules! portable_vector {
    ($words:literal) => {
        impl BlindVector for PortableVector<$words> {
            type Mask = Mask;

            #[inline(always)]
            fn shl<const N: u32>(self) -> Self {
                self.map(|word| word << N)
            }

            #[inline(always)]
            fn shr<const N: u32>(self) -> Self {
                self.map(|word| word >> N)
            }

            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                self.zip(other, |a, b| !a & b)
            }

            #[inline(never)]
            fn add_if(self, mask: Mask, other: Self) -> Self {
                self + (other & Self::ones_if(mask))
            }
        }

        impl Vector for PortableVector<$words> {
            const WORDS: usize = $words;
            const HAS_TERNARY: bool = true;
            const HASHES_IN_PAIRS: bool = true;

            type Lanes<T: Copy> = [T; $words];
            type Bytes = [u8; 8 * $words];

            #[inline(always)]
            fn words(self) -> [u64; $words] {
                self.0
            }

            #[inline(never)]
            fn store_prefix(self, out: &mut [u8]) {
                let bytes = self.0.iter().flat_map(|word| word.to_le_bytes());
                out.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
            }

            #[inline(never)]
            fn rotr<const N: i32>(self) -> Self {
                self.map(|word| word.rotate_right(N as u32))
            }

            #[inline(never)]
            fn swap_bytes(self) -> Self {
                self.map(u64::swap_bytes)
            }

            #[inline(never)]
            fn add32(self, other: Self) -> Self {
                self.zip32(other, u32::wrapping_add)
            }

            #[inline(never)]
            fn add32_if(self, mask: HalfMask, other: Self) -> Self {
                let ones = |half: usize| black_box((u32::from(mask) >> half & 1).wrapping_neg());
                let ones = Self(std::array::from_fn(|lane| joined([ones(2 * lane), ones(2 * lane + 1)])));
                self.add32(other & ones)
            }

            #[inline(never)]
            fn shr32<const N: u32>(self) -> Self {
                self.map32(|word| word >> N)
            }

            #[inline(never)]
            fn rotr32<const N: i32>(self) -> Self {
                self.map32(|word| word.rotate_right(N as u32))
            }

            #[inline(never)]
            fn swap_bytes32(self) -> Self {
                self.map32(u32::swap_bytes)
            }

            #[inline(never)]
            fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self {
                self.zip3(b, c, |a, b, c| {
                    (0..8).filter(|row| TABLE >> row & 1 == 1).fold(0, |bits, row| {
                        let side = |word: u64, bit: i32| if row >> bit & 1 == 1 { word } else { !word };
                        bits | side(a, 2) & side(b, 1) & side(c, 0)
                    })
                })
            }

            #[inline(never)]
            fn transpose(rows: [Self; $words]) -> [Self; $words] {
                std::array::from_fn(|row| Self(std::array::from_fn(|lane| rows[lane].0[row])))
            }

            #[inline(never)]
            fn transpose32(rows: &mut [Self; 16]) {
                for group in rows.as_chunks_mut::<{ 2 * $words }>().0 {
                    let old = *group;
                    for (row, new) in group.iter_mut().enumerate() {
                        let pair =
                            |lane: usize| joined([old[2 * lane].half(row), old[2 * lane + 1].half(row)]);
                        *new = Self(std::array::from_fn(pair));
                    }
                }
            }
        }
    };
}

portable_vector!(8);
portable_vector!(4);
portable_vector!(2);

impl BlindMulVector for PortableVector {
    #[inline(never)]
    fn madd_lo(self, a: Self, b: Self) -> Self {
        self.zip3(a, b, |sum, a, b| sum.wrapping_add(product(a, b) as u64 & LOW_52))
    }

    #[inline(never)]
    fn madd_hi(self, a: Self, b: Self) -> Self {
        self.zip3(a, b, |sum, a, b| sum.wrapping_add((product(a, b) >> 52) as u64))
    }

    #[inline(always)]
    fn sar<const N: u32>(self) -> Self {
        self.map(|word| (word.cast_signed() >> N).cast_unsigned())
    }

    #[inline(never)]
    fn shr_each(self, count: Self) -> Self {
        self.zip(count, |word, count| if count < 64 { word >> count } else { 0 })
    }

    #[inline(never)]
    fn shl_each(self, count: Self) -> Self {
        self.zip(count, |word, count| if count < 64 { word << count } else { 0 })
    }

    #[inline(never)]
    fn is_equal(self, other: Self) -> Mask {
        self.test(other, |a, b| a == b)
    }

    #[inline(never)]
    fn is_below(self, other: Self) -> Mask {
        self.test(other, |a, b| a < b)
    }

    #[inline(never)]
    fn has_any(self, other: Self) -> Mask {
        self.test(other, |a, b| a & b != 0)
    }

    #[inline(never)]
    fn or_if(self, mask: Mask, yes: Self) -> Self {
        self.zip3(Self::ones_if(mask), yes, |no, ones, yes| (no & !ones) | (yes & ones))
    }

    #[inline(never)]
    fn sub_if(self, mask: Mask, other: Self) -> Self {
        self - (other & Self::ones_if(mask))
    }
}

impl MulVector for PortableVector {
    #[inline(never)]
    fn pick16(self, low: Self, high: Self) -> Self {
        self.map(|index| {
            select16(index, std::array::from_fn(|at| if at < LANES { low.0[at] } else { high.0[at - LANES] }))
        })
    }

    #[inline(never)]
    fn transpose8(rows: [Self; LANES]) -> [Self; LANES] {
        Self::transpose(rows)
    }
}

impl HalfVector for PortableVector<4> {
    #[inline(always)]
    fn mul32(self, other: Self) -> Self {
        self.zip(other, |a, b| (a & 0xFFFF_FFFF) * (b & 0xFFFF_FFFF))
    }

    #[inline(never)]
    fn shr_each(self, count: Self) -> Self {
        self.zip(count, |word, count| if count < 64 { word >> count } else { 0 })
    }

    #[inline(never)]
    fn shl_each(self, count: Self) -> Self {
        self.zip(count, |word, count| if count < 64 { word << count } else { 0 })
    }

    #[inline(never)]
    fn is_equal(self, other: Self) -> Mask {
        self.test(other, |a, b| a == b)
    }

    #[inline(never)]
    fn is_below(self, other: Self) -> Mask {
        self.test(other, |a, b| a < b)
    }

    #[inline(always)]
    fn ones_if(self, mask: Mask) -> Self {
        Self::ones_if(mask)
    }

    #[inline(always)]
    fn blend(self, ones: Self, yes: Self) -> Self {
        self.zip3(ones, yes, |no, ones, yes| (no & !ones) | (yes & ones))
    }

    #[inline(never)]
    fn pick16(self, words: [Self; 4]) -> Self {
        self.map(|index| select16(index, std::array::from_fn(|at| words[at / 4].0[at % 4])))
    }

    #[inline(always)]
    fn transpose4(rows: [Self; 4]) -> [Self; 4] {
        Self::transpose(rows)
    }

    #[inline(always)]
    fn same(self, word: u64) -> Self {
        Self([word; 4])
    }
}

/// Selects a word by the low four bits of an index. Halves the list of words for each bit of the index, with masks that
/// the compiler cannot know.
fn select16(index: u64, mut words: [u64; 16]) -> u64 {
    for bit in [3, 2, 1, 0] {
        let ones = black_box((index >> bit & 1).wrapping_neg());
        let half = 1 << bit;
        for at in 0..half {
            words[at] ^= (words[at] ^ words[at + half]) & ones;
        }
    }
    words[0]
}

impl<const N: usize> Zeroize for PortableVector<N> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl<const N: usize> Add for PortableVector<N> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_add)
    }
}

impl<const N: usize> Sub for PortableVector<N> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_sub)
    }
}

impl<const N: usize> Not for PortableVector<N> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self.map(|word| !word)
    }
}

impl<const N: usize> BitAnd for PortableVector<N> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl<const N: usize> BitOr for PortableVector<N> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl<const N: usize> BitXor for PortableVector<N> {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
}
