//! Tests of RSA: the private and the public operation undo each other for every size, exponent and edge.

use oarlock_core::*;

use crate::common::{self, hex, key, lines, run, run_one};

struct TestKey {
    name: &'static str,
    parts: RsaPrivateParts,
    private: Key,
    public: Key,
}

fn keys() -> Vec<TestKey> {
    lines(include_str!("../data/rsa-keys.txt"))
        .map(|fields| {
            let [n, e, d, p, q, dp, dq, qinv] = std::array::from_fn(|i| hex(fields[i + 1]));
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
            TestKey {
                name: fields[0],
                private: key(KeyParts::RsaPrivate(parts.clone())),
                public: key(KeyParts::RsaPublic(public)),
                parts,
            }
        })
        .collect()
}

fn named(name: &str) -> TestKey {
    keys().into_iter().find(|key| key.name == name).unwrap()
}

fn private_shape(key: &TestKey) -> Shape {
    Shape::RsaPrivate { bits: key.parts.public.bits() }
}

fn public_shape(key: &TestKey) -> Shape {
    key.public.rsa_public_shape().unwrap()
}

/// Returns an input below n: different bytes, with a first byte of zero.
fn input(n: &[u8], seed: u8) -> Vec<u8> {
    let mut input: Vec<u8> = (0..n.len()).map(|i| (i as u8).wrapping_mul(167).wrapping_add(seed)).collect();
    input[0] = 0;
    input
}

fn minus(n: &[u8], less: u8) -> Vec<u8> {
    let mut value = n.to_vec();
    *value.last_mut().unwrap() -= less;
    value
}

#[test]
fn rsa_private_and_public_operations_undo_each_other() {
    let keys = keys();
    assert_eq!(keys.len(), 18);
    for key in &keys {
        let input = input(&key.parts.public.n, 5);
        let signed = run_one(private_shape(key), &key.private, &input, SecondInput::None).unwrap();
        assert_ne!(signed, input, "{}", key.name);
        assert_eq!(
            run_one(public_shape(key), &key.public, &signed, SecondInput::None).unwrap(),
            input,
            "{}",
            key.name
        );
        let own_half = run_one(public_shape(key), &key.private, &signed, SecondInput::None).unwrap();
        assert_eq!(own_half, input, "{}: the public half of a private key", key.name);
    }
}

#[test]
fn plain_exponentiation_agrees_with_the_chinese_remainder_theorem() {
    for key in keys() {
        let bits = key.parts.public.bits();
        let shape = Shape::ModExp { bits, exponent_bits: bits };
        let parts =
            ModExpParts { n: key.parts.public.n.clone(), exponent: key.parts.d.clone(), exponent_bits: bits };
        let plain = common::key(KeyParts::ModExp(parts));
        for input in
            [input(&key.parts.public.n, 9), minus(&key.parts.public.n, 1), minus(&key.parts.public.n, 2)]
        {
            let crt = run_one(private_shape(&key), &key.private, &input, SecondInput::None).unwrap();
            assert_eq!(run_one(shape, &plain, &input, SecondInput::None).unwrap(), crt, "{}", key.name);
        }
    }
}

#[test]
fn short_exponents_take_their_own_bound() {
    let key = named("1024");
    for (exponent, exponent_bits) in [(vec![3], 2), (vec![3], 7), (vec![1, 0, 1], 17), (vec![1, 0, 1], 1024)]
    {
        let shape = Shape::ModExp { bits: 1024, exponent_bits };
        let n = key.parts.public.n.clone();
        let parts = ModExpParts { n: n.clone(), exponent: exponent.clone().into(), exponent_bits };
        let public = common::key(KeyParts::RsaPublic(RsaPublicParts { n: n.clone(), e: exponent }));
        let expected =
            run_one(public.rsa_public_shape().unwrap(), &public, &input(&n, 1), SecondInput::None).unwrap();
        let secret = common::key(KeyParts::ModExp(parts));
        assert_eq!(run_one(shape, &secret, &input(&n, 1), SecondInput::None).unwrap(), expected);
    }
}

/// Exponents like those of threshold shares: x to the 2^1025 is x to the 2^512 twice, squared.
#[test]
fn exponents_may_be_longer_than_the_modulus() {
    let n = named("1024").parts.public.n;
    let power = |input: &[u8], log: usize, exponent_bits| {
        let mut exponent = vec![0; log / 8 + 1];
        exponent[0] = 1 << (log % 8);
        let parts = ModExpParts { n: n.clone(), exponent: exponent.into(), exponent_bits };
        let shape = Shape::ModExp { bits: 1024, exponent_bits };
        run_one(shape, &key(KeyParts::ModExp(parts)), input, SecondInput::None).unwrap()
    };
    let input = input(&n, 7);
    let expected = power(&power(&power(&input, 512, 513), 512, 1024), 1, 2);
    for exponent_bits in [1026, 3000, 16_384] {
        assert_eq!(power(&input, 1025, exponent_bits), expected, "{exponent_bits}");
    }
}

