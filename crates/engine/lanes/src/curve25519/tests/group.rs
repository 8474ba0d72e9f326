//! Tests of the group law against affine addition.

use num_bigint::BigUint;
use oarlock_engine_kit::VerifyTable;

use super::super::base;
use super::super::constants::{BASE_X, BASE_Y, D};
use super::super::encoding::{decode_opposites, encode, to_affine};
use super::super::field::{Factor, FieldFactor, FieldSimd};
use super::super::key_table::{Ed25519KeyTable, TableTerm, table_sums};
use super::super::multiples::{MultipleTerm, sums_of_multiples};
use super::super::point::{EdwardsPoint, double_all};
use super::super::scalar::ScalarLanes;
use super::{Dice, integers, limbs, on_every_leaf, order, p};
use crate::simd::LANES;

type Affine = (BigUint, BigUint);

fn number(limbs: [u64; 5]) -> BigUint {
    limbs.iter().rev().fold(BigUint::default(), |sum, limb| (sum << 52) + *limb)
}

fn base_point() -> Affine {
    (number(BASE_X), number(BASE_Y))
}

fn inverse(value: &BigUint) -> BigUint {
    value.modpow(&(p() - 2_u8), &p())
}

/// Adds in affine coordinates. RFC 8032 5.1.4.
fn add(a: &Affine, b: &Affine) -> Affine {
    let product = number(D) * (&a.0 * &b.0 % p()) * (&a.1 * &b.1 % p()) % p();
    let x = (&a.0 * &b.1 + &a.1 * &b.0) * inverse(&(1_u8 + &product));
    let y = (&a.1 * &b.1 + &a.0 * &b.0) * inverse(&(1_u8 + p() - product));
    (x % p(), y % p())
}

fn times(mut scalar: BigUint, point: &Affine) -> Affine {
    let (mut sum, mut power) = ((BigUint::default(), BigUint::from(1_u8)), point.clone());
    while scalar.bits() > 0 {
        if scalar.bit(0) {
            sum = add(&sum, &power);
        }
        power = add(&power, &power);
        scalar >>= 1;
    }
    sum
}

fn opposite(point: &Affine) -> Affine {
    ((p() - &point.0) % p(), point.1.clone())
}

fn encoded(point: &Affine) -> [u8; 32] {
    let mut bytes = [0; 32];
    let y = point.1.to_bytes_le();
    bytes[..y.len()].copy_from_slice(&y);
    bytes[31] |= u8::from(point.0.bit(0)) << 7;
    bytes
}

/// Returns the multiples of a point of order 8, whose y is in the small-order lists of RFC 8032 and Wycheproof.
fn torsion() -> Vec<Affine> {
    let y = "26E8958FC2B227B045C3F489F2EF98F0D5DFAC05D3C63339B13802886D53FC05";
    let y: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&y[2 * at..2 * at + 2], 16).unwrap()).collect();
    let y = BigUint::from_bytes_le(&y);
    let (u, v) = (&y * &y + p() - 1_u8, number(D) * &y * &y + 1_u8);
    let square = u * inverse(&(v % p())) % p();
    let mut x = square.modpow(&((p() + 3_u8) >> 3), &p());
    if &x * &x % p() != square {
        x = x * BigUint::from(2_u8).modpow(&((p() - 1_u8) >> 2), &p()) % p();
    }
    let point = (x, y);
    (0..8_u8).map(|k| times(k.into(), &point)).collect()
}

/// Returns multiples of the base point, points of small order, and their sums.
fn samples() -> [Affine; LANES] {
    let (torsion, mut dice) = (torsion(), Dice(6));
    std::array::from_fn(|lane| {
        let multiple = times(BigUint::from_bytes_le(&dice.bytes::<8>()), &base_point());
        match lane {
            0 => torsion[0].clone(),
            1 => torsion[4].clone(),
            2 => torsion[1].clone(),
            3 => add(&multiple, &torsion[3]),
            4 => base_point(),
            _ => multiple,
        }
    })
}

fn load<S: FieldSimd>(simd: S, points: &[Affine; LANES]) -> [Factor<S>; 2] {
    let [x, y] =
        [points.each_ref().map(|point| point.0.clone()), points.each_ref().map(|point| point.1.clone())];
    [Factor::<S>::from_limbs(simd, limbs(simd, &x)), Factor::<S>::from_limbs(simd, limbs(simd, &y))]
}

fn affine<S: FieldSimd>(simd: S, points: &[EdwardsPoint<S>]) -> Vec<[Affine; LANES]> {
    let affine = to_affine(simd, points);
    let lanes = affine.iter().map(|[x, y]| {
        let (x, y) = (integers(&x.canonical(simd)), integers(&y.canonical(simd)));
        std::array::from_fn(|lane| (x[lane].clone(), y[lane].clone()))
    });
    lanes.collect()
}

