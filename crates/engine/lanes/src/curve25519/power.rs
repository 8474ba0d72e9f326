//! Powers that take hundreds of squarings, for many groups of lanes at once. A single chain would wait for its own
//! carries.

use zeroize::Zeroizing;

use super::constants::ONE;
use super::field::{Factor, FieldFactor, FieldSimd, WideSum};

/// One vector of eight values per group.
type Groups<S> = Zeroizing<Vec<Factor<S>>>;

/// Computes `x^(2^252 - 3)`, whose exponent is (p-5)/8, for every group.
pub(super) fn for_square_roots<S: FieldSimd>(simd: S, x: &[Factor<S>]) -> Groups<S> {
    let (mut power, _) = ones(simd, x);
    // 2^252 - 3 = (2^250 - 1) 2^2 + 1.
    square_times(simd, &mut power, 2);
    multiply(simd, &mut power, x);
    power
}

/// Computes `1/x` for every group with one inversion and three products per group (Montgomery's trick). Zero gives
/// zero and does not affect other groups.
pub(super) fn invert_all<S: FieldSimd>(simd: S, x: &mut [Factor<S>]) {
    let one = Factor::<S>::splat(simd, &ONE);
    let mut before = Zeroizing::new(Vec::with_capacity(x.len()));
    let mut product = Zeroizing::new([one]);
    let mut zeros = Vec::with_capacity(x.len());
    for value in x.iter_mut() {
        simd.call(
            #[inline(always)]
            || {
                let is_zero = value.is_zero(simd);
                // One zero would make the whole product zero, and with it every inverse.
                *value = value.or_if(is_zero, &one);
                zeros.push(is_zero);
                before.push(product[0]);
                product[0].replace_by_product(simd, value);
            },
        );
    }
    let mut inverse = invert(simd, &*product);
    let nothing = Factor::<S>::splat(simd, &[0; 5]);
    // Backwards: `inverse` is that of the product of the values up to this one.
    for ((value, before), is_zero) in x.iter_mut().zip(before.iter()).zip(zeros).rev() {
        simd.call(
            #[inline(always)]
            || {
                let inverse_of_value = *inverse[0].times(simd, before).factor(simd);
                inverse[0].replace_by_product(simd, value);
                *value = inverse_of_value.or_if(is_zero, &nothing);
            },
        );
    }
}

/// Computes `x^(p - 2)` for every group with 254 squarings and 11 products.
fn invert<S: FieldSimd>(simd: S, x: &[Factor<S>]) -> Groups<S> {
    let (mut power, eleventh) = ones(simd, x);
    // p - 2 = 2^255 - 21 = (2^250 - 1) 2^5 + 11.
    square_times(simd, &mut power, 5);
    multiply(simd, &mut power, &eleventh);
    power
}

/// Computes `x^(2^250 - 1)` and `x^11`.
fn ones<S: FieldSimd>(simd: S, x: &[Factor<S>]) -> (Groups<S>, Groups<S>) {
    let copy = |values: &[Factor<S>]| Zeroizing::new(values.to_vec());
    // x^2, x^8, x^9, x^11, x^22, x^31 = x^(2^5 - 1)
    let mut second = copy(x);
    square_times(simd, &mut second, 1);
    let mut power = copy(&second);
    square_times(simd, &mut power, 2);
    multiply(simd, &mut power, x);
    let ninth = copy(&power);
    multiply(simd, &mut power, &second);
    let eleventh = copy(&power);
    square_times(simd, &mut power, 1);
    multiply(simd, &mut power, &ninth);
    // x^(2^n - 1) for n = 10, 20, 40, 50, 100, 200, 250.
    append_ones(simd, &mut power, 5, None);
    let ten = copy(&power);
    append_ones(simd, &mut power, 10, None);
    append_ones(simd, &mut power, 20, None);
    append_ones(simd, &mut power, 10, Some(&ten));
    let fifty = copy(&power);
    append_ones(simd, &mut power, 50, None);
    append_ones(simd, &mut power, 100, None);
    append_ones(simd, &mut power, 50, Some(&fifty));
    (power, eleventh)
}

/// Appends `count` ones to the exponents: computes `x^(2^count) * ones`. `ones` must have `count` ones in its
/// exponent; the default is `x`.
fn append_ones<S: FieldSimd>(simd: S, x: &mut [Factor<S>], count: usize, ones: Option<&[Factor<S>]>) {
    let base = Zeroizing::new(x.to_vec());
    square_times(simd, x, count);
    multiply(simd, x, ones.unwrap_or(&base));
}

/// Computes `x^(2^times)` for every group, four groups at a time.
fn square_times<S: FieldSimd>(simd: S, x: &mut [Factor<S>], times: usize) {
    // A chain alone waits for its carries: 17 ns a squaring, and 6.2 ns each with four chains.
    let (fours, rest) = x.as_chunks_mut::<4>();
    fours.iter_mut().for_each(|four| square_together(simd, four, times));
    let (twos, rest) = rest.as_chunks_mut::<2>();
    twos.iter_mut().for_each(|two| square_together(simd, two, times));
    let (ones, _) = rest.as_chunks_mut::<1>();
    ones.iter_mut().for_each(|one| square_together(simd, one, times));
}

fn square_together<S: FieldSimd, const N: usize>(simd: S, x: &mut [Factor<S>; N], times: usize) {
    simd.call(
        #[inline(always)]
        || {
            for _ in 0..times {
                for x in x.iter_mut() {
                    x.replace_by_square(simd);
                }
            }
        },
    );
}

fn multiply<S: FieldSimd>(simd: S, x: &mut [Factor<S>], y: &[Factor<S>]) {
    simd.call(
        #[inline(always)]
        || {
            for (x, y) in x.iter_mut().zip(y) {
                x.replace_by_product(simd, y);
            }
        },
    );
}
