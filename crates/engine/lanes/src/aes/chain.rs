//! CBC encryption and CBC-MACs, in which each block depends on the one before it. NIST SP 800-38A 6.2.
//!
//! One record cannot keep the AES unit busy. So eight records are in flight. Records of unequal lengths share a slot:
//! each slot takes the next record as soon as its own is finished.

use super::chained::{ChainedRecord, IDLE};
use super::rounds::encrypt;
use super::schedule::{AesSchedule, NONE};
use super::{chunk, wide};
use crate::simd::{BlockBytes, BlockSimd, SingleSimd};

/// The records in flight.
pub(super) const PLACES: usize = 8;

/// Chains every record of `next`. Writes each block to `output`, or with `MAC` only the leading bytes of the last
/// block.
#[inline(always)]
pub(super) fn run<'a, S: BlockSimd, const ROUNDS: usize, const MAC: bool>(
    simd: S,
    next: impl FnMut() -> Option<ChainedRecord<'a>>,
    output: &mut [u8],
) {
    let single = simd.single();
    chunk::each(
        IDLE,
        next,
        #[inline(always)]
        |records: &[ChainedRecord<'a>]| {
            let steps = records.first().map_or(0, ChainedRecord::steps::<MAC>);
            let mut rest = records;
            if records.iter().all(|record| record.steps::<MAC>() == steps) {
                if S::JOINS_KEYS && steps >= wide::MIN_STEPS {
                    let (groups, others) = rest.as_chunks();
                    for group in groups {
                        wide::chain::<S, ROUNDS, MAC>(simd, group, steps, output);
                    }
                    rest = others;
                }
                let (groups, others) = rest.as_chunks();
                for group in groups {
                    chain_equal::<S::Single, ROUNDS, MAC>(single, group, steps, output);
                }
                rest = others;
            }
            chain_unequal::<S::Single, ROUNDS, MAC>(single, rest, output);
        },
    );
}

/// Chains eight records of the same number of blocks.
#[inline(always)]
fn chain_equal<S: SingleSimd, const ROUNDS: usize, const MAC: bool>(
    simd: S,
    group: &[ChainedRecord<'_>; PLACES],
    steps: usize,
    output: &mut [u8],
) {
    // The last block of a MAC is different.
    let whole = if MAC { steps.saturating_sub(1) } else { steps };
    let mut states = [simd.block_of_words([0; 2]); PLACES];
    let mut keys = [&NONE; PLACES];
    let mut blocks: [&[BlockBytes]; PLACES] = [&[]; PLACES];
    for place in 0..PLACES {
        states[place] = group[place].start::<S, MAC>(simd);
        keys[place] = group[place].schedule;
        blocks[place] = group[place].message.as_chunks().0;
    }
    for step in 0..whole {
        for place in 0..PLACES {
            if let Some(block) = blocks[place].get(step) {
                states[place] = states[place] ^ simd.load_block(block);
            }
        }
        states = encrypt_again::<S, ROUNDS>(simd, states, &mut keys);
        for place in 0..PLACES {
            if !MAC {
                group[place].write(simd, step, states[place], output);
            }
        }
    }
    if MAC {
        for place in 0..PLACES {
            states[place] = states[place] ^ group[place].last(simd, whole);
        }
        states = encrypt_again::<S, ROUNDS>(simd, states, &mut keys);
        for place in 0..PLACES {
            group[place].write_tag(simd, states[place], output);
        }
    }
}

/// Encrypts a block of each record. It hides that the keys are those of the step before: the compiler would load all
/// round keys before the loop over the steps, and keep them on the stack.
#[inline(always)]
fn encrypt_again<S: SingleSimd, const ROUNDS: usize>(
    simd: S,
    states: [S::Block; PLACES],
    keys: &mut [&AesSchedule; PLACES],
) -> [S::Block; PLACES] {
    for key in &mut *keys {
        *key = simd.opaque(key);
    }
    encrypt::<_, PLACES, ROUNDS>(
        #[inline(always)]
        |key| simd.load_block(key),
        states,
        keys,
    )
}

/// Chains records of any lengths.
#[inline(always)]
fn chain_unequal<S: SingleSimd, const ROUNDS: usize, const MAC: bool>(
    simd: S,
    records: &[ChainedRecord<'_>],
    output: &mut [u8],
) {
    let mut next = records.iter();
    let mut states = [simd.block_of_words([0; 2]); PLACES];
    let mut chains = [IDLE; PLACES];
    // The steps that are done, and those that are left.
    let mut done = [0; PLACES];
    let mut left = [0; PLACES];
    loop {
        let mut steps = usize::MAX;
        for place in 0..PLACES {
            // Not an `if`: the next record can be empty too.
            while left[place] == 0 {
                if MAC && done[place] > 0 {
                    chains[place].write_tag(simd, states[place], output);
                }
                (chains[place], done[place]) = (IDLE, 0);
                let Some(new) = next.next() else { break };
                (chains[place], left[place]) = (*new, new.steps::<MAC>());
                states[place] = new.start::<S, MAC>(simd);
            }
            // An idle slot has no steps; wrapping makes it the maximum, so it never limits the others.
            steps = steps.min(left[place].wrapping_sub(1));
        }
        // Idle slots report the maximum, so this value means that all slots are idle.
        if steps == usize::MAX {
            break;
        }
        let mut keys = [&NONE; PLACES];
        for place in 0..PLACES {
            keys[place] = chains[place].schedule;
        }
        // As many steps as the shortest record has left, so that no slot needs a test for its end inside the loop.
        for _ in 0..=steps {
            for place in 0..PLACES {
                if left[place] > 0 {
                    states[place] = states[place] ^ chains[place].load::<S, MAC>(simd, done[place]);
                }
            }
            states = encrypt_again::<S, ROUNDS>(simd, states, &mut keys);
            for place in 0..PLACES {
                if left[place] > 0 {
                    if !MAC {
                        chains[place].write(simd, done[place], states[place], output);
                    }
                    (done[place], left[place]) = (done[place] + 1, left[place] - 1);
                }
            }
        }
    }
}
