//! ECDSA verification. FIPS 186-5 6.4.2. All values are public, so branches, indices and table rows may depend on
//! them.
//!
//! `u1 G + u2 Q` is computed in two parts. The part of G is a comb of the base point, without doublings. The part of
//! Q uses signed windows and a table that is made for the signature, or a comb of Q if the key recurs and has a
//! table.

mod read;
mod table_digits;
mod verdict;

use oarlock_core::{Operation, Outcomes, Shape, Status};
use oarlock_engine_kit::{VerifyTableCache, VerifyTables};

pub(crate) use self::read::read_point;
use self::read::{EcdsaVerifyJob, keys, read};
use self::table_digits::{TableWindows, table_digits};
use self::verdict::finish;
use super::comb::{Rows, look_up, write_rows};
use super::curve::CurveParams;
use super::element::Element;
use super::field::{CoordinateField, CurveElement, CurveField, CurveSimd};
use super::interleaved::Masks;
use super::key_table::EcdsaKeyTable;
use super::multiples::{TableField, turned};
use super::point::{AffinePoint, JacobianPoint, PointField, XyzzPoint};
use super::recode::{RowDigits, digits};
use super::ring::MontgomeryRing;
use super::rows::CacheLine;
use super::scalars::{is_set, lanes};
use crate::batch::{LaneJob, accept};
use crate::simd::LANES;

/// The bits of a digit of u2 if the key has no table.
const COLD_WINDOW: usize = 5;
/// The rows of the table that is made for such a signature.
const COLD_ROWS: usize = 1 << (COLD_WINDOW - 1);

/// Verifies every job.
pub(crate) fn run<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
    simd: S,
    cache: &VerifyTableCache,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let shape = Shape::EcdsaVerify { curve: C::NAME };
    let tables = cache.tables(operations.iter().map(|operation| operation.key), move |public| {
        EcdsaKeyTable::<S, C, L>::new(simd, public)
    });
    let mut jobs = accept(shape, operations, out, |operation| read::<S, C, L>(simd, operation));
    // Tables are found by the index in the run, which the accepted jobs no longer show by their order.
    jobs.iter_mut().for_each(|accepted| accepted.job.index = accepted.index);
    let (with_table, without_table): (Vec<_>, Vec<_>) =
        jobs.into_iter().partition(|accepted| tables.get(accepted.index).is_some());
    for jobs in [with_table, without_table] {
        if S::IN_PAIRS && jobs.len() > LANES {
            verify::<S, C, L, 2>(simd, &jobs, &tables, out);
        } else if !jobs.is_empty() {
            verify::<S, C, L, 1>(simd, &jobs, &tables, out);
        }
    }
}

/// The state of a block of N times eight verifications.
struct VerifyBlock<'a, V, E, const L: usize, const N: usize> {
    block: &'a [LaneJob<EcdsaVerifyJob<'a>>],
    /// The plain scalars u1 and u2, below n.
    scalars: [Element<V, L, N>; 2],
    /// The digits of the odd number among u and n - u. For n - u the signs are turned.
    digits: [[Vec<RowDigits>; N]; 2],
    point: XyzzPoint<E>,
}

fn verify<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    jobs: &[LaneJob<EcdsaVerifyJob<'_>>],
    tables: &VerifyTables<EcdsaKeyTable<S, C, L>>,
    out: &mut Outcomes,
) {
    let has_table = tables.get(jobs[0].index).is_some();
    let table = if has_table { TableWindows::all(C::KEY_WINDOW) } else { TableWindows::one(COLD_WINDOW) };
    let mut blocks = begin::<S, C, L, N>(simd, jobs, table);
    if has_table {
        add_key_comb::<S, C, L, N>(simd, tables, &mut blocks);
    } else {
        multiply_key::<S, C, L, N>(simd, &mut blocks);
    }
    add_base_comb::<S, C, L, N>(simd, digits(C::BITS, table.window), &mut blocks);
    for work in &blocks {
        let is_good = finish::<S, C, L, N>(simd, work);
        for (index, job) in work.block.iter().enumerate() {
            out.set(job.index, if is_set(&is_good, index) { Status::Done } else { Status::Rejected });
        }
    }
}

