//! P-256 and P-384.

use std::hint::black_box;

use super::Bench;
use crate::ecdsa::constants::{shifted, small};
use crate::ecdsa::point::{Affine, Jacobian, Xyzz};
use crate::ecdsa::ring::{Element, Field, Ring};
use crate::ecdsa::{p256, p384};
use crate::simd::{Counting, Ifma, Simd};

pub(super) fn run(bench: &Bench<'_>, simd: Ifma) {
    kernels::<p256::field::FieldPrime, 5, 1>(bench, simd, "p256, one stream:");
    kernels::<p256::field::FieldPrime, 5, 2>(bench, simd, "p256, two streams:");
    kernels::<p384::field::FieldPrime, 8, 1>(bench, simd, "p384, one stream:");
    kernels::<p384::field::FieldPrime, 8, 2>(bench, simd, "p384, two streams:");
}

/// Times a kernel is called per measurement.
const STEPS: usize = 100;

fn kernels<F: Field<L>, const L: usize, const N: usize>(bench: &Bench<'_>, simd: Ifma, name: &str) {
    let mut own = Streams::<Ifma, F, L, N>::new(simd);
    let mut counted = Streams::<Counting, F, L, N>::new(Counting);
    let each = STEPS * N;
    bench.kernel(&format!("{name} product"), each, || own.multiply(), || counted.multiply());
    bench.kernel(&format!("{name} squaring"), each, || own.square(), || counted.square());
    bench.kernel(&format!("{name} doubling"), each, || own.double(), || counted.double());
    bench.kernel(&format!("{name} addition to Jacobian"), each, || own.add(), || counted.add());
    bench.kernel(&format!("{name} addition to XYZZ"), each, || own.widen(), || counted.widen());
}

/// N groups of points that go through kernels again and again.
struct Streams<S: Simd, F, const L: usize, const N: usize> {
    f: Ring<S, F, L, N>,
    point: Jacobian<S::V, L, N>,
    wide: Xyzz<S::V, L, N>,
    addend: Affine<S::V, L, N>,
}

impl<S: Simd, F: Field<L>, const L: usize, const N: usize> Streams<S, F, L, N> {
    fn new(simd: S) -> Self {
        let f = Ring::<S, F, L, N>::new(simd);
        let e = |n: u64| f.splat(&shifted(small(n), 200, &F::LIMBS));
        Self {
            f,
            point: Jacobian { x: e(5), y: e(6), z: e(7) },
            wide: Xyzz { x: e(5), y: e(6), zz: e(7), zzz: e(8) },
            addend: Affine { x: e(15), y: e(16) },
        }
    }

    fn multiply(&mut self) {
        let (f, factor) = (self.f, self.point.y);
        self.chain(
            #[inline(always)]
            |x| f.mul(x, &factor),
        );
    }

    fn square(&mut self) {
        let f = self.f;
        self.chain(
            #[inline(always)]
            |x| f.sqr(x),
        );
    }

    fn chain(&mut self, step: impl Fn(&Element<S::V, L, N>) -> Element<S::V, L, N>) {
        self.f.simd.call(
            #[inline(always)]
            || {
                let mut x = self.point.x;
                for _ in 0..STEPS {
                    x = step(&x);
                }
                self.point.x = x;
            },
        );
    }

    fn double(&mut self) {
        for _ in 0..STEPS {
            self.f.simd.call(
                #[inline(always)]
                || self.point = self.f.double(black_box(&self.point)),
            );
        }
    }

    fn add(&mut self) {
        for step in 0..STEPS {
            self.f.simd.call(
                #[inline(always)]
                || self.point = self.f.add_to_jacobian(&self.point, &self.addend, black_box([step as u8; N])),
            );
        }
    }

    fn widen(&mut self) {
        for step in 0..STEPS {
            self.f.simd.call(
                #[inline(always)]
                || self.wide = self.f.add_to_xyzz(&self.wide, &self.addend, black_box([step as u8; N])),
            );
        }
    }
}
