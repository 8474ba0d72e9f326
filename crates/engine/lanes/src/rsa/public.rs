//! Computation of `input^e mod n`. All values are public, so branches and indices may depend on them.

use std::marker::PhantomData;

use oarlock_core::{Operation, Outcomes, RsaPublicParts, Shape, Status};

use super::convert::Staging;
use super::factor::PlainFactor;
use super::leaf::{RsaLeaf, RsaStreams};
use super::memory::{FreeSpans, SpanMemory, VectorSpan, number};
use super::number::{self as integer, Limbs};
use super::{check_range, per_lane, write_results};
use crate::batch::{LaneJob, accept};

/// The fourth Fermat number, the usual exponent.
const F4: u64 = 65_537;

/// The squares in `x^65537`.
const F4_SQUARES: usize = 16;

/// The prepared form of a modulus, in words of the leaf.
#[derive(Debug)]
pub(super) struct MontgomeryModulus {
    /// The number of limbs.
    pub(super) limbs: usize,
    pub(super) n: Limbs,
    /// -n^-1.
    pub(super) inverse: Limbs,
    /// R^2 mod n.
    pub(super) radix_squared: Limbs,
}

/// The prepared form of a key for a leaf.
#[derive(Debug)]
struct PublicPower<L> {
    modulus: MontgomeryModulus,
    e: u64,
    leaf: PhantomData<L>,
}

struct PublicJob<'a, L> {
    key: &'a PublicPower<L>,
    input: &'a [u8],
}

impl MontgomeryModulus {
    /// Prepares a modulus. Its time depends on n, which is public.
    pub(super) fn new<L: RsaLeaf<N>, const N: usize>(n: &[u8], bits: u16) -> Result<Self, Status> {
        let limbs = L::limbs_for(bits.into()).ok_or(Status::BadKey)?;
        let n = integer::from_bytes(n, L::integer_limbs(limbs)).ok_or(Status::BadKey)?;
        if n[0] % 2 == 0 || n[0] <= 1 && n[1..].iter().all(|limb| *limb == 0) {
            return Err(Status::BadKey);
        }
        let radix_squared = integer::power_of_two_mod(2 * L::radix_bits(limbs), &n);
        Ok(Self {
            limbs,
            n: L::stored(&n, limbs),
            inverse: L::stored_inverse(&n, limbs),
            radix_squared: L::stored(&radix_squared, limbs),
        })
    }
}

impl<L> PublicPower<L> {
    fn new<const N: usize>(parts: &RsaPublicParts) -> Result<Self, Status>
    where
        L: RsaLeaf<N>,
    {
        let e = integer::from_bytes(&parts.e, 1).ok_or(Status::BadKey)?[0];
        // The bound of `RsaExponent::Other`, which AWS-LC has too. Larger exponents only slow verification down.
        if e < 3 || e % 2 == 0 || e >> 33 != 0 {
            return Err(Status::BadKey);
        }
        let modulus = MontgomeryModulus::new::<L, N>(&parts.n, parts.bits())?;
        Ok(Self { modulus, e, leaf: PhantomData })
    }
}

/// Computes jobs of a public shape, two groups of `N` in turn. A leaf can hide the carries of one under the products
/// of the other.
pub(crate) fn public<L: RsaLeaf<N>, const N: usize>(
    leaf: L,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    let jobs = accept(shape, operations, out, read::<L, N>);
    let Some(first) = jobs.first() else { return };
    let limbs = first.job.key.modulus.limbs;
    // A second group costs memory even if it is idle, so small runs allocate one.
    let count = jobs.len().div_ceil(N).min(2);
    let mut memory = SpanMemory::new(leaf, PublicGroups::<L, N>::spans(limbs, count));
    let mut groups = PublicGroups::new(leaf, limbs, count, &mut memory.free_spans());
    let mut staging = Staging::new(leaf, limbs, shape.output_len());
    for pair in jobs.chunks(2 * N) {
        for (at, jobs) in pair.chunks(N).enumerate() {
            groups.start(at, jobs, &mut staging);
        }
        let count = pair.len().div_ceil(N);
        groups.enter_montgomery(count);
        // 65,537 is nearly universal: squares alone, and no test of exponent bits.
        if pair.iter().all(|job| job.job.key.e == F4) {
            groups.power_f4(count);
        } else {
            pair.chunks(N).enumerate().for_each(|(at, jobs)| groups.power_any(at, jobs));
        }
        for (at, jobs) in pair.chunks(N).enumerate() {
            write_results(jobs, groups.finish(at), &mut staging, out);
        }
    }
}

