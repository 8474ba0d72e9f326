//! Safe primes, `p = 2 p' + 1` with p' prime, and arithmetic modulo `m = p' q'`, the order of the squares modulo n.

use aws_lc_rs::rand;
#[cfg(feature = "threshold")]
use crypto_primes::{Flavor, is_prime};
use zeroize::Zeroizing;

use super::integer::{self, Secret};
#[cfg(feature = "threshold")]
use super::integer::{precision, remainder};
use crate::KeyError;

/// The number of bits that are drawn beyond a bound. The remainder then differs from uniform by less than 2^-128.
#[cfg(feature = "threshold")]
const MARGIN_BITS: u32 = 128;

/// Returns `p' = (p - 1) / 2` for a safe prime p in big-endian bytes.
#[cfg(feature = "threshold")]
pub(crate) fn half(prime: &[u8], which: &'static str) -> Result<Secret, KeyError> {
    let bits = u32::try_from(integer::bits(prime)).unwrap_or(u32::MAX);
    let refused = KeyError::NotSafePrime { which };
    let value = integer::read(prime, precision(bits)).ok_or(refused.clone())?;
    match is_prime(Flavor::Safe, &*value) {
        true => Ok(Zeroizing::new(value.wrapping_shr_vartime(1))),
        false => Err(refused),
    }
}

/// Returns `e^-1 mod m`. It exists because e is a prime that divides neither p' nor q'.
pub(crate) fn inverse(e: &[u8], order: &Secret) -> Result<Secret, KeyError> {
    let failed = KeyError::Inconsistent { relation: "d * e = 1 mod (p - 1)(q - 1) / 4" };
    let e = integer::read(e, order.bits_precision()).ok_or(failed.clone())?;
    let odd = order.as_odd_vartime().ok_or(failed.clone())?;
    e.invert_odd_mod(odd).into_option().map(Zeroizing::new).ok_or(failed)
}

/// Draws a number in [0, bound - 1] that differs from uniform by less than 2^-128.
#[cfg(feature = "threshold")]
pub(crate) fn random_below(bound: &Secret) -> Result<Secret, KeyError> {
    let value = random(bound.bits_precision() + MARGIN_BITS)?;
    remainder(&value, bound).ok_or(KeyError::TooSmall { what: "bound of a random number", above: 0 })
}

/// Draws a uniform number in `[0, 2^bits - 1]`; `bits` is a multiple of 64.
pub(crate) fn random(bits: u32) -> Result<Secret, KeyError> {
    let failed = KeyError::Machine { what: "drawing random bytes" };
    let mut bytes = Zeroizing::new(vec![0; (bits / 8) as usize]);
    rand::fill(&mut bytes).map_err(|_| failed.clone())?;
    integer::read(&bytes, bits).ok_or(failed)
}
