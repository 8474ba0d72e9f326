//! Ed25519 against RFC 8032 7.1 and X25519 against RFC 7748 5.2 and 6.1.

use oarlock_core::*;

use crate::common::{self, hex, key, lines, run, run_one};

fn ed_keys(seed: &str, public: &str) -> (Key, Key) {
    let public = hex(public).try_into().unwrap();
    let private = Ed25519PrivateParts { seed: hex(seed).into(), public };
    (key(KeyParts::Ed25519Private(private)), key(KeyParts::Ed25519Public(public)))
}

fn x_key(scalar: &[u8]) -> Key {
    key(KeyParts::X25519Private(X25519PrivateParts { scalar: scalar.into(), public: [0; 32] }))
}

fn derive(scalar: &[u8], peer: &[u8]) -> Vec<u8> {
    run_one(Shape::X25519, &x_key(scalar), peer, SecondInput::None).unwrap()
}

#[test]
fn signs_and_verifies_the_tests_of_rfc_8032() {
    let mut tests = 0;
    for fields in lines(include_str!("../data/ed25519-rfc8032.txt")) {
        let [_, seed, public, message, signature] = fields[..] else { panic!("five fields: {fields:?}") };
        let ((private, public), message, signature) =
            (ed_keys(seed, public), common::field(message), hex(signature));
        assert_eq!(run_one(Shape::Ed25519Sign, &private, &message, SecondInput::None).unwrap(), signature);
        for handle in [&private, &public] {
            let extra = SecondInput::Signature(&signature);
            assert_eq!(run_one(Shape::Ed25519Verify, handle, &message, extra), Ok(vec![]));
        }
        tests += 1;
    }
    assert_eq!(tests, 4);
}

#[test]
fn every_changed_bit_of_a_signature_is_rejected() {
    let fields = lines(include_str!("../data/ed25519-rfc8032.txt")).nth(2).unwrap();
    let (_, public) = ed_keys(fields[1], fields[2]);
    let (message, signature) = (hex(fields[3]), hex(fields[4]));
    let changed: Vec<Vec<u8>> = (0..512)
        .map(|bit| {
            let mut changed = signature.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            changed
        })
        .collect();
    let operations: Vec<Operation<'_>> = changed
        .iter()
        .map(|signature| {
            let extra = SecondInput::Signature(signature);
            Operation::new(Shape::Ed25519Verify, &public, &message, extra).unwrap()
        })
        .collect();
    assert!(
        run(Shape::Ed25519Verify, &operations).statuses().iter().all(|status| *status == Status::Rejected)
    );
}

/// S + L satisfies the group equation but must be rejected. RFC 8032 5.1.7 step 1.
#[test]
fn s_at_or_above_the_group_order_is_rejected() {
    let fields = lines(include_str!("../data/ed25519-rfc8032.txt")).next().unwrap();
    let (_, public) = ed_keys(fields[1], fields[2]);
    let mut signature = hex(fields[4]);
    let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let mut carry = 0;
    for (digit, addend) in signature[32..].iter_mut().zip(order) {
        let sum = u16::from(*digit) + u16::from(addend) + carry;
        *digit = sum as u8;
        carry = sum >> 8;
    }
    assert_eq!(
        run_one(Shape::Ed25519Verify, &public, &[], SecondInput::Signature(&signature)),
        Err(Status::Rejected)
    );
}

#[test]
fn a_public_key_off_the_curve_is_rejected() {
    let mut off_curve = [0; 32];
    off_curve[0] = 2;
    let public = key(KeyParts::Ed25519Public(off_curve));
    assert_eq!(
        run_one(Shape::Ed25519Verify, &public, b"x", SecondInput::Signature(&[0; 64])),
        Err(Status::Rejected)
    );
}

#[test]
fn computes_the_vectors_of_rfc_7748() {
    let vectors = [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        ),
    ];
    for (scalar, u, expected) in vectors {
        assert_eq!(derive(&hex(scalar), &hex(u)), hex(expected));
    }
}

#[test]
fn computes_the_key_exchange_of_rfc_7748() {
    let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
    let bob = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    let mut base = [0; 32];
    base[0] = 9;
    let (alice_public, bob_public) = (derive(&alice, &base), derive(&bob, &base));
    // The top bit of a coordinate is ignored, and such an encoding of the base point takes the other path.
    let mut other_base = base;
    other_base[31] = 0x80;
    assert_eq!(derive(&alice, &other_base), alice_public);
    assert_eq!(alice_public, hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"));
    assert_eq!(bob_public, hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"));
    let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    assert_eq!((derive(&alice, &bob_public), derive(&bob, &alice_public)), (shared.clone(), shared));
}

#[test]
fn computes_the_iterations_of_rfc_7748() {
    let mut k = vec![0; 32];
    k[0] = 9;
    let mut u = k.clone();
    for round in 1..=1000 {
        (k, u) = (derive(&k, &u), k);
        if round == 1 {
            assert_eq!(k, hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
        }
    }
    assert_eq!(k, hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
}

#[test]
fn x25519_with_a_point_of_small_order_gives_zeros() {
    let mut one = vec![0; 32];
    for first in [0, 1] {
        one[0] = first;
        assert_eq!(derive(&[0x77; 32], &one), [0; 32]);
    }
}
