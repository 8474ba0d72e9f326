//! Rounds of SHA-1 and SHA-256 by instructions of their own, on four words of 32 bits.

use std::fmt::Debug;

use zeroize::Zeroize;

use super::Cpu;

/// A CPU with instructions for the rounds of SHA-1 and SHA-256. Every operation takes the same time for all values.
///
/// The working variables of a hash function fill two vectors. SHA-256 has f, e, b, a in one and h, g, d, c in the
/// other, from lane 0 on. SHA-1 has d, c, b, a in one. In lane 3 of the other it has a as it was four rounds before,
/// from which e follows; before the first rounds it has e itself.
pub(crate) trait ShaSimd: Cpu {
    /// Four words of 32 bits.
    type W: Copy + Debug;

    /// Loads four words, two from each number, the lower half first.
    fn load_words(self, words: &[u64; 2]) -> Self::W;

    /// Returns the words from lane 0 on, as [`ShaSimd::load_words`] takes them.
    fn words(self, vector: Self::W) -> [u64; 2];

    /// Loads four big-endian words, the first into lane 0.
    fn load_ascending(self, bytes: &[u8; 16]) -> Self::W;

    /// Loads four big-endian words, the first into lane 3.
    fn load_descending(self, bytes: &[u8; 16]) -> Self::W;

    /// Computes `a + b` in each lane.
    fn add32(self, a: Self::W, b: Self::W) -> Self::W;

    /// Adds to lane 3 of `words` the e of SHA-1 that follows from a four rounds before, in lane 3 of `before`.
    fn add_e(self, before: Self::W, words: Self::W) -> Self::W;

    /// Runs rounds `4 G` to `4 G + 3` of SHA-256. `words` are the words of the message schedule for them, the first in
    /// lane 0. From `G = 3` on, returns the words for the next rounds, and before that `words`. FIPS 180-4 6.2.2.
    fn sha256_four_rounds<const G: usize>(
        self,
        state: &mut [Self::W; 2],
        words: Self::W,
        constants: &RoundConstants,
        kept: &mut KeptWords,
    ) -> Self::W;

    /// Runs rounds `4 G` to `4 G + 3` of SHA-1, which are of kind `G / 5`. `words` are the words of the message
    /// schedule for them, the first in lane 3. From `G = 3` on, returns the words for the next rounds, and before that
    /// `words`. FIPS 180-4 6.1.2.
    fn sha1_four_rounds<const G: usize, const KIND: i32>(
        self,
        state: &mut [Self::W; 2],
        words: Self::W,
        kept: &mut KeptWords,
    ) -> Self::W;
}

/// The last sixteen words of a message schedule. Those for rounds `4 G` to `4 G + 3` are in place `G % 4`.
///
/// They are in memory: the variables and next words of four messages and the temporary values fill the registers.
#[derive(Clone, Copy, Default, Zeroize)]
#[repr(align(16))]
pub(crate) struct KeptWords(pub(super) [[u64; 2]; 4]);

/// The round constants of SHA-256, four in each vector.
#[derive(Debug)]
#[repr(align(16))]
pub(crate) struct RoundConstants(pub(super) [[u64; 2]; 16]);

impl RoundConstants {
    /// Arranges the constants.
    pub(crate) const fn new(words: &[u32; 64]) -> Self {
        let mut vectors = [[0; 2]; 16];
        let mut at = 0;
        while at < words.len() {
            vectors[at / 4][at % 4 / 2] |= (words[at] as u64) << (32 * (at % 2));
            at += 1;
        }
        Self(vectors)
    }
}
