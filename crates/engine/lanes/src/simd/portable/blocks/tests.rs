use super::*;
#[cfg(target_arch = "aarch64")]
use crate::simd::ArmAesSimd;
use crate::simd::tests::samples;
#[cfg(target_arch = "x86_64")]
use crate::simd::{AesSimd, Cpu, VaesSimd, VaesYmmSimd};

/// The longest input of an operation, and one byte more.
const MOST: usize = FOUR_BLOCKS + 1;

/// Returns the bytes of four blocks.
fn bytes<S: BlockSimd>(simd: S, blocks: S::Four) -> Vec<u8> {
    let mut bytes = [0; FOUR_BLOCKS];
    simd.store_prefix(blocks, &mut bytes);
    bytes.to_vec()
}

/// Returns the bytes of one block.
fn single_bytes<S: SingleSimd>(simd: S, block: S::Block) -> Vec<u8> {
    let mut bytes = [0; BLOCK];
    simd.store_block(block, &mut bytes);
    bytes.to_vec()
}

/// Returns the results of every operation on one block.
fn singles<S: SingleSimd>(simd: S, a: &[u8; MOST], b: &[u8; MOST]) -> Vec<Vec<u8>> {
    let [x, y] = [a, b].map(|bytes| simd.load_block_at(bytes, 3));
    let blocks = [
        x,
        x ^ y,
        simd.load_block(a.first_chunk().unwrap()),
        simd.block_of_words([0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210]),
        x.encrypt_round(y),
        x.encrypt_last(y),
        x.decrypt_round(y),
        x.decrypt_last(y),
        x.reversed(),
        x.masked(y),
        x.last_words::<true>(),
        x.last_words::<false>(),
        x.word_sums(),
        simd.add_to_counter(x, 3),
        simd.add_to_counter(simd.block_of_words([0x0123_4567_FFFF_FFFF, 5]), 2),
        *simd.opaque(&x),
    ];
    let mut all: Vec<_> = blocks.map(|block| single_bytes(simd, block)).to_vec();
    for len in 0..MOST {
        for start in [0, 1, 16, 17, 48, 64].into_iter().filter(|start| *start <= len) {
            all.push(single_bytes(simd, simd.load_block_at(&a[..len], start)));
            all.push(single_bytes(simd, simd.load_padded_at(&a[..len], start)));
        }
    }
    for len in 0..=BLOCK {
        let mut out = [0x5A; 2 * BLOCK];
        simd.store_block_prefix(x, &mut out[..len]);
        all.push(out.to_vec());
        // Two blocks that differ in one byte, before and behind `len`.
        for at in 0..BLOCK {
            let mut changed: BlockBytes = *a.first_chunk().unwrap();
            changed[at] ^= 1 << (at % 8);
            let (one, other) = (simd.load_block(a.first_chunk().unwrap()), simd.load_block(&changed));
            assert_eq!(simd.differ(one, other, len), at < len);
        }
    }
    all
}

/// Returns the results of every operation on four blocks.
fn fours<S: BlockSimd>(simd: S, a: &[u8; MOST], b: &[u8; MOST]) -> Vec<Vec<u8>> {
    let [x, y] = [a, b].map(|bytes| simd.load_prefix(&bytes[1..]));
    let first = a.first_chunk().unwrap();
    let one = simd.single().load_block(first);
    let blocks = [
        x,
        x ^ y,
        simd.splat_block(first),
        simd.blocks_after(x, b.first_chunk().unwrap()),
        simd.counters(one, [0, 1, 2, u32::MAX]),
        simd.xor_first(x, one),
        x.encrypt_round(y),
        x.encrypt_last(y),
        x.decrypt_round(y),
        x.decrypt_last(y),
        x.reversed(),
        x.masked(y),
        x.last_words::<true>(),
        x.last_words::<false>(),
        x.word_sums(),
        simd.add_to_counters(x, 3),
        simd.add_to_counters(simd.splat_block(&[0xFF; BLOCK]), 2),
        simd.products([(x, y)]),
        simd.products([(x, y), (y, y), (x ^ y, x)]),
    ];
    let mut all: Vec<_> = blocks.map(|blocks| bytes(simd, blocks)).to_vec();
    all.push(single_bytes(simd.single(), simd.last_block(x)));
    all.extend(simd.low_words(x).map(|block| single_bytes(simd.single(), block)));
    for len in 0..MOST {
        let piece = simd.load_prefix(&a[..len]);
        all.push(bytes(simd, piece));
        let mut out = [0x5A; MOST + 8];
        simd.store_prefix(x, &mut out[..len]);
        all.push(out.to_vec());
        if len <= FOUR_BLOCKS {
            let mut out = [0x5A; MOST + 8];
            let both = simd.crypt_prefix(&a[..len], y, &mut out[..len]);
            all.extend(both.map(|blocks| bytes(simd, blocks)));
            all.push(out.to_vec());
        }
    }
    let mut powers = HashPowers::empty();
    for n in 1..=4 {
        powers.set(n, b[16 * n - 16..].first_chunk().unwrap());
    }
    for count in 1..=4 {
        let kept = simd.load_prefix(&a[..BLOCK * count]);
        all.push(single_bytes(simd.single(), simd.sum_of_products(kept, count, &powers)));
        let less = simd.load_prefix(&a[..BLOCK * (count - 1)]);
        all.push(bytes(simd, simd.with_words(less, count - 1, [0x0123_4567_89AB_CDEF, 7])));
    }
    all
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn agrees<S: BlockSimd>(simd: Option<S>, missing: &str) {
    let Some(simd) = simd else {
        eprintln!("SKIPPED: this processor has no {missing}");
        return;
    };
    for seed in 0..if cfg!(miri) { 2 } else { 100 } {
        let [a, b] = [0, 1].map(|part| {
            let words = samples(2 * seed + part);
            std::array::from_fn(|at| words[at / 8 % LANES].to_le_bytes()[at % 8])
        });
        let found = simd.call(|| [singles(simd.single(), &a, &b), fours(simd, &a, &b)].concat());
        let expected = [singles(PortableSimd, &a, &b), fours(PortableSimd, &a, &b)].concat();
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "operation {at} of seed {seed}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn blocks_of_aes_ni_agree_with_the_portable_leaf() {
    agrees(AesSimd::detect(), "AES-NI and PCLMULQDQ with AVX");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn blocks_of_vaes_on_256_bits_agree_with_the_portable_leaf() {
    agrees(VaesYmmSimd::detect(), "VAES and VPCLMULQDQ with AVX2");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn blocks_of_vaes_on_512_bits_agree_with_the_portable_leaf() {
    agrees(VaesSimd::detect(), "AVX-512 IFMA with VAES and VPCLMULQDQ");
}

#[cfg(target_arch = "aarch64")]
#[test]
fn blocks_of_armv8_agree_with_the_portable_leaf() {
    agrees(ArmAesSimd::detect(), "AESE and PMULL");
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
