//! Tests of Ed25519 and X25519 with unusual encodings. The scalar engine decides the expected results.

use oarlock_core::*;
use oarlock_scalar::ScalarEngine;

use crate::common::verifiers;

/// The y of points of order 1, 2, 4, 8 and 8, and values not below p that are congruent to some of them. Each is
/// used with both signs.
const SMALL_ORDER: [&str; 8] = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

/// The u of small order, at and above p, of the twist, of the base point, and the base point in another encoding.
const PEERS: [&str; 12] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0200000000000000000000000000000000000000000000000000000000000000",
    "0900000000000000000000000000000000000000000000000000000000000000",
    "f6ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
];

/// The order L of the base point.
const ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

fn hex(text: &str) -> [u8; 32] {
    std::array::from_fn(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
}

/// Returns each encoding with the topmost bit clear and set.
fn with_both_signs(encodings: &[&str]) -> Vec<[u8; 32]> {
    let both = |text: &&str| {
        [0, 0x80].map(|sign| {
            let mut bytes = hex(text);
            bytes[31] |= sign;
            bytes
        })
    };
    encodings.iter().flat_map(both).collect()
}

fn key(parts: KeyParts, name: usize) -> Key {
    let mut fingerprint = [0; 32];
    fingerprint[..8].copy_from_slice(&name.to_le_bytes());
    Key::local(parts, Fingerprint::new(fingerprint))
}

/// Returns statuses and results of all operations, in runs of the engine's maximum size.
fn run(engine: &dyn Engine, shape: Shape, operations: &[Operation<'_>]) -> Vec<(Status, Vec<u8>)> {
    let max = engine.offers(shape).unwrap().max;
    let mut all = Vec::new();
    for operations in operations.chunks(max) {
        let jobs = Jobs::Operations(shape, operations);
        let mut out = Outcomes::for_jobs(&jobs);
        engine.run(&jobs, &mut out).unwrap();
        all.extend((0..operations.len()).map(|at| (out.statuses()[at], out.result(at).to_vec())));
    }
    all
}

#[track_caller]
fn agree(shape: Shape, operations: &[Operation<'_>]) -> Vec<(Status, Vec<u8>)> {
    let expected = run(&ScalarEngine::detect().unwrap(), shape, operations);
    for engine in verifiers(shape) {
        for (at, found) in run(&*engine, shape, operations).into_iter().enumerate() {
            assert_eq!(found, expected[at], "job {at} of {shape} on {engine:?}");
        }
    }
    expected
}

/// S = 0 makes R the opposite of [h]A. With A of small order this is one of eight points, and unusual encodings of
/// it are not R.
#[test]
fn ed25519_agrees_with_scalar_for_keys_and_commitments_of_small_order() {
    let encodings = with_both_signs(&SMALL_ORDER);
    let keys: Vec<Key> =
        encodings.iter().enumerate().map(|(at, bytes)| key(KeyParts::Ed25519Public(*bytes), at)).collect();
    let signatures: Vec<Vec<u8>> = encodings.iter().map(|bytes| [*bytes, [0; 32]].concat()).collect();
    let messages: [[u8; 3]; 4] = std::array::from_fn(|at| [at as u8; 3]);
    let mut operations = Vec::new();
    for key in &keys {
        for signature in &signatures {
            let extra = SecondInput::Signature(signature);
            let jobs =
                messages.iter().map(|input| Operation::new(Shape::Ed25519Verify, key, input, extra).unwrap());
            operations.extend(jobs);
        }
    }
    let verdicts = agree(Shape::Ed25519Verify, &operations);
    assert!(verdicts.iter().any(|(status, _)| *status == Status::Done));
    assert!(verdicts.iter().any(|(status, _)| *status == Status::Rejected));
}

/// Tests S at its bounds under the neutral key, for which [S]B is R for any h.
#[test]
fn ed25519_accepts_responses_below_the_order_only() {
    let neutral = key(KeyParts::Ed25519Public(hex(SMALL_ORDER[0])), 0);
    let neighbours = [-1_i16, 0, 1].map(|difference| {
        let mut response = hex(ORDER);
        response[0] = (i16::from(response[0]) + difference) as u8;
        response
    });
    let others = [[0; 32], [0xFF; 32], hex(SMALL_ORDER[1])];
    let base = hex("5866666666666666666666666666666666666666666666666666666666666666");
    let mut opposite = base;
    opposite[31] |= 0x80;
    let signatures: Vec<Vec<u8>> = neighbours
        .into_iter()
        .chain(others)
        .flat_map(|response| [base, opposite, hex(SMALL_ORDER[0])].map(|r| [r, response].concat()))
        .collect();
    let operations: Vec<Operation<'_>> = signatures
        .iter()
        .map(|signature| {
            let extra = SecondInput::Signature(signature);
            Operation::new(Shape::Ed25519Verify, &neutral, b"any", extra).unwrap()
        })
        .collect();
    let verdicts = agree(Shape::Ed25519Verify, &operations);
    // [L - 1]B is the opposite of B, and [0]B is neutral; every other S is rejected.
    assert_eq!(verdicts.iter().filter(|(status, _)| *status == Status::Done).count(), 2);
}

#[test]
fn x25519_agrees_with_scalar_for_unusual_peers() {
    let peers = with_both_signs(&PEERS);
    let scalars =
        [[0; 32], [0xFF; 32], [0x55; 32], hex(ORDER), hex(PEERS[11]), std::array::from_fn(|at| at as u8)];
    let keys: Vec<Key> = scalars
        .iter()
        .enumerate()
        .map(|(at, scalar)| {
            let parts = X25519PrivateParts { scalar: scalar.as_slice().into(), public: [0; 32] };
            key(KeyParts::X25519Private(parts), at)
        })
        .collect();
    let operations: Vec<Operation<'_>> = peers
        .iter()
        .flat_map(|input| {
            keys.iter().map(move |key| Operation::new(Shape::X25519, key, input, SecondInput::None).unwrap())
        })
        .collect();
    let results = agree(Shape::X25519, &operations);
    assert!(results.iter().any(|(_, result)| *result == [0; 32]));
}
