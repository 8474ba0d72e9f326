//! Tables of the multiples of a point for all windows. A multiple is then a sum of one entry per window, without
//! doublings.
//!
//! | table | lookup | layout |
//! |---|---|---|
//! | [`SecretComb`] | reads the whole window, then permutes in registers | limb by limb, eight multiples a line |
//! | [`PublicComb`] | reads one row per lane | row by row |

use std::fmt;

use super::constants::shifted;
use super::curve::CurveParams;
use super::field::{CoordinateField, CurveElement, CurveField, CurveSimd};
use super::interleaved::Interleaved;
use super::multiples::{StoredPoint, windows};
use super::point::AffinePoint;
use super::recode::{RowDigits, digits};
use super::ring::OddModulus;
use super::rows::CacheLine;
use crate::simd::{BlindMulVector, LANES, MulSimd, MulVector, Vector};

/// The odd multiples of the base point for secret digits.
pub(crate) struct SecretComb {
    lines: Vec<CacheLine>,
}

/// The odd multiples of a point for public digits.
pub(crate) struct PublicComb {
    lines: Vec<CacheLine>,
}

impl SecretComb {
    pub(crate) fn of_base<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(simd: S) -> Self {
        let (window, count) = (C::SECRET_WINDOW, 1 << (C::SECRET_WINDOW - 1));
        let points = windows::<S, C, L>(simd, &base::<C, L>(), window);
        // Limb by limb and not point by point: a lookup reads all multiples of one limb as whole vectors.
        let mut lines = vec![CacheLine::default(); digits(C::BITS, window) * 2 * L * count / LANES];
        for (eight, points) in points.chunks(count).enumerate() {
            for (at, point) in points.iter().enumerate() {
                let [[x], [y]] = point;
                for (limb, lanes) in x.iter().chain(y).enumerate() {
                    for (lane, word) in lanes.words().into_iter().enumerate() {
                        let position = ((eight * LANES + lane) * 2 * L + limb) * count + at;
                        // The last group of eight windows has lanes past the last window.
                        if let Some(line) = lines.get_mut(position / LANES) {
                            line.0[position % LANES] = word;
                        }
                    }
                }
            }
        }
        Self { lines }
    }

    /// Returns the multiples that `index` selects in window `at`. Reads all multiples of the window.
    #[inline(always)]
    pub(crate) fn look_up<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
        &self,
        simd: S,
        at: usize,
        index: Interleaved<S::V, N>,
    ) -> AffinePoint<CurveElement<S, C, L, N>> {
        let lines_per_limb = (1 << (C::SECRET_WINDOW - 1)) / LANES;
        let multiples = &self.lines[at * 2 * L * lines_per_limb..][..2 * L * lines_per_limb];
        let mut point = [[[simd.zero(); L]; N]; 2];
        for coordinate in 0..2 {
            for limb in 0..L {
                // Addresses depend on window and limb only, never on the digit.
                let from = (coordinate * L + limb) * lines_per_limb;
                let picked = pick(simd, &multiples[from..from + lines_per_limb], index);
                for n in 0..N {
                    point[coordinate][n][limb] = picked.0[n];
                }
            }
        }
        let f = CurveField::<S, C, L, N>::new(simd);
        AffinePoint { x: f.load_stored(&point[0]), y: f.load_stored(&point[1]) }
    }
}

/// Returns the word of `lines`, 4 or 8 of them, that each lane of `index` selects.
#[inline(always)]
fn pick<S: MulSimd, const N: usize>(
    simd: S,
    lines: &[CacheLine],
    index: Interleaved<S::V, N>,
) -> Interleaved<S::V, N> {
    let mut picked = index;
    for n in 0..N {
        let index = index.0[n];
        let (fourth, fifth) = (index.has_any(simd.splat(16)), index.has_any(simd.splat(32)));
        // Bits 0 to 3 select within two lines; bits 4 and 5 select among the results.
        let low = sixteen(simd, &lines[..2], index).or_if(fourth, sixteen(simd, &lines[2..], index));
        picked.0[n] = match lines.len() {
            8 => low.or_if(
                fifth,
                sixteen(simd, &lines[4..], index).or_if(fourth, sixteen(simd, &lines[6..], index)),
            ),
            _ => low,
        };
    }
    picked
}

/// Returns the word of two lines that each lane of `index` selects.
#[inline(always)]
fn sixteen<S: MulSimd>(simd: S, lines: &[CacheLine], index: S::V) -> S::V {
    index.pick16(simd.load(&lines[0].0), simd.load(&lines[1].0))
}

impl PublicComb {
    pub(crate) fn of_base<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(simd: S) -> Self {
        Self::new::<S, C, L>(simd, &base::<C, L>(), C::PUBLIC_WINDOW)
    }

