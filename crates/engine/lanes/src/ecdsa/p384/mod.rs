//! P-384. SP 800-186 3.2.1.4.

pub(crate) mod field;
pub(crate) mod order;

use oarlock_core::ForkSafeCell;

use self::field::FieldPrime;
use self::order::GroupOrder;
use super::comb::{PublicComb, SecretComb};
use super::constants::limbs;
use super::curve::CurveParams;
use super::field::CurveSimd;
use super::rows::CacheLine;
use crate::simd::{LANES, MulSimd, MulVector, Vector};

/// The curve P-384.
#[derive(Clone, Copy, Debug)]
pub(crate) struct P384;

impl CurveParams<8> for P384 {
    type Field = FieldPrime;
    type Order = GroupOrder;

    const NAME: oarlock_core::Curve = oarlock_core::Curve::P384;
    const BITS: usize = 384;
    const NONCE_LABEL: &'static [u8] = b"oarlock p-384";
    const B: [u64; 8] = limbs(
        "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
    );
    const G: [[u64; 8]; 2] = [
        limbs(
            "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
        ),
        limbs(
            "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
        ),
    ];
    // Narrower than those of P-256, because points are twice as long in memory. 52 uses pay for a table.
    const SECRET_WINDOW: usize = 6;
    const PUBLIC_WINDOW: usize = 8;
    const KEY_WINDOW: usize = 6;
    const KEY_TABLE_USES: u32 = 50;
    const LINES: usize = 2;

    /// Loads rows of eight limbs of x and eight of y.
    #[inline(always)]
    fn load_rows<S: MulSimd>(simd: S, rows: [&[CacheLine]; LANES]) -> [[S::V; 8]; 2] {
        let mut lines = [[simd.zero(); LANES]; 2];
        for lane in 0..LANES {
            lines[0][lane] = simd.load(&rows[lane][0].0);
            lines[1][lane] = simd.load(&rows[lane][1].0);
        }
        [S::V::transpose8(lines[0]), S::V::transpose8(lines[1])]
    }

    #[inline(always)]
    fn store_rows<S: MulSimd>(_simd: S, point: &[[S::V; 8]; 2], rows: [&mut [CacheLine]; LANES]) {
        let [x, y] = [S::V::transpose8(point[0]), S::V::transpose8(point[1])];
        for (lane, row) in rows.into_iter().enumerate() {
            row[0] = CacheLine(x[lane].words());
            row[1] = CacheLine(y[lane].words());
        }
    }

    fn secret_comb<S: CurveSimd<Self, 8>>(simd: S) -> &'static SecretComb {
        static COMB: ForkSafeCell<SecretComb> = ForkSafeCell::new();
        // Rows are plain words, so the table does not depend on the leaf that builds it.
        COMB.get_or_make(|| SecretComb::of_base::<S, Self, 8>(simd))
    }

    fn public_comb<S: CurveSimd<Self, 8>>(simd: S) -> &'static PublicComb {
        static COMB: ForkSafeCell<PublicComb> = ForkSafeCell::new();
        COMB.get_or_make(|| PublicComb::of_base::<S, Self, 8>(simd))
    }
}
