//! SLH-DSA: encoded messages and opt_rand. FIPS 205 section 10.

use oarlock_core::{DigestAlg, JobError, NonceInput, NonceRule, OperationSet, SecondInput, Shape};
use oarlock_engine_kit::slh_dsa::{encoded_digest, encoded_message};
use zeroize::Zeroizing;

use super::finisher::{FinishStep, Finisher};
use super::{Job, NonceSource, pre_hash};

pub(super) fn lower_sign(
    job: &Job<'_>,
    digest: Option<DigestAlg>,
    rule: NonceRule,
    set: &mut OperationSet,
    random: &mut NonceSource,
) -> Result<Finisher, JobError> {
    let message = encoded(job, digest, set.shape())?;
    let nonce = match rule {
        NonceRule::Hedged => random.nonce(set.shape())?,
        NonceRule::Deterministic => Zeroizing::new(public_seed(job)),
    };
    set.push(job.key, &message, SecondInput::NonceInput(NonceInput::Hedged(&nonce)))?;
    Ok(Finisher(FinishStep::Copy))
}

pub(super) fn lower_verify(
    job: &Job<'_>,
    digest: Option<DigestAlg>,
    set: &mut OperationSet,
) -> Result<Finisher, JobError> {
    // The length comes from the peer: a bad signature, not a malformed job.
    if set.shape().signature_len() != Some(job.second.len()) {
        return Err(JobError::Rejected);
    }
    let message = encoded(job, digest, set.shape())?;
    set.push(job.key, &message, SecondInput::Signature(job.second))?;
    Ok(Finisher(FinishStep::Verified))
}

/// Returns M' of the job.
fn encoded(job: &Job<'_>, digest: Option<DigestAlg>, shape: Shape) -> Result<Vec<u8>, JobError> {
    let encoded = match digest {
        None => encoded_message(job.context, job.message()?),
        Some(alg) => encoded_digest(job.context, alg, &pre_hash::digest(job, alg)?),
    };
    // unreachable because the length of the context was checked
    encoded.map_err(|fault| JobError::EngineFailed { shape, reason: fault.to_string() })
}

/// Returns PK.seed, which is opt_rand of the deterministic variant, and zeros behind it. FIPS 205 section 9.2.
fn public_seed(job: &Job<'_>) -> [u8; 32] {
    let mut nonce = [0; 32];
    if let Some((set, public)) = job.key.slh_dsa_public() {
        let seed = &public[..set.n().min(public.len())];
        nonce[..seed.len()].copy_from_slice(seed);
    }
    nonce
}
