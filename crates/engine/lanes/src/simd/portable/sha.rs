//! The instructions for SHA-1 and SHA-256 in plain Rust, by their documentation (Intel SDM, volume 2).

use super::{PortableSimd, halves, joined};
use crate::simd::sha::{KeptWords, RoundConstants, ShaSimd};

/// Four words in an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableWords([u32; 4]);

impl ShaSimd for PortableSimd {
    type W = PortableWords;

    fn load_words(self, words: &[u64; 2]) -> PortableWords {
        let [[a, b], [c, d]] = words.map(halves);
        PortableWords([a, b, c, d])
    }

    fn words(self, vector: PortableWords) -> [u64; 2] {
        let [a, b, c, d] = vector.0;
        [joined([a, b]), joined([c, d])]
    }

    fn load_ascending(self, bytes: &[u8; 16]) -> PortableWords {
        let word = |lane: usize| std::array::from_fn(|byte| bytes[4 * lane + byte]);
        PortableWords(std::array::from_fn(|lane| u32::from_be_bytes(word(lane))))
    }

    fn load_descending(self, bytes: &[u8; 16]) -> PortableWords {
        let PortableWords([a, b, c, d]) = self.load_ascending(bytes);
        PortableWords([d, c, b, a])
    }

    fn add32(self, a: PortableWords, b: PortableWords) -> PortableWords {
        a.add32(b)
    }

    fn add_e(self, before: PortableWords, words: PortableWords) -> PortableWords {
        let ([a, b, c, d], e) = (words.0, before.0[3].rotate_left(30));
        PortableWords([a, b, c, d.wrapping_add(e)])
    }

    fn sha256_four_rounds<const G: usize>(
        self,
        state: &mut [PortableWords; 2],
        words: PortableWords,
        constants: &RoundConstants,
        kept: &mut KeptWords,
    ) -> PortableWords {
        let [abef, cdgh] = *state;
        let sum = words.add32(self.load_words(&constants.0[G]));
        let [a, b, c, d] = sum.0;
        let new = cdgh.sha256_two_rounds(abef, [a, b]);
        *state = [abef.sha256_two_rounds(new, [c, d]), new];
        let [fourth, third, last] = self.kept_before::<G>(kept);
        kept.0[G % 4] = self.words(words);
        if !(3..15).contains(&G) {
            return words;
        }
        let seventh = last.moved_down(words);
        fourth.sha256_extend_first(third).add32(seventh).sha256_extend_last(words)
    }

    fn sha1_four_rounds<const G: usize, const KIND: i32>(
        self,
        state: &mut [PortableWords; 2],
        words: PortableWords,
        kept: &mut KeptWords,
    ) -> PortableWords {
        let [abcd, before] = *state;
        let sum = if G == 0 { before.add32(words) } else { self.add_e(before, words) };
        *state = [abcd.sha1_four_rounds(KIND, sum), abcd];
        let [fourth, third, last] = self.kept_before::<G>(kept);
        kept.0[G % 4] = self.words(words);
        if !(3..19).contains(&G) {
            return words;
        }
        fourth.sha1_extend_first(third).xor(last).sha1_extend_last(words)
    }
}

impl PortableSimd {
    /// Returns the words of the fourth group of rounds before the next one, of the third and of the second.
    fn kept_before<const G: usize>(self, kept: &KeptWords) -> [PortableWords; 3] {
        [1, 2, 3].map(|later| self.load_words(&kept.0[(G + later) % 4]))
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

/// The instructions.
impl PortableWords {
    fn add32(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane].wrapping_add(other.0[lane])))
    }

    fn xor(self, other: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane] ^ other.0[lane]))
    }

    /// `PALIGNR` by a word: returns lanes 1 to 3, and lane 0 of `next` in lane 3.
    fn moved_down(self, next: Self) -> Self {
        let [_, b, c, d] = self.0;
        Self([b, c, d, next.0[0]])
    }

    /// `SHA256RNDS2`: runs two rounds on h, g, d, c in `self`. `words` include the round constants.
    fn sha256_two_rounds(self, abef: Self, words: [u32; 2]) -> Self {
        let ([mut h, mut g, mut d, mut c], [mut f, mut e, mut b, mut a]) = (self.0, abef.0);
        for word in words {
            let sum1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let sum0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t1 = h.wrapping_add(sum1).wrapping_add(choice(e, f, g)).wrapping_add(word);
            let t2 = sum0.wrapping_add(majority(a, b, c));
            (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
            (d, c, b, a) = (c, b, a, t1.wrapping_add(t2));
        }
        Self([f, e, b, a])
    }

    /// `SHA256MSG1`: adds sigma 0 of the following word to each word.
    fn sha256_extend_first(self, next: Self) -> Self {
        let sigma0 =
            self.moved_down(next).0.map(|word| word.rotate_right(7) ^ word.rotate_right(18) ^ (word >> 3));
        self.add32(Self(sigma0))
    }

    /// `SHA256MSG2`: adds sigma 1 of the word two before to each word.
    fn sha256_extend_last(self, last: Self) -> Self {
        let sigma1 = |word: u32| word.rotate_right(17) ^ word.rotate_right(19) ^ (word >> 10);
        let ([mut a, mut b, mut c, mut d], [_, _, y, z]) = (self.0, last.0);
        a = a.wrapping_add(sigma1(y));
        b = b.wrapping_add(sigma1(z));
        c = c.wrapping_add(sigma1(a));
        d = d.wrapping_add(sigma1(b));
        Self([a, b, c, d])
    }

    /// `SHA1RNDS4`: runs four rounds of a kind. The first word includes e.
    fn sha1_four_rounds(self, kind: i32, words: Self) -> Self {
        let ([mut d, mut c, mut b, mut a], mut e) = (self.0, 0_u32);
        for word in words.0.iter().rev() {
            let mixed = match kind {
                0 => choice(b, c, d),
                2 => majority(b, c, d),
                _ => b ^ c ^ d,
            };
            let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e);
            let next = sum.wrapping_add(*word).wrapping_add(SHA1_ROUND[kind as usize]);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        Self([d, c, b, a])
    }

    /// `SHA1MSG1`: computes the XOR of each word and the second word after it.
    fn sha1_extend_first(self, next: Self) -> Self {
        let ([w3, w2, w1, w0], [_, _, w5, w4]) = (self.0, next.0);
        Self([w3 ^ w5, w2 ^ w4, w1 ^ w3, w0 ^ w2])
    }

    /// `SHA1MSG2`: computes the XOR with the word three before, and rotates.
    fn sha1_extend_last(self, last: Self) -> Self {
        let ([x3, x2, x1, x0], [w15, w14, w13, _]) = (self.0, last.0);
        let w16 = (x0 ^ w13).rotate_left(1);
        let w17 = (x1 ^ w14).rotate_left(1);
        let w18 = (x2 ^ w15).rotate_left(1);
        let w19 = (x3 ^ w16).rotate_left(1);
        Self([w19, w18, w17, w16])
    }
}
