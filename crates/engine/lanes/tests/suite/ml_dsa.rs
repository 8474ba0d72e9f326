//! ML-DSA on every leaf beside the scalar engine: every number of jobs, keys with and without tables, signatures that
//! are good, damaged, of other keys or malformed, and signing with keys in both forms.

use oarlock_core::*;
use oarlock_scalar::ScalarEngine;

use crate::common::{bytes, leaves_for, run_operations, verifiers};

struct Pair {
    private: Key,
    public: Key,
}

/// Makes the keys of a seed. Every second private key is imported in expanded form.
fn pair(set: MlDsaSet, seed: usize) -> Pair {
    let seed_bytes = bytes(1000 + seed, MlDsaSet::SEED_LEN);
    let expanded =
        oarlock_engine_kit::lattice::ml_dsa::expand(set, seed_bytes.as_slice().try_into().unwrap()).unwrap();
    let private = match seed % 2 {
        0 => LatticePrivate::Seed(seed_bytes.into()),
        _ => LatticePrivate::Expanded(expanded.private.to_vec().into()),
    };
    let parts = LatticePrivateParts { set, private, public: expanded.public.clone() };
    let fingerprint: [u8; 32] = bytes(seed, 32).try_into().unwrap();
    let key = |parts| Key::local(parts, Fingerprint::new(fingerprint));
    Pair {
        private: key(KeyParts::MlDsaPrivate(parts)),
        public: key(KeyParts::MlDsaPublic(set, expanded.public)),
    }
}

type VerifyInput<'a> = (&'a Key, &'a [u8], &'a [u8]);

fn verify(engine: &dyn Engine, set: MlDsaSet, jobs: &[VerifyInput<'_>]) -> Vec<Result<Vec<u8>, Status>> {
    let shape = Shape::MlDsaVerify { set };
    let operations: Vec<_> = jobs
        .iter()
        .map(|(key, mu, signature)| {
            Operation::new(shape, key, mu, SecondInput::Signature(signature)).unwrap()
        })
        .collect();
    run_operations(engine, shape, &operations)
}

fn sign(
    engine: &dyn Engine,
    set: MlDsaSet,
    jobs: &[(&Key, &[u8], &[u8; 32])],
) -> Vec<Result<Vec<u8>, Status>> {
    let shape = Shape::MlDsaSign { set };
    let operations: Vec<_> = jobs
        .iter()
        .map(|(key, mu, random)| {
            Operation::new(shape, key, mu, SecondInput::NonceInput(NonceInput::Hedged(random))).unwrap()
        })
        .collect();
    run_operations(engine, shape, &operations)
}

fn leaf_name(engine: &dyn Engine, set: MlDsaSet) -> &'static str {
    engine.leaf(Shape::MlDsaVerify { set }).map_or("scalar", |leaf| leaf.name)
}

/// The bytes of the hash, and of hints and their ends.
fn layout(set: MlDsaSet) -> (usize, usize, usize) {
    match set {
        MlDsaSet::MlDsa44 => (32, 80, 4),
        MlDsaSet::MlDsa65 => (48, 55, 6),
        _ => (64, 75, 8),
    }
}

/// Damages a signature in many ways, and leaves it as it is for a fourth of the indices.
fn damage(set: MlDsaSet, signature: &mut [u8], at: usize) {
    let (hash, omega, rows) = layout(set);
    let len = signature.len();
    let hints = len - omega - rows;
    match at % 12 {
        0 | 4 | 8 => {}
        1 => signature[at * 7 % hash] ^= 1 << (at / 12 % 8),
        2 => signature[hash + at * 131 % (hints - hash)] ^= 1 << (at / 12 % 8),
        // A coefficient at the bound.
        3 => signature[hash..hash + 3].fill(0),
        // The first hint is repeated, or hints stand in another order.
        5 => signature[hints + 1] = signature[hints],
        6 => signature.swap(hints, hints + 1),
        // The padding is not 0, or an end is beyond it.
        7 => signature[len - rows - 1] = 1,
        9 => signature[len - 1] = omega as u8 + 1,
        10 => signature[len - rows] = signature[len - rows + 1] + 1,
        _ => signature.copy_from_slice(&bytes(at, len)),
    }
}

