//! Tables of multiples of known points, and the lookup of each lane's entry.
//!
//! | type | digits | lookup |
//! |---|---|---|
//! | [`CombRows`] | public | each lane loads its row, then eight rows are transposed |
//! | [`CombColumns`] | secret | all sixteen entries are read, and one is selected in registers |

use zeroize::Zeroizing;

use super::constants::{BASE_X, BASE_Y, TWICE_D};
use super::encoding::to_affine;
use super::field::{Factor, FieldFactor, FieldSimd, WideSum};
use super::point::{CachedPoint, EdwardsPoint, NielsPoint, add_affine_all, double_all};
use super::scalar::{DigitLanes, ScalarLanes};
use super::words::load_rows;
use crate::simd::{BlindMulVector, LANES, Mask, MulVector, Vector, Words};

/// An affine multiple: the limbs of y+x, y-x and 2dxy, and one unused word. It fills two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
pub(super) struct CombRow([Words; 2]);

/// The words of a row that are used.
const ROW_WORDS: usize = 15;

/// The neutral element.
static NEUTRAL: CombRow = CombRow([[1, 0, 0, 0, 0, 1, 0, 0], [0; LANES]]);

/// The first 2^(WIDTH-1) multiples of the unit of each digit of `WIDTH` bits, or of one digit only.
#[derive(Debug)]
pub(crate) struct CombRows<const WIDTH: usize>(Box<[CombRow]>);

/// The first sixteen multiples of the base point in the unit of each digit of five bits, limb by limb.
pub(super) struct CombColumns(Box<[[[Words; 2]; ROW_WORDS]]>);

const COLUMN_WIDTH: usize = 5;

/// The signed digits that select entries of [`CombColumns`].
pub(super) type ColumnDigits<V> = DigitLanes<V, COLUMN_WIDTH>;

impl<const WIDTH: usize> CombRows<WIDTH> {
    /// The multiples for one digit.
    pub(super) const ENTRIES: usize = 1 << (WIDTH - 1);

    /// Builds the multiples of the affine point (x, y), which is the same in all lanes, for every digit. The point
    /// must be public.
    pub(super) fn comb<S: FieldSimd>(simd: S, x: &Factor<S>, y: &Factor<S>) -> Self {
        let digits = DigitLanes::<S::V, WIDTH>::COUNT;
        let mut unit = EdwardsPoint::affine(simd, x, y);
        let mut units = Vec::with_capacity(digits);
        // A chain of one point: its lanes are equal, and the groups below use them.
        for _ in 0..digits {
            units.push(unit);
            double_times::<S, 1, WIDTH>(simd, std::array::from_mut(&mut unit));
        }
        // Eight digits share a vector, so the multiples of all digits take an eighth of the additions.
        let groups: Vec<_> = units.chunks(LANES).map(|units| gather_lanes(simd, units)).collect();
        let rows =
            progressions(simd, groups.iter().map(|units| (*units, cached(simd, units))), Self::ENTRIES);
        // Lane l of group g holds digit 8 g + l.
        let row = |at: usize| {
            let (digit, entry) = (at / Self::ENTRIES, at % Self::ENTRIES);
            rows[digit / LANES * Self::ENTRIES + entry][digit % LANES]
        };
        Self((0..digits * Self::ENTRIES).map(row).collect())
    }

    /// Builds the multiples of the base point for every digit.
    pub(super) fn base_comb<S: FieldSimd>(simd: S) -> Self {
        let (x, y) = base_point(simd);
        Self::comb(simd, &x, &y)
    }

    /// Builds the multiples of the base point for the lowest digit only.
    pub(super) fn base_window<S: FieldSimd>(simd: S) -> Self {
        let (x, y) = base_point(simd);
        let point = EdwardsPoint::affine(simd, &x, &y);
        let step = cached(simd, &point);
        let mut multiples = vec![point];
        for at in 1..LANES {
            let mut next = multiples[at - 1];
            simd.call(
                #[inline(always)]
                || next.add::<true>(simd, &step, 0),
            );
            multiples.push(next);
        }
        let starts = gather_lanes(simd, &multiples);
        let step = cached(simd, &multiples[LANES - 1]);
        let rows = progressions(simd, [(starts, step)].into_iter(), Self::ENTRIES / LANES);
        Self(rows.into_iter().flatten().collect())
    }

    /// Returns all rows: digit by digit, multiple by multiple.
    pub(super) fn all(&self) -> &[CombRow] {
        &self.0
    }

