//! The verification of partial signatures. Shoup 2000, Protocol 1.

use aws_lc_rs::digest;
use oarlock_core::JobError;
use oarlock_keys::threshold::ThresholdKey;

use super::partial::{CHALLENGE_BITS, CHALLENGE_LEN, PartialSignature, check_index, response_bits};
use super::power::{FinishedPowers, PowerBatch, PowerIndex};
use super::ring::{Residue, RsaRing};
use super::{SigningRequest, ThresholdError, lagrange};
use crate::Accelerator;

/// Separates these hashes from all others, and version 1 of this proof from later ones.
const DOMAIN: &[u8] = b"oarlock threshold rsa proof 1";

/// Verifies the proofs of partial signatures of one request.
///
/// # Errors
/// [`ThresholdError::BadPartials`] with every server whose proof does not hold; [`ThresholdError::Index`];
/// [`ThresholdError::Job`] if the request does not fit scheme or key, or if no engine could compute. It blames no
/// server.
pub fn verify(
    accelerator: &Accelerator,
    key: &ThresholdKey,
    request: &SigningRequest<'_>,
    partials: &[PartialSignature],
) -> Result<(), ThresholdError> {
    let indices = culprits(accelerator, key, request, partials)?;
    if indices.is_empty() { Ok(()) } else { Err(ThresholdError::BadPartials { indices }) }
}

/// The servers whose proofs do not hold.
pub(super) fn culprits(
    accelerator: &Accelerator,
    key: &ThresholdKey,
    request: &SigningRequest<'_>,
    partials: &[PartialSignature],
) -> Result<Vec<u8>, ThresholdError> {
    let verifier = ProofVerifier::new(key, request)?;
    let mut work = ProofPowers {
        long: PowerBatch::new(key, response_bits(key)),
        short: PowerBatch::new(key, CHALLENGE_BITS),
    };
    let claims: Vec<Option<ProofClaim>> =
        partials.iter().map(|partial| verifier.start(partial, &mut work)).collect::<Result<_, _>>()?;
    let (long, short) = (work.long.run(accelerator), work.short.run(accelerator));
    let mut culprits = Vec::new();
    for (partial, claim) in partials.iter().zip(&claims) {
        let holds = claim.as_ref().map(|claim| verifier.holds(partial, claim, &long, &short)).transpose()?;
        if holds != Some(true) {
            culprits.push(partial.index());
        }
    }
    Ok(culprits)
}

/// The statement of a proof: the logarithm of x_i^2 to the base x~ is that of v_i to the base v.
pub(super) struct ProofStatement<'a> {
    pub(super) key: &'a ThresholdKey,
    pub(super) index: u8,
    /// `x~ = x^(4 l!)`.
    pub(super) base: &'a [u8],
    /// `x_i^2`.
    pub(super) root_squared: &'a [u8],
}

/// Returns `c = SHA-256(domain || bits || n || v || x~ || v_i || x_i^2 || v' || x')`.
///
/// `bits` is the length of n in four bytes, which fixes the end of each of the seven integers.
pub(super) fn challenge(
    statement: &ProofStatement<'_>,
    of_base: &[u8],
    of_request: &[u8],
) -> [u8; CHALLENGE_LEN] {
    let key = statement.key;
    let mut context = digest::Context::new(&digest::SHA256);
    context.update(DOMAIN);
    context.update(&u32::from(key.modulus_bits()).to_be_bytes());
    context.update(key.modulus());
    context.update(key.verification_base());
    context.update(statement.base);
    context.update(key.verification_key(statement.index).unwrap_or_default());
    context.update(statement.root_squared);
    context.update(of_base);
    context.update(of_request);
    let mut out = [0; CHALLENGE_LEN];
    out.copy_from_slice(context.finish().as_ref());
    out
}

struct ProofVerifier<'a> {
    key: &'a ThresholdKey,
    ring: RsaRing,
    /// `x~ = x^(4 l!)`.
    base: Vec<u8>,
}

/// The exponentiations of a call.
struct ProofPowers {
    /// The powers by z.
    long: PowerBatch,
    /// The powers by c.
    short: PowerBatch,
}

/// A partial signature under verification: the indices of `v^z`, `v_i^c`, `x~^z` and `x_i^(2 c)`.
struct ProofClaim {
    root_squared: Vec<u8>,
    of_base: [PowerIndex; 2],
    of_request: [PowerIndex; 2],
}

impl<'a> ProofVerifier<'a> {
    fn new(key: &'a ThresholdKey, request: &SigningRequest<'_>) -> Result<Self, ThresholdError> {
        let ring = RsaRing::from_key(key)?;
        let encoded = ring.read(&request.encoded(key)?)?;
        let base = ring.write(&ring.power(&encoded, 4 * lagrange::factorial(key)));
        Ok(Self { key, ring, base })
    }

    /// None if a number is out of range, as in a partial signature under another key.
    fn start(
        &self,
        partial: &PartialSignature,
        work: &mut ProofPowers,
    ) -> Result<Option<ProofClaim>, ThresholdError> {
        check_index(self.key, partial.index())?;
        // A partial signature of another modulus is wrong like any other. An error would spare its server.
        let is_sized = partial.as_bytes().len() == PartialSignature::len_under(self.key);
        if !is_sized || partial.check_range(self.key).is_err() {
            return Ok(None);
        }
        let root_squared = self.ring.write(&self.ring.read(partial.root())?.square());
        let response = work.long.exponent(partial.response())?;
        let challenge = work.short.exponent(partial.challenge())?;
        let verification_key = self.key.verification_key(partial.index()).unwrap_or_default();
        let of_base = [
            work.long.add(self.key.verification_base(), &response)?,
            work.short.add(verification_key, &challenge)?,
        ];
        let of_request = [work.long.add(&self.base, &response)?, work.short.add(&root_squared, &challenge)?];
        Ok(Some(ProofClaim { root_squared, of_base, of_request }))
    }

    /// Returns whether c is the hash of `v' = v^z v_i^-c` and `x' = x~^z x_i^(-2 c)`.
    fn holds(
        &self,
        partial: &PartialSignature,
        claim: &ProofClaim,
        long: &FinishedPowers,
        short: &FinishedPowers,
    ) -> Result<bool, JobError> {
        let quotient = |[dividend, divisor]: [PowerIndex; 2]| -> Result<Option<Vec<u8>>, JobError> {
            let (dividend, divisor) = (self.read(long, dividend)?, self.read(short, divisor)?);
            Ok(self.ring.inverse(&divisor).map(|inverse| self.ring.write(&(dividend * inverse))))
        };
        // A number without an inverse shares a factor with n. No right server sends one.
        let (Some(of_base), Some(of_request)) = (quotient(claim.of_base)?, quotient(claim.of_request)?)
        else {
            return Ok(false);
        };
        let statement = ProofStatement {
            key: self.key,
            index: partial.index(),
            base: &self.base,
            root_squared: &claim.root_squared,
        };
        Ok(challenge(&statement, &of_base, &of_request) == partial.challenge())
    }

    fn read(&self, powers: &FinishedPowers, index: PowerIndex) -> Result<Residue, JobError> {
        self.ring.read(powers.get(index)?)
    }
}
