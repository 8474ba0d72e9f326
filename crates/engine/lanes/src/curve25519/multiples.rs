//! The computation of `[S]B + [h]Q` for new points Q, without a table of Q. All values are public.

use super::comb::{CombRows, double_times, load_niels};
use super::encoding::Decoded;
use super::field::{FieldFactor, FieldSimd};
use super::point::{CachedPoint, EdwardsPoint, NielsPoint, add_affine_all, add_all};
use super::scalar::{ScalarLanes, SignedDigits};
use super::words::load_rows;
use crate::simd::{LANES, MulVector, Vector, Words};

/// The bits of a signed digit of h.
const WIDTH: usize = 5;
/// The bits of a signed digit of S: two digits of h, so that both are added between the same doublings.
pub(super) const BASE_WIDTH: usize = 2 * WIDTH;

/// The point (Y+X, Y-X, 2dT, 2Z) of one lane, as its leaf stores it.
type Row = [Words; 3];

/// The multiples 0 to 2^(WIDTH-1) of each lane's point, as rows: 26 KB.
struct Multiples(Vec<[Row; LANES]>);

/// The scalars and points of a group.
pub(super) struct MultipleTerm<'a, S: FieldSimd> {
    pub(super) q: &'a Decoded<S>,
    pub(super) h: ScalarLanes<S::V>,
    pub(super) s: ScalarLanes<S::V>,
}

/// Computes `[S]B + [h]Q` for every group with 250 doublings, 51 additions of multiples of Q and 26 of B.
pub(super) fn sums_of_multiples<S: FieldSimd>(
    simd: S,
    base: &CombRows<BASE_WIDTH>,
    terms: &[MultipleTerm<'_, S>],
    sums: &mut Vec<EdwardsPoint<S>>,
) {
    let (pairs, rest) = terms.as_chunks::<2>();
    pairs.iter().for_each(|pair| sums.extend(sum_together(simd, base, pair)));
    let (ones, _) = rest.as_chunks::<1>();
    ones.iter().for_each(|one| sums.extend(sum_together(simd, base, one)));
}

fn sum_together<S: FieldSimd, const N: usize>(
    simd: S,
    base: &CombRows<BASE_WIDTH>,
    terms: &[MultipleTerm<'_, S>; N],
) -> [EdwardsPoint<S>; N] {
    let multiples = terms.each_ref().map(|term| Multiples::new(simd, term.q));
    let h = terms.each_ref().map(|term| SignedDigits::<WIDTH>::new(simd, &term.h));
    let s = terms.each_ref().map(|term| SignedDigits::<BASE_WIDTH>::new(simd, &term.s));
    let mut sums = [EdwardsPoint::neutral(simd); N];
    for at in (0..h[0].len()).rev() {
        // The sum is still neutral before the topmost digit.
        if at + 1 < h[0].len() {
            double_times::<S, N, WIDTH>(simd, &mut sums);
        }
        simd.call(
            #[inline(always)]
            || {
                // With T, because the addition of the multiple of B that may follow reads it.
                add_all::<S, N, true>(
                    simd,
                    &mut sums,
                    #[inline(always)]
                    |group| {
                        let (magnitudes, negative) = h[group].at(at);
                        (multiples[group].load(simd, magnitudes), negative)
                    },
                );
            },
        );
        // A digit of S covers two digits of h.
        if at % 2 == 0 {
            simd.call(
                #[inline(always)]
                || {
                    add_affine_all::<S, N, false>(
                        simd,
                        &mut sums,
                        #[inline(always)]
                        |group| {
                            let (magnitudes, negative) = s[group].at(at / 2);
                            (load_niels(simd, &base.rows(0, magnitudes)), negative)
                        },
                    );
                },
            );
        }
    }
    sums
}

impl Multiples {
    fn new<S: FieldSimd>(simd: S, q: &Decoded<S>) -> Self {
        let mut term = EdwardsPoint::neutral(simd);
        let mut rows = vec![[[[0; LANES]; 3]; LANES]; (1 << (WIDTH - 1)) + 1];
        let step = simd.call(
            #[inline(always)]
            || EdwardsPoint::affine(simd, &q.x, &q.y).cached(simd),
        );
        // The formulas are complete, so the neutral start needs no special case, nor does a Q of small order.
        for rows in &mut rows {
            simd.call(
                #[inline(always)]
                || {
                    store(simd, rows, &term.cached(simd));
                    term.add::<true>(simd, &step, 0);
                },
            );
        }
        Self(rows)
    }

    #[inline(always)]
    fn load<S: FieldSimd>(&self, simd: S, magnitudes: &Words) -> CachedPoint<S> {
        let mut rows = [&self.0[0][0]; LANES];
        for (lane, (row, magnitude)) in rows.iter_mut().zip(magnitudes).enumerate() {
            *row = &self.0[*magnitude as usize][lane];
        }
        let [plus, minus, product, z] = FieldFactor::from_rows(simd, load_rows(simd, &rows));
        CachedPoint { niels: NielsPoint { plus, minus, product }, z }
    }
}

#[inline(always)]
fn store<S: FieldSimd>(simd: S, rows: &mut [Row; LANES], point: &CachedPoint<S>) {
    let NielsPoint { plus, minus, product } = &point.niels;
    let parts = FieldFactor::rows(simd, [plus, minus, product, &point.z]);
    for (at, part) in parts.into_iter().enumerate() {
        for (row, lane) in rows.iter_mut().zip(S::V::transpose8(part)) {
            row[at] = lane.words();
        }
    }
}