    /// The size of a comb in bytes.
    pub(crate) const BYTES: usize = 254_usize.div_ceil(WIDTH) * Self::ENTRIES * size_of::<CombRow>();

    /// Returns the rows of these magnitudes in units of digit `at`.
    #[inline(always)]
    pub(super) fn rows(&self, at: usize, magnitudes: &Words) -> [&CombRow; LANES] {
        let mut rows = [&NEUTRAL; LANES];
        for (row, magnitude) in rows.iter_mut().zip(magnitudes) {
            *row = self.row(at, *magnitude);
        }
        rows
    }

    /// Returns the row of magnitude `digit` in units of digit `at`.
    #[inline(always)]
    pub(super) fn row(&self, at: usize, digit: u64) -> &CombRow {
        match (digit as usize).checked_sub(1) {
            // An index by a digit: this table is for public digits only.
            Some(entry) => &self.0[at * Self::ENTRIES + entry],
            None => &NEUTRAL,
        }
    }
}

#[cfg(test)]
impl<const WIDTH: usize> CombRows<WIDTH> {
    /// Flips a bit.
    pub(super) fn flip(&mut self, row: usize, word: usize) {
        self.0[row].0[word / LANES][word % LANES] ^= 1 << 17;
    }
}

/// Loads the affine points of eight rows.
#[inline(always)]
pub(super) fn load_niels<S: FieldSimd>(simd: S, rows: &[&CombRow; LANES]) -> NielsPoint<S> {
    let mut parts = [&rows[0].0; LANES];
    for (part, row) in parts.iter_mut().zip(rows) {
        *part = &row.0;
    }
    let [[a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, _]] = load_rows(simd, &parts);
    NielsPoint {
        plus: Factor::<S>::from_limbs(simd, [a, b, c, d, e]),
        minus: Factor::<S>::from_limbs(simd, [f, g, h, i, j]),
        product: Factor::<S>::from_limbs(simd, [k, l, m, n, o]),
    }
}

impl CombColumns {
    /// Builds the multiples of the base point.
    pub(super) fn base<S: FieldSimd>(simd: S) -> Self {
        let (x, y) = base_point(simd);
        let rows = CombRows::<COLUMN_WIDTH>::comb(simd, &x, &y);
        let column = |rows: &[CombRow], word: usize| {
            let part = |half: usize| {
                std::array::from_fn(|entry| rows[LANES * half + entry].0[word / LANES][word % LANES])
            };
            [part(0), part(1)]
        };
        let digits = rows.0.chunks(CombRows::<COLUMN_WIDTH>::ENTRIES);
        Self(digits.map(|rows| std::array::from_fn(|word| column(rows, word))).collect())
    }

    /// Computes `scalar B` for every group in constant time.
    pub(super) fn times<S: FieldSimd>(
        &self,
        simd: S,
        scalars: &[ScalarLanes<S::V>],
        products: &mut Vec<EdwardsPoint<S>>,
    ) {
        // Two groups alternate by halves of a step: one multiplies while the carries of the other run.
        let (pairs, rest) = scalars.as_chunks::<2>();
        pairs.iter().for_each(|pair| products.extend_from_slice(&*self.times_together(simd, pair)));
        let (ones, _) = rest.as_chunks::<1>();
        ones.iter().for_each(|one| products.extend_from_slice(&*self.times_together(simd, one)));
    }

    fn times_together<S: FieldSimd, const N: usize>(
        &self,
        simd: S,
        scalars: &[ScalarLanes<S::V>; N],
    ) -> Zeroizing<[EdwardsPoint<S>; N]> {
        // Projective coordinates depend on the scalar beyond the point itself, so they are erased too.
        let mut sums = Zeroizing::new([EdwardsPoint::neutral(simd); N]);
        let digits: Zeroizing<[ColumnDigits<S::V>; N]> = Zeroizing::new(scalars.each_ref().map(|scalar| {
            simd.call(
                #[inline(always)]
                || scalar.digits(simd),
            )
        }));
        // Digits outside, groups inside: a window of the table is read from the second cache once for both.
        for (at, columns) in self.0.iter().enumerate() {
            simd.call(
                #[inline(always)]
                || {
                    add_affine_all::<S, N, true>(
                        simd,
                        &mut sums,
                        #[inline(always)]
                        |group| pick(simd, columns, digits[group].at(simd, at)),
                    );
                },
            );
        }
        sums
    }
}

