//! The check that the numbers of an RSA private key belong together. RFC 8017 3.2.

use std::mem::swap;

use crypto_bigint::{BoxedUint, Integer};
use oarlock_core::{RsaPrivateParts, RsaPublicParts};
use zeroize::Zeroizing;

use super::PrivateNumbers;
use super::integer::{Secret, bits, less_one, precision, product, read, remainder, write};
use crate::KeyError;

/// All numbers of a key, each within the length that n allows.
pub(super) struct Integers {
    pub(super) n: Secret,
    pub(super) e: Secret,
    pub(super) d: Secret,
    pub(super) p: Secret,
    pub(super) q: Secret,
    pub(super) dp: Secret,
    pub(super) dq: Secret,
    pub(super) qinv: Secret,
}

/// The precisions that n's length fixes.
#[derive(Clone, Copy)]
pub(super) struct Widths {
    /// The maximum length of a prime.
    pub(super) prime_bits: u32,
    /// The precision of p, q, dp, dq and qinv.
    pub(super) half: u32,
    /// The precision of n and d.
    pub(super) full: u32,
}

/// The precision of e, which has at most 33 bits.
pub(super) const EXPONENT: u32 = 64;

impl Widths {
    /// Computes the precisions for a modulus of an allowed length.
    pub(super) fn from_modulus(n: &[u8]) -> Self {
        let prime_bits = u32::try_from(bits(n).div_ceil(2)).unwrap_or(u32::MAX);
        let half = precision(prime_bits);
        // The precision, and with it the time of an operation, depends on the public length of n only.
        Self { prime_bits, half, full: 2 * half }
    }
}

impl Integers {
    /// Reads numbers whose n and e are within their bounds; lengths are checked here, before any arithmetic.
    pub(super) fn read(numbers: &PrivateNumbers<'_>) -> Result<Self, KeyError> {
        let widths = Widths::from_modulus(numbers.n);
        let unbalanced = KeyError::PrimesUnbalanced { limit: widths.prime_bits };
        Ok(Self {
            n: read(numbers.n, widths.full).ok_or(not_below("n", "its own length"))?,
            e: read(numbers.e, EXPONENT).ok_or(not_below("e", "2^33"))?,
            d: read(numbers.d, widths.full).ok_or(not_below("d", "n"))?,
            p: read(numbers.p, widths.half).ok_or(unbalanced.clone())?,
            q: read(numbers.q, widths.half).ok_or(unbalanced)?,
            dp: read(numbers.dp, widths.half).ok_or(not_below("dp", "p"))?,
            dq: read(numbers.dq, widths.half).ok_or(not_below("dq", "q"))?,
            qinv: read(numbers.qinv, widths.half).ok_or(not_below("qinv", "p"))?,
        })
    }

    /// Checks every relation in the order of the module's list.
    pub(super) fn validate(self, public: RsaPublicParts) -> Result<RsaPrivateParts, KeyError> {
        // The error shows which relation failed. That is no secret, so the checks may stop at the first failure.
        let limit = Widths::from_modulus(&public.n).prime_bits;
        check_prime("p", &self.p, limit)?;
        check_prime("q", &self.q, limit)?;
        if self.p == self.q {
            return Err(KeyError::PrimesEqual);
        }
        holds("n = p * q", *product(&self.p, &self.q) == *self.n)?;
        if *self.d >= *self.n {
            return Err(not_below("d", "n"));
        }
        let p_relations = ["dp = d mod (p - 1)", "d * e = 1 mod (p - 1)"];
        self.check_exponent(&self.dp, &self.p, p_relations)?;
        let q_relations = ["dq = d mod (q - 1)", "d * e = 1 mod (q - 1)"];
        self.check_exponent(&self.dq, &self.q, q_relations)?;
        self.check_coefficient()?;
        Ok(self.larger_prime_first()?.into_parts(public))
    }

    /// Checks dp: `dp = d mod (p-1)` and `d * e = 1 mod (p-1)`.
    fn check_exponent(&self, dp: &Secret, p: &Secret, relations: [&'static str; 2]) -> Result<(), KeyError> {
        let order = less_one(p);
        holds(relations[0], remainder(&self.d, &order).as_ref() == Some(dp))?;
        // dp equals d modulo p - 1, as just checked, so the shorter product gives the same remainder.
        let one = remainder(&product(dp, &self.e), &order);
        holds(relations[1], one.is_some_and(|one| one.is_one().to_bool()))
    }

    fn check_coefficient(&self) -> Result<(), KeyError> {
        if *self.qinv >= *self.p {
            return Err(not_below("qinv", "p"));
        }
        let one = remainder(&product(&self.qinv, &self.q), &self.p);
        holds("qinv * q = 1 mod p", one.is_some_and(|one| one.is_one().to_bool()))
    }

    /// Exchanges the primes if p is the smaller one. Engines rely on p > q.
    fn larger_prime_first(mut self) -> Result<Self, KeyError> {
        if *self.p < *self.q {
            swap(&mut self.p, &mut self.q);
            swap(&mut self.dp, &mut self.dq);
            // RFC 8017 3.2 defines qInv by the second prime, so the old value is useless after the exchange.
            self.qinv = inverse(&self.q, &self.p)?;
        }
        Ok(self)
    }

    fn into_parts(self, public: RsaPublicParts) -> RsaPrivateParts {
        RsaPrivateParts {
            public,
            d: write(&self.d),
            p: write(&self.p),
            q: write(&self.q),
            dp: write(&self.dp),
            dq: write(&self.dq),
            qinv: write(&self.qinv),
        }
    }
}

/// Returns `q^-1 mod p` for different odd numbers.
///
/// # Errors
/// [`KeyError::Inconsistent`] if the numbers have a common factor.
pub(super) fn inverse(q: &BoxedUint, p: &BoxedUint) -> Result<Secret, KeyError> {
    let p = p.as_odd_vartime().ok_or(KeyError::Even { what: "p" })?;
    let inverse = q.invert_odd_mod(p).into_option();
    inverse.map(Zeroizing::new).ok_or(KeyError::Inconsistent { relation: "qinv * q = 1 mod p" })
}

fn check_prime(what: &'static str, prime: &BoxedUint, limit: u32) -> Result<(), KeyError> {
    if !prime.is_odd().to_bool() {
        return Err(KeyError::Even { what });
    }
    match prime.bits() {
        0 | 1 => Err(KeyError::TooSmall { what, above: 1 }),
        // A longer prime would need a wider engine, and its time would show that this key is unusual.
        bits if bits > limit => Err(KeyError::PrimesUnbalanced { limit }),
        _ => Ok(()),
    }
}

fn holds(relation: &'static str, is_true: bool) -> Result<(), KeyError> {
    if is_true { Ok(()) } else { Err(KeyError::Inconsistent { relation }) }
}

fn not_below(what: &'static str, bound: &'static str) -> KeyError {
    KeyError::NotBelow { what, bound }
}
