//! Chains in which each block waits for the one before it: CBC encryption and CBC-MACs. NIST SP 800-38A 6.2.
//!
//! One record cannot fill the unit, so every place works on a record of its own and takes the next one as soon as it is done.

use zeroize::{Zeroize, Zeroizing};

use super::rounds::{PLACES, encrypt};
use super::schedule::{NONE, Schedule};
use crate::simd::{BLOCK, Blocks};

/// A record to chain.
pub(super) struct Chain<'a> {
    pub(super) schedule: &'a Schedule,
    /// The IV.
    pub(super) start: &'a [u8; BLOCK],
    pub(super) blocks: &'a [[u8; BLOCK]],
    /// The last block of a MAC, which is not as it lies in the message.
    pub(super) last: Option<[u8; BLOCK]>,
    /// Where the output begins.
    pub(super) output: usize,
    /// Bytes of a MAC.
    pub(super) tag_len: usize,
}

const IDLE: Chain<'static> =
    Chain { schedule: &NONE, start: &[0; BLOCK], blocks: &[], last: None, output: 0, tag_len: 0 };

/// Chains every record that `next` gives: each block into `output`, or with `MAC` the leading bytes of the last one.
#[inline(always)]
pub(super) fn run<'a, S: Blocks, const ROUNDS: usize, const MAC: bool>(
    simd: S,
    mut next: impl FnMut() -> Option<Chain<'a>>,
    output: &mut [u8],
) {
    let mut states = [simd.zero(); PLACES];
    let mut chains = [const { IDLE }; PLACES];
    let mut lasts = Zeroizing::new([[0; BLOCK]; PLACES]);
    loop {
        let mut steps = usize::MAX;
        for place in 0..PLACES {
            let chain = &mut chains[place];
            while chain.blocks.is_empty() && chain.last.is_none() {
                if MAC && chain.tag_len > 0 {
                    let block = simd.first_block(states[place]);
                    output[chain.output..][..chain.tag_len].copy_from_slice(&block[..chain.tag_len]);
                }
                let Some(new) = next() else {
                    *chain = IDLE;
                    break;
                };
                *chain = new;
                states[place] = simd.splat_block(chain.start);
            }
            if !chain.blocks.is_empty() {
                steps = steps.min(chain.blocks.len());
            } else if let Some(last) = &chain.last {
                lasts[place] = *last;
                steps = 1;
            }
        }
        if steps == usize::MAX {
            break;
        }
        let sources: [&[[u8; BLOCK]]; PLACES] = std::array::from_fn(
            #[inline(always)]
            |place| match &chains[place] {
                Chain { blocks: [], last: Some(_), .. } => std::slice::from_ref(&lasts[place]),
                chain => chain.blocks,
            },
        );
        let keys = std::array::from_fn(
            #[inline(always)]
            |place| chains[place].schedule,
        );
        for step in 0..steps {
            for place in 0..PLACES {
                if let Some(block) = sources[place].get(step) {
                    states[place] = states[place] ^ simd.splat_block(block);
                }
            }
            states = encrypt::<S, ROUNDS>(simd, states, &keys);
            for place in 0..PLACES {
                if !MAC && step < sources[place].len() {
                    let at = chains[place].output + BLOCK * step;
                    output[at..at + BLOCK].copy_from_slice(&simd.first_block(states[place]));
                }
            }
        }
        for chain in &mut chains {
            if chain.blocks.is_empty() {
                chain.last.zeroize();
                chain.last = None;
            } else {
                chain.blocks = &chain.blocks[steps..];
                chain.output += if MAC { 0 } else { BLOCK * steps };
            }
        }
    }
}
