//! Ed25519 against RFC 8032 7.1 and X25519 against RFC 7748 5.2 and 6.1, on every leaf.

use oarlock_core::*;
use oarlock_lanes::{LaneEngine, Leaf};

use crate::common::leaves_for;

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn array(text: &str) -> [u8; 32] {
    hex(text).try_into().unwrap()
}

fn key(parts: KeyParts) -> Key {
    Key::local(parts, Fingerprint::new([0; 32]))
}

/// Returns every leaf of this machine that computes on this curve, without and with tables.
fn leaves() -> impl Iterator<Item = LaneEngine> {
    let all = || leaves_for(Shape::Ed25519Verify);
    all().chain(all().map(LaneEngine::with_tables_at_once))
}

fn run_one(
    engine: &LaneEngine,
    shape: Shape,
    key: &Key,
    input: &[u8],
    extra: SecondInput<'_>,
) -> Result<Vec<u8>, Status> {
    let operations = [Operation::new(shape, key, input, extra).unwrap()];
    let jobs = Jobs::Operations(shape, &operations);
    let mut out = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut out).unwrap();
    match out.statuses()[0] {
        Status::Done => Ok(out.result(0).to_vec()),
        status => Err(status),
    }
}

fn derive(engine: &LaneEngine, scalar: &[u8], peer: &[u8]) -> Vec<u8> {
    let parts = X25519PrivateParts { scalar: scalar.into(), public: [0; 32] };
    run_one(engine, Shape::X25519, &key(KeyParts::X25519Private(parts)), peer, SecondInput::None).unwrap()
}

/// Returns name, seed, public key, message (`-` if empty) and signature of each test.
fn rfc_8032() -> impl Iterator<Item = [&'static str; 5]> {
    let lines = include_str!("../../../scalar/tests/data/ed25519-rfc8032.txt").lines();
    lines.filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.try_into().unwrap()
    })
}

#[test]
fn signs_and_verifies_the_tests_of_rfc_8032() {
    for engine in leaves() {
        for [_, seed, public, message, signature] in rfc_8032() {
            let public = array(public);
            let private = Ed25519PrivateParts { seed: hex(seed).into(), public };
            let private = key(KeyParts::Ed25519Private(private));
            let (message, signature) = (if message == "-" { vec![] } else { hex(message) }, hex(signature));
            assert_eq!(
                run_one(&engine, Shape::Ed25519Sign, &private, &message, SecondInput::None).unwrap(),
                signature
            );
            for handle in [private, key(KeyParts::Ed25519Public(public))] {
                let extra = SecondInput::Signature(&signature);
                assert_eq!(run_one(&engine, Shape::Ed25519Verify, &handle, &message, extra), Ok(vec![]));
            }
        }
    }
    assert_eq!(rfc_8032().count(), 4);
}

#[test]
fn every_changed_bit_of_a_signature_is_rejected() {
    let [_, _, public, message, signature] = rfc_8032().nth(2).unwrap();
    let public = key(KeyParts::Ed25519Public(array(public)));
    let (message, signature) = (hex(message), hex(signature));
    let changed: Vec<Vec<u8>> = (0..512)
        .map(|bit| {
            let mut changed = signature.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            changed
        })
        .collect();
    for engine in leaves() {
        for changed in changed.chunks(64) {
            let job = |signature| {
                let extra = SecondInput::Signature(signature);
                Operation::new(Shape::Ed25519Verify, &public, &message, extra).unwrap()
            };
            let operations: Vec<Operation<'_>> = changed.iter().map(|signature| job(signature)).collect();
            let jobs = Jobs::Operations(Shape::Ed25519Verify, &operations);
            let mut out = Outcomes::for_jobs(&jobs);
            engine.run(&jobs, &mut out).unwrap();
            assert!(out.statuses().iter().all(|status| *status == Status::Rejected));
        }
    }
}

/// Runs the two vectors of RFC 7748 5.2, the second with the topmost bit of u set.
#[test]
fn computes_the_vectors_of_rfc_7748() {
    let vectors = [
        [
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ],
        [
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        ],
    ];
    for engine in leaves() {
        for [scalar, peer, result] in vectors {
            assert_eq!(derive(&engine, &hex(scalar), &hex(peer)), hex(result));
        }
    }
}

/// Feeds k and u back a thousand times, as RFC 7748 5.2 does. X25519 uses no verification tables.
#[test]
fn computes_the_iterations_of_rfc_7748() {
    let mut base = [0; 32];
    base[0] = 9;
    for engine in leaves_for(Shape::X25519) {
        let (mut scalar, mut peer) = (base.to_vec(), base.to_vec());
        let mut step = || {
            let result = derive(&engine, &scalar, &peer);
            peer = std::mem::replace(&mut scalar, result);
            scalar.clone()
        };
        assert_eq!(step(), hex("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
        let last = (1..1000).map(|_| step()).last().unwrap();
        assert_eq!(last, hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
    }
}

/// Computes the public keys of RFC 7748 6.1 with the base point's comb, and the shared secret.
#[test]
fn computes_the_key_exchange_of_rfc_7748() {
    let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
    let bob = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
    let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    let mut base = [0; 32];
    base[0] = 9;
    for engine in leaves() {
        let of_alice = derive(&engine, &alice, &base);
        assert_eq!(of_alice, hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"));
        let of_bob = derive(&engine, &bob, &base);
        assert_eq!(of_bob, hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"));
        assert_eq!(derive(&engine, &alice, &of_bob), shared);
        assert_eq!(derive(&engine, &bob, &of_alice), shared);
    }
}

#[test]
fn without_secrets_the_leaf_of_doubles_only_verifies() {
    let Some(engine) = LaneEngine::of_leaf(Leaf::Fma) else {
        eprintln!("SKIPPED: this processor has no AVX2 with FMA");
        return;
    };
    let (p256, p384) = (Curve::P256, Curve::P384);
    let secret = [Shape::Ed25519Sign, Shape::X25519, Shape::EcdsaSign { curve: p256 }];
    let public = [Shape::Ed25519Verify, Shape::EcdsaVerify { curve: p256 }];
    let offers = |engine: &LaneEngine, shape: &Shape| engine.offers(*shape).is_some();
    assert!(secret.iter().chain(&public).all(|shape| offers(&engine, shape)));
    assert!(
        !offers(&engine, &Shape::EcdsaSign { curve: p384 })
            && !offers(&engine, &Shape::EcdsaVerify { curve: p384 })
    );
    let engine = engine.without_secrets_on_fma();
    assert!(public.iter().all(|shape| offers(&engine, shape)));
    assert!(!secret.iter().any(|shape| offers(&engine, shape)));
}
