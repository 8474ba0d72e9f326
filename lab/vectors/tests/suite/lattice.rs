//! ML-KEM and ML-DSA: NIST's ACVP vectors, and byte for byte agreement with a second implementation.
//!
//! The crates `fips203` and `fips204` are that implementation. Their packages of version 0.4 contain the vectors, too.

use fips204::Ph;
use oarlock::engine_api::schemes::compute_on;
use oarlock_core::*;
use oarlock_keys::raw;
use oarlock_scalar::ScalarEngine;
use serde_json::Value;

use crate::acvp::{bytes, groups, tests};

fn scalar() -> ScalarEngine {
    ScalarEngine::detect().unwrap()
}

fn compute(job: &Job<'_>) -> Result<Vec<u8>, JobError> {
    compute_on(&scalar(), &[*job]).remove(0)
}

fn operation(shape: Shape, key: &Key, input: &[u8], extra: SecondInput<'_>) -> Vec<u8> {
    let operations = [Operation::new(shape, key, input, extra).unwrap()];
    let jobs = Jobs::Operations(shape, &operations);
    let mut outcomes = Outcomes::for_jobs(&jobs);
    scalar().run(&jobs, &mut outcomes).unwrap();
    assert_eq!(outcomes.statuses(), [Status::Done], "{shape}");
    outcomes.result(0).to_vec()
}

fn ml_kem_set(group: &Value) -> MlKemSet {
    let name = group["parameterSet"].as_str().unwrap().to_lowercase();
    MlKemSet::ALL.into_iter().find(|set| set.to_string() == name).unwrap()
}

fn ml_dsa_set(group: &Value) -> MlDsaSet {
    let name = group["parameterSet"].as_str().unwrap().to_lowercase();
    MlDsaSet::ALL.into_iter().find(|set| set.to_string() == name).unwrap()
}

#[test]
fn ml_kem_keys_match_acvp() {
    let mut count = 0;
    for group in groups("fips203", "nist_vectors/ML-KEM-keyGen-FIPS203") {
        let set = ml_kem_set(&group);
        for test in tests(&group) {
            let key = raw::ml_kem_seed(set, &[bytes(&test["d"]), bytes(&test["z"])].concat()).unwrap();
            assert_eq!(key.ml_kem_public(), Some((set, &bytes(&test["ek"])[..])));
            let expanded = raw::ml_kem_expanded(set, &bytes(&test["dk"])).unwrap();
            assert_eq!(expanded.fingerprint(), key.fingerprint());
            count += 1;
        }
    }
    assert_eq!(count, 75);
}

#[test]
fn ml_kem_secrets_match_acvp() {
    let mut count = 0;
    for group in groups("fips203", "nist_vectors/ML-KEM-encapDecap-FIPS203") {
        let set = ml_kem_set(&group);
        for test in tests(&group) {
            let (ciphertext, secret) = (bytes(&test["c"]), bytes(&test["k"]));
            if group["function"] == "encapsulation" {
                let key = raw::ml_kem_public(set, &bytes(&test["ek"])).unwrap();
                let made = operation(Shape::MlKemEncaps { set }, &key, &bytes(&test["m"]), SecondInput::None);
                assert_eq!(made, [&ciphertext[..], &secret].concat(), "case {}", test["tcId"]);
            }
            let dk = if test["dk"].is_null() { &group["dk"] } else { &test["dk"] };
            let key = raw::ml_kem_expanded(set, &bytes(dk)).unwrap();
            assert_eq!(compute(&Job::decapsulate(&key, &ciphertext)), Ok(secret), "case {}", test["tcId"]);
            count += 1;
        }
    }
    assert_eq!(count, 105);
}