/// Returns the entry for each lane's digit, and the lanes in which it is subtracted. Reads every entry.
#[inline(always)]
fn pick<S: FieldSimd>(simd: S, columns: &[[Words; 2]; ROW_WORDS], digit: S::V) -> (NielsPoint<S>, Mask) {
    let half = simd.splat(ColumnDigits::<S::V>::HALF);
    // Digits are stored with an offset of half their range, so zero is `half`.
    let (negative, is_zero) = (digit.is_below(half), digit.is_equal(half));
    let magnitude = (digit - half).or_if(negative, half - digit);
    // Magnitudes 1 to 16 are entries 0 to 15. For magnitude zero an arbitrary entry is selected and then replaced.
    // The permutation reads four bits, so the index -1 of magnitude zero is entry 15.
    let index = magnitude - simd.splat(1);
    let mut words = [simd.zero(); ROW_WORDS];
    for (at, (word, [low, high])) in words.iter_mut().zip(columns).enumerate() {
        // (1, 1, 0): the lowest limbs of y+x and y-x are words 0 and 5.
        let neutral = if at == 0 || at == 5 { simd.splat(1) } else { simd.zero() };
        *word = index.pick16(simd.load(low), simd.load(high)).or_if(is_zero, neutral);
    }
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = words;
    let niels = NielsPoint {
        plus: Factor::<S>::from_limbs(simd, [a, b, c, d, e]),
        minus: Factor::<S>::from_limbs(simd, [f, g, h, i, j]),
        product: Factor::<S>::from_limbs(simd, [k, l, m, n, o]),
    };
    (niels, negative)
}

fn base_point<S: FieldSimd>(simd: S) -> (Factor<S>, Factor<S>) {
    (Factor::<S>::splat(simd, &BASE_X), Factor::<S>::splat(simd, &BASE_Y))
}

fn cached<S: FieldSimd>(simd: S, point: &EdwardsPoint<S>) -> CachedPoint<S> {
    simd.call(
        #[inline(always)]
        || point.cached(simd),
    )
}

/// Computes 2^TIMES P for every group, with T.
pub(super) fn double_times<S: FieldSimd, const N: usize, const TIMES: usize>(
    simd: S,
    points: &mut [EdwardsPoint<S>; N],
) {
    simd.call(
        #[inline(always)]
        || {
            for _ in 1..TIMES {
                double_all::<S, N, false>(simd, points);
            }
            double_all::<S, N, true>(simd, points);
        },
    );
}

/// Puts one of up to eight points into each lane. Each point is the same in all its lanes. The last point fills the
/// other lanes.
fn gather_lanes<S: FieldSimd>(simd: S, points: &[EdwardsPoint<S>]) -> EdwardsPoint<S> {
    let mut gathered = points[points.len() - 1];
    simd.call(
        #[inline(always)]
        || {
            for (lane, point) in points.iter().enumerate() {
                gathered = gathered.or_if(1 << lane, point);
            }
        },
    );
    gathered
}

/// Computes `len` terms of each arithmetic progression (start, step) as rows: progression by progression, term by
/// term.
fn progressions<S: FieldSimd>(
    simd: S,
    progressions: impl Iterator<Item = (EdwardsPoint<S>, CachedPoint<S>)>,
    len: usize,
) -> Vec<[CombRow; LANES]> {
    let mut terms = Vec::new();
    for (mut term, step) in progressions {
        for at in 0..len {
            if at > 0 {
                simd.call(
                    #[inline(always)]
                    || term.add::<true>(simd, &step, 0),
                );
            }
            terms.push(term);
        }
    }
    to_affine(simd, &terms).iter().map(|[x, y]| rows_of(simd, x, y)).collect()
}

/// Returns the rows of eight affine points.
fn rows_of<S: FieldSimd>(simd: S, x: &Factor<S>, y: &Factor<S>) -> [CombRow; LANES] {
    let mut rows = [NEUTRAL; LANES];
    simd.call(
        #[inline(always)]
        || {
            let product =
                *x.times(simd, y).factor(simd).times(simd, &Factor::<S>::splat(simd, &TWICE_D)).factor(simd);
            let (x, y) = (x.widen(simd), y.widen(simd));
            let [a, b, c, d, e] = (y + x).reduce(simd).canonical(simd);
            let [f, g, h, i, j] = y.minus(simd, &x).reduce(simd).canonical(simd);
            let [k, l, m, n, o] = product.canonical(simd);
            let halves = [[a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, simd.zero()]];
            for (at, half) in halves.into_iter().enumerate() {
                for (row, lane) in rows.iter_mut().zip(S::V::transpose8(half)) {
                    row.0[at] = lane.words();
                }
            }
        },
    );
    rows
}
