//! Products of the rows of keys with a vector of polynomials, in the transformed domain.

use super::reduce::divide_sums;
use super::{COEFFICIENTS, Poly, job_of};
use crate::simd::{LaneArray, ShortSimd, ShortVector, Vector};

/// A polynomial of one key, two coefficients in a word.
pub(super) type KeptPoly = [u64; COEFFICIENTS / 2];

/// The half lanes of the widest vector.
pub(super) const MAX_HALVES: usize = 16;

/// The rows of the jobs that are computed together.
pub(super) struct RowPolys<'a> {
    /// The row of each half lane. Half lanes without a job have that of the last one.
    rows: [&'a [KeptPoly]; MAX_HALVES],
    /// True if all jobs have the same row.
    is_shared: bool,
}

impl<'a> RowPolys<'a> {
    /// Returns the rows of `jobs` jobs.
    pub(super) fn new<V: Vector>(jobs: usize, row: impl Fn(usize) -> &'a [KeptPoly]) -> Self {
        let rows = std::array::from_fn(|half| row(job_of::<V>(half % V::HALVES).min(jobs - 1)));
        Self { rows, is_shared: rows.iter().all(|row| std::ptr::eq(*row, rows[0])) }
    }
}

/// Multiplies rows with the vector of `factors`, between -9 q and 9 q. Rows have one polynomial less if the last one of
/// every job is in `last`.
pub(super) fn multiply<S: ShortSimd>(
    simd: S,
    rows: &RowPolys<'_>,
    last: Option<&Poly<S::V>>,
    factors: &[Poly<S::V>],
    out: &mut Poly<S::V>,
) {
    let RowPolys { rows, is_shared } = rows;
    simd.call(
        #[inline(always)]
        || {
            if *is_shared && last.is_none() {
                multiply_shared(simd, rows[0], factors, out);
            } else {
                multiply_each(simd, rows, last, factors, out);
            }
        },
    );
}

/// Multiplies the same row for all jobs.
#[inline(always)]
fn multiply_shared<S: ShortSimd>(simd: S, row: &[KeptPoly], factors: &[Poly<S::V>], out: &mut Poly<S::V>) {
    for (at, out) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let (mut first, mut second) = ([simd.zero(); 2], [simd.zero(); 2]);
        for (factor, poly) in factors.iter().zip(row) {
            let word = poly[at];
            let key = simd.splat32(word as u32);
            add_product(&mut first, factor[2 * at], [key, key]);
            let key = simd.splat32((word >> 32) as u32);
            add_product(&mut second, factor[2 * at + 1], [key, key]);
        }
        *out = [divide_sums(simd, first[0], first[1]), divide_sums(simd, second[0], second[1])];
    }
}

/// Multiplies a row of each job.
#[inline(always)]
fn multiply_each<S: ShortSimd>(
    simd: S,
    rows: &[&[KeptPoly]; MAX_HALVES],
    last: Option<&Poly<S::V>>,
    factors: &[Poly<S::V>],
    out: &mut Poly<S::V>,
) {
    let mut loaded = [[simd.zero(); MAX_HALVES]; MAX_COLUMNS];
    let columns = factors.len() - usize::from(last.is_some());
    for (block, out) in out.as_chunks_mut::<MAX_HALVES>().0.iter_mut().enumerate() {
        let first = MAX_HALVES * block;
        for (column, loaded) in loaded.iter_mut().enumerate().take(columns) {
            load_block(
                simd,
                #[inline(always)]
                |half| &rows[half][column],
                block,
                loaded,
            );
        }
        if let Some(last) = last {
            loaded[columns].copy_from_slice(&last[first..first + MAX_HALVES]);
        }
        for (at, out) in out.iter_mut().enumerate() {
            let mut sums = [simd.zero(); 2];
            for (factor, loaded) in factors.iter().zip(&loaded) {
                let key = loaded[at];
                add_product(&mut sums, factor[first + at], [key, key.high_halves()]);
            }
            *out = divide_sums(simd, sums[0], sums[1]);
        }
    }
}

/// The most polynomials of a row: seven of a matrix, and one of t.
const MAX_COLUMNS: usize = 8;

#[inline(always)]
fn add_product<V: ShortVector>(sums: &mut [V; 2], factor: V, key: [V; 2]) {
    sums[0] = sums[0] + factor.mul32_signed(key[0]);
    sums[1] = sums[1] + factor.high_halves().mul32_signed(key[1]);
}

/// Loads sixteen coefficients of the polynomials that `poly` returns for each half lane.
#[inline(always)]
pub(super) fn load_block<'a, S: ShortSimd>(
    simd: S,
    poly: impl Fn(usize) -> &'a KeptPoly,
    block: usize,
    out: &mut [S::V; MAX_HALVES],
) {
    let vectors = MAX_HALVES / S::V::HALVES;
    for (part, out) in out.chunks_mut(S::V::HALVES).enumerate() {
        for (half, out) in out.iter_mut().enumerate() {
            *out = simd.load(&LaneArray::chunks(&poly(half)[..]).0[vectors * block + part]);
        }
    }
    S::V::transpose32(out);
}

/// Stores what [`load_block`] loads.
#[inline(always)]
pub(super) fn store_block<S: ShortSimd>(
    mut coefficients: [S::V; MAX_HALVES],
    block: usize,
    polys: &mut [KeptPoly],
) {
    let vectors = MAX_HALVES / S::V::HALVES;
    S::V::transpose32(&mut coefficients);
    for (part, rows) in coefficients.chunks(S::V::HALVES).enumerate() {
        for (poly, row) in polys.iter_mut().zip(rows) {
            LaneArray::chunks_mut(&mut poly[..])[vectors * block + part] = row.words();
        }
    }
}
