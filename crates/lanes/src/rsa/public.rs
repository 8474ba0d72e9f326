//! Computation of `input^e mod n`. All values are public, so branches and indices may depend on them.

use oarlock_core::{Operation, Outcomes, RsaPublicParts, Shape, Status};

use super::convert::{Staging, gather_into};
use super::factor::PlainFactor;
use super::memory::{FreeSpans, SpanMemory, VectorSpan, number};
use super::number::{self as integer, Limbs};
use super::streams::{ModulusStreams, limbs_for};
use super::{carry, check_range, write_results};
use crate::batch::{LaneJob, accept, per_lane};
use crate::simd::{LANES, MulSimd, MulVector};

/// The fourth Fermat number, the usual exponent.
const F4: u64 = 65_537;

/// The squares in `x^65537`.
const F4_SQUARES: usize = 16;

/// The prepared form of a modulus. Numbers are padded to a multiple of eight words.
#[derive(Debug)]
pub(super) struct MontgomeryModulus {
    /// The number of limbs without padding.
    pub(super) limbs: usize,
    pub(super) n: Limbs,
    /// -n^-1 mod 2^52.
    pub(super) inverse: u64,
    /// R^2 mod n.
    pub(super) radix_squared: Limbs,
}

#[derive(Debug)]
struct PublicPower {
    modulus: MontgomeryModulus,
    e: u64,
}

struct PublicJob<'a> {
    key: &'a PublicPower,
    input: &'a [u8],
}

impl MontgomeryModulus {
    pub(super) fn new(n: &[u8], bits: u16) -> Result<Self, Status> {
        let limbs = limbs_for(bits.into()).ok_or(Status::BadKey)?;
        let n = integer::from_bytes(n, limbs).ok_or(Status::BadKey)?;
        if n[0] % 2 == 0 || n[0] <= 1 && n[1..].iter().all(|limb| *limb == 0) {
            return Err(Status::BadKey);
        }
        let radix_squared = integer::padded(&integer::power_of_two_mod(2 * 52 * limbs, &n));
        Ok(Self { limbs, inverse: integer::negated_inverse(n[0]), radix_squared, n: integer::padded(&n) })
    }
}

impl PublicPower {
    fn new(parts: &RsaPublicParts) -> Result<Self, Status> {
        let e = integer::from_bytes(&parts.e, 1).ok_or(Status::BadKey)?[0];
        // The bound of `RsaExponent::Other`, which AWS-LC has too. Larger exponents only slow verification down.
        if e < 3 || e % 2 == 0 || e >> 33 != 0 {
            return Err(Status::BadKey);
        }
        Ok(Self { modulus: MontgomeryModulus::new(&parts.n, parts.bits())?, e })
    }
}

/// Computes jobs of a public shape, two groups of eight in turn. The carries of one are hidden under the products of
/// the other.
pub(crate) fn public<S: MulSimd>(simd: S, shape: Shape, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(shape, operations, out, read);
    let Some(first) = jobs.first() else { return };
    let limbs = first.job.key.modulus.limbs;
    // A second group costs memory even if it is idle, so small runs allocate one.
    let count = jobs.len().div_ceil(LANES).min(2);
    let mut memory = SpanMemory::new(simd, PublicGroups::<S>::spans(limbs, count));
    let mut groups = PublicGroups::new(simd, limbs, count, &mut memory.places());
    let mut staging = Staging::new(simd, shape.output_len());
    for pair in jobs.chunks(2 * LANES) {
        for (at, jobs) in pair.chunks(LANES).enumerate() {
            groups.start(at, jobs, &mut staging);
        }
        let count = pair.len().div_ceil(LANES);
        groups.enter_montgomery(count);
        // 65,537 is nearly universal: squares alone, and no test of exponent bits.
        if pair.iter().all(|job| job.job.key.e == F4) {
            groups.power_f4(count);
        } else {
            pair.chunks(LANES).enumerate().for_each(|(at, jobs)| groups.power_any(at, jobs));
        }
        for (at, jobs) in pair.chunks(LANES).enumerate() {
            write_results(jobs, groups.finish(at), &mut staging, out);
        }
    }
}

fn read<'a>(operation: &'a Operation<'a>) -> Result<PublicJob<'a>, Status> {
    let parts = operation.key.rsa_public().ok_or(Status::BadKey)?;
    check_range(operation.input, &parts.n)?;
    Ok(PublicJob { key: operation.key.prepared(|_| PublicPower::new(parts))?, input: operation.input })
}

