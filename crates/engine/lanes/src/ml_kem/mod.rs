//! ML-KEM-768 and ML-KEM-1024: decapsulation under kept keys. FIPS 203.
//!
//! | module | contents |
//! |---|---|
//! | this one | the parameter sets, batch sizes, groups of jobs |
//! | `key` | expanded keys, which stay with their handles |
//! | `coding` | bytes, words and coefficients; compression; samples |
//! | `reduce` | arithmetic modulo q |
//! | `transform` | the number-theoretic transform |
//! | `rows` | products of the rows of keys |
//! | `decapsulate` | the algorithm |
//!
//! A job is a quarter lane of 16 bits, and four groups of jobs are lanes of Keccak. Everything but the expansion of a
//! key is computed across jobs, without tables, branches or addresses that depend on secrets.

mod coding;
mod decapsulate;
mod key;
mod reduce;
mod rows;
mod transform;

use oarlock_core::{BatchSize, MlKemSet, Operation, Outcomes, Shape};

use crate::simd::{ShortSimd, Vector};

/// The coefficients of a polynomial. FIPS 203 section 8.
const COEFFICIENTS: usize = 256;

/// The groups of jobs: each has a job per lane, and one quarter of every lane.
const GROUPS: usize = 4;

/// The polynomials of a vector in the largest set.
const MAX_K: usize = 4;

/// A polynomial of every job.
type Poly<V> = [V; COEFFICIENTS];

/// A parameter set that the lanes compute. FIPS 203 section 8, table 2.
trait KemSet: 'static {
    const SET: MlKemSet;
    const K: usize;
    /// The bits of a coefficient of the ciphertext's vector.
    const DU: usize;
    /// The bits of a coefficient of the ciphertext's polynomial.
    const DV: usize;

    /// As [`coding::for_values`] with [`Self::DU`] bits.
    fn for_vector_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, usize, S::V));

    /// As [`coding::for_values`] with [`Self::DV`] bits.
    fn for_last_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, usize, S::V));
}

struct Kem768;
struct Kem1024;

impl KemSet for Kem768 {
    const SET: MlKemSet = MlKemSet::MlKem768;
    const K: usize = 3;
    const DU: usize = 10;
    const DV: usize = 4;

    #[inline(always)]
    fn for_vector_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, usize, S::V)) {
        coding::for_values::<S, { Self::DU }>(simd, units, each);
    }

    #[inline(always)]
    fn for_last_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, usize, S::V)) {
        coding::for_values::<S, { Self::DV }>(simd, units, each);
    }
}

impl KemSet for Kem1024 {
    const SET: MlKemSet = MlKemSet::MlKem1024;
    const K: usize = 4;
    const DU: usize = 11;
    const DV: usize = 5;

    #[inline(always)]
    fn for_vector_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, usize, S::V)) {
        coding::for_values::<S, { Self::DU }>(simd, units, each);
    }

    #[inline(always)]
    fn for_last_values<S: ShortSimd>(simd: S, units: &[S::V], each: impl FnMut(usize, usize, S::V)) {
        coding::for_values::<S, { Self::DV }>(simd, units, each);
    }
}

/// The number of jobs side by side.
const fn lanes<V: Vector>() -> usize {
    GROUPS * V::WORDS
}

/// Returns the batch sizes of a shape, or None if it is not computed here.
pub(crate) fn offers<S: ShortSimd>(shape: Shape) -> Option<BatchSize> {
    let is_offered = matches!(shape, Shape::MlKemDecaps { set: MlKemSet::MlKem768 | MlKemSet::MlKem1024 });
    is_offered.then_some(BatchSize { preferred: lanes::<S::V>(), max: 4096 })
}

/// Computes every operation of a shape that is offered.
pub(crate) fn run<S: ShortSimd>(simd: S, shape: Shape, operations: &[Operation<'_>], out: &mut Outcomes) {
    match shape {
        Shape::MlKemDecaps { set: MlKemSet::MlKem1024 } => {
            decapsulate::run::<S, Kem1024>(simd, shape, operations, out);
        }
        _ => decapsulate::run::<S, Kem768>(simd, shape, operations, out),
    }
}

#[cfg(test)]
mod tests;
