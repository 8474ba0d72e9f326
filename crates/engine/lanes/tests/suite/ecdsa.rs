//! Tests of ECDSA: published nonces and signatures, edges of r, s and digests, points that meet exceptions, and
//! batches of mixed kinds. The complete suite of vectors runs in `lab/vectors`.

use num_bigint::BigUint;
use oarlock_core::*;
use oarlock_scalar::ScalarEngine;

use crate::common::{leaves_for, verifiers};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn key(parts: KeyParts) -> Key {
    use std::sync::atomic::{AtomicU8, Ordering};
    static NEXT: AtomicU8 = AtomicU8::new(0);
    Key::local(parts, Fingerprint::new([NEXT.fetch_add(1, Ordering::Relaxed); 32]))
}

fn run(engine: &dyn Engine, shape: Shape, operations: &[Operation<'_>]) -> Vec<Result<Vec<u8>, Status>> {
    let jobs = Jobs::Operations(shape, operations);
    let mut out = Outcomes::for_jobs(&jobs);
    engine.run(&jobs, &mut out).unwrap();
    let answer = |at: usize| match out.statuses()[at] {
        Status::Done => Ok(out.result(at).to_vec()),
        status => {
            assert!(out.result(at).iter().all(|byte| *byte == 0), "a failed job left something behind");
            Err(status)
        }
    };
    (0..operations.len()).map(answer).collect()
}

struct Vector {
    curve: Curve,
    alg: DigestAlg,
    private: Key,
    public: Key,
    digest: Vec<u8>,
    signature: Vec<u8>,
}

/// Returns the vectors of RFC 6979 A.2.5 and A.2.6 from the tests of the scalar engine.
fn vectors() -> Vec<Vector> {
    let lines = include_str!("../../../scalar/tests/data/rfc6979.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let vector = |line: &str| {
        let [curve, scalar, public, _, alg, digest, signature] =
            line.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
        let curve = Curve::ALL.into_iter().find(|known| known.to_string() == curve).unwrap();
        let (scalar, public) = (hex(scalar), hex(public));
        let parts = EcPrivateParts { curve, scalar: scalar.into(), public: public.clone() };
        Vector {
            curve,
            alg: DigestAlg::ALL.into_iter().find(|known| known.to_string() == alg).unwrap(),
            private: key(KeyParts::EcPrivate(parts)),
            public: key(KeyParts::EcPublic(curve, public)),
            digest: hex(digest),
            signature: hex(signature),
        }
    };
    lines.map(vector).collect()
}

impl Vector {
    fn sign<'a>(&'a self, nonce: NonceInput<'a>) -> Operation<'a> {
        let shape = Shape::EcdsaSign { curve: self.curve };
        Operation::new(shape, &self.private, &self.digest, SecondInput::NonceInput(nonce)).unwrap()
    }
}

fn order(curve: Curve) -> BigUint {
    BigUint::from_bytes_be(&hex(match curve {
        Curve::P256 => "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        _ => {
            "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973"
        }
    }))
}

fn wide(number: &BigUint, curve: Curve) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; curve.scalar_len() - bytes.len()], bytes].concat()
}

#[test]
fn rfc_6979_signatures_are_right_among_hedged_ones() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 20);
    for curve in [Curve::P256, Curve::P384] {
        for engine in verifiers(Shape::EcdsaSign { curve }) {
            let of_curve: Vec<_> = vectors.iter().filter(|vector| vector.curve == curve).collect();
            let random = [9; 32];
            let operations: Vec<_> = of_curve
                .iter()
                .flat_map(|vector| {
                    [
                        vector.sign(NonceInput::Deterministic(vector.alg)),
                        vector.sign(NonceInput::Hedged(&random)),
                    ]
                })
                .collect();
            let answers = run(&*engine, Shape::EcdsaSign { curve }, &operations);
            for (vector, pair) in of_curve.iter().zip(answers.chunks(2)) {
                assert_eq!(pair[0].as_ref().unwrap(), &vector.signature, "{engine:?} {curve} {}", vector.alg);
                assert_ne!(pair[1].as_ref().unwrap(), &vector.signature);
                let verify = |signature| {
                    let extra = SecondInput::Signature(signature);
                    let shape = Shape::EcdsaVerify { curve };
                    let operation = Operation::new(shape, &vector.public, &vector.digest, extra).unwrap();
                    run(&*engine, shape, &[operation]).remove(0)
                };
                assert_eq!(verify(&vector.signature), Ok(vec![]));
                assert_eq!(verify(pair[1].as_ref().unwrap()), Ok(vec![]));
            }
        }
    }
}

