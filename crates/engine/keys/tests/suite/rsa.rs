//! RSA numbers: every relation is checked, and each failure has its own error.

use crypto_bigint::{BoxedUint, ConcatenatingMul, Gcd};
use oarlock_core::{Key, KeyKind, KeyParts, RsaPrivateParts};
use oarlock_keys::KeyError;
use oarlock_keys::rsa::{self, PrivateNumbers};

use crate::support::key;

const SIZES: [&str; 9] = [
    "rsa512.pem",
    "rsa1024.pem",
    "rsa1025.pem",
    "rsa1536.pem",
    "rsa2048.pem",
    "rsa2048-e3.pem",
    "rsa3072.pem",
    "rsa4096.pem",
    "rsa8192.pem",
];

fn parts(key: &Key) -> RsaPrivateParts {
    match key.parts() {
        Some(KeyParts::RsaPrivate(parts)) => parts.clone(),
        other => panic!("{other:?}"),
    }
}

fn numbers(parts: &RsaPrivateParts) -> PrivateNumbers<'_> {
    PrivateNumbers {
        n: &parts.public.n,
        e: &parts.public.e,
        d: parts.d.expose(),
        p: parts.p.expose(),
        q: parts.q.expose(),
        dp: parts.dp.expose(),
        dq: parts.dq.expose(),
        qinv: parts.qinv.expose(),
    }
}

fn integer(bytes: &[u8]) -> BoxedUint {
    BoxedUint::from_be_slice_vartime(bytes)
}

fn bytes(integer: &BoxedUint) -> Vec<u8> {
    integer.to_be_bytes().into_vec()
}

fn remainder(a: &BoxedUint, b: &BoxedUint) -> BoxedUint {
    a.rem(b.as_nz_vartime().unwrap())
}

fn same_parts(a: &RsaPrivateParts, b: &RsaPrivateParts) -> bool {
    let all = |parts: &RsaPrivateParts| {
        let numbers = numbers(parts);
        let PrivateNumbers { n, e, d, p, q, dp, dq, qinv } = numbers;
        [n, e, d, p, q, dp, dq, qinv].map(<[u8]>::to_vec)
    };
    all(a) == all(b)
}

#[test]
fn the_larger_prime_comes_first() {
    for name in SIZES {
        let parts = parts(&key(name));
        assert!(integer(parts.p.expose()) > integer(parts.q.expose()), "{name}");
    }
}

#[test]
fn exchanged_primes_are_put_in_order() {
    let key = parts(&key("rsa1024.pem"));
    let (p, q) = (integer(key.p.expose()), integer(key.q.expose()));
    let inverse = bytes(&p.invert_odd_mod(q.as_odd_vartime().unwrap()).unwrap());
    let straight = numbers(&key);
    let exchanged = PrivateNumbers {
        p: straight.q,
        q: straight.p,
        dp: straight.dq,
        dq: straight.dp,
        qinv: &inverse,
        ..straight
    };
    assert!(same_parts(&parts(&rsa::private(&exchanged).unwrap()), &key));
    let stale = PrivateNumbers { qinv: straight.qinv, ..exchanged };
    assert!(rsa::private(&stale).is_err());
}

#[test]
fn leading_zeros_are_dropped() {
    let original = parts(&key("rsa1025.pem"));
    let straight = numbers(&original);
    let wide = |bytes: &[u8]| [&[0; 300], bytes].concat();
    let PrivateNumbers { n, e, d, p, q, dp, dq, qinv } = straight;
    let [n, e, d, p, q, dp, dq, qinv] = [n, e, d, p, q, dp, dq, qinv].map(wide);
    let padded = PrivateNumbers { n: &n, e: &e, d: &d, p: &p, q: &q, dp: &dp, dq: &dq, qinv: &qinv };
    assert!(same_parts(&parts(&rsa::private(&padded).unwrap()), &original));
}

#[test]
fn primes_are_found_from_n_e_and_d() {
    for name in SIZES {
        let original = parts(&key(name));
        let found =
            rsa::private_without_crt(&original.public.n, &original.public.e, original.d.expose()).unwrap();
        assert!(same_parts(&parts(&found), &original), "{name}");
    }
}

/// d may be reduced by lcm(p-1, q-1), by (p-1)(q-1), or not at all.
#[test]
fn primes_are_found_from_any_d() {
    let key = parts(&key("rsa1024.pem"));
    let less_one = |bytes: &[u8]| integer(bytes).wrapping_sub(BoxedUint::one());
    let (p1, q1) = (less_one(key.p.expose()), less_one(key.q.expose()));
    let phi = p1.concatenating_mul(&q1);
    let lcm = &phi / p1.gcd(&q1).as_nz_vartime().unwrap();
    let smallest = remainder(&integer(key.d.expose()), &lcm);
    let n = integer(&key.public.n);
    let mut tried = 0;
    let mut d = smallest;
    while d < n && tried < 4 {
        let found = rsa::private_without_crt(&key.public.n, &key.public.e, &bytes(&d)).unwrap();
        assert_eq!(parts(&found).p, key.p);
        d = d.wrapping_add(&lcm);
        tried += 1;
    }
    assert!(tried >= 2, "one d only");
}

