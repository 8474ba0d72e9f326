//! ML-KEM on every leaf beside the scalar engine: every number of jobs, keys that are shared and keys of their own, and
//! ciphertexts that are good, damaged, random or extreme.

use oarlock_core::*;
use oarlock_lanes::LaneEngine;
use oarlock_scalar::ScalarEngine;

use crate::common::{bytes, leaves_for, run_operations};

const SETS: [MlKemSet; 2] = [MlKemSet::MlKem768, MlKemSet::MlKem1024];

struct Pair {
    private: Key,
    public: Key,
}

/// Makes the keys of a seed. Every second private key is imported in expanded form.
fn pair(set: MlKemSet, seed: usize) -> Pair {
    let seed_bytes = bytes(1000 + seed, MlKemSet::SEED_LEN);
    let expanded =
        oarlock_engine_kit::lattice::ml_kem::expand(set, seed_bytes.as_slice().try_into().unwrap()).unwrap();
    let private = match seed % 2 {
        0 => LatticePrivate::Seed(seed_bytes.into()),
        _ => LatticePrivate::Expanded(expanded.private.to_vec().into()),
    };
    let parts = LatticePrivateParts { set, private, public: expanded.public.clone() };
    let key = |parts| Key::local(parts, Fingerprint::new([seed as u8; 32]));
    Pair {
        private: key(KeyParts::MlKemPrivate(parts)),
        public: key(KeyParts::MlKemPublic(set, expanded.public)),
    }
}

fn run(engine: &dyn Engine, shape: Shape, jobs: &[(&Key, &[u8])]) -> Vec<Result<Vec<u8>, Status>> {
    let operations: Vec<_> = jobs
        .iter()
        .map(|(key, input)| Operation::new(shape, key, input, SecondInput::None).unwrap())
        .collect();
    run_operations(engine, shape, &operations)
}

/// Returns a ciphertext for a key, which is damaged in many ways for most indices.
fn ciphertext(scalar: &ScalarEngine, set: MlKemSet, pair: &Pair, at: usize) -> Vec<u8> {
    let random = bytes(at, MlKemSet::RANDOM_LEN);
    let made = run(scalar, Shape::MlKemEncaps { set }, &[(&pair.public, &random)]).remove(0).unwrap();
    let mut ciphertext = made[..set.ciphertext_len()].to_vec();
    match at % 5 {
        0 | 1 => {}
        // One bit: the first, the last, and others between.
        2 => ciphertext[(at * 97) % set.ciphertext_len()] ^= 1 << (at % 8),
        3 => ciphertext = bytes(at, set.ciphertext_len()),
        _ => ciphertext.fill([0, 0xFF, 0x55, 0xAA][at / 5 % 4]),
    }
    ciphertext
}

fn check(engine: &LaneEngine, scalar: &ScalarEngine, set: MlKemSet, jobs: &[(&Key, &[u8])]) {
    let shape = Shape::MlKemDecaps { set };
    let (ours, theirs) = (run(engine, shape, jobs), run(scalar, shape, jobs));
    for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let leaf = engine.leaf(shape).unwrap().name;
        assert_eq!(ours, theirs, "{leaf} {set}: job {at} of {}", jobs.len());
    }
}

#[test]
fn secrets_agree_with_scalar_for_every_number_of_jobs() {
    let scalar = ScalarEngine::detect().unwrap();
    for set in SETS {
        let keys: Vec<_> = (0..7).map(|seed| pair(set, seed)).collect();
        let ciphertexts: Vec<_> =
            (0..100).map(|at| ciphertext(&scalar, set, &keys[at * at % 7], at)).collect();
        for engine in leaves_for(Shape::MlKemDecaps { set }) {
            let width = engine.offers(Shape::MlKemDecaps { set }).unwrap().preferred;
            let is_slow = engine.leaf(Shape::MlKemDecaps { set }).unwrap().name == "portable";
            let counts = if is_slow { vec![1, width + 1] } else { (1..=2 * width + 1).collect() };
            for count in counts {
                let all = || ciphertexts.iter().enumerate().take(count);
                let of_one: Vec<_> = all().map(|(_, text)| (&keys[0].private, &text[..])).collect();
                check(&engine, &scalar, set, &of_one);
                let of_many: Vec<_> =
                    all().map(|(at, text)| (&keys[at * at % 7].private, &text[..])).collect();
                check(&engine, &scalar, set, &of_many);
            }
        }
    }
}

