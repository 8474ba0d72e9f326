//! Products and squares are what integers say, on both leaves, for every number of limbs and at the bounds of their numbers.

use num_bigint::BigUint;

use super::super::factor::{ENTRIES, Itself, Picked, Plain};
use super::super::number::negated_inverse;
use super::super::window::LIMB;
use super::*;
use crate::simd::{LANES, Portable, Vector, Words};

/// Eight numbers, limb by limb.
type Numbers = Vec<Words>;

/// Limbs of eight numbers below `2^(52 limbs - spare)`: random ones (SplitMix64), and in some lanes all ones, all zeros, or runs.
fn numbers(limbs: usize, spare: u32, seed: u64) -> Numbers {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (word ^ (word >> 31)) & LIMB
    };
    let mut out: Numbers = (0..limbs)
        .map(|at| [next(), next(), next(), next(), LIMB, if at % 3 == 0 { LIMB } else { 0 }, 1 << 51, 0])
        .collect();
    out[limbs - 1].iter_mut().for_each(|limb| *limb >>= spare);
    out
}

fn value(numbers: &Numbers, lane: usize) -> BigUint {
    numbers.iter().rev().fold(BigUint::ZERO, |value, limb| (value << LIMB_BITS) + limb[lane])
}

/// The product of a and b, by a picked entry of a table, and the square of a; each twice, one with its pair.
fn results<S: Simd>(simd: S, n: &Numbers, a: &Numbers, b: &Numbers) -> [Numbers; 6] {
    let load = |words: &Numbers| -> Number<S> {
        Zeroizing::new(words.iter().map(|words| simd.load(words)).collect())
    };
    let (limbs, inverse) = (n.len(), simd.load(&n[0].map(negated_inverse)));
    let moduli = Moduli::new(simd, load(n), inverse);
    let (a, b) = (load(a), load(b));
    let mut table = number(simd, limbs * ENTRIES);
    for (entries, limb) in table.chunks_exact_mut(ENTRIES).zip(a.iter()) {
        entries[11] = *limb;
    }
    let mut out: [Number<S>; 6] = std::array::from_fn(|_| number(simd, limbs));
    let mut scratch: [Scratch<S>; 6] = std::array::from_fn(|_| Scratch::new(simd, limbs));
    let picked = simd.call(|| Picked::new(&table, simd.splat(11), |bit| simd.splat(1 << bit)));
    let (first, second) = out.split_at_mut(2);
    let (second, third) = second.split_at_mut(2);
    let (room, more) = scratch.split_at_mut(2);
    let (more, most) = more.split_at_mut(2);
    in_turn(first.iter_mut().zip(room).map(|(out, scratch)| Task {
        moduli: &moduli,
        a: Plain(&a),
        b: &b,
        out,
        scratch,
    }));
    in_turn(second.iter_mut().zip(more).map(|(out, scratch)| Task {
        moduli: &moduli,
        a: picked,
        b: &b,
        out,
        scratch,
    }));
    in_turn(third.iter_mut().zip(most).map(|(out, scratch)| Task {
        moduli: &moduli,
        a: Itself(&a),
        b: &a,
        out,
        scratch,
    }));
    out.map(|out| out.iter().map(|limb| limb.words()).collect())
}

fn check<S: Simd>(simd: S, limbs: usize, seed: u64) {
    let mut n = numbers(limbs, SPARE_BITS as u32, 3 * seed);
    n[0].iter_mut().for_each(|limb| *limb |= 1);
    // Up to 4 n at most.
    let (a, b) = (
        numbers(limbs, SPARE_BITS as u32 - 1, 3 * seed + 1),
        numbers(limbs, SPARE_BITS as u32, 3 * seed + 2),
    );
    let results = results(simd, &n, &a, &b);
    let radix = BigUint::from(1_u8) << (LIMB_BITS as usize * limbs);
    for lane in 0..LANES {
        let (n, a, b) = (value(&n, lane), value(&a, lane), value(&b, lane));
        for (at, result) in results.iter().enumerate() {
            let factor = if at < 4 { &b } else { &a };
            let product = &a * factor;
            let found = value(result, lane);
            assert!(result.iter().all(|limb| limb[lane] <= LIMB), "a limb is not carried");
            assert!(found <= &product / &radix + &n, "{limbs} limbs, lane {lane}, result {at}: too large");
            assert_eq!(found * &radix % &n, product % &n, "{limbs} limbs, lane {lane}, result {at}");
        }
    }
}

#[test]
fn products_are_those_of_integers() {
    for limbs in SIZES {
        for seed in 0..if cfg!(miri) { 1 } else { 20 } {
            check(Portable, limbs, seed);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = crate::simd::Ifma::detect() {
                check(simd, limbs, seed);
            }
        }
        if cfg!(miri) && limbs == 30 {
            break;
        }
    }
}

#[test]
fn every_size_of_modulus_finds_its_limbs() {
    assert_eq!([512, 516, 517, 1031, 1036, 1037, 2048, 4096, 4156, 4157].map(limbs_for), {
        [Some(10), Some(10), Some(20), Some(20), Some(20), Some(30), Some(40), Some(80), Some(80), None]
    });
}
