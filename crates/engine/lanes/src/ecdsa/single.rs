//! The inversion of one secret integer, for CPUs whose vectors have no products of 52 bits. Values are in Montgomery
//! form in limbs of 52 bits, as in [`ring`](super::ring).

use zeroize::Zeroizing;

use super::constants::LOW_52;
use super::invert::{WINDOW, exponent_digit};
use super::ring::OddModulus;

/// Computes `1/a` as `a^(m-2)`. The exponent is public, so the time is the same for every `a`. The result is below 2 m.
pub(super) fn invert<M: OddModulus<L>, const L: usize>(a: &[u64; L]) -> [u64; L] {
    let mut powers = Zeroizing::new([M::ONE; 1 << WINDOW]);
    for power in 1..1 << WINDOW {
        powers[power] = multiply::<M, L>(&powers[power - 1], a);
    }
    let mut result = Zeroizing::new(M::ONE);
    for digit in (0..(52 * L) / WINDOW).rev() {
        for _ in 0..WINDOW {
            *result = multiply::<M, L>(&result, &result);
        }
        *result = multiply::<M, L>(&result, &powers[exponent_digit::<M, L>(digit)]);
    }
    *result
}

/// Computes `a b / R`, below 2 m for factors below 2 m, if R is at least 4 m.
#[inline(always)]
fn multiply<M: OddModulus<L>, const L: usize>(a: &[u64; L], b: &[u64; L]) -> [u64; L] {
    // A column gets at most 2 L products below 2^104. Every index is a constant after unrolling, so columns are registers.
    let (mut low, mut high) = ([0_u128; L], [0_u128; L]);
    for i in 0..L {
        for j in 0..L {
            *column(&mut low, &mut high, i + j) += u128::from(a[i]) * u128::from(b[j]);
        }
    }
    let mut carry = 0;
    for i in 0..L {
        let value = low[i] + carry;
        let digit = (value as u64).wrapping_mul(M::NEGATED_INVERSE) & LOW_52;
        // The low 52 bits of the column are zero now.
        carry = (value + u128::from(digit) * u128::from(M::LIMBS[0])) >> 52;
        for j in 1..L {
            *column(&mut low, &mut high, i + j) += u128::from(digit) * u128::from(M::LIMBS[j]);
        }
    }
    high.map(|column| {
        let sum = column + carry;
        carry = sum >> 52;
        sum as u64 & LOW_52
    })
}

/// Returns a column of a product.
#[inline(always)]
fn column<'a, const L: usize>(low: &'a mut [u128; L], high: &'a mut [u128; L], at: usize) -> &'a mut u128 {
    if at < L { &mut low[at] } else { &mut high[at - L] }
}
