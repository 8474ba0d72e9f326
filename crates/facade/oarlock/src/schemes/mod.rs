//! Schemes, written once for every engine: [`prepare`] turns a job into a raw operation, [`finish`] its raw result into
//! the answer.
//!
//! ```text
//! Job --shape_of--> Shape              which queue or batch
//! Job --prepare---> OperationSet       the raw operation, and a Finisher that outlives the borrowed job
//! Finisher + raw result --finish--> JobAnswer
//! ```

pub(crate) mod composite;
mod direct;
mod ecdsa;
mod finisher;
pub(crate) mod hash;
mod hash_based;
mod held;
mod lattice;
mod nonce;
mod pre_hash;
mod rsa;
mod rsa_decrypt;
mod rsa_oaep;
mod rsa_pkcs1;
mod rsa_pss;

use oarlock_core::{
    Curve, DigestAlg, JobError, Key, KeyHome, KeyKind, MlDsaSet, MlKemSet, OperationSet, Scheme, SecondInput,
    Shape, SlhDsaSet,
};

pub use self::direct::{compute_on, raw_result};
use self::finisher::FinishStep;
pub use self::finisher::{Finisher, JobAnswer, finish};
use self::hash::Digester;
pub use self::hash::to_digested;
pub use self::held::{digest_info, encode_ecdsa, open_decryption};
pub use self::nonce::NonceSource;
use crate::Job;

/// Bytes of the longest RSA modulus that a shape allows, 8192 bits.
const MAX_MODULUS_LEN: usize = 1024;

/// The raw shape that a job needs.
///
/// # Errors
/// [`JobError::Digest`] if the scheme does not take its digest, [`JobError::KeyType`] if the key cannot do the scheme,
/// [`JobError::Unsupported`] if its private half is with a holder, if its modulus is outside 512 to 8192 bits, or for a
/// composite, which is two raw operations.
pub fn shape_of(job: &Job<'_>) -> Result<Shape, JobError> {
    job.scheme.check_digests()?;
    match job.scheme {
        Scheme::RsaPkcs1Verify { .. } | Scheme::RsaPkcs1VerifyEncoded | Scheme::RsaPssVerify { .. } => {
            rsa_public_shape(job)
        }
        Scheme::EcdsaVerify { curve, .. } => ec_public_shape(job, curve),
        Scheme::Ed25519Verify if job.key.ed25519_public().is_some() => Ok(Shape::Ed25519Verify),
        Scheme::RsaPkcs1Sign { .. }
        | Scheme::RsaPkcs1SignEncoded
        | Scheme::RsaPssSign { .. }
        | Scheme::RsaPkcs1Decrypt
        | Scheme::RsaOaepDecrypt { .. } => rsa_private_shape(job),
        Scheme::EcdsaSign { curve, .. } => local(job, KeyKind::EcPrivate(curve), Shape::EcdsaSign { curve }),
        Scheme::Ed25519Sign => local(job, KeyKind::Ed25519Private, Shape::Ed25519Sign),
        Scheme::X25519 => local(job, KeyKind::X25519Private, Shape::X25519),
        Scheme::Ecdh { curve } => local(job, KeyKind::EcPrivate(curve), Shape::Ecdh { curve }),
        Scheme::MlKemKeygen { set } => ml_kem_seed_shape(job, set),
        Scheme::MlKemEncaps { set } => ml_kem_public_shape(job, set),
        Scheme::MlKemDecaps { set } => local(job, KeyKind::MlKemPrivate(set), Shape::MlKemDecaps { set }),
        Scheme::MlDsaSign { set, .. } => local(job, KeyKind::MlDsaPrivate(set), Shape::MlDsaSign { set }),
        Scheme::MlDsaVerify { set, .. } => ml_dsa_public_shape(job, set),
        Scheme::SlhDsaSign { set, .. } => local(job, KeyKind::SlhDsaPrivate(set), Shape::SlhDsaSign { set }),
        Scheme::SlhDsaVerify { set, .. } => slh_dsa_public_shape(job, set),
        Scheme::HssVerify if job.key.hss_public().is_some() => Ok(Shape::HssVerify),
        Scheme::XmssVerify if job.key.xmss_public().is_some() => Ok(Shape::XmssVerify),
        Scheme::CompositeSign { .. } | Scheme::CompositeVerify { .. } => {
            Err(JobError::Unsupported { wanted: format!("{} as one raw operation", job.scheme) })
        }
        _ => Err(wrong_key(job)),
    }
}

/// A job with the raw shape that its scheme and its key need: the proof that they fit each other.
#[derive(Clone, Copy, Debug)]
pub struct ShapedJob<'j, 'a> {
    job: &'j Job<'a>,
    shape: Shape,
}

impl<'j, 'a> ShapedJob<'j, 'a> {
    /// Finds the shape of a job.
    ///
    /// # Errors
    /// Those of [`shape_of`].
    pub fn new(job: &'j Job<'a>) -> Result<Self, JobError> {
        Ok(Self { job, shape: shape_of(job)? })
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }
}

