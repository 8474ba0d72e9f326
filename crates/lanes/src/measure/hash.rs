//! Hashes.

use std::hint::black_box;

use super::Bench;
use crate::hash::sha512::digest;
use crate::simd::{Ifma, LANES};

pub(super) fn run(bench: &Bench<'_>, simd: Ifma) {
    for len in [96, 1024] {
        let message = vec![7; len];
        bench.kernel(
            &format!("sha512, eight messages of {len} bytes"),
            1,
            || {
                black_box(digest(simd, [&[black_box(&message)]; LANES]));
            },
            || (),
        );
    }
}
