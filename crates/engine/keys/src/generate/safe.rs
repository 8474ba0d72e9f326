//! RSA keys of safe primes, which threshold signatures need.

use crypto_bigint::BoxedUint;
use crypto_primes::Flavor;
use oarlock_core::Key;
use zeroize::Zeroizing;

use super::prime::prime;
use crate::KeyError;
use crate::rsa::integer::{Secret, product, write};
use crate::rsa::{self, safe};

/// The maximum length of a modulus in bits. The search for longer safe primes takes hours.
const MAX_BITS: u16 = 4096;
const PUBLIC_EXPONENT: [u8; 3] = [1, 0, 1];

/// The progress of the search for safe primes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SafePrimeProgress {
    /// Primes found, 0 to 2.
    pub found: u8,
    /// The candidates tried for the current prime. A candidate is a number that no small prime divides.
    pub candidates: u64,
}

/// Generates an RSA key of two safe primes with the public exponent 65537, for `threshold::split`.
///
/// `bits` is even, 512 to 4096. Safe primes are rare: on one core 2048 bits take seconds to a minute, 4096 bits
/// several minutes. `progress` is called for every candidate.
///
/// # Errors
/// [`KeyError::CannotGenerate`] for other lengths, [`KeyError::Machine`].
pub fn rsa_safe(bits: u16, mut progress: impl FnMut(SafePrimeProgress)) -> Result<Key, KeyError> {
    if !(rsa::MIN_BITS..=MAX_BITS.into()).contains(&u32::from(bits)) || bits % 2 == 1 {
        let what = format!("an RSA key of {bits} bits of safe primes");
        return Err(KeyError::CannotGenerate { what, remedy: "take an even length of 512 to 4096 bits" });
    }
    let p = safe_prime(u32::from(bits) / 2, 0, &mut progress)?;
    let mut q = safe_prime(u32::from(bits) / 2, 1, &mut progress)?;
    // RFC 8017 3.2 requires different primes: the square root of n = p^2 would show p.
    while p == q {
        q = safe_prime(u32::from(bits) / 2, 1, &mut progress)?;
    }
    progress(SafePrimeProgress { found: 2, candidates: 0 });
    key(&p, &q)
}

fn safe_prime(
    bits: u32,
    found: u8,
    progress: &mut impl FnMut(SafePrimeProgress),
) -> Result<Secret, KeyError> {
    prime(Flavor::Safe, bits, |candidates| progress(SafePrimeProgress { found, candidates }))
}

/// Assembles the key. d is the inverse of e modulo `2 m = lcm(p - 1, q - 1)`.
fn key(p: &Secret, q: &Secret) -> Result<Key, KeyError> {
    let order =
        product(&Zeroizing::new(p.wrapping_shr_vartime(1)), &Zeroizing::new(q.wrapping_shr_vartime(1)));
    let inverse = safe::inverse(&PUBLIC_EXPONENT, &order)?;
    // The inverse modulo 2 m is the inverse modulo m, or its sum with m. d is odd because `d * e = 1 mod 2 m`, and m is
    // odd, so exactly one of the two is d.
    let is_even = inverse.as_words().first().map_or(0, |word| 1 - word % 2);
    let summand = Zeroizing::new(order.wrapping_mul(BoxedUint::from(is_even)));
    let d = Zeroizing::new(inverse.concatenating_add(&*summand));
    rsa::private_without_crt(write(&product(p, q)).expose(), &PUBLIC_EXPONENT, write(&d).expose())
}
