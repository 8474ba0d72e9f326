//! Inverses modulo the order of P-256, by the division steps of Bernstein and Yang ("Fast constant-time gcd computation
//! and modular inversion", 2019) in variable time. The values are public.
//!
//! The steps keep `d x = f` and `e x = g` modulo n, up to powers of two that each round divides out again. They end
//! with g = 0 and f = 1 or -1, so that d or -d is the inverse. Integers are five signed digits of 62 bits, as in
//! libsecp256k1: 62 steps need only the lowest digits of f and g, and their matrix fits into 64 bits.

use crrl::p256::Scalar;

/// An integer of five digits in radix 2^62. All but the highest are in [0, 2^62) after each round.
type SignedDigits = [i64; 5];

/// The matrix of 62 steps, times 2^62.
struct StepMatrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

const DIGIT_BITS: u32 = 62;
const DIGIT_MASK: u64 = u64::MAX >> 2;

/// The order n, little-endian.
const ORDER_WORDS: [u64; 4] = [0xF3B9_CAC2_FC63_2551, 0xBCE6_FAAD_A717_9E84, u64::MAX, 0xFFFF_FFFF_0000_0000];
const ORDER: SignedDigits = to_digits(ORDER_WORDS);

/// The inverse of n modulo 2^62, by Newton's iteration: each step doubles the number of right bits.
const ORDER_INVERSE: u64 = {
    // An odd number is its own inverse modulo 8.
    let mut inverse = ORDER_WORDS[0];
    let mut right_bits = 3;
    while right_bits < DIGIT_BITS {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(ORDER_WORDS[0].wrapping_mul(inverse)));
        right_bits *= 2;
    }
    inverse & DIGIT_MASK
};

/// Inverts scalars other than zero, with one inversion for all of them (Montgomery 1987, section 10.3.1).
pub(super) fn invert_all(scalars: &mut [Scalar]) {
    let mut product = Scalar::ONE;
    let mut before = Vec::with_capacity(scalars.len());
    for scalar in &*scalars {
        before.push(product);
        product *= *scalar;
    }
    let mut inverse = invert(product);
    for (scalar, before) in scalars.iter_mut().zip(before).rev() {
        let inverse_of_scalar = inverse * before;
        inverse *= *scalar;
        *scalar = inverse_of_scalar;
    }
}

