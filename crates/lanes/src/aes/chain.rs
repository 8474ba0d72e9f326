//! CBC encryption and CBC-MACs, in which each block depends on the one before it. NIST SP 800-38A 6.2.
//!
//! One record cannot keep the AES unit busy. So eight records are in flight, and each slot takes the next record as
//! soon as its own is finished.

use zeroize::Zeroizing;

use super::rounds::{PLACES, encrypt};
use super::schedule::{AesSchedule, NONE};
use crate::simd::{BLOCK, BlockSimd};

/// A record to chain.
pub(super) struct ChainedRecord<'a> {
    pub(super) schedule: &'a AesSchedule,
    /// The IV of the record.
    pub(super) start: &'a [u8; BLOCK],
    pub(super) blocks: &'a [[u8; BLOCK]],
    /// True if one more block follows that is not stored in the message, as the last block of a CMAC.
    pub(super) has_last: bool,
    /// The offset of the output.
    pub(super) output: usize,
    /// The length of a MAC in bytes.
    pub(super) tag_len: usize,
}

const IDLE: ChainedRecord<'static> = ChainedRecord {
    schedule: &NONE,
    start: &[0; BLOCK],
    blocks: &[],
    has_last: false,
    output: 0,
    tag_len: 0,
};

impl ChainedRecord<'_> {
    #[inline(always)]
    fn steps(&self) -> usize {
        self.blocks.len() + usize::from(self.has_last)
    }

    /// Returns the block of a step, or None past the end. `last` is the extra block of the record.
    #[inline(always)]
    fn block<'b, const MAC: bool>(&'b self, step: usize, last: &'b [u8; BLOCK]) -> Option<&'b [u8; BLOCK]> {
        let is_last = MAC && self.has_last && step == self.blocks.len();
        if is_last { Some(last) } else { self.blocks.get(step) }
    }

    #[inline(always)]
    fn advance<const MAC: bool>(&mut self, steps: usize) {
        let blocks = steps.min(self.blocks.len());
        self.has_last &= steps == blocks;
        self.blocks = &self.blocks[blocks..];
        self.output += if MAC { 0 } else { BLOCK * blocks };
    }
}

/// Chains every record of `next`. Writes each block to `output`, or with `MAC` only the leading bytes of the last
/// block. `next` stores the extra block of a record in its argument.
#[inline(always)]
pub(super) fn run<'a, S: BlockSimd, const ROUNDS: usize, const MAC: bool>(
    simd: S,
    mut next: impl FnMut(&mut [u8; BLOCK]) -> Option<ChainedRecord<'a>>,
    output: &mut [u8],
) {
    let mut states = [simd.zero(); PLACES];
    let mut chains = [const { IDLE }; PLACES];
    // The last block of a CMAC is message bytes XORed with a subkey, so it is secret.
    let mut lasts = Zeroizing::new([[0; BLOCK]; PLACES]);
    loop {
        let mut steps = usize::MAX;
        for place in 0..PLACES {
            let chain = &mut chains[place];
            // Not an `if`: the next record can be empty too.
            while chain.steps() == 0 {
                if MAC && chain.tag_len > 0 {
                    let block = simd.first_block(states[place]);
                    output[chain.output..][..chain.tag_len].copy_from_slice(&block[..chain.tag_len]);
                }
                let Some(new) = next(&mut lasts[place]) else {
                    *chain = IDLE;
                    break;
                };
                *chain = new;
                states[place] = simd.splat_block(chain.start);
            }
            // An idle slot has no steps; wrapping makes it the maximum, so it never limits the others.
            steps = steps.min(chain.steps().wrapping_sub(1));
        }
        // Idle slots report the maximum, so this value means that all slots are idle.
        if steps == usize::MAX {
            break;
        }
        let keys = std::array::from_fn(
            #[inline(always)]
            |place| chains[place].schedule,
        );
        // As many steps as the shortest record has left, so that no slot needs a test for its end inside the loop.
        for step in 0..=steps {
            for place in 0..PLACES {
                if let Some(block) = chains[place].block::<MAC>(step, &lasts[place]) {
                    states[place] = states[place] ^ simd.splat_block(block);
                }
            }
            states = encrypt::<S, ROUNDS>(simd, states, &keys);
            for place in 0..PLACES {
                if !MAC && step < chains[place].blocks.len() {
                    let at = chains[place].output + BLOCK * step;
                    output[at..at + BLOCK].copy_from_slice(&simd.first_block(states[place]));
                }
            }
        }
        chains.iter_mut().for_each(
            #[inline(always)]
            |chain| chain.advance::<MAC>(steps + 1),
        );
    }
}
