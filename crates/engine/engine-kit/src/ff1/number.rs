//! Numbers of many limbs of 32 bits, the lowest first. Their values are secret and their lengths are public, so every
//! loop has a fixed number of steps, and choices are masks.

use zeroize::Zeroizing;

/// A power of the radix. It is public.
pub(super) struct Modulus(Vec<u32>);

impl Modulus {
    /// Returns `radix^exponent`. The radix is 2 to 65,536.
    pub(super) fn power(radix: u32, exponent: usize) -> Self {
        let mut limbs = vec![1];
        for _ in 0..exponent {
            let carry = multiply_add(&mut limbs, radix, 0);
            if carry > 0 {
                limbs.push(carry);
            }
        }
        Self(limbs)
    }

    pub(super) fn limbs(&self) -> &[u32] {
        &self.0
    }

    /// Returns the number of bits of the largest number below the modulus.
    pub(super) fn bits_below(&self) -> usize {
        let bits = |limbs: &[u32]| {
            let high = limbs.iter().rposition(|limb| *limb > 0);
            high.map_or(0, |at| 32 * at + 32 - limbs[at].leading_zeros() as usize)
        };
        let mut below = self.0.clone();
        // The modulus is at least 2, so one of its limbs does not borrow.
        for limb in &mut below {
            let (less, borrows) = limb.overflowing_sub(1);
            *limb = less;
            if !borrows {
                break;
            }
        }
        bits(&below)
    }

    /// Adds a value of any size to a number below the modulus.
    pub(super) fn add(&self, number: &mut [u32], value: &[u32]) {
        let rest = self.rest(value, number.len());
        let mut carry = 0;
        for (limb, other) in number.iter_mut().zip(rest.iter()) {
            let sum = u64::from(*limb) + u64::from(*other) + carry;
            (*limb, carry) = (sum as u32, sum >> 32);
        }
        self.subtract_once(number, carry as u32);
    }

    /// Subtracts a value of any size from a number below the modulus.
    pub(super) fn subtract(&self, number: &mut [u32], value: &[u32]) {
        let mut rest = self.rest(value, number.len());
        // The modulus less the rest is 1 to the modulus, so the sum is below twice the modulus.
        let mut borrow = 0;
        for (at, limb) in rest.iter_mut().enumerate() {
            let less = i64::from(self.limb(at)) - i64::from(*limb) + borrow;
            (*limb, borrow) = (less as u32, less >> 32);
        }
        let mut carry = 0;
        for (limb, other) in number.iter_mut().zip(rest.iter()) {
            let sum = u64::from(*limb) + u64::from(*other) + carry;
            (*limb, carry) = (sum as u32, sum >> 32);
        }
        self.subtract_once(number, carry as u32);
    }

    fn limb(&self, at: usize) -> u32 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// Returns a value modulo this, in `len` limbs, by one subtraction for each bit.
    fn rest(&self, value: &[u32], len: usize) -> Zeroizing<Vec<u32>> {
        let mut rest = Zeroizing::new(vec![0; len]);
        // So many of the highest limbs are below the modulus, whose highest limb is not zero.
        let (low, high) = value.split_at(value.len().saturating_sub(self.0.len() - 1));
        rest[..high.len()].copy_from_slice(high);
        for limb in low.iter().rev() {
            for bit in (0..32).rev() {
                let mut carry = limb >> bit & 1;
                for limb in rest.iter_mut() {
                    let out = *limb >> 31;
                    *limb = *limb << 1 | carry;
                    carry = out;
                }
                self.subtract_once(&mut rest, carry);
            }
        }
        rest
    }

    /// Subtracts the modulus if the number, with a bit above its limbs, is not below it.
    fn subtract_once(&self, number: &mut [u32], carry: u32) {
        let mut borrow = 0;
        for (at, limb) in number.iter().enumerate() {
            borrow = (i64::from(*limb) - i64::from(self.limb(at)) + borrow) >> 32;
        }
        // No borrow, or one that the bit above pays.
        let mask = (carry | (borrow as u32).wrapping_add(1)).wrapping_neg();
        let mut borrow = 0;
        for (at, limb) in number.iter_mut().enumerate() {
            let less = i64::from(*limb) - i64::from(self.limb(at) & mask) + borrow;
            (*limb, borrow) = (less as u32, less >> 32);
        }
    }
}

