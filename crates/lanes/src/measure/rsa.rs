//! RSA kernels.

use oarlock_core::{
    Engine, Extra, Fingerprint, Jobs, Key, KeyParts, Operation, Outcomes, RsaExponent, RsaPrivateParts,
    RsaPublicParts, SecretBytes, Shape,
};

use super::Bench;
use crate::LaneEngine;
use crate::rsa;
use crate::rsa::factor::{ENTRIES, Itself, Picked, Plain};
use crate::rsa::montgomery::{Moduli, Scratch, Task, in_turn};
use crate::simd::{Counting, Ifma, Simd};
use zeroize::Zeroizing;

pub(super) fn run(bench: &Bench<'_>, simd: Ifma) {
    for bits in [1024, 2048, 3072, 4096] {
        whole(
            bench,
            &format!("rsa{bits} verify, per 8"),
            bits,
            Shape::RsaPublic { bits, exponent: RsaExponent::F4 },
        );
        whole(bench, &format!("rsa{bits} sign, per 8"), bits, Shape::RsaPrivate { bits });
    }
    for limbs in [10, 20, 30, 40, 60, 80] {
        for streams in [1, 2] {
            let name = |what: &str| format!("rsa {what} {limbs} x{streams}");
            bench.kernel(
                &name("square"),
                streams,
                squares(simd, limbs, streams),
                squares(Counting, limbs, streams),
            );
            bench.kernel(
                &name("product"),
                streams,
                products(simd, limbs, streams),
                products(Counting, limbs, streams),
            );
            bench.kernel(
                &name("product with table"),
                streams,
                picked(simd, limbs, streams),
                picked(Counting, limbs, streams),
            );
        }
    }
}

/// A run of as many jobs as are offered, through the engine; time and count are those of a group of eight.
fn whole(bench: &Bench<'_>, name: &str, bits: u16, shape: Shape) {
    let keys = keys(bits);
    let (Some(lanes), Some(engine)) = (rsa::offers(shape), LaneEngine::detect()) else { return };
    let inputs: Vec<Vec<u8>> = (0..lanes.most as u8).map(|at| vec![at + 1; usize::from(bits) / 8]).collect();
    let inputs: Vec<Vec<u8>> = inputs.into_iter().map(|input| [&[0], &input[1..]].concat()).collect();
    let operations: Vec<Operation<'_>> = inputs
        .iter()
        .enumerate()
        .map(|(at, input)| Operation { key: &keys[at % keys.len()], input, extra: Extra::None })
        .collect();
    let jobs = Jobs::Operations(shape, &operations);
    let mut out = Outcomes::for_jobs(&jobs);
    let kernel = || engine.run(&jobs, &mut out).unwrap_or_default();
    let counted = || {
        let mut out = Outcomes::for_jobs(&jobs);
        match shape {
            Shape::RsaPrivate { .. } => rsa::private(Counting, shape, &operations, &mut out),
            _ => rsa::public(Counting, shape, &operations, &mut out),
        }
    };
    bench.kernel(name, lanes.most / 8, kernel, counted);
}

/// The keys of so many bits among the tests of the scalar engine.
fn keys(bits: u16) -> Vec<Key> {
    let lines = include_str!("../../../scalar/tests/data/rsa-keys.txt").lines();
    let named = lines.filter(|line| line.split(' ').next() == Some(bits.to_string().as_str()));
    let keys = named.filter_map(|line| {
        let numbers: Vec<Vec<u8>> = line.split_whitespace().skip(1).map(super::hex).collect();
        let [n, e, d, p, q, dp, dq, qinv] = numbers.try_into().ok()?;
        let [d, p, q, dp, dq, qinv] = [d, p, q, dp, dq, qinv].map(SecretBytes::from);
        let public = RsaPublicParts { n, e };
        let parts = KeyParts::RsaPrivate(RsaPrivateParts { public, d, p, q, dp, dq, qinv });
        Some(Key::local(parts, Fingerprint::new([7; 32])))
    });
    keys.collect()
}

fn picked<S: Simd>(simd: S, limbs: usize, streams: usize) -> impl FnMut() {
    let mut streams: Vec<Stream<S>> = (0..streams).map(|_| stream(simd, limbs)).collect();
    let table = vec![simd.splat(77); ENTRIES * limbs];
    move || {
        let pick = || Picked::new(&table, simd.splat(5), |bit| simd.splat(1 << bit));
        in_turn(streams.iter_mut().map(|stream| {
            let Task { moduli, b, out, scratch, .. } = stream.square();
            Task { moduli, a: pick(), b, out, scratch }
        }));
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
    move || in_turn(streams.iter_mut().map(Stream::square))
}

fn products<S: Simd>(simd: S, limbs: usize, streams: usize) -> impl FnMut() {
    let mut streams: Vec<Stream<S>> = (0..streams).map(|_| stream(simd, limbs)).collect();
    move || in_turn(streams.iter_mut().map(Stream::product))
}

impl<S: Simd> Stream<S> {
    fn square(&mut self) -> Task<'_, S, Itself<'_, S::V>> {
        std::mem::swap(&mut self.from, &mut self.to);
        let Self { moduli, from, to, scratch } = self;
        Task { moduli, a: Itself(from), b: from, out: to, scratch }
    }

    fn product(&mut self) -> Task<'_, S, Plain<'_, S::V>> {
        std::mem::swap(&mut self.from, &mut self.to);
        let Self { moduli, from, to, scratch } = self;
        Task { moduli, a: Plain(from), b: moduli.limbs(), out: to, scratch }
    }
}
