//! ML-DSA-44, 65 and 87: verification, whose keys have tables if they recur, and signing. FIPS 204.
//!
//! | module | contents |
//! |---|---|
//! | this one | the parameter sets, batch sizes, the order of the jobs |
//! | `reduce` | arithmetic modulo q |
//! | `transform` | the number-theoretic transform |
//! | `rows` | products of the rows of keys |
//! | `uniform` | matrices that are drawn from public seeds |
//! | `rounding` | high and low parts, hints |
//! | `challenge` | challenges |
//! | `table` | public keys that recur, expanded |
//! | `key` | private keys, expanded, which stay with their handles |
//! | `verify`, `sign` | the algorithms |
//!
//! A job is a half lane of 32 bits, and two groups of jobs are lanes of Keccak. Everything but the expansion of a key
//! is computed across jobs.

mod challenge;
mod key;
mod reduce;
mod rounding;
mod rows;
mod sign;
mod table;
mod transform;
mod uniform;
mod verify;

use oarlock_core::{BatchSize, EngineFault, MlDsaSet, Operation, Outcomes, Shape};
use oarlock_engine_kit::VerifyTableCache;

use crate::fault::not_offered;
use crate::lattice::units::{Halves, for_values, pack_values};
use crate::lattice::{COEFFICIENTS, Poly};
use crate::simd::{ShortSimd, Vector};

/// The groups of jobs: each has a job per lane, and one half of every lane.
const GROUPS: usize = 2;

/// Words of every job, or the units of 32 bits within them.
type GroupWords<V> = [V; GROUPS];

/// The words of mu.
const MU_WORDS: usize = MlDsaSet::MU_LEN / 8;

/// A parameter set. FIPS 204 table 1.
trait DsaSet: Send + Sync + 'static {
    const SET: MlDsaSet;
    /// The polynomials of t.
    const K: usize;
    /// The polynomials of z.
    const L: usize;
    /// The bound of the coefficients of s1 and s2.
    const ETA: i32;
    /// The coefficients of a challenge that are not 0.
    const TAU: usize;
    /// The largest coefficient of a challenge times s1 or s2.
    const BETA: i32 = Self::TAU as i32 * Self::ETA;
    /// The bits of a coefficient of z.
    const MASK_BITS: usize;
    /// The largest coefficient of a mask.
    const GAMMA1: i32 = 1 << (Self::MASK_BITS - 1);
    /// Half of the range of a low part.
    const GAMMA2: i32;
    /// The number of high parts: (q - 1) / (2 gamma2).
    const HIGH_PARTS: i32;
    /// The most hints.
    const OMEGA: usize;
    /// The words of a commitment hash.
    const HASH_WORDS: usize;
    /// The words of a packed polynomial of z.
    const MASK_WORDS: usize = COEFFICIENTS * Self::MASK_BITS / 64;
    /// The words of a packed polynomial of w1.
    const HIGH_WORDS: usize;

    /// As [`for_values`] for the polynomials of z and of masks.
    fn for_mask_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, S::V));

    /// As [`pack_values`] for the polynomials of z.
    fn pack_mask_values<S: ShortSimd>(simd: S, units: &mut [S::V], value: impl FnMut(usize) -> S::V);

    /// As [`pack_values`] for the polynomials of w1.
    fn pack_high_values<S: ShortSimd>(simd: S, units: &mut [S::V], value: impl FnMut(usize) -> S::V);
}

/// The parameters k and l, on which all others depend.
struct DsaParameters<const K: usize, const L: usize>;

type Dsa44 = DsaParameters<4, 4>;
type Dsa65 = DsaParameters<6, 5>;
type Dsa87 = DsaParameters<8, 7>;

impl<const K: usize, const L: usize> DsaSet for DsaParameters<K, L> {
    const SET: MlDsaSet = [MlDsaSet::MlDsa44, MlDsaSet::MlDsa65, MlDsaSet::MlDsa87][K / 2 - 2];
    const K: usize = K;
    const L: usize = L;
    const ETA: i32 = [2, 4, 2][K / 2 - 2];
    const TAU: usize = [39, 49, 60][K / 2 - 2];
    const MASK_BITS: usize = if K == 4 { 18 } else { 20 };
    const GAMMA2: i32 = (reduce::Q - 1) / (2 * Self::HIGH_PARTS);
    const HIGH_PARTS: i32 = if K == 4 { 44 } else { 16 };
    const OMEGA: usize = [80, 55, 75][K / 2 - 2];
    const HASH_WORDS: usize = K;
    const HIGH_WORDS: usize = if K == 4 { 24 } else { 16 };

    #[inline(always)]
    fn for_mask_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, S::V)) {
        if K == 4 {
            for_values::<S, Halves, 18>(simd, units, each);
        } else {
            for_values::<S, Halves, 20>(simd, units, each);
        }
    }

    #[inline(always)]
    fn pack_mask_values<S: ShortSimd>(simd: S, units: &mut [S::V], value: impl FnMut(usize) -> S::V) {
        if K == 4 {
            pack_values::<S, Halves, 18>(simd, units, value);
        } else {
            pack_values::<S, Halves, 20>(simd, units, value);
        }
    }

    #[inline(always)]
    fn pack_high_values<S: ShortSimd>(simd: S, units: &mut [S::V], value: impl FnMut(usize) -> S::V) {
        if K == 4 {
            pack_values::<S, Halves, 6>(simd, units, value);
        } else {
            pack_values::<S, Halves, 4>(simd, units, value);
        }
    }
}

/// The number of jobs side by side.
const fn lanes<V: Vector>() -> usize {
    GROUPS * V::WORDS
}

/// Returns the half lane of a job.
const fn half_of<V: Vector>(job: usize) -> usize {
    GROUPS * (job % V::WORDS) + job / V::WORDS
}

/// Returns the job of a half lane.
const fn job_of<V: Vector>(half: usize) -> usize {
    half % GROUPS * V::WORDS + half / GROUPS
}

/// Returns the batch sizes of a shape, or None if it is not computed here.
pub(crate) fn offers<S: ShortSimd>(shape: Shape) -> Option<BatchSize> {
    matches!(shape, Shape::MlDsaSign { .. } | Shape::MlDsaVerify { .. })
        .then_some(BatchSize { preferred: lanes::<S::V>(), max: 4096 })
}

/// Computes every operation of a shape that is offered.
pub(crate) fn run<S: ShortSimd>(
    simd: S,
    tables: &VerifyTableCache,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    match shape {
        Shape::MlDsaVerify { set: MlDsaSet::MlDsa44 } => {
            verify::run::<S, Dsa44>(simd, tables, operations, out);
        }
        Shape::MlDsaVerify { set: MlDsaSet::MlDsa65 } => {
            verify::run::<S, Dsa65>(simd, tables, operations, out);
        }
        Shape::MlDsaVerify { set: MlDsaSet::MlDsa87 } => {
            verify::run::<S, Dsa87>(simd, tables, operations, out);
        }
        Shape::MlDsaSign { set: MlDsaSet::MlDsa44 } => {
            sign::run::<S, Dsa44>(simd, operations, out);
        }
        Shape::MlDsaSign { set: MlDsaSet::MlDsa65 } => {
            sign::run::<S, Dsa65>(simd, operations, out);
        }
        Shape::MlDsaSign { set: MlDsaSet::MlDsa87 } => {
            sign::run::<S, Dsa87>(simd, operations, out);
        }
        _ => return Err(not_offered(shape)),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
