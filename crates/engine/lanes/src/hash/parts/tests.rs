//! Tests with published examples, and against the `sha2` crate at lengths around the block size.

use sha2::{Digest as _, Sha512};

use super::*;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Cpu, IfmaSimd};
use crate::simd::{PortableSimd, Vector};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn on_both(test: impl Fn(&dyn Fn([Parts<'_>; LANES]) -> [[u8; 64]; LANES])) {
    test(&|messages| digest(PortableSimd, messages));
    #[cfg(target_arch = "x86_64")]
    if let Some(ifma) = IfmaSimd::detect() {
        test(&|messages| digest(ifma, messages));
    }
}

/// FIPS 180-4's examples as NIST publishes them (SHA512.pdf), and the empty message of the NIST CAVP vectors.
#[test]
fn sha512_matches_published_examples() {
    let two_blocks = b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    let examples: [(&[u8], &str); 3] = [
        (
            b"abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        (
            two_blocks,
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018
             501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
        ),
        (
            b"",
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce
             47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
        ),
    ];
    on_both(|digest| {
        let parts: [[&[u8]; 1]; LANES] = std::array::from_fn(|lane| [examples[lane % 3].0]);
        let found = digest(parts.each_ref().map(|parts| parts.as_slice()));
        for (lane, found) in found.iter().enumerate() {
            assert_eq!(found.as_slice(), hex(examples[lane % 3].1), "lane {lane}");
        }
    });
}

/// Every lane has another length up to three blocks, cut into parts at another place.
#[test]
fn sha512_of_parts_matches_the_sha2_crate_at_every_length() {
    let text: Vec<u8> = (0..3 * BLOCK + LANES).map(|at| (at * at / 7 + at) as u8).collect();
    // Miri runs the lengths around one block only.
    let lengths = if cfg!(miri) { 17..18 } else { 0..3 * BLOCK };
    on_both(|digest| {
        for first in lengths.clone() {
            let messages: [&[u8]; LANES] =
                std::array::from_fn(|lane| &text[..(first * (lane + 1)) % text.len()]);
            let parts = messages.each_ref().map(|message| {
                let (head, tail) = message.split_at(message.len() / 3);
                [&[], head, tail, &[]]
            });
            let found = digest(parts.each_ref().map(|parts| parts.as_slice()));
            for (found, message) in found.iter().zip(messages) {
                assert_eq!(found.as_slice(), Sha512::digest(message).as_slice(), "{} bytes", message.len());
            }
        }
    });
}

#[test]
fn digest_words_stay_in_their_lanes() {
    let tails: [[u8; 40]; LANES] = std::array::from_fn(|lane| [lane as u8; 40]);
    let parts = tails.each_ref().map(|tail| [tail.as_slice()]);
    let messages = parts.each_ref().map(|parts| parts.as_slice());
    let (words, digests) = (digest_words(PortableSimd, messages), digest(PortableSimd, messages));
    for (lane, digest) in digests.iter().enumerate() {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.words()[lane].to_be_bytes()).collect();
        assert_eq!(bytes, digest);
    }
}
