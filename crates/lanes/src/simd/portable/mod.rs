//! The portable leaf: eight words in an array.

mod blocks;

use std::hint::black_box;
use std::ops::{Add, BitAnd, BitOr, BitXor, Sub};

use zeroize::Zeroize;

use super::{HALVES, HalfMask, LANES, Mask, Simd, Vector, Words};

const LOW_52: u64 = (1 << 52) - 1;

/// Any CPU, as a token without requirements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableSimd;

/// Eight words in an array.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct PortableVector(pub(super) Words);

impl Simd for PortableSimd {
    type V = PortableVector;

    #[inline(always)]
    fn splat(self, word: u64) -> PortableVector {
        PortableVector([word; LANES])
    }

    #[inline(always)]
    fn load(self, words: &Words) -> PortableVector {
        PortableVector(*words)
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 8 * LANES]) -> PortableVector {
        let word = |lane: usize| std::array::from_fn(|byte| bytes[8 * lane + byte]);
        PortableVector(std::array::from_fn(|lane| u64::from_le_bytes(word(lane))))
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> PortableVector {
        PortableVector::of_halves([word; HALVES])
    }

    #[inline(never)]
    fn load_prefix(self, bytes: &[u8]) -> PortableVector {
        let mut all = [0; 8 * LANES];
        all.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.load_bytes(&all)
    }

    // A function of its own as on the other leaf. Inlined kernels would make callers of megabytes.
    #[inline(never)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }

    // Nothing to clear: the compiler uses these registers for everything else too.
    fn clear_registers(self) {}
}

impl PortableVector {
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
    fn halves(self) -> [u32; HALVES] {
        std::array::from_fn(|half| (self.0[half / 2] >> (32 * (half % 2))) as u32)
    }

    #[inline(always)]
    fn of_halves(halves: [u32; HALVES]) -> Self {
        let half = |at: usize| u64::from(halves[at]);
        Self(std::array::from_fn(|lane| half(2 * lane) | half(2 * lane + 1) << 32))
    }

    #[inline(always)]
    fn map32(self, f: impl Fn(u32) -> u32) -> Self {
        Self::of_halves(self.halves().map(f))
    }

    #[inline(always)]
    fn zip32(self, other: Self, f: impl Fn(u32, u32) -> u32) -> Self {
        let (own, other) = (self.halves(), other.halves());
        Self::of_halves(std::array::from_fn(|half| f(own[half], other[half])))
    }

    #[inline(always)]
    fn test(self, other: Self, f: impl Fn(u64, u64) -> bool) -> Mask {
        (0..LANES).fold(0, |bits, lane| bits | u8::from(f(self.0[lane], other.0[lane])) << lane)
    }

    /// Returns all ones in lanes whose mask bit is set. There is no branch, because the mask can be secret.
    /// `black_box` hides that a word is all ones or zero: with that knowledge the compiler turns selections into
    /// jumps.
    #[inline(always)]
    fn ones_if(mask: Mask) -> Self {
        Self(std::array::from_fn(|lane| black_box((u64::from(mask) >> lane & 1).wrapping_neg())))
    }
}

#[inline(always)]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a & LOW_52) * u128::from(b & LOW_52)
}

impl Vector for PortableVector {
    #[inline(always)]
    fn words(self) -> Words {
        self.0
    }

    #[inline(never)]
    fn store_prefix(self, place: &mut [u8]) {
        let bytes = self.0.iter().flat_map(|word| word.to_le_bytes());
        place.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    }

    #[inline(never)]
    fn madd_lo(self, a: Self, b: Self) -> Self {
        self.zip3(a, b, |sum, a, b| sum.wrapping_add(product(a, b) as u64 & LOW_52))
    }

    #[inline(never)]
    fn madd_hi(self, a: Self, b: Self) -> Self {
        self.zip3(a, b, |sum, a, b| sum.wrapping_add((product(a, b) >> 52) as u64))
    }

    #[inline(always)]
    fn shl<const N: u32>(self) -> Self {
        self.map(|word| word << N)
    }

    #[inline(always)]
    fn shr<const N: u32>(self) -> Self {
        self.map(|word| word >> N)
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
        self.add32(other & Self::of_halves(std::array::from_fn(ones)))
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

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.zip(other, |a, b| !a & b)
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
    fn add_if(self, mask: Mask, other: Self) -> Self {
        self + (other & Self::ones_if(mask))
    }

    #[inline(never)]
    fn sub_if(self, mask: Mask, other: Self) -> Self {
        self - (other & Self::ones_if(mask))
    }

    /// Halves the list of words for each bit of the index, with masks that the compiler cannot know.
    #[inline(never)]
    fn pick16(self, low: Self, high: Self) -> Self {
        self.map(|index| {
            let mut words: [u64; 2 * LANES] =
                std::array::from_fn(|at| if at < LANES { low.0[at] } else { high.0[at - LANES] });
            for bit in [3, 2, 1, 0] {
                let ones = black_box((index >> bit & 1).wrapping_neg());
                let half = 1 << bit;
                for at in 0..half {
                    words[at] ^= (words[at] ^ words[at + half]) & ones;
                }
            }
            words[0]
        })
    }

    #[inline(never)]
    fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
        std::array::from_fn(|row| Self(std::array::from_fn(|lane| rows[lane].0[row])))
    }

    #[inline(never)]
    fn transpose32(rows: [Self; HALVES]) -> [Self; HALVES] {
        let rows = rows.map(Self::halves);
        std::array::from_fn(|row| Self::of_halves(std::array::from_fn(|half| rows[half][row])))
    }
}

impl Zeroize for PortableVector {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Add for PortableVector {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_add)
    }
}

impl Sub for PortableVector {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, u64::wrapping_sub)
    }
}

impl BitAnd for PortableVector {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
}

impl BitOr for PortableVector {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
}

impl BitXor for PortableVector {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }
}
