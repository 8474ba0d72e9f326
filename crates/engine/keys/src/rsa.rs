//! RSA keys from their numbers, and moduli with a secret exponent.
//!
//! Numbers are big-endian, and leading zeros are dropped. A key that [`private`] accepts satisfies: n has 512 to 8192
//! bits; `n = p * q`; p and q are odd, different, and at most half as long as n each (rounded up), so that the cost
//! of an operation shows nothing but the length of n; `3 <= e < 2^33` and e is odd; `d < n`; `dp = d mod (p-1)`; `dq
//! = d mod (q-1)`; `d * e = 1 mod (p-1)` and `mod (q-1)`; `qinv * q = 1 mod p`. RFC 8017 3.2.
//!
//! The check does not prove that p and q are prime. If they are not, results do not verify under e and are never
//! released.
//! The larger prime always comes first: if a file has p < q, the primes and their exponents change places and qinv is
//! computed anew.

mod check;
pub(crate) mod integer;
mod recover;
pub(crate) mod safe;

use oarlock_core::{Key, KeyParts, ModExpParts, RsaPublicParts, SecretBytes};

use crate::{KeyError, fingerprint};
use check::Integers;

/// The minimum length of a modulus in bits. 512 bits are unsafe, but old DKIM and DNSSEC keys have them.
pub const MIN_BITS: u32 = 512;
/// The maximum length of a modulus in bits. The cost of an operation grows with the third power of the length.
pub const MAX_BITS: u32 = 8192;
/// The maximum length of a public exponent in bits. AWS-LC has the same limit.
pub const MAX_PUBLIC_EXPONENT_BITS: u32 = 33;
/// The largest number of bits of the secret exponent of a [`mod_exp`] key. Threshold shares are longer than their
/// modulus. Shoup 2000, 3.
pub const MAX_EXPONENT_BITS: u16 = 16_384;

/// The numbers of an RSA private key, not yet checked. RFC 8017 A.1.2.
#[derive(Clone, Copy)]
pub struct PrivateNumbers<'a> {
    /// The modulus.
    pub n: &'a [u8],
    /// The public exponent.
    pub e: &'a [u8],
    /// The private exponent.
    pub d: &'a [u8],
    /// One prime.
    pub p: &'a [u8],
    /// The other prime.
    pub q: &'a [u8],
    /// `d mod (p - 1)`.
    pub dp: &'a [u8],
    /// `d mod (q - 1)`.
    pub dq: &'a [u8],
    /// `q^-1 mod p`.
    pub qinv: &'a [u8],
}

// A derived `Debug` would print the secret numbers.
impl std::fmt::Debug for PrivateNumbers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrivateNumbers({} bits)", integer::bits(self.n))
    }
}

/// Imports a private key from all its numbers.
///
/// # Errors
/// The first relation of the module's list that does not hold.
pub fn private(numbers: &PrivateNumbers<'_>) -> Result<Key, KeyError> {
    fingerprint::local(private_parts(numbers)?)
}

/// Imports a private key from n, e and d. The primes and CRT parts are computed. NIST SP 800-56B rev. 2, C.2.
///
/// # Errors
/// [`KeyError::NoPrimes`] if the numbers do not belong to a key of two primes, else as for [`private`].
pub fn private_without_crt(n: &[u8], e: &[u8], d: &[u8]) -> Result<Key, KeyError> {
    let public = public_parts(n, e)?;
    fingerprint::local(KeyParts::RsaPrivate(recover::integers(&public, d)?.validate(public)?))
}

/// Imports a public key.
///
/// # Errors
/// [`KeyError::ModulusBits`], [`KeyError::Even`], [`KeyError::PublicExponent`].
pub fn public(n: &[u8], e: &[u8]) -> Result<Key, KeyError> {
    fingerprint::local(KeyParts::RsaPublic(public_parts(n, e)?))
}

/// Imports an odd modulus of 512 to 8192 bits with a secret exponent of 1 to `exponent_bits` bits. `exponent_bits` (1
/// to [`MAX_EXPONENT_BITS`]) is public and fixes the cost of an operation. The fingerprint is random.
///
/// # Errors
/// [`KeyError::ModulusBits`], [`KeyError::Even`], [`KeyError::ExponentBound`], [`KeyError::ExponentBits`],
/// [`KeyError::TooSmall`].
pub fn mod_exp(n: &[u8], exponent: &[u8], exponent_bits: u16) -> Result<Key, KeyError> {
    let n = modulus(n)?.to_vec();
    if !(1..=MAX_EXPONENT_BITS).contains(&exponent_bits) {
        return Err(KeyError::ExponentBound { max: MAX_EXPONENT_BITS, found: exponent_bits });
    }
    match integer::bits(exponent) {
        0 => return Err(KeyError::TooSmall { what: "secret exponent", above: 0 }),
        bits if bits > u64::from(exponent_bits) => {
            return Err(KeyError::ExponentBits { bound: exponent_bits });
        }
        _ => {}
    }
    let exponent = SecretBytes::from(integer::strip(exponent));
    fingerprint::local(KeyParts::ModExp(ModExpParts { n, exponent, exponent_bits }))
}

pub(crate) fn private_parts(numbers: &PrivateNumbers<'_>) -> Result<KeyParts, KeyError> {
    let public = public_parts(numbers.n, numbers.e)?;
    Ok(KeyParts::RsaPrivate(Integers::read(numbers)?.validate(public)?))
}

pub(crate) fn public_parts(n: &[u8], e: &[u8]) -> Result<RsaPublicParts, KeyError> {
    Ok(RsaPublicParts { n: modulus(n)?.to_vec(), e: public_exponent(e)?.to_vec() })
}

fn modulus(n: &[u8]) -> Result<&[u8], KeyError> {
    let bits = integer::bits(n);
    if !(u64::from(MIN_BITS)..=u64::from(MAX_BITS)).contains(&bits) {
        return Err(KeyError::ModulusBits { min: MIN_BITS, max: MAX_BITS, found: bits });
    }
    if n.last().is_some_and(|byte| byte % 2 == 0) {
        // Montgomery arithmetic needs an odd modulus, and no product of two odd primes is even.
        return Err(KeyError::Even { what: "n" });
    }
    Ok(integer::strip(n))
}

/// Checks the range of an exponent. It is below 2^33, and so below every modulus.
fn public_exponent(e: &[u8]) -> Result<&[u8], KeyError> {
    let digits = integer::strip(e);
    let value = digits.iter().take(8).fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
    match digits.len() {
        0..=8 if value >= 3 && value % 2 == 1 && value < 1 << MAX_PUBLIC_EXPONENT_BITS => Ok(digits),
        // A longer value is not shown: in a damaged file it may be bytes of a secret number.
        0..=5 => Err(KeyError::PublicExponent { found: value.to_string() }),
        len => Err(KeyError::PublicExponent { found: format!("a number of {len} bytes") }),
    }
}