#[test]
fn verdicts_agree_with_scalar_for_every_number_of_jobs() {
    let scalar = ScalarEngine::detect().unwrap();
    for set in MlDsaSet::ALL {
        let keys: Vec<_> = (0..5).map(|seed| pair(set, seed)).collect();
        let mus: Vec<_> = (0..40).map(|at| bytes(at, 64)).collect();
        let random = [7; 32];
        let key = |at: usize| &keys[at * at % 5];
        let jobs: Vec<_> =
            mus.iter().enumerate().map(|(at, mu)| (&key(at).private, &mu[..], &random)).collect();
        let mut signatures: Vec<_> = sign(&scalar, set, &jobs).into_iter().map(Result::unwrap).collect();
        for (at, signature) in signatures.iter_mut().enumerate() {
            damage(set, signature, at);
        }
        let jobs: Vec<VerifyInput<'_>> = (0..40)
            .map(|at| {
                // Every eleventh job has another message.
                let mu = &mus[if at % 11 == 10 { 0 } else { at }];
                (&key(at).public, &mu[..], &signatures[at][..])
            })
            .collect();
        let expected = verify(&scalar, set, &jobs);
        assert!(expected.iter().filter(|verdict| verdict.is_ok()).count() >= 8);
        for engine in verifiers(Shape::MlDsaVerify { set }) {
            let width = engine.offers(Shape::MlDsaVerify { set }).unwrap().preferred;
            for count in 1..=(2 * width + 1).min(jobs.len()) {
                let verdicts = verify(&*engine, set, &jobs[..count]);
                assert_eq!(verdicts, expected[..count], "{set} {} {count}", leaf_name(&*engine, set));
            }
            // Those of one key.
            for count in [1, width, width + 1] {
                let first = (0..jobs.len()).filter(|at| at * at % 5 == 1).cycle().take(count);
                let of_one: Vec<_> = first.clone().map(|at| jobs[at]).collect();
                let expected: Vec<_> = first.map(|at| expected[at].clone()).collect();
                let verdicts = verify(&*engine, set, &of_one);
                assert_eq!(verdicts, expected, "{set} {} {count}", leaf_name(&*engine, set));
            }
        }
    }
}

#[test]
fn signatures_agree_with_scalar_for_every_number_of_jobs() {
    let scalar = ScalarEngine::detect().unwrap();
    for set in MlDsaSet::ALL {
        let keys: Vec<_> = (0..5).map(|seed| pair(set, seed)).collect();
        let mus: Vec<_> = (0..40).map(|at| bytes(at, 64)).collect();
        let random: Vec<[u8; 32]> =
            (0..40).map(|at| if at % 3 == 0 { [0; 32] } else { [at as u8; 32] }).collect();
        let jobs: Vec<_> =
            (0..40).map(|at| (&keys[at * at % 5].private, &mus[at][..], &random[at])).collect();
        let expected = sign(&scalar, set, &jobs);
        for engine in leaves_for(Shape::MlDsaSign { set }) {
            let width = engine.offers(Shape::MlDsaSign { set }).unwrap().preferred;
            for count in 1..=(2 * width + 1).min(jobs.len()) {
                let made = sign(&engine, set, &jobs[..count]);
                for (at, (made, expected)) in made.iter().zip(&expected).enumerate() {
                    assert!(made == expected, "{set} {}: job {at} of {count}", leaf_name(&engine, set));
                }
            }
        }
    }
}

#[test]
fn keys_and_signatures_that_cannot_be_read_fail_alone() {
    for set in MlDsaSet::ALL {
        let good = pair(set, 0);
        let (mu, random) = (bytes(1, 64), [3; 32]);
        let short = |private| {
            let parts = LatticePrivateParts { set, private, public: Vec::new() };
            Key::local(KeyParts::MlDsaPrivate(parts), Fingerprint::new([9; 32]))
        };
        // A coefficient of s1 beyond eta.
        let mut beyond = bytes(2, set.expanded_len());
        beyond[128] = 0xFF;
        let bad = [
            short(LatticePrivate::Expanded(vec![7; 100].into())),
            short(LatticePrivate::Seed(vec![7; 31].into())),
            short(LatticePrivate::Expanded(beyond.into())),
        ];
        for engine in leaves_for(Shape::MlDsaSign { set }) {
            for bad in &bad {
                let jobs = [&good.private, bad, &good.private].map(|key| (key, &mu[..], &random));
                let answers = sign(&engine, set, &jobs);
                assert_eq!(answers[1], Err(Status::BadKey));
                assert!(answers[0].is_ok() && answers[0] == answers[2]);
            }
        }
        let scalar = ScalarEngine::detect().unwrap();
        let signature = sign(&scalar, set, &[(&good.private, &mu, &random)]).remove(0).unwrap();
        let short = Key::local(KeyParts::MlDsaPublic(set, vec![7; 100]), Fingerprint::new([9; 32]));
        for engine in leaves_for(Shape::MlDsaVerify { set }) {
            let jobs = [&good.public, &short, &good.public].map(|key| (key, &mu[..], &signature[..]));
            let answers = verify(&engine, set, &jobs);
            assert_eq!(answers, [Ok(Vec::new()), Err(Status::BadKey), Ok(Vec::new())]);
        }
    }
}
