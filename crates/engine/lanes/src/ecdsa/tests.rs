//! Tests of arithmetic against big integers and of formulas against complete additions, on both leaves.

use num_bigint::BigUint;
use oarlock_engine_kit::VerifyTable;

use super::comb::base;
use super::complete::CurveGroup;
use super::curve::CurveParams;
use super::element::Element;
use super::field::{CoordinateField, CurveElement, CurveField, CurveSimd};
use super::key_table::EcdsaKeyTable;
use super::point::{AffinePoint, JacobianPoint, PointField};
use super::recode::{digit, digits, halve};
use super::ring::{FieldModulus, MontgomeryRing, OddModulus};
use super::{P256, P384};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Cpu, FmaSimd, IfmaSimd};
use crate::simd::{LANES, MulSimd, MulVector, Vector, Words};
#[cfg(any(feature = "portable", miri, not(target_arch = "x86_64")))]
use crate::simd::{PortableFma, PortableSimd};

type P256Field = <P256 as CurveParams<5>>::Field;
type P256Order = <P256 as CurveParams<5>>::Order;
type P384Field = <P384 as CurveParams<8>>::Field;
type P384Order = <P384 as CurveParams<8>>::Order;

/// Runs a test on every leaf of this machine. The portable ones take a minute to compile, so on x86-64 they need the
/// feature `portable`.
macro_rules! on_every_leaf {
    ($test:ident $(:: <$($generic:ident),+; $($number:literal),+>)?) => {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = IfmaSimd::detect() {
            $test::<IfmaSimd $($(, $generic)+ $(, $number)+)?>(simd);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = FmaSimd::detect() {
            $test::<FmaSimd $($(, $generic)+ $(, $number)+)?>(simd);
        }
        #[cfg(any(feature = "portable", miri, not(target_arch = "x86_64")))]
        {
            $test::<PortableSimd $($(, $generic)+ $(, $number)+)?>(PortableSimd);
            $test::<PortableFma $($(, $generic)+ $(, $number)+)?>(PortableFma);
        }
    };
}

const ROUNDS: u64 = if cfg!(miri) { 1 } else { 40 };

fn number<const L: usize>(limbs: &[u64; L]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |number, limb| (number << 52_u32) + *limb)
}

fn lane<V: MulVector, const L: usize>(element: &Element<V, L, 1>, lane: usize) -> BigUint {
    number::<L>(&element.0.map(|limb| limb.0[0].words()[lane]))
}

/// Returns values below 2^bits with long runs of equal bits, the largest among them (SplitMix64).
fn samples<const L: usize>(seed: u64, bits: usize) -> [Words; L] {
    let mut state = seed;
    let mut limbs = [[0; LANES]; L];
    for (at, limb) in limbs.iter_mut().enumerate() {
        for (lane, word) in limb.iter_mut().enumerate() {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let edges = [0, u64::MAX, mixed ^ (mixed >> 27), mixed];
            let value = if lane == 0 { u64::MAX } else { edges[(mixed >> 60) as usize % 4] };
            let width = bits.saturating_sub(52 * at).min(52);
            *word = value & ((1_u64 << width) - 1);
        }
    }
    limbs
}

/// Products and squares are right for any values below R whose product is below R m, and so are the values that
/// leave Montgomery form.
fn products<S: MulSimd, M: OddModulus<L>, const L: usize>(simd: S) {
    let (ring, m) = (MontgomeryRing::<S, M, L, 1>::new(simd), number(&M::LIMBS));
    let r = BigUint::from(1_u32) << (52 * L);
    for seed in 0..ROUNDS {
        let (a, b) = (
            ring.load([&samples(seed, m.bits() as usize + 2)]),
            ring.load([&samples(!seed, m.bits() as usize + 1)]),
        );
        let (product, square) = simd.call(|| (ring.mul(&a, &b), ring.sqr(&b)));
        let (left, back) = simd.call(|| (ring.leave(&a), ring.leave(&ring.enter(&a))));
        for at in 0..LANES {
            let (a, b) = (lane(&a, at), lane(&b, at));
            assert_eq!(lane(&product, at) * &r % &m, &a * &b % &m);
            assert_eq!(lane(&square, at) * &r % &m, &b * &b % &m);
            assert!(lane(&product, at) < &m * 2_u32);
            assert_eq!(lane(&back, at), &a % &m);
            assert_eq!(lane(&left, at) * &r % &m, &a % &m);
            assert!(lane(&left, at) < m);
        }
    }
}