/// Computes u1 = e/s and u2 = r/s, with one inversion for all jobs, and their digits.
fn begin<'a, S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    jobs: &'a [LaneJob<EcdsaVerifyJob<'a>>],
    table: TableWindows,
) -> Vec<VerifyBlock<'a, S::V, CurveElement<S, C, L, N>, L, N>> {
    let (f, order) = (CurveField::<S, C, L, N>::new(simd), MontgomeryRing::<S, C::Order, L, N>::new(simd));
    let blocks = jobs.chunks(N * LANES);
    let mut inverses: Vec<_> = blocks
        .clone()
        .map(|block| {
            let s = order.read(&lanes(block, |job| job.s));
            simd.call(
                #[inline(always)]
                || order.enter(&s),
            )
        })
        .collect();
    // s is public, so Euclid's algorithm, whose time depends on it, may invert it.
    order.invert_all_public(&mut inverses);
    let work = |(block, inverse): (&'a [LaneJob<EcdsaVerifyJob<'a>>], &Element<S::V, L, N>)| {
        let scalar = |bytes: fn(&EcdsaVerifyJob<'a>) -> &'a [u8], table| {
            let plain = order.read(&lanes(block, bytes));
            let scalar = simd.call(
                #[inline(always)]
                || order.below_modulus(&order.mul(&plain, inverse)),
            );
            (scalar, table_digits::<S, C, L, N>(simd, &scalar, table))
        };
        let (u1, first) = scalar(|job| job.digest, TableWindows::all(C::PUBLIC_WINDOW));
        let (u2, second) = scalar(|job| job.r, table);
        let one = f.one();
        let point = XyzzPoint { x: one, y: one, zz: one, zzz: one };
        VerifyBlock { block, scalars: [u1, u2], digits: [first, second], point }
    };
    blocks.zip(&inverses).map(work).collect()
}

/// Computes `u2 Q` for lanes whose keys have tables.
fn add_key_comb<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    tables: &VerifyTables<EcdsaKeyTable<S, C, L>>,
    blocks: &mut [VerifyBlock<'_, S::V, CurveElement<S, C, L, N>, L, N>],
) {
    // Lanes past the last job repeat it, so every lane has a table; `any` only satisfies the types.
    let Some(any) = blocks.first().and_then(|work| tables.get(work.block[0].index)) else { return };
    let rows = |work: &VerifyBlock<'_, S::V, CurveElement<S, C, L, N>, L, N>| {
        lanes(work.block, |job| tables.get(job.index).unwrap_or(any).comb.rows())
    };
    let rows: Vec<Rows<'_, N>> = blocks.iter().map(rows).collect();
    let mut entry = CurveField::<S, C, L, N>::new(simd).origin();
    for at in 0..digits(C::BITS, C::KEY_WINDOW) {
        for (work, rows) in blocks.iter_mut().zip(&rows) {
            add_entry::<S, C, L, N>(simd, work, rows, (1, at), (at, &mut entry));
        }
    }
}

/// Adds `u1 G` to the sum, which has `terms` terms.
fn add_base_comb<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    terms: usize,
    blocks: &mut [VerifyBlock<'_, S::V, CurveElement<S, C, L, N>, L, N>],
) {
    let rows = [[C::public_comb(simd).rows(); LANES]; N];
    let mut entry = CurveField::<S, C, L, N>::new(simd).origin();
    for at in 0..digits(C::BITS, C::PUBLIC_WINDOW) {
        for work in blocks.iter_mut() {
            add_entry::<S, C, L, N>(simd, work, &rows, (0, at), (terms + at, &mut entry));
        }
    }
}

