//! SLH-DSA on every leaf beside the scalar engine: keys, signatures byte by byte, and verdicts of good and damaged
//! signatures under several keys in one batch.

use std::sync::atomic::AtomicBool;

use oarlock_core::*;
use oarlock_scalar::ScalarEngine;

use crate::common::{bytes, leaves_for, run_operations};

/// The sets that are fast enough to be signed with on every leaf: those of every hash function and length.
const FAST_SETS: [SlhDsaSet; 6] = [
    SlhDsaSet::Sha2_128f,
    SlhDsaSet::Sha2_192f,
    SlhDsaSet::Sha2_256f,
    SlhDsaSet::Shake128f,
    SlhDsaSet::Shake192f,
    SlhDsaSet::Shake256f,
];

struct Pair {
    private: Key,
    public: Key,
}

/// Makes the keys of a seed.
fn pair(scalar: &ScalarEngine, set: SlhDsaSet, seed: usize) -> Pair {
    let n = set.n();
    let mut private = bytes(seed, 4 * n);
    // The root is not known yet.
    private[3 * n..].fill(0);
    let key = |private: &[u8]| {
        Key::local(KeyParts::SlhDsaPrivate(set, private.to_vec().into()), Fingerprint::new([seed as u8; 32]))
    };
    let shape = Shape::SlhDsaKeygen { set };
    let unrooted = key(&private);
    let operation = Operation::new(shape, &unrooted, &[], SecondInput::None).unwrap();
    let public = run_operations(scalar, shape, &[operation]).remove(0).unwrap();
    private[3 * n..].copy_from_slice(&public[n..]);
    let public = Key::local(KeyParts::SlhDsaPublic(set, public), Fingerprint::new([seed as u8; 32]));
    Pair { private: key(&private), public }
}

fn sign(engine: &dyn Engine, set: SlhDsaSet, key: &Key, message: &[u8]) -> Result<Vec<u8>, Status> {
    let nonce = SecondInput::NonceInput(NonceInput::Hedged(&[0xA5; 32]));
    let shape = Shape::SlhDsaSign { set };
    run_operations(engine, shape, &[Operation::new(shape, key, message, nonce).unwrap()]).remove(0)
}

#[test]
fn keys_and_signatures_agree_with_scalar() {
    let scalar = ScalarEngine::detect().unwrap();
    for set in FAST_SETS {
        let keys = pair(&scalar, set, 1);
        let message = bytes(2, 100);
        let expected = sign(&scalar, set, &keys.private, &message);
        assert!(expected.is_ok());
        for engine in leaves_for(Shape::SlhDsaSign { set }) {
            let leaf = engine.leaf(Shape::SlhDsaSign { set }).unwrap().name;
            if leaf == "portable" && set.n() > 16 {
                continue;
            }
            assert!(sign(&engine, set, &keys.private, &message) == expected, "{leaf} {set}");
            let shape = Shape::SlhDsaKeygen { set };
            let operation = Operation::new(shape, &keys.private, &[], SecondInput::None).unwrap();
            let made = run_operations(&engine, shape, &[operation]).remove(0);
            assert_eq!(made.as_deref(), Ok(keys.public.slh_dsa_public().unwrap().1), "{leaf} {set}");
        }
    }
}

#[test]
fn verdicts_agree_with_scalar_for_every_number_of_jobs() {
    let scalar = ScalarEngine::detect().unwrap();
    for set in [SlhDsaSet::Sha2_128f, SlhDsaSet::Sha2_192f, SlhDsaSet::Shake128f] {
        let keys: Vec<_> = (0..3).map(|seed| pair(&scalar, set, seed)).collect();
        let messages: Vec<_> = (0..3).map(|at| bytes(at, 10 * at)).collect();
        let signatures: Vec<_> =
            (0..3).map(|at| sign(&scalar, set, &keys[at].private, &messages[at]).unwrap()).collect();
        let len = set.signature_len();
        let jobs: Vec<_> = (0..12)
            .map(|at| {
                let mut signature = signatures[at % 3].clone();
                match at / 3 {
                    0 => {}
                    // The randomizer, FORS, the lowest layer and the last path.
                    1 => signature[[0, set.n() + 5, len / 2][at % 3]] ^= 1,
                    2 => signature[len - 1] ^= 0x80,
                    _ => signature.rotate_left(1),
                }
                (&keys[at % 3].public, &messages[at % 3], signature)
            })
            .collect();
        let shape = Shape::SlhDsaVerify { set };
        let operations: Vec<_> = jobs
            .iter()
            .map(|(key, message, signature)| {
                Operation::new(shape, key, message, SecondInput::Signature(signature)).unwrap()
            })
            .collect();
        let expected = run_operations(&scalar, shape, &operations);
        assert!(expected[..3].iter().all(Result::is_ok) && expected[3..].iter().all(Result::is_err));
        for engine in leaves_for(shape) {
            let leaf = engine.leaf(shape).unwrap().name;
            let counts = if leaf == "portable" { 4..=4 } else { 1..=operations.len() };
            for count in counts {
                let verdicts = run_operations(&engine, shape, &operations[..count]);
                assert_eq!(verdicts, expected[..count], "{leaf} {set} {count}");
            }
        }
    }
}

#[test]
fn cancelled_operations_and_wrong_keys_make_no_signature() {
    let scalar = ScalarEngine::detect().unwrap();
    let set = SlhDsaSet::Sha2_128s;
    let shape = Shape::SlhDsaSign { set };
    // PK.root does not follow from the seeds.
    let wrong = Key::local(
        KeyParts::SlhDsaPrivate(SlhDsaSet::Sha2_128f, bytes(1, 64).into()),
        Fingerprint::new([1; 32]),
    );
    let slow = Key::local(KeyParts::SlhDsaPrivate(set, bytes(1, 64).into()), Fingerprint::new([1; 32]));
    let cancelled = AtomicBool::new(true);
    let nonce = SecondInput::NonceInput(NonceInput::Hedged(&[1; 32]));
    assert_eq!(sign(&scalar, SlhDsaSet::Sha2_128f, &wrong, b"m"), Err(Status::BadKey));
    for engine in leaves_for(shape) {
        let operation = Operation::new(shape, &slow, b"m", nonce).unwrap().until(&cancelled);
        assert_eq!(run_operations(&engine, shape, &[operation]), [Err(Status::Cancelled)]);
        assert_eq!(sign(&engine, SlhDsaSet::Sha2_128f, &wrong, b"m"), Err(Status::BadKey));
    }
}
