use oarlock_core::{
    DigestAlg, EcdsaEncoding, Engine, Fingerprint, MlDsaVariant, NonceRule, SaltLength, SecretBytes,
    SigningScheme, VerifyingScheme,
};
use oarlock_keys::{raw, rsa};
use oarlock_scalar::ScalarEngine;

use super::*;
use crate::Input;

const RSA_1031: &str = include_str!("../selftest/data/rsa1031.txt");
const RSA_2048: &str = include_str!("../selftest/data/rsa2048.txt");
const REJECTION: &str = include_str!("../selftest/data/rejection.txt");

fn bytes(word: &str) -> Vec<u8> {
    let word = if word == "-" { "" } else { word };
    (0..word.len()).step_by(2).map(|at| u8::from_str_radix(&word[at..at + 2], 16).unwrap()).collect()
}

/// The first key of an RSA file of the self test.
fn rsa_key(file: &str) -> Key {
    let line = file.lines().find(|line| line.starts_with("key ")).unwrap();
    let numbers: Vec<Vec<u8>> = line.split(' ').skip(1).map(bytes).collect();
    let [n, e, d, p, q, dp, dq, qinv] = [0, 1, 2, 3, 4, 5, 6, 7].map(|index| &numbers[index][..]);
    rsa::private(&rsa::PrivateNumbers { n, e, d, p, q, dp, dq, qinv }).unwrap()
}

fn one(job: Job<'_>) -> Result<Vec<u8>, JobError> {
    let scalar = ScalarEngine::detect().unwrap();
    compute_on(&scalar, &[job]).remove(0)
}

/// Every scheme that signs, with the one that verifies its signatures.
fn signing_schemes() -> Vec<(Scheme, Scheme)> {
    let mut schemes = vec![
        (Scheme::Ed25519Sign, Scheme::Ed25519Verify),
        (Scheme::RsaPkcs1SignEncoded, Scheme::RsaPkcs1VerifyEncoded),
    ];
    for digest in DigestAlg::RSA_AND_ECDSA {
        schemes.push((Scheme::RsaPkcs1Sign { digest }, Scheme::RsaPkcs1Verify { digest }));
        for (mgf, salt_len) in
            [(digest, digest.output_len() as u16), (DigestAlg::Sha1, 0), (DigestAlg::Sha256, 7)]
        {
            let sign = Scheme::RsaPssSign { digest, mgf, salt_len };
            for salt in [SaltLength::Exactly(salt_len), SaltLength::Any] {
                schemes.push((sign, Scheme::RsaPssVerify { digest, mgf, salt }));
            }
        }
        for curve in Curve::ALL {
            for encoding in [EcdsaEncoding::Der, EcdsaEncoding::Fixed] {
                for nonce in [NonceRule::Hedged, NonceRule::Deterministic] {
                    let sign = Scheme::EcdsaSign { curve, digest, encoding, nonce };
                    schemes.push((sign, Scheme::EcdsaVerify { curve, digest, encoding }));
                }
            }
        }
    }
    schemes
}

fn keys_for(scheme: Scheme) -> Vec<Key> {
    match scheme {
        Scheme::Ed25519Sign => vec![raw::ed25519_private(&[5; 32]).unwrap()],
        Scheme::EcdsaSign { curve, .. } => {
            vec![raw::ec_private(curve, &vec![5; curve.scalar_len()]).unwrap()]
        }
        // The longest PSS encoding, SHA-512 with 64 bytes of salt, needs 130 bytes: 1031 bits have 129.
        Scheme::RsaPssSign { digest: DigestAlg::Sha512, salt_len: 64, .. } => vec![rsa_key(RSA_2048)],
        _ => vec![rsa_key(RSA_1031), rsa_key(RSA_2048)],
    }
}

#[test]
fn what_is_signed_verifies_and_nothing_else_does() {
    for (sign, verify) in signing_schemes() {
        for key in keys_for(sign) {
            let message = Input::Message(b"some message");
            let mut signature = one(Job::with_scheme(sign, &key, message, &[]))
                .unwrap_or_else(|error| panic!("{sign}: {error}"));
            assert_eq!(one(Job::with_scheme(verify, &key, message, &signature)), Ok(vec![]), "{verify}");
            let other = Job::with_scheme(verify, &key, Input::Message(b"other message"), &signature);
            assert_eq!(one(other), Err(JobError::Rejected), "{verify}");
            let longer = [&signature[..], &[0]].concat();
            assert_eq!(
                one(Job::with_scheme(verify, &key, message, &longer)),
                Err(JobError::Rejected),
                "{verify}"
            );
            let middle = signature.len() / 2 + 3;
            signature[middle] ^= 4;
            assert_eq!(
                one(Job::with_scheme(verify, &key, message, &signature)),
                Err(JobError::Rejected),
                "{verify}"
            );
            signature.truncate(middle);
            assert_eq!(
                one(Job::with_scheme(verify, &key, message, &signature)),
                Err(JobError::Rejected),
                "{verify}"
            );
        }
    }
}

