//! Curve25519: the field, the group, and the multiplications that the shapes consist of, per eight lanes.

use std::hint::black_box;

use super::Bench;
use super::counting::Counting;
use crate::curve25519::kernels::{self, Kernels};
use crate::simd::Ifma;

pub(super) fn run(bench: &Bench<'_>, simd: Ifma) {
    chains(bench, simd);
    let (timed, counted) = (Kernels::new(simd), Kernels::new(Counting));
    whole(
        bench,
        "c25519 comb of the base point, secret, two groups",
        &timed,
        &counted,
        Kernels::base,
        Kernels::base,
    );
    whole(
        bench,
        "c25519 [S]B - [h]A, nothing known of A, two groups",
        &timed,
        &counted,
        Kernels::cold,
        Kernels::cold,
    );
    whole(bench, "c25519 [S]B - [h]A, table of A, two groups", &timed, &counted, Kernels::hot, Kernels::hot);
    whole(bench, "c25519 decoding", &timed, &counted, Kernels::decode, Kernels::decode);
    whole(
        bench,
        "c25519 decoding, eight groups",
        &timed,
        &counted,
        Kernels::decode_eight,
        Kernels::decode_eight,
    );
    whole(bench, "c25519 encoding", &timed, &counted, Kernels::encode, Kernels::encode);
    whole(
        bench,
        "c25519 encoding, eight groups",
        &timed,
        &counted,
        Kernels::encode_eight,
        Kernels::encode_eight,
    );
    whole(bench, "c25519 ladder", &timed, &counted, Kernels::ladder, Kernels::ladder);
    whole(bench, "c25519 ladder, two groups", &timed, &counted, Kernels::two_ladders, Kernels::two_ladders);
    whole(bench, "c25519 table of a key", &timed, &counted, Kernels::table, Kernels::table);
    whole(bench, "c25519 check of a table", &timed, &counted, Kernels::check, Kernels::check);
}

fn whole(
    bench: &Bench<'_>,
    name: &str,
    timed: &Kernels<Ifma>,
    counted: &Kernels<Counting>,
    kernel: fn(&Kernels<Ifma>),
    counter: fn(&Kernels<Counting>),
) {
    bench.kernel(name, 1, || kernel(black_box(timed)), || counter(counted));
}

/// Products and squarings in one chain, which waits for itself, and in four.
fn chains(bench: &Bench<'_>, simd: Ifma) {
    const STEPS: usize = 64;
    let chain = |name: &str, timed: &mut dyn FnMut(), counted: &mut dyn FnMut()| {
        bench.kernel(&format!("c25519 {name}"), STEPS, timed, counted);
    };
    let times = kernels::products::<Ifma, 1>;
    chain("product, one chain", &mut || times(simd, STEPS), &mut || {
        kernels::products::<_, 1>(Counting, STEPS);
    });
    let times = kernels::products::<Ifma, 4>;
    chain("product, four chains", &mut || times(simd, STEPS / 4), &mut || {
        kernels::products::<_, 4>(Counting, STEPS / 4);
    });
    let times = kernels::squares::<Ifma, 1>;
    chain("square, one chain", &mut || times(simd, STEPS), &mut || kernels::squares::<_, 1>(Counting, STEPS));
    let times = kernels::squares::<Ifma, 4>;
    chain("square, four chains", &mut || times(simd, STEPS / 4), &mut || {
        kernels::squares::<_, 4>(Counting, STEPS / 4);
    });
    let times = kernels::doublings::<Ifma, 1>;
    chain("doubling", &mut || times(simd, STEPS), &mut || kernels::doublings::<_, 1>(Counting, STEPS));
    let times = kernels::doublings::<Ifma, 2>;
    chain("doubling, two groups", &mut || times(simd, STEPS / 2), &mut || {
        kernels::doublings::<_, 2>(Counting, STEPS / 2);
    });
}
