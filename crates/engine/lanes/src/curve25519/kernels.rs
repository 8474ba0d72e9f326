//! Kernels for benchmarks, with arbitrary inputs.

use std::hint::black_box;

use oarlock_engine_kit::VerifyTable;

use super::base;
use super::comb::double_times;
use super::constants::{BASE_X, BASE_Y};
use super::encoding::{Decoded, decode_opposites, encode};
use super::field::{Factor, FieldFactor, FieldSimd, WideSum};
use super::key_table::{Ed25519KeyTable, TableTerm, table_sums};
use super::multiples::{MultipleTerm, sums_of_multiples};
use super::point::EdwardsPoint;
use super::scalar::ScalarLanes;
use super::x25519::{MontgomeryLadder, run_ladders};
use crate::simd::LANES;

/// The y of the base point, 4/5, as RFC 8032 encodes it.
const BASE: &[u8] = &{
    let mut bytes = [0x66_u8; 32];
    bytes[0] = 0x58;
    bytes
};

pub(crate) struct CurveKernels<S: FieldSimd> {
    simd: S,
    scalar: ScalarLanes<S::V>,
    key: Decoded<S>,
    table: Ed25519KeyTable<S>,
    point: EdwardsPoint<S>,
}

impl<S: FieldSimd> CurveKernels<S> {
    pub(crate) fn new(simd: S) -> Self {
        let key = decode_opposites(simd, &[[BASE; LANES]])[0];
        let scalar = ScalarLanes::from_limbs([simd.splat(0x5_4321_9876_0123); 5]);
        let Some(table) = Ed25519KeyTable::build(simd, BASE) else { unreachable!("the base point decodes") };
        Self { simd, scalar, key, table, point: EdwardsPoint::affine(simd, &key.x, &key.y) }
    }

    pub(crate) fn base(&self) {
        let mut products = Vec::new();
        base(self.simd).columns.times(self.simd, &[self.scalar; 2], &mut products);
        black_box(products);
    }

    pub(crate) fn cold(&self) {
        let (window, mut sums) = (&base(self.simd).window, Vec::new());
        let term = || MultipleTerm { q: &self.key, h: self.scalar, s: self.scalar };
        sums_of_multiples(self.simd, window, &[term(), term()], &mut sums);
        black_box(sums);
    }

    pub(crate) fn hot(&self) {
        let (comb, mut sums) = (&base(self.simd).comb, Vec::new());
        let term = || TableTerm { tables: [&self.table; LANES], h: self.scalar, s: self.scalar };
        table_sums(self.simd, comb, &[term(), term()], &mut sums);
        black_box(sums);
    }

    pub(crate) fn decode(&self) {
        black_box(decode_opposites(self.simd, &[[BASE; LANES]]));
    }

    pub(crate) fn decode_eight(&self) {
        black_box(decode_opposites(self.simd, &[[BASE; LANES]; 8]));
    }

    pub(crate) fn encode(&self) {
        black_box(encode(self.simd, &[self.point]));
    }

    pub(crate) fn encode_eight(&self) {
        black_box(encode(self.simd, &[self.point; 8]));
    }

    pub(crate) fn ladder(&self) {
        run_ladders(
            self.simd,
            &mut [MontgomeryLadder::from_words(
                self.simd,
                &[self.simd.splat(!0); 4],
                &[self.simd.splat(9); 4],
            )],
        );
    }

    pub(crate) fn two_ladders(&self) {
        let ladder =
            MontgomeryLadder::from_words(self.simd, &[self.simd.splat(!0); 4], &[self.simd.splat(9); 4]);
        run_ladders(self.simd, &mut [ladder; 2]);
    }

    pub(crate) fn table(&self) {
        black_box(Ed25519KeyTable::build(self.simd, BASE));
    }

    pub(crate) fn check(&self) {
        black_box(self.table.is_right(BASE));
    }
}

/// Computes `steps` products in each of `N` chains.
pub(crate) fn products<S: FieldSimd, const N: usize>(simd: S, steps: usize) {
    let by = Factor::<S>::splat(simd, &BASE_Y);
    chains::<S, N>(
        simd,
        steps,
        #[inline(always)]
        |value| value.times(simd, &by).reduce(simd),
    );
}

/// Computes `steps` squarings in each of `N` chains.
pub(crate) fn squares<S: FieldSimd, const N: usize>(simd: S, steps: usize) {
    chains::<S, N>(
        simd,
        steps,
        #[inline(always)]
        |value| value.square(simd).reduce(simd),
    );
}

fn chains<S: FieldSimd, const N: usize>(simd: S, steps: usize, next: impl Fn(&Factor<S>) -> Factor<S>) {
    let mut chains = black_box([Factor::<S>::splat(simd, &BASE_X); N]);
    simd.call(
        #[inline(always)]
        || {
            for _ in 0..steps {
                for chain in &mut chains {
                    *chain = next(chain);
                }
            }
        },
    );
    black_box(&chains);
}

/// Computes `steps` doublings of `N` groups.
pub(crate) fn doublings<S: FieldSimd, const N: usize>(simd: S, steps: usize) {
    let (x, y) = (Factor::<S>::splat(simd, &BASE_X), Factor::<S>::splat(simd, &BASE_Y));
    let mut points = black_box([EdwardsPoint::affine(simd, &x, &y); N]);
    for _ in 0..steps / 4 {
        double_times::<S, N, 4>(simd, &mut points);
    }
    black_box(&points);
}
