//! Integers of the combination. Shoup 2000, Protocol 1.
//!
//! For at most 16 servers everything fits: `l! < 2^45`, `|lambda_j| <= l! * 1,100,736 < 2^65`, `e' = 4 l!^2 < 2^91`.

use oarlock_keys::threshold::ThresholdKey;

/// `l!` of the number of servers.
pub(super) fn factorial(key: &ThresholdKey) -> u128 {
    (1..=u128::from(key.shares())).product()
}

/// `lambda_j = l! * product of j' / (j' - j)` over the other indices j', an integer. Shoup 2000, Protocol 1.
pub(super) fn coefficient(factorial: u128, index: u8, indices: &[u8]) -> i128 {
    let others = || indices.iter().filter(|other| **other != index).map(|other| i128::from(*other));
    let numerator: i128 = others().product();
    let denominator: i128 = others().map(|other| other - i128::from(index)).product();
    // The division leaves no rest, because l! contains every such denominator. Shoup 2000, Protocol 1.
    factorial.cast_signed() * numerator / denominator
}

/// a and b with `a * 4 l!^2 + b * e = 1`; None if e shares a factor with `l!`, which no valid key's does.
pub(super) fn bezout(key: &ThresholdKey) -> Option<(i128, i128)> {
    let e = key.public().rsa_public()?.e.iter().fold(0, |value, byte| value << 8 | i128::from(*byte));
    let square = 4 * (factorial(key) * factorial(key)).cast_signed();
    extended_euclid(square, e)
}

/// x and y with `x * a + y * b = 1` for coprime positive a and b, `|x| <= b` and `|y| <= a`.
fn extended_euclid(a: i128, b: i128) -> Option<(i128, i128)> {
    let (mut rest, mut next_rest) = (a, b);
    let ((mut x, mut next_x), (mut y, mut next_y)) = ((1, 0), (0, 1));
    while next_rest != 0 {
        let quotient = rest / next_rest;
        (rest, next_rest) = (next_rest, rest - quotient * next_rest);
        (x, next_x) = (next_x, x - quotient * next_x);
        (y, next_y) = (next_y, y - quotient * next_y);
    }
    (rest == 1).then_some((x, y))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of `docs/math/threshold-rsa.md`, for every set of the largest number of servers: coefficients are
    /// integers, interpolate polynomials at 0, and have at most 65 bits.
    #[test]
    fn coefficients_are_short_integers_that_interpolate() {
        let factorial: u128 = (1..=16).product();
        let mut largest = 0;
        for set in 1_u32..1 << 16 {
            let indices: Vec<u8> = (1..=16).filter(|index| set >> (index - 1) & 1 == 1).collect();
            let coefficients = indices.iter().map(|index| coefficient(factorial, *index, &indices));
            let of_one: i128 = coefficients.clone().sum();
            assert_eq!(of_one, factorial.cast_signed(), "{indices:?}");
            largest = coefficients.map(i128::unsigned_abs).fold(largest, u128::max);
        }
        assert_eq!(largest, factorial * 1_100_736);
    }

    #[test]
    fn the_extended_algorithm_satisfies_its_equation() {
        let largest = 4 * 20_922_789_888_000_i128.pow(2);
        for (a, b) in [(largest, 65_537), (largest, (1 << 33) - 9), (16, 3), (4, 7), (1, 1)] {
            let (x, y) = extended_euclid(a, b).unwrap();
            assert_eq!(x * a + y * b, 1);
            assert!(x.abs() <= b && y.abs() <= a);
        }
        assert_eq!(extended_euclid(36, 3), None);
    }
}
