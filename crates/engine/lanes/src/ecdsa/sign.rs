//! ECDSA signing. FIPS 186-5 6.4.1. Keys and nonces are secret: no branch and no index depends on them, tables are
//! read whole, and all memory that held them is erased.

use oarlock_core::{Key, KeyParts, NonceInput, Operation, Outcomes, SecondInput, Shape, Status};
use zeroize::{Zeroize, Zeroizing};

use super::curve::CurveParams;
use super::element::Element;
use super::field::{CoordinateField, CurveElement, CurveField, CurveSimd};
use super::interleaved::{Interleaved, Masks};
use super::multiples::turned;
use super::nonce::{has_rule, nonces};
use super::point::{JacobianPoint, PointField, XyzzPoint};
use super::recode::{digit, digits, halve};
use super::ring::{MontgomeryRing, OddModulus};
use super::scalars::{Integers, is_in_range, is_set, lanes, write};
use crate::batch::{LaneJob, accept};
use crate::simd::{LANES, MulVector, declassify};

/// The inputs of a job.
#[derive(Clone, Copy)]
pub(crate) struct EcdsaSignJob<'a> {
    /// The private key, at the curve's width.
    pub(crate) scalar: &'a [u8],
    /// The digest, at the curve's width.
    pub(crate) digest: &'a [u8],
    pub(crate) nonce: NonceInput<'a>,
}

/// The nonces that are tried. No refused nonce has ever been observed, so after a few the engine gives up.
const ATTEMPTS: u8 = 4;

/// Signs every job.
pub(crate) fn run<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
    simd: S,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let shape = Shape::EcdsaSign { curve: C::NAME };
    let mut left = accept(shape, operations, out, read::<C, L>);
    for attempt in 0..ATTEMPTS {
        if left.is_empty() {
            return;
        }
        // Two groups in turn hide each other's carries.
        if S::IN_PAIRS && left.len() > LANES {
            sign::<S, C, L, 2>(simd, &mut left, attempt, out);
        } else {
            sign::<S, C, L, 1>(simd, &mut left, attempt, out);
        }
    }
    // Four refused nonces in a row mean a broken hash and not bad luck, so no signature leaves the engine.
    for job in left {
        out.set(job.index, Status::Malformed);
    }
}

fn read<'a, C: CurveParams<L>, const L: usize>(
    operation: &'a Operation<'a>,
) -> Result<EcdsaSignJob<'a>, Status> {
    let nonce = match operation.extra {
        SecondInput::NonceInput(nonce @ NonceInput::Hedged(_)) => nonce,
        SecondInput::NonceInput(nonce @ NonceInput::Deterministic(alg)) if has_rule(alg) => nonce,
        _ => return Err(Status::Malformed),
    };
    let Some(KeyParts::EcPrivate(parts)) = operation.key.parts() else { return Err(Status::BadKey) };
    let scalar = parts.scalar.expose();
    if !has_private::<C, L>(operation.key, scalar) {
        return Err(Status::BadKey);
    }
    Ok(EcdsaSignJob { scalar, digest: operation.input, nonce })
}

/// Returns true if the scalar is in [1, n - 1]. The result is cached with the key.
fn has_private<C: CurveParams<L>, const L: usize>(key: &Key, scalar: &[u8]) -> bool {
    struct CheckedScalar(bool);
    let check = |_: &Key| {
        let is_good = scalar.len() == C::BYTES && is_in_range::<C::Order, L>(scalar);
        // The result is no secret: the owner of a bad key gets an error.
        Ok::<_, std::convert::Infallible>(CheckedScalar(declassify(is_good)))
    };
    key.prepared(check).is_ok_and(|checked| checked.0)
}

/// The state of a block of N times eight signatures.
struct SignBlock<V, E, const L: usize, const N: usize> {
    /// The nonce in Montgomery form modulo n, and later its inverse. A nonce of zero is replaced by one.
    k: Element<V, L, N>,
    /// The odd number among k and n - k, recoded. Both give the same x-coordinate.
    half: [[V; L]; N],
    /// The sum of the comb's points, up to its sign.
    point: XyzzPoint<E>,
    /// The lanes whose nonce is refused.
    refused: Masks<N>,
}

/// Signs jobs. Afterwards `jobs` holds the jobs whose nonce was refused.
fn sign<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    jobs: &mut Vec<LaneJob<EcdsaSignJob<'_>>>,
    attempt: u8,
    out: &mut Outcomes,
) {
    let mut works = Zeroizing::new(Vec::with_capacity(jobs.len().div_ceil(N * LANES)));
    for block in jobs.chunks(N * LANES) {
        let k = Zeroizing::new(nonces::<S, C, L, N>(simd, block, attempt));
        works.push(begin::<S, C, L, N>(simd, &k));
    }
    multiply_base::<S, C, L, N>(simd, &mut works);
    invert::<S, C, L, N>(simd, &mut works);
    let mut left = Vec::new();
    for (block, work) in jobs.chunks(N * LANES).zip(works.iter_mut()) {
        let [r, s] = finish::<S, C, L, N>(simd, block, work);
        for (index, job) in block.iter().enumerate() {
            if is_set(&work.refused, index) {
                left.push(LaneJob { index: job.index, job: job.job });
                continue;
            }
            let (first, second) = out.result_mut(job.index).split_at_mut(C::BYTES);
            write(&r, index, first);
            write(&s, index, second);
            out.set(job.index, Status::Done);
        }
    }
    *jobs = left;
}

