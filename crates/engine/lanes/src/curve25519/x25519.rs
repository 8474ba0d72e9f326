//! X25519. RFC 7748 section 5. Constant time in the scalar, the peer's coordinate and the result.

use oarlock_core::{KeyParts, Operation, Outcomes, Shape, Status};
use zeroize::{Zeroize, Zeroizing};

use super::constants::ONE;
use super::field::{Factor, FieldFactor, FieldSimd, Sum, WideSum};
use super::scalar::ScalarLanes;
use super::{base, power, words};
use crate::batch::{LaneJob, accept, per_lane};
use crate::simd::{BlindMulVector, LANES, Mask};

/// The curve constant (486662 - 2) / 4. RFC 7748 section 5.
const A24: u64 = 121_665;

/// The u of the base point. RFC 7748 4.1.
const BASE_U: [u8; 32] = {
    let mut bytes = [0; 32];
    bytes[0] = 9;
    bytes
};

struct X25519Job<'a> {
    scalar: &'a [u8],
    peer: &'a [u8],
}

/// The quotient at the end of a multiplication. All quotients of a run share one inversion.
#[derive(Clone, Copy, Zeroize)]
#[zeroize(bound = "")]
struct FieldRatio<S: FieldSimd> {
    over: Factor<S>,
    under: Factor<S>,
}

/// Computes every job. A job with the base point, which makes a public key, uses the comb of the Edwards form.
pub(crate) fn run<S: FieldSimd>(simd: S, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(Shape::X25519, operations, out, read);
    // The peer is public, so the path may depend on it. Other encodings of the base point take the ladder.
    let (of_base, of_peers): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.job.peer == BASE_U);
    let mut ratios = Zeroizing::new(Vec::with_capacity(operations.len() / LANES + 2));
    base_ratios(simd, &of_base, &mut ratios);
    ladders(simd, &of_peers, &mut ratios);
    let mut inverses = Zeroizing::new(ratios.iter().map(|ratio| ratio.under).collect::<Vec<_>>());
    power::invert_all(simd, &mut inverses);
    let groups = of_base.chunks(LANES).chain(of_peers.chunks(LANES));
    // Z = 0 for a peer of small order: its inverse is zero, and so is the result, as RFC 7748 asks for.
    for ((group, ratio), inverse) in groups.zip(ratios.iter()).zip(inverses.iter()) {
        let words = simd.call(
            #[inline(always)]
            || ratio.over.times(simd, inverse).reduce(simd).as_words(simd),
        );
        let results = Zeroizing::new(words::bytes(simd, &words));
        for (job, result) in group.iter().zip(results.iter()) {
            out.result_mut(job.index).copy_from_slice(result);
            out.set(job.index, Status::Done);
        }
    }
}

fn read<'a>(operation: &'a Operation<'a>) -> Result<X25519Job<'a>, Status> {
    let Some(KeyParts::X25519Private(parts)) = operation.key.parts() else { return Err(Status::BadKey) };
    let scalar = parts.scalar.expose();
    if scalar.len() != 32 {
        return Err(Status::BadKey);
    }
    Ok(X25519Job { scalar, peer: operation.input })
}

