//! Verification of signatures by the accelerator.
//!
//! Engines keep tables for public keys that recur, such as those of authorities and of clients that come back.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use oarlock::keys::{import, raw};
use oarlock::{
    Accelerator, Curve, DigestAlg, EcdsaEncoding, Input, Job, JobError, Key, KeyKind, MlDsaSet,
    VerifyingScheme,
};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::alg_id::{
    ECDSA_P256, ECDSA_P384, ECDSA_SHA256, ECDSA_SHA384, ECDSA_SHA512, ED25519, ML_DSA_44, ML_DSA_65,
    ML_DSA_87, RSA_ENCRYPTION, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256,
    RSA_PSS_SHA384, RSA_PSS_SHA512,
};
use rustls::pki_types::{AlgorithmIdentifier, FipsStatus, InvalidSignature, SignatureVerificationAlgorithm};

use crate::pause::{on_thread_stack, run_jobs};

/// The maximum number of parsed public keys that an algorithm keeps. A key has a few hundred bytes, one of
/// ML-DSA up to 2,592.
const MAX_KEYS: usize = 1_024;

/// The algorithms that the accelerator computes.
const ACCELERATED: [(AlgorithmIdentifier, AlgorithmIdentifier, PublicKeyForm, VerifyingScheme); 16] = [
    (ECDSA_P256, ECDSA_SHA256, PublicKeyForm::Ec(Curve::P256), ecdsa(Curve::P256, DigestAlg::Sha256)),
    (ECDSA_P256, ECDSA_SHA384, PublicKeyForm::Ec(Curve::P256), ecdsa(Curve::P256, DigestAlg::Sha384)),
    (ECDSA_P256, ECDSA_SHA512, PublicKeyForm::Ec(Curve::P256), ecdsa(Curve::P256, DigestAlg::Sha512)),
    (ECDSA_P384, ECDSA_SHA256, PublicKeyForm::Ec(Curve::P384), ecdsa(Curve::P384, DigestAlg::Sha256)),
    (ECDSA_P384, ECDSA_SHA384, PublicKeyForm::Ec(Curve::P384), ecdsa(Curve::P384, DigestAlg::Sha384)),
    (ECDSA_P384, ECDSA_SHA512, PublicKeyForm::Ec(Curve::P384), ecdsa(Curve::P384, DigestAlg::Sha512)),
    (ED25519, ED25519, PublicKeyForm::Ed25519, VerifyingScheme::ED25519),
    (RSA_ENCRYPTION, RSA_PKCS1_SHA256, PublicKeyForm::Rsa, VerifyingScheme::RSA_PKCS1_SHA256),
    (RSA_ENCRYPTION, RSA_PKCS1_SHA384, PublicKeyForm::Rsa, VerifyingScheme::RSA_PKCS1_SHA384),
    (RSA_ENCRYPTION, RSA_PKCS1_SHA512, PublicKeyForm::Rsa, VerifyingScheme::RSA_PKCS1_SHA512),
    (RSA_ENCRYPTION, RSA_PSS_SHA256, PublicKeyForm::Rsa, VerifyingScheme::RSA_PSS_SHA256),
    (RSA_ENCRYPTION, RSA_PSS_SHA384, PublicKeyForm::Rsa, VerifyingScheme::RSA_PSS_SHA384),
    (RSA_ENCRYPTION, RSA_PSS_SHA512, PublicKeyForm::Rsa, VerifyingScheme::RSA_PSS_SHA512),
    (ML_DSA_44, ML_DSA_44, PublicKeyForm::MlDsa(MlDsaSet::MlDsa44), VerifyingScheme::ML_DSA_44),
    (ML_DSA_65, ML_DSA_65, PublicKeyForm::MlDsa(MlDsaSet::MlDsa65), VerifyingScheme::ML_DSA_65),
    (ML_DSA_87, ML_DSA_87, PublicKeyForm::MlDsa(MlDsaSet::MlDsa87), VerifyingScheme::ML_DSA_87),
];

const fn ecdsa(curve: Curve, digest: DigestAlg) -> VerifyingScheme {
    VerifyingScheme::ecdsa(curve, digest, EcdsaEncoding::Der)
}

/// The content of a `subjectPublicKey`.
#[derive(Clone, Copy, Debug)]
enum PublicKeyForm {
    /// RSAPublicKey. RFC 8017 A.1.1.
    Rsa,
    /// A point. SEC 1 2.3.3.
    Ec(Curve),
    /// 32 bytes. RFC 8410 section 4.
    Ed25519,
    /// The bytes of FIPS 204 algorithm 22. RFC 9881 section 4.
    MlDsa(MlDsaSet),
}