/// Checks the nonces and recodes them.
fn begin<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    k: &Element<S::V, L, N>,
) -> SignBlock<S::V, CurveElement<S, C, L, N>, L, N> {
    let (f, order) = (CurveField::<S, C, L, N>::new(simd), MontgomeryRing::<S, C::Order, L, N>::new(simd));
    simd.call(
        #[inline(always)]
        || {
            let plain = order.leave(k);
            let refused = order.is_zero(&plain);
            // A zero nonce continues as one, so that the inversion of the whole run stays possible. Its signature
            // is discarded.
            let plain = order.select(refused, &plain, &order.splat(&super::constants::small(1)));
            // n is odd, so exactly one of k and n - k is odd, as the recoding requires.
            let negative = order.carry(order.splat(&C::Order::LIMBS).loose() - plain);
            let is_odd = plain.0[0].has_any(order.word(1));
            let odd = order.select(is_odd, &negative, &plain);
            let mut half = [[simd.zero(); L]; N];
            for n in 0..N {
                let mut scalar = [simd.zero(); L];
                for limb in 0..L {
                    scalar[limb] = odd.0[limb].0[n];
                }
                half[n] = halve(simd, &scalar, C::BITS, C::SECRET_WINDOW);
            }
            let one = f.one();
            let point = XyzzPoint { x: one, y: one, zz: one, zzz: one };
            SignBlock { k: order.select(refused, k, &order.one()), half, point, refused }
        },
    )
}

/// Computes `k G` for all blocks, window by window, so that each window of the table is loaded once for all blocks.
fn multiply_base<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    works: &mut [SignBlock<S::V, CurveElement<S, C, L, N>, L, N>],
) {
    let f = CurveField::<S, C, L, N>::new(simd);
    let comb = C::secret_comb(simd);
    for window in 0..digits(C::BITS, C::SECRET_WINDOW) {
        for work in works.iter_mut() {
            let (entry, mut minus) = simd.call(
                #[inline(always)]
                || {
                    let (mut index, mut minus) = (Interleaved::splat(simd, 0), [0; N]);
                    for n in 0..N {
                        let digit = digit(simd, &work.half[n], window, C::SECRET_WINDOW);
                        (index.0[n], minus[n]) = (digit.index, digit.minus);
                    }
                    (comb.look_up::<S, C, L, N>(simd, window, index), minus)
                },
            );
            // The number of the window is public. The first entry starts the sum, because infinity is not a summand.
            if window == 0 {
                let JacobianPoint { x, y, z } = f.first(&entry, minus);
                work.point = XyzzPoint { x, y, zz: z, zzz: z };
                continue;
            }
            let turned: Masks<N> = turned(window - 1);
            for n in 0..N {
                minus[n] ^= turned[n];
            }
            f.add_in_xyzz(&mut work.point, &entry, minus);
        }
    }
}

/// Replaces ZZ and k of all blocks by their inverses. ZZ is zero if a sum met an exception; those nonces are
/// refused.
fn invert<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    works: &mut [SignBlock<S::V, CurveElement<S, C, L, N>, L, N>],
) {
    let (f, order) = (CurveField::<S, C, L, N>::new(simd), MontgomeryRing::<S, C::Order, L, N>::new(simd));
    let mut zz = Zeroizing::new(Vec::with_capacity(works.len()));
    for work in works.iter_mut() {
        let is_zero = simd.call(
            #[inline(always)]
            || f.is_zero(&work.point.zz),
        );
        for n in 0..N {
            work.refused[n] |= is_zero[n];
        }
        zz.push(simd.call(
            #[inline(always)]
            || f.select(is_zero, &work.point.zz, &f.one()),
        ));
    }
    let mut k = Zeroizing::new(works.iter().map(|work| work.k).collect::<Vec<_>>());
    // By Fermat and not by Euclid: k is secret, and ZZ depends on it beyond the point.
    f.invert_all(&mut zz);
    order.invert_all(&mut k);
    for ((work, zz), k) in works.iter_mut().zip(zz.iter()).zip(k.iter()) {
        (work.point.zz, work.k) = (*zz, *k);
    }
}

/// Returns r = x mod n and s = (e + r d) / k mod n as words.
fn finish<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    block: &[LaneJob<EcdsaSignJob<'_>>],
    work: &mut SignBlock<S::V, CurveElement<S, C, L, N>, L, N>,
) -> [Integers<N>; 2] {
    let (f, order) = (CurveField::<S, C, L, N>::new(simd), MontgomeryRing::<S, C::Order, L, N>::new(simd));
    let e = order.read(&lanes(block, |job| job.digest));
    let d = Zeroizing::new(order.read(&lanes(block, |job| job.scalar)));
    let (r, s, zero) = simd.call(
        #[inline(always)]
        || {
            let r = order.below_modulus(&f.leave(&f.mul(&work.point.x, &work.point.zz)));
            let rd = order.mul(&r, &order.enter(&d));
            // e is below R and r d below 2 n, so the sum is below R; the product reduces it.
            let sum = order.carry(rd.loose() + e);
            let s = order.below_modulus(&order.mul(&sum, &work.k));
            let mut zero = order.is_zero(&r);
            for (zero, s) in zero.iter_mut().zip(order.is_zero(&s)) {
                *zero |= s;
            }
            (r, s, zero)
        },
    );
    for n in 0..N {
        // A refused nonce is never used, so the fact of its refusal may be public.
        work.refused[n] = declassify(work.refused[n] | zero[n]);
    }
    [declassify(order.words(&r)), declassify(order.words(&s))]
}

impl<V: MulVector, E: Zeroize, const L: usize, const N: usize> Zeroize for SignBlock<V, E, L, N> {
    fn zeroize(&mut self) {
        self.k.zeroize();
        self.half.iter_mut().for_each(Zeroize::zeroize);
        self.point.zeroize();
    }
}