#[test]
fn other_numbers_lead_to_no_primes() {
    let private = parts(&key("rsa2048.pem"));
    let (n, e) = (&private.public.n, &private.public.e);
    let mut wrong = private.d.expose().to_vec();
    wrong[100] ^= 4;
    for d in [wrong.as_slice(), &[], &[1], &[0; 256], private.p.expose(), &[0xff; 255]] {
        assert_eq!(rsa::private_without_crt(n, e, d).unwrap_err(), KeyError::NoPrimes, "{} bytes", d.len());
    }
    let below = KeyError::NotBelow { what: "d", bound: "n" };
    assert_eq!(rsa::private_without_crt(n, e, &[0xff; 257]).unwrap_err(), below);
    let prime = bytes(&integer(parts(&key("rsa4096.pem")).p.expose()));
    assert_eq!(rsa::private_without_crt(&prime, e, private.d.expose()).unwrap_err(), KeyError::NoPrimes);
}

#[test]
fn each_relation_has_its_own_error() {
    let first = parts(&key("rsa2048.pem"));
    let other = parts(&key("rsa2048-e3.pem"));
    let (first, other) = (numbers(&first), numbers(&other));
    let inconsistent = |relation| KeyError::Inconsistent { relation };
    let plus_two = |bytes_in: &[u8]| bytes(&integer(bytes_in).wrapping_add(BoxedUint::from(2_u8)));
    let even = |bytes_in: &[u8]| bytes(&integer(bytes_in).wrapping_sub(BoxedUint::one()));
    let (even_p, even_q, next_dp, next_dq) =
        (even(first.p), even(first.q), plus_two(first.dp), plus_two(first.dq));
    let next_qinv = plus_two(first.qinv);
    let unbalanced = KeyError::PrimesUnbalanced { limit: 1024 };
    let (wide, narrow) = ([0xff; 129], [0xff; 128]);
    let table = [
        (PrivateNumbers { n: other.n, ..first }, inconsistent("n = p * q")),
        (PrivateNumbers { p: other.p, ..first }, inconsistent("n = p * q")),
        (PrivateNumbers { q: other.q, ..first }, inconsistent("n = p * q")),
        (PrivateNumbers { p: first.q, ..first }, KeyError::PrimesEqual),
        (PrivateNumbers { p: &even_p, ..first }, KeyError::Even { what: "p" }),
        (PrivateNumbers { q: &even_q, ..first }, KeyError::Even { what: "q" }),
        (PrivateNumbers { p: &[], ..first }, KeyError::Even { what: "p" }),
        (PrivateNumbers { q: &[1], ..first }, KeyError::TooSmall { what: "q", above: 1 }),
        (PrivateNumbers { p: first.n, q: &[1], ..first }, unbalanced.clone()),
        (PrivateNumbers { p: &wide, ..first }, unbalanced),
        (PrivateNumbers { d: first.n, ..first }, KeyError::NotBelow { what: "d", bound: "n" }),
        (PrivateNumbers { d: &[0xff; 400], ..first }, KeyError::NotBelow { what: "d", bound: "n" }),
        (PrivateNumbers { d: other.d, ..first }, inconsistent("dp = d mod (p - 1)")),
        (PrivateNumbers { dp: &next_dp, ..first }, inconsistent("dp = d mod (p - 1)")),
        (PrivateNumbers { dq: &next_dq, ..first }, inconsistent("dq = d mod (q - 1)")),
        (PrivateNumbers { dp: &wide, ..first }, KeyError::NotBelow { what: "dp", bound: "p" }),
        (PrivateNumbers { dq: &wide, ..first }, KeyError::NotBelow { what: "dq", bound: "q" }),
        (PrivateNumbers { e: &[3], ..first }, inconsistent("d * e = 1 mod (p - 1)")),
        (PrivateNumbers { qinv: &next_qinv, ..first }, inconsistent("qinv * q = 1 mod p")),
        (PrivateNumbers { qinv: &[], ..first }, inconsistent("qinv * q = 1 mod p")),
        (PrivateNumbers { qinv: &narrow, ..first }, KeyError::NotBelow { what: "qinv", bound: "p" }),
        (PrivateNumbers { qinv: &wide, ..first }, KeyError::NotBelow { what: "qinv", bound: "p" }),
    ];
    for (row, (numbers, error)) in table.into_iter().enumerate() {
        assert_eq!(rsa::private(&numbers).unwrap_err(), error, "row {row}");
        assert_eq!(error.blame(), oarlock_core::Blame::Caller);
    }
    assert!(rsa::private(&first).is_ok());
}

