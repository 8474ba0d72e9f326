//! Verifying. FIPS 186-5 6.4.2. Everything is public: branches, indices and table rows may depend on values.
//!
//! `u1 G + u2 Q` is a comb of the base point, without doublings, on top of signed windows of Q, whose table is made for each
//! signature, or on top of a comb of Q where the key recurs and has a table.

use oarlock_core::{Extra, Key, Operation, Outcomes, Shape, Status};

use super::comb::{Rows, base, look_up, write_rows};
use super::complete::{Group, Projective};
use super::curve::Curve;
use super::hot::KeyTable;
use super::multiples::turned;
use super::point::{Affine, Jacobian, Xyzz};
use super::recode::{Place, digit, digits, halve};
use super::ring::{Element, Modulus, Ring};
use super::rows::Line;
use super::scalars::{is_in_range, is_set, lanes, limbs_of_bytes};
use super::side::{Masks, Side};
use crate::batch::{Accepted, accept};
use crate::hot::{HotKeys, Tables};
use crate::simd::{LANES, Simd, Vector};

/// Bits of a digit of u2 where the key has no table.
const COLD_WINDOW: usize = 5;
/// Rows of that table.
const COLD_ROWS: usize = 1 << (COLD_WINDOW - 1);

/// What is read of a job.
#[derive(Clone, Copy)]
struct Job<'a> {
    /// x and y in Montgomery form.
    key: &'a [Vec<u64>; 2],
    /// Which of the run's jobs it is: its table is found by it.
    place: usize,
    digest: &'a [u8],
    r: &'a [u8],
    s: &'a [u8],
}

/// A public key that has been found to be on its curve, or None. In Montgomery form.
struct Checked(Option<[Vec<u64>; 2]>);

/// Verifies every job.
pub(crate) fn run<S: Simd, C: Curve<L>, const L: usize>(
    simd: S,
    hot: &HotKeys,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let shape = Shape::EcdsaVerify { curve: C::NAME };
    let tables = hot.tables(operations.iter().map(|operation| operation.key), move |public| {
        KeyTable::<S, C, L>::new(simd, public)
    });
    let mut jobs = accept(shape, operations, out, |operation| read::<S, C, L>(simd, operation));
    jobs.iter_mut().for_each(|accepted| accepted.job.place = accepted.place);
    let (hot, cold): (Vec<_>, Vec<_>) =
        jobs.into_iter().partition(|accepted| tables.of(accepted.place).is_some());
    for jobs in [hot, cold] {
        if S::V::UNROLLS && jobs.len() > LANES {
            verify::<S, C, L, 2>(simd, &jobs, &tables, out);
        } else if !jobs.is_empty() {
            verify::<S, C, L, 1>(simd, &jobs, &tables, out);
        }
    }
}

fn read<'a, S: Simd, C: Curve<L>, const L: usize>(
    simd: S,
    operation: &'a Operation<'a>,
) -> Result<Job<'a>, Status> {
    let Extra::Signature(signature) = operation.extra else { return Err(Status::Malformed) };
    let key = public_key::<S, C, L>(simd, operation.key).ok_or(Status::BadKey)?;
    let (r, s) = signature.split_at(C::BYTES);
    if !is_in_range::<C::Order, L>(r) || !is_in_range::<C::Order, L>(s) {
        return Err(Status::Rejected);
    }
    Ok(Job { key, place: 0, digest: operation.input, r, s })
}

/// The point of a key, checked once per key.
fn public_key<S: Simd, C: Curve<L>, const L: usize>(simd: S, key: &Key) -> Option<&[Vec<u64>; 2]> {
    let checked = key.prepared(|key| {
        let point = key.ec_public().and_then(|(_, point)| read_point::<S, C, L>(simd, point));
        Ok::<_, std::convert::Infallible>(Checked(point.map(|point| point.map(Vec::from))))
    });
    checked.ok()?.0.as_ref()
}

/// The coordinates of an uncompressed point in Montgomery form, where it is on the curve. SEC 1 2.3.4.
pub(crate) fn read_point<S: Simd, C: Curve<L>, const L: usize>(
    simd: S,
    point: &[u8],
) -> Option<[[u64; L]; 2]> {
    let [4, coordinates @ ..] = point else { return None };
    let (x, y) = coordinates.split_at_checked(C::BYTES)?;
    if y.len() != C::BYTES {
        return None;
    }
    let (x, y) = (limbs_of_bytes(x), limbs_of_bytes(y));
    simd.call(
        #[inline(always)]
        || on_curve::<S, C, L>(simd, &x, &y),
    )
}