#[test]
fn hedged_signatures_depend_on_key_digest_and_random_bytes_alone() {
    let vectors = vectors();
    for vector in [&vectors[1], &vectors[10]] {
        let shape = Shape::EcdsaSign { curve: vector.curve };
        let mut signatures = Vec::new();
        for engine in leaves_for(shape) {
            let sign = |random: &[u8; 32], jobs: usize| {
                let operations = vec![vector.sign(NonceInput::Hedged(random)); jobs];
                run(&engine, shape, &operations).pop().unwrap().unwrap()
            };
            let first = sign(&[1; 32], 1);
            assert_eq!(first, sign(&[1; 32], 21), "{engine:?}: a signature depends on its lane");
            let other = sign(&[2; 32], 1);
            assert_ne!(first[..vector.curve.scalar_len()], other[..vector.curve.scalar_len()]);
            signatures.push(first);
        }
        assert!(signatures.windows(2).all(|pair| pair[0] == pair[1]), "leaves sign differently");
    }
}

/// Returns the public key of a scalar. The r of a signature gives x only, so the point is found by importing the
/// private key into the scalar engine.
fn generated(curve: Curve, scalar: &BigUint) -> Key {
    let scalar = wide(scalar, curve);
    let point = oarlock_scalar_point(curve, &scalar);
    key(KeyParts::EcPublic(curve, point))
}

fn oarlock_scalar_point(curve: Curve, scalar: &[u8]) -> Vec<u8> {
    multiples::base(curve, &BigUint::from_bytes_be(scalar))
}

/// Textbook arithmetic on points, for keys with a known relation to the base point.
mod multiples {
    use super::*;

    type Point = Option<(BigUint, BigUint)>;

    pub(super) fn base(curve: Curve, scalar: &BigUint) -> Vec<u8> {
        let (p, g) = parameters(curve);
        let mut sum: Point = None;
        for bit in (0..scalar.bits()).rev() {
            sum = add(&p, &sum, &sum);
            if scalar.bit(bit) {
                sum = add(&p, &sum, &g);
            }
        }
        let (x, y) = sum.unwrap();
        [vec![4], wide(&x, curve), wide(&y, curve)].concat()
    }

    fn parameters(curve: Curve) -> (BigUint, Point) {
        let [p, x, y] = match curve {
            Curve::P256 => [
                "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
                "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
                "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
            ],
            _ => [
                "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
                "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
                "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
            ],
        }
        .map(|text| BigUint::from_bytes_be(&hex(text)));
        (p, Some((x, y)))
    }

    fn add(p: &BigUint, a: &Point, b: &Point) -> Point {
        let (Some((ax, ay)), Some((bx, by))) = (a, b) else { return a.clone().or(b.clone()) };
        let inverse = |value: BigUint| value.modpow(&(p - 2_u32), p);
        let slope = if ax == bx {
            if ay != by {
                return None;
            }
            (ax * ax * 3_u32 + p - 3_u32) * inverse(ay * 2_u32 % p) % p
        } else {
            (by + p - ay) * inverse((bx + p - ax) % p) % p
        };
        let x = (&slope * &slope + p + p - ax - bx) % p;
        let y = (&slope * (ax + p - &x) + p - ay) % p;
        Some((x, y))
    }
}

/// Keys are small multiples of the base point or their opposites, so u1 G and u2 Q meet in the sum. The scalar
/// engine decides the expected results, for good signatures and for others.
#[test]
fn sums_that_meet_exceptions_are_exact() {
    let referee = ScalarEngine::detect().unwrap();
    for curve in [Curve::P256, Curve::P384] {
        let n = order(curve);
        let small = [1_u32, 2, 3, 5, 64].map(BigUint::from);
        let keys: Vec<(BigUint, Key)> = small
            .iter()
            .flat_map(|d| [d.clone(), &n - d])
            .map(|d| (d.clone(), generated(curve, &d)))
            .collect();
        let mut jobs = Vec::new();
        for (d, public) in &keys {
            let inverse = |value: &BigUint| value.modpow(&(&n - 2_u32), &n);
            // Chooses u1 and u2: s = r / u2, e = u1 s, and r from the point's x if the sum is finite.
            for (u1, u2) in [(0, 1), (1, 1), (2, 1), (1, 2), (3, 1), (5, 2), (31, 7)] {
                for turn in [false, true] {
                    let (u1, mut u2) = (BigUint::from(u1 as u32), BigUint::from(u2 as u32));
                    if turn {
                        u2 = &n - u2;
                    }
                    let k = (&u1 + &u2 * d) % &n;
                    let point = if k == BigUint::ZERO { vec![7; 97] } else { multiples::base(curve, &k) };
                    let r = BigUint::from_bytes_be(&point[1..=curve.scalar_len()]) % &n;
                    let s = &r * inverse(&u2) % &n;
                    let e = &u1 * &s % &n;
                    let signature = [wide(&r, curve), wide(&s, curve)].concat();
                    jobs.push((public, wide(&e, curve), signature));
                }
            }
        }
        let shape = Shape::EcdsaVerify { curve };
        let operations: Vec<_> = jobs
            .iter()
            .map(|(key, digest, signature)| {
                Operation::new(shape, key, digest, SecondInput::Signature(signature)).unwrap()
            })
            .collect();
        let expected: Vec<_> = operations.chunks(64).flat_map(|part| run(&referee, shape, part)).collect();
        assert!(expected.iter().filter(|answer| answer.is_ok()).count() > jobs.len() / 2);
        assert!(expected.contains(&Err(Status::Rejected)));
        for (engine, count) in verifiers(shape).iter().flat_map(|engine| [(engine, 64), (engine, 3)]) {
            let found: Vec<_> =
                operations.chunks(count).flat_map(|part| run(&**engine, shape, part)).collect();
            assert_eq!(found, expected, "{engine:?} {curve}, {count} a run");
        }
    }
}