#[test]
fn products_agree_with_big_integers() {
    on_every_leaf!(products::<P256Field; 5>);
    // The other moduli run the same code with other constants.
    if cfg!(miri) {
        return;
    }
    on_every_leaf!(products::<P256Order; 5>);
    on_every_leaf!(products::<P384Field; 8>);
    on_every_leaf!(products::<P384Order; 8>);
}

/// A weak reduction of a difference within the bound keeps the residue, and stays below the documented bound.
fn weak_reduction<S: MulSimd, F: FieldModulus<L>, const L: usize>(simd: S) {
    let (f, p) = (MontgomeryRing::<S, F, L, 1>::new(simd), number(&F::LIMBS));
    for seed in 0..ROUNDS {
        let (a, b) =
            (f.load([&samples(seed, p.bits() as usize + 1)]), f.load([&samples(!seed, p.bits() as usize)]));
        let settled = simd.call(|| f.reduce_weakly(a.loose().shl::<3>() - b.loose().shl::<4>() - b));
        for at in 0..LANES {
            let expected = lane(&a, at) * 8_u32 + &p * 100_u32 - lane(&b, at) * 17_u32;
            assert_eq!(lane(&settled, at) % &p, expected % &p);
            assert!(lane(&settled, at) < &p + (&p >> 8_u32));
        }
    }
}

#[test]
fn weak_reduction_keeps_the_residue_and_the_bound() {
    on_every_leaf!(weak_reduction::<P256Field; 5>);
    // The other moduli run the same code with other constants.
    if cfg!(miri) {
        return;
    }
    on_every_leaf!(weak_reduction::<P384Field; 8>);
}

/// The operations of a field of coordinates agree with big integers, in every representation.
fn coordinates<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(simd: S) {
    let (f, p) = (CurveField::<S, C, L, 1>::new(simd), number(&<C::Field as OddModulus<L>>::LIMBS));
    let ring = MontgomeryRing::<S, C::Field, L, 1>::new(simd);
    for seed in 0..ROUNDS {
        // Edges: zero, one, p - 1, and the largest value that may enter.
        let mut limbs = [samples(seed, p.bits() as usize), samples(!seed, p.bits() as usize)];
        for limb in 0..L {
            limbs[0][limb][1] = 0;
            limbs[0][limb][2] = u64::from(limb == 0);
            limbs[seed as usize % 2][limb][3] =
                <C::Field as OddModulus<L>>::LIMBS[limb] - u64::from(limb == 0);
        }
        let [a, b] = limbs.map(|limbs| ring.load([&limbs]));
        let found = simd.call(|| {
            let (x, y) = (f.enter(&a), f.enter(&b));
            let [stored] = f.stored(&x);
            let again = f.load_stored(&[stored]);
            let difference = f.loose(&x) - f.shl::<2>(f.loose(&y));
            let both = f.sub_or_add(f.loose(&x), [0b1100_0101], f.loose(&y));
            let onto = f.times_onto(f.negated_square::<3>(&x), &x, &y);
            let values =
                [x, f.mul(&again, &y), f.sqr(&y), f.reduce_weakly(difference), f.reduce_weakly(both)];
            let values = values.map(|value| f.leave(&value));
            (values, f.leave(&f.reduce_weakly(onto)), f.is_zero(&x), f.leave(&f.turn(&x, 3)))
        });
        let (values, onto, is_zero, turned) = found;
        for at in 0..LANES {
            let (x, y) = (lane(&a, at) % &p, lane(&b, at) % &p);
            let y_or_minus = if 0b1100_0101 >> at & 1 == 1 { &p - &y } else { y.clone() };
            let expected = [x.clone(), &x * &y, &y * &y, &x + &p * 4_u32 - &y * 4_u32, &x + &y_or_minus];
            for (which, (value, expected)) in values.iter().zip(&expected).enumerate() {
                assert_eq!(lane(value, at), expected % &p, "seed {seed}, value {which}, lane {at}");
            }
            assert_eq!(
                lane(&onto, at),
                (&x * &y + (&p * &p - &x * &x) * 8_u32) % &p,
                "seed {seed}, lane {at}"
            );
            assert_eq!(is_zero[0] >> at & 1 == 1, x == BigUint::ZERO);
            assert_eq!(lane(&turned, at), lane(&a, (at + 3) % LANES) % &p);
        }
    }
}

#[test]
fn coordinates_agree_with_big_integers() {
    on_every_leaf!(coordinates::<P256; 5>);
    if cfg!(miri) {
        return;
    }
    on_every_leaf!(coordinates::<P384; 8>);
}

