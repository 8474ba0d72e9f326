//! The parameters of a curve `y^2 = x^3 - 3 x + b` of prime order.

use std::fmt::Debug;

use super::comb::{PublicComb, SecretComb};
use super::field::CurveSimd;
use super::ring::{FieldModulus, OddModulus};
use super::rows::CacheLine;
use crate::simd::{LANES, MulSimd};

/// A curve over a field of L limbs.
pub(crate) trait CurveParams<const L: usize>: Copy + Debug + Send + Sync + 'static {
    /// The integers modulo p.
    type Field: FieldModulus<L>;
    /// The integers modulo n.
    type Order: OddModulus<L>;

    /// The name of the curve in jobs and keys.
    const NAME: oarlock_core::Curve;
    /// The bits of p and of n.
    const BITS: usize;
    /// The bytes of a coordinate or scalar.
    const BYTES: usize = Self::BITS / 8;
    /// The start of every message whose hash is a nonce. It separates these hashes from all other uses of a key.
    const NONCE_LABEL: &'static [u8];

    /// The coefficient b.
    const B: [u64; L];
    /// The x and y of the base point.
    const G: [[u64; L]; 2];

    /// The bits of a digit if the base point is multiplied by a secret.
    const SECRET_WINDOW: usize;
    /// The bits of a digit if the base point is multiplied by a public value.
    const PUBLIC_WINDOW: usize;
    /// The bits of a digit in the table of a key that recurs.
    const KEY_WINDOW: usize;
    /// The number of uses of a key that pay for its table.
    const KEY_TABLE_USES: u32;

    /// The cache lines of a table row, which holds an affine point.
    const LINES: usize;

    /// Loads the limbs of x and y of eight rows, one row per lane.
    fn load_rows<S: MulSimd>(simd: S, rows: [&[CacheLine]; LANES]) -> [[S::V; L]; 2];

    /// Stores one point per lane as eight rows. The residues must be below p.
    fn store_rows<S: MulSimd>(simd: S, point: &[[S::V; L]; 2], rows: [&mut [CacheLine]; LANES]);

    /// Returns the multiples of the base point for secrets, which are built at first use.
    fn secret_comb<S: CurveSimd<Self, L>>(simd: S) -> &'static SecretComb;

    /// Returns the multiples of the base point for public values, which are built at first use.
    fn public_comb<S: CurveSimd<Self, L>>(simd: S) -> &'static PublicComb;
}
