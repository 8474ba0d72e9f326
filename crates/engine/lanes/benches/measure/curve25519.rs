//! Curve25519: the field, the group, and the multiplications that the shapes consist of, per eight lanes.

use std::hint::black_box;

use super::KernelBench;
use super::counting::CountingSimd;
use crate::curve25519::kernels::{self, CurveKernels};
use crate::simd::IfmaSimd;

pub(super) fn run(bench: &KernelBench<'_>, simd: IfmaSimd) {
    chains(bench, simd);
    let (timed, counted) = (CurveKernels::new(simd), CurveKernels::new(CountingSimd));
    whole(
        bench,
        "c25519 comb of the base point, secret, two groups",
        &timed,
        &counted,
        CurveKernels::base,
        CurveKernels::base,
    );
    whole(
        bench,
        "c25519 [S]B - [h]A, nothing known of A, two groups",
        &timed,
        &counted,
        CurveKernels::cold,
        CurveKernels::cold,
    );
    whole(
        bench,
        "c25519 [S]B - [h]A, table of A, two groups",
        &timed,
        &counted,
        CurveKernels::hot,
        CurveKernels::hot,
    );
    whole(bench, "c25519 decoding", &timed, &counted, CurveKernels::decode, CurveKernels::decode);
    whole(
        bench,
        "c25519 decoding, eight groups",
        &timed,
        &counted,
        CurveKernels::decode_eight,
        CurveKernels::decode_eight,
    );
    whole(bench, "c25519 encoding", &timed, &counted, CurveKernels::encode, CurveKernels::encode);
    whole(
        bench,
        "c25519 encoding, eight groups",
        &timed,
        &counted,
        CurveKernels::encode_eight,
        CurveKernels::encode_eight,
    );
    whole(bench, "c25519 ladder", &timed, &counted, CurveKernels::ladder, CurveKernels::ladder);
    whole(
        bench,
        "c25519 ladder, two groups",
        &timed,
        &counted,
        CurveKernels::two_ladders,
        CurveKernels::two_ladders,
    );
    whole(bench, "c25519 table of a key", &timed, &counted, CurveKernels::table, CurveKernels::table);
    whole(bench, "c25519 check of a table", &timed, &counted, CurveKernels::check, CurveKernels::check);
}

fn whole(
    bench: &KernelBench<'_>,
    name: &str,
    timed: &CurveKernels<IfmaSimd>,
    counted: &CurveKernels<CountingSimd>,
    kernel: fn(&CurveKernels<IfmaSimd>),
    counter: fn(&CurveKernels<CountingSimd>),
) {
    bench.kernel(name, 1, || kernel(black_box(timed)), || counter(counted));
}

/// Times products and squarings in one chain, which waits for itself, and in four.
fn chains(bench: &KernelBench<'_>, simd: IfmaSimd) {
    const STEPS: usize = 64;
    let chain = |name: &str, timed: &mut dyn FnMut(), counted: &mut dyn FnMut()| {
        bench.kernel(&format!("c25519 {name}"), STEPS, timed, counted);
    };
    let times = kernels::products::<IfmaSimd, 1>;
    chain("product, one chain", &mut || times(simd, STEPS), &mut || {
        kernels::products::<_, 1>(CountingSimd, STEPS);
    });
    let times = kernels::products::<IfmaSimd, 4>;
    chain("product, four chains", &mut || times(simd, STEPS / 4), &mut || {
        kernels::products::<_, 4>(CountingSimd, STEPS / 4);
    });
    let times = kernels::squares::<IfmaSimd, 1>;
    chain("square, one chain", &mut || times(simd, STEPS), &mut || {
        kernels::squares::<_, 1>(CountingSimd, STEPS);
    });
    let times = kernels::squares::<IfmaSimd, 4>;
    chain("square, four chains", &mut || times(simd, STEPS / 4), &mut || {
        kernels::squares::<_, 4>(CountingSimd, STEPS / 4);
    });
    let times = kernels::doublings::<IfmaSimd, 1>;
    chain("doubling", &mut || times(simd, STEPS), &mut || kernels::doublings::<_, 1>(CountingSimd, STEPS));
    let times = kernels::doublings::<IfmaSimd, 2>;
    chain("doubling, two groups", &mut || times(simd, STEPS / 2), &mut || {
        kernels::doublings::<_, 2>(CountingSimd, STEPS / 2);
    });
}
