//! The instructions for SHA-1 and SHA-256 in plain Rust, by their documentation (Intel SDM, volume 2).

use super::PortableSimd;
use crate::simd::sha::{ShaSimd, ShaVector};

/// Four words in an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableWords([u32; 4]);

impl ShaSimd for PortableSimd {
    type W = PortableWords;

    fn load_words(self, words: &[u32; 4]) -> PortableWords {
        PortableWords(*words)
    }

    fn load_ascending(self, bytes: &[u8; 16]) -> PortableWords {
        let word = |lane: usize| std::array::from_fn(|byte| bytes[4 * lane + byte]);
        PortableWords(std::array::from_fn(|lane| u32::from_be_bytes(word(lane))))
    }

    fn load_descending(self, bytes: &[u8; 16]) -> PortableWords {
        let PortableWords([a, b, c, d]) = self.load_ascending(bytes);
        PortableWords([d, c, b, a])
    }
}

/// Returns the bits of e if x is set there, and those of f otherwise. FIPS 180-4 4.1.
fn choice(x: u32, e: u32, f: u32) -> u32 {
    (x & e) ^ (!x & f)
}

/// Returns the majority of three, bit by bit. FIPS 180-4 4.1.
fn majority(x: u32, y: u32, z: u32) -> u32 {
    (x & y) ^ (x & z) ^ (y & z)
}

/// The round constants of SHA-1. FIPS 180-4 4.2.1.
const SHA1_ROUND: [u32; 4] = [0x5A82_7999, 0x6ED9_EBA1, 0x8F1B_BCDC, 0xCA62_C1D6];

impl ShaVector for PortableWords {
    fn words(self) -> [u32; 4] {
        self.0
    }

    fn add32(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane].wrapping_add(other.0[lane])))
    }

    fn xor(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] ^ other.0[lane]))
    }

    fn upper_half(self) -> Self {
        let [_, _, c, d] = self.0;
        Self([c, d, 0, 0])
    }

    fn moved_down(self, next: Self) -> Self {
        let [_, b, c, d] = self.0;
        Self([b, c, d, next.0[0]])
    }

    fn sha256_two_rounds(self, abef: Self, words: Self) -> Self {
        let ([mut h, mut g, mut d, mut c], [mut f, mut e, mut b, mut a]) = (self.0, abef.0);
        for word in &words.0[..2] {
            let sum1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let sum0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t1 = h.wrapping_add(sum1).wrapping_add(choice(e, f, g)).wrapping_add(*word);
            let t2 = sum0.wrapping_add(majority(a, b, c));
            (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
            (d, c, b, a) = (c, b, a, t1.wrapping_add(t2));
        }
        Self([f, e, b, a])
    }

    fn sha256_extend_first(self, next: Self) -> Self {
        let sigma0 =
            self.moved_down(next).0.map(|word| word.rotate_right(7) ^ word.rotate_right(18) ^ (word >> 3));
        self.add32(Self(sigma0))
    }

    fn sha256_extend_last(self, last: Self) -> Self {
        let sigma1 = |word: u32| word.rotate_right(17) ^ word.rotate_right(19) ^ (word >> 10);
        let ([mut a, mut b, mut c, mut d], [_, _, y, z]) = (self.0, last.0);
        a = a.wrapping_add(sigma1(y));
        b = b.wrapping_add(sigma1(z));
        c = c.wrapping_add(sigma1(a));
        d = d.wrapping_add(sigma1(b));
        Self([a, b, c, d])
    }

    fn sha1_four_rounds<const KIND: i32>(self, words: Self) -> Self {
        // The first word includes e already.
        let ([mut d, mut c, mut b, mut a], mut e) = (self.0, 0_u32);
        for word in words.0.iter().rev() {
            let mixed = match KIND {
                0 => choice(b, c, d),
                2 => majority(b, c, d),
                _ => b ^ c ^ d,
            };
            let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e);
            let next = sum.wrapping_add(*word).wrapping_add(SHA1_ROUND[KIND as usize]);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        Self([d, c, b, a])
    }

    fn sha1_add_e(self, words: Self) -> Self {
        let [a, b, c, d] = words.0;
        Self([a, b, c, d.wrapping_add(self.0[3].rotate_left(30))])
    }

    fn sha1_extend_first(self, next: Self) -> Self {
        let ([w3, w2, w1, w0], [_, _, w5, w4]) = (self.0, next.0);
        Self([w3 ^ w5, w2 ^ w4, w1 ^ w3, w0 ^ w2])
    }

    fn sha1_extend_last(self, last: Self) -> Self {
        let ([x3, x2, x1, x0], [w15, w14, w13, _]) = (self.0, last.0);
        let w16 = (x0 ^ w13).rotate_left(1);
        let w17 = (x1 ^ w14).rotate_left(1);
        let w18 = (x2 ^ w15).rotate_left(1);
        let w19 = (x3 ^ w16).rotate_left(1);
        Self([w19, w18, w17, w16])
    }
}
