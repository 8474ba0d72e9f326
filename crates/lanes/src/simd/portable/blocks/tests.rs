use super::*;
#[cfg(target_arch = "x86_64")]
use crate::simd::{IfmaSimd, VaesSimd};
use crate::simd::{Vector, tests::samples};

fn everything<S: BlockSimd>(simd: S, [a, b]: [&Words; 2]) -> Vec<Words> {
    simd.call(|| {
        let (a, b) = (simd.load(a), simd.load(b));
        let first = simd.first_block(a);
        let vectors = [
            simd.splat_block(&first),
            simd.keep_prefix(a, 0),
            simd.keep_prefix(a, 21),
            simd.keep_prefix(a, 64),
            simd.blocks_after(a, b),
            simd.sum_of_blocks(a),
            simd.reverse_blocks(a),
            simd.swap_words(a),
            simd.encrypt_round(a, b),
            simd.encrypt_last(a, b),
            simd.decrypt_round(a, b),
            simd.decrypt_last(a, b),
            simd.multiply_words::<0x00>(a, b),
            simd.multiply_words::<0x01>(a, b),
            simd.multiply_words::<0x10>(a, b),
            simd.multiply_words::<0x11>(a, b),
        ];
        vectors.map(Vector::words).to_vec()
    })
}

#[cfg(target_arch = "x86_64")]
#[test]
fn vaes_agrees_with_the_portable_leaf() {
    let Some(vaes) = IfmaSimd::detect().and_then(VaesSimd::detect) else {
        eprintln!("SKIPPED: this processor has no AVX-512 IFMA with VAES and VPCLMULQDQ");
        return;
    };
    for seed in 0..if cfg!(miri) { 2 } else { 200 } {
        let [a, b] = [0, 1].map(|part| samples(2 * seed + part));
        let (found, expected) = (everything(vaes, [&a, &b]), everything(PortableSimd, [&a, &b]));
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "operation {at} of seed {seed}");
        }
    }
}

/// FIPS 197 5.1.1: {53} becomes {ed}. The inverse of 5.3.2 restores every byte.
#[test]
fn portable_s_box_matches_fips_197() {
    let bytes = |vector: PortableVector| bytes_of(vector);
    assert_eq!(bytes(substitute(PortableSimd.load_bytes(&[0x53; 64]))), [0xED; 64]);
    for start in [0, 64, 128, 192] {
        let all: [u8; 64] = std::array::from_fn(|at| start + at as u8);
        let vector = PortableSimd.load_bytes(&all);
        assert_eq!(bytes(substitute_inverse(substitute(vector))), all);
    }
}
