//! Integers of one key in limbs of 52 bits, lowest first, for its preparation. Every function but
//! [`power_of_two_mod`] takes the same time for all values.

use zeroize::Zeroizing;

pub(super) use super::window::{LIMB, LIMB_BITS};
use crate::simd::declassify;

/// The limbs of an integer that can be secret.
pub(super) type Limbs = Zeroizing<Vec<u64>>;

/// Converts a big-endian integer to `limbs` limbs, or returns None if it has more bits.
pub(super) fn from_bytes(bytes: &[u8], limbs: usize) -> Option<Limbs> {
    let mut out = Zeroizing::new(vec![0; limbs]);
    // Bits that do not fit are gathered and tested at the end: primes are secret, and an early exit shows a position.
    let mut beyond = 0;
    for (at, byte) in bytes.iter().rev().enumerate() {
        let (limb, bit) = (8 * at / LIMB_BITS as usize, 8 * at % LIMB_BITS as usize);
        let parts = u128::from(*byte) << bit;
        for (limb, part) in [(limb, parts as u64 & LIMB), (limb + 1, (parts >> LIMB_BITS) as u64)] {
            match out.get_mut(limb) {
                Some(limb) => *limb |= part,
                None => beyond |= part,
            }
        }
    }
    (declassify(beyond) == 0).then_some(out)
}

/// Extends a number with zeros to a multiple of eight limbs, which loads fastest.
pub(super) fn padded(limbs: &[u64]) -> Limbs {
    let mut out = Zeroizing::new(vec![0; limbs.len().next_multiple_of(8)]);
    out[..limbs.len()].copy_from_slice(limbs);
    out
}

/// Computes `-n^-1 mod 2^52` of an odd n by Newton's iteration. An odd number has three right bits, and each step
/// doubles their number.
pub(super) fn negated_inverse(n: u64) -> u64 {
    let mut inverse = n;
    // 3, 6, 12, 24, 48, 96 right bits.
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(n.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg() & LIMB
}

/// Computes `-n^-1 mod R` of an odd n: the digits that a reduction of 1 adds multiples of n by.
pub(super) fn negated_inverse_mod_radix(n: &[u64]) -> Limbs {
    let inverse = negated_inverse(n[0]);
    let mut rest: Limbs = Zeroizing::new(vec![0; n.len()]);
    rest[0] = 1;
    let mut out = Zeroizing::new(vec![0; n.len()]);
    for (at, digit) in out.iter_mut().enumerate() {
        *digit = rest[at].wrapping_mul(inverse) & LIMB;
        let mut carry = 0;
        // Limbs from R on do not matter.
        for (rest, n) in rest[at..].iter_mut().zip(n) {
            carry += u128::from(*rest) + u128::from(*digit) * u128::from(*n);
            *rest = carry as u64 & LIMB;
            carry >>= LIMB_BITS;
        }
    }
    out
}

/// Computes `a b / R mod n` for a and b below n. The result is below n.
pub(super) fn montgomery_product(a: &[u64], b: &[u64], n: &[u64]) -> Limbs {
    let inverse = negated_inverse(n[0]);
    let mut sum = Zeroizing::new(vec![0; n.len()]);
    let mut top = 0;
    for a in a {
        let first = u128::from(sum[0]) + u128::from(*a) * u128::from(b[0]);
        let quotient = (first as u64).wrapping_mul(inverse) & LIMB;
        let mut carry = (first + u128::from(quotient) * u128::from(n[0])) >> LIMB_BITS;
        for j in 1..n.len() {
            // Two products of 104 bits, a limb and a carry: below 2^106.
            carry += u128::from(sum[j])
                + u128::from(*a) * u128::from(b[j])
                + u128::from(quotient) * u128::from(n[j]);
            sum[j - 1] = carry as u64 & LIMB;
            carry >>= LIMB_BITS;
        }
        // `top` is the carry above the highest limb, which the next round takes up.
        top += carry as u64;
        sum[n.len() - 1] = top & LIMB;
        top >>= LIMB_BITS;
    }
    subtract_if_not_below(&mut sum, n);
    sum
}

/// Computes `R mod n` of an odd n above 1 by doubling 1.
pub(super) fn radix_mod(n: &[u64]) -> Limbs {
    let mut value = Zeroizing::new(vec![0; n.len()]);
    value[0] = 1;
    // Not a division: n is a secret prime. It runs once per key.
    for _ in 0..n.len() * LIMB_BITS as usize {
        double_mod(&mut value, n);
    }
    value
}

/// Computes `R^2 mod n` from `R mod n`, which is 1 in Montgomery form. R is 2 to the power of its length.
pub(super) fn radix_squared_mod(radix: &[u64], n: &[u64]) -> Limbs {
    montgomery_power_of_two(n.len() * LIMB_BITS as usize, radix, n)
}

/// Computes `2^power mod n` from `R mod n`. The power is public.
pub(super) fn secret_power_of_two_mod(power: usize, radix: &[u64], n: &[u64]) -> Limbs {
    let mut one = Zeroizing::new(vec![0; n.len()]);
    one[0] = 1;
    montgomery_product(&montgomery_power_of_two(power, radix, n), &one, n)
}

/// Computes `2^power R mod n` from `R mod n`.
fn montgomery_power_of_two(exponent: usize, radix: &[u64], n: &[u64]) -> Limbs {
    let mut power = Zeroizing::new(radix.to_vec());
    for bit in (0..usize::BITS - exponent.leading_zeros()).rev() {
        power = montgomery_product(&power, &power, n);
        if exponent >> bit & 1 == 1 {
            double_mod(&mut power, n);
        }
    }
    power
}

/// Doubles a value below n modulo n. 2 n must fit in the limbs.
fn double_mod(value: &mut [u64], n: &[u64]) {
    let mut carry = 0;
    for limb in value.iter_mut() {
        let double = *limb << 1 | carry;
        *limb = double & LIMB;
        carry = double >> LIMB_BITS;
    }
    subtract_if_not_below(value, n);
}

/// Subtracts n from a value below `2 n` unless it is below n.
fn subtract_if_not_below(value: &mut [u64], n: &[u64]) {
    let is_below = subtract(value, n, u64::MAX);
    // Adds n back if the value was below n. Both cases take the same steps.
    let mut carry = 0;
    for (limb, n) in value.iter_mut().zip(n) {
        let sum = *limb + (n & is_below) + carry;
        *limb = sum & LIMB;
        carry = sum >> LIMB_BITS;
    }
}

/// Subtracts `n & mask` modulo R. Returns all ones if the value was below it.
fn subtract(value: &mut [u64], n: &[u64], mask: u64) -> u64 {
    let mut borrow = 0;
    for (limb, n) in value.iter_mut().zip(n) {
        let difference = limb.wrapping_sub(n & mask).wrapping_sub(borrow);
        *limb = difference & LIMB;
        // Limbs have 52 bits, so bit 63 is set only by a borrow.
        borrow = difference >> 63;
    }
    borrow.wrapping_neg()
}

/// Returns true if a is below b. The result must not be secret.
pub(super) fn is_below(a: &[u64], b: &[u64]) -> bool {
    let mut a = Zeroizing::new(a.to_vec());
    declassify(subtract(&mut a, b, u64::MAX)) != 0
}

/// Returns true if a and b, which have the same number of limbs, are equal. The result must not be secret.
pub(super) fn is_equal(a: &[u64], b: &[u64]) -> bool {
    declassify(a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b))) == 0
}

