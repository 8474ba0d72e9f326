//! Tests of scalars modulo L and their digits.

use num_bigint::BigUint;

use super::super::scalar::{ScalarLanes, SignedDigits};
use super::super::words;
use super::{Dice, integers, limbs, on_every_leaf, order};
use crate::simd::{LANES, MulSimd};

/// Returns 512-bit numbers: multiples of L and their neighbours, the largest, and others.
fn wide_samples(dice: &mut Dice) -> [[u8; 64]; LANES] {
    std::array::from_fn(|lane| {
        let mut bytes = dice.bytes::<64>();
        let multiple = BigUint::from_bytes_le(&bytes[..dice.word() as usize % 32]) * order();
        let edge = match lane {
            0 => multiple,
            1 => multiple + 1_u8,
            2 if multiple.bits() > 0 => multiple - 1_u8,
            3 => (BigUint::from(1_u8) << 512) - 1_u8,
            _ => return bytes,
        };
        bytes.fill(0);
        let edge = edge.to_bytes_le();
        bytes[..edge.len()].copy_from_slice(&edge);
        bytes
    })
}

fn reduction<S: MulSimd>(simd: S) {
    let mut dice = Dice(4);
    for _ in 0..if cfg!(miri) { 1 } else { 200 } {
        let (a, b, c) = (wide_samples(&mut dice), wide_samples(&mut dice), wide_samples(&mut dice));
        let scalar = |lanes: &[[u8; 64]; LANES]| {
            ScalarLanes::from_wide(simd, &words::load(simd, lanes.each_ref().map(|lane| lane.as_slice())))
        };
        let (sa, sb, sc) = simd.call(|| (scalar(&a), scalar(&b), scalar(&c)));
        let sum = simd.call(|| sa.times_plus(simd, &sb.into_montgomery(simd), &sc));
        let (found, sum) = (integers(sa.limbs()), integers(sum.limbs()));
        for lane in 0..LANES {
            let [a, b, c] = [&a, &b, &c].map(|lanes| BigUint::from_bytes_le(&lanes[lane]));
            assert_eq!(found[lane], &a % order());
            assert_eq!(sum[lane], (a * b + c) % order());
        }
    }
}

/// The weighted sum of the digits is the scalar, and every digit is in bounds.
fn digits<S: MulSimd, const WIDTH: usize>(simd: S) {
    let mut dice = Dice(5);
    let scalars: [BigUint; LANES] = std::array::from_fn(|lane| match lane {
        0 => BigUint::default(),
        1 => order() - 1_u8,
        _ => BigUint::from_bytes_le(&dice.bytes::<32>()) % order(),
    });
    let signed = SignedDigits::<WIDTH>::new(simd, &ScalarLanes::from_limbs(limbs(simd, &scalars)));
    for (lane, scalar) in scalars.iter().enumerate() {
        let (mut positive, mut negative) = (BigUint::default(), BigUint::default());
        for at in 0..signed.len() {
            let (magnitudes, signs) = signed.at(at);
            assert!(magnitudes[lane] <= 1 << (WIDTH - 1));
            let term = BigUint::from(magnitudes[lane]) << (WIDTH * at);
            if signs >> lane & 1 == 1 { negative += term } else { positive += term }
        }
        assert_eq!(positive, scalar + negative);
    }
}

fn every_width<S: MulSimd>(simd: S) {
    digits::<S, 4>(simd);
    // Other widths run the same code.
    if cfg!(miri) {
        return;
    }
    digits::<S, 5>(simd);
    digits::<S, 6>(simd);
    digits::<S, 7>(simd);
    digits::<S, 8>(simd);
    digits::<S, 10>(simd);
}

#[test]
fn scalars_agree_with_big_integers() {
    on_every_leaf!(reduction);
}

#[test]
fn signed_digits_add_up_to_the_scalar() {
    on_every_leaf!(every_width);
}