/// Returns the number of numerals, the first of which is the most significant.
pub(super) fn of_numerals(
    radix: u32,
    numerals: impl Iterator<Item = u32>,
    limbs: usize,
) -> Zeroizing<Vec<u32>> {
    let mut number = Zeroizing::new(vec![0; limbs]);
    for numeral in numerals {
        multiply_add(&mut number, radix, numeral);
    }
    number
}

/// Writes the numerals of a number, which becomes zero, in `numeral_bytes` bytes each.
pub(super) fn write_numerals(number: &mut [u32], radix: u32, numeral_bytes: usize, out: &mut [u8]) {
    for numeral_out in out.rchunks_exact_mut(numeral_bytes) {
        let numeral = divide(number, radix).to_be_bytes();
        numeral_out.copy_from_slice(&numeral[4 - numeral_bytes..]);
    }
}

/// Writes the lowest bytes of a number, as many as `out` has, the lowest last.
pub(super) fn write_bytes(number: &[u32], out: &mut [u8]) {
    let bytes = number.iter().flat_map(|limb| limb.to_le_bytes());
    for (to, from) in out.iter_mut().rev().zip(bytes) {
        *to = from;
    }
}

/// Multiplies a number by the radix and adds a numeral. Returns what is above its limbs.
fn multiply_add(number: &mut [u32], radix: u32, numeral: u32) -> u32 {
    let mut carry = u64::from(numeral);
    for limb in number {
        let product = u64::from(*limb) * u64::from(radix) + carry;
        (*limb, carry) = (product as u32, product >> 32);
    }
    carry as u32
}

/// Divides a number by the radix, and returns the rest.
///
/// A division instruction may take longer for some numbers, so this multiplies by the reciprocal r of the radix:
/// `x * r >> 64` is exact for x below 2^48, because `radix * r - 2^64` is below 2^16.
fn divide(number: &mut [u32], radix: u32) -> u32 {
    let reciprocal = u128::from(u64::MAX / u64::from(radix)) + 1;
    let mut rest = 0;
    for limb in number.iter_mut().rev() {
        let value = u64::from(rest) << 32 | u64::from(*limb);
        let quotient = ((u128::from(value) * reciprocal) >> 64) as u64;
        *limb = quotient as u32;
        rest = (value - quotient * u64::from(radix)) as u32;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: u128, len: usize) -> Vec<u32> {
        (0..len).map(|at| (value >> (32 * at).min(127)) as u32 & if at < 4 { u32::MAX } else { 0 }).collect()
    }

    fn value(number: &[u32]) -> u128 {
        number.iter().rev().fold(0, |value, limb| value << 32 | u128::from(*limb))
    }

    #[test]
    fn moduli_add_and_subtract_as_wide_integers_do() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u128::from(state >> 7)
        };
        for (radix, exponent) in [(2, 7), (10, 8), (2, 32), (65_536, 2), (255, 5), (36, 11), (65_535, 3)] {
            let modulus = Modulus::power(radix, exponent);
            let power = u128::from(radix).pow(exponent as u32);
            assert_eq!(value(modulus.limbs()), power);
            assert_eq!(modulus.bits_below(), (128 - (power - 1).leading_zeros()) as usize);
            let len = modulus.limbs().len();
            for edge in [0, 1, power - 1, next() % power] {
                for added in [0, 1, power - 1, power, (1 << 96) - 1, next() << 32 | next()] {
                    let wide = number(added, len.max(3) + 1);
                    let mut sum = number(edge, len);
                    modulus.add(&mut sum, &wide);
                    assert_eq!(value(&sum), (edge + added % power) % power, "{radix}^{exponent}");
                    modulus.subtract(&mut sum, &wide);
                    assert_eq!(value(&sum), edge, "{radix}^{exponent}");
                }
            }
        }
    }

    #[test]
    fn numerals_come_back_for_every_radix() {
        for radix in (2..=65_536).step_by(13).chain([65_535, 65_536]) {
            let numerals: Vec<u32> =
                (0..9).map(|at| (at * at * 7_919 + 3) % radix).chain([0, radix - 1]).collect();
            let bytes: Vec<u8> =
                numerals.iter().flat_map(|numeral| (*numeral as u16).to_be_bytes()).collect();
            let limbs = Modulus::power(radix, numerals.len()).limbs().len();
            let mut number = of_numerals(radix, numerals.iter().copied(), limbs);
            let mut written = vec![0; bytes.len()];
            write_numerals(&mut number, radix, 2, &mut written);
            assert_eq!((written, value(&number)), (bytes, 0), "{radix}");
        }
    }
}