fn read<'a, L: RsaLeaf<N>, const N: usize>(operation: &'a Operation<'a>) -> Result<PublicJob<'a, L>, Status> {
    let parts = operation.key.rsa_public().ok_or(Status::BadKey)?;
    check_range(operation.input, &parts.n)?;
    Ok(PublicJob { key: operation.key.prepared(|_| PublicPower::new::<N>(parts))?, input: operation.input })
}

/// One or two groups of `N` powers.
struct PublicGroups<'m, L: RsaLeaf<N>, const N: usize> {
    leaf: L,
    streams: L::Streams<'m>,
    inputs: Vec<&'m mut [L::Limb]>,
    /// R^2 mod n.
    radix_squared: Vec<&'m mut [L::Limb]>,
}

impl<'m, L: RsaLeaf<N>, const N: usize> PublicGroups<'m, L, N> {
    fn spans(limbs: usize, count: usize) -> impl Iterator<Item = VectorSpan> {
        let numbers = (0..2 * count).map(move |_| VectorSpan::anywhere(limbs));
        L::Streams::spans(limbs, count).into_iter().chain(numbers)
    }

    fn new(leaf: L, limbs: usize, count: usize, spans: &mut FreeSpans<'m, L::Limb>) -> Self {
        let streams = L::Streams::new(leaf, limbs, count, spans);
        let mut numbers = || (0..count).flat_map(|_| spans.take([VectorSpan::anywhere(limbs)])).collect();
        Self { leaf, streams, inputs: numbers(), radix_squared: numbers() }
    }

    /// Loads the keys and inputs of `N` jobs.
    fn start(&mut self, at: usize, jobs: &[LaneJob<PublicJob<'_, L>>], staging: &mut Staging<L, N>) {
        let keys = per_lane(jobs, |job| &job.key.modulus);
        self.streams.set_modulus(at, keys.map(|key| &key.n[..]), keys.map(|key| &key.inverse[..]));
        self.leaf.gather(keys.map(|key| &key.radix_squared[..]), self.radix_squared[at]);
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
    fn power_any(&mut self, at: usize, jobs: &[LaneJob<PublicJob<'_, L>>]) {
        let Self { leaf, streams, radix_squared, .. } = self;
        let leaf = *leaf;
        let exponents: [u64; N] = per_lane(jobs, |job| job.key.e);
        let bits = jobs.iter().map(|job| u64::BITS - job.job.key.e.leading_zeros()).max().unwrap_or(0);
        let mut one = number(leaf, streams.limbs());
        leaf.set_one(&mut one);
        let (mut base, mut squared) = (number(leaf, streams.limbs()), number(leaf, streams.limbs()));
        base.copy_from_slice(streams.value(at));
        // Multiplying R^2 by 1 divides it by R, and R is 1 in Montgomery form.
        streams.value_mut(at).0.copy_from_slice(radix_squared[at]);
        streams.multiply(at, &[PlainFactor(&one)]);
        // Lanes with shorter exponents square one until their highest bit.
        for bit in (0..bits).rev() {
            streams.square(at..at + 1, 1);
            squared.copy_from_slice(streams.value(at));
            streams.multiply(at, &[PlainFactor(&base)]);
            let is_set = exponents.map(|exponent| exponent >> bit & 1 == 1);
            leaf.keep_lanes(is_set, streams.value_mut(at).0, &squared);
        }
        streams.multiply(at, &[PlainFactor(&one)]);
    }

    /// Reduces the value below n.
    fn finish(&mut self, at: usize) -> &[L::Limb] {
        let (value, n) = self.streams.value_mut(at);
        self.leaf.reduce(value, n);
        value
    }
}
