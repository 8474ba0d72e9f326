//! Kernels of doubles against big integers, and those in assembly against those in Rust, limb by limb.

use num_bigint::BigInt;

use super::float::{DoubleLimbs, FloatSimd, LIMBS, power_of_two};
#[cfg(target_arch = "x86_64")]
use super::{Cpu, FmaSimd};
use super::{LANES, PortableFma, Vector, tests};

/// The limbs of an element, lane by lane.
type Limbs = [[f64; LANES]; LIMBS];

/// Returns limbs up to a bound: extremes of both signs, zeros, small numbers and others.
fn samples(seed: u64, bound: f64) -> Limbs {
    std::array::from_fn(|limb| {
        let words = tests::samples(64 * seed + limb as u64);
        words.map(|word| {
            let any = (word as i64 >> 11) as f64 / power_of_two(52) * bound;
            match word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61 {
                0 | 1 => bound,
                2 | 3 => -bound,
                4 => 0.0,
                5 => (word & 7) as f64 - 3.0,
                _ => any.round_ties_even(),
            }
        })
    })
}

fn load<S: FloatSimd>(simd: S, limbs: &Limbs) -> DoubleLimbs<S::D> {
    DoubleLimbs(limbs.map(|limb| simd.double_of_bits(simd.load(&limb.map(f64::to_bits)))))
}

fn store<S: FloatSimd>(simd: S, limbs: &DoubleLimbs<S::D>) -> Limbs {
    limbs.0.map(|limb| simd.bits(limb).words().map(f64::from_bits))
}

/// Returns the integer of a lane. Every limb must be an integer.
fn integer(limbs: &Limbs, lane: usize, bits: usize) -> BigInt {
    limbs.iter().rev().fold(BigInt::default(), |sum, limb| {
        assert!(limb[lane].fract() == 0.0 && limb[lane].abs() < power_of_two(53));
        (sum << bits) + BigInt::from(limb[lane] as i64)
    })
}

fn products_of_25519<S: FloatSimd>(simd: S) {
    let p = (BigInt::from(1) << 255) - 19;
    // One side may have four units if the other has one, and so on.
    for (seed, (a, b)) in [(2.0, 2.0), (4.0, 1.0), (1.0, 4.0), (1.0, 1.0)].into_iter().cycle().enumerate() {
        if seed > if cfg!(miri) { 3 } else { 4000 } {
            return;
        }
        let bound = |units: f64| units * power_of_two(42);
        let (a, b) = (samples(2 * seed as u64, bound(a)), samples(2 * seed as u64 + 1, bound(b)));
        let square = samples(2 * seed as u64, bound(2.0));
        let (product, squared) = simd.call(|| {
            let [own_a, own_b, own_square] = [&a, &b, &square].map(|limbs| load(simd, limbs));
            (store(simd, &simd.multiply_25519(&own_a, &own_b)), store(simd, &simd.square_25519(&own_square)))
        });
        for lane in 0..LANES {
            let [a, b, square] = [&a, &b, &square].map(|limbs| integer(limbs, lane, 43));
            let difference = integer(&product, lane, 43) - a * b;
            assert_eq!(difference % &p, BigInt::default(), "seed {seed}, lane {lane}");
            let difference = integer(&squared, lane, 43) - &square * &square;
            assert_eq!(difference % &p, BigInt::default(), "seed {seed}, lane {lane}");
        }
        let limbs = product.iter().chain(&squared).flatten();
        assert!(limbs.into_iter().all(|limb| limb.abs() <= power_of_two(42) * (1.0 + power_of_two(-24))));
    }
}

#[test]
fn products_modulo_25519_are_exact_for_extreme_limbs() {
    products_of_25519(PortableFma);
    #[cfg(target_arch = "x86_64")]
    match FmaSimd::detect() {
        Some(simd) => products_of_25519(simd),
        None => eprintln!("SKIPPED: this processor has no FMA"),
    }
}

