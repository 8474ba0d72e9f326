//! Halves of the numerals of FF1 as numbers. Their sizes are public and their values are not, so every operation takes
//! the same steps for all values.

use std::fmt::Debug;

use oarlock_engine_kit::ff1::Ff1Sizes;

use crate::simd::{BLOCK, BlockBytes};

/// The arithmetic of the two halves of a record. "Right" numbers are those of the right half of an encryption.
pub(super) trait Half {
    type Number: Copy + Default + Debug;

    /// Returns the number of a text of numerals.
    fn number(&self, text: &[u8]) -> Self::Number;

    /// Returns the end of the last block of a round as two little-endian words: zeros, the round, and the number in
    /// b bytes.
    fn block(&self, round: u8, number: Self::Number) -> [u64; 2];

    /// Adds the value of a round to a number. The value is the leading bytes of a block.
    fn add(&self, is_right: bool, number: Self::Number, stream: &BlockBytes) -> Self::Number;

    /// Subtracts the value of a round from a number.
    fn subtract(&self, is_right: bool, number: Self::Number, stream: &BlockBytes) -> Self::Number;

    /// Writes the numerals of a number.
    fn write(&self, number: Self::Number, text: &mut [u8]);
}

/// Divides by a radix of 2 to 65,536: `x * reciprocal >> 64` is the quotient of x below 2^48, because
/// `radix * reciprocal - 2^64` is below 2^16. The instruction for divisions takes longer for some values.
#[derive(Clone, Copy, Debug)]
struct RadixDivisor {
    radix: u64,
    reciprocal: u64,
}

impl RadixDivisor {
    fn new(radix: u32) -> Self {
        let radix = u64::from(radix);
        Self { radix, reciprocal: u64::MAX / radix + 1 }
    }

    /// Returns the quotient and the rest.
    #[inline(always)]
    fn divide(self, value: u64) -> (u64, u64) {
        let quotient = ((u128::from(value) * u128::from(self.reciprocal)) >> 64) as u64;
        (quotient, value - quotient * self.radix)
    }
}

/// The numerals that are computed side by side. A card number has two halves of as many.
const CHUNK: usize = 8;

/// Numbers below 2^32. The value of a round has 64 bits.
pub(super) struct NarrowHalf {
    radix: u32,
    number_len: u32,
    /// The moduli of the left and of the right half.
    moduli: [NarrowModulus; 2],
    /// The powers of the radix that belong to the numerals of a chunk, for chunks from the end of a text on.
    powers: [[u32; CHUNK]; 4],
    /// `2^64 / r^i`, rounded up, for i from 1 on. The upper half of a number times this is its quotient by `r^i`.
    reciprocals: [[u64; CHUNK]; 4],
}

#[derive(Clone, Copy)]
struct NarrowModulus {
    modulus: u64,
    /// `2^64 / modulus`, rounded down.
    reciprocal: u64,
}

impl NarrowModulus {
    fn new(radix: u32, len: usize) -> Option<Self> {
        let modulus = u64::from(radix).checked_pow(len.try_into().ok()?)?;
        (modulus <= 1 << 32).then_some(Self { modulus, reciprocal: u64::MAX / modulus })
    }

    /// Returns the value of a round modulo this plus at most twice the modulus, by Barrett's method.
    #[inline(always)]
    fn rest(&self, stream: &BlockBytes) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = *stream;
        let value = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        // At most two less than the quotient: one by the reciprocal, which is rounded down, and one by the product.
        let quotient = ((u128::from(value) * u128::from(self.reciprocal)) >> 64) as u64;
        value.wrapping_sub(quotient.wrapping_mul(self.modulus))
    }

    /// Returns a number below four times the modulus modulo it.
    #[inline(always)]
    fn reduce(&self, number: u64) -> u64 {
        [2 * self.modulus, self.modulus].into_iter().fold(
            number,
            #[inline(always)]
            |number, multiple| {
                let less = number.wrapping_sub(multiple);
                // All ones if it was below.
                let mask = (less.cast_signed() >> 63).cast_unsigned();
                less.wrapping_add(multiple & mask)
            },
        )
    }
}

