//! The validation of threshold keys and shares, both new ones and those from files.

use crypto_bigint::BoxedUint;
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use oarlock_core::{Key, RsaPublicParts};

use super::{MAX_SHARES, Share, ThresholdKey};
use crate::rsa::integer;
use crate::{KeyError, rsa};

/// The members of a threshold key, not yet checked; integers are big-endian.
pub(super) struct ThresholdNumbers<'a> {
    pub(super) n: &'a [u8],
    pub(super) e: &'a [u8],
    pub(super) threshold: u8,
    pub(super) base: &'a [u8],
    pub(super) verification: Vec<&'a [u8]>,
}

impl ThresholdNumbers<'_> {
    /// Checks all properties that can be checked without the primes.
    pub(super) fn validate(&self) -> Result<ThresholdKey, KeyError> {
        let public = rsa::public(self.n, self.e)?;
        check_counts(self.threshold, self.verification.len())?;
        check_exponent(self.e, self.verification.len())?;
        let values = std::iter::once(&self.base).chain(&self.verification);
        let verification = values.map(|value| in_range(value, &public)).collect::<Result<_, _>>()?;
        Ok(ThresholdKey { public, threshold: self.threshold, verification })
    }
}

/// Makes a share and checks its secret against its verification key.
pub(super) fn share(public: ThresholdKey, index: u8, secret: &[u8]) -> Result<Share, KeyError> {
    let Some(expected) = public.verification_key(index) else {
        return Err(KeyError::ShareIndex { shares: public.shares(), found: index });
    };
    let key = rsa::mod_exp(public.modulus(), secret, public.modulus_bits())?;
    // The exponentiation is secret in its exponent, so it takes the same steps for every share of this modulus.
    let modulus = ShareModulus::from_bytes(public.modulus())?;
    if modulus.power(public.verification_base(), secret)? != expected {
        return Err(KeyError::Inconsistent { relation: "v^s = v_i mod n of a share" });
    }
    Ok(Share { public, index, key })
}

/// Checks `2 <= k <= l <= 16`.
pub(super) fn check_counts(threshold: u8, shares: usize) -> Result<(), KeyError> {
    let is_good = threshold >= 2 && usize::from(threshold) <= shares && shares <= usize::from(MAX_SHARES);
    match is_good {
        true => Ok(()),
        false => Err(KeyError::ShareCounts { max: MAX_SHARES, threshold, shares }),
    }
}

/// Checks that e is a prime above l. It then has no common factor with `4 * l!^2`. Shoup 2000, Protocol 1.
pub(super) fn check_exponent(e: &[u8], shares: usize) -> Result<(), KeyError> {
    let value = integer::strip(e).iter().fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
    match is_prime(value) && value > shares as u64 {
        true => Ok(()),
        false => Err(KeyError::ShareExponent { shares, found: value }),
    }
}

/// Tests a number by trial division. [`rsa::public`] accepts no exponent above 2^33.
fn is_prime(value: u64) -> bool {
    let mut odd = (3_u64..).step_by(2).take_while(|divisor| divisor * divisor <= value);
    value > 2 && value % 2 == 1 && odd.all(|divisor| !value.is_multiple_of(divisor))
}

/// Checks that a verification value is in [2, n-1] and widens it to the modulus's width.
fn in_range(value: &[u8], public: &Key) -> Result<Vec<u8>, KeyError> {
    let n = public.rsa_public().map_or(&[][..], |RsaPublicParts { n, .. }| n);
    let digits = integer::strip(value);
    // Without leading zeros, byte strings of the same length compare as their numbers do.
    if digits.len() > n.len() || (digits.len() == n.len() && digits >= n) {
        return Err(KeyError::NotBelow { what: "verification value", bound: "n" });
    }
    if integer::bits(digits) < 2 {
        return Err(KeyError::TooSmall { what: "verification value", above: 1 });
    }
    Ok(padded(digits, n.len()))
}

/// Returns `digits` after as many zeros as make `len` bytes. `digits` are not longer.
pub(super) fn padded(digits: &[u8], len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    out[len - digits.len()..].copy_from_slice(digits);
    out
}

/// Arithmetic modulo the public n. Its steps depend on the length of n only.
pub(super) struct ShareModulus {
    params: BoxedMontyParams,
    len: usize,
}

impl ShareModulus {
    /// Creates the arithmetic of an odd n.
    pub(super) fn from_bytes(n: &[u8]) -> Result<Self, KeyError> {
        let (even, len) = (KeyError::Even { what: "n" }, integer::strip(n).len());
        let value = integer::read(n, precision(len)).ok_or(even.clone())?;
        let value = value.as_odd_vartime().ok_or(even)?.clone();
        Ok(Self { params: BoxedMontyParams::new(value), len })
    }

    /// Returns `base^exponent mod n` at the width of n. Base and exponent are not longer than n.
    pub(super) fn power(&self, base: &[u8], exponent: &[u8]) -> Result<Vec<u8>, KeyError> {
        let too_long = KeyError::NotBelow { what: "secret share", bound: "n" };
        let exponent = integer::read(exponent, precision(self.len)).ok_or(too_long.clone())?;
        let base = integer::read(base, precision(self.len)).ok_or(too_long)?;
        let power = BoxedMontyForm::new(BoxedUint::clone(&base), &self.params).pow(&exponent).retrieve();
        Ok(padded(integer::write(&power).expose(), self.len))
    }
}

fn precision(len: usize) -> u32 {
    integer::precision(u32::try_from(len * 8).unwrap_or(u32::MAX))
}
