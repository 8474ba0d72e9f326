//! The key stream and Poly1305 against RFC 8439, and the lanes against one block at a time and big integers.

use num_bigint::BigUint;

use super::poly1305::Poly1305;
use super::stream::{BLOCK, BLOCKS, BlockStart, STRIDE, crypt_run, key_stream, start_of_each, store};
use super::*;
use crate::simd::PortableSimd;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Cpu, IfmaSimd};

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Returns bytes that differ from place to place.
fn sample(seed: u64, len: usize) -> Vec<u8> {
    (0..len as u64)
        .map(|at| ((at + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9) >> 13) as u8)
        .collect()
}

fn one_block<S: UnzipSimd>(simd: S, start: BlockStart<'_>) -> [[u8; BLOCK]; BLOCKS] {
    let mut blocks = [[0; BLOCK]; BLOCKS];
    simd.call(|| {
        for (vector, block) in key_stream(&start_of_each(simd, &[start; BLOCKS])).iter().zip(&mut blocks) {
            store(*vector, block);
        }
    });
    blocks
}

fn streams<S: UnzipSimd>(simd: S) {
    // RFC 8439 2.3.2.
    let key: [u8; 32] = std::array::from_fn(|at| at as u8);
    let nonce = [0, 0, 0, 9, 0, 0, 0, 0x4A, 0, 0, 0, 0];
    let expected = hex(concat!(
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e",
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ));
    for block in one_block(simd, BlockStart { key: &key, nonce: &nonce, counter: 1 }) {
        assert_eq!(block[..], expected);
    }
    // A run counts on from its first block.
    let input = sample(5, 2 * STRIDE);
    let mut output = vec![0; input.len()];
    let start = BlockStart { key: &key, nonce: &nonce, counter: u32::MAX - 20 };
    simd.call(|| crypt_run(simd, &start, &input, &mut output));
    // Miri takes a second for a block.
    let step = if cfg!(miri) { 15 } else { 1 };
    let pieces = input.chunks_exact(BLOCK).zip(output.chunks_exact(BLOCK)).enumerate();
    for (at, (from, to)) in pieces.step_by(step) {
        let [stream, ..] =
            one_block(simd, BlockStart { counter: start.counter.wrapping_add(at as u32), ..start });
        let expected: Vec<u8> = from.iter().zip(stream).map(|(byte, key)| byte ^ key).collect();
        assert_eq!(to, expected, "block {at}");
    }
}

/// Computes RFC 8439 2.5.1 as it is written there.
fn by_big_integers(key: &[u8; 32], message: &[u8]) -> Vec<u8> {
    let p = (BigUint::from(1u8) << 130) - 5u8;
    let clamp = BigUint::parse_bytes(b"0ffffffc0ffffffc0ffffffc0fffffff", 16).unwrap();
    let (r, s) = (BigUint::from_bytes_le(&key[..16]) & clamp, BigUint::from_bytes_le(&key[16..]));
    let sum = message.chunks(16).fold(BigUint::default(), |sum, block| {
        (sum + BigUint::from_bytes_le(&[block, &[1]].concat())) * &r % &p
    });
    let mut tag = (sum + s).to_bytes_le();
    tag.resize(16.max(tag.len()), 0);
    tag.truncate(16);
    tag
}

fn hashes<S: UnzipSimd>(simd: S) {
    // Ones everywhere are the largest limbs, and a key of zeros is the smallest.
    let ones = vec![0xFF; 4096];
    let mut keys = vec![[0xFF; 32], [0; 32]];
    let lens: &[usize] = match cfg!(miri) {
        true => &[17, 517],
        false => &[0, 1, 15, 16, 17, 255, 256, 257, 511, 512, 768, 1023, 4096],
    };
    let more = if cfg!(miri) { 0 } else { 6 };
    keys.extend((0..more).map(|seed| <[u8; 32]>::try_from(sample(seed, 32)).unwrap()));
    for key in &keys {
        for message in [&ones, &sample(77, 4096)] {
            for len in lens.iter().copied() {
                let expected = by_big_integers(key, &message[..len]);
                let mut alone = Poly1305::new(key);
                alone.absorb(&message[..len]);
                assert_eq!(alone.tag()[..], expected, "{len} bytes, one block at a time");
                // With a block before the strides, the lanes start with a sum.
                for front in [0, 16.min(len)] {
                    let (before, rest) = message[..len].split_at(front);
                    let (strides, after) = rest.split_at(rest.len() / poly1305::STRIDE * poly1305::STRIDE);
                    let mut lanes = Poly1305::new(key);
                    lanes.absorb(before);
                    simd.call(|| lanes.absorb_strides(simd, strides));
                    lanes.absorb(after);
                    assert_eq!(lanes.tag()[..], expected, "{len} bytes, {front} before the lanes");
                }
            }
        }
    }
}

#[test]
fn poly1305_matches_the_rfc() {
    // RFC 8439 2.5.2.
    let key = hex("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
    let mut hash = Poly1305::new(&key.try_into().unwrap());
    hash.absorb(b"Cryptographic Forum Research Group");
    assert_eq!(hash.tag()[..], hex("a8061dc1305136c6c22b8baf0c0127a9"));
    // RFC 8439 A.3, 7 to 11: sums next to p and to 2^128.
    let cases = [
        ("02", "", "ffffffffffffffffffffffffffffffff", "03"),
        ("02", "ffffffffffffffffffffffffffffffff", "02000000000000000000000000000000", "03"),
        (
            "01",
            "",
            "fffffffffffffffffffffffffffffffff0ffffffffffffffffffffffffffffff11000000000000000000000000000000",
            "05",
        ),
        (
            "01",
            "",
            "fffffffffffffffffffffffffffffffffbfefefefefefefefefefefefefefefe01010101010101010101010101010101",
            "",
        ),
        ("02", "", "fdffffffffffffffffffffffffffffff", "faffffffffffffffffffffffffffffff"),
    ];
    for (r, s, message, tag) in cases {
        let filled = |text: &str| {
            let mut bytes = hex(text);
            bytes.resize(16, 0);
            bytes
        };
        let key = [filled(r), filled(s)].concat();
        let mut hash = Poly1305::new(&key.try_into().unwrap());
        hash.absorb(&hex(message));
        assert_eq!(hash.tag()[..], filled(tag), "{message}");
    }
}

#[test]
fn portable_streams_and_hashes_match() {
    streams(PortableSimd::<8>);
    hashes(PortableSimd::<8>);
}

#[cfg(target_arch = "x86_64")]
#[test]
#[cfg_attr(miri, ignore = "instructions that Miri lacks")]
fn streams_and_hashes_of_avx_512_match() {
    let Some(simd) = IfmaSimd::detect() else {
        eprintln!("SKIPPED: this processor has no AVX-512 IFMA");
        return;
    };
    streams(simd);
    hashes(simd);
}