/// Adds the entry for digit `at` of scalar `which`, as term number `term` of the sum. Term 0 starts the sum. `entry` is
/// memory for the entry.
fn add_entry<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    work: &mut VerifyBlock<'_, S::V, CurveElement<S, C, L, N>, L, N>,
    rows: &Rows<'_, N>,
    (which, at): (usize, usize),
    (term, entry): (usize, &mut AffinePoint<CurveElement<S, C, L, N>>),
) {
    let f = CurveField::<S, C, L, N>::new(simd);
    let digits = &work.digits[which];
    let table_digits = std::array::from_fn(|n| &digits[n][at]);
    let next = (at + 1 < digits[0].len()).then(|| std::array::from_fn(|n| &digits[n][at + 1]));
    look_up::<S, C, L, N>(simd, rows, table_digits, next, entry);
    let minus = signs(&table_digits, term);
    if term == 0 {
        let JacobianPoint { x, y, z } = f.first(entry, minus);
        work.point = XyzzPoint { x, y, zz: z, zzz: z };
    } else {
        f.add_in_xyzz(&mut work.point, entry, minus);
    }
}

/// Returns the lanes in which term number `term` is subtracted. Each addition turns the sign of the sum.
#[inline(always)]
fn signs<const N: usize>(table_digits: &[&RowDigits; N], term: usize) -> Masks<N> {
    // Each addition negates the sum, so the sign of the next summand alternates.
    let mut minus: Masks<N> = turned(term.saturating_sub(1));
    for n in 0..N {
        minus[n] ^= table_digits[n].minus;
    }
    minus
}

/// Computes `u2 Q` for lanes whose keys have no table.
fn multiply_key<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    blocks: &mut [VerifyBlock<'_, S::V, CurveElement<S, C, L, N>, L, N>],
) {
    let f = CurveField::<S, C, L, N>::new(simd);
    let tables = cold_tables::<S, C, L, N>(simd, blocks);
    let rows: Vec<Rows<'_, N>> = tables
        .chunks_exact(N * LANES * COLD_ROWS * C::LINES)
        .map(|tables| {
            let mut tables = tables.chunks_exact(COLD_ROWS * C::LINES);
            std::array::from_fn(|_| std::array::from_fn(|_| tables.next().unwrap_or_default()))
        })
        .collect();
    let mut entry = f.origin();
    let mut points = vec![f.lift(&entry); blocks.len()];
    for (term, at) in (0..digits(C::BITS, COLD_WINDOW)).rev().enumerate() {
        // Doublings and additions run in separate loops, because their code does not fit the instruction cache
        // together.
        if term > 0 {
            points.iter_mut().for_each(|point| f.double_times(point, COLD_WINDOW));
        }
        for ((work, rows), point) in blocks.iter().zip(&rows).zip(&mut points) {
            let table_digits = std::array::from_fn(|n| &work.digits[1][n][at]);
            look_up::<S, C, L, N>(simd, rows, table_digits, None, &mut entry);
            let minus = signs(&table_digits, term);
            if term == 0 {
                *point = f.first(&entry, minus);
            } else {
                f.add_in_jacobian(point, &entry, minus);
            }
        }
    }
    for (work, point) in blocks.iter_mut().zip(&points) {
        work.point = simd.call(
            #[inline(always)]
            || f.widen(point),
        );
    }
}

/// Computes the odd multiples of every lane's Q, lane after lane.
fn cold_tables<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    blocks: &[VerifyBlock<'_, S::V, CurveElement<S, C, L, N>, L, N>],
) -> Vec<CacheLine> {
    let f = CurveField::<S, C, L, N>::new(simd);
    let mut points = Vec::with_capacity(blocks.len() * COLD_ROWS);
    for work in blocks {
        f.odd_multiples(&keys::<S, C, L, N>(simd, work.block), COLD_ROWS, &mut points);
    }
    let points = f.normalise(&mut points, COLD_ROWS);
    let lines = N * LANES * COLD_ROWS * C::LINES;
    let mut tables = vec![CacheLine::default(); blocks.len() * lines];
    for (points, tables) in points.chunks(COLD_ROWS).zip(tables.chunks_exact_mut(lines)) {
        write_rows::<S, C, L, N>(simd, points, tables);
    }
    tables
}
