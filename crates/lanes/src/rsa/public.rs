//! `input^e mod n`. Everything here is public: it may branch and index.

use oarlock_core::{Operation, Outcomes, RsaPublicParts, Shape, Status};

use super::convert::{self, Staging};
use super::factor::{Itself, Plain};
use super::montgomery::{Moduli, Number, Scratch, Task, in_turn, limbs_for, number};
use super::number::{self as integer, Limbs};
use super::{carry, check_range, release};
use crate::batch::{Accepted, accept, per_lane};
use crate::simd::{LANES, Simd, Vector};

/// The fourth Fermat number.
const F4: u64 = 65_537;

/// Squares in `x^65537`.
const F4_SQUARES: usize = 16;

/// What is kept with a key. Numbers are padded to a multiple of eight words.
#[derive(Debug)]
pub(super) struct PublicModulus {
    /// Limbs that count.
    pub(super) limbs: usize,
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
        let radix_squared = integer::padded(&integer::power_of_two_mod(2 * 52 * limbs, &n));
        Ok(Self { limbs, inverse: integer::negated_inverse(n[0]), radix_squared, n: integer::padded(&n) })
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
    let Some(first) = jobs.first() else { return };
    let limbs = first.job.key.modulus.limbs;
    let mut staging = Staging::new(simd, shape.output_len());
    let mut groups: Vec<Group<S>> = jobs.chunks(LANES).take(2).map(|_| Group::new(simd, limbs)).collect();
    for pair in jobs.chunks(2 * LANES) {
        let groups = &mut groups[..pair.len().div_ceil(LANES)];
        for (group, jobs) in groups.iter_mut().zip(pair.chunks(LANES)) {
            group.start(jobs, &mut staging);
        }
        if pair.iter().all(|job| job.job.key.e == F4) {
            power_f4(groups);
        } else {
            power_any(groups, pair);
        }
        for (group, jobs) in groups.iter_mut().zip(pair.chunks(LANES)) {
            release(jobs, group.finish(), &mut staging, out);
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
    /// R^2 mod n.
    radix_squared: Number<S>,
    /// The power so far in Montgomery form, below `2 n`, and the one before it.
    value: Number<S>,
    last: Number<S>,
}

impl<S: Simd> Group<S> {
    fn new(simd: S, limbs: usize) -> Self {
        let zero = || number(simd, limbs);
        Self {
            moduli: Moduli::new(simd, zero(), simd.zero()),
            scratch: Scratch::new(simd, limbs),
            input: zero(),
            radix_squared: zero(),
            value: zero(),
            last: zero(),
        }
    }

    /// Brings the inputs of eight jobs into Montgomery form.
    fn start(&mut self, jobs: &[Accepted<Job<'_>>], staging: &mut Staging<S>) {
        let keys = per_lane(jobs, |job| &job.key.modulus);
        keys_into(&keys, &mut self.moduli, &mut self.radix_squared);
        staging.read(per_lane(jobs, |job| job.input), &mut self.input);
        self.moduli.product(&self.input, &self.radix_squared, &mut self.value, &mut self.scratch);
    }

    fn square(&mut self) -> Task<'_, S, Itself<'_, S::V>> {
        let Self { moduli, scratch, value, last, .. } = self;
        std::mem::swap(value, last);
        Task { moduli, a: Itself(last), b: last, out: value, scratch }
    }

    fn multiply_by_input(&mut self) -> Task<'_, S, Plain<'_, S::V>> {
        let Self { moduli, scratch, value, last, input, .. } = self;
        std::mem::swap(value, last);
        Task { moduli, a: Plain(last), b: input, out: value, scratch }
    }

    fn multiply(&mut self, factor: &[S::V]) {
        std::mem::swap(&mut self.value, &mut self.last);
        self.moduli.product(&self.last, factor, &mut self.value, &mut self.scratch);
    }

    /// The value, at most n, below n.
    fn finish(&mut self) -> &[S::V] {
        carry::reduce(self.moduli.simd(), &mut self.value, self.moduli.limbs());
        &self.value
    }
}

/// The moduli of eight keys, and R^2 modulo each.
pub(super) fn keys_into<S: Simd>(
    keys: &[&PublicModulus; LANES],
    moduli: &mut Moduli<S>,
    radix_squared: &mut [S::V],
) {
    let simd = moduli.simd();
    let inverses = simd.load(&keys.map(|key| key.inverse));
    simd.call(
        #[inline(always)]
        || {
            let n = keys.map(|key| &key.n[..]);
            convert::gather(simd, &n, moduli.set(inverses));
            convert::gather(simd, &keys.map(|key| &key.radix_squared[..]), radix_squared);
        },
    );
}

/// One number of each of eight keys.
pub(super) fn constants<S: Simd>(simd: S, limbs: usize, numbers: [&[u64]; LANES]) -> Number<S> {
    let mut out = number(simd, limbs);
    simd.call(
        #[inline(always)]
        || convert::gather(simd, &numbers, &mut out),
    );
    out
}

/// The last product, with the input as it is, leaves Montgomery form at once.
fn power_f4<S: Simd>(groups: &mut [Group<S>]) {
    for _ in 0..F4_SQUARES {
        in_turn(groups.iter_mut().map(Group::square));
    }
    in_turn(groups.iter_mut().map(Group::multiply_by_input));
}

/// Any exponents, bit by bit from the highest of the longest.
fn power_any<S: Simd>(groups: &mut [Group<S>], jobs: &[Accepted<Job<'_>>]) {
    let bits = jobs.iter().map(|job| u64::BITS - job.job.key.e.leading_zeros()).max().unwrap_or(0);
    for (group, jobs) in groups.iter_mut().zip(jobs.chunks(LANES)) {
        let simd = group.moduli.simd();
        let exponents = simd.load(&per_lane(jobs, |job| job.key.e));
        let base = group.value.clone();
        let mut one = number(simd, base.len());
        one[0] = simd.splat(1);
        // R^2 / R is 1 in Montgomery form.
        group.value.copy_from_slice(&group.radix_squared);
        group.multiply(&one);
        for bit in (0..bits).rev() {
            group.square().run();
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
