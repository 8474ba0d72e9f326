//! All schemes with SoftHSM, through an accelerator, against keys of this process.

use std::sync::Arc;

use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::MechanismType;
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource};
use cryptoki::object::{Attribute, ObjectClass};
use oarlock::engine_api::{OperationSet, SecondInput};
use oarlock::keys::{generate as make, raw};
use oarlock::{
    Accelerator, Curve, DigestAlg, EcdsaEncoding, Input, Job, JobError, Key, KeyKind, NonceRule, Scheme,
    SigningScheme, VerifyingScheme,
};
use oarlock_hsm::{Hsm, HsmState};

use crate::own_process::{P256, P384, TestToken, key, with_faults, with_token};

fn accelerator(hsm: &Hsm) -> Accelerator {
    Accelerator::builder().lazy().threads(1).holder(Arc::new(hsm.clone())).build().unwrap()
}

fn generate_rsa(token: &TestToken) {
    let bits = [Attribute::ModulusBits(2048.into()), Attribute::PublicExponent(vec![1, 0, 1])];
    token.generate("rsa", &Mechanism::RsaPkcsKeyPairGen, &bits);
}

/// Makes the keys `p256` and `p384`.
fn generate_curves(token: &TestToken) {
    for (label, params) in [("p256", P256), ("p384", P384)] {
        token.generate(label, &Mechanism::EccKeyPairGen, &[Attribute::EcParams(params.to_vec())]);
    }
}

fn run(accelerator: &Accelerator, job: Job<'_>) -> Result<Vec<u8>, JobError> {
    accelerator.run_all(&[job]).get(0).map(<[u8]>::to_vec)
}

fn expect_signature(
    accelerator: &Accelerator,
    scheme: SigningScheme,
    key: &Key,
    input: Input<'_>,
) -> Vec<u8> {
    let signature =
        run(accelerator, Job::sign(scheme, key, input)).unwrap_or_else(|error| panic!("{scheme}: {error}"));
    let verify = Job::verify(scheme.verifying(), key, input, &signature);
    assert_eq!(accelerator.run_all(&[verify]).verified(0), Ok(true), "{scheme}");
    signature
}

#[test]
fn rsa_signs_by_pkcs1_and_by_pss() {
    with_token(|token| {
        generate_rsa(token);
        let hsm = token.hsm();
        let (accelerator, key) = (accelerator(&hsm), key(&hsm, "rsa"));
        assert_eq!(key.kind(), KeyKind::RsaPrivate(2048));
        for digest in DigestAlg::RSA_AND_ECDSA {
            let pkcs1 = SigningScheme::try_from(Scheme::RsaPkcs1Sign { digest }).unwrap();
            let signature = expect_signature(&accelerator, pkcs1, &key, Input::Message(b"a message"));
            assert_eq!(signature.len(), 256);
            let pss = Scheme::RsaPssSign { digest, mgf: digest, salt_len: 20 };
            expect_signature(&accelerator, pss.try_into().unwrap(), &key, Input::Message(b"a message"));
        }
        // SoftHSM insists on one digest for both; the refusal is the caller's.
        let mixed = Scheme::RsaPssSign { digest: DigestAlg::Sha256, mgf: DigestAlg::Sha1, salt_len: 20 };
        let job = Job::sign(mixed.try_into().unwrap(), &key, Input::Digest(&[1; 32]));
        let error = run(&accelerator, job).unwrap_err();
        assert!(matches!(error, JobError::HolderRefused { .. }), "{error}");
        assert_eq!(hsm.report().state, HsmState::Ready);
    });
}

#[test]
fn rsa_decrypts_and_never_tells_of_a_bad_padding() {
    with_token(|token| {
        generate_rsa(token);
        let hsm = token.hsm();
        let (accelerator, key) = (accelerator(&hsm), key(&hsm, "rsa"));
        let encoded = |start: &[u8], message: &[u8]| {
            [start, &vec![0x77; 256 - start.len() - 1 - message.len()], &[0], message].concat()
        };
        let good = encrypt(&accelerator, &key, &encoded(&[0, 2], b"a message"));
        assert_eq!(run(&accelerator, Job::decrypt_pkcs1(&key, &good)).unwrap(), b"a message");
        let bad = encrypt(&accelerator, &key, &encoded(&[0, 1], b"a message"));
        let replaced = run(&accelerator, Job::decrypt_pkcs1(&key, &bad)).unwrap();
        assert_ne!(replaced, b"a message");
        // The replacement depends on the key and the ciphertext alone, and so is that of another connection.
        let other = token.hsm();
        let again = run(&self::accelerator(&other), Job::decrypt_pkcs1(&key, &bad)).unwrap();
        assert_eq!(replaced, again);
        for flaw in [&good[1..], &[0xFF; 256][..]] {
            assert!(run(&accelerator, Job::decrypt_pkcs1(&key, flaw)).is_err());
        }
        let oaep = |ciphertext| Job::decrypt_oaep(DigestAlg::Sha256, &key, ciphertext, b"label");
        assert_eq!(run(&accelerator, oaep(&good)), Err(JobError::Rejected));
        assert_eq!((hsm.report().wrong, hsm.report().state), (0, HsmState::Ready));
    });
}

