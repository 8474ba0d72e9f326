//! The primes of n from e and d, by integer arithmetic alone. There is no search, so hostile numbers cost no more
//! than honest ones.
//!
//! NIST SP 800-56B rev. 2, C.2. With `k = d*e - 1` a multiple of `lcm(p-1, q-1)`, `a = k * gcd(n-1, k)` is a multiple
//! of `(p-1)(q-1) = n - (p+q) + 1`. The numbers m and r of `a = m*n + r` give `p + q = (n - r) / (m + 1) + 1`. With
//! n, the primes are the roots of a quadratic equation.

use crypto_bigint::{BoxedUint, Gcd, Resize};
use oarlock_core::RsaPublicParts;
use zeroize::Zeroizing;

use super::check::{EXPONENT, Integers, Widths, inverse};
use super::integer::{Secret, divide, less_one, product, read, remainder};
use crate::KeyError;

/// Computes all numbers of a key from n and e, which are within their bounds, and d. The result is not yet validated.
pub(super) fn integers(public: &RsaPublicParts, d: &[u8]) -> Result<Integers, KeyError> {
    let widths = Widths::from_modulus(&public.n);
    let below_n = KeyError::NotBelow { what: "d", bound: "n" };
    let n = read(&public.n, widths.full).ok_or(KeyError::NoPrimes)?;
    let e = read(&public.e, EXPONENT).ok_or(KeyError::NoPrimes)?;
    let d = read(d, widths.full).ok_or(below_n)?;
    let (p, q) = primes(&n, &e, &d, widths).ok_or(KeyError::NoPrimes)?;
    let dp = remainder(&d, &less_one(&p)).ok_or(KeyError::NoPrimes)?;
    let dq = remainder(&d, &less_one(&q)).ok_or(KeyError::NoPrimes)?;
    let qinv = inverse(&q, &p)?;
    Ok(Integers { n, e, d, p, q, dp, dq, qinv })
}

fn primes(n: &BoxedUint, e: &BoxedUint, d: &BoxedUint, widths: Widths) -> Option<(Secret, Secret)> {
    // The sum of two primes of at most `prime_bits` bits has at most one bit more. A wrong d gives any other number.
    let sum = sum_of_primes(n, e, d)?;
    if sum.bits() > widths.prime_bits + 1 {
        return None;
    }
    let sum = resized(&sum, widths.half + 64);
    // p and q are the roots of x^2 - (p + q) x + n, whose discriminant is (p + q)^2 - 4 n = (p - q)^2.
    let square = product(&sum, &sum);
    let four_n = resized(n, square.bits_precision()).wrapping_shl_vartime(2);
    let (discriminant, is_negative) = square.underflowing_sub(&four_n);
    let discriminant = Zeroizing::new(discriminant);
    if is_negative.to_bool() {
        return None;
    }
    let difference = Zeroizing::new(discriminant.checked_sqrt().into_option()?);
    let difference = resized(&difference, sum.bits_precision());
    let p = Zeroizing::new(sum.wrapping_add(&*difference).wrapping_shr_vartime(1));
    let q = Zeroizing::new(sum.wrapping_sub(&*difference).wrapping_shr_vartime(1));
    let fits = p.bits() <= widths.prime_bits && q.bits() > 1;
    fits.then(|| (resized(&p, widths.half), resized(&q, widths.half)))
}

/// Computes `p + q`, steps 1 to 3. Returns None if the division leaves a remainder.
fn sum_of_primes(n: &BoxedUint, e: &BoxedUint, d: &BoxedUint) -> Option<Secret> {
    let de = product(d, e);
    // d = 0 would make k negative, and d * e = 1 would make it zero, which every number divides.
    if de.bits() < 2 {
        return None;
    }
    let k = less_one(&de);
    let n_less_one = resized(&less_one(n), k.bits_precision());
    let common = Zeroizing::new(n_less_one.gcd(&k));
    let a = product(&k, &common);
    let (m, r) = divide(&a, n)?;
    let m_plus_one = Zeroizing::new(m.wrapping_add(BoxedUint::one()));
    let rest = Zeroizing::new(n.wrapping_sub(&*r));
    let (quotient, zero) = divide(&resized(&rest, m_plus_one.bits_precision()), &m_plus_one)?;
    zero.is_zero().to_bool().then(|| Zeroizing::new(quotient.wrapping_add(BoxedUint::one())))
}

fn resized(integer: &BoxedUint, precision: u32) -> Secret {
    Zeroizing::new(integer.resize_unchecked(precision))
}
