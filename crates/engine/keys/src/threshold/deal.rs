//! The dealer of a key. Shoup 2000, Protocol 1.
//!
//! With `n = p q`, `p = 2 p' + 1`, `q = 2 q' + 1` and `m = p' q'`, a polynomial f of degree `k - 1` modulo m has
//! `f(0) = d = e^-1 mod m` and random other coefficients. Server i gets `s_i = f(i) mod m`. The squares modulo n are a
//! cyclic group of order m; v is one of its generators, and `v_i = v^(s_i)`.

use crypto_bigint::BoxedUint;
use oarlock_core::{Key, KeyHome, KeyParts, RsaPrivateParts};
use zeroize::Zeroizing;

use super::check::{self, ShareModulus, ThresholdNumbers, padded};
use super::{Share, ThresholdKey};
use crate::KeyError;
use crate::rsa::integer::{self, Secret, precision, product, remainder};
use crate::rsa::safe::{half, inverse, random_below};

/// Splits a local RSA private key of two safe primes into `shares` shares (2 to 16). Any `threshold` of them (2 to
/// `shares`) sign together.
///
/// Shares come in the order of their indices, from 1. Each call deals anew, and shares of two calls do not fit
/// together. The work on the primes takes variable time and leaves copies of them in freed memory, so deal on a
/// machine of its own.
///
/// # Errors
/// [`KeyError::ShareCounts`], [`KeyError::NotShareable`] for a key of another kind or without its private half,
/// [`KeyError::ShareExponent`], [`KeyError::NotSafePrime`], [`KeyError::Machine`] without random bytes.
pub fn split(key: &Key, threshold: u8, shares: u8) -> Result<(ThresholdKey, Vec<Share>), KeyError> {
    check::check_counts(threshold, shares.into())?;
    let parts = private_parts(key)?;
    check::check_exponent(&parts.public.e, shares.into())?;
    let secrets = Polynomial::random(parts, threshold)?.values(shares)?;
    let modulus = ShareModulus::from_bytes(&parts.public.n)?;
    let base = generator(parts)?;
    let verification: Vec<Vec<u8>> =
        secrets.iter().map(|secret| modulus.power(&base, secret)).collect::<Result<_, _>>()?;
    let public = ThresholdNumbers {
        n: &parts.public.n,
        e: &parts.public.e,
        threshold,
        base: &base,
        verification: verification.iter().map(Vec::as_slice).collect(),
    }
    .validate()?;
    let dealt = (1..).zip(&secrets).map(|(index, secret)| check::share(public.clone(), index, secret));
    let dealt = dealt.collect::<Result<_, _>>()?;
    Ok((public, dealt))
}

fn private_parts(key: &Key) -> Result<&RsaPrivateParts, KeyError> {
    match (key.home(), key.parts()) {
        (KeyHome::Local, Some(KeyParts::RsaPrivate(parts))) => Ok(parts),
        (KeyHome::Held { .. }, _) => {
            Err(KeyError::NotShareable { reason: "its private half lives with its holder" })
        }
        _ => Err(KeyError::NotShareable { reason: "it is not an RSA private key" }),
    }
}

/// Coefficients modulo m, the one of the highest power first.
struct Polynomial {
    coefficients: Vec<Secret>,
    /// m.
    order: Secret,
    len: usize,
}

impl Polynomial {
    fn random(parts: &RsaPrivateParts, threshold: u8) -> Result<Self, KeyError> {
        let (half_p, half_q) = (half(parts.p.expose(), "p")?, half(parts.q.expose(), "q")?);
        let order = product(&half_p, &half_q);
        let mut coefficients: Vec<Secret> =
            (1..threshold).map(|_| random_below(&order)).collect::<Result<_, _>>()?;
        coefficients.push(inverse(&parts.public.e, &order)?);
        Ok(Self { coefficients, order, len: parts.public.n.len() })
    }

    /// Returns `f(1)` to `f(count)`, each as long as the modulus.
    fn values(&self, count: u8) -> Result<Vec<Zeroizing<Vec<u8>>>, KeyError> {
        (1..=count).map(|at| self.value(at)).collect()
    }

    /// Evaluates the polynomial by Horner's rule.
    fn value(&self, at: u8) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let (at, mut sum) = (BoxedUint::from(u64::from(at)), Zeroizing::new(BoxedUint::zero()));
        for coefficient in &self.coefficients {
            let shifted = product(&sum, &at);
            let next = Zeroizing::new(shifted.concatenating_add(&**coefficient));
            sum = reduce(&next, &self.order)?;
        }
        Ok(Zeroizing::new(padded(integer::write(&sum).expose(), self.len)))
    }
}

/// Returns a random square that generates the squares modulo n: it is neither 0 nor 1 modulo p and q.
///
/// Shoup 2000, Protocol 1 takes any square. All but about `2^(1 - bits / 2)` of them are generators.
fn generator(parts: &RsaPrivateParts) -> Result<Vec<u8>, KeyError> {
    let failed = KeyError::Machine { what: "choosing a verification base" };
    let bits = u32::try_from(parts.public.n.len() * 8).unwrap_or(u32::MAX);
    let n = integer::read(&parts.public.n, precision(bits)).ok_or(failed.clone())?;
    // A root below 2, or one that p or q divides, has a chance of less than 2^-250. It is reported as a failure of the
    // machine, because it proves that the random generator is broken.
    let root = random_below(&n)?;
    let square = reduce(&product(&root, &root), &n)?;
    for prime in [&parts.p, &parts.q] {
        let prime = integer::read(prime.expose(), precision(bits)).ok_or(failed.clone())?;
        if reduce(&square, &prime)?.bits() < 2 {
            return Err(failed);
        }
    }
    Ok(integer::write(&square).expose().to_vec())
}

/// Returns `value mod modulus` for a modulus that is not zero.
fn reduce(value: &Secret, modulus: &Secret) -> Result<Secret, KeyError> {
    remainder(value, modulus).ok_or(KeyError::TooSmall { what: "modulus", above: 0 })
}