/// One or two groups of eight powers.
struct PublicGroups<'m, S: MulSimd> {
    streams: ModulusStreams<'m, S>,
    inputs: Vec<&'m mut [S::V]>,
    /// R^2 mod n.
    radix_squared: Vec<&'m mut [S::V]>,
}

impl<'m, S: MulSimd> PublicGroups<'m, S> {
    fn spans(limbs: usize, count: usize) -> impl Iterator<Item = VectorSpan> {
        ModulusStreams::<S>::spans(limbs, count)
            .chain((0..2 * count).map(move |_| VectorSpan::anywhere(limbs)))
    }

    fn new(simd: S, limbs: usize, count: usize, places: &mut FreeSpans<'m, S::V>) -> Self {
        let streams = ModulusStreams::new(simd, limbs, count, places);
        let mut numbers = || (0..count).flat_map(|_| places.take([VectorSpan::anywhere(limbs)])).collect();
        Self { streams, inputs: numbers(), radix_squared: numbers() }
    }

    /// Loads the keys and inputs of eight jobs.
    fn start(&mut self, at: usize, jobs: &[LaneJob<PublicJob<'_>>], staging: &mut Staging<S>) {
        let simd = self.streams.simd();
        let keys = per_lane(jobs, |job| &job.key.modulus);
        let place = self.streams.set_modulus(at, simd.load(&keys.map(|key| key.inverse)));
        gather_into(simd, keys.map(|key| &key.n[..]), place);
        gather_into(simd, keys.map(|key| &key.radix_squared[..]), self.radix_squared[at]);
        staging.read(per_lane(jobs, |job| job.input), self.inputs[at]);
    }

    /// Brings the inputs into Montgomery form.
    fn enter_montgomery(&mut self, count: usize) {
        for (at, radix_squared) in self.radix_squared[..count].iter().enumerate() {
            self.streams.value_mut(at).0.copy_from_slice(radix_squared);
        }
        self.multiply_by_inputs(count);
    }

    /// Raises to 65,537. The last product takes the input in plain form, which leaves Montgomery form without a step
    /// of its own.
    fn power_f4(&mut self, count: usize) {
        // The first factor is x R, so x^65536 R times the plain x, divided by R, is x^65537.
        self.streams.square(0..count, F4_SQUARES);
        self.multiply_by_inputs(count);
    }

    fn multiply_by_inputs(&mut self, count: usize) {
        match &self.inputs[..count] {
            [first, second] => self.streams.multiply(0, &[PlainFactor(first), PlainFactor(second)]),
            [one, ..] => self.streams.multiply(0, &[PlainFactor(one)]),
            [] => {}
        }
    }

    /// Raises to any exponents, bit by bit from the highest bit of the longest.
    fn power_any(&mut self, at: usize, jobs: &[LaneJob<PublicJob<'_>>]) {
        let Self { streams, radix_squared, .. } = self;
        let simd = streams.simd();
        let exponents = simd.load(&per_lane(jobs, |job| job.key.e));
        let bits = jobs.iter().map(|job| u64::BITS - job.job.key.e.leading_zeros()).max().unwrap_or(0);
        let mut one = number(simd, streams.limbs());
        one[0] = simd.splat(1);
        let (mut base, mut squared) = (number(simd, streams.limbs()), number(simd, streams.limbs()));
        base.copy_from_slice(streams.value(at));
        // Multiplying R^2 by 1 divides it by R, and R is 1 in Montgomery form.
        streams.value_mut(at).0.copy_from_slice(radix_squared[at]);
        streams.multiply(at, &[PlainFactor(&one)]);
        // Lanes with shorter exponents square one until their highest bit.
        for bit in (0..bits).rev() {
            streams.square(at..at + 1, 1);
            squared.copy_from_slice(streams.value(at));
            streams.multiply(at, &[PlainFactor(&base)]);
            let is_set = exponents.has_any(simd.splat(1 << bit));
            for (value, squared) in streams.value_mut(at).0.iter_mut().zip(squared.iter()) {
                *value = squared.or_if(is_set, *value);
            }
        }
        streams.multiply(at, &[PlainFactor(&one)]);
    }

    /// Reduces the value, which is at most n, below n.
    fn finish(&mut self, at: usize) -> &[S::V] {
        let simd = self.streams.simd();
        let (value, n) = self.streams.value_mut(at);
        carry::reduce(simd, value, n);
        value
    }
}
