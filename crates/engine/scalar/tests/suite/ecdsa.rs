//! Tests of ECDSA: RFC 6979 A.2.5 and A.2.6, and the edges of r and s.

use oarlock_core::*;

use crate::common::{hex, key, lines, run, run_one};

struct Vector {
    curve: Curve,
    alg: DigestAlg,
    private: Key,
    public: Key,
    digest: Vec<u8>,
    signature: Vec<u8>,
}

fn vectors() -> Vec<Vector> {
    lines(include_str!("../data/rfc6979.txt"))
        .map(|fields| {
            let [curve, scalar, public, _, alg, digest, signature] = fields[..] else {
                panic!("seven fields: {fields:?}")
            };
            let curve = Curve::ALL.into_iter().find(|known| known.to_string() == curve).unwrap();
            let (scalar, public) = (hex(scalar), hex(public));
            Vector {
                curve,
                alg: DigestAlg::ALL.into_iter().find(|known| known.to_string() == alg).unwrap(),
                private: key(KeyParts::EcPrivate(EcPrivateParts {
                    curve,
                    scalar: scalar.into(),
                    public: public.clone(),
                })),
                public: key(KeyParts::EcPublic(curve, public)),
                digest: hex(digest),
                signature: hex(signature),
            }
        })
        .collect()
}

fn verify(vector: &Vector, digest: &[u8], signature: &[u8]) -> Result<Vec<u8>, Status> {
    let shape = Shape::EcdsaVerify { curve: vector.curve };
    run_one(shape, &vector.public, digest, SecondInput::Signature(signature))
}

/// Returns the order of the curve's group.
fn order(curve: Curve) -> Vec<u8> {
    hex(match curve {
        Curve::P256 => "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        Curve::P384 => {
            "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973"
        }
        _ => panic!("no order for {curve}"),
    })
}

#[test]
fn signs_the_vectors_of_rfc_6979() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 20);
    for vector in vectors {
        let shape = Shape::EcdsaSign { curve: vector.curve };
        let extra = SecondInput::NonceInput(NonceInput::Deterministic(vector.alg));
        let signature = run_one(shape, &vector.private, &vector.digest, extra).unwrap();
        assert_eq!(signature, vector.signature, "{} {}", vector.curve, vector.alg);
        assert_eq!(verify(&vector, &vector.digest, &signature), Ok(vec![]));
    }
}

/// A digest at or past the order is reduced before it enters the generator (RFC 6979 2.3.4). So digests that are
/// equal modulo the order have the same signature.
#[test]
fn digests_past_the_order_are_reduced() {
    for vector in vectors() {
        let order = order(vector.curve);
        let mut past = order.clone();
        *past.last_mut().unwrap() += 5;
        let mut reduced = vec![0; order.len()];
        *reduced.last_mut().unwrap() = 5;
        let shape = Shape::EcdsaSign { curve: vector.curve };
        let extra = SecondInput::NonceInput(NonceInput::Deterministic(vector.alg));
        let sign = |digest: &[u8]| run_one(shape, &vector.private, digest, extra).unwrap();
        assert_eq!(sign(&past), sign(&reduced));
        assert_eq!(verify(&vector, &past, &sign(&past)), Ok(vec![]));
    }
}

#[test]
fn hedged_signatures_differ_each_time_and_verify() {
    for vector in vectors() {
        let shape = Shape::EcdsaSign { curve: vector.curve };
        let extra = SecondInput::NonceInput(NonceInput::Hedged(&[7; 32]));
        let sign = || run_one(shape, &vector.private, &vector.digest, extra).unwrap();
        let (first, second) = (sign(), sign());
        assert_ne!(first[..first.len() / 2], second[..second.len() / 2]);
        for signature in [first, second] {
            assert_eq!(verify(&vector, &vector.digest, &signature), Ok(vec![]));
        }
    }
}

#[test]
fn a_signature_without_a_nonce_rule_is_malformed() {
    let vector = &vectors()[0];
    let shape = Shape::EcdsaSign { curve: vector.curve };
    assert_eq!(run_one(shape, &vector.private, &vector.digest, SecondInput::None), Err(Status::Malformed));
}

#[test]
fn rejects_signatures_with_r_or_s_out_of_range() {
    for vector in vectors() {
        let width = vector.curve.scalar_len();
        let order = order(vector.curve);
        for bad in [vec![0; width], order, vec![0xff; width]] {
            let (r, s) = vector.signature.split_at(width);
            for signature in [[&bad, s].concat(), [r, &bad].concat(), [bad.clone(), bad.clone()].concat()] {
                assert_eq!(verify(&vector, &vector.digest, &signature), Err(Status::Rejected));
            }
        }
    }
}

/// The predicate accepts high and low s alike: s and n - s are both signatures.
#[test]
fn accepts_the_opposite_s_of_a_signature() {
    for vector in vectors() {
        let width = vector.curve.scalar_len();
        let mut other = vector.signature.clone();
        let mut borrow = 0_i16;
        for (digit, order) in other[width..].iter_mut().rev().zip(order(vector.curve).iter().rev()) {
            let difference = i16::from(*order) - i16::from(*digit) + borrow;
            *digit = difference as u8;
            borrow = difference >> 8;
        }
        assert_ne!(other, vector.signature);
        assert_eq!(verify(&vector, &vector.digest, &other), Ok(vec![]));
    }
}

#[test]
fn changed_digests_and_signatures_are_rejected() {
    let vectors = vectors();
    for vector in [&vectors[1], &vectors[10]] {
        let changed: Vec<(Vec<u8>, Vec<u8>)> = (0..vector.digest.len())
            .map(|index| {
                let mut digest = vector.digest.clone();
                digest[index] ^= 1;
                (digest, vector.signature.clone())
            })
            .chain((0..vector.signature.len()).map(|index| {
                let mut signature = vector.signature.clone();
                signature[index] ^= 0x80;
                (vector.digest.clone(), signature)
            }))
            .collect();
        let shape = Shape::EcdsaVerify { curve: vector.curve };
        let operations: Vec<Operation<'_>> = changed
            .iter()
            .map(|(digest, signature)| {
                Operation::new(shape, &vector.public, digest, SecondInput::Signature(signature)).unwrap()
            })
            .collect();
        let out = run(shape, &operations);
        assert!(out.statuses().iter().all(|status| *status == Status::Rejected));
    }
}

#[test]
fn rejects_ecdsa_keys_out_of_range_and_off_the_curve() {
    for curve in Curve::ALL {
        let width = curve.scalar_len();
        for scalar in [vec![0; width], order(curve)] {
            let parts = EcPrivateParts { curve, scalar: scalar.into(), public: vec![4; 2 * width + 1] };
            let extra = SecondInput::NonceInput(NonceInput::Deterministic(DigestAlg::Sha256));
            let private = key(KeyParts::EcPrivate(parts));
            let answer = run_one(Shape::EcdsaSign { curve }, &private, &vec![1; width], extra);
            assert_eq!(answer, Err(Status::BadKey));
        }
        let public = key(KeyParts::EcPublic(curve, vec![4; 2 * width + 1]));
        let signature = vec![1; 2 * width];
        let answer = run_one(
            Shape::EcdsaVerify { curve },
            &public,
            &vec![1; width],
            SecondInput::Signature(&signature),
        );
        assert_eq!(answer, Err(Status::BadKey));
    }
}