#[test]
fn rejects_signatures_with_r_or_s_out_of_range() {
    let vectors = vectors();
    for vector in [&vectors[1], &vectors[10]] {
        for engine in verifiers(Shape::EcdsaVerify { curve: vector.curve }) {
            let width = vector.curve.scalar_len();
            let (r, s) = vector.signature.split_at(width);
            let bad = [vec![0; width], wide(&order(vector.curve), vector.curve), vec![0xff; width]];
            let signatures: Vec<_> = bad
                .iter()
                .flat_map(|bad| [[bad, s].concat(), [r, bad].concat(), [&bad[..], bad].concat()])
                .collect();
            let shape = Shape::EcdsaVerify { curve: vector.curve };
            let operations: Vec<_> = signatures
                .iter()
                .map(|signature| {
                    let extra = SecondInput::Signature(signature);
                    Operation::new(shape, &vector.public, &vector.digest, extra).unwrap()
                })
                .collect();
            let answers = run(&*engine, shape, &operations);
            assert!(answers.iter().all(|answer| *answer == Err(Status::Rejected)), "{answers:?}");
        }
    }
}

#[test]
fn rejects_ecdsa_keys_out_of_range_and_off_the_curve() {
    for curve in Curve::ALL {
        for engine in verifiers(Shape::EcdsaVerify { curve }) {
            let width = curve.scalar_len();
            for scalar in [vec![0; width], wide(&order(curve), curve)] {
                let parts = EcPrivateParts { curve, scalar: scalar.into(), public: vec![4; 2 * width + 1] };
                let private = key(KeyParts::EcPrivate(parts));
                let extra = SecondInput::NonceInput(NonceInput::Hedged(&[3; 32]));
                let (shape, digest) = (Shape::EcdsaSign { curve }, vec![1; width]);
                let operation = Operation::new(shape, &private, &digest, extra).unwrap();
                let answers = run(&*engine, shape, &[operation]);
                assert_eq!(answers, [Err(Status::BadKey)]);
            }
            let public = key(KeyParts::EcPublic(curve, vec![4; 2 * width + 1]));
            let (shape, signature) = (Shape::EcdsaVerify { curve }, vec![1; 2 * width]);
            let extra = SecondInput::Signature(&signature);
            let operation = Operation::new(shape, &public, &signature[width..], extra).unwrap();
            let answers = run(&*engine, shape, &[operation]);
            assert_eq!(answers, [Err(Status::BadKey)]);
        }
    }
}

/// Digests of zero, of the order and above it are mixed with others in one batch.
#[test]
fn digests_at_the_edges_agree_with_scalar() {
    let referee = ScalarEngine::detect().unwrap();
    let vectors = vectors();
    for vector in [&vectors[1], &vectors[10]] {
        let (curve, n) = (vector.curve, order(vector.curve));
        let edges = [BigUint::ZERO, BigUint::from(1_u32), &n - 1_u32, n.clone(), &n + 1_u32]
            .map(|edge| wide(&edge, curve));
        let digests: Vec<_> = edges.iter().cloned().chain([vec![0xff; curve.scalar_len()]]).collect();
        let nonce = SecondInput::NonceInput(NonceInput::Deterministic(DigestAlg::Sha256));
        let (shape, verify) = (Shape::EcdsaSign { curve }, Shape::EcdsaVerify { curve });
        let operations: Vec<_> = digests
            .iter()
            .map(|input| Operation::new(shape, &vector.private, input, nonce).unwrap())
            .collect();
        let expected = run(&referee, shape, &operations);
        for engine in verifiers(shape) {
            let signed = run(&*engine, shape, &operations);
            assert_eq!(signed, expected);
            let verifications: Vec<_> = digests
                .iter()
                .zip(&signed)
                .map(|(input, signature)| {
                    let extra = SecondInput::Signature(signature.as_ref().unwrap());
                    Operation::new(verify, &vector.public, input, extra).unwrap()
                })
                .collect();
            let answers = run(&*engine, verify, &verifications);
            assert!(answers.iter().all(|answer| *answer == Ok(vec![])), "{engine:?}: {answers:?}");
        }
    }
}
