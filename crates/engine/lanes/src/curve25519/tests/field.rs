//! Tests of the field modulo p.

use num_bigint::BigUint;

use super::super::constants::*;
use super::super::field::{Factor, FieldFactor, FieldSimd, Sum, WideSum};
use super::super::{power, words};
use super::{Dice, integers, limbs, on_every_leaf, order, p};
use crate::simd::{LANES, Vector};

/// Returns values at the bounds of a factor, and others.
fn samples(dice: &mut Dice) -> [BigUint; LANES] {
    let one = BigUint::from(1_u8);
    let edges = [
        BigUint::default(),
        one.clone(),
        p() - 1_u8,
        p(),
        p() + 18_u8,
        (&one << 255) + (&one << 216),
        (BigUint::from((1_u64 << 47) - 1) << 208) + ((&one << 208) - 1_u8),
        p() + 1_u8,
    ];
    std::array::from_fn(|lane| match dice.word() % 3 {
        0 => edges[(dice.word() as usize + lane) % edges.len()].clone(),
        _ => BigUint::from_bytes_le(&dice.bytes::<32>()) >> 1,
    })
}

fn value<S: FieldSimd>(simd: S, wide: &Sum<S>) -> [BigUint; LANES] {
    integers(&wide.reduce(simd).canonical(simd))
}

fn arithmetic<S: FieldSimd>(simd: S) {
    let mut dice = Dice(1);
    for _ in 0..if cfg!(miri) { 1 } else { 300 } {
        let (a, b, c) = (samples(&mut dice), samples(&mut dice), samples(&mut dice));
        let factor = |lanes| Factor::<S>::from_limbs(simd, limbs(simd, lanes));
        let found = simd.call(|| {
            let (a, b, c) = (factor(&a), factor(&b), factor(&c));
            let (ab, cc) = (a.times(simd, &b), c.square(simd));
            let five = cc + cc + cc + cc + cc;
            [
                ab,
                cc,
                ab + cc,
                ab.minus(simd, &five),
                a.times_small(simd, 121_665),
                a.widen(simd) + b.widen(simd),
            ]
        });
        let found = found.map(|wide| value(simd, &wide));
        for lane in 0..LANES {
            let (a, b, c) = (&a[lane], &b[lane], &c[lane]);
            let (ab, cc) = (a * b, c * c);
            let less = (&ab + (p() << 264) - (&cc * 5_u8)) % p();
            let expected = [ab.clone(), cc.clone(), ab + cc, less, a * 121_665_u32, a + b];
            for (at, expected) in expected.into_iter().enumerate() {
                assert_eq!(found[at][lane], expected % p(), "operation {at}");
            }
        }
    }
}

fn powers<S: FieldSimd>(simd: S) {
    let mut dice = Dice(2);
    for groups in 1..=9 {
        let values: Vec<_> = (0..groups).map(|_| samples(&mut dice)).collect();
        let factors: Vec<_> =
            values.iter().map(|lanes| Factor::<S>::from_limbs(simd, limbs(simd, lanes))).collect();
        let roots = power::for_square_roots(simd, &factors);
        let mut inverses = factors.clone();
        power::invert_all(simd, &mut inverses);
        let exponent = (BigUint::from(1_u8) << 252) - 3_u8;
        for ((values, root), inverse) in values.iter().zip(roots.iter()).zip(&inverses) {
            let found = [root, inverse].map(|factor| integers(&factor.canonical(simd)));
            for (lane, value) in values.iter().enumerate() {
                assert_eq!(found[0][lane], value.modpow(&exponent, &p()));
                assert_eq!(found[1][lane], value.modpow(&(p() - 2_u8), &p()));
            }
        }
    }
}

fn masks<S: FieldSimd>(simd: S) {
    let one = BigUint::from(1_u8);
    let values =
        [BigUint::default(), p(), one.clone(), p() - 1_u8, p() + 1_u8, &one + &one, p() * 2_u8, p() + 18_u8];
    let values = values.map(|value| if value.bits() > 255 { BigUint::default() } else { value });
    let factor = Factor::<S>::from_limbs(simd, limbs(simd, &values));
    let bit = |test: &dyn Fn(&BigUint) -> bool| {
        values.iter().rev().fold(0, |mask, value| mask << 1 | u8::from(test(&(value % p()))))
    };
    assert_eq!(factor.is_zero(simd), bit(&|value| value == &BigUint::default()));
    assert_eq!(factor.is_odd(simd), bit(&|value| value.bit(0)));
}

fn bytes_and_words<S: FieldSimd>(simd: S) {
    let mut dice = Dice(3);
    let lanes: [[u8; 32]; LANES] = std::array::from_fn(|_| dice.bytes());
    let words: [S::V; 4] = words::load(simd, lanes.each_ref().map(|lane| lane.as_slice()));
    assert_eq!(words::bytes(simd, &words), lanes);
    let split: [S::V; 5] = words::split(simd, &words);
    assert_eq!(integers(&split), lanes.map(|lane| BigUint::from_bytes_le(&lane)));
    let joined = words::join(simd, &split);
    assert_eq!(joined.map(Vector::words), words.map(Vector::words));
}

#[test]
fn field_arithmetic_agrees_with_big_integers() {
    on_every_leaf!(arithmetic);
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn field_powers_agree_with_big_integers() {
    on_every_leaf!(powers);
}

#[test]
fn zero_and_parity_follow_the_canonical_value() {
    on_every_leaf!(masks);
}

#[test]
fn bytes_survive_conversion_to_limbs_and_back() {
    on_every_leaf!(bytes_and_words);
}

#[test]
#[cfg_attr(miri, ignore = "minutes, of big integers alone")]
fn curve_constants_satisfy_their_definitions() {
    let number =
        |limbs: [u64; 5]| limbs.iter().rev().fold(BigUint::default(), |sum, limb| (sum << 52) + *limb);
    let inverse = |value: BigUint| value.modpow(&(p() - 2_u8), &p());
    let d = (p() - 121_665_u32) * inverse(121_666_u32.into()) % p();
    assert_eq!((number(D), number(TWICE_D)), (d.clone(), &d * 2_u8 % p()));
    assert_eq!(number(ROOT_OF_MINUS_ONE).modpow(&2_u8.into(), &p()), p() - 1_u8);
    let (x, y) = (number(BASE_X), number(BASE_Y));
    assert_eq!(y, inverse(5_u8.into()) * 4_u8 % p());
    let (xx, yy) = (&x * &x, &y * &y);
    assert_eq!((&yy + p() * &xx - &xx) % p(), (1_u8 + d * &xx * &yy) % p());
    assert!(!x.bit(0));
    assert_eq!(number(HALF) * 2_u8 % p(), BigUint::from(1_u8));
    assert_eq!((number(ORDER), BigUint::from_bytes_le(&ORDER_BYTES)), (order(), order()));
    assert_eq!(order() * ORDER_INVERSE % (1_u64 << 52), BigUint::from((1_u64 << 52) - 1));
    assert_eq!(number(ORDER_SQUARED_RADIX), (BigUint::from(1_u8) << 520) % order());
    assert_eq!(number(BIAS) % p(), BigUint::default());
}