#[test]
fn encapsulations_agree_with_scalar_for_every_number_of_jobs() {
    let scalar = ScalarEngine::detect().unwrap();
    for set in SETS {
        let shape = Shape::MlKemEncaps { set };
        let keys: Vec<_> = (0..100).map(|seed| pair(set, seed)).collect();
        let random: Vec<_> = (0..100).map(|at| bytes(at, MlKemSet::RANDOM_LEN)).collect();
        // Private keys encapsulate too, and several jobs have one key.
        let key = |at: usize| match at % 7 {
            5 => &keys[at].private,
            6 => &keys[0].public,
            _ => &keys[at].public,
        };
        let jobs: Vec<_> = random.iter().enumerate().map(|(at, random)| (key(at), &random[..])).collect();
        let expected = run(&scalar, shape, &jobs);
        for engine in leaves_for(shape) {
            let EngineLeaf { name, width, .. } = engine.leaf(shape).unwrap();
            let counts = if name == "portable" { vec![1, width + 1] } else { (1..=2 * width + 1).collect() };
            for count in counts {
                let made = run(&engine, shape, &jobs[..count]);
                for (at, (made, expected)) in made.iter().zip(&expected).enumerate() {
                    assert_eq!(made, expected, "{name} {set}: job {at} of {count}");
                }
            }
        }
    }
}

#[test]
fn a_key_that_cannot_be_read_fails_alone() {
    let scalar = ScalarEngine::detect().unwrap();
    for set in SETS {
        let good = pair(set, 0);
        let text = ciphertext(&scalar, set, &good, 0);
        let private = LatticePrivate::Expanded(vec![7; 100].into());
        let parts = LatticePrivateParts { set, private, public: Vec::new() };
        let short = Key::local(KeyParts::MlKemPrivate(parts), Fingerprint::new([9; 32]));
        for engine in leaves_for(Shape::MlKemDecaps { set }) {
            let jobs = [(&good.private, &text[..]), (&short, &text[..]), (&good.private, &text[..])];
            let answers = run(&engine, Shape::MlKemDecaps { set }, &jobs);
            assert_eq!(answers[1], Err(Status::BadKey));
            assert!(answers[0].is_ok() && answers[0] == answers[2]);
        }
        let short = Key::local(KeyParts::MlKemPublic(set, vec![7; 100]), Fingerprint::new([9; 32]));
        let random = bytes(1, MlKemSet::RANDOM_LEN);
        for engine in leaves_for(Shape::MlKemEncaps { set }) {
            let jobs = [(&good.public, &random[..]), (&short, &random), (&good.public, &random)];
            let answers = run(&engine, Shape::MlKemEncaps { set }, &jobs);
            assert_eq!(answers[1], Err(Status::BadKey));
            assert!(answers[0].is_ok() && answers[0] == answers[2]);
        }
    }
}

#[test]
fn generated_keys_agree_with_scalar_and_decapsulate() {
    let scalar = ScalarEngine::detect().unwrap();
    for set in SETS {
        let shape = Shape::MlKemKeygen { set };
        let seeds: Vec<_> = (0..70).map(|at| bytes(at, MlKemSet::SEED_LEN)).collect();
        // Handles of their own for every run, because an expanded key stays with its handle.
        let keys = |count: usize| -> Vec<Key> {
            let private = |seed: &Vec<u8>| LatticePrivate::Seed(seed.clone().into());
            let parts = |seed| LatticePrivateParts { set, private: private(seed), public: Vec::new() };
            let key = |seed| Key::local(KeyParts::MlKemPrivate(parts(seed)), Fingerprint::new([1; 32]));
            seeds[..count].iter().map(key).collect()
        };
        let of_scalar = keys(70);
        let jobs: Vec<_> = of_scalar.iter().map(|key| (key, &[][..])).collect();
        let expected = run(&scalar, shape, &jobs);
        let random = bytes(9, MlKemSet::RANDOM_LEN);
        for engine in leaves_for(shape) {
            let EngineLeaf { name, width, .. } = engine.leaf(shape).unwrap();
            let counts = if name == "portable" { vec![1, width + 1] } else { (1..=2 * width + 1).collect() };
            for count in counts {
                let keys = keys(count);
                let jobs: Vec<_> = keys.iter().map(|key| (key, &[][..])).collect();
                let made = run(&engine, shape, &jobs);
                for (at, (made, expected)) in made.iter().zip(&expected).enumerate() {
                    assert_eq!(made, expected, "{name} {set}: job {at} of {count}");
                }
                // The key that was kept decapsulates.
                let public = KeyParts::MlKemPublic(set, made[count - 1].clone().unwrap());
                let public = Key::local(public, Fingerprint::new([1; 32]));
                let encapsulated =
                    run(&scalar, Shape::MlKemEncaps { set }, &[(&public, &random)]).remove(0).unwrap();
                let (ciphertext, secret) = encapsulated.split_at(set.ciphertext_len());
                let jobs = [(&keys[count - 1], ciphertext), (&keys[0], ciphertext)];
                let secrets = run(&engine, Shape::MlKemDecaps { set }, &jobs);
                assert_eq!(secrets[0].as_deref(), Ok(secret));
                assert_eq!(secrets, run(&scalar, Shape::MlKemDecaps { set }, &jobs));
            }
        }
    }
}