/// Plain coordinates in Montgomery form, where they are below p and on the curve.
#[inline(always)]
fn on_curve<S: Simd, C: Curve<L>, const L: usize>(
    simd: S,
    x: &[u64; L],
    y: &[u64; L],
) -> Option<[[u64; L]; 2]> {
    let f = Ring::<S, C::Field, L, 1>::new(simd);
    let (x, y) = (f.splat(x), f.splat(y));
    let is_reduced = f.is_below_modulus(&x)[0] & f.is_below_modulus(&y)[0];
    let (x, y) = (f.below_modulus(&f.enter(&x)), f.below_modulus(&f.enter(&y)));
    let cube = f.mul(&f.sqr(&x), &x);
    let right = f.settle(cube.loose() - x.loose().shl::<1>() - x + f.enter(&f.splat(&C::B)));
    let difference = f.settle(f.sqr(&y).loose() - right);
    let is_on_curve = f.is_zero(&f.leave(&difference))[0];
    let first = |element: Element<S::V, L, 1>| element.0.map(|limb| limb.0[0].words()[0]);
    (is_reduced & is_on_curve == u8::MAX).then(|| [first(x), first(y)])
}

/// A block of N times eight verifications on its way.
struct Work<'a, V, const L: usize, const N: usize> {
    block: &'a [Accepted<Job<'a>>],
    /// u1 and u2, plain, below n.
    scalars: [Element<V, L, N>; 2],
    /// The digits of the odd ones of u and n - u, the signs turned where it is the latter.
    digits: [[Vec<Place>; N]; 2],
    point: Xyzz<V, L, N>,
}

fn verify<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    jobs: &[Accepted<Job<'_>>],
    tables: &Tables<KeyTable<S, C, L>>,
    out: &mut Outcomes,
) {
    let is_hot = tables.of(jobs[0].place).is_some();
    let table = if is_hot { Windows::all(C::HOT_WINDOW) } else { Windows::one(COLD_WINDOW) };
    let mut works = begin::<S, C, L, N>(simd, jobs, table);
    if is_hot {
        add_key_comb::<S, C, L, N>(simd, tables, &mut works);
    } else {
        multiply_key::<S, C, L, N>(simd, &mut works);
    }
    add_base_comb::<S, C, L, N>(simd, digits(C::BITS, table.window), &mut works);
    for work in &works {
        let is_good = finish::<S, C, L, N>(simd, work);
        for (place, job) in work.block.iter().enumerate() {
            out.set(job.place, if is_set(&is_good, place) { Status::Done } else { Status::Rejected });
        }
    }
}

/// u1 = e/s and u2 = r/s, with one inversion for all, and their digits.
fn begin<'a, S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    jobs: &'a [Accepted<Job<'a>>],
    table: Windows,
) -> Vec<Work<'a, S::V, L, N>> {
    let (f, order) = (Ring::<S, C::Field, L, N>::new(simd), Ring::<S, C::Order, L, N>::new(simd));
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
    order.invert_all_public(&mut inverses);
    let work = |(block, inverse): (&'a [Accepted<Job<'a>>], &Element<S::V, L, N>)| {
        let scalar = |bytes: fn(&Job<'a>) -> &'a [u8], table| {
            let plain = order.read(&lanes(block, bytes));
            let scalar = simd.call(
                #[inline(always)]
                || order.below_modulus(&order.mul(&plain, inverse)),
            );
            (scalar, places::<S, C, L, N>(simd, &scalar, table))
        };
        let (u1, first) = scalar(|job| job.digest, Windows::all(C::PUBLIC_WINDOW));
        let (u2, second) = scalar(|job| job.r, table);
        let one = f.one();
        let point = Xyzz { x: one, y: one, zz: one, zzz: one };
        Work { block, scalars: [u1, u2], digits: [first, second], point }
    };
    blocks.zip(&inverses).map(work).collect()
}

/// How a table is addressed by digits.
#[derive(Clone, Copy)]
struct Windows {
    /// Bits of a digit.
    window: usize,
    /// Rows from those of one digit to those of the next.
    rows: usize,
}

impl Windows {
    /// A table with rows for every window.
    fn all(window: usize) -> Self {
        Self { window, rows: 1 << (window - 1) }
    }

    /// A table whose rows serve every window.
    fn one(window: usize) -> Self {
        Self { window, rows: 0 }
    }
}

/// The digits of scalars below n, even ones by way of n - u.
fn places<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    scalar: &Element<S::V, L, N>,
    Windows { window, rows }: Windows,
) -> [Vec<Place>; N] {
    let order = Ring::<S, C::Order, L, N>::new(simd);
    let count = digits(C::BITS, window);
    let mut all = std::array::from_fn(|_| Vec::with_capacity(count));
    simd.call(
        #[inline(always)]
        || {
            let negative = order.carry(order.splat(&C::Order::LIMBS).loose() - *scalar);
            let is_odd = scalar.0[0].has_any(order.word(1));
            let odd = order.select(is_odd, &negative, scalar);
            for (n, places) in all.iter_mut().enumerate() {
                let mut limbs = [simd.zero(); L];
                for limb in 0..L {
                    limbs[limb] = odd.0[limb].0[n];
                }
                let half = halve(simd, &limbs, C::BITS, window);
                for at in 0..count {
                    let digit = digit(simd, &half, at, window);
                    let index = digit.index + simd.splat((at * rows) as u64);
                    places.push(Place { index: index.words(), minus: digit.minus ^ !is_odd[n] });
                }
            }
        },
    );
    all
}