    /// Builds the table of an affine point in Montgomery form.
    pub(crate) fn new<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
        simd: S,
        p: &[[u64; L]; 2],
        window: usize,
    ) -> Self {
        let (count, all) = (1 << (window - 1), digits(C::BITS, window));
        let points = windows::<S, C, L>(simd, p, window);
        let mut lines = vec![CacheLine::default(); points.len() * LANES * C::LINES];
        for (eight, points) in points.chunks(count).enumerate() {
            let rows = &mut lines[eight * LANES * count * C::LINES..][..LANES * count * C::LINES];
            write_rows::<S, C, L, 1>(simd, points, rows);
        }
        // Lanes past the last window have repeated it.
        lines.truncate(all * count * C::LINES);
        Self { lines }
    }

    /// Returns the bytes of the table of a point.
    pub(crate) const fn bytes(bits: usize, window: usize, lines: usize) -> usize {
        digits(bits, window) * (1 << (window - 1)) * lines * size_of::<CacheLine>()
    }

    /// Returns the bytes of this table.
    #[cfg(test)]
    pub(crate) fn len_bytes(&self) -> usize {
        size_of_val(&self.lines[..])
    }

    /// Returns all rows, window after window.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[CacheLine] {
        &self.lines
    }

    /// Returns every row, one point per lane. Lanes past the last row repeat it.
    pub(crate) fn points<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
        &self,
        simd: S,
    ) -> Vec<AffinePoint<CurveElement<S, C, L, 1>>> {
        let rows: Vec<&[CacheLine]> = self.lines.chunks_exact(C::LINES).collect();
        let load = |eight: &[&[CacheLine]]| {
            let rows = std::array::from_fn(|lane| eight[lane.min(eight.len() - 1)]);
            simd.call(
                #[inline(always)]
                || {
                    let (f, [x, y]) = (CurveField::<S, C, L, 1>::new(simd), C::load_rows(simd, rows));
                    AffinePoint { x: f.load_stored(&[x]), y: f.load_stored(&[y]) }
                },
            )
        };
        rows.chunks(LANES).map(load).collect()
    }
}

/// The rows of one table per lane.
pub(crate) type Rows<'a, const N: usize> = [[&'a [CacheLine]; LANES]; N];

/// Reads the rows that `digits` select, each lane in its own table, into `entry`. Prefetches the rows that `next`
/// select.
pub(crate) fn look_up<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    tables: &Rows<'_, N>,
    digits: [&RowDigits; N],
    next: Option<[&RowDigits; N]>,
    entry: &mut AffinePoint<CurveElement<S, C, L, N>>,
) {
    let row = |n: usize, lane: usize, digits: &RowDigits| {
        &tables[n][lane][digits.index[lane] as usize * C::LINES..][..C::LINES]
    };
    simd.call(
        #[inline(always)]
        || {
            let f = CurveField::<S, C, L, N>::new(simd);
            for n in 0..N {
                let mut rows = tables[n];
                for lane in 0..LANES {
                    rows[lane] = row(n, lane, digits[n]);
                }
                let [x, y] = C::load_rows(simd, rows);
                f.set_group(&mut entry.x, n, &x);
                f.set_group(&mut entry.y, n, &y);
                // Rows of a comb lie far apart and are found by index, so the processor does not fetch them by itself.
                if let Some(next) = next {
                    for lane in 0..LANES {
                        row(n, lane, next[n]).iter().for_each(|line| simd.prefetch(line));
                    }
                }
            }
        },
    );
}

/// Writes points as rows of consecutive tables, one table per lane: row `at` of each is its lane of `points[at]`.
pub(crate) fn write_rows<S: MulSimd, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    points: &[StoredPoint<S::V, L, N>],
    lines: &mut [CacheLine],
) {
    let table = points.len() * C::LINES;
    for (at, point) in points.iter().enumerate() {
        let mut rows = lines.chunks_exact_mut(table).map(|table| &mut table[at * C::LINES..][..C::LINES]);
        for n in 0..N {
            let rows = std::array::from_fn(|_| rows.next().unwrap_or_default());
            simd.call(
                #[inline(always)]
                || C::store_rows(simd, &[point[0][n], point[1][n]], rows),
            );
        }
    }
}

/// Returns the base point in Montgomery form.
pub(crate) fn base<C: CurveParams<L>, const L: usize>() -> [[u64; L]; 2] {
    C::G.map(|coordinate| shifted(coordinate, 52 * L, &<C::Field as OddModulus<L>>::LIMBS))
}

impl fmt::Debug for SecretComb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretComb({} lines)", self.lines.len())
    }
}

impl fmt::Debug for PublicComb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicComb({} lines)", self.lines.len())
    }
}
