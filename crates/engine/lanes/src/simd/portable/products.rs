//! The twins of the field products of the curves: the kernels in plain Rust, equal in every bit.

use crate::simd::float::{
    DoubleLimbs, Factors, FloatSimd, FloatVector, LIMBS, ROUND, carry_limbs_25519, of_25519, of_p256,
    power_of_two,
};

/// The sums of a column. `high` has a large unit in the last place, so it keeps the high part of each product. `low`
/// has the rests.
#[derive(Clone, Copy)]
struct ColumnSums<D> {
    high: D,
    low: Option<D>,
}

impl<D: FloatVector> ColumnSums<D> {
    /// Adds a product.
    #[inline(always)]
    fn add_product(&mut self, a: D, b: D) {
        let high = a.times_plus(b, self.high);
        // The difference is exact, and so is the rest: docs/math/fma-fields.md, "One product".
        let rest = a.times_plus(b, self.high - high);
        self.high = high;
        self.low = Some(match self.low {
            Some(low) => low + rest,
            None => rest,
        });
    }
}

/// Multiplies modulo 2^255 - 19.
#[inline(always)]
pub(super) fn multiply_25519<S: FloatSimd>(
    simd: S,
    DoubleLimbs(a): &DoubleLimbs<S::D>,
    DoubleLimbs(b): &DoubleLimbs<S::D>,
) -> DoubleLimbs<S::D> {
    let folded = b.map(|limb| limb.times(simd.double(of_25519::FOLD)));
    let mut sums = [ColumnSums { high: simd.double(of_25519::START), low: None }; LIMBS];
    for i in 0..LIMBS {
        for j in 0..LIMBS {
            sums[(i + j) % LIMBS].add_product(a[i], if i + j < LIMBS { b[j] } else { folded[j] });
        }
    }
    carry_25519(simd, &sums)
}

/// Squares modulo 2^255 - 19. Products of different limbs are computed once, with a doubled factor.
#[inline(always)]
pub(super) fn square_25519<S: FloatSimd>(simd: S, DoubleLimbs(a): &DoubleLimbs<S::D>) -> DoubleLimbs<S::D> {
    let folded = a.map(|limb| limb.times(simd.double(of_25519::FOLD)));
    let mut sums = [ColumnSums { high: simd.double(of_25519::START), low: None }; LIMBS];
    for i in 0..LIMBS {
        let twice = a[i] + a[i];
        for j in i..LIMBS {
            let factor = if i == j { a[i] } else { twice };
            sums[(i + j) % LIMBS].add_product(factor, if i + j < LIMBS { a[j] } else { folded[j] });
        }
    }
    carry_25519(simd, &sums)
}

/// Carries every column into the next, all at once.
#[inline(always)]
fn carry_25519<S: FloatSimd>(simd: S, sums: &[ColumnSums<S::D>; LIMBS]) -> DoubleLimbs<S::D> {
    let (start, fold) = (simd.double(of_25519::START), of_25519::FOLD);
    let down = power_of_two(-(of_25519::LIMB_BITS as i32));
    let mut values = [start; LIMBS];
    for at in 0..LIMBS {
        let below = sums[(at + LIMBS - 1) % LIMBS].high - start;
        // The high sum of the topmost column comes back times 152.
        let by = simd.double(if at == 0 { fold * down } else { down });
        let Some(low) = sums[at].low else { continue };
        values[at] = below.times_plus(by, low);
    }
    carry_limbs_25519(simd, &DoubleLimbs(values))
}

/// The columns of a product of two elements.
const COLUMNS: usize = 2 * LIMBS - 1;

/// Multiplies modulo the prime of P-256 and divides by 2^264.
#[inline(always)]
pub(super) fn multiply_p256<S: FloatSimd>(
    simd: S,
    DoubleLimbs(a): &DoubleLimbs<S::D>,
    DoubleLimbs(b): &DoubleLimbs<S::D>,
) -> DoubleLimbs<S::D> {
    reduce_p256(simd, |sums, i| add_row(sums, i, a[i], b))
}

/// Computes the sum of two products modulo the prime of P-256, divided by 2^264.
#[inline(always)]
pub(super) fn sum_p256<S: FloatSimd>(
    simd: S,
    [DoubleLimbs(a), DoubleLimbs(b)]: Factors<'_, S::D>,
    [DoubleLimbs(c), DoubleLimbs(d)]: Factors<'_, S::D>,
) -> DoubleLimbs<S::D> {
    reduce_p256(simd, |sums, i| {
        add_row(sums, i, a[i], b);
        add_row(sums, i, c[i], d);
    })
}

/// Squares modulo the prime of P-256 and divides by 2^264.
#[inline(always)]
pub(super) fn square_p256<S: FloatSimd>(simd: S, DoubleLimbs(a): &DoubleLimbs<S::D>) -> DoubleLimbs<S::D> {
    reduce_p256(simd, |sums, i| {
        sums[2 * i].add_product(a[i], a[i]);
        for j in i + 1..LIMBS {
            sums[i + j].add_product(a[i] + a[i], a[j]);
        }
    })
}

/// Adds the products of a limb with all limbs of a factor.
#[inline(always)]
fn add_row<D: FloatVector>(sums: &mut [ColumnSums<D>; COLUMNS], i: usize, limb: D, factor: &[D; LIMBS]) {
    for (j, other) in factor.iter().enumerate() {
        sums[i + j].add_product(limb, *other);
    }
}

/// Computes a product whose rows `fill` adds up, with Montgomery's reduction: docs/math/fma-fields.md, P-256.
#[inline(always)]
fn reduce_p256<S: FloatSimd>(
    simd: S,
    fill: impl Fn(&mut [ColumnSums<S::D>; COLUMNS], usize),
) -> DoubleLimbs<S::D> {
    let bits = of_p256::LIMB_BITS as i32;
    let (start, down) = (simd.double(of_p256::START), simd.double(power_of_two(-bits)));
    let (up, round) = (simd.double(power_of_two(bits)), simd.double(ROUND));
    let [by_8, by_16, by_36] =
        [power_of_two(8), power_of_two(16), power_of_two(36) - power_of_two(4)].map(|by| simd.double(by));
    let mut sums = [ColumnSums { high: start, low: None }; COLUMNS];
    let (mut digits, mut carries, mut limbs) = ([start; LIMBS], [start; COLUMNS], [start; LIMBS]);
    fill(&mut sums, 0);
    for column in 0..COLUMNS {
        let mut value = sums[column].low.unwrap_or(start);
        if column > 0 {
            value = (sums[column - 1].high - start).times_plus(down, value);
        }
        if (2..LIMBS + 2).contains(&column) {
            value = digits[column - 2].times_plus(by_8, value);
        }
        if column + 1 < LIMBS {
            fill(&mut sums, column + 1);
        }
        carries[column] = value.times_plus(down, round) - round;
        let mut limb = carries[column].minus_times(up, value);
        if column > 0 {
            limb = limb + carries[column - 1];
        }
        if column >= LIMBS {
            limbs[column - LIMBS] = limb;
            continue;
        }
        // The digit of the row is the column itself, because -1/p = 1 mod 2^88.
        digits[column] = limb;
        sums[column + 4].add_product(limb, by_16);
        sums[column + 5].add_product(limb, by_36);
    }
    limbs[LIMBS - 1] = (sums[COLUMNS - 1].high - start).times_plus(down, carries[COLUMNS - 1]);
    DoubleLimbs(limbs)
}