impl NarrowHalf {
    pub(super) fn from_sizes(sizes: &Ff1Sizes) -> Option<Self> {
        let moduli = [
            NarrowModulus::new(sizes.radix(), sizes.left())?,
            NarrowModulus::new(sizes.radix(), sizes.right())?,
        ];
        let (mut powers, mut reciprocals) = ([[0; CHUNK]; 4], [[0; CHUNK]; 4]);
        let slots = powers.iter_mut().flat_map(|chunk| chunk.iter_mut().rev());
        let mut power = 1_u64;
        for (slot, reciprocal) in slots.zip(reciprocals.as_flattened_mut()).take(sizes.right()) {
            // Below 2^32, because the next power is at most the modulus.
            *slot = power as u32;
            power *= u64::from(sizes.radix());
            *reciprocal = u64::MAX / power + 1;
        }
        Some(Self {
            radix: sizes.radix(),
            number_len: sizes.number_len() as u32,
            moduli,
            powers,
            reciprocals,
        })
    }

    /// Returns the number of numerals, whose values `read` returns. No product waits for another.
    #[inline(always)]
    fn sum<N: Copy>(&self, numerals: &[N], read: impl Fn(N) -> u16) -> u64 {
        let product = |(numeral, power): (&N, &u32)| u64::from(read(*numeral)) * u64::from(*power);
        let (first, chunks) = numerals.as_rchunks();
        let mut powers = self.powers.iter();
        let mut number = 0;
        for (chunk, powers) in chunks.iter().rev().zip(&mut powers) {
            let chunk: &[N; CHUNK] = chunk;
            number += chunk.iter().zip(powers).map(product).sum::<u64>();
        }
        let powers = powers.next().into_iter().flatten().rev();
        number + first.iter().rev().zip(powers).map(product).sum::<u64>()
    }

    /// Writes the numerals of a number as `make` makes them. No quotient waits for another.
    #[inline(always)]
    fn split<N>(&self, number: u64, numerals: &mut [N], make: impl Fn(u16) -> N) {
        let quotient = |reciprocal: u64| ((u128::from(number) * u128::from(reciprocal)) >> 64) as u32;
        let numeral =
            |before: u32, after: u32| make(before.wrapping_sub(after.wrapping_mul(self.radix)) as u16);
        let (first, chunks) = numerals.as_rchunks_mut();
        let mut reciprocals = self.reciprocals.iter();
        let mut before = number as u32;
        for (chunk, reciprocals) in chunks.iter_mut().rev().zip(&mut reciprocals) {
            let chunk: &mut [N; CHUNK] = chunk;
            let quotients = reciprocals.map(quotient);
            for (at, out) in chunk.iter_mut().rev().enumerate() {
                *out = numeral(if at == 0 { before } else { quotients[at - 1] }, quotients[at]);
            }
            before = quotients[CHUNK - 1];
        }
        for (out, reciprocal) in first.iter_mut().rev().zip(reciprocals.next().into_iter().flatten()) {
            let after = quotient(*reciprocal);
            *out = numeral(before, after);
            before = after;
        }
    }
}

impl Half for NarrowHalf {
    type Number = u64;

    #[inline(always)]
    fn number(&self, text: &[u8]) -> u64 {
        // A numeral that is too large makes a number that is too large: its record has failed.
        match self.radix {
            ..=256 => self.sum(text, |byte| byte.into()),
            _ => self.sum(text.as_chunks().0, u16::from_be_bytes),
        }
    }

    #[inline(always)]
    fn block(&self, round: u8, number: u64) -> [u64; 2] {
        [0, (number | u64::from(round) << (8 * self.number_len)).swap_bytes()]
    }

    #[inline(always)]
    fn add(&self, is_right: bool, number: u64, stream: &BlockBytes) -> u64 {
        let modulus = &self.moduli[usize::from(is_right)];
        modulus.reduce(number.wrapping_add(modulus.rest(stream)))
    }

    #[inline(always)]
    fn subtract(&self, is_right: bool, number: u64, stream: &BlockBytes) -> u64 {
        let modulus = &self.moduli[usize::from(is_right)];
        modulus.reduce(number.wrapping_add(3 * modulus.modulus).wrapping_sub(modulus.rest(stream)))
    }

    #[inline(always)]
    fn write(&self, number: u64, text: &mut [u8]) {
        match self.radix {
            ..=256 => self.split(number, text, |numeral| numeral as u8),
            _ => self.split(number, text.as_chunks_mut().0, u16::to_be_bytes),
        }
    }
}

