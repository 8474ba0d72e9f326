//! ML-KEM and ML-DSA: random bytes, contexts and message representatives. FIPS 203 section 7, FIPS 204 section 5.

use std::convert::Infallible;

use oarlock_core::{
    Input, JobError, Key, MlDsaSet, MlDsaVariant, NonceInput, NonceRule, OperationSet, SecondInput, Shape,
};
use oarlock_engine_kit::lattice::{LatticeFault, ml_dsa};

use super::finisher::{FinishStep, Finisher};
use super::pre_hash;
use super::{Job, NonceSource};

/// Lowers the computation of an encapsulation key from the seed of its key. FIPS 203 algorithm 16.
pub(super) fn lower_keygen(job: &Job<'_>, set: &mut OperationSet) -> Result<Finisher, JobError> {
    check_no_message(job)?;
    set.push(job.key, &[], SecondInput::None)?;
    Ok(Finisher(FinishStep::Copy))
}

/// Lowers an encapsulation, which draws its own random bytes. FIPS 203 algorithm 20.
pub(super) fn lower_encaps(
    job: &Job<'_>,
    set: &mut OperationSet,
    random: &mut NonceSource,
) -> Result<Finisher, JobError> {
    check_no_message(job)?;
    let seed = random.nonce(set.shape())?;
    set.push(job.key, &*seed, SecondInput::None)?;
    Ok(Finisher(FinishStep::Copy))
}

fn check_no_message(job: &Job<'_>) -> Result<(), JobError> {
    if job.message()?.is_empty() {
        return Ok(());
    }
    Err(JobError::Length { what: "message", expected: "0".into(), found: job.input.len() })
}

/// Lowers a decapsulation. A ciphertext of another length is the fault of the peer. FIPS 203 7.3.
pub(super) fn lower_decaps(job: &Job<'_>, set: &mut OperationSet) -> Result<Finisher, JobError> {
    let ciphertext = job.message()?;
    if set.shape().input_len() != Some(ciphertext.len()) {
        return Err(JobError::Rejected);
    }
    set.push(job.key, ciphertext, SecondInput::None)?;
    Ok(Finisher(FinishStep::Copy))
}

pub(super) fn lower_sign(
    job: &Job<'_>,
    variant: MlDsaVariant,
    rule: NonceRule,
    set: &mut OperationSet,
    random: &mut NonceSource,
) -> Result<Finisher, JobError> {
    let mu = message_representative(job, variant, set.shape())?;
    match rule {
        NonceRule::Hedged => {
            let random = random.nonce(set.shape())?;
            set.push(job.key, &mu, SecondInput::NonceInput(NonceInput::Hedged(&random)))?;
        }
        // FIPS 204 algorithm 2, step 5: rnd of the deterministic variant.
        NonceRule::Deterministic => {
            set.push(job.key, &mu, SecondInput::NonceInput(NonceInput::Hedged(&[0; 32])))?;
        }
    }
    Ok(Finisher(FinishStep::Copy))
}

pub(super) fn lower_verify(
    job: &Job<'_>,
    variant: MlDsaVariant,
    set: &mut OperationSet,
) -> Result<Finisher, JobError> {
    // The length comes from the peer: a bad signature, not a malformed job.
    if set.shape().signature_len() != Some(job.second.len()) {
        return Err(JobError::Rejected);
    }
    let mu = message_representative(job, variant, set.shape())?;
    set.push(job.key, &mu, SecondInput::Signature(job.second))?;
    Ok(Finisher(FinishStep::Verified))
}

/// Returns mu: made of the public key, the context and the message, or given.
fn message_representative(
    job: &Job<'_>,
    variant: MlDsaVariant,
    shape: Shape,
) -> Result<[u8; MlDsaSet::MU_LEN], JobError> {
    let fault = |fault: LatticeFault| JobError::EngineFailed { shape, reason: fault.to_string() };
    match variant {
        MlDsaVariant::Pure => {
            ml_dsa::message_mu(public_hash(job.key), job.context, job.message()?).map_err(fault)
        }
        MlDsaVariant::PreHash(digest) => {
            let hash = pre_hash::digest(job, digest)?;
            ml_dsa::digest_mu(public_hash(job.key), job.context, digest, &hash).map_err(fault)
        }
        MlDsaVariant::ExternalMu => given_mu(job.input),
    }
}

pub(super) fn given_mu(input: Input<'_>) -> Result<[u8; MlDsaSet::MU_LEN], JobError> {
    let Input::Digest(mu) = input else {
        return Err(JobError::Unsupported { wanted: "an external mu that is given as a message".into() });
    };
    let expected = MlDsaSet::MU_LEN.to_string();
    mu.try_into().map_err(|_| JobError::Length { what: "mu", expected, found: mu.len() })
}

/// The hash tr of a public key, which is kept with the handle of the key.
struct PublicHash([u8; 64]);

fn public_hash(key: &Key) -> &[u8; 64] {
    // unreachable because the shape of the job was found by the public key
    let public = key.ml_dsa_public().map_or(&[][..], |(_, public)| public);
    let Ok(hash) = key.prepared::<_, Infallible>(|_| Ok(PublicHash(ml_dsa::public_hash(public))));
    &hash.0
}