/// Without raw RSA a token would remove the padding itself, and tell whether it was good.
#[test]
fn a_token_without_raw_rsa_decrypts_oaep_only() {
    with_faults(|token| {
        generate_rsa(token);
        token.plant("no_raw_rsa");
        let hsm = token.hsm();
        let (accelerator, key) = (accelerator(&hsm), key(&hsm, "rsa"));
        let error = run(&accelerator, Job::decrypt_pkcs1(&key, &[1; 256])).unwrap_err().to_string();
        assert_eq!(error, "holder hsm refused: token \"mail\" does not offer CKM_RSA_X_509");
        let session = token.user_session();
        let public = session
            .find_objects(&[Attribute::Label(b"rsa".to_vec()), Attribute::Class(ObjectClass::PUBLIC_KEY)])
            .unwrap();
        let params =
            PkcsOaepParams::new(MechanismType::SHA1, PkcsMgfType::MGF1_SHA1, PkcsOaepSource::empty());
        let ciphertext = session.encrypt(&Mechanism::RsaPkcsOaep(params), public[0], b"oaep").unwrap();
        let oaep = |ciphertext| Job::decrypt_oaep(DigestAlg::Sha1, &key, ciphertext, b"");
        assert_eq!(run(&accelerator, oaep(&ciphertext)).unwrap(), b"oaep");
        assert!(run(&accelerator, oaep(&[1; 256])).is_err());
        // With raw RSA the same ciphertext is opened here.
        token.remove_fault("no_raw_rsa");
        let other = token.hsm();
        assert_eq!(run(&self::accelerator(&other), oaep(&ciphertext)).unwrap(), b"oaep");
    });
}

fn encrypt(accelerator: &Accelerator, key: &Key, encoded: &[u8]) -> Vec<u8> {
    let mut set = OperationSet::new(key.rsa_public_shape().unwrap());
    set.push(key, encoded, SecondInput::None).unwrap();
    accelerator.raw().run(&set).get(0).unwrap().to_vec()
}

#[test]
fn ecdsa_signs_on_both_curves_in_both_encodings() {
    with_token(|token| {
        generate_curves(token);
        let hsm = token.hsm();
        let accelerator = accelerator(&hsm);
        for (curve, label, width) in [(Curve::P256, "p256", 32), (Curve::P384, "p384", 48)] {
            let key = key(&hsm, label);
            for digest in DigestAlg::RSA_AND_ECDSA {
                for encoding in [EcdsaEncoding::Der, EcdsaEncoding::Fixed] {
                    let scheme = Scheme::EcdsaSign { curve, digest, encoding, nonce: NonceRule::Hedged };
                    let scheme = scheme.try_into().unwrap();
                    let signature =
                        expect_signature(&accelerator, scheme, &key, Input::Message(b"a message"));
                    assert!(encoding == EcdsaEncoding::Der || signature.len() == 2 * width);
                }
            }
        }
        let key = key(&hsm, "p256");
        let deterministic = Scheme::EcdsaSign {
            curve: Curve::P256,
            digest: DigestAlg::Sha256,
            encoding: EcdsaEncoding::Der,
            nonce: NonceRule::Deterministic,
        };
        let job = Job::sign(deterministic.try_into().unwrap(), &key, Input::Digest(&[1; 32]));
        assert!(matches!(run(&accelerator, job), Err(JobError::Unsupported { .. })));
        let pss = Job::sign(SigningScheme::RSA_PSS_SHA256, &key, Input::Digest(&[1; 32]));
        assert!(matches!(run(&accelerator, pss), Err(JobError::KeyType { .. })));
    });
}

#[test]
fn ecdh_agrees_with_local_keys_and_refuses_points_off_the_curve() {
    with_token(|token| {
        generate_curves(token);
        let hsm = token.hsm();
        let accelerator = accelerator(&hsm);
        for (curve, label) in [(Curve::P256, "p256"), (Curve::P384, "p384")] {
            let key = key(&hsm, label);
            let local = make::ec(curve).unwrap();
            let (point, peer) = (key.ec_public().unwrap().1, local.ec_public().unwrap().1);
            let secret = run(&accelerator, Job::agree(&key, peer)).unwrap();
            assert_eq!(secret, run(&accelerator, Job::agree(&local, point)).unwrap());
            assert_eq!(secret.len(), curve.scalar_len());
            let mut off = peer.to_vec();
            *off.last_mut().unwrap() ^= 1;
            for bad in [&off[..], &peer[1..], &[]] {
                assert_eq!(run(&accelerator, Job::agree(&key, bad)), Err(JobError::PeerNotOnCurve));
            }
        }
    });
}

#[test]
fn ed25519_signs_whole_messages() {
    with_token(|token| {
        let params = [Attribute::EcParams(b"\x06\x03\x2b\x65\x70".to_vec())];
        token.generate("ed", &Mechanism::EccEdwardsKeyPairGen, &params);
        let hsm = token.hsm();
        let (accelerator, key) = (accelerator(&hsm), key(&hsm, "ed"));
        assert_eq!(key.kind(), KeyKind::Ed25519Private);
        for len in [0, 1, 64, 5000] {
            let message = vec![9; len];
            expect_signature(&accelerator, SigningScheme::ED25519, &key, Input::Message(&message));
        }
        let public = raw::ed25519_public(key.ed25519_public().unwrap()).unwrap();
        let job = Job::verify(VerifyingScheme::ED25519, &public, Input::Message(b""), &[0; 64]);
        assert_eq!(accelerator.run_all(&[job]).verified(0), Ok(false));
    });
}