/// Returns true if a is odd. The result must not be secret.
pub(super) fn is_odd(a: &[u64]) -> bool {
    declassify(a[0] & 1) == 1
}

/// Returns `2^power`, which must be below R.
pub(super) fn power_of_two(power: usize, limbs: usize) -> Limbs {
    let mut out = Zeroizing::new(vec![0; limbs]);
    out[power / LIMB_BITS as usize] = 1 << (power % LIMB_BITS as usize);
    out
}

/// Computes `a b` in as many limbs as both have together.
pub(super) fn product(a: &[u64], b: &[u64]) -> Limbs {
    let mut out = Zeroizing::new(vec![0; a.len() + b.len()]);
    for (i, a) in a.iter().enumerate() {
        let mut carry = 0;
        for (j, b) in b.iter().enumerate() {
            carry += u128::from(out[i + j]) + u128::from(*a) * u128::from(*b);
            out[i + j] = carry as u64 & LIMB;
            carry >>= LIMB_BITS;
        }
        out[i + b.len()] = carry as u64;
    }
    out
}

/// Computes `2^power mod n` of a public n by long division, one limb of the quotient at a time. Knuth, The Art of
/// Computer Programming, volume 2, 4.3.1, algorithm D. The time depends on n.
pub(super) fn power_of_two_mod(power: usize, n: &[u64]) -> Limbs {
    let width = n.len() - n.iter().rev().take_while(|limb| **limb == 0).count();
    // Algorithm D wants the highest bit of the divisor set. The remainder is shifted back below.
    let shift = n[width - 1].leading_zeros() - (u64::BITS - LIMB_BITS);
    let divisor = shifted_left(&n[..width], shift);
    let (limb, bit) =
        ((power + shift as usize) / LIMB_BITS as usize, (power + shift as usize) % LIMB_BITS as usize);
    let mut rest = Zeroizing::new(vec![0; limb.max(width) + 2]);
    rest[limb] = 1 << bit;
    for at in (0..rest.len() - width).rev() {
        divide_step(&mut rest[at..=at + width], &divisor);
    }
    rest.truncate(width);
    let mut below = 0;
    for limb in rest.iter_mut().rev() {
        let wide = u128::from(*limb) | u128::from(below) << LIMB_BITS;
        below = *limb & ((1 << shift) - 1);
        *limb = (wide >> shift) as u64;
    }
    rest.resize(n.len(), 0);
    rest
}