/// `u2 Q` of lanes whose keys have tables.
fn add_key_comb<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    tables: &Tables<KeyTable<S, C, L>>,
    works: &mut [Work<'_, S::V, L, N>],
) {
    let Some(any) = works.first().and_then(|work| tables.of(work.block[0].place)) else { return };
    let rows = |work: &Work<'_, S::V, L, N>| {
        lanes(work.block, |job| tables.of(job.place).unwrap_or(any).comb.rows())
    };
    let rows: Vec<Rows<'_, N>> = works.iter().map(rows).collect();
    for at in 0..digits(C::BITS, C::HOT_WINDOW) {
        for (work, rows) in works.iter_mut().zip(&rows) {
            add_entry::<S, C, L, N>(simd, work, rows, (1, at), at);
        }
    }
}

/// `u1 G` on top of what `terms` digits of Q gave.
fn add_base_comb<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    terms: usize,
    works: &mut [Work<'_, S::V, L, N>],
) {
    let rows = [[C::public_comb(simd).rows(); LANES]; N];
    for at in 0..digits(C::BITS, C::PUBLIC_WINDOW) {
        for work in works.iter_mut() {
            add_entry::<S, C, L, N>(simd, work, &rows, (0, at), terms + at);
        }
    }
}

/// Adds what digit `at` of scalar `which` names, as the sum's term number `term`; the first one begins it.
fn add_entry<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    work: &mut Work<'_, S::V, L, N>,
    rows: &Rows<'_, N>,
    (which, at): (usize, usize),
    term: usize,
) {
    let f = Ring::<S, C::Field, L, N>::new(simd);
    let digits = &work.digits[which];
    let places = std::array::from_fn(|n| &digits[n][at]);
    let next = (at + 1 < digits[0].len()).then(|| std::array::from_fn(|n| &digits[n][at + 1]));
    let mut entry = f.origin();
    look_up::<S, C, L, N>(simd, rows, places, next, &mut entry);
    let minus = signs(&places, term);
    if term == 0 {
        let Jacobian { x, y, z } = f.first(&entry, minus);
        work.point = Xyzz { x, y, zz: z, zzz: z };
    } else {
        f.add_in_xyzz(&mut work.point, &entry, minus);
    }
}

/// Whether to subtract, as term number `term` of a sum whose sign each addition turns.
#[inline(always)]
fn signs<const N: usize>(places: &[&Place; N], term: usize) -> Masks<N> {
    let mut minus: Masks<N> = turned(term.saturating_sub(1));
    for n in 0..N {
        minus[n] ^= places[n].minus;
    }
    minus
}

/// `u2 Q` of lanes whose keys have no table.
fn multiply_key<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    works: &mut [Work<'_, S::V, L, N>],
) {
    let f = Ring::<S, C::Field, L, N>::new(simd);
    let tables = cold_tables::<S, C, L, N>(simd, works);
    let rows: Vec<Rows<'_, N>> = tables
        .chunks_exact(N * LANES * COLD_ROWS * C::LINES)
        .map(|tables| {
            let mut tables = tables.chunks_exact(COLD_ROWS * C::LINES);
            std::array::from_fn(|_| std::array::from_fn(|_| tables.next().unwrap_or_default()))
        })
        .collect();
    let mut entry = f.origin();
    let mut points = vec![f.lift(&entry); works.len()];
    for (term, at) in (0..digits(C::BITS, COLD_WINDOW)).rev().enumerate() {
        // Apart from the additions, whose code and theirs do not fit the cache for instructions together.
        if term > 0 {
            points.iter_mut().for_each(|point| f.double_times(point, COLD_WINDOW));
        }
        for ((work, rows), point) in works.iter().zip(&rows).zip(&mut points) {
            let places = std::array::from_fn(|n| &work.digits[1][n][at]);
            look_up::<S, C, L, N>(simd, rows, places, None, &mut entry);
            let minus = signs(&places, term);
            if term == 0 {
                *point = f.first(&entry, minus);
            } else {
                f.add_in_jacobian(point, &entry, minus);
            }
        }
    }
    for (work, point) in works.iter_mut().zip(&points) {
        work.point = simd.call(
            #[inline(always)]
            || f.widen(point),
        );
    }
}

