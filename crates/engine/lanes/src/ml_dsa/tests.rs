use super::challenge::{Challenge, MAX_HASH_WORDS};
use super::key::DsaSecret;
use super::reduce::{DsaFactor, Q, centre, divide_sums, lift};
use super::rounding::{decompose, exceeds, make_hint, use_hint};
use super::transform::{ZETA, forward, inverse, inverse_scale};
use super::*;
use crate::simd::{BlindSimd, ShortVector};
use crate::simd::{Cpu, LaneArray, PortableSimd, Simd};

const PORTABLE: PortableSimd = PortableSimd;

/// Returns the words of the half lanes of a vector.
fn halves<V: Vector>(vector: V) -> Vec<i32> {
    vector.words().as_ref().iter().flat_map(|word| [*word as i32, (word >> 32) as i32]).collect()
}

/// Loads a word for each half lane.
fn load<S: Simd>(simd: S, word: impl Fn(usize) -> i32) -> S::V {
    simd.load(&LaneArray::from_fn(|lane| {
        [2 * lane, 2 * lane + 1]
            .map(&word)
            .map(|word| u64::from(word.cast_unsigned()))
            .into_iter()
            .rev()
            .fold(0, |all, word| all << 32 | word)
    }))
}

/// Calls the check on every leaf of this machine.
macro_rules! on_every_leaf {
    ($check:ident) => {
        $check(PORTABLE);
        #[cfg(target_arch = "x86_64")]
        {
            match crate::simd::IfmaSimd::detect() {
                Some(simd) => $check(simd),
                None => eprintln!("SKIPPED: this processor has no leaf avx512"),
            }
            match crate::simd::Avx2Simd::detect() {
                Some(simd) => $check(simd),
                None => eprintln!("SKIPPED: this processor has no leaf avx2"),
            }
        }
    };
}

/// Returns numbers that look random.
fn numbers() -> impl FnMut() -> u64 {
    let mut state = 1_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 16
    }
}

#[test]
fn both_shapes_of_every_set_are_offered() {
    for set in MlDsaSet::ALL {
        assert!(offers::<PortableSimd>(Shape::MlDsaSign { set }).is_some());
        assert!(offers::<PortableSimd>(Shape::MlDsaVerify { set }).is_some());
    }
    assert!(offers::<PortableSimd>(Shape::Ed25519Verify).is_none());
}

#[test]
fn jobs_and_half_lanes_are_one_to_one() {
    fn check<V: Vector>() {
        for job in 0..lanes::<V>() {
            assert_eq!(job_of::<V>(half_of::<V>(job)), job);
        }
    }
    check::<<PortableSimd as BlindSimd>::V>();
}

fn products_are_residues<S: ShortSimd>(simd: S) {
    let mut next = numbers();
    let extremes = [i32::MIN, i32::MIN + 1, -Q, -1, 0, 1, Q, i32::MAX];
    for number in [0, 1, 2, ZETA, Q as u64 / 2, Q as u64 - 1] {
        for turn in 0..200 {
            let drawn: Vec<i32> = (0..16).map(|_| next() as i32).collect();
            let word = |half: usize| if turn == 0 { extremes[half % 8] } else { drawn[half] };
            let made = simd.call(
                #[inline(always)]
                || DsaFactor::new(number).times(simd, load(simd, word)),
            );
            for (half, made) in halves(made).into_iter().enumerate() {
                let expected = i64::from(word(half)) * number as i64;
                assert!(-Q < made && made < Q && (i64::from(made) - expected) % i64::from(Q) == 0);
            }
        }
    }
}

#[test]
fn products_are_residues_on_every_leaf() {
    on_every_leaf!(products_are_residues);
}

fn sums_are_divided<S: ShortSimd>(simd: S) {
    let mut next = numbers();
    for _ in 0..500 {
        let sums: Vec<i64> = (0..16).map(|_| (next() << 16) as i64 >> 10).collect();
        let of = |first: usize| {
            simd.load(&LaneArray::from_fn(|lane| sums[(first + 2 * lane) % 16].cast_unsigned()))
        };
        for (half, made) in halves(divide_sums(simd, of(0), of(1))).into_iter().enumerate() {
            assert!(-Q < made && made < Q);
            assert_eq!((i128::from(made) * (1 << 32) - i128::from(sums[half])) % i128::from(Q), 0);
        }
    }
}

#[test]
fn sums_are_divided_on_every_leaf() {
    on_every_leaf!(sums_are_divided);
}

fn words_are_centred_and_lifted<S: ShortSimd>(simd: S) {
    for multiple in [-1, 0, 1] {
        for small in [-(1 << 21), -245_760, -1, 0, 1, 245_760, 1 << 21] {
            let word = small + multiple * Q;
            assert_eq!(halves(centre(simd, load(simd, |_| word)))[0], small);
        }
    }
    for word in [1 - Q, -1, 0, 1, Q - 1] {
        assert_eq!(halves(lift(simd, load(simd, |_| word)))[1], word.rem_euclid(Q));
    }
    for (word, bound, is_beyond) in
        [(5, 6, false), (6, 6, true), (-6, 6, true), (-5, 6, false), (0, 1, false)]
    {
        let mask = exceeds(simd, load(simd, |_| word), bound).negative32();
        assert_eq!(mask & 1 == 1, is_beyond, "{word} {bound}");
    }
}

