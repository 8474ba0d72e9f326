//! ECDSA over P-256 and P-384. FIPS 186-5 section 6. The mathematics is in `docs/math/ecdsa.md`.
//!
//! | module | contents |
//! |---|---|
//! | `sign`, `nonce`, `rfc6979` | signatures and their nonces |
//! | `verify`, `key_table` | verification, and the tables of keys that recur |
//! | `curve`, `p256`, `p384` | the differences between the curves: constants, reduction, table rows, windows |
//! | `point` | the additions of the fast paths, which have exceptions |
//! | `complete` | additions without exceptions, for lanes that met one |
//! | `comb`, `multiples`, `rows` | tables of multiples: lookup, construction, layout |
//! | `recode` | scalars as signed odd digits |
//! | `field`, `doubles` | the fields of coordinates, by limbs of 52 bits or in doubles |
//! | `ring`, `kernels`, `element`, `interleaved`, `constants` | arithmetic modulo p and n |
//! | `invert`, `euclid`, `single` | one inversion for many values: secret ones, public ones, and that of one integer |
//! | `scalars` | bytes of jobs as lanes |

#![expect(clippy::needless_range_loop, reason = "limbs and lanes of several arrays are walked in step")]

pub(crate) mod comb;
pub(crate) mod complete;
pub(crate) mod constants;
pub(crate) mod curve;
#[cfg(any(target_arch = "x86_64", test, feature = "portable"))]
pub(crate) mod doubles;
pub(crate) mod element;
pub(crate) mod euclid;
pub(crate) mod field;
pub(crate) mod interleaved;
pub(crate) mod invert;
pub(crate) mod kernels;
pub(crate) mod key_table;
pub(crate) mod multiples;
pub(crate) mod nonce;
pub(crate) mod p256;
pub(crate) mod p384;
pub(crate) mod point;
pub(crate) mod recode;
pub(crate) mod rfc6979;
pub(crate) mod ring;
pub(crate) mod rows;
pub(crate) mod scalars;
pub(crate) mod sign;
mod single;
pub(crate) mod verify;

#[cfg(test)]
mod tests;

use oarlock_core::{BatchSize, Curve, Operation, Outcomes};
use oarlock_engine_kit::VerifyTableCache;

use self::field::CurveSimd;
pub(crate) use self::p256::P256;
pub(crate) use self::p384::P384;
use crate::simd::LANES;

/// A CPU with elements of the fields of both curves.
pub(crate) trait CurvesSimd: CurveSimd<P256, 5> + CurveSimd<P384, 8> {}

impl<S: CurveSimd<P256, 5> + CurveSimd<P384, 8>> CurvesSimd for S {}

/// Eight jobs fill the lanes once. The jobs of a run share its inversions.
pub(crate) const OFFER: BatchSize = BatchSize { preferred: LANES, max: 64 };

/// Returns true if this engine computes `curve` on a CPU.
pub(crate) fn has<S: CurvesSimd>(curve: Curve) -> bool {
    match curve {
        Curve::P256 => <S as CurveSimd<P256, 5>>::IS_OFFERED,
        Curve::P384 => <S as CurveSimd<P384, 8>>::IS_OFFERED,
        _ => false,
    }
}

/// Signs every job. [`has`] must be true for the curve.
pub(crate) fn sign<S: CurvesSimd>(simd: S, curve: Curve, operations: &[Operation<'_>], out: &mut Outcomes) {
    match curve {
        // A constant, so that no code is made for a curve that is not offered.
        Curve::P384 if !<S as CurveSimd<P384, 8>>::IS_OFFERED => {}
        Curve::P384 => sign::run::<S, P384, 8>(simd, operations, out),
        _ => sign::run::<S, P256, 5>(simd, operations, out),
    }
}

/// Verifies every job. [`has`] must be true for the curve.
pub(crate) fn verify<S: CurvesSimd>(
    simd: S,
    cache: &VerifyTableCache,
    curve: Curve,
    operations: &[Operation<'_>],
    out: &mut Outcomes,
) {
    match curve {
        Curve::P384 if !<S as CurveSimd<P384, 8>>::IS_OFFERED => {}
        Curve::P384 => verify::run::<S, P384, 8>(simd, cache, operations, out),
        _ => verify::run::<S, P256, 5>(simd, cache, operations, out),
    }
}