/// Appends the job's raw operation to `set`, which is unchanged on an error.
///
/// # Errors
/// [`JobError::Length`] if a digest is not as long as the scheme's, a context too long for it, or the modulus too short
/// for the encoding; [`JobError::Rejected`] if a peer's signature or ciphertext has the wrong form;
/// [`JobError::Malformed`] if `set` is of another shape; [`JobError::EngineFailed`] without random bytes.
pub fn prepare(
    shaped: &ShapedJob<'_, '_>,
    set: &mut OperationSet,
    random: &mut NonceSource,
) -> Result<Finisher, JobError> {
    let job = shaped.job;
    if shaped.shape != set.shape() {
        return Err(JobError::Malformed { what: "the job belongs into a set of another shape" });
    }
    check_context(job)?;
    match job.scheme {
        Scheme::RsaPkcs1Sign { digest } => rsa_pkcs1::lower_sign(job, Digester::from_alg(digest)?, set),
        Scheme::RsaPkcs1Verify { digest } => rsa_pkcs1::lower_verify(job, Digester::from_alg(digest)?, set),
        Scheme::RsaPkcs1SignEncoded => rsa_pkcs1::lower_sign_encoded(job, set),
        Scheme::RsaPkcs1VerifyEncoded => rsa_pkcs1::lower_verify_encoded(job, set),
        Scheme::RsaPssSign { digest, mgf, salt_len } => {
            rsa_pss::lower_sign(job, both(digest, mgf)?, salt_len, set)
        }
        Scheme::RsaPssVerify { digest, mgf, salt } => {
            rsa_pss::lower_verify(job, both(digest, mgf)?, salt, set)
        }
        Scheme::RsaPkcs1Decrypt => rsa_decrypt::prepare(job, set),
        Scheme::RsaOaepDecrypt { digest, mgf } => rsa_oaep::prepare(job, both(digest, mgf)?, set),
        Scheme::EcdsaSign { curve, digest, encoding, nonce } => {
            ecdsa::lower_sign(job, (curve, digest, encoding), nonce, set, random)
        }
        Scheme::EcdsaVerify { curve, digest, encoding } => {
            ecdsa::lower_verify(job, (curve, digest, encoding), set)
        }
        Scheme::Ed25519Sign => push(job.key, job.message()?, SecondInput::None, FinishStep::Copy, set),
        Scheme::Ed25519Verify => lower_ed25519_verify(job, set),
        Scheme::X25519 => push(job.key, job.message()?, SecondInput::None, FinishStep::Agreement, set),
        Scheme::Ecdh { .. } => {
            push(job.key, job.message()?, SecondInput::None, FinishStep::PointAgreement, set)
        }
        Scheme::MlKemKeygen { .. } => lattice::lower_keygen(job, set),
        Scheme::MlKemEncaps { .. } => lattice::lower_encaps(job, set, random),
        Scheme::MlKemDecaps { .. } => lattice::lower_decaps(job, set),
        Scheme::MlDsaSign { variant, nonce, .. } => lattice::lower_sign(job, variant, nonce, set, random),
        Scheme::MlDsaVerify { variant, .. } => lattice::lower_verify(job, variant, set),
        Scheme::SlhDsaSign { pre_hash, nonce, .. } => {
            hash_based::lower_sign(job, pre_hash, nonce, set, random)
        }
        Scheme::SlhDsaVerify { pre_hash, .. } => hash_based::lower_verify(job, pre_hash, set),
        Scheme::HssVerify | Scheme::XmssVerify => {
            let signature = SecondInput::Signature(job.second);
            push(job.key, job.message()?, signature, FinishStep::Verified, set)
        }
        _ => Err(JobError::Unsupported { wanted: job.scheme.to_string() }),
    }
}

/// Checks that a context is there only for a scheme that takes one, and is at most 255 bytes long. FIPS 204 algorithm
/// 2, step 1; FIPS 205 algorithm 22, step 1.
fn check_context(job: &Job<'_>) -> Result<(), JobError> {
    if job.context.is_empty() {
        return Ok(());
    }
    let max = if job.scheme.takes_context() { MlDsaSet::MAX_CONTEXT_LEN } else { 0 };
    if job.context.len() <= max {
        return Ok(());
    }
    let expected = format!("at most {max} with {}", job.scheme);
    Err(JobError::Length { what: "context", expected, found: job.context.len() })
}

