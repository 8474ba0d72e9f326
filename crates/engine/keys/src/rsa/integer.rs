//! Integers of RSA keys: zeroized, of a precision that depends on the modulus's length alone.

use crypto_bigint::{BoxedUint, ConcatenatingMul};
use oarlock_core::SecretBytes;
use zeroize::Zeroizing;

/// An integer that is zeroized on drop.
pub(crate) type Secret = Zeroizing<BoxedUint>;

/// Returns bytes without leading zeros.
pub(crate) fn strip(bytes: &[u8]) -> &[u8] {
    // The time depends on the number of leading zeros. The length of a number may be known, its value not.
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    &bytes[first..]
}

/// Returns the length in bits.
pub(crate) fn bits(bytes: &[u8]) -> u64 {
    let digits = strip(bytes);
    let Some(first) = digits.first() else { return 0 };
    digits.len() as u64 * 8 - u64::from(first.leading_zeros())
}

/// Rounds `bits` up to whole limbs of 64 bits.
pub(crate) fn precision(bits: u32) -> u32 {
    bits.next_multiple_of(64)
}

/// Reads big-endian bytes into `precision` bits, a multiple of 64; None if they are longer.
pub(crate) fn read(bytes: &[u8], precision: u32) -> Option<Secret> {
    BoxedUint::from_be_slice(strip(bytes), precision).ok().map(Zeroizing::new)
}

/// Returns big-endian bytes without leading zeros.
pub(crate) fn write(integer: &BoxedUint) -> SecretBytes {
    let bytes = Zeroizing::new(integer.to_be_bytes().into_vec());
    SecretBytes::from(strip(&bytes))
}

/// Returns `a * b` in the precision of both together.
pub(crate) fn product(a: &BoxedUint, b: &BoxedUint) -> Secret {
    Zeroizing::new(a.concatenating_mul(b))
}

/// Returns quotient and remainder of `a / b`, or None if b is zero.
pub(crate) fn divide(a: &BoxedUint, b: &BoxedUint) -> Option<(Secret, Secret)> {
    // Only the test for zero takes variable time; no valid key fails it. The division itself is constant-time.
    let (quotient, remainder) = a.div_rem(b.as_nz_vartime()?);
    Some((Zeroizing::new(quotient), Zeroizing::new(remainder)))
}

/// Returns `a mod b`, or None if b is zero.
pub(crate) fn remainder(a: &BoxedUint, b: &BoxedUint) -> Option<Secret> {
    divide(a, b).map(|(_, remainder)| remainder)
}

/// Returns `a - 1` for an a above zero.
pub(crate) fn less_one(a: &BoxedUint) -> Secret {
    Zeroizing::new(a.wrapping_sub(BoxedUint::one()))
}