/// Decodes scalars. RFC 7748 section 5.
fn clamped<S: FieldSimd>(simd: S, group: &[LaneJob<X25519Job<'_>>]) -> Zeroizing<[S::V; 4]> {
    let mut words = Zeroizing::new(words::load(simd, per_lane(group, |job| job.scalar)));
    simd.call(
        #[inline(always)]
        || {
            words[0] = words[0] & simd.splat(!7);
            words[3] = words[3] & simd.splat(!(1 << 63)) | simd.splat(1 << 62);
        },
    );
    words
}

/// Computes u = (1 + y) / (1 - y) of multiples of the base point. RFC 7748 4.1.
fn base_ratios<S: FieldSimd>(simd: S, jobs: &[LaneJob<X25519Job<'_>>], ratios: &mut Vec<FieldRatio<S>>) {
    let mut scalars = Zeroizing::new(Vec::with_capacity(jobs.len() / LANES + 1));
    for group in jobs.chunks(LANES) {
        let words = clamped(simd, group);
        scalars.push(simd.call(
            #[inline(always)]
            || ScalarLanes::from_words(simd, &words),
        ));
    }
    let mut points = Zeroizing::new(Vec::with_capacity(scalars.len()));
    base(simd).columns.times(simd, &scalars, &mut points);
    for point in points.iter() {
        ratios.push(simd.call(
            #[inline(always)]
            // y = Y/Z, so u = (Z + Y) / (Z - Y). Z - Y is zero only for the neutral point, and no clamped scalar is a
            // multiple of L.
            || FieldRatio {
                over: (point.z + point.y).reduce(simd),
                under: point.z.minus(simd, &point.y).reduce(simd),
            },
        ));
    }
}

/// Both points of a Montgomery ladder as X : Z. Their difference is the peer's point.
#[derive(Clone, Copy, Zeroize)]
#[zeroize(bound = "")]
pub(super) struct MontgomeryLadder<S: FieldSimd> {
    scalar: [S::V; 4],
    peer: Factor<S>,
    x2: Sum<S>,
    z2: Sum<S>,
    x3: Sum<S>,
    z3: Sum<S>,
    /// The products A^2, B^2, DA, CB within a step, and E = A^2 - B^2.
    aa: Sum<S>,
    bb: Sum<S>,
    da: Sum<S>,
    cb: Sum<S>,
    e: Factor<S>,
    /// The lanes in which the two points are exchanged.
    swapped: Mask,
}

fn ladders<S: FieldSimd>(simd: S, jobs: &[LaneJob<X25519Job<'_>>], ratios: &mut Vec<FieldRatio<S>>) {
    let mut ladders = Zeroizing::new(Vec::with_capacity(jobs.len() / LANES + 1));
    jobs.chunks(LANES).for_each(|group| ladders.push(MontgomeryLadder::new(simd, group)));
    let (pairs, rest) = ladders.as_chunks_mut::<2>();
    pairs.iter_mut().for_each(|pair| run_ladders(simd, pair));
    let (ones, _) = rest.as_chunks_mut::<1>();
    ones.iter_mut().for_each(|one| run_ladders(simd, one));
    for ladder in ladders.iter() {
        ratios.push(simd.call(
            #[inline(always)]
            || ladder.ratio(simd),
        ));
    }
}

/// Runs all 255 steps of several ladders side by side. A step takes 5 products, 4 squarings and a product with a
/// small number. Thirds of steps alternate between ladders: one multiplies while the carries of another run.
pub(super) fn run_ladders<S: FieldSimd, const N: usize>(simd: S, ladders: &mut [MontgomeryLadder<S>; N]) {
    const STEPS: usize = 5;
    for first in (0..255 / STEPS).rev() {
        simd.call(
            #[inline(always)]
            || {
                for bit in (first * STEPS..(first + 1) * STEPS).rev() {
                    for ladder in ladders.iter_mut() {
                        ladder.begin_step(simd, bit);
                    }
                    for ladder in ladders.iter_mut() {
                        ladder.continue_step(simd);
                    }
                    for ladder in ladders.iter_mut() {
                        ladder.finish_step(simd);
                    }
                }
            },
        );
    }
}

impl<S: FieldSimd> MontgomeryLadder<S> {
    fn new(simd: S, group: &[LaneJob<X25519Job<'_>>]) -> Self {
        let peer = Zeroizing::new(words::load(simd, per_lane(group, |job| job.peer)));
        Self::from_words(simd, &clamped(simd, group), &peer)
    }

    pub(super) fn from_words(simd: S, scalar: &[S::V; 4], peer: &[S::V; 4]) -> Self {
        simd.call(
            #[inline(always)]
            || {
                // RFC 7748 section 5: the topmost bit is ignored, and values from p on are reduced modulo p.
                let [a, b, c, d] = *peer;
                let peer = Factor::<S>::from_words(simd, &[a, b, c, d & simd.splat(!(1 << 63))]);
                let (zero, one) = (Sum::<S>::splat(simd, &[0; 5]), Sum::<S>::splat(simd, &ONE));
                let x3 = peer.widen(simd);
                let [aa, bb, da, cb] = [zero; 4];
                Self {
                    scalar: *scalar,
                    peer,
                    x2: one,
                    z2: zero,
                    x3,
                    z3: one,
                    aa,
                    bb,
                    da,
                    cb,
                    e: peer,
                    swapped: 0,
                }
            },
        )
    }

    /// Runs the first third of a step, which stores A^2, B^2, DA, CB. RFC 7748 section 5.
    #[inline(always)]
    fn begin_step(&mut self, simd: S, bit: usize) {
        let is_set = self.scalar[bit / 64].has_any(simd.splat(1 << (bit % 64)));
        // Swaps of consecutive steps are merged: only a change of the bit swaps. RFC 7748 section 5.
        let swap = is_set ^ self.swapped;
        self.swapped = is_set;
        let (x2, x3) = (self.x2.or_if(swap, &self.x3), self.x3.or_if(swap, &self.x2));
        let (z2, z3) = (self.z2.or_if(swap, &self.z3), self.z3.or_if(swap, &self.z2));
        // Both points are blended in every step, so memory accesses and time do not depend on the scalar.
        let (a, b) = (x2 + z2, x2.minus(simd, &z2));
        let (c, d) = (x3 + z3, x3.minus(simd, &z3));
        let (a, b, c, d) = (a.factor(simd), b.factor(simd), c.factor(simd), d.factor(simd));
        a.square_into(simd, &mut self.aa);
        b.square_into(simd, &mut self.bb);
        d.times_into(simd, &a, &mut self.da);
        c.times_into(simd, &b, &mut self.cb);
    }

    /// Runs the second third, which stores X2 and X3, and the first factors of Z2 and Z3.
    #[inline(always)]
    fn continue_step(&mut self, simd: S) {
        self.e = *self.aa.minus(simd, &self.bb).factor(simd);
        // RFC 7748: Z2 = E (AA + a24 E). The factor E follows in the last third.
        self.z2 = self.aa + self.e.times_small(simd, A24);
        self.aa.factor(simd).times_into(simd, &self.bb.factor(simd), &mut self.x2);
        (self.da + self.cb).factor(simd).square_into(simd, &mut self.x3);
        self.da.minus(simd, &self.cb).factor(simd).square_into(simd, &mut self.z3);
    }

    /// Runs the last third, which stores Z2 and Z3.
    #[inline(always)]
    fn finish_step(&mut self, simd: S) {
        self.z2.multiply_by(simd, &self.e);
        self.z3.multiply_by(simd, &self.peer);
    }

    #[inline(always)]
    fn ratio(&self, simd: S) -> FieldRatio<S> {
        let x = self.x2.or_if(self.swapped, &self.x3);
        let z = self.z2.or_if(self.swapped, &self.z3);
        FieldRatio { over: x.reduce(simd), under: z.reduce(simd) }
    }
}
