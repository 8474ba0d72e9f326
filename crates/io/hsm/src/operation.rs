//! Schemes as calls of mechanisms.

use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::dsa::{HedgeType, SignAdditionalContext};
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::elliptic_curve::{EcKdf, Ecdh1DeriveParams};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, KeyType, ObjectClass, ObjectHandle};
use cryptoki::types::Ulong;
use oarlock::engine_api::OwnedJob;
use oarlock::engine_api::schemes::{digest_info, encode_ecdsa, open_decryption, to_digested};
use oarlock::keys::raw;
use oarlock::{
    Curve, DigestAlg, EcdsaEncoding, Input, Job, JobError, Key, KeyKind, MlDsaVariant, NonceRule, Scheme,
    Shape,
};
use zeroize::Zeroizing;

use crate::HsmError;
use crate::fault::CallFault;
use crate::object::KeyPurpose;
use crate::session::{HsmSession, unsupported};

/// Performs a job. A signature has been verified with the public half of its key.
pub(crate) fn perform(session: &mut HsmSession, job: &OwnedJob) -> Result<Vec<u8>, CallFault> {
    job.scheme.check_digests()?;
    let signature = match job.scheme {
        Scheme::RsaPkcs1Decrypt | Scheme::RsaOaepDecrypt { .. } => return decrypt(session, job),
        Scheme::Ecdh { curve } => return agree_on_curve(session, job, curve),
        Scheme::X25519 => return agree_x25519(session, job),
        Scheme::MlKemDecaps { .. } => return decapsulate(session, job),
        Scheme::RsaPkcs1Sign { digest } => sign_pkcs1(session, job, digest)?,
        Scheme::RsaPssSign { digest, mgf, salt_len } => sign_pss(session, job, (digest, mgf, salt_len))?,
        Scheme::EcdsaSign { curve, encoding, nonce, .. } => {
            expect_hedged(job, nonce)?;
            encode_ecdsa(&sign_ecdsa(session, job, curve)?, encoding)
        }
        Scheme::Ed25519Sign => sign_ed25519(session, job)?,
        Scheme::MlDsaSign { variant: MlDsaVariant::Pure, nonce, .. } => sign_ml_dsa(session, job, nonce)?,
        _ => return Err(unsupported(job)),
    };
    session.confirm_signature(job, &signature)?;
    Ok(signature)
}

/// Makes a signature, if the key may sign, to see that the public half belongs to it. Otherwise each signature would
/// count as a wrong answer of the module, and one wrong certificate would put all keys in quarantine.
pub(crate) fn confirm_pair(session: &mut HsmSession, key: &Key) -> Result<(), CallFault> {
    let digest = DigestAlg::Sha256;
    let (encoding, nonce) = (EcdsaEncoding::Fixed, NonceRule::Hedged);
    let scheme = match key.kind() {
        KeyKind::RsaPrivate(_) => Scheme::RsaPkcs1Sign { digest },
        KeyKind::EcPrivate(curve) => Scheme::EcdsaSign { curve, digest, encoding, nonce },
        KeyKind::Ed25519Private => Scheme::Ed25519Sign,
        KeyKind::MlDsaPrivate(set) => Scheme::MlDsaSign { set, variant: MlDsaVariant::Pure, nonce },
        _ => return Ok(()),
    };
    let job = to_digested(&Job::with_scheme(scheme, key, Input::Message(b"oarlock pair test"), &[]))?;
    match perform(session, &job) {
        Err(CallFault::Wrong(what)) => Err(HsmError::Pair { what }.into()),
        // It cannot sign so, and its public half is not used to verify then.
        Err(CallFault::Final(
            HsmError::NotAllowed { .. } | HsmError::Mechanism { .. } | HsmError::Refused { .. },
        )) => Ok(()),
        answer => answer.map(|_| ()),
    }
}

fn sign_pkcs1(session: &mut HsmSession, job: &OwnedJob, digest: DigestAlg) -> Result<Vec<u8>, CallFault> {
    let modulus_len = modulus_len(job)?;
    let data = digest_info(digest, digest_of(job)?)?;
    sign(session, job, &Mechanism::RsaPkcs, &data, Some(modulus_len))
}

