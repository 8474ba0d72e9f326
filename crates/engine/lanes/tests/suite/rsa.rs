//! Tests of RSA against the scalar engine on every leaf: every size, unequal primes, edges of the range.

use std::sync::atomic::{AtomicU8, Ordering};

use oarlock_core::*;
use oarlock_lanes::{LaneEngine, Leaf};
use oarlock_scalar::ScalarEngine;

struct TestKey {
    name: &'static str,
    parts: RsaPrivateParts,
    private: Key,
    public: Key,
}

/// Returns an engine with each leaf of this CPU that computes RSA, and none other.
fn engines() -> Vec<LaneEngine> {
    let shape = Shape::RsaPrivate { bits: 2048 };
    let engines = Leaf::ALL.iter().filter_map(|leaf| {
        let engine = LaneEngine::with_leaves(|allowed| allowed == *leaf);
        if engine.is_none() {
            eprintln!("SKIPPED: this processor has no leaf {}", leaf.name());
        }
        engine.filter(|engine| engine.offers(shape).is_some())
    });
    let engines: Vec<LaneEngine> = engines.collect();
    assert!(engines.len() >= 2 || cfg!(not(feature = "portable")), "both portable leaves");
    engines
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn local(parts: KeyParts) -> Key {
    static NEXT: AtomicU8 = AtomicU8::new(0);
    Key::local(parts, Fingerprint::new([NEXT.fetch_add(1, Ordering::Relaxed); 32]))
}

/// Keys with a prime longer than half their modulus, which the contract excludes.
const UNBALANCED: [&str; 2] = ["1024-unequal", "2048-q-larger"];

/// Returns the keys whose size the lane engine offers.
fn keys() -> Vec<TestKey> {
    let lines = include_str!("../../../scalar/tests/data/rsa-keys.txt").lines();
    let keys = lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(|line| {
        let mut fields = line.split_whitespace();
        let name = fields.next().unwrap();
        let [n, e, d, p, q, dp, dq, qinv] = std::array::from_fn(|_| hex(fields.next().unwrap()));
        let public = RsaPublicParts { n, e };
        let parts = RsaPrivateParts {
            public: public.clone(),
            d: d.into(),
            p: p.into(),
            q: q.into(),
            dp: dp.into(),
            dq: dq.into(),
            qinv: qinv.into(),
        };
        let private = local(KeyParts::RsaPrivate(parts.clone()));
        TestKey { name, private, public: local(KeyParts::RsaPublic(public)), parts }
    });
    let keys: Vec<TestKey> = keys.filter(|key| key.bits() <= 4096).collect();
    assert_eq!(keys.len(), 17);
    if cfg!(miri) { keys.into_iter().take(1).collect() } else { keys }
}

impl TestKey {
    fn bits(&self) -> u16 {
        self.parts.public.bits()
    }

    fn mod_exp(&self, exponent: &[u8], exponent_bits: u16) -> (Shape, Key) {
        let n = self.parts.public.n.clone();
        let parts = ModExpParts { n, exponent: exponent.into(), exponent_bits };
        (Shape::ModExp { bits: self.bits(), exponent_bits }, local(KeyParts::ModExp(parts)))
    }

    /// Returns 0, 1, 2, n - 1, n - 2, multiples of the primes, n, the largest number of its length, and others below
    /// n.
    fn inputs(&self) -> Vec<Vec<u8>> {
        let n = &self.parts.public.n;
        let small = |value: u8| [vec![0; n.len() - 1], vec![value]].concat();
        let less = |less: u8| [&n[..n.len() - 1], &[n[n.len() - 1] - less]].concat();
        let padded = |bytes: &[u8]| [&vec![0; n.len() - bytes.len()][..], bytes].concat();
        let primes = [padded(self.parts.p.expose()), padded(self.parts.q.expose())];
        let mut inputs = vec![small(0), small(1), small(2), less(1), n.clone(), vec![0xFF; n.len()]];
        inputs.extend(primes);
        inputs.extend((0..3).map(|seed| {
            let byte =
                |at: usize| (at as u8).wrapping_mul(167).wrapping_add(seed * 11).rotate_left(seed.into());
            let mut input: Vec<u8> = (0..n.len()).map(byte).collect();
            input[0] = 0;
            input
        }));
        inputs
    }
}

fn run(engine: &dyn Engine, shape: Shape, operations: &[Operation<'_>]) -> Outcomes {
    let jobs = Jobs::Operations(shape, operations);
    let mut out = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut out).unwrap();
    assert!(out.is_complete());
    out
}

fn assert_like_scalar(shape: Shape, operations: &[Operation<'_>], what: &str) {
    let expected = run(&ScalarEngine::detect().unwrap(), shape, operations);
    for engine in engines() {
        let found = run(&engine, shape, operations);
        assert_eq!(found.statuses(), expected.statuses(), "{what} {shape} {:?}", engine.leaf(shape));
        for at in 0..operations.len() {
            assert_eq!(
                found.result(at),
                expected.result(at),
                "{what} {shape} {:?} operation {at}",
                engine.leaf(shape)
            );
        }
    }
}

fn operations<'a>(shape: Shape, key: &'a Key, inputs: &'a [Vec<u8>]) -> Vec<Operation<'a>> {
    inputs.iter().map(|input| Operation::new(shape, key, input, SecondInput::None).unwrap()).collect()
}

#[test]
fn rsa_private_operations_agree_with_scalar() {
    for key in keys().into_iter().filter(|key| !UNBALANCED.contains(&key.name)) {
        let inputs = key.inputs();
        let shape = Shape::RsaPrivate { bits: key.bits() };
        assert_like_scalar(shape, &operations(shape, &key.private, &inputs), key.name);
    }
}

#[test]
fn rsa_public_operations_agree_with_scalar() {
    for key in keys() {
        let inputs = key.inputs();
        let shape = key.public.rsa_public_shape().unwrap();
        assert_like_scalar(shape, &operations(shape, &key.public, &inputs), key.name);
        assert_like_scalar(shape, &operations(shape, &key.private, &inputs), key.name);
    }
}

#[test]
fn plain_exponentiation_agrees_with_scalar() {
    for key in keys().into_iter().filter(|key| key.bits() <= 2049) {
        let inputs = key.inputs();
        for (exponent, bits) in [(&[3][..], 2), (&[3], 7), (&[1, 0, 1], 17), (&[0x81; 100], 800)] {
            let (shape, handle) = key.mod_exp(exponent, bits);
            assert_like_scalar(shape, &operations(shape, &handle, &inputs), key.name);
        }
        let (shape, handle) = key.mod_exp(key.parts.d.expose(), key.bits());
        assert_like_scalar(shape, &operations(shape, &handle, &inputs[..3]), key.name);
    }
}

#[test]
fn rejects_exponents_longer_than_their_bound() {
    let key = &keys()[0];
    let (shape, handle) = key.mod_exp(&[1, 0, 1], 16);
    let inputs = key.inputs();
    for engine in engines() {
        let out = run(&engine, shape, &operations(shape, &handle, &inputs[..1]));
        assert_eq!(out.statuses(), [Status::BadKey]);
    }
}

#[test]
fn rsa_jobs_of_different_keys_do_not_mix() {
    let is_meant = |key: &TestKey| key.bits() == 1024 && !UNBALANCED.contains(&key.name);
    let keys: Vec<TestKey> = keys().into_iter().filter(is_meant).collect();
    assert!(keys.len() > 1, "the test mixes keys");
    let inputs: Vec<Vec<Vec<u8>>> = keys.iter().map(TestKey::inputs).collect();
    let shape = Shape::RsaPrivate { bits: 1024 };
    let operations: Vec<Operation<'_>> = (0..40)
        .map(|at| {
            let (key, input) =
                (&keys[at % keys.len()].private, &inputs[at % keys.len()][at % inputs[0].len()]);
            Operation::new(shape, key, input, SecondInput::None).unwrap()
        })
        .collect();
    for count in [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 40] {
        assert_like_scalar(shape, &operations[..count], "mixed");
    }
}

#[test]
fn rejects_rsa_keys_whose_parts_do_not_match() {
    let keys = keys();
    let named = |name: &str| keys.iter().find(|key| key.name == name).unwrap();
    let (good, other) = (named("1024"), named("1024-e3"));
    let damaged: [fn(&mut RsaPrivateParts, &RsaPrivateParts); 4] = [
        |parts, other| parts.p = other.p.clone(),
        |parts, other| parts.q = other.q.clone(),
        |parts, _| parts.qinv = parts.p.clone(),
        |parts, other| parts.dp = other.public.n.clone().into(),
    ];
    let inputs = good.inputs();
    for damage in damaged {
        let mut parts = good.parts.clone();
        damage(&mut parts, &other.parts);
        let key = local(KeyParts::RsaPrivate(parts));
        let shape = Shape::RsaPrivate { bits: 1024 };
        for engine in engines() {
            let out = run(&engine, shape, &operations(shape, &key, &inputs[..1]));
            assert_eq!(out.statuses(), [Status::BadKey]);
        }
    }
}

#[test]
fn rejects_rsa_keys_with_a_prime_longer_than_half_the_modulus() {
    let unbalanced: Vec<_> = keys().into_iter().filter(|key| UNBALANCED.contains(&key.name)).collect();
    assert_eq!(unbalanced.len(), UNBALANCED.len());
    for key in unbalanced {
        let inputs = key.inputs();
        let shape = Shape::RsaPrivate { bits: key.bits() };
        for engine in engines() {
            let out = run(&engine, shape, &operations(shape, &key.private, &inputs[..1]));
            assert_eq!(out.statuses(), [Status::BadKey]);
        }
    }
}

#[test]
fn rejects_rsa_public_keys_with_a_bad_exponent_or_an_even_modulus() {
    let key = keys().into_iter().find(|key| key.name == "1024").unwrap();
    let inputs = key.inputs();
    let n = key.parts.public.n;
    let even = [&n[..n.len() - 1], &[n[n.len() - 1] - 1]].concat();
    for (n, e) in [(n.clone(), vec![4]), (n.clone(), vec![1]), (n, vec![4, 0, 0, 0, 1]), (even, vec![3])] {
        let bad = local(KeyParts::RsaPublic(RsaPublicParts { n, e }));
        let shape = bad.rsa_public_shape().unwrap();
        for engine in engines() {
            let out = run(&engine, shape, &operations(shape, &bad, &inputs[..1]));
            assert_eq!(out.statuses(), [Status::BadKey], "{shape}");
        }
    }
}
