//! Boundary values of integer arithmetic, as big-endian bytes of a given width.

/// Big-endian integers of equal width.
pub(super) type Integer = Vec<u8>;

/// The order of P-256. SP 800-186 3.2.1.3.
const P256_ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
/// The prime of P-256.
const P256_PRIME: &str = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
/// The order of P-384. SP 800-186 3.2.1.4.
const P384_ORDER: &str =
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973";
/// The prime of P-384.
const P384_PRIME: &str =
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff";
/// The order of the base point of edwards25519. RFC 8032 5.1.
const ED25519_ORDER: &str = "1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed";
/// 2^255 - 19.
const PRIME_25519: &str = "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed";
/// The u-coordinates of small order besides 0, 1 and p - 1, and y-coordinates of order 8. Bernstein, "Curve25519",
/// section 3.
const SMALL_ORDER_U: [&str; 2] = [
    "00b8495f16056286fdb1329ceb8d09da6ac49ff1fae35616aeb8413b7c7aebe0",
    "57119fd0dd4e22d8868e1c58c45c44045bef839c55b1d0b1248c50a3bc959c5f",
];
const ORDER_8_Y: [&str; 2] = [
    "7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7",
    "05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826",
];

/// Returns the order and the prime of a curve.
pub(super) fn curve_constants(curve: oarlock_core::Curve) -> (Integer, Integer) {
    match curve {
        oarlock_core::Curve::P384 => (hex(P384_ORDER), hex(P384_PRIME)),
        _ => (hex(P256_ORDER), hex(P256_PRIME)),
    }
}

/// Returns the neighbours of each of `values`, of powers of two at the seams of limbs of 52 and 64 bits, and all ones.
pub(super) fn around(values: &[&[u8]], width: usize) -> Vec<Integer> {
    let zero = vec![0; width];
    let fits = |turn: &&&[u8]| turn.len() <= width;
    let values = values.iter().filter(fits).map(|turn| padded(turn, width));
    let bits = [51, 52, 64, 104, 128, 8 * width - 1].into_iter().filter(|bit| *bit < 8 * width);
    let powers = bits.map(|bit| {
        let mut power = zero.clone();
        power[width - 1 - bit / 8] |= 1 << (bit % 8);
        power
    });
    let middles = std::iter::once(zero.clone()).chain(values).chain(powers);
    let mut values: Vec<Integer> =
        middles.flat_map(|value| [minus_one(&value), value.clone(), plus_one(&value)]).collect();
    values.push(plus_one(&plus_one(&zero)));
    values.sort();
    values.dedup();
    values
}

/// Returns little-endian scalars around 0 and the order of edwards25519, its multiples and powers of two.
pub(super) fn ed25519_scalars() -> Vec<Integer> {
    reversed(around(&[&hex(ED25519_ORDER)], 32))
}

/// Returns little-endian u-coordinates: small orders, around the prime, beyond it, and with the ignored bit.
pub(super) fn x25519_points() -> Vec<Integer> {
    let small = SMALL_ORDER_U.map(hex);
    reversed(around(&[&hex(PRIME_25519), &small[0], &small[1]], 32))
}

/// Returns little-endian encodings of points: small orders and coordinates beyond the prime, each with both signs.
pub(super) fn ed25519_points() -> Vec<Integer> {
    let small = ORDER_8_Y.map(hex);
    let values = reversed(around(&[&hex(PRIME_25519), &small[0], &small[1]], 32));
    let other_sign = |value: &Integer| {
        let mut value = value.clone();
        value[31] ^= 0x80;
        value
    };
    let others: Vec<Integer> = values.iter().map(other_sign).collect();
    [values, others].concat()
}

/// Returns uncompressed points, and encodings that are no points: each coordinate of the first point replaced by values
/// around 0 and the prime, and other first bytes.
pub(super) fn encoded_points(points: &[Vec<u8>], prime: &[u8]) -> Vec<Integer> {
    let mut encodings = points.to_vec();
    let Some(first) = points.first() else { return encodings };
    for value in around(&[prime], prime.len()) {
        for start in [1, 1 + prime.len()] {
            let mut encoding = first.clone();
            encoding[start..start + prime.len()].copy_from_slice(&value);
            encodings.push(encoding);
        }
    }
    for form in [0, 1, 2, 3, 5, 6, 7, 0xff] {
        let mut encoding = first.clone();
        encoding[0] = form;
        encodings.push(encoding);
    }
    encodings
}

fn reversed(mut values: Vec<Integer>) -> Vec<Integer> {
    values.iter_mut().for_each(|value| value.reverse());
    values
}

pub(super) fn padded(value: &[u8], width: usize) -> Integer {
    [vec![0; width - value.len()], value.to_vec()].concat()
}

/// Subtracts one. The value wraps at its width, so that zero becomes all ones.
pub(super) fn minus_one(value: &[u8]) -> Integer {
    let mut value = value.to_vec();
    for byte in value.iter_mut().rev() {
        let (less, borrows) = byte.overflowing_sub(1);
        *byte = less;
        if !borrows {
            break;
        }
    }
    value
}

pub(super) fn plus_one(value: &[u8]) -> Integer {
    let mut value = value.to_vec();
    for byte in value.iter_mut().rev() {
        let (more, carries) = byte.overflowing_add(1);
        *byte = more;
        if !carries {
            break;
        }
    }
    value
}

fn hex(text: &str) -> Integer {
    let digit = |at: usize| char::from(text.as_bytes()[at]).to_digit(16).unwrap_or_default() as u8;
    (0..text.len()).step_by(2).map(|at| digit(at) << 4 | digit(at + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_neighbours_of_each_value() {
        let values = around(&[&[0x80]], 1);
        assert_eq!(values, [0, 1, 2, 0x7f, 0x80, 0x81, 0xff].map(|byte| vec![byte]));
        assert_eq!((minus_one(&[1, 0]), plus_one(&[0, 255])), (vec![0, 255], vec![1, 0]));
        assert_eq!(padded(&[7], 3), [0, 0, 7]);
        assert!(around(&[&[1, 2, 3]], 2).len() > 3, "what does not fit is left out");
    }
}
