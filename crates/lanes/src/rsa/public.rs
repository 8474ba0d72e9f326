//! `input^e mod n`. Everything here is public: it may branch and index.

use oarlock_core::{Operation, Outcomes, RsaPublicParts, Shape, Status};

use super::montgomery::{Moduli, Number, Scratch, Task, in_turn, limbs_for, number};
use super::number::{self as integer, Limbs};
use super::{carry, check_range, convert, release};
use crate::batch::{Accepted, accept, per_lane};
use crate::simd::{LANES, Simd, Vector};

/// Squares in `x^65537`.
const F4_SQUARES: usize = 16;

/// What is kept with a key.
#[derive(Debug)]
pub(super) struct PublicModulus {
    pub(super) n: Limbs,
    /// -n^-1 mod 2^52.
    pub(super) inverse: u64,
    /// R^2 mod n.
    pub(super) radix_squared: Limbs,
}

#[derive(Debug)]
struct PublicKey {
    modulus: PublicModulus,
    e: u64,
}

struct Job<'a> {
    key: &'a PublicKey,
    input: &'a [u8],
}

impl PublicModulus {
    pub(super) fn new(n: &[u8], bits: u16) -> Result<Self, Status> {
        let limbs = limbs_for(bits.into()).ok_or(Status::BadKey)?;
        let n = integer::from_bytes(n, limbs).ok_or(Status::BadKey)?;
        if n[0] % 2 == 0 || n[0] <= 1 && n[1..].iter().all(|limb| *limb == 0) {
            return Err(Status::BadKey);
        }
        let radix_squared = integer::power_of_two_mod(2 * 52 * limbs, &n);
        Ok(Self { inverse: integer::negated_inverse(n[0]), radix_squared, n })
    }
}

impl PublicKey {
    fn new(parts: &RsaPublicParts) -> Result<Self, Status> {
        let e = integer::from_bytes(&parts.e, 1).ok_or(Status::BadKey)?[0];
        if e < 3 || e % 2 == 0 || e >> 33 != 0 {
            return Err(Status::BadKey);
        }
        Ok(Self { modulus: PublicModulus::new(&parts.n, parts.bits())?, e })
    }
}

/// Computes jobs of a public shape, two groups of eight in turn: one's carries are hidden under the other's products.
pub(crate) fn public<S: Simd>(simd: S, shape: Shape, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(shape, operations, out, read);
    for pair in jobs.chunks(2 * LANES) {
        let mut groups: Vec<Group<S>> = pair.chunks(LANES).map(|jobs| Group::new(simd, jobs)).collect();
        if pair.iter().all(|job| job.job.key.e == 65_537) {
            power_f4(&mut groups);
        } else {
            power_any(&mut groups, pair);
        }
        for (group, jobs) in groups.into_iter().zip(pair.chunks(LANES)) {
            release(simd, jobs, &group.finish(), out);
        }
    }
}

fn read<'a>(operation: &'a Operation<'a>) -> Result<Job<'a>, Status> {
    let parts = operation.key.rsa_public().ok_or(Status::BadKey)?;
    check_range(operation.input, &parts.n)?;
    Ok(Job { key: operation.key.prepared(|_| PublicKey::new(parts))?, input: operation.input })
}

/// Eight powers on their way.
struct Group<S: Simd> {
    moduli: Moduli<S>,
    scratch: Scratch<S>,
    input: Number<S>,
    /// In Montgomery form, below `2 n`.
    value: Number<S>,
    last: Number<S>,
}

impl<S: Simd> Group<S> {
    fn new(simd: S, jobs: &[Accepted<Job<'_>>]) -> Self {
        let keys = per_lane(jobs, |job| &job.key.modulus);
        let mut group = Self::zero(moduli(simd, keys));
        let radix_squared = constants(simd, keys.map(|key| &key.radix_squared[..]));
        convert::from_bytes(simd, per_lane(jobs, |job| job.input), &mut group.input);
        let Self { moduli, scratch, input, value, .. } = &mut group;
        moduli.product(input, &radix_squared, value, scratch);
        group
    }

    fn zero(moduli: Moduli<S>) -> Self {
        let (simd, limbs) = (moduli.simd(), moduli.limbs().len());
        let zero = || number(simd, limbs);
        Self { moduli, scratch: Scratch::new(simd, limbs), input: zero(), value: zero(), last: zero() }
    }

    fn square(&mut self) -> Task<'_, S> {
        let Self { moduli, scratch, value, last, .. } = self;
        std::mem::swap(value, last);
        Task { moduli, a: last, b: last, out: value, scratch }
    }

    fn multiply_by_input(&mut self) -> Task<'_, S> {
        let Self { moduli, scratch, value, last, input } = self;
        std::mem::swap(value, last);
        Task { moduli, a: last, b: input, out: value, scratch }
    }

    fn multiply(&mut self, factor: &[S::V]) {
        std::mem::swap(&mut self.value, &mut self.last);
        self.moduli.product(&self.last, factor, &mut self.value, &mut self.scratch);
    }

    /// The value, at most n or so, below n.
    fn finish(mut self) -> Number<S> {
        carry::reduce(self.moduli.simd(), &mut self.value, self.moduli.limbs());
        self.value
    }
}

/// The moduli of eight keys.
pub(super) fn moduli<S: Simd>(simd: S, keys: [&PublicModulus; LANES]) -> Moduli<S> {
    let limbs = constants(simd, keys.map(|key| &key.n[..]));
    Moduli::new(simd, limbs, simd.load(&keys.map(|key| key.inverse)))
}

/// One number of each of eight keys.
pub(super) fn constants<S: Simd>(simd: S, numbers: [&[u64]; LANES]) -> Number<S> {
    let mut out = number(simd, numbers[0].len());
    simd.call(
        #[inline(always)]
        || convert::gather(simd, numbers, &mut out),
    );
    out
}

/// The last product, with the input as it is, leaves Montgomery form at once.
fn power_f4<S: Simd>(groups: &mut [Group<S>]) {
    for _ in 0..F4_SQUARES {
        in_turn::<S, true>(groups.iter_mut().map(Group::square));
    }
    in_turn::<S, false>(groups.iter_mut().map(Group::multiply_by_input));
}

/// Any exponents, bit by bit from the highest of the longest.
fn power_any<S: Simd>(groups: &mut [Group<S>], jobs: &[Accepted<Job<'_>>]) {
    let bits = jobs.iter().map(|job| u64::BITS - job.job.key.e.leading_zeros()).max().unwrap_or(0);
    for (group, jobs) in groups.iter_mut().zip(jobs.chunks(LANES)) {
        let simd = group.moduli.simd();
        let exponents = simd.load(&per_lane(jobs, |job| job.key.e));
        let base = group.value.clone();
        let radix_squared = constants(simd, per_lane(jobs, |job| &job.key.modulus.radix_squared[..]));
        let mut one = number(simd, base.len());
        one[0] = simd.splat(1);
        group.value = radix_squared;
        group.multiply(&one);
        for bit in (0..bits).rev() {
            group.square().run::<true>();
            let squared = group.value.clone();
            group.multiply(&base);
            let is_set = exponents.has_any(simd.splat(1 << bit));
            for (value, squared) in group.value.iter_mut().zip(squared.iter()) {
                *value = squared.or_if(is_set, *value);
            }
        }
        group.multiply(&one);
    }
}