fn sign_pss(
    session: &mut HsmSession,
    job: &OwnedJob,
    (digest, mgf, salt_len): (DigestAlg, DigestAlg, u16),
) -> Result<Vec<u8>, CallFault> {
    let modulus_len = modulus_len(job)?;
    let (Some((hash_alg, _)), Some((_, mgf))) = (digest_names(digest), digest_names(mgf)) else {
        return Err(unsupported(job));
    };
    let s_len = Ulong::new(salt_len.into());
    let mechanism = Mechanism::RsaPkcsPss(PkcsPssParams { hash_alg, mgf, s_len });
    sign(session, job, &mechanism, digest_of(job)?, Some(modulus_len))
}

fn sign_ecdsa(session: &mut HsmSession, job: &OwnedJob, curve: Curve) -> Result<Vec<u8>, CallFault> {
    expect_kind(job, KeyKind::EcPrivate(curve))?;
    let width = curve.scalar_len();
    let digest = digest_of(job)?;
    // The leftmost bytes, as FIPS 186-5 6.4.1 step 2 says. Some modules refuse digests that are wider than the curve.
    let digest = &digest[..digest.len().min(width)];
    sign(session, job, &Mechanism::Ecdsa, digest, Some(2 * width))
}

fn sign_ed25519(session: &mut HsmSession, job: &OwnedJob) -> Result<Vec<u8>, CallFault> {
    expect_kind(job, KeyKind::Ed25519Private)?;
    let mechanism = Mechanism::Eddsa(EddsaParams::new(EddsaSignatureScheme::Ed25519));
    sign(session, job, &mechanism, job.as_job().message()?, Some(64))
}

fn sign_ml_dsa(session: &mut HsmSession, job: &OwnedJob, nonce: NonceRule) -> Result<Vec<u8>, CallFault> {
    let asked = job.as_job();
    let hedge = match nonce {
        NonceRule::Hedged => HedgeType::Preferred,
        NonceRule::Deterministic => HedgeType::DeterministicRequired,
    };
    let context = Some(asked.context).filter(|context| !context.is_empty());
    let mechanism = Mechanism::MlDsa(SignAdditionalContext::new(hedge, context));
    sign(session, job, &mechanism, asked.message()?, None)
}

/// Signs data. `len` is the length of a right signature, if it is known.
fn sign(
    session: &mut HsmSession,
    job: &OwnedJob,
    mechanism: &Mechanism<'_>,
    data: &[u8],
    len: Option<usize>,
) -> Result<Vec<u8>, CallFault> {
    session.expect_mechanism(mechanism.mechanism_type())?;
    let object = session.object(&job.key, KeyPurpose::Sign)?;
    let signature = session.raw()?.sign(mechanism, object.handle, data)?;
    match len {
        Some(len) if len != signature.len() => {
            let what = format!("a signature of {} bytes, expected {len}", signature.len());
            Err(CallFault::Wrong(what))
        }
        _ => Ok(signature),
    }
}

/// Decrypts with raw RSA if the token offers it: its result can be checked with the public key, and the padding is
/// removed here, in constant time. Otherwise only OAEP can be decrypted, because a token that removes the padding of
/// PKCS#1 tells whether it was good (Bleichenbacher's attack).
fn decrypt(session: &mut HsmSession, job: &OwnedJob) -> Result<Vec<u8>, CallFault> {
    let modulus_len = modulus_len(job)?;
    let asked = job.as_job();
    let ciphertext = asked.message()?;
    if ciphertext.len() != modulus_len {
        return Err(JobError::Rejected.into());
    }
    let modulus = job.key.rsa_public().map_or(&[][..], |public| &public.n);
    // Compared as big-endian numbers of one length. Tokens reduce a larger number or fail, which is the caller's fault.
    if ciphertext >= modulus {
        return Err(JobError::OutOfRange { what: "ciphertext" }.into());
    }
    if !session.offers(MechanismType::RSA_X_509) {
        return match job.scheme {
            Scheme::RsaOaepDecrypt { digest, mgf } => decrypt_oaep(session, job, digest, mgf),
            _ => Err(session.lacks(MechanismType::RSA_X_509)),
        };
    }
    let secret = match job.scheme {
        Scheme::RsaPkcs1Decrypt => session.rejection_secret(&job.key, modulus_len)?,
        _ => Zeroizing::new([0; 32]),
    };
    let raw = session.raw_rsa(&job.key, ciphertext)?;
    Ok(open_decryption(&asked, &secret, &raw)?)
}

