//! RSA kernels.

use oarlock_core::{
    Engine, Fingerprint, Jobs, Key, KeyParts, Operation, Outcomes, RsaExponent, RsaPrivateParts,
    RsaPublicParts, SecondInput, SecretBytes, Shape,
};

use super::KernelBench;
use super::counting::CountingSimd;
use crate::LaneEngine;
use crate::rsa;
use crate::rsa::factor::{ENTRIES, PlainFactor, SecretChoice};
use crate::rsa::memory::SpanMemory;
use crate::rsa::streams::ModulusStreams;
use crate::simd::{IfmaSimd, MulSimd};

/// The calls of a kernel per measurement.
const ROUNDS: usize = 16;

pub(super) fn run(bench: &KernelBench<'_>, simd: IfmaSimd) {
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
                ROUNDS * streams,
                squares(simd, limbs, streams),
                squares(CountingSimd, limbs, streams),
            );
            bench.kernel(
                &name("product"),
                ROUNDS * streams,
                products(simd, limbs, streams),
                products(CountingSimd, limbs, streams),
            );
            bench.kernel(
                &name("window"),
                ROUNDS * streams,
                windows(simd, limbs, streams),
                windows(CountingSimd, limbs, streams),
            );
        }
    }
}

/// Times a run of the maximum batch size through the engine. Time and count are those of a group of eight.
fn whole(bench: &KernelBench<'_>, name: &str, bits: u16, shape: Shape) {
    let keys = keys(bits);
    let (Some(lanes), Some(engine)) = (rsa::offers::<CountingSimd, _>(shape), LaneEngine::detect()) else {
        return;
    };
    let inputs: Vec<Vec<u8>> = (0..lanes.max as u8).map(|at| vec![at + 1; usize::from(bits) / 8]).collect();
    let inputs: Vec<Vec<u8>> = inputs.into_iter().map(|input| [&[0], &input[1..]].concat()).collect();
    let operations: Result<Vec<Operation<'_>>, _> = inputs
        .iter()
        .enumerate()
        .map(|(at, input)| Operation::new(shape, &keys[at % keys.len()], input, SecondInput::None))
        .collect();
    let Ok(operations) = operations else { return };
    let jobs = Jobs::Operations(shape, &operations);
    let mut out = Outcomes::for_jobs(&jobs);
    let kernel = || engine.run(&jobs, &mut out).unwrap_or_default();
    let counted = || {
        let mut out = Outcomes::for_jobs(&jobs);
        match shape {
            Shape::RsaPrivate { .. } => rsa::private(CountingSimd, shape, &operations, &mut out),
            _ => rsa::public(CountingSimd, shape, &operations, &mut out),
        }
    };
    bench.kernel(name, lanes.max / 8, kernel, counted);
}

/// Returns the keys of `bits` bits from the tests of the scalar engine.
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

/// Prepares streams of values under arbitrary moduli.
fn work<S: MulSimd>(
    simd: S,
    limbs: usize,
    count: usize,
    mut work: impl FnMut(&mut ModulusStreams<'_, S>),
) -> impl FnMut() {
    let mut memory = SpanMemory::new(simd, ModulusStreams::<S>::spans(limbs, count));
    move || {
        let mut streams = ModulusStreams::new(simd, limbs, count, &mut memory.free_spans());
        for at in 0..count {
            let n = streams.set_modulus(at, simd.splat(0x123));
            n.fill(simd.splat(0x000F_1234_5678_9ABD));
            n[limbs - 1] = simd.splat(0xFFF_FFFF);
        }
        work(&mut streams);
    }
}

/// Runs windows of an exponent: four squares, and a product with an entry of a table.
fn windows<S: MulSimd>(simd: S, limbs: usize, count: usize) -> impl FnMut() {
    let table = vec![simd.splat(77); ENTRIES * limbs];
    let mut entries = vec![simd.splat(0); 2 * limbs];
    work(simd, limbs, count, move |streams| {
        let (first, second) = entries.split_at_mut(limbs);
        let choice = |entry| SecretChoice { table: &table, index: simd.splat(5), entry };
        let mut choices = [choice(first), choice(second)];
        (0..ROUNDS).for_each(|_| streams.raise(&mut choices[..count]));
    })
}

fn squares<S: MulSimd>(simd: S, limbs: usize, count: usize) -> impl FnMut() {
    work(simd, limbs, count, move |streams| streams.square(0..count, ROUNDS))
}

fn products<S: MulSimd>(simd: S, limbs: usize, count: usize) -> impl FnMut() {
    let factor = vec![simd.splat(77); limbs];
    work(simd, limbs, count, move |streams| {
        (0..ROUNDS).for_each(|_| streams.multiply(0, &[PlainFactor(&factor[..]); 2][..count]));
    })
}