#[test]
fn words_are_centred_and_lifted_on_every_leaf() {
    on_every_leaf!(words_are_centred_and_lifted);
}

/// FIPS 204 algorithm 36.
fn decomposed<P: DsaSet>(coefficient: i32) -> (i32, i32) {
    let mut low = coefficient % (2 * P::GAMMA2);
    if low > P::GAMMA2 {
        low -= 2 * P::GAMMA2;
    }
    if coefficient - low == Q - 1 { (0, low - 1) } else { ((coefficient - low) / (2 * P::GAMMA2), low) }
}

fn every_coefficient_is_decomposed<S: ShortSimd, P: DsaSet>(simd: S) {
    let width = S::V::HALVES as i32;
    for first in (0..Q).step_by(width as usize) {
        let word = |half: usize| (first + half as i32).min(Q - 1);
        let coefficients = load(simd, word);
        let (high, low, hinted) = simd.call(
            #[inline(always)]
            || {
                let (high, low) = decompose::<S, P>(simd, coefficients);
                (high, low, use_hint::<S, P>(simd, 0x5555, coefficients))
            },
        );
        for (half, (high, (low, hinted))) in
            halves(high).into_iter().zip(halves(low).into_iter().zip(halves(hinted))).enumerate()
        {
            let expected = decomposed::<P>(word(half));
            assert_eq!((high, low), expected, "{} at {}", P::SET, word(half));
            let change = if low > 0 { 1 } else { -1 };
            let corrected = if half % 2 == 0 { (high + change).rem_euclid(P::HIGH_PARTS) } else { high };
            assert_eq!(hinted, corrected, "{} at {}", P::SET, word(half));
        }
    }
}

#[test]
fn every_coefficient_is_decomposed_as_the_standard_says() {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = crate::simd::IfmaSimd::detect() {
        every_coefficient_is_decomposed::<_, Dsa44>(simd);
        every_coefficient_is_decomposed::<_, Dsa65>(simd);
        return;
    }
    every_coefficient_is_decomposed::<_, Dsa44>(PORTABLE);
    every_coefficient_is_decomposed::<_, Dsa65>(PORTABLE);
}

fn hints_are_made<S: ShortSimd, P: DsaSet>(simd: S) {
    let mut next = numbers();
    for turn in 0..20_000 {
        let coefficient = match turn % 4 {
            0 => (next() % Q as u64) as i32,
            // Around the bounds of high parts, and around 0.
            1 => (turn / 4 % P::HIGH_PARTS * 2 + 1) * P::GAMMA2 + turn / 400 % 5 - 2,
            2 => turn / 4 % 9,
            _ => Q - 1 - turn / 4 % 9,
        };
        // FIPS 204 algorithm 7, step 26: the low part plus the change decides.
        let change = (next() % (2 * P::GAMMA2 as u64 - 1)) as i32 - P::GAMMA2 + 1;
        let change = if turn % 3 == 0 { change % 4 } else { change };
        let (high, low) = decomposed::<P>(coefficient);
        let expected = decomposed::<P>((coefficient + change).rem_euclid(Q)).0 != high;
        let hint =
            make_hint::<S, P>(simd, load(simd, |_| high << 24), load(simd, |_| low), load(simd, |_| change));
        assert_eq!(hint.negative32() & 1 == 1, expected, "{}: {coefficient} {change}", P::SET);
    }
}

#[test]
fn hints_are_made_where_the_high_part_changes() {
    hints_are_made::<_, Dsa44>(PORTABLE);
    hints_are_made::<_, Dsa65>(PORTABLE);
}

/// Evaluates a polynomial at the root of each index. FIPS 204 7.5.
fn transformed(poly: &[i32; COEFFICIENTS]) -> [i32; COEFFICIENTS] {
    let q = i64::from(Q);
    std::array::from_fn(|at| {
        let exponent = 2 * u32::from((at as u8).reverse_bits()) + 1;
        let root = (0..exponent).fold(1, |power, _| power * ZETA as i64 % q);
        let value = poly.iter().rev().fold(0, |sum, coefficient| (sum * root + i64::from(*coefficient)) % q);
        value.rem_euclid(q) as i32
    })
}