#[test]
fn a_digest_counts_as_its_message() {
    let key = raw::ec_private(Curve::P256, &[9; 32]).unwrap();
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, b"abc");
    let scheme = Scheme::EcdsaSign {
        curve: Curve::P256,
        digest: DigestAlg::Sha256,
        encoding: EcdsaEncoding::Fixed,
        nonce: NonceRule::Deterministic,
    };
    let of_message = one(Job::with_scheme(scheme, &key, Input::Message(b"abc"), &[]));
    assert!(of_message.is_ok());
    assert_eq!(of_message, one(Job::with_scheme(scheme, &key, Input::Digest(digest.as_ref()), &[])));
}

#[test]
fn a_digest_info_signed_as_it_is_gives_the_signature_of_its_digest() {
    let key = rsa_key(RSA_2048);
    let digester = Digester::from_alg(DigestAlg::Sha256).unwrap();
    let info = [digester.info_prefix, digester.hash(b"abc").as_ref()].concat();
    let encoded =
        one(Job::with_scheme(Scheme::RsaPkcs1SignEncoded, &key, Input::Message(&info), &[])).unwrap();
    let pkcs1 = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
    assert_eq!(Ok(encoded), one(Job::with_scheme(pkcs1, &key, Input::Message(b"abc"), &[])));
    let max = Job::with_scheme(Scheme::RsaPkcs1SignEncoded, &key, Input::Message(&[7; 245]), &[]);
    assert!(one(max).is_ok());
    let over = Job::with_scheme(Scheme::RsaPkcs1SignEncoded, &key, Input::Message(&[7; 246]), &[]);
    assert_eq!(
        one(over),
        Err(JobError::Length { what: "modulus", expected: "at least 257".into(), found: 256 })
    );
}

/// Bad paddings give the alternative message that OpenSSL 4.0 gives, good ones the message.
#[test]
fn pkcs1_decryption_agrees_with_openssl_on_every_padding() {
    for line in REJECTION.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let key = rsa_key(if words[0] == "1031" { RSA_1031 } else { RSA_2048 });
        assert_eq!(one(Job::decrypt_pkcs1(&key, &bytes(words[1]))), Ok(bytes(words[2])), "{line}");
    }
}

#[test]
fn ciphertexts_of_the_wrong_length_or_size_are_the_peers_fault() {
    let key = rsa_key(RSA_2048);
    for ciphertext in [vec![1; 255], vec![1; 257], vec![0xFF; 256], vec![]] {
        assert_eq!(one(Job::decrypt_pkcs1(&key, &ciphertext)), Err(JobError::Rejected));
        let oaep = Job::decrypt_oaep(DigestAlg::Sha256, &key, &ciphertext, b"");
        assert_eq!(one(oaep), Err(JobError::Rejected));
    }
}

#[test]
fn a_peer_of_small_order_is_refused() {
    let key = raw::x25519_private(&[8; 32]).unwrap();
    assert_eq!(one(Job::agree(&key, &[0; 32])), Err(JobError::SmallOrderPeer));
    assert!(matches!(one(Job::agree(&key, &[9; 31])), Err(JobError::Length { found: 31, .. })));
    assert_eq!(one(Job::agree(&key, &[9; 32])).map(|secret| secret.len()), Ok(32));
}

#[test]
fn a_peer_that_is_not_a_point_on_the_curve_is_refused_alone() {
    for curve in Curve::ALL {
        let scalar = vec![9; curve.scalar_len()];
        let key = raw::ec_private(curve, &scalar).unwrap();
        let other = raw::ec_private(curve, &vec![7; curve.scalar_len()]).unwrap();
        let (point, own_point) = (other.ec_public().unwrap().1, key.ec_public().unwrap().1);
        let mut off_curve = point.to_vec();
        off_curve[curve.scalar_len()] ^= 1;
        let scalar_engine = ScalarEngine::detect().unwrap();
        let jobs = [point, &off_curve, point].map(|peer| Job::agree(&key, peer));
        assert_eq!(jobs[0].scheme, Scheme::Ecdh { curve });
        let results = compute_on(&scalar_engine, &jobs);
        assert_eq!(results[1], Err(JobError::PeerNotOnCurve));
        assert_eq!(results[0].as_ref().map(Vec::len), Ok(curve.scalar_len()));
        assert_eq!((&results[0], &results[0]), (&results[2], &one(Job::agree(&other, own_point))));
        let compressed = [&[3], &point[1..=curve.scalar_len()]].concat();
        assert!(matches!(one(Job::agree(&key, &compressed)), Err(JobError::Length { what: "input", .. })));
    }
}