/// Subtracts the divisor from a value with one limb more, as often as it fits. The highest bit of the divisor must
/// be set.
fn divide_step(value: &mut [u64], divisor: &[u64]) {
    let width = divisor.len();
    let high = u128::from(value[width]) << LIMB_BITS | u128::from(value[width - 1]);
    // The estimate is at most two too large (Knuth, theorem B).
    let quotient = (high / u128::from(divisor[width - 1])).min(u128::from(LIMB)) as u64;
    let mut carry = 0_i128;
    for (limb, divisor) in value.iter_mut().zip(divisor) {
        carry += i128::from(*limb) - i128::from(quotient) * i128::from(*divisor);
        *limb = carry as u64 & LIMB;
        carry >>= LIMB_BITS;
    }
    carry += i128::from(value[width]);
    // At most twice. The values are public, so the number of rounds may show.
    while carry < 0 {
        let mut up = 0;
        for (limb, divisor) in value.iter_mut().zip(divisor) {
            up += *limb + divisor;
            *limb = up & LIMB;
            up >>= LIMB_BITS;
        }
        carry += i128::from(up);
    }
    value[width] = carry as u64;
}

fn shifted_left(limbs: &[u64], shift: u32) -> Vec<u64> {
    let mut below = 0;
    let shifted = limbs.iter().map(|limb| {
        let wide = u128::from(*limb) << shift | below;
        below = wide >> LIMB_BITS;
        wide as u64 & LIMB
    });
    shifted.collect()
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    fn value(limbs: &[u64]) -> BigUint {
        limbs.iter().rev().fold(BigUint::ZERO, |value, limb| (value << LIMB_BITS) + *limb)
    }

    /// Returns an odd modulus of `bits` bits, different for each seed.
    fn modulus(bits: usize, seed: u8) -> Vec<u8> {
        let len = bits.div_ceil(8);
        let mut bytes: Vec<u8> =
            (0..len).map(|at| (at as u8).wrapping_mul(151).wrapping_add(seed).rotate_left(3)).collect();
        let above = (8 * len - bits) as u32;
        bytes[0] = (bytes[0] | 0x80) >> above;
        bytes[len - 1] |= 1;
        bytes
    }

    #[test]
    fn bytes_become_limbs_and_too_many_are_refused() {
        let bytes = modulus(516, 9);
        assert_eq!(value(&from_bytes(&bytes, 10).unwrap()), BigUint::from_bytes_be(&bytes));
        assert_eq!(from_bytes(&modulus(521, 9), 10), None);
        assert!(from_bytes(&[&[0; 9], &modulus(520, 9)[..]].concat(), 10).is_some());
    }

    #[test]
    fn powers_of_the_radix_are_right_for_every_length_of_modulus() {
        let lengths = [(516, 10), (513, 10), (512, 10), (1024, 20), (700, 20), (521, 20), (2048, 40)];
        let (lengths, seeds) = if cfg!(miri) { (&lengths[2..3], 1) } else { (&lengths[..], 20) };
        for &(bits, limbs) in lengths {
            for seed in 0..seeds {
                let bytes = modulus(bits, seed);
                let n = from_bytes(&bytes, limbs).unwrap();
                let (radix, big) = (BigUint::from(1_u8) << (52 * limbs), BigUint::from_bytes_be(&bytes));
                let one = radix_mod(&n);
                assert_eq!(value(&one), &radix % &big);
                assert_eq!(value(&radix_squared_mod(&one, &n)), &radix * &radix % &big);
                assert_eq!(value(&power_of_two_mod(104 * limbs, &n)), &radix * &radix % &big, "{bits}");
                assert_eq!(value(&power_of_two_mod(5, &n)), BigUint::from(32_u8));
                assert_eq!(n[0].wrapping_mul(negated_inverse(n[0])) & LIMB, LIMB);
                assert_eq!(value(&negated_inverse_mod_radix(&n)) * &big % &radix, &radix - 1_u8);
                for power in [5, 44 * limbs, 3 * 49 * limbs] {
                    let expected = (BigUint::from(1_u8) << power) % &big;
                    assert_eq!(value(&secret_power_of_two_mod(power, &one, &n)), expected);
                }
            }
        }
    }

    #[test]
    fn products_and_order_are_those_of_integers() {
        let (a, b) = (from_bytes(&modulus(500, 3), 10).unwrap(), from_bytes(&modulus(510, 4), 10).unwrap());
        assert_eq!(value(&product(&a, &b)), value(&a) * value(&b));
        assert!(is_below(&a, &b) && !is_below(&b, &a) && !is_below(&a, &a));
    }

    #[test]
    fn division_corrects_its_estimates() {
        for top in [1 << 51, (1 << 51) + 1, LIMB] {
            for rest in [0, 1, LIMB] {
                let n = [LIMB, rest, top];
                let expected = (BigUint::from(1_u8) << 312_usize) % value(&n);
                assert_eq!(value(&power_of_two_mod(312, &n)), expected);
            }
        }
    }
}