#[test]
fn ml_dsa_keys_match_acvp() {
    let mut count = 0;
    for group in groups("fips204", "nist_vectors/ML-DSA-keyGen-FIPS204") {
        let set = ml_dsa_set(&group);
        for test in tests(&group) {
            let key = raw::ml_dsa_seed(set, &bytes(&test["seed"])).unwrap();
            assert_eq!(key.ml_dsa_public(), Some((set, &bytes(&test["pk"])[..])));
            let expanded = raw::ml_dsa_expanded(set, &bytes(&test["sk"])).unwrap();
            assert_eq!(expanded.fingerprint(), key.fingerprint());
            count += 1;
        }
    }
    assert_eq!(count, 75);
}

/// The vectors are those of the internal functions, which hash the message without a prefix. FIPS 204 algorithms 7 and
/// 8.
#[test]
fn ml_dsa_signatures_match_acvp() {
    let (mut signed, mut verified, mut refused) = (0, 0, 0);
    for group in groups("fips204", "nist_vectors/ML-DSA-sigGen-FIPS204") {
        let set = ml_dsa_set(&group);
        for test in tests(&group) {
            let key = raw::ml_dsa_expanded(set, &bytes(&test["sk"])).unwrap();
            let mu = internal_mu(&key, &bytes(&test["message"]));
            let random: [u8; 32] = match &test["rnd"] {
                Value::Null => [0; 32],
                random => bytes(random).try_into().unwrap(),
            };
            let extra = SecondInput::NonceInput(NonceInput::Hedged(&random));
            let made = operation(Shape::MlDsaSign { set }, &key, &mu, extra);
            assert!(made == bytes(&test["signature"]), "case {}", test["tcId"]);
            signed += 1;
        }
    }
    for group in groups("fips204", "nist_vectors/ML-DSA-sigVer-FIPS204") {
        let set = ml_dsa_set(&group);
        let key = raw::ml_dsa_public(set, &bytes(&group["pk"])).unwrap();
        let scheme = VerifyingScheme::ml_dsa(set, MlDsaVariant::ExternalMu);
        for test in tests(&group) {
            let mu = internal_mu(&key, &bytes(&test["message"]));
            let answer = compute(&Job::verify(scheme, &key, Input::Digest(&mu), &bytes(&test["signature"])));
            match test["testPassed"].as_bool().unwrap() {
                true => verified += usize::from(answer == Ok(Vec::new())),
                false => refused += usize::from(answer == Err(JobError::Rejected)),
            }
        }
    }
    assert_eq!((signed, verified + refused), (60, 45));
    assert!(verified > 5 && refused > 5);
}

fn internal_mu(key: &Key, message: &[u8]) -> [u8; 64] {
    use shake::{ExtendableOutput, Update, XofReader};
    let (_, public) = key.ml_dsa_public().unwrap();
    let hash = |parts: [&[u8]; 2]| {
        let mut state = shake::Shake256::default();
        parts.iter().for_each(|part| state.update(part));
        let mut out = [0; 64];
        state.finalize_xof().read(&mut out);
        out
    };
    hash([&hash([public, &[]]), message])
}