#[test]
fn an_agreement_needs_a_private_key_of_its_curve() {
    let key = raw::ec_private(Curve::P256, &[9; 32]).unwrap();
    let public = raw::ec_public(Curve::P256, key.ec_public().unwrap().1).unwrap();
    let scheme = |curve| Scheme::Ecdh { curve };
    for (key, curve) in [(&key, Curve::P384), (&public, Curve::P256)] {
        let job = Job::with_scheme(scheme(curve), key, Input::Message(&[4; 65]), &[]);
        assert!(matches!(one(job), Err(JobError::KeyType { .. })), "{curve}");
    }
    let digest = Job::with_scheme(scheme(Curve::P256), &key, Input::Digest(&[4; 65]), &[]);
    assert!(matches!(one(digest), Err(JobError::Unsupported { .. })));
}

/// Local and held keys alike, before anything is hashed or queued.
#[test]
fn digests_of_other_schemes_are_refused_by_name() {
    let (rsa, ec) = (rsa_key(RSA_1031), raw::ec_private(Curve::P256, &[9; 32]).unwrap());
    let held = |kind| Key::held(kind, "token", "a", None, Fingerprint::new([1; 32]));
    let (curve, digest) = (Curve::P256, DigestAlg::Sha3_256);
    let scheme = Scheme::EcdsaSign { curve, digest, encoding: EcdsaEncoding::Der, nonce: NonceRule::Hedged };
    let error = JobError::Digest { what: "digest", expected: &DigestAlg::RSA_AND_ECDSA, found: digest };
    assert_eq!(one(Job::with_scheme(scheme, &ec, Input::Message(b"m"), &[])), Err(error.clone()));
    let held_ec = held(KeyKind::EcPrivate(curve));
    let refused = to_digested(&Job::with_scheme(scheme, &held_ec, Input::Message(b"m"), &[]));
    assert_eq!(refused.unwrap_err(), error);
    let oaep = Scheme::RsaOaepDecrypt { digest: DigestAlg::Sha256, mgf: DigestAlg::Shake128 };
    let masked = one(Job::with_scheme(oaep, &rsa, Input::Message(&[0; 129]), &[])).unwrap_err();
    assert!(masked.to_string().starts_with("the digest of the mask generation is shake128"), "{masked}");
    let (set, variant) = (MlDsaSet::MlDsa44, MlDsaVariant::PreHash(DigestAlg::Sha1));
    let sign = Scheme::MlDsaSign { set, variant, nonce: NonceRule::Hedged };
    let held_ml_dsa = held(KeyKind::MlDsaPrivate(set));
    let refused = to_digested(&Job::with_scheme(sign, &held_ml_dsa, Input::Digest(&[0; 20]), &[]));
    let expected = &DigestAlg::PRE_HASH;
    let error = JobError::Digest { what: "digest of HashML-DSA", expected, found: DigestAlg::Sha1 };
    assert_eq!(refused.unwrap_err(), error);
    let key = raw::ml_dsa_seed(set, &[5; 32]).unwrap();
    assert_eq!(one(Job::with_scheme(sign, &key, Input::Message(b"m"), &[])), Err(error));
}

#[test]
fn callers_mistakes_have_names() {
    let (rsa, ec) = (rsa_key(RSA_1031), raw::ec_private(Curve::P256, &[9; 32]).unwrap());
    let pkcs1 = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
    let wrong_key = one(Job::with_scheme(pkcs1, &ec, Input::Message(b""), &[]));
    assert!(matches!(wrong_key, Err(JobError::KeyType { .. })));
    let short_digest = one(Job::with_scheme(pkcs1, &rsa, Input::Digest(&[0; 31]), &[]));
    assert_eq!(short_digest, Err(JobError::Length { what: "digest", expected: "32".into(), found: 31 }));
    let long_salt = Scheme::RsaPssSign { digest: DigestAlg::Sha512, mgf: DigestAlg::Sha512, salt_len: 64 };
    let too_small = one(Job::with_scheme(long_salt, &rsa, Input::Message(b""), &[]));
    assert_eq!(
        too_small,
        Err(JobError::Length { what: "modulus", expected: "at least 130".into(), found: 129 })
    );
    let too_long =
        Scheme::RsaPssSign { digest: DigestAlg::Sha512, mgf: DigestAlg::Sha512, salt_len: u16::MAX };
    assert!(matches!(
        one(Job::with_scheme(too_long, &rsa, Input::Message(b""), &[])),
        Err(JobError::Length { .. })
    ));
    let tiny = rsa::public(&[&[0xC1; 63][..], &[0xFF]].concat(), &[3]).unwrap();
    let wide = Scheme::RsaPkcs1Verify { digest: DigestAlg::Sha512 };
    let too_small = one(Job::with_scheme(wide, &tiny, Input::Message(b""), &[0; 64]));
    assert_eq!(
        too_small,
        Err(JobError::Length { what: "modulus", expected: "at least 94".into(), found: 64 })
    );
}

