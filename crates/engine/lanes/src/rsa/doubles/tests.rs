//! Tests of products of doubles against integers, and of the kernels against their twin, for every shape and at the
//! bounds of limbs and numbers.

use std::num::NonZeroUsize;

use num_bigint::BigInt;

use super::super::number::{negated_inverse_mod_radix, power_of_two_mod};
use super::*;
use crate::simd::PortableFma;
use crate::simd::doubles::DoubleModulus;

type Numbers = Vec<DoubleVector>;

/// SplitMix64.
struct TestRandom(u64);

impl TestRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word ^ (word >> 31)
    }

    /// Returns four numbers below `R / 2^spare` in magnitude: random limbs, the largest of one sign, the largest of
    /// changing signs, and runs of zeros.
    fn numbers(&mut self, shape: &DoubleShape, spare: u32) -> Numbers {
        let half = 1_i64 << (shape.limb_bits - 1);
        let bound = shape.limb_bound() as i64;
        let any = |word: u64| (word >> (64 - shape.limb_bits)).cast_signed() - half;
        let limb = |at: usize, random: &mut Self| {
            let word = random.next();
            let sign = if word & 1 == 0 { bound } else { -bound };
            [any(word), bound, sign, if word & 6 == 0 { any(word) } else { 0 }].map(|limb| {
                // The highest limb keeps the number within its bound.
                if at + 1 == shape.limbs { limb >> spare } else { limb }
            })
        };
        (0..shape.limbs).map(|at| DoubleVector::from_integers(limb(at, self))).collect()
    }
}

fn value(numbers: &[DoubleVector], lane: usize, limb_bits: u32) -> BigInt {
    numbers.iter().rev().fold(BigInt::ZERO, |value, limb| (value << limb_bits) + limb.integers()[lane])
}

/// The words of odd moduli with all ones, zeros between two ones, random bits, and the least modulus of the shape.
fn moduli(shape: &DoubleShape, random: &mut TestRandom) -> [Limbs; DOUBLES] {
    let bits = shape.limbs * shape.limb_bits as usize - SPARE_BITS;
    let len = (shape.limbs * shape.limb_bits as usize).div_ceil(LIMB_BITS as usize);
    let mut bit = |at: usize, lane: usize| match lane {
        0 => true,
        1 => at == 0 || at + 1 == bits,
        2 => at == 0 || random.next() & 1 == 1,
        _ => at < 2,
    };
    std::array::from_fn(|lane| {
        let mut limbs = Limbs::new(vec![0; len]);
        for at in (0..bits).filter(|at| bit(*at, lane)) {
            limbs[at / LIMB_BITS as usize] |= 1 << (at % LIMB_BITS as usize);
        }
        limbs
    })
}

/// A shape with moduli, in the format of the leaf and as integers.
struct TestModuli {
    shape: &'static DoubleShape,
    n: Numbers,
    inverse: Numbers,
    integers: [BigInt; DOUBLES],
}

impl TestModuli {
    fn new(shape: &'static DoubleShape, random: &mut TestRandom) -> Self {
        let moduli = moduli(shape, random);
        let stored = moduli.each_ref().map(|n| words::stored(n, shape));
        let inverses = moduli.each_ref().map(|n| words::stored(&negated_inverse_mod_radix(n), shape));
        let load = |words: &[Limbs; DOUBLES]| {
            (0..shape.limbs)
                .map(|at| DoubleVector::from_bits(words.each_ref().map(|words| words[at])))
                .collect::<Numbers>()
        };
        let integers = moduli
            .each_ref()
            .map(|n| n.iter().rev().fold(BigInt::ZERO, |value, limb| (value << LIMB_BITS as usize) + *limb));
        Self { shape, n: load(&stored), inverse: load(&inverses), integers }
    }

    fn modulus(&self) -> DoubleModulus<'_> {
        DoubleModulus { n: &self.n, inverse: &self.inverse }
    }

    fn product(&self, simd: impl DoubleSimd, a: &Numbers, b: &Numbers) -> Numbers {
        let _state = simd.float_state();
        let (mut value, mut scratch) = (a.clone(), vec![DoubleVector::ZERO; self.shape.scratch_len()]);
        simd.multiply(self.shape, &mut value, b, self.modulus(), &mut scratch);
        value
    }

    fn square(&self, simd: impl DoubleSimd, a: &Numbers, times: usize) -> Numbers {
        let times = NonZeroUsize::new(times).unwrap();
        let _state = simd.float_state();
        let (mut value, mut scratch) = (a.clone(), vec![DoubleVector::ZERO; self.shape.scratch_len()]);
        simd.square(self.shape, times, &mut value, self.modulus(), &mut scratch);
        value
    }

    /// Checks that a result is `product / R` modulo n, and below `|product| / R + n`.
    fn assert_product(&self, found: &Numbers, product: impl Fn(usize) -> BigInt) {
        let limb_bits = self.shape.limb_bits;
        for (lane, n) in self.integers.iter().enumerate() {
            let (found, product) = (value(found, lane, limb_bits), product(lane));
            let radix = BigInt::from(1) << (limb_bits as usize * self.shape.limbs);
            assert_eq!((&found * &radix - &product) % n, BigInt::ZERO, "{:?} lane {lane}", self.shape);
            let bound = product.magnitude() + radix.magnitude() * n.magnitude();
            assert!(
                found.magnitude() * radix.magnitude() <= bound,
                "{:?} lane {lane}: too large",
                self.shape
            );
        }
    }
}

