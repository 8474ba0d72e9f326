//! P-256. SP 800-186 3.2.1.3.

pub(crate) mod field;
pub(crate) mod order;

use oarlock_core::ForkSafeCell;

use self::field::FieldPrime;
use self::order::GroupOrder;
use super::comb::{PublicComb, SecretComb};
use super::constants::limbs;
use super::curve::CurveParams;
use super::field::CurveSimd;
use super::rows::{CacheLine, limbs_of_words, words_of_limbs};
use crate::simd::{LANES, MulSimd, MulVector, Vector};

/// The curve P-256.
#[derive(Clone, Copy, Debug)]
pub(crate) struct P256;

impl CurveParams<5> for P256 {
    type Field = FieldPrime;
    type Order = GroupOrder;

    const NAME: oarlock_core::Curve = oarlock_core::Curve::P256;
    const BITS: usize = 256;
    const NONCE_LABEL: &'static [u8] = b"oarlock p-256";
    const B: [u64; 5] = limbs("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b");
    const G: [[u64; 5]; 2] = [
        limbs("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
        limbs("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"),
    ];
    // 64 entries are four permutations of sixteen words per limb, in registers.
    const SECRET_WINDOW: usize = 7;
    // 832 KiB once per process. Hot verification took 10.8 us with narrower windows and 8.9 with 10 and 7 bits:
    // docs/performance/public-key.md, P-256 and P-384.
    const PUBLIC_WINDOW: usize = 10;
    const KEY_WINDOW: usize = 7;
    // 83 uses pay for building and checking a table of 148 KiB.
    const KEY_TABLE_USES: u32 = 80;
    const LINES: usize = 1;

    /// Loads rows of four words of x and four of y.
    #[inline(always)]
    fn load_rows<S: MulSimd>(simd: S, rows: [&[CacheLine]; LANES]) -> [[S::V; 5]; 2] {
        let mut lines = [simd.zero(); LANES];
        for lane in 0..LANES {
            lines[lane] = simd.load(&rows[lane][0].0);
        }
        // One line per point: 64-bit words instead of limbs, which would take two. The split costs a few shifts.
        let words = S::V::transpose8(lines);
        [limbs_of_words(simd, &words[..4]), limbs_of_words(simd, &words[4..])]
    }

    #[inline(always)]
    fn store_rows<S: MulSimd>(simd: S, point: &[[S::V; 5]; 2], rows: [&mut [CacheLine]; LANES]) {
        let mut words = [simd.zero(); LANES];
        words_of_limbs(simd, &point[0], &mut words[..4]);
        words_of_limbs(simd, &point[1], &mut words[4..]);
        for (row, line) in rows.into_iter().zip(S::V::transpose8(words)) {
            row[0] = CacheLine(line.words());
        }
    }

    fn secret_comb<S: CurveSimd<Self, 5>>(simd: S) -> &'static SecretComb {
        static COMB: ForkSafeCell<SecretComb> = ForkSafeCell::new();
        // Rows are plain words, so the table does not depend on the leaf that builds it.
        COMB.get_or_make(|| SecretComb::of_base::<S, Self, 5>(simd))
    }

    fn public_comb<S: CurveSimd<Self, 5>>(simd: S) -> &'static PublicComb {
        static COMB: ForkSafeCell<PublicComb> = ForkSafeCell::new();
        COMB.get_or_make(|| PublicComb::of_base::<S, Self, 5>(simd))
    }
}
