//! Digests of messages for HashML-DSA and HashSLH-DSA, computed or given. FIPS 204 section 5.4.1, FIPS 205 section
//! 10.2.2.

use oarlock_core::{DigestAlg, Input, JobError, MlDsaVariant, Scheme};
use oarlock_engine_kit::hash::Hasher;

use super::{Job, lattice};

/// Returns the digest of a job's message.
pub(super) fn digest(job: &Job<'_>, digest: DigestAlg) -> Result<Vec<u8>, JobError> {
    match job.input {
        Input::Message(message) => {
            let unsupported = || JobError::Unsupported { wanted: digest.to_string() };
            let mut hasher = Hasher::new(digest).ok_or_else(unsupported)?;
            hasher.update(message);
            Ok(hasher.finish())
        }
        Input::Digest(hash) if hash.len() == digest.output_len() => Ok(hash.to_vec()),
        Input::Digest(hash) => {
            let expected = digest.output_len().to_string();
            Err(JobError::Length { what: "digest", expected, found: hash.len() })
        }
    }
}

/// Returns the digest or mu of a job of ML-DSA or SLH-DSA that is not over the message itself, and `None` for every
/// other job.
pub(super) fn digested(job: &Job<'_>) -> Result<Option<Vec<u8>>, JobError> {
    match job.scheme {
        Scheme::MlDsaSign { variant, .. } | Scheme::MlDsaVerify { variant, .. } => match variant {
            MlDsaVariant::Pure => Ok(None),
            MlDsaVariant::PreHash(alg) => digest(job, alg).map(Some),
            MlDsaVariant::ExternalMu => lattice::given_mu(job.input).map(|mu| Some(mu.to_vec())),
        },
        Scheme::SlhDsaSign { pre_hash: Some(alg), .. } | Scheme::SlhDsaVerify { pre_hash: Some(alg), .. } => {
            digest(job, alg).map(Some)
        }
        _ => Ok(None),
    }
}
