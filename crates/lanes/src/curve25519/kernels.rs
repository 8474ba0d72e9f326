//! What is measured, with inputs that are as good as any.

use std::hint::black_box;

use oarlock_core::VerifyTable;

use super::base;
use super::comb::double_times;
use super::constants::{BASE_X, BASE_Y};
use super::encoding::{Decoded, decode_opposites, encode};
use super::field::Factor;
use super::hot_table::{HotTable, HotTerm, hot_sums};
use super::multiples::{Term, sums_of_multiples};
use super::point::Point;
use super::scalar::Scalar;
use super::x25519::{Ladder, climb};
use crate::simd::{LANES, Simd};

/// y of the base point, 4/5, as RFC 8032 encodes it.
const BASE: &[u8] = &{
    let mut bytes = [0x66_u8; 32];
    bytes[0] = 0x58;
    bytes
};

pub(crate) struct Kernels<S: Simd> {
    simd: S,
    scalar: Scalar<S::V>,
    key: Decoded<S::V>,
    table: HotTable<S>,
    point: Point<S::V>,
}

impl<S: Simd> Kernels<S> {
    pub(crate) fn new(simd: S) -> Self {
        let key = decode_opposites(simd, &[[BASE; LANES]])[0];
        let scalar = Scalar::from_limbs([simd.splat(0x5_4321_9876_0123); 5]);
        let Some(table) = HotTable::build(simd, BASE) else { unreachable!("the base point decodes") };
        Self { simd, scalar, key, table, point: Point::affine(simd, &key.x, &key.y) }
    }

    pub(crate) fn base(&self) {
        let mut products = Vec::new();
        base(self.simd).columns.times(self.simd, &[self.scalar; 2], &mut products);
        black_box(products);
    }

    pub(crate) fn cold(&self) {
        let (window, mut sums) = (&base(self.simd).window, Vec::new());
        let term = || Term { q: &self.key, h: self.scalar, s: self.scalar };
        sums_of_multiples(self.simd, window, &[term(), term()], &mut sums);
        black_box(sums);
    }

    pub(crate) fn hot(&self) {
        let (comb, mut sums) = (&base(self.simd).comb, Vec::new());
        let term = || HotTerm { tables: [&self.table; LANES], h: self.scalar, s: self.scalar };
        hot_sums(self.simd, comb, &[term(), term()], &mut sums);
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
        climb(
            self.simd,
            &mut [Ladder::from_words(self.simd, &[self.simd.splat(!0); 4], &[self.simd.splat(9); 4])],
        );
    }

    pub(crate) fn two_ladders(&self) {
        let ladder = Ladder::from_words(self.simd, &[self.simd.splat(!0); 4], &[self.simd.splat(9); 4]);
        climb(self.simd, &mut [ladder; 2]);
    }

    pub(crate) fn table(&self) {
        black_box(HotTable::build(self.simd, BASE));
    }

    pub(crate) fn check(&self) {
        black_box(self.table.is_right(BASE));
    }
}

/// `steps` products in each of `N` chains.
pub(crate) fn products<S: Simd, const N: usize>(simd: S, steps: usize) {
    let by = Factor::splat(simd, &BASE_Y);
    chains::<S, N>(
        simd,
        steps,
        #[inline(always)]
        |value| value.times(simd, &by).reduce(simd),
    );
}

/// `steps` squarings in each of `N` chains.
pub(crate) fn squares<S: Simd, const N: usize>(simd: S, steps: usize) {
    chains::<S, N>(
        simd,
        steps,
        #[inline(always)]
        |value| value.square(simd).reduce(simd),
    );
}

fn chains<S: Simd, const N: usize>(simd: S, steps: usize, next: impl Fn(&Factor<S::V>) -> Factor<S::V>) {
    let mut chains = black_box([Factor::splat(simd, &BASE_X); N]);
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

/// Doublings of `N` groups.
pub(crate) fn doublings<S: Simd, const N: usize>(simd: S, steps: usize) {
    let (x, y) = (Factor::splat(simd, &BASE_X), Factor::splat(simd, &BASE_Y));
    let mut points = black_box([Point::affine(simd, &x, &y); N]);
    for _ in 0..steps / 4 {
        double_times::<S, N, 4>(simd, &mut points);
    }
    black_box(&points);
}