#[test]
fn an_exponent_past_its_bound_is_a_bad_key() {
    let n = named("1024").parts.public.n;
    let parts = ModExpParts { n: n.clone(), exponent: vec![1, 0, 1].into(), exponent_bits: 16 };
    let shape = Shape::ModExp { bits: 1024, exponent_bits: 16 };
    assert_eq!(
        run_one(shape, &key(KeyParts::ModExp(parts)), &input(&n, 1), SecondInput::None),
        Err(Status::BadKey)
    );
}

#[test]
fn rsa_inputs_at_the_edges_of_the_range_are_right() {
    for key in keys() {
        let n = &key.parts.public.n;
        let (mut zero, mut one) = (vec![0; n.len()], vec![0; n.len()]);
        *one.last_mut().unwrap() = 1;
        zero[0] = 0;
        let mut past = n.clone();
        *past.last_mut().unwrap() += 1;
        for (shape, handle) in [(private_shape(&key), &key.private), (public_shape(&key), &key.public)] {
            for fixed in [&zero, &one, &minus(n, 1)] {
                assert_eq!(
                    run_one(shape, handle, fixed, SecondInput::None).as_ref(),
                    Ok(fixed),
                    "{}",
                    key.name
                );
            }
            for outside in [n, &past, &vec![0xff; n.len()]] {
                assert_eq!(
                    run_one(shape, handle, outside, SecondInput::None),
                    Err(Status::OutOfRange),
                    "{}",
                    key.name
                );
            }
        }
    }
}

#[test]
fn rsa_results_do_not_depend_on_the_batch() {
    let key = named("1024");
    let inputs: Vec<Vec<u8>> = (0..64).map(|seed| input(&key.parts.public.n, seed)).collect();
    let alone: Vec<Vec<u8>> = inputs
        .iter()
        .map(|input| run_one(private_shape(&key), &key.private, input, SecondInput::None).unwrap())
        .collect();
    for size in [0, 1, 2, 7, 64] {
        let operations: Vec<Operation<'_>> = inputs[..size]
            .iter()
            .map(|input| Operation::new(private_shape(&key), &key.private, input, SecondInput::None).unwrap())
            .collect();
        let out = run(private_shape(&key), &operations);
        assert_eq!(out.len(), size);
        for (index, expected) in alone[..size].iter().enumerate() {
            assert_eq!(out.result(index), expected);
        }
    }
}

#[test]
fn one_bad_rsa_job_does_not_affect_its_neighbours() {
    let key = named("1024");
    let other = named("2048");
    let good = input(&key.parts.public.n, 3);
    let longer = input(&other.parts.public.n, 3);
    let (shape, none) = (private_shape(&key), SecondInput::None);
    let out = run(
        shape,
        &[
            Operation::new(shape, &key.private, &good, none).unwrap(),
            Operation::new(shape, &key.private, &key.parts.public.n, none).unwrap(),
            Operation::new(private_shape(&other), &other.private, &longer, none).unwrap(),
            Operation::new(public_shape(&key), &key.public, &good, none).unwrap(),
            Operation::new(shape, &key.private, &good, none).unwrap(),
        ],
    );
    let expected = [Status::Done, Status::OutOfRange, Status::BadKey, Status::BadKey, Status::Done];
    assert_eq!(out.statuses(), expected);
    assert_eq!(out.result(0), out.result(4));
}

#[test]
fn rejects_rsa_keys_whose_parts_do_not_match() {
    let good = named("1024").parts;
    let other = named("1024-e3").parts;
    let input = input(&good.public.n, 7);
    let shape = Shape::RsaPrivate { bits: 1024 };
    let damaged: [fn(&mut RsaPrivateParts, &RsaPrivateParts); 6] = [
        |parts, other| parts.d = other.d.clone(),
        |parts, other| parts.p = other.p.clone(),
        |parts, other| parts.dp = other.dp.clone(),
        |parts, other| parts.dq = other.dq.clone(),
        |parts, other| parts.qinv = other.qinv.clone(),
        |parts, _| parts.public.e = vec![4],
    ];
    for damage in damaged {
        let mut parts = good.clone();
        damage(&mut parts, &other);
        let key = key(KeyParts::RsaPrivate(parts));
        assert_eq!(run_one(shape, &key, &input, SecondInput::None), Err(Status::BadKey));
    }
}

/// Every congruence of `RSA_check_key` holds for a p of two prime factors, with d the inverse of e modulo p - 1 and
/// q - 1. Yet d does not invert e modulo n. The fault check finds this, and the key gets the blame, not the engine.
#[test]
fn a_composite_prime_makes_the_key_bad_and_not_the_engine() {
    let composite = lines(include_str!("../data/rsa-composite-p.txt")).next().unwrap();
    let [n, e, d, p, q, dp, dq, qinv] = std::array::from_fn(|i| hex(composite[i + 1]));
    let bits = RsaPublicParts { n: n.clone(), e: e.clone() }.bits();
    let key = key(KeyParts::RsaPrivate(RsaPrivateParts {
        public: RsaPublicParts { n: n.clone(), e },
        d: d.into(),
        p: p.into(),
        q: q.into(),
        dp: dp.into(),
        dq: dq.into(),
        qinv: qinv.into(),
    }));
    let answer = run_one(Shape::RsaPrivate { bits }, &key, &input(&n, 11), SecondInput::None);
    assert_eq!(answer, Err(Status::BadKey));
}