fn transforms_follow_the_definition<S: ShortSimd>(simd: S) {
    let mut next = numbers();
    for bound in [2, Q as u64] {
        let polys: Vec<[i32; COEFFICIENTS]> = (0..S::V::HALVES)
            .map(|_| std::array::from_fn(|_| (next() % (2 * bound - 1)) as i32 - bound as i32 + 1))
            .collect();
        let mut vectors: Poly<S::V> = std::array::from_fn(|at| load(simd, |half| polys[half][at]));
        forward(simd, &mut vectors);
        for (half, poly) in polys.iter().enumerate() {
            for (at, expected) in transformed(poly).into_iter().enumerate() {
                let word = halves(vectors[at])[half];
                assert!(word.abs() <= 9 * Q && word.rem_euclid(Q) == expected, "{:?} {at}", S::LEAF);
            }
        }
        // Back, and times 2^32, by which the sums are divided first.
        for vector in &mut vectors {
            let (even, odd) =
                (vector.mul32_signed(simd.splat32(1)), vector.high_halves().mul32_signed(simd.splat32(1)));
            *vector = divide_sums(simd, even, odd);
        }
        inverse(simd, &mut vectors, inverse_scale(32));
        for (half, poly) in polys.iter().enumerate() {
            for at in 0..COEFFICIENTS {
                let word = halves(vectors[at])[half];
                assert!(word.abs() < Q && (word - poly[at]) % Q == 0, "{:?} {at}", S::LEAF);
            }
        }
    }
}

#[test]
fn transforms_follow_the_definition_on_every_leaf() {
    on_every_leaf!(transforms_follow_the_definition);
}

#[test]
fn the_inverse_transform_takes_the_largest_sums() {
    let simd = PORTABLE;
    // What `divide_sums` makes of sums of eight products is below q / 2 + 2^21, and only sums grow.
    for word in [Q / 2 + (1 << 21), -(Q / 2) - (1 << 21)] {
        let mut vectors = [load(simd, |_| word); COEFFICIENTS];
        inverse(simd, &mut vectors, inverse_scale(0));
        let expected = {
            // Only the first coefficient is not 0: the sum over 256, times 256 values that are all alike.
            i64::from(word).rem_euclid(i64::from(Q))
        };
        assert_eq!(i64::from(halves(vectors[0])[0]).rem_euclid(i64::from(Q)), expected);
        assert!(vectors[1..].iter().all(|vector| halves(*vector)[0] % Q == 0));
    }
}

#[test]
fn pairs_hold_their_products() {
    assert_eq!(
        [DsaSecret::<Dsa44>::PAIR_BITS, DsaSecret::<Dsa65>::PAIR_BITS, DsaSecret::<Dsa87>::PAIR_BITS],
        [8, 9, 8]
    );
    for (bits, beta) in [(8, Dsa44::BETA), (9, Dsa65::BETA), (8, Dsa87::BETA)] {
        assert!(beta < 1 << (bits - 1) && (beta << bits) + beta < 1 << 22);
    }
}

fn challenges_have_the_weight_of_the_set<S: ShortSimd>(simd: S) {
    let mut next = numbers();
    let hashes = std::array::from_fn(|_| std::array::from_fn(|_| simd.load(&LaneArray::from_fn(|_| next()))));
    let _: &[_; MAX_HASH_WORDS] = &hashes;
    let mut poly = [simd.zero(); COEFFICIENTS];
    let mut challenge = Challenge::ZERO;
    for jobs in [1, lanes::<S::V>()] {
        challenge.draw::<S, Dsa87>(simd, &hashes, jobs);
        challenge.write(simd, &mut poly);
        for job in 0..lanes::<S::V>() {
            let coefficients = poly.iter().map(|vector| halves(*vector)[half_of::<S::V>(job)]);
            let weight = coefficients.map(|coefficient| coefficient.pow(2)).sum::<i32>();
            assert_eq!(weight, if job < jobs { 60 } else { 0 });
        }
    }
}

#[test]
fn challenges_have_the_weight_of_the_set_on_every_leaf() {
    on_every_leaf!(challenges_have_the_weight_of_the_set);
}

/// Eight values of 24 bits lose their highest bits, and are compared with the bound.
fn values_are_compared<S: ShortSimd>(simd: S) {
    let mut next = numbers();
    for turn in 0..500 {
        let values: [u32; 8] = std::array::from_fn(|at| match (turn + at) % 5 {
            0 => Q as u32 - 1,
            1 if turn % 2 == 0 => Q as u32,
            2 => 0x7F_FFFF * u32::from(turn % 7 == 0),
            _ => (next() % Q as u64) as u32,
        });
        let mut bytes = [0; 24];
        for (bytes, value) in bytes.as_chunks_mut::<3>().0.iter_mut().zip(values) {
            let top = u32::from(turn % 3 == 0) << 23;
            bytes.copy_from_slice(&(value | top).to_le_bytes()[..3]);
        }
        let mut out = [0; 8];
        let are_below = simd.call(
            #[inline(always)]
            || simd.are_below(&bytes, Q as u32, &mut out),
        );
        assert_eq!((out, are_below), (values, values.iter().all(|value| *value < Q as u32)), "{:?}", S::LEAF);
    }
}

#[test]
fn values_are_compared_on_every_leaf() {
    on_every_leaf!(values_are_compared);
}