/// d and dq changed together, so that only `d * e = 1 mod (q - 1)` is left to fail.
#[test]
fn the_second_prime_is_checked_like_the_first() {
    let key = parts(&key("rsa1024.pem"));
    let numbers = numbers(&key);
    let p1 = integer(numbers.p).wrapping_sub(BoxedUint::one());
    let q1 = integer(numbers.q).wrapping_sub(BoxedUint::one());
    let d = remainder(&integer(numbers.dp).concatenating_mul(&BoxedUint::one()), &p1);
    let dq = bytes(&remainder(&d, &q1));
    let changed = PrivateNumbers { d: &bytes(&d), dq: &dq, ..numbers };
    let relation = "d * e = 1 mod (q - 1)";
    assert_eq!(rsa::private(&changed).unwrap_err(), KeyError::Inconsistent { relation });
}

#[test]
fn moduli_have_bounds() {
    let e = [1, 0, 1];
    let found = |n: &[u8]| rsa::public(n, &e).map(|key| key.kind());
    let of = |bits: usize| {
        let mut n = vec![0xff; bits.div_ceil(8)];
        n.iter_mut().take(1).for_each(|first| *first >>= bits.wrapping_neg() % 8);
        n
    };
    for bits in [512_u16, 513, 1023, 1024, 1025, 8191, 8192] {
        assert_eq!(found(&of(bits.into())), Ok(KeyKind::RsaPublic(bits)));
    }
    for bits in [0, 1, 511, 8193, 100_000, 8_000_000] {
        let error = KeyError::ModulusBits { min: 512, max: 8192, found: bits as u64 };
        assert_eq!(found(&of(bits)), Err(error));
    }
    let mut even = of(2048);
    even[255] = 0xfe;
    assert_eq!(found(&even), Err(KeyError::Even { what: "n" }));
}

#[test]
fn public_exponents_have_bounds() {
    let n = [0xff; 256];
    for e in [3_u64, 17, 65537, (1 << 32) + 1, (1 << 33) - 1] {
        let key = rsa::public(&n, &e.to_be_bytes()).unwrap();
        assert_eq!(integer(&key.rsa_public().unwrap().e), BoxedUint::from(e));
    }
    for e in [0, 1, 2, 4, 65536, 1 << 33, (1 << 33) + 1, u64::MAX] {
        // Of a long one the length alone is shown: in a damaged file it may be a piece of the key.
        let found = if e >> 40 == 0 { e.to_string() } else { "a number of 8 bytes".to_owned() };
        assert_eq!(rsa::public(&n, &e.to_be_bytes()).unwrap_err(), KeyError::PublicExponent { found });
    }
    let error = KeyError::PublicExponent { found: "a number of 9 bytes".to_owned() };
    assert_eq!(rsa::public(&n, &[1; 9]).unwrap_err(), error);
}

#[test]
fn moduli_with_secret_exponents_have_bounds() {
    let n = [0xff; 128];
    let key = rsa::mod_exp(&n, &[0, 0, 5], 3).unwrap();
    assert_eq!(key.kind(), KeyKind::ModExp { bits: 1024, exponent_bits: 3 });
    let Some(KeyParts::ModExp(parts)) = key.parts() else { panic!() };
    assert_eq!((parts.exponent.expose(), parts.n.as_slice()), ([5].as_slice(), n.as_slice()));
    assert!(rsa::mod_exp(&n, &[0xff; 2048], rsa::MAX_EXPONENT_BITS).is_ok());

    let refused = |n: &[u8], exponent: &[u8], bound| rsa::mod_exp(n, exponent, bound).unwrap_err();
    assert_eq!(refused(&n, &[8], 3), KeyError::ExponentBits { bound: 3 });
    assert_eq!(refused(&n, &[0], 3), KeyError::TooSmall { what: "secret exponent", above: 0 });
    let (max, wide) = (rsa::MAX_EXPONENT_BITS, rsa::MAX_EXPONENT_BITS + 1);
    assert_eq!(refused(&n, &[5], 0), KeyError::ExponentBound { max, found: 0 });
    assert_eq!(refused(&n, &[5], wide), KeyError::ExponentBound { max, found: wide });
    assert_eq!(refused(&[0xfe; 128], &[5], 3), KeyError::Even { what: "n" });
    let error = KeyError::ModulusBits { min: 512, max: 8192, found: 504 };
    assert_eq!(refused(&[0xff; 63], &[5], 3), error);
}
