//! Constants of a modulus, which the compiler computes from the modulus. Limbs hold 52 bits, lowest first.

pub(crate) const LOW_52: u64 = (1 << 52) - 1;

/// Returns the integer of big-endian hexadecimal digits.
pub(crate) const fn limbs<const L: usize>(hex: &str) -> [u64; L] {
    let (digits, mut limbs, mut at) = (hex.as_bytes(), [0; L], 0);
    while at < digits.len() {
        let digit = digits[digits.len() - 1 - at];
        let value = if digit.is_ascii_digit() { digit - b'0' } else { digit - b'a' + 10 };
        // 13 hexadecimal digits are the 52 bits of a limb.
        limbs[at / 13] |= (value as u64) << (4 * (at % 13));
        at += 1;
    }
    limbs
}

/// Computes `a * 2^bits mod m` for `a` below `m`.
pub(crate) const fn shifted<const L: usize>(a: [u64; L], bits: usize, m: &[u64; L]) -> [u64; L] {
    let (mut a, mut left) = (a, bits);
    // Bit by bit: this runs in the compiler only, and needs no product wider than a word.
    while left > 0 {
        let doubled = multiple(&a, 2);
        let (less, is_negative) = minus(&doubled, m);
        a = if is_negative { doubled } else { less };
        left -= 1;
    }
    a
}

/// Computes `factor * m`, which must fit the limbs.
pub(crate) const fn multiple<const L: usize>(m: &[u64; L], factor: u64) -> [u64; L] {
    let (mut product, mut carry, mut at) = ([0; L], 0, 0);
    while at < L {
        let sum = m[at] as u128 * factor as u128 + carry;
        product[at] = sum as u64 & LOW_52;
        carry = sum >> 52;
        at += 1;
    }
    assert!(carry == 0, "the multiple does not fit its limbs");
    product
}

/// Computes `a - b` modulo 2^(52 L), and returns true beside it if the difference is negative.
pub(crate) const fn minus<const L: usize>(a: &[u64; L], b: &[u64; L]) -> ([u64; L], bool) {
    let (mut difference, mut borrow, mut at) = ([0; L], 0, 0);
    while at < L {
        let limb = a[at].wrapping_sub(b[at]).wrapping_sub(borrow);
        difference[at] = limb & LOW_52;
        borrow = limb >> 63;
        at += 1;
    }
    (difference, borrow == 1)
}

/// Returns `word` as an integer of L limbs.
pub(crate) const fn small<const L: usize>(word: u64) -> [u64; L] {
    let mut limbs = [0; L];
    limbs[0] = word & LOW_52;
    limbs
}

/// Computes `-1 / odd mod 2^52` by Newton's iteration. An odd number has three right bits, and each step doubles
/// their number.
pub(crate) const fn negated_inverse(odd: u64) -> u64 {
    let (mut inverse, mut bits) = (odd, 3);
    while bits < 52 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse.wrapping_neg() & LOW_52
}
