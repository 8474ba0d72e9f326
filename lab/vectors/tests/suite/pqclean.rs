//! ML-KEM and ML-DSA with PQClean: keys, ciphertexts and signatures in both directions.

use oarlock::engine_api::schemes::compute_on;
use oarlock_core::*;
use oarlock_keys::{export, generate, raw};
use oarlock_scalar::ScalarEngine;
use pqcrypto_traits::kem::{Ciphertext as _, PublicKey as _, SecretKey as _, SharedSecret as _};
use pqcrypto_traits::sign::{DetachedSignature as _, PublicKey as _, SecretKey as _};

fn compute(job: &Job<'_>) -> Result<Vec<u8>, JobError> {
    compute_on(&ScalarEngine::detect().unwrap(), &[*job]).remove(0)
}

macro_rules! exchange_secrets {
    ($set:expr, $peer:ident) => {{
        use pqcrypto_mlkem::$peer::{Ciphertext, PublicKey, SecretKey, decapsulate, encapsulate, keypair};
        let set = $set;
        // A pair of theirs.
        let (public, secret) = keypair();
        let made = compute(&Job::encapsulate(&raw::ml_kem_public(set, public.as_bytes()).unwrap())).unwrap();
        let (ciphertext, shared) = made.split_at(set.ciphertext_len());
        let ciphertext = Ciphertext::from_bytes(ciphertext).unwrap();
        assert_eq!(decapsulate(&ciphertext, &secret).as_bytes(), shared, "{set}");
        let ours = raw::ml_kem_expanded(set, secret.as_bytes()).unwrap();
        let (shared, ciphertext) = encapsulate(&public);
        assert_eq!(
            compute(&Job::decapsulate(&ours, ciphertext.as_bytes())).unwrap(),
            shared.as_bytes(),
            "{set}"
        );
        // A pair of ours, and a ciphertext that was made for another key.
        let ours = generate::ml_kem(set).unwrap();
        let public = PublicKey::from_bytes(ours.ml_kem_public().unwrap().1).unwrap();
        let secret = SecretKey::from_bytes(export::expanded(&ours).unwrap().expose()).unwrap();
        for (other, ciphertext) in [encapsulate(&public), (shared, ciphertext)] {
            let found = compute(&Job::decapsulate(&ours, ciphertext.as_bytes())).unwrap();
            assert_eq!(found, decapsulate(&ciphertext, &secret).as_bytes(), "{set}");
            assert_eq!(found == other.as_bytes(), other.as_bytes() != shared.as_bytes(), "{set}");
        }
    }};
}

#[test]
fn secrets_are_exchanged_with_pqclean() {
    exchange_secrets!(MlKemSet::MlKem512, mlkem512);
    exchange_secrets!(MlKemSet::MlKem768, mlkem768);
    exchange_secrets!(MlKemSet::MlKem1024, mlkem1024);
}

macro_rules! exchange_signatures {
    ($set:expr, $peer:ident) => {{
        use pqcrypto_mldsa::$peer::{
            DetachedSignature, PublicKey, SecretKey, detached_sign_ctx, keypair,
            verify_detached_signature_ctx,
        };
        let set = $set;
        let (public, secret) = keypair();
        let theirs = raw::ml_dsa_expanded(set, secret.as_bytes()).unwrap();
        assert_eq!(theirs.ml_dsa_public().unwrap().1, public.as_bytes());
        let ours = generate::ml_dsa(set).unwrap();
        let exported = SecretKey::from_bytes(export::expanded(&ours).unwrap().expose()).unwrap();
        let public_of_ours = PublicKey::from_bytes(ours.ml_dsa_public().unwrap().1).unwrap();
        let signing = SigningScheme::ml_dsa(set, MlDsaVariant::Pure, NonceRule::Hedged);
        let verifying = VerifyingScheme::ml_dsa(set, MlDsaVariant::Pure);
        let message = Input::Message(b"a message");
        for (key, secret, public) in [(&theirs, &secret, &public), (&ours, &exported, &public_of_ours)] {
            for context in [&b""[..], b"a context", &[7; 255]] {
                let signature = compute(&Job::sign(signing, key, message).context(context)).unwrap();
                let signature = DetachedSignature::from_bytes(&signature).unwrap();
                verify_detached_signature_ctx(&signature, b"a message", context, public).unwrap();
                let signature = detached_sign_ctx(b"a message", context, secret);
                let verify = |context| {
                    compute(&Job::verify(verifying, key, message, signature.as_bytes()).context(context))
                };
                assert_eq!(verify(context), Ok(Vec::new()), "{set}");
                assert_eq!(verify(b"another context"), Err(JobError::Rejected), "{set}");
            }
        }
    }};
}

#[test]
fn signatures_are_exchanged_with_pqclean() {
    exchange_signatures!(MlDsaSet::MlDsa44, mldsa44);
    exchange_signatures!(MlDsaSet::MlDsa65, mldsa65);
    exchange_signatures!(MlDsaSet::MlDsa87, mldsa87);
}