fn products_of_p256<S: FloatSimd>(simd: S) {
    let one = BigInt::from(1);
    let p = (&one << 256) - (&one << 224) + (&one << 192) + (&one << 96) - 1;
    for (seed, (a, b)) in [(9.0, 9.0), (84.0, 1.0), (2.0, 42.0), (1.0, 1.0)].into_iter().cycle().enumerate() {
        if seed > if cfg!(miri) { 3 } else { 4000 } {
            return;
        }
        // The topmost limb is that of a value of a few p.
        let samples = |seed: u64, units: f64| {
            let mut limbs = samples(seed, units * power_of_two(43));
            limbs[LIMBS - 1] = limbs[LIMBS - 1].map(|limb| (limb * power_of_two(-5)).round_ties_even());
            limbs
        };
        let (a, b) = (samples(2 * seed as u64, a), samples(2 * seed as u64 + 1, b));
        let square = samples(2 * seed as u64, 9.0);
        let factor = a;
        let half = b.map(|limb| limb.map(|limb| (limb / 2.0).round_ties_even()));
        let (product, squared, sum) = simd.call(|| {
            let [own_a, own_b, own_square] = [&a, &b, &square].map(|limbs| load(simd, limbs));
            let half = load(simd, &half);
            (
                store(simd, &simd.multiply_p256(&own_a, &own_b)),
                store(simd, &simd.square_p256(&own_square)),
                store(simd, &simd.sum_p256([&own_a, &half], [&half, &own_a])),
            )
        });
        for lane in 0..LANES {
            let [a, b, square] = [&a, &b, &square].map(|limbs| integer(limbs, lane, 44));
            let difference = (integer(&product, lane, 44) << 264) - a * b;
            assert_eq!(difference % &p, BigInt::default(), "seed {seed}, lane {lane}");
            let twice = integer(&half, lane, 44) * integer(&factor, lane, 44) * 2;
            let difference = (integer(&sum, lane, 44) << 264) - twice;
            assert_eq!(difference % &p, BigInt::default(), "seed {seed}, lane {lane}");
            let difference = (integer(&squared, lane, 44) << 264) - &square * &square;
            assert_eq!(difference % &p, BigInt::default(), "seed {seed}, lane {lane}");
        }
        let limbs = product[..LIMBS - 1].iter().chain(&squared[..LIMBS - 1]).flatten();
        assert!(limbs.into_iter().all(|limb| limb.abs() <= power_of_two(43) * (1.0 + power_of_two(-30))));
    }
}

#[test]
fn products_modulo_p256_are_exact_for_extreme_limbs() {
    products_of_p256(PortableFma);
    #[cfg(target_arch = "x86_64")]
    match FmaSimd::detect() {
        Some(simd) => products_of_p256(simd),
        None => eprintln!("SKIPPED: this processor has no FMA"),
    }
}

/// Returns the results of every kernel as bits.
#[cfg(target_arch = "x86_64")]
fn every_kernel<S: FloatSimd>(simd: S, a: &Limbs, b: &Limbs) -> Vec<[[u64; LANES]; LIMBS]> {
    simd.call(|| {
        let (a, b) = (load(simd, a), load(simd, b));
        let [mut product, mut square, mut in_place, mut squared, mut p256] = [a; 5];
        simd.multiply_25519_into(&a, &b, &mut product);
        simd.square_25519_into(&b, &mut square);
        simd.multiply_25519_by(&mut in_place, &b);
        simd.replace_by_square_25519(&mut squared);
        simd.multiply_p256_by(&mut p256, &b);
        let found = [
            product,
            square,
            in_place,
            squared,
            p256,
            simd.multiply_25519(&a, &b),
            simd.square_25519(&a),
            simd.multiply_p256(&a, &b),
            simd.square_p256(&a),
            simd.sum_p256([&a, &b], [&b, &b]),
        ];
        found.iter().map(|limbs| store(simd, limbs).map(|limb| limb.map(f64::to_bits))).collect()
    })
}

#[cfg(target_arch = "x86_64")]
#[test]
#[cfg_attr(miri, ignore = "assembly")]
fn kernels_in_assembly_give_the_limbs_of_those_in_rust() {
    let Some(fma) = FmaSimd::detect() else {
        eprintln!("SKIPPED: this processor has no FMA");
        return;
    };
    for seed in 0..2000 {
        let (a, b) = (samples(2 * seed, power_of_two(43)), samples(2 * seed + 1, power_of_two(43)));
        assert_eq!(every_kernel(fma, &a, &b), every_kernel(PortableFma, &a, &b), "seed {seed}");
    }
}

/// Returns a secret of X25519, computed as the engine does. The engine itself is not named here: a test that runs it
/// would have every kernel of every leaf compiled a second time.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn shared_secret(simd: FmaSimd) -> Vec<u8> {
    use crate::kernels::{EllipticKernels, OperationKernels};
    use oarlock_core::*;
    use oarlock_engine_kit::VerifyTableCache;
    let parts = X25519PrivateParts { scalar: vec![0x77; 32].into(), public: [0; 32] };
    let key = Key::local(KeyParts::X25519Private(parts), Fingerprint::new([0; 32]));
    let operations = [Operation::new(Shape::X25519, &key, &[0x35; 32], SecondInput::None).unwrap()];
    let jobs = Jobs::Operations(Shape::X25519, &operations);
    let mut out = Outcomes::for_jobs(&jobs);
    let tables = VerifyTableCache::new(0);
    EllipticKernels(simd).run(&tables, Shape::X25519, &operations, &mut out).unwrap();
    out.result(0).to_vec()
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[test]
fn a_run_on_a_curve_ignores_and_restores_the_caller_s_floating_point_state() {
    let Some(simd) = FmaSimd::detect() else {
        eprintln!("SKIPPED: this processor has no AVX2 with FMA");
        return;
    };
    let expected = shared_secret(simd);
    // Each rounding mode with unmasked exceptions, and with denormals as zeros.
    for state in [0x0000, 0x2000, 0x4000, 0x6000, 0xFFC0] {
        let (found, after) = super::with_mxcsr(state, || shared_secret(simd));
        assert_eq!(after, state, "the caller's state");
        assert_eq!(found, expected, "state {state:#x}");
    }
}