/// Different bytes for each use.
fn filled<const N: usize>(round: u8, use_: u8) -> [u8; N] {
    let mut state = u32::from_le_bytes([round, use_, 0x5A, 0xA5]);
    std::array::from_fn(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
}

const ROUNDS: u8 = 25;

/// Compares keys, ciphertexts and secrets of one parameter set, in both directions.
macro_rules! compare_ml_kem {
    ($set:expr, $peer:ident) => {{
        use fips203::traits::{Decaps, Encaps, KeyGen, SerDes};
        let set = $set;
        for round in 0..ROUNDS {
            let (d, z, m) = (filled::<32>(round, 1), filled::<32>(round, 2), filled::<32>(round, 3));
            let (theirs_public, theirs) = fips203::$peer::KG::keygen_from_seed(d, z);
            let ours = raw::ml_kem_seed(set, &[d, z].concat()).unwrap();
            assert_eq!(ours.ml_kem_public().unwrap().1, theirs_public.clone().into_bytes());
            let (secret, ciphertext) = theirs_public.encaps_from_seed(&m);
            let (secret, ciphertext) = (secret.into_bytes(), ciphertext.into_bytes());
            let made = operation(Shape::MlKemEncaps { set }, &ours, &m, SecondInput::None);
            assert_eq!(made, [&ciphertext[..], &secret].concat());
            assert_eq!(compute(&Job::decapsulate(&ours, &ciphertext)), Ok(secret.to_vec()));
            // Implicit rejection gives both the same wrong secret.
            let mut damaged = ciphertext;
            damaged[usize::from(round) * 7] ^= 1 << (round % 8);
            let damaged_peer = fips203::$peer::CipherText::try_from_bytes(damaged).unwrap();
            let found = compute(&Job::decapsulate(&ours, &damaged)).unwrap();
            assert_eq!(found, theirs.try_decaps(&damaged_peer).unwrap().into_bytes());
            assert_ne!(found, secret);
        }
    }};
}

#[test]
fn ml_kem_agrees_with_a_second_implementation() {
    compare_ml_kem!(MlKemSet::MlKem512, ml_kem_512);
    compare_ml_kem!(MlKemSet::MlKem768, ml_kem_768);
    compare_ml_kem!(MlKemSet::MlKem1024, ml_kem_1024);
}

/// Compares deterministic signatures of one parameter set, of the message itself and of its digest.
macro_rules! compare_ml_dsa {
    ($set:expr, $peer:ident) => {{
        use fips204::traits::{KeyGen, SerDes, Signer, Verifier};
        let set = $set;
        let digests = [
            (DigestAlg::Sha256, Ph::SHA256),
            (DigestAlg::Sha512, Ph::SHA512),
            (DigestAlg::Shake128, Ph::SHAKE128),
        ];
        for round in 0..ROUNDS / 5 {
            let (seed, message) = (filled::<32>(round, 4), filled::<100>(round, 5));
            let context = &filled::<255>(round, 6)[..[0, 1, 60, 254, 255][usize::from(round) % 5]];
            let (theirs_public, theirs) = fips204::$peer::KG::keygen_from_seed(&seed);
            let ours = raw::ml_dsa_seed(set, &seed).unwrap();
            assert_eq!(ours.ml_dsa_public().unwrap().1, theirs_public.clone().into_bytes());
            let sign = |variant| {
                let scheme = SigningScheme::ml_dsa(set, variant, NonceRule::Deterministic);
                compute(&Job::sign(scheme, &ours, Input::Message(&message)).context(context)).unwrap()
            };
            let pure = sign(MlDsaVariant::Pure);
            assert!(pure == theirs.try_sign_with_seed(&[0; 32], &message, context).unwrap());
            for (ours_digest, theirs_digest) in &digests {
                let hashed = sign(MlDsaVariant::PreHash(*ours_digest));
                let known = theirs.try_hash_sign_with_seed(&[0; 32], &message, context, theirs_digest);
                assert!(hashed == known.unwrap(), "{ours_digest}");
                let peer = hashed.clone().try_into().unwrap();
                assert!(theirs_public.hash_verify(&message, &peer, context, theirs_digest));
                // One variant is no other.
                let as_pure = VerifyingScheme::ml_dsa(set, MlDsaVariant::Pure);
                let job = Job::verify(as_pure, &ours, Input::Message(&message), &hashed).context(context);
                assert_eq!(compute(&job), Err(JobError::Rejected));
            }
        }
    }};
}

#[test]
fn ml_dsa_agrees_with_a_second_implementation() {
    compare_ml_dsa!(MlDsaSet::MlDsa44, ml_dsa_44);
    compare_ml_dsa!(MlDsaSet::MlDsa65, ml_dsa_65);
    compare_ml_dsa!(MlDsaSet::MlDsa87, ml_dsa_87);
}
