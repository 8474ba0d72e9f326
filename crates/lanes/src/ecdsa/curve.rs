//! What the algorithms must know of a curve `y^2 = x^3 - 3 x + b` of prime order.

use std::fmt::Debug;

use super::comb::{PublicComb, SecretComb};
use super::ring::{FieldModulus, OddModulus};
use super::rows::CacheLine;
use crate::simd::{LANES, Simd};

/// A curve over a field of L limbs.
pub(crate) trait CurveParams<const L: usize>: Copy + Debug + Send + Sync + 'static {
    /// The integers modulo p.
    type Field: FieldModulus<L>;
    /// The integers modulo n.
    type Order: OddModulus<L>;

    /// Its name in jobs and keys.
    const NAME: oarlock_core::Curve;
    /// Bits of p and of n.
    const BITS: usize;
    /// Bytes of a coordinate or scalar.
    const BYTES: usize = Self::BITS / 8;
    /// Begins every message whose hash is a nonce, so that no other use of a key has the same hashes.
    const NONCE_LABEL: &'static [u8];

    /// The coefficient b.
    const B: [u64; L];
    /// x and y of the base point.
    const G: [[u64; L]; 2];

    /// Bits of a digit where the base point is multiplied by a secret.
    const SECRET_WINDOW: usize;
    /// Bits of a digit where it is multiplied by a public value.
    const PUBLIC_WINDOW: usize;
    /// Bits of a digit in the table of a key that recurs.
    const KEY_WINDOW: usize;
    /// Uses of a key that pay for its table.
    const KEY_TABLE_USES: u32;

    /// Cache lines of a table row: an affine point.
    const LINES: usize;

    /// The limbs of x and y of eight rows, one row per lane.
    fn load_rows<S: Simd>(simd: S, rows: [&[CacheLine]; LANES]) -> [[S::V; L]; 2];

    /// Eight rows of one point per lane; the residues must be below p.
    fn store_rows<S: Simd>(simd: S, point: &[[S::V; L]; 2], rows: [&mut [CacheLine]; LANES]);

    /// Multiples of the base point for secrets, made at first use.
    fn secret_comb<S: Simd>(simd: S) -> &'static SecretComb;

    /// Multiples of the base point for public values, made at first use.
    fn public_comb<S: Simd>(simd: S) -> &'static PublicComb;
}
