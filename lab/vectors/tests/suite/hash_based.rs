//! SLH-DSA: NIST's ACVP vectors, and byte for byte agreement with a second implementation.
//!
//! The crate `fips205` is that implementation. Its package of version 0.4 contains the vectors, too. They have five of
//! the twelve sets.

use fips205::Ph;
use fips205::traits::{SerDes, Signer, Verifier};
use oarlock::engine_api::schemes::compute_on;
use oarlock_core::*;
use oarlock_keys::{generate, raw};
use oarlock_scalar::ScalarEngine;
use serde_json::Value;

use crate::acvp::{bytes, groups, tests};

fn compute(job: &Job<'_>) -> Result<Vec<u8>, JobError> {
    compute_on(&ScalarEngine::detect().unwrap(), &[*job]).remove(0)
}

fn operation(shape: Shape, key: &Key, input: &[u8], extra: SecondInput<'_>) -> Result<Vec<u8>, Status> {
    let operations = [Operation::new(shape, key, input, extra).map_err(|_| Status::BadLength)?];
    let jobs = Jobs::Operations(shape, &operations);
    let mut outcomes = Outcomes::for_jobs(&jobs);
    ScalarEngine::detect().unwrap().run(&jobs, &mut outcomes).unwrap();
    match outcomes.statuses()[0] {
        Status::Done => Ok(outcomes.result(0).to_vec()),
        status => Err(status),
    }
}

fn set_of(group: &Value) -> SlhDsaSet {
    let name = group["parameterSet"].as_str().unwrap();
    SlhDsaSet::ALL.into_iter().find(|set| set.standard_name() == name).unwrap()
}

/// A private key as it is. An import would compute its root, which the tests of signing do too.
fn private_key(set: SlhDsaSet, private: Vec<u8>) -> Key {
    let fingerprint = raw::slh_dsa_public(set, &private[set.public_len()..]).unwrap().fingerprint();
    Key::local(KeyParts::SlhDsaPrivate(set, private.into()), fingerprint)
}

#[test]
fn keys_match_acvp() {
    let mut count = 0;
    for group in groups("fips205", "nist_acvp_vectors/SLH-DSA-keyGen-FIPS205") {
        let set = set_of(&group);
        for test in tests(&group) {
            let key = private_key(set, bytes(&test["sk"]));
            let made = operation(Shape::SlhDsaKeygen { set }, &key, &[], SecondInput::None);
            assert_eq!(made, Ok(bytes(&test["pk"])), "case {}", test["tcId"]);
            count += 1;
        }
    }
    assert_eq!(count, 40);
}

/// The vectors are those of the internal functions, which get the message without a prefix. FIPS 205 algorithms 19 and
/// 20. Signatures of slow sets take up to a second, so that not all of a group are made.
#[test]
fn signatures_match_acvp() {
    let (mut signed, mut verified, mut refused) = (0, 0, 0);
    for group in groups("fips205", "nist_acvp_vectors/SLH-DSA-sigGen-FIPS205") {
        let set = set_of(&group);
        let count = if set.signing_hashes() > 1_000_000 { 1 } else { 4 };
        for test in tests(&group).iter().take(count) {
            let private = bytes(&test["sk"]);
            let opt_rand = match &test["additionalRandomness"] {
                Value::Null => private[set.public_len()..3 * set.n()].to_vec(),
                random => bytes(random),
            };
            let mut nonce = [0; 32];
            nonce[..set.n()].copy_from_slice(&opt_rand);
            let (key, message) = (private_key(set, private), bytes(&test["message"]));
            let extra = SecondInput::NonceInput(NonceInput::Hedged(&nonce));
            let made = operation(Shape::SlhDsaSign { set }, &key, &message, extra);
            assert!(made == Ok(bytes(&test["signature"])), "case {}", test["tcId"]);
            signed += 1;
        }
    }
    for group in groups("fips205", "nist_acvp_vectors/SLH-DSA-sigVer-FIPS205") {
        let set = set_of(&group);
        for test in tests(&group) {
            let key = raw::slh_dsa_public(set, &bytes(&test["pk"])).unwrap();
            let (message, signature) = (bytes(&test["message"]), bytes(&test["signature"]));
            let extra = SecondInput::Signature(&signature);
            let answer = operation(Shape::SlhDsaVerify { set }, &key, &message, extra);
            // Some signatures have a wrong length.
            match (test["testPassed"].as_bool().unwrap(), answer) {
                (true, Ok(_)) => verified += 1,
                (false, Err(Status::Rejected | Status::BadLength)) => refused += 1,
                (passed, answer) => panic!("case {}: {passed}, {answer:?}", test["tcId"]),
            }
        }
    }
    assert_eq!((signed, verified + refused), (28, 45));
    assert!(verified >= 5 && refused >= 5);
}

const DIGESTS: [(DigestAlg, Ph); 4] = [
    (DigestAlg::Sha256, Ph::SHA256),
    (DigestAlg::Sha512, Ph::SHA512),
    (DigestAlg::Shake128, Ph::SHAKE128),
    (DigestAlg::Shake256, Ph::SHAKE256),
];