fn decrypt_oaep(
    session: &mut HsmSession,
    job: &OwnedJob,
    digest: DigestAlg,
    mgf: DigestAlg,
) -> Result<Vec<u8>, CallFault> {
    let (Some((hash_alg, _)), Some((_, mgf))) = (digest_names(digest), digest_names(mgf)) else {
        return Err(unsupported(job));
    };
    let asked = job.as_job();
    let label = match asked.second {
        [] => PkcsOaepSource::empty(),
        label => PkcsOaepSource::data_specified(label),
    };
    let mechanism = Mechanism::RsaPkcsOaep(PkcsOaepParams::new(hash_alg, mgf, label));
    session.expect_mechanism(MechanismType::RSA_PKCS_OAEP)?;
    let object = session.object(&job.key, KeyPurpose::Decrypt)?;
    session.raw()?.decrypt(&mechanism, object.handle, asked.message()?).map_err(|error| match error {
        // One error for every flaw of the encoding, as for local keys.
        Error::Pkcs11(RvError::EncryptedDataInvalid | RvError::EncryptedDataLenRange, _) => {
            JobError::Rejected.into()
        }
        error => error.into(),
    })
}

fn agree_on_curve(session: &mut HsmSession, job: &OwnedJob, curve: Curve) -> Result<Vec<u8>, CallFault> {
    expect_kind(job, KeyKind::EcPrivate(curve))?;
    let peer = job.as_job().message()?.to_vec();
    // Checked here, because a token that does not check it reveals its key (invalid curve attacks). SP 800-56A 5.6.2.3.
    let is_uncompressed = peer.len() == 1 + 2 * curve.scalar_len() && peer[0] == 4;
    if !is_uncompressed || raw::ec_public(curve, &peer).is_err() {
        return Err(JobError::PeerNotOnCurve.into());
    }
    agree(session, job, &peer, curve.scalar_len())
}

fn agree_x25519(session: &mut HsmSession, job: &OwnedJob) -> Result<Vec<u8>, CallFault> {
    expect_kind(job, KeyKind::X25519Private)?;
    let peer = job.as_job().message()?.to_vec();
    if peer.len() != 32 {
        let expected = "32".to_owned();
        return Err(JobError::Length { what: "public key of the peer", expected, found: peer.len() }.into());
    }
    let secret = agree(session, job, &peer, 32)?;
    // Every byte is read. RFC 7748 6.1.
    if secret.iter().fold(0, |all, byte| all | byte) == 0 {
        return Err(JobError::SmallOrderPeer.into());
    }
    Ok(secret)
}

fn agree(session: &mut HsmSession, job: &OwnedJob, peer: &[u8], len: usize) -> Result<Vec<u8>, CallFault> {
    session.expect_mechanism(MechanismType::ECDH1_DERIVE)?;
    let object = session.object(&job.key, KeyPurpose::Derive)?;
    let mechanism = Mechanism::Ecdh1Derive(Ecdh1DeriveParams::new(EcKdf::null(), peer));
    let derived = session.raw()?.derive_key(&mechanism, object.handle, &secret_template(len))?;
    take_value(session, derived, len)
}

