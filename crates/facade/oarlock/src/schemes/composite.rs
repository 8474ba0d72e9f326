//! Composites: one job becomes two, over one message. draft-ietf-lamps-pq-composite-sigs-13 sections 4.2 and 4.3.

use oarlock_core::{CompositeAlg, JobError, MlDsaVariant, NonceRule, Scheme, SigningScheme};

use super::hash::Digester;
use super::{check_context, wrong_key};
use crate::{Input, Job};

/// Returns the message that both components sign: prefix || label || len(context) || context || digest. Section 3.2.
///
/// # Errors
/// [`JobError::Length`] for a context or a digest of the wrong length.
pub(crate) fn message(job: &Job<'_>, alg: CompositeAlg) -> Result<Vec<u8>, JobError> {
    check_context(job)?;
    let digest = Digester::from_alg(alg.pre_hash())?.digest(job)?;
    let label = alg.label().as_bytes();
    // `check_context` allows no more than 255 bytes.
    let context_len = [job.context.len() as u8];
    Ok([CompositeAlg::PREFIX, label, &context_len, job.context, digest.as_ref()].concat())
}

/// Returns the jobs of the components, of ML-DSA and of the other algorithm. Their answers, one behind the other, are
/// the composite's.
///
/// # Errors
/// [`JobError::KeyType`] for a key of another algorithm, or a public one that should sign; [`JobError::Unsupported`]
/// for one that is elsewhere; [`JobError::Rejected`] for a signature that is shorter than that of ML-DSA.
pub(crate) fn components<'a>(
    job: &Job<'a>,
    alg: CompositeAlg,
    message: &'a [u8],
) -> Result<[Job<'a>; 2], JobError> {
    let parts = job.key.composite().filter(|parts| parts.alg == alg).ok_or_else(|| wrong_key(job))?;
    let ml_dsa = SigningScheme::ml_dsa(alg.set(), MlDsaVariant::Pure, NonceRule::Hedged);
    let of = |scheme: SigningScheme| match job.scheme.is_signature() {
        true => Scheme::from(scheme),
        false => scheme.verifying().into(),
    };
    // The length comes from the peer: a bad signature, not a malformed job.
    let lens = if job.scheme.is_signature() { 0 } else { alg.set().signature_len() };
    let signatures = job.second.split_at_checked(lens).ok_or(JobError::Rejected)?;
    let component = |scheme, key, second| Job::with_scheme(of(scheme), key, Input::Message(message), second);
    Ok([
        component(ml_dsa, &parts.ml_dsa, signatures.0).context(alg.label().as_bytes()),
        component(alg.traditional(), &parts.traditional, signatures.1),
    ])
}
