//! RSA kernels.

use super::Bench;
use crate::rsa::montgomery::{Moduli, Scratch, Task, in_turn};
use crate::simd::{Counting, Ifma, Simd};
use zeroize::Zeroizing;

pub(super) fn run(bench: &Bench<'_>, simd: Ifma) {
    for limbs in [10, 20, 30, 40, 60, 80] {
        bench.kernel(&format!("rsa square {limbs}"), 1, squares(simd, limbs, 1), squares(Counting, limbs, 1));
        bench.kernel(
            &format!("rsa square x2 {limbs}"),
            2,
            squares(simd, limbs, 2),
            squares(Counting, limbs, 2),
        );
        bench.kernel(
            &format!("rsa product {limbs}"),
            1,
            products(simd, limbs, 1),
            products(Counting, limbs, 1),
        );
        bench.kernel(
            &format!("rsa product x2 {limbs}"),
            2,
            products(simd, limbs, 2),
            products(Counting, limbs, 2),
        );
    }
}

struct Stream<S: Simd> {
    moduli: Moduli<S>,
    from: Vec<S::V>,
    to: Vec<S::V>,
    scratch: Scratch<S>,
}

fn stream<S: Simd>(simd: S, limbs: usize) -> Stream<S> {
    let mut n = vec![simd.splat(0x000F_1234_5678_9ABD); limbs];
    n[limbs - 1] = simd.splat(0xFFF_FFFF);
    Stream {
        moduli: Moduli::new(simd, Zeroizing::new(n), simd.splat(0x123)),
        from: vec![simd.splat(77); limbs],
        to: vec![simd.splat(77); limbs],
        scratch: Scratch::new(simd, limbs),
    }
}

fn squares<S: Simd>(simd: S, limbs: usize, streams: usize) -> impl FnMut() {
    let mut streams: Vec<Stream<S>> = (0..streams).map(|_| stream(simd, limbs)).collect();
    move || in_turn::<S, true>(streams.iter_mut().map(Stream::square))
}

fn products<S: Simd>(simd: S, limbs: usize, streams: usize) -> impl FnMut() {
    let mut streams: Vec<Stream<S>> = (0..streams).map(|_| stream(simd, limbs)).collect();
    move || in_turn::<S, false>(streams.iter_mut().map(Stream::product))
}

impl<S: Simd> Stream<S> {
    fn square(&mut self) -> Task<'_, S> {
        std::mem::swap(&mut self.from, &mut self.to);
        let Self { moduli, from, to, scratch } = self;
        Task { moduli, a: from, b: from, out: to, scratch }
    }

    fn product(&mut self) -> Task<'_, S> {
        std::mem::swap(&mut self.from, &mut self.to);
        let Self { moduli, from, to, scratch } = self;
        Task { moduli, a: from, b: moduli.limbs(), out: to, scratch }
    }
}