/// The integer whose root an RSA signature of the job is, at the modulus's width; only the public half of the key is
/// asked. The salt is for PSS, as long as the scheme says, and empty for PKCS#1 v1.5.
///
/// # Errors
/// [`JobError::Unsupported`] for schemes that are no RSA signature, [`JobError::Digest`] for other digests than theirs,
/// [`JobError::Length`] for digest, salt or modulus.
#[cfg(feature = "threshold")]
pub(crate) fn rsa_encoding(job: &Job<'_>, salt: &[u8]) -> Result<Vec<u8>, JobError> {
    let (digest, mgf, salt_len) = match job.scheme {
        Scheme::RsaPkcs1Sign { digest } => (digest, None, 0),
        Scheme::RsaPssSign { digest, mgf, salt_len } => (digest, Some(mgf), usize::from(salt_len)),
        other => return Err(JobError::Unsupported { wanted: format!("{other} by shares") }),
    };
    if salt.len() != salt_len {
        return Err(JobError::Length { what: "salt", expected: salt_len.to_string(), found: salt.len() });
    }
    job.scheme.check_digests()?;
    let mut buffer = [0; MAX_MODULUS_LEN];
    let encoded = match mgf {
        None => rsa_pkcs1::encoded(job, Digester::from_alg(digest)?, &mut buffer),
        Some(mgf) => rsa_pss::encoded(job, both(digest, mgf)?, salt, &mut buffer),
    };
    encoded.map(<[u8]>::to_vec)
}

fn lower_ed25519_verify(job: &Job<'_>, set: &mut OperationSet) -> Result<Finisher, JobError> {
    let message = job.message()?;
    // The length comes from the peer: a bad signature, not a malformed job.
    if job.second.len() != 64 {
        return Err(JobError::Rejected);
    }
    push(job.key, message, SecondInput::Signature(job.second), FinishStep::Verified, set)
}

fn push(
    key: &Key,
    input: &[u8],
    extra: SecondInput<'_>,
    kind: FinishStep,
    set: &mut OperationSet,
) -> Result<Finisher, JobError> {
    set.push(key, input, extra)?;
    Ok(Finisher(kind))
}

fn both(digest: DigestAlg, mgf: DigestAlg) -> Result<(&'static Digester, &'static Digester), JobError> {
    Ok((Digester::from_alg(digest)?, Digester::from_alg(mgf)?))
}

fn rsa_public_shape(job: &Job<'_>) -> Result<Shape, JobError> {
    let shape = job.key.rsa_public_shape().ok_or_else(|| wrong_key(job))?;
    within_rsa_bounds(shape)
}

fn rsa_private_shape(job: &Job<'_>) -> Result<Shape, JobError> {
    let KeyKind::RsaPrivate(bits) = job.key.kind() else { return Err(wrong_key(job)) };
    within_rsa_bounds(local(job, job.key.kind(), Shape::RsaPrivate { bits })?)
}

fn within_rsa_bounds(shape: Shape) -> Result<Shape, JobError> {
    // Longer moduli would exceed the buffers of the encodings, and shorter ones protect nothing.
    match shape {
        Shape::RsaPrivate { bits: 512..=8192 } | Shape::RsaPublic { bits: 512..=8192, .. } => Ok(shape),
        _ => Err(JobError::Unsupported { wanted: shape.to_string() }),
    }
}

fn ec_public_shape(job: &Job<'_>, curve: Curve) -> Result<Shape, JobError> {
    match job.key.ec_public() {
        Some((key_curve, _)) if key_curve == curve => Ok(Shape::EcdsaVerify { curve }),
        _ => Err(wrong_key(job)),
    }
}

fn ml_kem_seed_shape(job: &Job<'_>, set: MlKemSet) -> Result<Shape, JobError> {
    let shape = local(job, KeyKind::MlKemPrivate(set), Shape::MlKemKeygen { set })?;
    // An expanded key holds its public key, and has no seed to make one from.
    if job.key.serves(shape) {
        Ok(shape)
    } else {
        Err(JobError::Unsupported { wanted: "ML-KEM key generation without a seed".into() })
    }
}

fn ml_kem_public_shape(job: &Job<'_>, set: MlKemSet) -> Result<Shape, JobError> {
    match job.key.ml_kem_public() {
        Some((key_set, _)) if key_set == set => Ok(Shape::MlKemEncaps { set }),
        _ => Err(wrong_key(job)),
    }
}

fn ml_dsa_public_shape(job: &Job<'_>, set: MlDsaSet) -> Result<Shape, JobError> {
    match job.key.ml_dsa_public() {
        Some((key_set, _)) if key_set == set => Ok(Shape::MlDsaVerify { set }),
        _ => Err(wrong_key(job)),
    }
}

fn slh_dsa_public_shape(job: &Job<'_>, set: SlhDsaSet) -> Result<Shape, JobError> {
    match job.key.slh_dsa_public() {
        Some((key_set, _)) if key_set == set => Ok(Shape::SlhDsaVerify { set }),
        _ => Err(wrong_key(job)),
    }
}

fn local(job: &Job<'_>, wanted: KeyKind, shape: Shape) -> Result<Shape, JobError> {
    if job.key.kind() != wanted {
        return Err(wrong_key(job));
    }
    match job.key.home() {
        KeyHome::Local => Ok(shape),
        KeyHome::Held { holder, .. } => {
            Err(JobError::Unsupported { wanted: format!("{shape} here, with a key held by {holder}") })
        }
    }
}

fn wrong_key(job: &Job<'_>) -> JobError {
    JobError::KeyType { wanted: job.scheme.to_string(), found: job.key.kind() }
}

#[cfg(test)]
mod tests;
