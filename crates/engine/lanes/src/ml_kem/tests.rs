use super::coding::{compress, decompress};
use super::reduce::{KemFactor, Q, reduce, to_montgomery};
use super::transform::{forward, inverse, inverse_scale};
use super::*;
use crate::simd::{BlindSimd, LaneArray, PortableSimd};

/// Returns the words of the quarter lanes of a vector.
fn quarters<V: Vector>(vector: V) -> Vec<i16> {
    let words = vector.words();
    words.as_ref().iter().flat_map(|word| [0, 16, 32, 48].map(|shift| (word >> shift) as i16)).collect()
}

/// Calls `check` with all words of 16 bits and what `f` makes of them.
fn each_word(
    f: impl Fn(PortableSimd, <PortableSimd as BlindSimd>::V) -> <PortableSimd as BlindSimd>::V,
    check: impl Fn(i16, i16),
) {
    for first in (i16::MIN..=i16::MAX).step_by(4) {
        let word = (0..4).rev().fold(0, |word, at| word << 16 | u64::from((first + at).cast_unsigned()));
        let simd = PortableSimd;
        for (at, made) in quarters(f(simd, simd.splat(word))).into_iter().take(4).enumerate() {
            check(first + at as i16, made);
        }
    }
}

#[test]
fn both_larger_sets_are_offered() {
    for set in MlKemSet::ALL {
        for shape in [Shape::MlKemEncaps { set }, Shape::MlKemDecaps { set }] {
            let is_offered = offers::<PortableSimd>(shape).is_some();
            assert_eq!(is_offered, set != MlKemSet::MlKem512, "{shape}");
        }
    }
}

#[test]
fn every_word_is_reduced() {
    each_word(reduce, |word, reduced| {
        assert!((0..=Q).contains(&reduced), "{word}");
        assert_eq!((reduced - word % Q) % Q, 0, "{word}");
    });
}

#[test]
fn every_word_is_multiplied_within_q() {
    for number in [0, 1, 17, 1729, 3303, 3328] {
        each_word(
            |simd, words| KemFactor::new(number).times(simd, words),
            |word, product| {
                let expected = i64::from(word) * i64::from(number);
                assert!((-Q < product && product < Q) && (i64::from(product) - expected) % i64::from(Q) == 0);
            },
        );
    }
}

#[test]
fn every_coefficient_is_compressed_as_the_standard_rounds() {
    let q = i64::from(Q);
    for bits in [4, 5, 10, 11] {
        each_word(
            |simd, words| compress(simd, words, bits),
            |word, compressed| {
                if (0..=Q).contains(&word) {
                    let rounded = (2 * (i64::from(word) << bits) + q) / (2 * q);
                    assert_eq!(i64::from(compressed), rounded % (1 << bits), "{word} to {bits} bits");
                }
            },
        );
        each_word(
            |simd, words| decompress(simd, words, bits),
            |word, coefficient| {
                if (0..1 << bits).contains(&i64::from(word)) {
                    let rounded = (i64::from(word) * q + (1 << (bits - 1))) >> bits;
                    assert_eq!(i64::from(coefficient), rounded, "{word} of {bits} bits");
                }
            },
        );
    }
}

#[test]
fn every_coefficient_gets_its_montgomery_form() {
    for coefficient in 0..4096 {
        let made = i64::from(to_montgomery(coefficient));
        assert!(made.abs() < i64::from(Q));
        assert_eq!((made - (i64::from(coefficient) << 16)) % i64::from(Q), 0, "{coefficient}");
    }
}

/// Transforms by the definition: residues modulo X^2 - zeta^(2 b + 1). FIPS 203 4.3.
fn transformed(poly: &[i64; COEFFICIENTS]) -> [i64; COEFFICIENTS] {
    let q = i64::from(Q);
    std::array::from_fn(|at| {
        let exponent = 2 * u32::from((at as u8 / 2).reverse_bits() >> 1) + 1;
        let root = (0..exponent).fold(1, |power, _| power * 17 % q);
        let half = poly.iter().skip(at % 2).step_by(2);
        half.rev().fold(0, |sum, coefficient| (sum * root + coefficient).rem_euclid(q))
    })
}

fn transforms<S: ShortSimd>() {
    let Some(simd) = S::detect() else {
        eprintln!("SKIPPED: this processor has no leaf {}", S::LEAF.name());
        return;
    };
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64
    };
    for bound in [2, 3329] {
        let polys: Vec<[i64; COEFFICIENTS]> =
            (0..lanes::<S::V>()).map(|_| std::array::from_fn(|_| draw() % (2 * bound + 1) - bound)).collect();
        // Quarter 4 w + p has a polynomial of its own.
        let mut vectors: Poly<S::V> = std::array::from_fn(|at| {
            simd.load(&LaneArray::from_fn(|lane| {
                (0..4).rev().fold(0, |word, p| word << 16 | u64::from(polys[4 * lane + p][at] as u16))
            }))
        });
        forward(simd, &mut vectors);
        let expected: Vec<_> = polys.iter().map(transformed).collect();
        for (at, vector) in vectors.iter().enumerate() {
            for (word, expected) in quarters(*vector).into_iter().zip(&expected) {
                assert_eq!(i64::from(word).rem_euclid(i64::from(Q)), expected[at], "{:?} {at}", S::LEAF);
            }
        }
        vectors = vectors.map(|vector| reduce(simd, vector));
        inverse(simd, &mut vectors, inverse_scale(3303));
        for (at, vector) in vectors.iter().enumerate() {
            for (word, poly) in quarters(*vector).into_iter().zip(&polys) {
                assert_eq!((i64::from(word) - poly[at]) % i64::from(Q), 0, "{:?} {at}", S::LEAF);
                assert!(word.abs() < Q);
            }
        }
    }
}

#[test]
fn transforms_follow_the_definition_on_every_leaf() {
    transforms::<PortableSimd>();
    #[cfg(target_arch = "x86_64")]
    {
        transforms::<crate::simd::IfmaSimd>();
        transforms::<crate::simd::Avx2Simd>();
    }
}

/// Sixteen values of 12 bits are taken by their bound, and keep their order.
fn values_below_a_bound_are_taken<S: ShortSimd>() {
    let Some(simd) = S::detect() else {
        eprintln!("SKIPPED: this processor has no leaf {}", S::LEAF.name());
        return;
    };
    let mut state = 1_u64;
    for bound in [0, 1, 2048, 3329, 4095, 4096] {
        for _ in 0..200 {
            let bytes: [u8; 24] = std::array::from_fn(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Many bytes are extreme.
                [(state >> 33) as u8, 0, 0xFF][(state >> 50) as usize % 3]
            });
            let bit = |at: usize| u16::from(bytes[at / 8] >> (at % 8) & 1);
            let value = |at: usize| (0..12).rev().fold(0, |value, low| value << 1 | bit(12 * at + low));
            let expected: Vec<u16> = (0..16).map(value).filter(|value| *value < bound).collect();
            let mut out = [0; 16];
            let count = simd.call(
                #[inline(always)]
                || simd.take_below(&bytes, bound, &mut out),
            );
            assert_eq!(out[..count], expected, "{:?}", S::LEAF);
        }
    }
}

#[test]
fn values_below_a_bound_are_taken_on_every_leaf() {
    values_below_a_bound_are_taken::<PortableSimd>();
    #[cfg(target_arch = "x86_64")]
    {
        values_below_a_bound_are_taken::<crate::simd::IfmaSimd>();
        values_below_a_bound_are_taken::<crate::simd::Avx2Simd>();
    }
}