/// Numbers below 2^96. The value of a round has 96 or 128 bits.
pub(super) struct WideHalf {
    divisor: RadixDivisor,
    number_len: u32,
    /// The bits of a block behind the value of a round.
    unused_bits: u32,
    moduli: [WideModulus; 2],
}

#[derive(Clone, Copy)]
struct WideModulus {
    modulus: u128,
    /// `2^128 / modulus`, rounded down.
    reciprocal: u128,
}

impl WideModulus {
    fn new(radix: u32, len: usize) -> Option<Self> {
        let modulus = u128::from(radix).checked_pow(len.try_into().ok()?)?;
        (modulus <= 1 << 96).then_some(Self { modulus, reciprocal: u128::MAX / modulus })
    }

    /// Returns the value of a round modulo this plus at most twice the modulus, by Barrett's method.
    #[inline(always)]
    fn rest(&self, value: u128) -> u128 {
        // At most two less than the quotient, as for narrow numbers.
        let quotient = high_product(value, self.reciprocal);
        value.wrapping_sub(quotient.wrapping_mul(self.modulus))
    }

    /// Returns a number below four times the modulus modulo it.
    #[inline(always)]
    fn reduce(&self, number: u128) -> u128 {
        [2 * self.modulus, self.modulus].into_iter().fold(
            number,
            #[inline(always)]
            |number, multiple| {
                let less = number.wrapping_sub(multiple);
                let mask = (less.cast_signed() >> 127).cast_unsigned();
                less.wrapping_add(multiple & mask)
            },
        )
    }
}

/// Returns the upper half of a product of 256 bits.
#[inline(always)]
fn high_product(a: u128, b: u128) -> u128 {
    let (low_mask, low) = (u128::from(u64::MAX), |value: u128| value & u128::from(u64::MAX));
    let (a_low, a_high, b_low, b_high) = (low(a), a >> 64, low(b), b >> 64);
    let (low_high, high_low) = (a_low * b_high, a_high * b_low);
    let middle = ((a_low * b_low) >> 64) + (low_high & low_mask) + (high_low & low_mask);
    a_high * b_high + (low_high >> 64) + (high_low >> 64) + (middle >> 64)
}

impl WideHalf {
    pub(super) fn from_sizes(sizes: &Ff1Sizes) -> Option<Self> {
        let moduli =
            [WideModulus::new(sizes.radix(), sizes.left())?, WideModulus::new(sizes.radix(), sizes.right())?];
        let unused_bits = 8 * BLOCK.checked_sub(sizes.stream_len())? as u32;
        let number_len = sizes.number_len() as u32;
        Some(Self { divisor: RadixDivisor::new(sizes.radix()), number_len, unused_bits, moduli })
    }

    #[inline(always)]
    fn value(&self, stream: &BlockBytes) -> u128 {
        u128::from_be_bytes(*stream) >> self.unused_bits
    }
}

impl Half for WideHalf {
    type Number = u128;

    #[inline(always)]
    fn number(&self, text: &[u8]) -> u128 {
        let (radix, mut number) = (u128::from(self.divisor.radix), 0_u128);
        let add = |numeral: u16| number = number.wrapping_mul(radix).wrapping_add(numeral.into());
        // A loop for each width, because one over both is several times slower.
        match self.divisor.radix {
            ..=256 => text.iter().map(|byte| u16::from(*byte)).for_each(add),
            _ => text.as_chunks().0.iter().map(|bytes| u16::from_be_bytes(*bytes)).for_each(add),
        }
        number
    }

    #[inline(always)]
    fn block(&self, round: u8, number: u128) -> [u64; 2] {
        let end = number | u128::from(round) << (8 * self.number_len);
        [((end >> 64) as u64).swap_bytes(), (end as u64).swap_bytes()]
    }

    #[inline(always)]
    fn add(&self, is_right: bool, number: u128, stream: &BlockBytes) -> u128 {
        let modulus = &self.moduli[usize::from(is_right)];
        modulus.reduce(number.wrapping_add(modulus.rest(self.value(stream))))
    }

    #[inline(always)]
    fn subtract(&self, is_right: bool, number: u128, stream: &BlockBytes) -> u128 {
        let modulus = &self.moduli[usize::from(is_right)];
        modulus
            .reduce(number.wrapping_add(3 * modulus.modulus).wrapping_sub(modulus.rest(self.value(stream))))
    }

