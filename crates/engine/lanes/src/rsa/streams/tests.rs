//! Tests of products and squares against integers, on both leaves, for every number of limbs and at the bounds of
//! the numbers.

use num_bigint::BigUint;

use super::super::factor::{ENTRIES, PlainFactor, SecretChoice};
use super::super::memory::SpanMemory;
use super::super::number::negated_inverse;
use super::super::window::LIMB;
use super::*;
use crate::simd::{Cpu, LANES, PortableSimd, Vector, Words};

/// The limbs of eight numbers.
type Numbers = Vec<Words>;

/// Returns the limbs of eight numbers below `2^(52 limbs - spare)`: random ones (SplitMix64), and in some lanes all
/// ones, all zeros, or runs.
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

/// Returns the square of a, the product of a and b, and the product of b, as a selected entry, with a squared four
/// times. Each is computed by one stream alone and by two.
fn results<S: MulSimd>(simd: S, n: &Numbers, a: &Numbers, b: &Numbers) -> [Vec<Numbers>; 3] {
    let load = |words: &Numbers| -> Vec<S::V> { words.iter().map(|words| simd.load(words)).collect() };
    let (limbs, factor) = (n.len(), load(b));
    let mut table = vec![simd.zero(); limbs * ENTRIES];
    for (entries, limb) in table.chunks_exact_mut(ENTRIES).zip(&factor) {
        entries[11] = *limb;
    }
    let mut out: [Vec<Numbers>; 3] = Default::default();
    // A window of longer numbers takes minutes under Miri.
    let (counts, operations) = if cfg!(miri) && limbs > PAIRED { (1..=1, 2) } else { (1..=2, 3) };
    for count in counts {
        for (operation, out) in out.iter_mut().enumerate().take(operations) {
            let mut memory = SpanMemory::new(simd, ModulusStreams::<S>::spans(limbs, count));
            let mut streams = ModulusStreams::new(simd, limbs, count, &mut memory.free_spans());
            for at in 0..count {
                streams.set_modulus(at, simd.load(&n[0].map(negated_inverse))).copy_from_slice(&load(n));
                streams.value_mut(at).0.copy_from_slice(&load(a));
            }
            let mut entries = vec![simd.zero(); 2 * limbs];
            let choice = |entry| SecretChoice { table: &table, index: simd.splat(11), entry };
            match operation {
                0 => streams.square(0..count, 1),
                1 => streams.multiply(0, &[PlainFactor(&factor[..]); 2][..count]),
                _ => {
                    let mut choices: Vec<_> = entries.chunks_mut(limbs).take(count).map(choice).collect();
                    streams.raise(&mut choices);
                }
            }
            let words = |at| streams.value(at).iter().map(|limb| limb.words()).collect();
            out.extend((0..count).map(words));
        }
    }
    out
}

fn check<S: MulSimd>(simd: S, limbs: usize, seed: u64) {
    let mut n = numbers(limbs, SPARE_BITS as u32, 3 * seed);
    n[0].iter_mut().for_each(|limb| *limb |= 1);
    // The values are below 4 n.
    let (a, b) = (
        numbers(limbs, SPARE_BITS as u32 - 1, 3 * seed + 1),
        numbers(limbs, SPARE_BITS as u32, 3 * seed + 2),
    );
    let [squares, products, windows] = results(simd, &n, &a, &b);
    let radix = BigUint::from(1_u8) << (LIMB_BITS as usize * limbs);
    for lane in 0..LANES {
        let (n, a, b) = (value(&n, lane), value(&a, lane), value(&b, lane));
        let is = |results: &[Numbers], product: &BigUint, power: u32, bound: &BigUint| {
            for (at, result) in results.iter().enumerate() {
                let found = value(result, lane);
                assert!(result.iter().all(|limb| limb[lane] <= LIMB), "a limb is not carried");
                assert!(found <= bound + &n, "{limbs} limbs, lane {lane}, result {at}: too large");
                assert_eq!(
                    found * radix.pow(power) % &n,
                    product % &n,
                    "{limbs} limbs, lane {lane}, result {at}"
                );
            }
        };
        is(&squares, &(&a * &a), 1, &(&a * &a / &radix));
        is(&products, &(&a * &b), 1, &(&a * &b / &radix));
        if !windows.is_empty() {
            is(&windows, &(a.pow(16) * &b), 16, &n);
        }
    }
}

#[test]
fn montgomery_products_agree_with_integers() {
    for limbs in SIZES {
        // Miri runs one size whose products stay in registers, and one whose products go tile by tile.
        if cfg!(miri) && !matches!(limbs, 10 | 30) {
            continue;
        }
        for seed in 0..if cfg!(miri) { 1 } else { 20 } {
            check(PortableSimd, limbs, seed);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = crate::simd::IfmaSimd::detect() {
                check(simd, limbs, seed);
            }
        }
    }
}

#[test]
fn every_size_of_modulus_has_a_number_of_limbs() {
    assert_eq!([512, 516, 517, 1031, 1036, 1037, 2048, 4096, 4156, 4157].map(limbs_for), {
        [Some(10), Some(10), Some(20), Some(20), Some(20), Some(30), Some(40), Some(80), Some(80), None]
    });
}
