//! The step from partial signatures to the signature. Shoup 2000, Protocol 1.

use oarlock_core::{JobError, SigningScheme};
use oarlock_keys::threshold::ThresholdKey;

use super::partial::check_index;
use super::ring::RsaRing;
use super::verify::{culprits, verify};
use super::{PartialSignature, SigningRequest, ThresholdError, lagrange};
use crate::{Accelerator, Job};

/// A signature that verifies under the public key, and who stood in its way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CombinedSignature {
    /// The signature, as long as the modulus.
    pub signature: Vec<u8>,
    /// The servers that answered wrongly and so prevented a signature at the first attempt. Others are not searched
    /// for.
    pub culprits: Vec<u8>,
}

/// Verifies every proof, and then combines the signature. A wrong server is found even if its partial signature is
/// not needed.
///
/// # Errors
/// [`ThresholdError::TooFew`], [`ThresholdError::Index`], [`ThresholdError::Duplicate`];
/// [`ThresholdError::BadPartials`] with the servers whose proofs do not hold, [`ThresholdError::Job`].
pub fn combine(
    accelerator: &Accelerator,
    key: &ThresholdKey,
    request: &SigningRequest<'_>,
    partials: &[PartialSignature],
) -> Result<Vec<u8>, ThresholdError> {
    check_partials(key, partials)?;
    verify(accelerator, key, request, partials)?;
    let first: Vec<&PartialSignature> = partials.iter().take(key.threshold().into()).collect();
    attempt(accelerator, key, request, &first)?.ok_or(ThresholdError::WrongSignature)
}

/// Combines the first k partial signatures without a look at their proofs, because the signature itself shows whether
/// it is right.
///
/// If it is not, all proofs are verified, and the right partial signatures are combined if there are still k.
///
/// # Errors
/// Those of [`combine`]; [`ThresholdError::BadPartials`] only if fewer than k are right.
pub fn combine_optimistic(
    accelerator: &Accelerator,
    key: &ThresholdKey,
    request: &SigningRequest<'_>,
    partials: &[PartialSignature],
) -> Result<CombinedSignature, ThresholdError> {
    check_partials(key, partials)?;
    let needed = usize::from(key.threshold());
    let first: Vec<&PartialSignature> = partials.iter().take(needed).collect();
    // One public RSA operation instead of four exponentiations per partial signature.
    if let Some(signature) = attempt(accelerator, key, request, &first)? {
        return Ok(CombinedSignature { signature, culprits: Vec::new() });
    }
    let culprits = culprits(accelerator, key, request, partials)?;
    let is_good = |partial: &&PartialSignature| !culprits.contains(&partial.index());
    let good: Vec<&PartialSignature> = partials.iter().filter(is_good).take(needed).collect();
    if good.len() < needed {
        return Err(ThresholdError::BadPartials { indices: culprits });
    }
    match attempt(accelerator, key, request, &good)? {
        Some(signature) => Ok(CombinedSignature { signature, culprits }),
        None => Err(ThresholdError::WrongSignature),
    }
}

fn check_partials(key: &ThresholdKey, partials: &[PartialSignature]) -> Result<(), ThresholdError> {
    for (at, partial) in partials.iter().enumerate() {
        check_index(key, partial.index())?;
        if partials[..at].iter().any(|earlier| earlier.index() == partial.index()) {
            return Err(ThresholdError::Duplicate { index: partial.index() });
        }
    }
    if partials.len() < usize::from(key.threshold()) {
        return Err(ThresholdError::TooFew { needed: key.threshold(), found: partials.len() });
    }
    Ok(())
}

/// The signature of exactly k partial signatures, or None if it does not verify.
fn attempt(
    accelerator: &Accelerator,
    key: &ThresholdKey,
    request: &SigningRequest<'_>,
    partials: &[&PartialSignature],
) -> Result<Option<Vec<u8>>, ThresholdError> {
    let encoded = request.encoded(key)?;
    let Some(signature) = interpolate(key, &encoded, partials)? else { return Ok(None) };
    let unsupported = |_| JobError::Unsupported { wanted: request.scheme.to_string() };
    let scheme = SigningScheme::try_from(request.scheme).map_err(unsupported)?;
    let job = Job::verify(scheme.verifying(), key.public(), request.input, &signature);
    match accelerator.run_all(&[job]).get(0) {
        Ok(_) => Ok(Some(signature)),
        Err(JobError::Rejected) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Computes `y = w^a x^b` with `w` the product of `x_j^(2 lambda_j)` and `a * 4 l!^2 + b * e = 1`.
///
/// Powers with positive exponents are divided by those with negative exponents. Returns `None` if a partial signature
/// is no integer modulo this n, or has no inverse.
fn interpolate(
    key: &ThresholdKey,
    encoded: &[u8],
    partials: &[&PartialSignature],
) -> Result<Option<Vec<u8>>, ThresholdError> {
    let ring = RsaRing::from_key(key)?;
    let (a, b) = lagrange::bezout(key).ok_or(JobError::OutOfRange { what: "public exponent" })?;
    let indices: Vec<u8> = partials.iter().map(|partial| partial.index()).collect();
    let factorial = lagrange::factorial(key);
    let mut factors = vec![(ring.read(encoded)?, b)];
    for partial in partials {
        let Ok(root) = ring.read(partial.root()) else { return Ok(None) };
        factors.push((root, 2 * a * lagrange::coefficient(factorial, partial.index(), &indices)));
    }
    let (mut dividend, mut divisor) = (ring.one(), ring.one());
    for (base, exponent) in &factors {
        // Negative powers are collected, so that one inversion serves for all of them.
        let side = if *exponent < 0 { &mut divisor } else { &mut dividend };
        *side *= ring.power(base, exponent.unsigned_abs());
    }
    Ok(ring.inverse(&divisor).map(|inverse| ring.write(&(dividend * inverse))))
}