fn group_law<S: FieldSimd>(simd: S) {
    let points = samples();
    let [x, y] = load(simd, &points);
    let start = EdwardsPoint::affine(simd, &x, &y);
    for turn in 0..LANES {
        let mut others = points.clone();
        others.rotate_left(turn);
        let [x, y] = load(simd, &others);
        let negative = 0b0101_0110;
        let (mut sum, mut twice) = (start, start);
        simd.call(|| {
            double_all::<S, 1, true>(simd, std::array::from_mut(&mut twice));
            sum.add::<true>(simd, &EdwardsPoint::affine(simd, &x, &y).cached(simd), negative);
            let mut both = sum;
            both.add::<true>(simd, &twice.cached(simd), 0);
            sum = both;
        });
        for (lane, found) in affine(simd, &[sum])[0].iter().enumerate() {
            let signed =
                if negative >> lane & 1 == 1 { opposite(&others[lane]) } else { others[lane].clone() };
            let expected = add(&add(&points[lane], &signed), &add(&points[lane], &points[lane]));
            assert_eq!(found, &expected, "lane {lane}, turn {turn}");
        }
    }
}

fn encodings<S: FieldSimd>(simd: S) {
    let points = samples();
    let bytes = points.each_ref().map(encoded);
    let [x, y] = load(simd, &points);
    assert_eq!(encode(simd, &[EdwardsPoint::affine(simd, &x, &y)])[0], bytes);
    let decoded = decode_opposites(simd, &[bytes.each_ref().map(|bytes| bytes.as_slice())])[0];
    assert_eq!(decoded.is_valid, u8::MAX);
    let found = affine(simd, &[EdwardsPoint::affine(simd, &decoded.x, &decoded.y)]);
    assert_eq!(found[0], points.each_ref().map(opposite));
}

fn scalars(dice: &mut Dice) -> [BigUint; LANES] {
    std::array::from_fn(|lane| match lane {
        0 => BigUint::default(),
        1 => order() - 1_u8,
        2 => BigUint::from(1_u8),
        _ => BigUint::from_bytes_le(&dice.bytes::<32>()) % order(),
    })
}

fn multiplications<S: FieldSimd>(simd: S) {
    let mut dice = Dice(7);
    let (h, s, points) = (scalars(&mut dice), scalars(&mut dice), samples());
    let bytes = points.each_ref().map(encoded);
    let key = decode_opposites(simd, &[bytes.each_ref().map(|bytes| bytes.as_slice())])[0];
    let [own_h, own_s] = [&h, &s].map(|lanes| ScalarLanes::from_limbs(limbs(simd, lanes)));
    let tables = bytes.map(|bytes| Ed25519KeyTable::build(simd, &bytes).unwrap());
    let mut found = Vec::new();
    base(simd).columns.times(simd, &[own_s], &mut found);
    let term = || MultipleTerm { q: &key, h: own_h, s: own_s };
    sums_of_multiples(simd, &base(simd).window, &[term(), term(), term()], &mut found);
    let term = || TableTerm { tables: tables.each_ref(), h: own_h, s: own_s };
    table_sums(simd, &base(simd).comb, &[term(), term(), term()], &mut found);
    base(simd).columns.times(simd, &[own_s; 2], &mut found);
    let found = affine(simd, &found);
    for lane in 0..LANES {
        let of_base = times(s[lane].clone(), &base_point());
        let sum = add(&of_base, &times(h[lane].clone(), &opposite(&points[lane])));
        assert_eq!(
            [&found[0][lane], &found[1][lane], &found[2][lane]],
            [&of_base, &sum, &sum],
            "lane {lane}"
        );
    }
}

/// A table passes the check of its own key only, and the check finds a wrong bit in any row.
fn checks<S: FieldSimd>(simd: S) {
    let points = samples();
    let [key, other] = [&points[5], &points[6]].map(encoded);
    let x_is_zero = encoded(&points[1]);
    assert!(Ed25519KeyTable::build(simd, &x_is_zero).unwrap().is_right(&x_is_zero));
    let mut table = Ed25519KeyTable::build(simd, &key).unwrap();
    assert!(table.is_right(&key) && !table.is_right(&other));
    let negative = encoded(&opposite(&points[5]));
    assert!(!table.is_right(&negative));
    for (row, word) in [(0, 0), (1, 7), (17, 10), (815, 14), (400, 3)] {
        table.flip(row, word);
        assert!(!table.is_right(&key), "row {row}, word {word}");
        table.flip(row, word);
    }
    assert!(table.is_right(&key));
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn the_check_finds_a_changed_bit_in_any_row_of_a_table() {
    on_every_leaf!(checks);
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn the_group_law_is_complete() {
    on_every_leaf!(group_law);
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn points_survive_encoding_and_decoding() {
    on_every_leaf!(encodings);
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn multiplications_agree_with_double_and_add() {
    on_every_leaf!(multiplications);
}