/// The shapes to test: the smallest alone under Miri, where the others take minutes.
fn shapes() -> &'static [DoubleShape] {
    if cfg!(miri) { &SHAPES[..1] } else { &SHAPES }
}

/// The shapes, and the number of cases of each.
fn cases() -> impl Iterator<Item = (&'static DoubleShape, u64)> {
    shapes()
        .iter()
        .map(|shape| (shape, if cfg!(miri) { 1 } else { (2000 / shape.limbs / shape.limbs + 3) as u64 }))
}

#[test]
fn products_of_doubles_agree_with_integers() {
    for (shape, count) in cases() {
        for seed in 0..count {
            let mut random = TestRandom(seed);
            let moduli = TestModuli::new(shape, &mut random);
            let (a, b) = (random.numbers(shape, 4), random.numbers(shape, 4));
            let integer = |numbers: &Numbers, lane| value(numbers, lane, shape.limb_bits);
            let product = moduli.product(PortableFma, &a, &b);
            moduli.assert_product(&product, |lane| integer(&a, lane) * integer(&b, lane));
            let square = moduli.square(PortableFma, &a, 1);
            moduli.assert_product(&square, |lane| integer(&a, lane) * integer(&a, lane));
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[test]
fn kernels_of_doubles_are_equal_to_their_twin() {
    let Some(simd) = crate::simd::FmaSimd::detect() else {
        eprintln!("SKIPPED: this processor has no AVX2 with FMA");
        return;
    };
    for shape in shapes() {
        for seed in 0..200 / shape.tiles() as u64 {
            let mut random = TestRandom(seed);
            let moduli = TestModuli::new(shape, &mut random);
            let (a, b) = (random.numbers(shape, 4), random.numbers(shape, 4));
            let bits = |numbers: Numbers| numbers.into_iter().map(DoubleVector::bits).collect::<Vec<_>>();
            let (found, expected) = (moduli.product(simd, &a, &b), moduli.product(PortableFma, &a, &b));
            assert_eq!(bits(found), bits(expected), "product, {shape:?}, seed {seed}");
            let (found, expected) = (moduli.square(simd, &a, 3), moduli.square(PortableFma, &a, 3));
            assert_eq!(bits(found), bits(expected), "square, {shape:?}, seed {seed}");
            let table: Numbers = (0..1 << PICK_BITS).flat_map(|_| random.numbers(shape, 4)).collect();
            let index = DoubleVector::from_bits(std::array::from_fn(|_| random.next() % (1 << PICK_BITS)));
            let pick = |simd: &dyn Fn(&mut [DoubleVector])| {
                let mut entry = vec![DoubleVector::ZERO; shape.limbs];
                simd(&mut entry);
                bits(entry)
            };
            let found = pick(&|entry| DoubleSimd::pick(simd, shape, &table, index, entry));
            assert_eq!(found, pick(&|entry| DoubleSimd::pick(PortableFma, shape, &table, index, entry)));
            let lane = index.bits()[1] as usize;
            assert_eq!(found[0][1], table[lane * shape.limbs].bits()[1]);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[test]
fn a_run_ignores_and_restores_the_caller_s_floating_point_state() {
    let Some(simd) = crate::simd::FmaSimd::detect() else {
        eprintln!("SKIPPED: this processor has no AVX2 with FMA");
        return;
    };
    let mut random = TestRandom(5);
    let moduli = TestModuli::new(&SHAPES[1], &mut random);
    let (a, b) = (random.numbers(moduli.shape, 4), random.numbers(moduli.shape, 4));
    let expected = moduli.product(simd, &a, &b);
    // Each rounding mode with unmasked exceptions, and with denormals as zeros.
    for state in [0x0000, 0x2000, 0x4000, 0x6000, 0xFFC0] {
        let (found, after) = crate::simd::with_mxcsr(state, || moduli.product(simd, &a, &b));
        assert_eq!(after, state, "the caller's state");
        assert!(found == expected, "state {state:#x}");
    }
}

#[test]
fn sums_reduction_and_plain_products_agree_with_integers() {
    for shape in shapes() {
        let mut random = TestRandom(7);
        let moduli = TestModuli::new(shape, &mut random);
        let leaf = DoubleLeaf(PortableFma);
        let (a, b) = (random.numbers(shape, 6), random.numbers(shape, 6));
        let integer = |numbers: &Numbers, lane| value(numbers, lane, shape.limb_bits);
        let (mut sum, mut difference) = (a.clone(), a.clone());
        leaf.add(&mut sum, &b);
        leaf.subtract_from(&mut difference, &b, &moduli.n);
        let mut product = vec![DoubleVector::ZERO; 2 * shape.limbs];
        leaf.multiply_add(&a, &b, &sum, &mut product);
        for lane in 0..DOUBLES {
            let (a, b) = (integer(&a, lane), integer(&b, lane));
            assert_eq!(integer(&sum, lane), &a + &b);
            assert_eq!(integer(&difference, lane), &b - &a);
            assert_eq!(integer(&product, lane), &a * &b + &a + &b);
        }
        // -1, 0, n - 1 and 1 - n.
        let one = |sign: f64| {
            let mut number = vec![DoubleVector::ZERO; shape.limbs];
            number[0] = DoubleVector::splat(sign);
            number
        };
        let mut below = one(1.0);
        leaf.subtract_from(&mut below, &moduli.n, &moduli.n);
        let mut above = moduli.n.clone();
        leaf.subtract_from(&mut above, &one(1.0), &moduli.n);
        for number in [one(-1.0), one(0.0), below, above] {
            let mut reduced = number.clone();
            leaf.reduce(&mut reduced, &moduli.n);
            let count = (shape.limbs * shape.limb_bits as usize).div_ceil(64);
            let mut words = vec![0; DOUBLES * count];
            leaf.words_of_limbs(shape.limbs, &reduced, &mut words, count);
            for (lane, words) in words.chunks_exact(count).enumerate() {
                let n = &moduli.integers[lane];
                let expected = ((integer(&number, lane) % n) + n) % n;
                let found = words.iter().rev().fold(BigInt::ZERO, |value, word| (value << 64) + *word);
                assert_eq!(found, expected, "{shape:?} lane {lane}");
            }
        }
    }
}

#[test]
fn words_become_limbs_and_come_back() {
    for shape in shapes() {
        let mut random = TestRandom(9);
        let bits = shape.limbs * shape.limb_bits as usize - SPARE_BITS;
        let count = bits.div_ceil(64);
        let mut number = |kind: usize| -> Vec<u64> {
            let word = |at: usize| match kind {
                0 => u64::MAX,
                1 => random.next(),
                2 => 1 << (at % 64),
                _ => 0,
            };
            let mut words: Vec<u64> = (0..count).map(word).collect();
            if !bits.is_multiple_of(64) {
                words[count - 1] &= (1 << (bits % 64)) - 1;
            }
            words
        };
        let numbers = [number(0), number(1), number(2), number(3)];
        let leaf = DoubleLeaf(PortableFma);
        let mut limbs = vec![DoubleVector::ZERO; shape.limbs];
        leaf.limbs_of_words(shape.limbs, numbers.each_ref().map(|words| &words[..]), &mut [], &mut limbs);
        let mut words = vec![1; DOUBLES * count];
        leaf.words_of_limbs(shape.limbs, &limbs, &mut words, count);
        assert_eq!(words, numbers.concat());
    }
}

#[test]
fn every_size_of_modulus_has_a_shape() {
    let limbs_for = <DoubleLeaf<PortableFma> as RsaLeaf<DOUBLES>>::limbs_for;
    assert_eq!([256, 512, 524, 525, 1024, 1025, 1026, 1536, 2048, 3072, 4096, 4182, 4183].map(limbs_for), {
        let [small, large] = [Some(12), Some(91)];
        let middle = [Some(21), Some(21), Some(21), Some(35), Some(35), Some(45), Some(70)];
        let [a, b, c, d, e, f, g] = middle;
        [small, small, small, a, b, c, d, e, f, g, large, large, None]
    });
    // The constants of a key of the first shape.
    let n = Limbs::new([vec![5], vec![0; 9], vec![1]].concat());
    let powers = <DoubleLeaf<PortableFma> as RsaLeaf<DOUBLES>>::radix_powers(&n, 12);
    assert_eq!(powers, [528, 1056, 1584].map(|power| power_of_two_mod(power, &n)));
}