/// Returns the algorithms of `base`, of which the accelerator computes those that it can. The values are never freed.
pub(crate) fn accelerated(
    accelerator: &Accelerator,
    base: WebPkiSupportedAlgorithms,
) -> WebPkiSupportedAlgorithms {
    let wrap_all = |list: &'static [&'static dyn SignatureVerificationAlgorithm]| -> &'static [_] {
        Vec::leak(list.iter().map(|inner| wrap(accelerator, *inner)).collect())
    };
    let mapping: Vec<_> = base.mapping.iter().map(|(scheme, list)| (*scheme, wrap_all(list))).collect();
    WebPkiSupportedAlgorithms { all: wrap_all(base.all), mapping: Vec::leak(mapping) }
}

fn wrap(
    accelerator: &Accelerator,
    inner: &'static dyn SignatureVerificationAlgorithm,
) -> &'static dyn SignatureVerificationAlgorithm {
    let ids = (inner.public_key_alg_id(), inner.signature_alg_id());
    let row = ACCELERATED.iter().find(|(public, signature, ..)| (*public, *signature) == ids);
    let job = row.map(|(_, _, form, scheme)| VerifyJobs {
        accelerator: accelerator.clone(),
        form: *form,
        scheme: *scheme,
        keys: Mutex::default(),
    });
    Box::leak(Box::new(JobVerification { inner, job }))
}

/// A verification algorithm that the accelerator computes if it can, and AWS-LC otherwise.
struct JobVerification {
    inner: &'static dyn SignatureVerificationAlgorithm,
    job: Option<VerifyJobs>,
}

struct VerifyJobs {
    accelerator: Accelerator,
    form: PublicKeyForm,
    scheme: VerifyingScheme,
    /// Keys under which a signature verified, by their encoding.
    keys: Mutex<HashMap<Box<[u8]>, Key>>,
}

impl SignatureVerificationAlgorithm for JobVerification {
    fn verify_signature(
        &self,
        public: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        match self.job.as_ref().and_then(|job| job.verify(public, message, signature)) {
            Some(answer) => answer,
            // Some of these algorithms need more stack than a coroutine has.
            None => on_thread_stack(|| self.inner.verify_signature(public, message, signature)),
        }
    }

    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.inner.public_key_alg_id()
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.inner.signature_alg_id()
    }

    fn fips_status(&self) -> FipsStatus {
        FipsStatus::Unvalidated
    }
}

impl VerifyJobs {
    /// Returns `None` if the accelerator cannot decide, because of the key's form or a fault of this machine.
    fn verify(
        &self,
        public: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Option<Result<(), InvalidSignature>> {
        let known = self.keys().get(public).cloned();
        let is_known = known.is_some();
        let key = known.or_else(|| self.parse_key(public))?;
        let job = Job::verify(self.scheme, &key, Input::Message(message), signature);
        match run_jobs(&self.accelerator, &[job]).and_then(|answers| answers.get(0).map(|_| ())) {
            Ok(()) => {
                if !is_known {
                    self.keep_key(public, key);
                }
                Some(Ok(()))
            }
            // Nobody waits for the answer of a cancelled handshake.
            Err(JobError::Rejected | JobError::Cancelled) => Some(Err(InvalidSignature)),
            Err(_) => None,
        }
    }

    fn parse_key(&self, public: &[u8]) -> Option<Key> {
        let key = match self.form {
            PublicKeyForm::Rsa => import::pkcs1_public_der(public),
            PublicKeyForm::Ec(curve) => raw::ec_public(curve, public),
            PublicKeyForm::Ed25519 => raw::ed25519_public(public),
            PublicKeyForm::MlDsa(set) => raw::ml_dsa_public(set, public),
        }
        .ok()?;
        // Other lengths are left to AWS-LC, which rejects them.
        let is_allowed = !matches!(key.kind(), KeyKind::RsaPublic(bits) if !(2_048..=8_192).contains(&bits));
        is_allowed.then_some(key)
    }

    /// Only keys under which a signature verified are kept, so that strangers cannot fill the memory with random
    /// bytes.
    fn keep_key(&self, public: &[u8], key: Key) {
        let mut keys = self.keys();
        if keys.len() >= MAX_KEYS {
            keys.clear();
        }
        keys.insert(public.into(), key);
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<Box<[u8]>, Key>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for JobVerification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.job {
            Some(job) => write!(f, "JobVerification({})", job.scheme),
            None => write!(f, "JobVerification({:?})", self.inner),
        }
    }
}

#[cfg(test)]
mod tests {
    use oarlock::keys::{export, generate};
    use oarlock::{NonceRule, Scheme, SigningScheme};
    use rustls::crypto::aws_lc_rs::default_provider;

    use super::*;

    fn signing(scheme: VerifyingScheme) -> SigningScheme {
        match Scheme::from(scheme) {
            Scheme::RsaPkcs1Verify { digest } => SigningScheme::rsa_pkcs1(digest),
            Scheme::RsaPssVerify { digest, .. } => {
                SigningScheme::rsa_pss(digest, digest, digest.output_len() as u16)
            }
            Scheme::EcdsaVerify { curve, digest, encoding } => {
                SigningScheme::ecdsa(curve, digest, encoding, NonceRule::Hedged)
            }
            Scheme::MlDsaVerify { set, variant } => SigningScheme::ml_dsa(set, variant, NonceRule::Hedged),
            _ => SigningScheme::ED25519,
        }
    }