fn decapsulate(session: &mut HsmSession, job: &OwnedJob) -> Result<Vec<u8>, CallFault> {
    let asked = job.as_job();
    let ciphertext = asked.message()?;
    let Scheme::MlKemDecaps { set } = job.scheme else { return Err(unsupported(job)) };
    expect_kind(job, KeyKind::MlKemPrivate(set))?;
    let len = Shape::MlKemDecaps { set }.input_len().unwrap_or_default();
    if ciphertext.len() != len {
        let expected = len.to_string();
        return Err(JobError::Length { what: "ciphertext", expected, found: ciphertext.len() }.into());
    }
    session.expect_mechanism(MechanismType::ML_KEM)?;
    let object = session.object(&job.key, KeyPurpose::Decapsulate)?;
    let template = secret_template(SHARED_SECRET_LEN);
    let secret = session.raw()?.decapsulate_key(&Mechanism::MlKem, object.handle, &template, ciphertext)?;
    take_value(session, secret, SHARED_SECRET_LEN)
}

/// Bytes of the shared secret of ML-KEM. FIPS 203 section 8.
const SHARED_SECRET_LEN: usize = 32;

/// Returns the template of a secret that leaves the token: it belongs to the caller.
fn secret_template(len: usize) -> [Attribute; 6] {
    [
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::KeyType(KeyType::GENERIC_SECRET),
        Attribute::Token(false),
        Attribute::Sensitive(false),
        Attribute::Extractable(true),
        // unreachable saturation because secrets have at most 48 bytes
        Attribute::ValueLen(Ulong::new(u16::try_from(len).unwrap_or(u16::MAX).into())),
    ]
}

/// Reads a secret and removes its object.
fn take_value(session: &HsmSession, secret: ObjectHandle, len: usize) -> Result<Vec<u8>, CallFault> {
    let value = session.raw()?.get_attributes(secret, &[AttributeType::Value]);
    // Removed in any case, because a session object occupies the token until the session ends.
    session.raw()?.destroy_object(secret)?;
    match value?.pop() {
        Some(Attribute::Value(value)) if value.len() == len => Ok(value),
        _ => Err(CallFault::Wrong(format!("not a shared secret of {len} bytes"))),
    }
}

/// Returns the digest of a job. Holders get digests, and not messages, where the scheme names one.
fn digest_of(job: &OwnedJob) -> Result<&[u8], CallFault> {
    match job.as_job().input {
        Input::Digest(digest) => Ok(digest),
        Input::Message(_) => Err(JobError::Malformed { what: "a message in place of its digest" }.into()),
    }
}

fn modulus_len(job: &OwnedJob) -> Result<usize, CallFault> {
    let len = job.key.rsa_public_shape().and_then(Shape::input_len);
    let is_private = matches!(job.key.kind(), KeyKind::RsaPrivate(_));
    len.filter(|_| is_private).ok_or_else(|| wrong_kind(job))
}

fn expect_kind(job: &OwnedJob, wanted: KeyKind) -> Result<(), CallFault> {
    if job.key.kind() == wanted { Ok(()) } else { Err(wrong_kind(job)) }
}

fn wrong_kind(job: &OwnedJob) -> CallFault {
    JobError::KeyType { wanted: job.scheme.to_string(), found: job.key.kind() }.into()
}

/// A token draws its nonces itself, so a signature that must be reproducible cannot come from it.
fn expect_hedged(job: &OwnedJob, nonce: NonceRule) -> Result<(), CallFault> {
    match nonce {
        NonceRule::Hedged => Ok(()),
        NonceRule::Deterministic => {
            let wanted = format!("{} with a deterministic nonce and a key in a device", job.scheme);
            Err(JobError::Unsupported { wanted }.into())
        }
    }
}

/// Returns the mechanism of a digest, and that of its mask generation.
fn digest_names(digest: DigestAlg) -> Option<(MechanismType, PkcsMgfType)> {
    match digest {
        DigestAlg::Sha1 => Some((MechanismType::SHA1, PkcsMgfType::MGF1_SHA1)),
        DigestAlg::Sha224 => Some((MechanismType::SHA224, PkcsMgfType::MGF1_SHA224)),
        DigestAlg::Sha256 => Some((MechanismType::SHA256, PkcsMgfType::MGF1_SHA256)),
        DigestAlg::Sha384 => Some((MechanismType::SHA384, PkcsMgfType::MGF1_SHA384)),
        DigestAlg::Sha512 => Some((MechanismType::SHA512, PkcsMgfType::MGF1_SHA512)),
        _ => None,
    }
}
