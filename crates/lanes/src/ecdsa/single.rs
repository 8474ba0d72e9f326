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
    // A column gets at most 2 L products below 2^104.
    let mut columns = [0_u128; L];
    for limb in a {
        for (column, other) in columns.iter_mut().zip(b) {
            *column += u128::from(*limb) * u128::from(*other);
        }
        let digit = (columns[0] as u64).wrapping_mul(M::NEGATED_INVERSE) & LOW_52;
        for (column, word) in columns.iter_mut().zip(&M::LIMBS) {
            *column += u128::from(digit) * u128::from(*word);
        }
        // The low 52 bits of the lowest column are zero now.
        let carry = columns[0] >> 52;
        columns.copy_within(1.., 0);
        columns[L - 1] = 0;
        columns[0] += carry;
    }
    let mut carry = 0;
    columns.map(|column| {
        let sum = column + carry;
        carry = sum >> 52;
        sum as u64 & LOW_52
    })
}