    /// Returns a private key, and the content of its `subjectPublicKey`.
    fn key_pair(form: PublicKeyForm) -> (Key, Vec<u8>) {
        let (key, header) = match form {
            PublicKeyForm::Rsa => (generate::rsa(2_048), 24),
            PublicKeyForm::Ec(Curve::P256) => (generate::ec(Curve::P256), 26),
            PublicKeyForm::Ec(curve) => (generate::ec(curve), 23),
            PublicKeyForm::Ed25519 => (generate::ed25519(), 12),
            PublicKeyForm::MlDsa(set) => (generate::ml_dsa(set), 22),
        };
        let key = key.unwrap();
        let public = export::spki_der(&key).unwrap().split_off(header);
        (key, public)
    }

    #[test]
    fn good_signatures_verify_and_bad_ones_do_not() {
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        let base = default_provider().signature_verification_algorithms;
        let algorithms = accelerated(&accelerator, base);
        assert_eq!((algorithms.all.len(), algorithms.mapping.len()), (base.all.len(), base.mapping.len()));
        let (rsa, rsa_public) = key_pair(PublicKeyForm::Rsa);
        for (public_id, signature_id, form, scheme) in ACCELERATED {
            let of_row = |found: &&&'static dyn SignatureVerificationAlgorithm| {
                (found.public_key_alg_id(), found.signature_alg_id()) == (public_id, signature_id)
            };
            let algorithm = algorithms.all.iter().find(of_row).unwrap();
            let (key, public) = match form {
                PublicKeyForm::Rsa => (rsa.clone(), rsa_public.clone()),
                form => key_pair(form),
            };
            let job = Job::sign(signing(scheme), &key, Input::Message(b"a message"));
            let mut signature = accelerator.run_all(&[job]).get(0).unwrap().to_vec();
            let before = accelerator.counters().submitted;
            for _ in 0..2 {
                algorithm.verify_signature(&public, b"a message", &signature).unwrap();
                algorithm.verify_signature(&public, b"A message", &signature).unwrap_err();
            }
            assert_eq!(accelerator.counters().submitted - before, 4, "{scheme}: the accelerator computed it");
            for cut in 0..public.len() {
                algorithm.verify_signature(&public[..cut], b"a message", &signature).unwrap_err();
            }
            algorithm.verify_signature(&public, b"a message", &[]).unwrap_err();
            *signature.last_mut().unwrap() ^= 1;
            algorithm.verify_signature(&public, b"a message", &signature).unwrap_err();
        }
    }

    /// Returns an RSAPublicKey with the exponent 65537 and a modulus of these bits that nobody can factor.
    fn rsa_public(bits: usize) -> Vec<u8> {
        let len = u16::try_from(bits / 8 + 1).unwrap().to_be_bytes();
        let modulus = [&[2, 0x82][..], &len, &[0], &vec![0xff; bits / 8]].concat();
        let content = [&modulus[..], &[2, 3, 1, 0, 1]].concat();
        [&[0x30, 0x82][..], &u16::try_from(content.len()).unwrap().to_be_bytes(), &content].concat()
    }

    #[test]
    fn keys_beyond_8192_bits_are_refused_without_arithmetic() {
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        let base = default_provider().signature_verification_algorithms;
        let rsa = accelerated(&accelerator, base).all.iter();
        for algorithm in rsa.filter(|algorithm| algorithm.public_key_alg_id() == RSA_ENCRYPTION) {
            for bits in [8_200, 16_384, 65_528 * 4] {
                let signature = vec![1; bits / 8];
                algorithm.verify_signature(&rsa_public(bits), b"a message", &signature).unwrap_err();
            }
        }
        assert_eq!(accelerator.counters().submitted, 0);
    }

    #[test]
    fn keys_are_kept_up_to_a_limit() {
        let accelerator = Accelerator::builder().engines(["scalar"]).lazy().build().unwrap();
        let (form, scheme) = (PublicKeyForm::Ed25519, VerifyingScheme::ED25519);
        let jobs = VerifyJobs { accelerator, form, scheme, keys: Mutex::default() };
        let key = raw::ed25519_public(&[7; 32]).unwrap();
        for number in 0..=MAX_KEYS as u32 {
            jobs.keep_key(&number.to_be_bytes(), key.clone());
        }
        assert_eq!(jobs.keys().len(), 1);
        assert!(matches!(jobs.verify(&[7; 32], b"a message", &[0; 64]), Some(Err(_))));
        assert_eq!(jobs.keys().len(), 1, "a key without a good signature is not kept");
    }
}