#[test]
fn private_work_with_a_held_key_is_not_done_here() {
    let public = raw::ed25519_public(&[7; 32]).unwrap();
    let fingerprint = Fingerprint::new([1; 32]);
    let held = Key::held(KeyKind::Ed25519Private, "token", "mail", public.parts().cloned(), fingerprint);
    let signing = Job::sign(SigningScheme::ED25519, &held, Input::Message(b""));
    assert!(matches!(shape_of(&signing), Err(JobError::Unsupported { .. })));
    let verifying = Job::verify(VerifyingScheme::ED25519, &held, Input::Message(b""), &[0; 64]);
    assert_eq!(shape_of(&verifying), Ok(Shape::Ed25519Verify));
}

#[test]
fn a_set_of_another_shape_is_refused_and_left_alone() {
    let key = rsa_key(RSA_2048);
    let mut set = OperationSet::new(key.rsa_public_shape().unwrap());
    let signing =
        Job::with_scheme(Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha1 }, &key, Input::Message(b""), &[]);
    let shaped = ShapedJob::new(&signing).unwrap();
    let refused = prepare(&shaped, &mut set, &mut NonceSource::for_jobs(1));
    assert!(matches!(refused, Err(JobError::Malformed { .. })) && set.is_empty());
}

#[test]
fn one_call_may_mix_shapes_and_failures() {
    let (rsa, ed) = (rsa_key(RSA_1031), raw::ed25519_private(&[5; 32]).unwrap());
    let secret =
        Key::local(oarlock_core::KeyParts::Secret(SecretBytes::new(vec![1])), Fingerprint::new([3; 32]));
    let pkcs1 = Scheme::RsaPkcs1Sign { digest: DigestAlg::Sha256 };
    let jobs = [
        Job::sign(SigningScheme::ED25519, &ed, Input::Message(b"a")),
        Job::with_scheme(pkcs1, &secret, Input::Message(b"a"), &[]),
        Job::with_scheme(pkcs1, &rsa, Input::Message(b"a"), &[]),
        Job::sign(SigningScheme::ED25519, &ed, Input::Message(b"b")),
    ];
    let engine: &dyn Engine = &ScalarEngine::detect().unwrap();
    let lens: Vec<_> =
        compute_on(engine, &jobs).into_iter().map(|result| result.map(|out| out.len())).collect();
    assert!(matches!(lens[..], [Ok(64), Err(JobError::KeyType { .. }), Ok(129), Ok(64)]));
}

#[test]
fn the_encapsulation_key_of_a_seed_comes_from_its_key() {
    let set = MlKemSet::MlKem768;
    let imported = raw::ml_kem_seed(set, &[7; 64]).unwrap();
    let Some(oarlock_core::KeyParts::MlKemPrivate(parts)) = imported.parts() else { unreachable!() };
    let parts = oarlock_core::LatticePrivateParts { public: Vec::new(), ..parts.clone() };
    let ephemeral = Key::local(oarlock_core::KeyParts::MlKemPrivate(parts), Fingerprint::new([3; 32]));
    let public = one(Job::encapsulation_key(&ephemeral)).unwrap();
    assert_eq!(Some((set, &public[..])), imported.ml_kem_public());
    let peer = raw::ml_kem_public(set, &public).unwrap();
    let answer = one(Job::encapsulate(&peer)).unwrap();
    let (ciphertext, secret) = answer.split_at(set.ciphertext_len());
    assert_eq!(one(Job::decapsulate(&ephemeral, ciphertext)).unwrap(), secret);
    let with_message = Job::with_scheme(Scheme::MlKemKeygen { set }, &ephemeral, Input::Message(b"a"), &[]);
    assert!(matches!(one(with_message), Err(JobError::Length { what: "message", .. })));
    assert!(matches!(one(Job::encapsulation_key(&peer)), Err(JobError::KeyType { .. })));
}
