//! SLH-DSA: good and bad jobs side by side, cancelled ones, and keys whose parts do not belong together.

use std::sync::atomic::AtomicBool;

use oarlock_core::*;

use crate::common::{key, run, run_one};

const SET: SlhDsaSet = SlhDsaSet::Sha2_128f;
const KEYGEN: Shape = Shape::SlhDsaKeygen { set: SET };
const SIGN: Shape = Shape::SlhDsaSign { set: SET };
const VERIFY: Shape = Shape::SlhDsaVerify { set: SET };
const HEDGED: SecondInput<'_> = SecondInput::NonceInput(NonceInput::Hedged(&[9; 32]));

/// A private key whose seeds are one byte, repeated. `root` is appended.
fn private(byte: u8, root: &[u8]) -> Key {
    key(KeyParts::SlhDsaPrivate(SET, [&vec![byte; 3 * SET.n()][..], root].concat().into()))
}

/// A private key with its root.
fn whole(byte: u8) -> Key {
    let public = run_one(KEYGEN, &private(byte, &[0; 16]), &[], SecondInput::None).unwrap();
    assert_eq!(public[..16], [byte; 16]);
    private(byte, &public[16..])
}

#[test]
fn good_and_bad_signatures_of_one_batch_get_their_own_verdicts() {
    let keys = [1, 2].map(whole);
    let signatures = keys.each_ref().map(|key| run_one(SIGN, key, b"message", HEDGED).unwrap());
    let mut changed = signatures[0].clone();
    changed[SET.signature_len() / 2] ^= 1;
    let operation = |key, message, signature| {
        Operation::new(VERIFY, key, message, SecondInput::Signature(signature)).unwrap()
    };
    let operations = [
        operation(&keys[0], b"message", &signatures[0]),
        operation(&keys[1], b"message", &signatures[0]),
        operation(&keys[1], b"message", &signatures[1]),
        operation(&keys[0], b"another", &signatures[0]),
        operation(&keys[0], b"message", &changed),
    ];
    let (done, rejected) = (Status::Done, Status::Rejected);
    assert_eq!(run(VERIFY, &operations).statuses(), [done, rejected, done, rejected, rejected]);
}

#[test]
fn the_nonce_decides_about_a_signature_in_its_first_n_bytes() {
    let key = whole(3);
    let sign = |nonce: [u8; 32]| {
        run_one(SIGN, &key, b"message", SecondInput::NonceInput(NonceInput::Hedged(&nonce))).unwrap()
    };
    let mut behind = [0; 32];
    behind[16..].fill(7);
    assert_eq!(sign([0; 32]), sign(behind));
    assert_ne!(sign([0; 32]), sign([1; 32]));
}

#[test]
fn a_cancelled_job_ends_without_a_result() {
    let key = whole(4);
    let cancelled = AtomicBool::new(true);
    for (shape, input, extra) in [(SIGN, &b"message"[..], HEDGED), (KEYGEN, &[][..], SecondInput::None)] {
        let operation = Operation::new(shape, &key, input, extra).unwrap().until(&cancelled);
        let outcomes = run(shape, &[operation]);
        assert_eq!(outcomes.statuses(), [Status::Cancelled]);
        assert!(outcomes.result(0).iter().all(|byte| *byte == 0));
    }
}

#[test]
fn a_key_of_other_parts_makes_no_signature() {
    let bad_key = Err(Status::BadKey);
    assert_eq!(run_one(SIGN, &private(5, &[0; 16]), b"message", HEDGED), bad_key);
    for root in [&[][..], &[0; 15], &[0; 17]] {
        let key = private(5, root);
        assert_eq!(run_one(SIGN, &key, b"message", HEDGED), bad_key);
        assert_eq!(run_one(KEYGEN, &key, &[], SecondInput::None), bad_key);
        let signature = vec![0; SET.signature_len()];
        assert_eq!(run_one(VERIFY, &key, b"message", SecondInput::Signature(&signature)), bad_key);
    }
    // Without a nonce nothing says what opt_rand is.
    assert_eq!(run_one(SIGN, &whole(6), b"message", SecondInput::None), Err(Status::Malformed));
}

#[test]
fn a_signature_of_another_set_or_length_does_not_become_an_operation() {
    let key = whole(7);
    let signature = vec![0; SET.signature_len() + 1];
    for wrong in [&signature[..], &signature[2..], &[]] {
        let answer = run_one(VERIFY, &key, b"message", SecondInput::Signature(wrong));
        assert_eq!(answer, Err(Status::BadLength));
    }
    // SHAKE-128f has signatures of the same length.
    let shake = Shape::SlhDsaVerify { set: SlhDsaSet::Shake128f };
    let answer = run_one(shake, &key, b"message", SecondInput::Signature(&signature[1..]));
    assert_eq!(answer, Err(Status::BadKey));
}
