//! ECDH against RFC 5903 and NIST CAVP, and peers that are not points of the curve.

use oarlock_core::*;

use crate::common::{self, hex, key, run, run_one};

/// A scalar, the point of a peer, and the secret.
struct Vector {
    curve: Curve,
    key: Key,
    peer: Vec<u8>,
    secret: Vec<u8>,
}

/// The lines of the self test's file, whose first three for each curve are published ones.
fn rows(tag: &str) -> Vec<Vec<&'static str>> {
    let file = include_str!("../../../../facade/oarlock/src/selftest/data/ecdh.txt");
    common::lines(file).filter(|fields| fields[0] == tag).collect()
}

fn ec_key(curve: Curve, scalar: &str) -> Key {
    // The engine takes the public point from the job and never from the key.
    key(KeyParts::EcPrivate(EcPrivateParts { curve, scalar: hex(scalar).into(), public: Vec::new() }))
}

fn vectors(curve: Curve) -> Vec<Vector> {
    let vector = |fields: &Vec<&str>| Vector {
        curve,
        key: ec_key(curve, fields[1]),
        peer: hex(fields[2]),
        secret: hex(fields[3]),
    };
    rows(&curve.to_string()).iter().map(vector).collect()
}

fn derive(vector: &Vector, peer: &[u8]) -> Result<Vec<u8>, Status> {
    run_one(Shape::Ecdh { curve: vector.curve }, &vector.key, peer, SecondInput::None)
}

#[test]
fn computes_the_vectors_of_rfc_5903_and_nist() {
    for curve in Curve::ALL {
        let vectors = vectors(curve);
        assert_eq!(vectors.len(), 11);
        for vector in vectors {
            assert_eq!(derive(&vector, &vector.peer).as_ref(), Ok(&vector.secret));
        }
    }
}

#[test]
fn a_peer_that_is_not_an_uncompressed_point_on_the_curve_is_out_of_range() {
    for curve in Curve::ALL {
        let rows = rows(&format!("{curve}-bad"));
        assert_eq!(rows.len(), 8);
        for fields in rows {
            let answer =
                run_one(Shape::Ecdh { curve }, &ec_key(curve, fields[1]), &hex(fields[2]), SecondInput::None);
            assert_eq!(answer, Err(Status::OutOfRange), "{}", fields[2]);
        }
    }
}

#[test]
fn every_changed_bit_of_a_point_is_noticed() {
    for curve in Curve::ALL {
        let vector = vectors(curve).remove(0);
        for bit in 0..8 * vector.peer.len() {
            let mut peer = vector.peer.clone();
            peer[bit / 8] ^= 1 << (bit % 8);
            // A point that differs in one bit is on the curve with negligible probability.
            assert_eq!(derive(&vector, &peer), Err(Status::OutOfRange), "{curve} bit {bit}");
        }
    }
}

#[test]
fn bad_points_in_a_batch_fail_alone_and_leave_no_result() {
    for curve in Curve::ALL {
        let (shape, vectors) = (Shape::Ecdh { curve }, vectors(curve));
        let bad = [vec![4], vec![0xff; 2 * curve.scalar_len()]].concat();
        let operations: Vec<Operation<'_>> = (0..30)
            .map(|at| {
                let vector = &vectors[at % vectors.len()];
                let peer = if at % 3 == 1 { &bad } else { &vector.peer };
                Operation::new(shape, &vector.key, peer, SecondInput::None).unwrap()
            })
            .collect();
        let out = run(shape, &operations);
        for at in 0..operations.len() {
            let secret = &vectors[at % vectors.len()].secret;
            let (status, result) = match at % 3 {
                1 => (Status::OutOfRange, vec![0; secret.len()]),
                _ => (Status::Done, secret.clone()),
            };
            assert_eq!((out.statuses()[at], out.result(at)), (status, &result[..]), "{curve} {at}");
        }
    }
}

#[test]
fn other_lengths_and_keys_of_another_curve_do_not_fit() {
    for curve in Curve::ALL {
        let vector = &vectors(curve)[0];
        for len in [0, 1, curve.scalar_len(), 1 + curve.scalar_len(), 2 * curve.scalar_len()] {
            assert_eq!(derive(vector, &vector.peer[..len]), Err(Status::BadLength), "{curve} {len}");
        }
        let other = if curve == Curve::P256 { Curve::P384 } else { Curve::P256 };
        let answer = run_one(Shape::Ecdh { curve: other }, &vector.key, &vector.peer, SecondInput::None);
        assert_eq!(answer, Err(Status::BadKey));
        let zero = ec_key(curve, &"00".repeat(curve.scalar_len()));
        let answer = run_one(Shape::Ecdh { curve }, &zero, &vector.peer, SecondInput::None);
        assert_eq!(answer, Err(Status::BadKey));
    }
}

/// One prepared key serves both: a key that has signed agrees, and the other way round.
#[test]
fn a_key_that_signs_agrees_too() {
    for curve in Curve::ALL {
        let vector = &vectors(curve)[0];
        let sign = || {
            let extra = SecondInput::NonceInput(NonceInput::Deterministic(DigestAlg::Sha256));
            let digest = vec![7; curve.scalar_len()];
            run_one(Shape::EcdsaSign { curve }, &vector.key, &digest, extra).unwrap()
        };
        let first = sign();
        assert_eq!(derive(vector, &vector.peer).as_ref(), Ok(&vector.secret));
        assert_eq!(sign(), first);
    }
}