/// Signs with one implementation and verifies with the other, pure and with digests.
macro_rules! compare {
    ($set:expr, $theirs:ident) => {{
        use fips205::$theirs as theirs;
        let (set, context, message) = ($set, &b"context"[..], &b"a message"[..]);
        let key = generate::slh_dsa(set).unwrap();
        let Some(KeyParts::SlhDsaPrivate(_, private)) = key.parts() else { unreachable!() };
        let their_key = theirs::PrivateKey::try_from_bytes(private.expose().try_into().unwrap()).unwrap();
        let their_public =
            theirs::PublicKey::try_from_bytes(key.slh_dsa_public().unwrap().1.try_into().unwrap()).unwrap();
        let sign = |pre_hash| {
            let scheme = SigningScheme::slh_dsa(set, pre_hash, NonceRule::Deterministic);
            compute(&Job::sign(scheme, &key, Input::Message(message)).context(context)).unwrap()
        };
        let verifies = |pre_hash, signature: &[u8]| {
            let scheme = VerifyingScheme::slh_dsa(set, pre_hash);
            compute(&Job::verify(scheme, &key, Input::Message(message), signature).context(context)).is_ok()
        };
        let pure = sign(None);
        assert!(pure == their_key.try_sign(message, context, false).unwrap(), "{set}");
        let pre_hashes = DIGESTS.map(|(digest, _)| sign(Some(digest)));
        for ((digest, theirs), hashed) in DIGESTS.iter().zip(&pre_hashes) {
            let made = their_key.try_hash_sign(message, context, theirs, false).unwrap();
            assert!(*hashed == made, "{set}, {digest}");
            assert!(verifies(Some(*digest), hashed) && !verifies(None, hashed));
            assert!(!verifies(Some(*digest), &pure));
        }
        assert!(verifies(None, &pure) && !verifies(Some(DigestAlg::Sha384), &pre_hashes[0]));
        let hedged = SigningScheme::slh_dsa(set, None, NonceRule::Hedged);
        let hedged = compute(&Job::sign(hedged, &key, Input::Message(message)).context(context)).unwrap();
        assert!(hedged != pure && their_public.verify(message, &hedged.try_into().unwrap(), context));
    }};
}

#[test]
fn fast_sets_agree_with_a_second_implementation() {
    compare!(SlhDsaSet::Sha2_128f, slh_dsa_sha2_128f);
    compare!(SlhDsaSet::Sha2_192f, slh_dsa_sha2_192f);
    compare!(SlhDsaSet::Sha2_256f, slh_dsa_sha2_256f);
    compare!(SlhDsaSet::Shake128f, slh_dsa_shake_128f);
}

#[test]
#[ignore = "takes more than a minute: .ci/long runs it"]
fn slow_sets_agree_with_a_second_implementation() {
    compare!(SlhDsaSet::Sha2_128s, slh_dsa_sha2_128s);
    compare!(SlhDsaSet::Sha2_192s, slh_dsa_sha2_192s);
    compare!(SlhDsaSet::Sha2_256s, slh_dsa_sha2_256s);
    compare!(SlhDsaSet::Shake128s, slh_dsa_shake_128s);
    compare!(SlhDsaSet::Shake192s, slh_dsa_shake_192s);
    compare!(SlhDsaSet::Shake192f, slh_dsa_shake_192f);
    compare!(SlhDsaSet::Shake256s, slh_dsa_shake_256s);
    compare!(SlhDsaSet::Shake256f, slh_dsa_shake_256f);
}

#[test]
fn contexts_lengths_and_sets_are_checked() {
    let set = SlhDsaSet::Sha2_128f;
    let key = generate::slh_dsa(set).unwrap();
    let message = Input::Message(b"message");
    let signing = SigningScheme::slh_dsa(set, None, NonceRule::Hedged);
    let sign = |context| compute(&Job::sign(signing, &key, message).context(context));
    let too_long = JobError::Length {
        what: "context",
        expected: "at most 255 with slh-dsa-sha2-128f-sign".into(),
        found: 256,
    };
    assert_eq!(sign(&[7; 256]), Err(too_long));
    let signature = sign(&[7; 255]).unwrap();
    let verify = |scheme, key, signature: &[u8]| {
        compute(&Job::verify(scheme, key, message, signature).context(&[7; 255]))
    };
    assert_eq!(verify(signing.verifying(), &key, &signature), Ok(Vec::new()));
    for wrong in [&signature[1..], &[&signature[..], &[0]].concat(), &[]] {
        assert_eq!(verify(signing.verifying(), &key, wrong), Err(JobError::Rejected));
    }
    // SHAKE-128f has keys and signatures of the same lengths.
    let other = VerifyingScheme::slh_dsa(SlhDsaSet::Shake128f, None);
    assert!(matches!(verify(other, &key, &signature), Err(JobError::KeyType { .. })));
    let public = raw::slh_dsa_public(SlhDsaSet::Shake128f, key.slh_dsa_public().unwrap().1).unwrap();
    assert_eq!(verify(other, &public, &signature), Err(JobError::Rejected));
    let digest = Job::sign(
        SigningScheme::slh_dsa(set, Some(DigestAlg::Sha256), NonceRule::Hedged),
        &key,
        Input::Digest(&[1; 31]),
    );
    assert!(matches!(compute(&digest), Err(JobError::Length { what: "digest", found: 31, .. })));
}
