//! AWS-LC's permutation of Keccak.

use super::keccak1600_absorb;

/// Absorbs whole blocks of `rate` bytes, and permutes the state after each. A rest of less than a block is ignored.
/// FIPS 202 algorithm 8, step 6.
pub(crate) fn absorb(state: &mut [u64; 25], blocks: &[u8], rate: usize) {
    // AWS-LC checks the rate with an assertion alone, which a release build does not have.
    assert!(rate > 0 && rate < 200 && rate.is_multiple_of(8), "a rate of whole words");
    // SAFETY: the state has 25 words, the blocks are readable for their length, and the rate is one of whole words.
    unsafe { keccak1600_absorb(state.as_mut_ptr(), blocks.as_ptr(), blocks.len(), rate) };
}