/// The odd multiples of every lane's Q, lane after lane.
fn cold_tables<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    works: &[Work<'_, S::V, L, N>],
) -> Vec<Line> {
    let f = Ring::<S, C::Field, L, N>::new(simd);
    let mut points = Vec::with_capacity(works.len() * COLD_ROWS);
    for work in works {
        f.odd_multiples(&keys::<S, C, L, N>(simd, work.block), COLD_ROWS, &mut points);
    }
    let points = f.normalise(&mut points, COLD_ROWS);
    let lines = N * LANES * COLD_ROWS * C::LINES;
    let mut tables = vec![Line::default(); works.len() * lines];
    for (points, tables) in points.chunks(COLD_ROWS).zip(tables.chunks_exact_mut(lines)) {
        write_rows::<S, C, L, N>(simd, points, tables);
    }
    tables
}

/// The points of a block's keys.
fn keys<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    block: &[Accepted<Job<'_>>],
) -> Affine<S::V, L, N> {
    let f = Ring::<S, C::Field, L, N>::new(simd);
    let keys: [[&[Vec<u64>; 2]; LANES]; N] = lanes(block, |job| job.key);
    let [x, y] = [0, 1].map(|coordinate| {
        let limbs: [[[u64; LANES]; L]; N] = std::array::from_fn(|n| {
            std::array::from_fn(|limb| std::array::from_fn(|lane| keys[n][lane][coordinate][limb]))
        });
        f.load(limbs.each_ref())
    });
    Affine { x, y }
}

/// Lanes whose signature is good.
fn finish<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    work: &Work<'_, S::V, L, N>,
) -> Masks<N> {
    let (f, order) = (Ring::<S, C::Field, L, N>::new(simd), Ring::<S, C::Order, L, N>::new(simd));
    let r = order.read(&lanes(work.block, |job| job.r));
    let (mut is_good, is_exception) = simd.call(
        #[inline(always)]
        || {
            let is_good = is_x::<S, C, L, N>(simd, &r, &work.point.x, &work.point.zz);
            (is_good, f.is_zero(&f.leave(&work.point.zz)))
        },
    );
    if is_exception != [0; N] {
        let keys = keys::<S, C, L, N>(simd, work.block);
        for n in 0..N {
            let exact = exactly::<S, C, L>(
                simd,
                work.scalars.map(|scalar| part(&scalar, n)),
                &Affine { x: part(&keys.x, n), y: part(&keys.y, n) },
                &part(&r, n),
            );
            is_good[n] = (is_good[n] & !is_exception[n]) | (exact & is_exception[n]);
        }
    }
    is_good
}

/// Lanes in which `X/Z = r mod n`, by multiplication: X = r Z, or X = (r + n) Z where r + n is below p. Z is not zero.
#[inline(always)]
fn is_x<S: Simd, C: Curve<L>, const L: usize, const N: usize>(
    simd: S,
    r: &Element<S::V, L, N>,
    x: &Element<S::V, L, N>,
    z: &Element<S::V, L, N>,
) -> Masks<N> {
    let f = Ring::<S, C::Field, L, N>::new(simd);
    let other = f.carry(r.loose() + f.splat(&C::Order::LIMBS));
    let is_below = f.is_below_modulus(&other);
    let first = f.settle(f.times(&f.enter(r), z) - *x);
    let second = f.settle(f.times(&f.enter(&other), z) - *x);
    let (mut is_x, second) = (f.is_zero(&f.leave(&first)), f.is_zero(&f.leave(&second)));
    for n in 0..N {
        is_x[n] |= second[n] & is_below[n];
    }
    is_x
}

/// The same answer for a group by complete additions.
fn exactly<S: Simd, C: Curve<L>, const L: usize>(
    simd: S,
    [u1, u2]: [Element<S::V, L, 1>; 2],
    key: &Affine<S::V, L, 1>,
    r: &Element<S::V, L, 1>,
) -> u8 {
    let group = Group::<S, C, L>::new(simd);
    let [x, y] = base::<C, L>();
    let base = group.lift(&Affine { x: group.f.splat(&x), y: group.f.splat(&y) });
    let Projective { x, z, .. } = group.double_sum((&u1, &base), (&u2, &group.lift(key)));
    simd.call(
        #[inline(always)]
        || {
            let [is_good] = is_x::<S, C, L, 1>(simd, r, &x, &z);
            let [is_infinity] = group.f.is_zero(&group.f.leave(&z));
            is_good & !is_infinity
        },
    )
}

/// Part `n` of a block.
fn part<V: Vector, const L: usize, const N: usize>(all: &Element<V, L, N>, n: usize) -> Element<V, L, 1> {
    Element(all.0.map(|limb| Side([limb.0[n]])))
}