/// Returns the inverse of a scalar other than zero.
fn invert(scalar: Scalar) -> Scalar {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(scalar.encode32().as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(invert_words(words)) {
        *bytes = word.to_le_bytes();
    }
    Scalar::decode_reduce(&bytes)
}

fn invert_words(words: [u64; 4]) -> [u64; 4] {
    let (mut d, mut e): (SignedDigits, SignedDigits) = ([0; 5], [1, 0, 0, 0, 0]);
    let (mut f, mut g) = (ORDER, to_digits(words));
    // The number of digits that f and g still have.
    let mut len = f.len();
    // The eta of libsecp256k1: -delta of the paper, which begins at 1.
    let mut eta = -1;
    loop {
        let matrix = divide_steps(&mut eta, f[0] as u64, g[0] as u64);
        apply_modulo_order(&mut d, &mut e, &matrix);
        apply_exactly(&mut f[..len], &mut g[..len], &matrix);
        if g[..len].iter().all(|digit| *digit == 0) {
            return reduce(d, f[len - 1] < 0);
        }
        if len > 1 && [f[len - 1], g[len - 1]].iter().all(|digit| matches!(digit, 0 | -1)) {
            // The highest digits are mere signs. The digits below take the sign bits.
            f[len - 2] |= f[len - 1] << DIGIT_BITS;
            g[len - 2] |= g[len - 1] << DIGIT_BITS;
            len -= 1;
        }
    }
}

/// Computes 62 division steps on the lowest bits of f and g. Several steps are made at once: those that only halve g,
/// and those that cancel up to six low bits of g by a multiple of f.
fn divide_steps(eta: &mut i64, f: u64, g: u64) -> StepMatrix {
    let (mut u, mut v, mut q, mut r) = (1_u64, 0_u64, 0_u64, 1_u64);
    let (mut f, mut g) = (f, g);
    let mut left = DIGIT_BITS;
    loop {
        // The bits set on top end the count of zeros after the steps that are left.
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        *eta -= i64::from(zeros);
        left -= zeros;
        if left == 0 {
            return StepMatrix { u: u as i64, v: v as i64, q: q as i64, r: r as i64 };
        }
        let is_swapped = *eta < 0;
        if is_swapped {
            *eta = -*eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        // No more bits than steps are left, and no more than steps follow before eta becomes negative.
        let limit = (*eta + 1).min(i64::from(left));
        let cancelled = u64::MAX >> (64 - limit);
        let multiple = if is_swapped {
            // -1/f modulo 64 is f (f^2 - 2).
            f.wrapping_mul(g).wrapping_mul(f.wrapping_mul(f).wrapping_sub(2)) & cancelled & 63
        } else {
            // 1/f modulo 16 is f + (((f + 1) & 4) << 1).
            let inverse = f.wrapping_add((f.wrapping_add(1) & 4) << 1);
            inverse.wrapping_neg().wrapping_mul(g) & cancelled & 15
        };
        g = g.wrapping_add(f.wrapping_mul(multiple));
        q = q.wrapping_add(u.wrapping_mul(multiple));
        r = r.wrapping_add(v.wrapping_mul(multiple));
    }
}

/// Replaces d and e by the matrix times them, divided by 2^62 modulo n. They stay in (-2 n, n).
fn apply_modulo_order(d: &mut SignedDigits, e: &mut SignedDigits, matrix: &StepMatrix) {
    let StepMatrix { u, v, q, r } = *matrix;
    let (d_sign, e_sign) = (d[4] >> 63, e[4] >> 63);
    let mut carry_d = wide(u, d[0]) + wide(v, e[0]);
    let mut carry_e = wide(q, d[0]) + wide(r, e[0]);
    // The multiples of n that make the lowest digits zero, beside one n for each negative number.
    let d_multiple = order_multiple((u & d_sign) + (v & e_sign), carry_d);
    let e_multiple = order_multiple((q & d_sign) + (r & e_sign), carry_e);
    carry_d = (carry_d + wide(ORDER[0], d_multiple)) >> DIGIT_BITS;
    carry_e = (carry_e + wide(ORDER[0], e_multiple)) >> DIGIT_BITS;
    for at in 1..5 {
        carry_d += wide(u, d[at]) + wide(v, e[at]) + wide(ORDER[at], d_multiple);
        carry_e += wide(q, d[at]) + wide(r, e[at]) + wide(ORDER[at], e_multiple);
        (d[at - 1], carry_d) = split_digit(carry_d);
        (e[at - 1], carry_e) = split_digit(carry_e);
    }
    (d[4], e[4]) = (carry_d as i64, carry_e as i64);
}

fn order_multiple(start: i64, lowest: i128) -> i64 {
    let excess = ORDER_INVERSE.wrapping_mul(lowest as u64).wrapping_add(start as u64) & DIGIT_MASK;
    start - excess as i64
}

/// Replaces f and g by the matrix times them, divided by 2^62. The division is exact.
fn apply_exactly(f: &mut [i64], g: &mut [i64], matrix: &StepMatrix) {
    let StepMatrix { u, v, q, r } = *matrix;
    let mut carry_f = (wide(u, f[0]) + wide(v, g[0])) >> DIGIT_BITS;
    let mut carry_g = (wide(q, f[0]) + wide(r, g[0])) >> DIGIT_BITS;
    for at in 1..f.len() {
        carry_f += wide(u, f[at]) + wide(v, g[at]);
        carry_g += wide(q, f[at]) + wide(r, g[at]);
        (f[at - 1], carry_f) = split_digit(carry_f);
        (g[at - 1], carry_g) = split_digit(carry_g);
    }
    let last = f.len() - 1;
    (f[last], g[last]) = (carry_f as i64, carry_g as i64);
}

/// Returns the number, or its negative, modulo n. The number is in (-2 n, n).
fn reduce(number: SignedDigits, is_negated: bool) -> [u64; 4] {
    let mut digits = number;
    if digits[4] < 0 {
        add_order(&mut digits);
    }
    if is_negated {
        digits.iter_mut().for_each(|digit| *digit = -*digit);
    }
    carry(&mut digits);
    if digits[4] < 0 {
        add_order(&mut digits);
        carry(&mut digits);
    }
    let [a, b, c, d, e] = digits.map(|digit| digit as u64);
    [a | b << 62, b >> 2 | c << 60, c >> 4 | d << 58, d >> 6 | e << 56]
}

fn add_order(digits: &mut SignedDigits) {
    digits.iter_mut().zip(ORDER).for_each(|(digit, order)| *digit += order);
}

fn carry(digits: &mut SignedDigits) {
    for at in 0..4 {
        digits[at + 1] += digits[at] >> DIGIT_BITS;
        digits[at] &= DIGIT_MASK as i64;
    }
}

fn wide(a: i64, b: i64) -> i128 {
    i128::from(a) * i128::from(b)
}

/// Splits a sum into its lowest digit and the rest.
fn split_digit(sum: i128) -> (i64, i128) {
    ((sum as u64 & DIGIT_MASK) as i64, sum >> DIGIT_BITS)
}

const fn to_digits(words: [u64; 4]) -> SignedDigits {
    let [a, b, c, d] = words;
    [
        (a & DIGIT_MASK) as i64,
        ((a >> 62 | b << 2) & DIGIT_MASK) as i64,
        ((b >> 60 | c << 4) & DIGIT_MASK) as i64,
        ((c >> 58 | d << 6) & DIGIT_MASK) as i64,
        (d >> 56) as i64,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_crrl_at_the_ends_and_in_a_long_sequence() {
        let mut scalars: Vec<Scalar> = (1..200).map(Scalar::from_u32).collect();
        scalars.extend((1..200).map(|distance| -Scalar::from_u32(distance)));
        for bit in 0..255 {
            let mut power = Scalar::ONE;
            (0..bit).for_each(|_| power += power);
            scalars.push(power);
        }
        let mut last = Scalar::from_u32(3);
        for step in 0..5_000 {
            last = last.square() + Scalar::from_u32(step);
            scalars.push(last);
        }
        for scalar in scalars.into_iter().filter(|scalar| scalar.iszero() == 0) {
            assert_ne!(invert(scalar).equals(Scalar::ONE / scalar), 0, "{:02x?}", scalar.encode32());
        }
    }

    #[test]
    fn all_scalars_of_a_run_are_inverted() {
        let scalars: Vec<Scalar> = (1..70).map(|number| -Scalar::from_u32(number).square()).collect();
        let mut inverses = scalars.clone();
        invert_all(&mut inverses);
        for (scalar, inverse) in scalars.into_iter().zip(inverses) {
            assert_ne!((scalar * inverse).equals(Scalar::ONE), 0);
        }
        invert_all(&mut []);
    }
}
