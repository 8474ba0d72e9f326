//! ML-KEM-768 and ML-KEM-1024: key generation, decapsulation under kept keys, and encapsulation under keys of one use.
//! FIPS 203.
//!
//! | module | contents |
//! |---|---|
//! | this one | the parameter sets, batch sizes, groups of jobs |
//! | `key` | expanded keys, which stay with their handles |
//! | `coding` | compression, message bits, samples |
//! | `reduce` | arithmetic modulo q |
//! | `transform` | the number-theoretic transform |
//! | `rows` | products of the rows of keys |
//! | `uniform` | polynomials that are drawn from public seeds |
//! | `encrypt` | encryption, of which both algorithms consist |
//! | `generate`, `encapsulate`, `decapsulate` | the algorithms |
//!
//! A job is a quarter lane of 16 bits, and four groups of jobs are lanes of Keccak. Everything but the expansion of a
//! key is computed across jobs, without tables, branches or addresses that depend on secrets.

mod coding;
mod decapsulate;
mod encapsulate;
mod encrypt;
mod generate;
mod key;
mod reduce;
mod rows;
mod transform;
mod uniform;

use encrypt::GroupSecrets;
use oarlock_core::{BatchSize, EngineFault, MlKemSet, Operation, Outcomes, Shape, Status};
use zeroize::Zeroize;

use crate::batch::LaneJob;
use crate::fault::not_offered;
use crate::lattice::units::{Quarters, for_values, pack_values};
use crate::lattice::{COEFFICIENTS, Poly};
use crate::simd::{ShortSimd, Vector};

/// The groups of jobs: each has a job per lane, and one quarter of every lane.
const GROUPS: usize = 4;

/// The polynomials of a vector in the largest set.
const MAX_K: usize = 4;

/// A parameter set that the lanes compute. FIPS 203 section 8, table 2.
trait KemSet: 'static {
    const SET: MlKemSet;
    const K: usize;
    /// The bits of a coefficient of the ciphertext's vector.
    const DU: usize;
    /// The bits of a coefficient of the ciphertext's polynomial.
    const DV: usize;

    /// As [`for_values`] with [`Self::DU`] bits.
    fn for_vector_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, S::V));

    /// As [`for_values`] with [`Self::DV`] bits.
    fn for_last_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, S::V));

    /// As [`pack_values`] with [`Self::DU`] bits.
    fn pack_vector_values<S: ShortSimd>(simd: S, units: &mut [S::V], value: impl FnMut(usize) -> S::V);

    /// As [`pack_values`] with [`Self::DV`] bits.
    fn pack_last_values<S: ShortSimd>(simd: S, units: &mut [S::V], value: impl FnMut(usize) -> S::V);
}

/// The parameters k, du and dv. They are constants of the type, because counts of shifts must be.
struct KemParameters<const K: usize, const DU: usize, const DV: usize>;

type Kem768 = KemParameters<3, 10, 4>;
type Kem1024 = KemParameters<4, 11, 5>;

impl<const K: usize, const DU: usize, const DV: usize> KemSet for KemParameters<K, DU, DV> {
    const SET: MlKemSet = if K == 3 { MlKemSet::MlKem768 } else { MlKemSet::MlKem1024 };
    const K: usize = K;
    const DU: usize = DU;
    const DV: usize = DV;

    #[inline(always)]
    fn for_vector_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, S::V)) {
        for_values::<S, Quarters, DU>(simd, units, each);
    }

    #[inline(always)]
    fn for_last_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, S::V)) {
        for_values::<S, Quarters, DV>(simd, units, each);
    }

    #[inline(always)]
    fn pack_vector_values<S: ShortSimd>(simd: S, units: &mut [S::V], value: impl FnMut(usize) -> S::V) {
        pack_values::<S, Quarters, DU>(simd, units, value);
    }

    #[inline(always)]
    fn pack_last_values<S: ShortSimd>(simd: S, units: &mut [S::V], value: impl FnMut(usize) -> S::V) {
        pack_values::<S, Quarters, DV>(simd, units, value);
    }
}

/// The number of jobs side by side.
const fn lanes<V: Vector>() -> usize {
    GROUPS * V::WORDS
}

/// Returns the batch sizes of a shape, or None if it is not computed here.
pub(crate) fn offers<S: ShortSimd>(shape: Shape) -> Option<BatchSize> {
    let is_offered = matches!(
        shape,
        Shape::MlKemKeygen { set: MlKemSet::MlKem768 | MlKemSet::MlKem1024 }
            | Shape::MlKemDecaps { set: MlKemSet::MlKem768 | MlKemSet::MlKem1024 }
            | Shape::MlKemEncaps { set: MlKemSet::MlKem768 | MlKemSet::MlKem1024 }
    );
    is_offered.then_some(BatchSize { preferred: lanes::<S::V>(), max: 4096 })
}

/// Computes every operation of a shape that is offered.
pub(crate) fn run<S: ShortSimd>(
    simd: S,
    shape: Shape,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    match shape {
        Shape::MlKemKeygen { set: MlKemSet::MlKem768 } => {
            generate::run::<S, Kem768>(simd, shape, operations, out);
        }
        Shape::MlKemKeygen { set: MlKemSet::MlKem1024 } => {
            generate::run::<S, Kem1024>(simd, shape, operations, out);
        }
        Shape::MlKemDecaps { set: MlKemSet::MlKem768 } => {
            decapsulate::run::<S, Kem768>(simd, shape, operations, out);
        }
        Shape::MlKemDecaps { set: MlKemSet::MlKem1024 } => {
            decapsulate::run::<S, Kem1024>(simd, shape, operations, out);
        }
        Shape::MlKemEncaps { set: MlKemSet::MlKem768 } => {
            encapsulate::run::<S, Kem768>(simd, shape, operations, out);
        }
        Shape::MlKemEncaps { set: MlKemSet::MlKem1024 } => {
            encapsulate::run::<S, Kem1024>(simd, shape, operations, out);
        }
        _ => return Err(not_offered(shape)),
    }
    Ok(())
}

/// Writes the shared secret of every job to its result, from `start` on.
fn write_secrets<V: Vector, T>(
    group: &[LaneJob<T>],
    secrets: &GroupSecrets<V>,
    start: usize,
    out: &mut Outcomes,
) {
    for (jobs, secrets) in group.chunks(V::WORDS).zip(secrets) {
        for (word, words) in secrets.iter().enumerate() {
            let mut words = words.words();
            for (job, word_of_job) in jobs.iter().zip(words.as_ref()) {
                let result = &mut out.result_mut(job.index)[start + 8 * word..][..8];
                result.copy_from_slice(&word_of_job.to_le_bytes());
            }
            words.as_mut().zeroize();
        }
        for job in jobs {
            out.set(job.index, Status::Done);
        }
    }
}

#[cfg(test)]
mod tests;