    #[inline(always)]
    fn write(&self, number: u128, text: &mut [u8]) {
        // The divisor takes 48 bits: a rest and the next limb of 32 bits.
        let mut limbs = [0, 32, 64].map(|shift| u64::from((number >> shift) as u32));
        let mut next = || {
            let mut rest = 0;
            for limb in limbs.iter_mut().rev() {
                (*limb, rest) = self.divisor.divide(rest << 32 | *limb);
            }
            rest as u16
        };
        match self.divisor.radix {
            ..=256 => text.iter_mut().rev().for_each(|byte| *byte = next() as u8),
            _ => text.as_chunks_mut().0.iter_mut().rev().for_each(|bytes| *bytes = next().to_be_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use oarlock_core::Ff1Radix;

    use super::*;

    #[test]
    fn high_products_are_those_of_wide_integers() {
        let values =
            [0, 1, u128::MAX, u128::MAX - 1, 1 << 64, (1 << 64) - 1, 0x0123_4567_89AB_CDEF << 60 | 77];
        for a in values {
            for b in values {
                // Products of halves, added in 32-bit limbs.
                let limbs = |value: u128| (0..4).map(move |at| (value >> (32 * at)) as u32);
                let mut product = [0_u32; 8];
                for (i, left) in limbs(a).enumerate() {
                    let mut carry = 0;
                    for (j, right) in limbs(b).enumerate() {
                        let sum = u64::from(left) * u64::from(right) + u64::from(product[i + j]) + carry;
                        (product[i + j], carry) = (sum as u32, sum >> 32);
                    }
                    product[i + 4] = carry as u32;
                }
                let high = product[4..].iter().rev().fold(0, |high, limb| high << 32 | u128::from(*limb));
                assert_eq!(high_product(a, b), high, "{a:x} * {b:x}");
            }
        }
    }

    #[test]
    fn numbers_of_numerals_come_back() {
        for (radix, len) in [(10, 8), (10, 9), (2, 32), (65_536, 2), (256, 4), (257, 3), (36, 6), (3, 20)] {
            let named = Ff1Radix::new(radix).unwrap();
            let bytes = named.numeral_bytes();
            let sizes = Ff1Sizes::new(named, 2 * len * bytes, 0).unwrap();
            let half = NarrowHalf::from_sizes(&sizes).unwrap();
            let modulus = u64::from(radix).pow(len as u32);
            for number in [0, 1, u64::from(radix) - 1, radix.into(), modulus / 2, modulus - 2, modulus - 1] {
                let mut text = vec![0; len * bytes];
                half.write(number, &mut text);
                let numerals = sizes.numerals(&text);
                let value = numerals.fold(0, |value, numeral| value * u64::from(radix) + u64::from(numeral));
                assert_eq!((value, half.number(&text)), (number, number), "{radix}^{len}");
            }
        }
    }

    #[test]
    fn rests_are_right_at_the_ends_of_every_modulus() {
        for (radix, len) in [(10, 8), (2, 32), (65_536, 2), (256, 4), (36, 6), (3, 20)] {
            let modulus = NarrowModulus::new(radix, len).unwrap();
            let powers = [0, 1, modulus.modulus, u64::MAX / modulus.modulus * modulus.modulus, u64::MAX];
            for value in powers.into_iter().flat_map(|value| [value.wrapping_sub(1), value]) {
                let mut stream = [7; BLOCK];
                stream[..8].copy_from_slice(&value.to_be_bytes());
                assert_eq!(
                    modulus.reduce(modulus.rest(&stream)),
                    value % modulus.modulus,
                    "{radix}^{len}, {value}"
                );
            }
        }
        for (radix, len) in [(10, 28), (2, 96), (65_536, 6), (256, 12), (36, 11), (10, 10), (62, 8)] {
            let modulus = WideModulus::new(radix, len).unwrap();
            let powers = [0, 1, modulus.modulus, u128::MAX / modulus.modulus * modulus.modulus, u128::MAX];
            for value in powers.into_iter().flat_map(|value| [value.wrapping_sub(1), value]) {
                assert_eq!(
                    modulus.reduce(modulus.rest(value)),
                    value % modulus.modulus,
                    "{radix}^{len}, {value}"
                );
            }
        }
    }
}