/// Every element is inverted, and its inverse does not depend on its neighbours.
fn coordinate_inverses<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(simd: S) {
    let f = CurveField::<S, C, L, 1>::new(simd);
    let bits = C::BITS - 1;
    let values: Vec<_> = (1..4)
        .map(|seed| {
            let mut limbs: [Words; L] = samples(seed, bits);
            limbs[0].iter_mut().for_each(|word| *word |= 1);
            let plain = MontgomeryRing::<S, C::Field, L, 1>::new(simd).load([&limbs]);
            simd.call(|| f.enter(&plain))
        })
        .collect();
    let (mut secret, mut public) = (values.clone(), values.clone());
    f.invert_all(&mut secret);
    f.invert_all_public(&mut public);
    for ((value, secret), public) in values.iter().zip(&secret).zip(&public) {
        for inverse in [secret, public] {
            let product = simd.call(|| f.leave(&f.mul(value, inverse)));
            (0..LANES).for_each(|at| assert_eq!(lane(&product, at), BigUint::from(1_u32)));
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn inverses_of_coordinates_times_their_values_are_one() {
    on_every_leaf!(coordinate_inverses::<P256; 5>);
    on_every_leaf!(coordinate_inverses::<P384; 8>);
}

fn inverses<S: MulSimd, M: OddModulus<L>, const L: usize>(simd: S) {
    let (ring, m) = (MontgomeryRing::<S, M, L, 1>::new(simd), number(&M::LIMBS));
    let values: Vec<_> = (1..4)
        .map(|seed| {
            let mut limbs: [Words; L] = samples(seed, m.bits() as usize - 1);
            limbs[0].iter_mut().for_each(|word| *word |= 1);
            ring.load([&limbs])
        })
        .collect();
    let mut inverses = values.clone();
    ring.invert_all(&mut inverses);
    for (value, inverse) in values.iter().zip(&inverses) {
        let product = simd.call(|| ring.leave(&ring.mul(value, inverse)));
        for at in 0..LANES {
            assert_eq!(lane(&product, at), BigUint::from(1_u32));
        }
    }
}

/// Inverts N groups of lanes with values from one to m - 1, small and large ones among them.
fn public_inverses<S: MulSimd, M: OddModulus<L>, const L: usize, const N: usize>(simd: S) {
    let (ring, m) = (MontgomeryRing::<S, M, L, N>::new(simd), number(&M::LIMBS));
    let part = |seed| {
        let mut limbs: [Words; L] = samples(seed, m.bits() as usize - 1);
        limbs[0].iter_mut().for_each(|word| *word |= 1);
        for lane in 0..LANES {
            if seed % 2 == 1 && lane > 4 {
                limbs.iter_mut().skip(1).for_each(|limb| limb[lane] = 0);
                limbs[0][lane] = 1 << lane;
            }
            if seed % 3 == 1 && lane == 4 {
                (0..L).for_each(|limb| limbs[limb][lane] = M::LIMBS[limb] - u64::from(limb == 0));
            }
        }
        limbs
    };
    for seed in 0..ROUNDS / 4 + 1 {
        let limbs: [[Words; L]; N] = std::array::from_fn(|n| part(2 * seed + n as u64));
        let values = [ring.load(limbs.each_ref()), ring.one()];
        let mut inverses = values;
        ring.invert_all_public(&mut inverses);
        let product = simd.call(|| ring.leave(&ring.mul(&values[0], &inverses[0])));
        for (n, at) in (0..N).flat_map(|n| (0..LANES).map(move |at| (n, at))) {
            assert_eq!(lane(&product.part(n), at), BigUint::from(1_u32), "seed {seed}, part {n}, lane {at}");
        }
    }
}

#[test]
fn public_inverses_times_their_values_are_one() {
    on_every_leaf!(public_inverses::<P256Field; 5, 1>);
    // The other moduli run the same code with other constants.
    if cfg!(miri) {
        return;
    }
    on_every_leaf!(public_inverses::<P256Order; 5, 2>);
    on_every_leaf!(public_inverses::<P384Field; 8, 2>);
    on_every_leaf!(public_inverses::<P384Order; 8, 1>);
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn secret_inverses_times_their_values_are_one() {
    on_every_leaf!(inverses::<P256Field; 5>);
    on_every_leaf!(inverses::<P256Order; 5>);
    on_every_leaf!(inverses::<P384Field; 8>);
    on_every_leaf!(inverses::<P384Order; 8>);
}

/// Compares doublings and additions of the fast path with complete ones: G, 2G, 2G + G, ... with both signs.
fn formulas<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(simd: S) {
    let (f, group) = (CurveField::<S, C, L, 1>::new(simd), CurveGroup::<S, C, L>::new(simd));
    let [x, y] = base::<C, L>();
    let g = AffinePoint { x: f.splat(&x), y: f.splat(&y) };
    let mut fast = f.first(&g, [0b1100_1010]);
    let mut exact = group.lift(&f.negate_if([0b1100_1010], &g));
    let same = |fast: &JacobianPoint<CurveElement<S, C, L, 1>>, exact| {
        // Uses (X/Z^2, Y/Z^3) = (X Z, Y)/Z^3.
        let zzz = simd.call(|| f.mul(&fast.z, &f.sqr(&fast.z)));
        let x = simd.call(|| f.mul(&fast.x, &fast.z));
        let point = super::complete::ProjectivePoint { x, y: fast.y, z: zzz };
        assert_eq!(group.is_same(&point, &exact), [u8::MAX]);
    };
    for step in 0..12 {
        f.double_times(&mut fast, 2);
        exact = group.sum(&exact, &exact);
        exact = group.sum(&exact, &exact);
        same(&fast, exact);
        let minus = 0b0110_0101 ^ step;
        f.add_in_jacobian(&mut fast, &g, [minus]);
        exact = group.sum(&exact, &group.lift(&f.negate_if([minus], &g)));
        let negative = f.zero();
        exact.y = simd.call(|| f.reduce_weakly(f.loose(&negative) - f.loose(&exact.y)));
        same(&fast, exact);
    }
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn fast_formulas_agree_with_complete_ones() {
    on_every_leaf!(formulas::<P256; 5>);
    on_every_leaf!(formulas::<P384; 8>);
}

/// The order times the base point is infinity, by complete additions.
fn orders<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(simd: S) {
    let group = CurveGroup::<S, C, L>::new(simd);
    let [x, y] = base::<C, L>();
    let g = group.lift(&AffinePoint { x: group.f.splat(&x), y: group.f.splat(&y) });
    let plain = MontgomeryRing::<S, C::Order, L, 1>::new(simd);
    let n = plain.splat(&C::Order::LIMBS);
    let end = group.double_sum((&n, &g), (&plain.zero(), &g));
    assert_eq!(simd.call(|| group.f.is_zero(&end.z)), [u8::MAX]);
    let twice = group.double_sum((&n, &g), (&plain.splat(&super::constants::small(1)), &g));
    assert_eq!(group.is_same(&twice, &g), [u8::MAX]);
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn complete_additions_reach_infinity_and_leave_it() {
    on_every_leaf!(orders::<P256; 5>);
    on_every_leaf!(orders::<P384; 8>);
}

/// The weighted digits add up to their scalar.
fn recoding<S: MulSimd>(simd: S) {
    for window in if cfg!(miri) { 8..9 } else { 5..9 } {
        let mut limbs: [Words; 5] = samples(7, 256);
        limbs[0].iter_mut().for_each(|word| *word |= 1);
        let scalar = limbs.map(|words| simd.load(&words));
        let half = halve(simd, &scalar, 256, window);
        let mut sums = vec![(BigUint::ZERO, BigUint::ZERO); LANES];
        for at in 0..digits(256, window) {
            let digit = digit(simd, &half, at, window);
            for (lane, sum) in sums.iter_mut().enumerate() {
                let value = BigUint::from(2 * digit.index.words()[lane] + 1) << (window * at);
                let interleaved = if digit.minus >> lane & 1 == 1 { &mut sum.1 } else { &mut sum.0 };
                *interleaved += value;
            }
        }
        for (lane, (plus, minus)) in sums.into_iter().enumerate() {
            assert_eq!(plus - minus, number(&limbs.map(|words| words[lane])), "window {window}");
        }
    }
}

#[test]
fn recoded_digits_add_up_to_their_scalar() {
    on_every_leaf!(recoding);
}

/// A table passes the check, and a table with a single changed point does not.
fn tables<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(simd: S) {
    let bytes = |limbs: &[u64; L]| {
        let bytes = number(limbs).to_bytes_be();
        [vec![0; C::BYTES - bytes.len()], bytes].concat()
    };
    let public = [vec![4], bytes(&C::G[0]), bytes(&C::G[1])].concat();
    let table = EcdsaKeyTable::<S, C, L>::new(simd, &public).unwrap();
    assert_eq!(table.comb.len_bytes(), EcdsaKeyTable::<S, C, L>::BYTES);
    assert!(table.is_right(&public));
    let mut wrong = public;
    wrong[5] ^= 1;
    assert!(!table.is_right(&wrong) && EcdsaKeyTable::<S, C, L>::new(simd, &wrong).is_none());
}

#[test]
#[cfg_attr(miri, ignore = "minutes")]
fn the_check_finds_a_changed_point_of_a_table() {
    on_every_leaf!(tables::<P256; 5>);
    on_every_leaf!(tables::<P384; 8>);
}
