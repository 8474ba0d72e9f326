//! Rounds of SHA-1 and SHA-256 by instructions of their own, on four words of 32 bits.

use std::fmt::Debug;

use super::Cpu;

/// A CPU with instructions for the rounds of SHA-1 and SHA-256.
pub(crate) trait ShaSimd: Cpu {
    /// Four words of 32 bits.
    type W: ShaVector;

    /// Loads four words.
    fn load_words(self, words: &[u32; 4]) -> Self::W;

    /// Loads four big-endian words, the first into lane 0.
    fn load_ascending(self, bytes: &[u8; 16]) -> Self::W;

    /// Loads four big-endian words, the first into lane 3.
    fn load_descending(self, bytes: &[u8; 16]) -> Self::W;
}

/// Four words of 32 bits. Every operation takes the same time for all values.
///
/// The working variables of a hash function fill two vectors. SHA-256 has f, e, b, a in one and h, g, d, c in the
/// other, from lane 0 on. SHA-1 has d, c, b, a in one and e in lane 3 of the other.
pub(crate) trait ShaVector: Copy + Debug {
    /// Returns the words from lane 0 on.
    fn words(self) -> [u32; 4];

    /// Computes `self + other` in each lane.
    fn add32(self, other: Self) -> Self;

    /// Computes `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// Returns lanes 2 and 3 in lanes 0 and 1. The other lanes are unspecified.
    fn upper_half(self) -> Self;

    /// Returns lanes 1 to 3, and lane 0 of `next` in lane 3.
    fn moved_down(self, next: Self) -> Self;

    /// Runs two rounds of SHA-256 on the variables `self` (h, g, d, c) and `abef`. Lanes 0 and 1 of `words` have the
    /// words of the message plus the constants of the rounds. Returns the new f, e, b, a; the new h, g, d, c are
    /// `abef`. FIPS 180-4 6.2.2.
    fn sha256_two_rounds(self, abef: Self, words: Self) -> Self;

    /// Computes the first part of the message schedule of SHA-256: adds sigma 0 of the following word to each. `next`
    /// has the words after `self`.
    fn sha256_extend_first(self, next: Self) -> Self;

    /// Computes the last part of the message schedule of SHA-256 for four words. `self` is the sum of all other terms,
    /// and `last` has the four words before.
    fn sha256_extend_last(self, last: Self) -> Self;

    /// Runs four rounds of SHA-1 on the variables `self` (d, c, b, a). `words` are words of the message, the first in
    /// lane 3, with e added to the first. `KIND` is the number of the round divided by 20. Returns the new d, c, b, a.
    /// FIPS 180-4 6.1.2.
    fn sha1_four_rounds<const KIND: i32>(self, words: Self) -> Self;

    /// Adds e of SHA-1 to lane 3 of `words`. `self` are the variables d, c, b, a before the last four rounds.
    fn sha1_add_e(self, words: Self) -> Self;

    /// Computes the first part of the message schedule of SHA-1: the XOR of each word and the second word after it.
    /// `next` has the words after `self`.
    fn sha1_extend_first(self, next: Self) -> Self;

    /// Computes the last part of the message schedule of SHA-1 for four words. `self` is the XOR of all other terms,
    /// and `last` has the four words before.
    fn sha1_extend_last(self, last: Self) -> Self;
}
