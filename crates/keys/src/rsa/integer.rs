//! Integers of RSA keys: zeroized, of a precision that depends on the modulus's length alone.

use crypto_bigint::{BoxedUint, ConcatenatingMul};
use oarlock_core::SecretBytes;
use zeroize::Zeroizing;

/// An integer that is zeroized on drop.
pub(crate) type Secret = Zeroizing<BoxedUint>;

/// Without leading zeros. How long a number is shows, the number does not.
pub(crate) fn strip(bytes: &[u8]) -> &[u8] {
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    &bytes[first..]
}

/// Length in bits.
pub(crate) fn bits(bytes: &[u8]) -> u64 {
    let digits = strip(bytes);
    let Some(first) = digits.first() else { return 0 };
    digits.len() as u64 * 8 - u64::from(first.leading_zeros())
}

/// Whole 64-bit limbs for `bits` bits.
pub(crate) fn precision(bits: u32) -> u32 {
    bits.next_multiple_of(64)
}

/// Reads big-endian bytes into `precision` bits, a multiple of 64; None if they are longer.
pub(crate) fn read(bytes: &[u8], precision: u32) -> Option<Secret> {
    BoxedUint::from_be_slice(strip(bytes), precision).ok().map(Zeroizing::new)
}

/// Big-endian bytes without leading zeros.
pub(crate) fn write(integer: &BoxedUint) -> SecretBytes {
    let bytes = Zeroizing::new(integer.to_be_bytes().into_vec());
    SecretBytes::from(strip(&bytes))
}

/// `a * b` in the precision of both together.
pub(crate) fn product(a: &BoxedUint, b: &BoxedUint) -> Secret {
    Zeroizing::new(a.concatenating_mul(b))
}

/// Quotient and remainder of `a / b`, or None if b is zero.
pub(crate) fn divide(a: &BoxedUint, b: &BoxedUint) -> Option<(Secret, Secret)> {
    let (quotient, remainder) = a.div_rem(b.as_nz_vartime()?);
    Some((Zeroizing::new(quotient), Zeroizing::new(remainder)))
}

/// `a mod b`, or None if b is zero.
pub(crate) fn remainder(a: &BoxedUint, b: &BoxedUint) -> Option<Secret> {
    divide(a, b).map(|(_, remainder)| remainder)
}

/// `a - 1` of an a above zero.
pub(crate) fn less_one(a: &BoxedUint) -> Secret {
    Zeroizing::new(a.wrapping_sub(BoxedUint::one()))
}
