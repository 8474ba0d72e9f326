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
    for index in 0..PLACES {
        states[index] = group[index].start::<S, MAC>(simd);
        keys[index] = group[index].schedule;
        blocks[index] = group[index].message.as_chunks().0;
    }
    for step in 0..whole {
        for index in 0..PLACES {
            if let Some(block) = blocks[index].get(step) {
                states[index] = states[index] ^ simd.load_block(block);
            }
        }
        states = encrypt_again::<S, ROUNDS>(simd, states, &mut keys);
        for index in 0..PLACES {
            if !MAC {
                group[index].write(simd, step, states[index], output);
            }
        }
    }
    if MAC {
        for index in 0..PLACES {
            states[index] = states[index] ^ group[index].last(simd, whole);
        }
        states = encrypt_again::<S, ROUNDS>(simd, states, &mut keys);
        for index in 0..PLACES {
            group[index].write_tag(simd, states[index], output);
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
        for index in 0..PLACES {
            // Not an `if`: the next record can be empty too.
            while left[index] == 0 {
                if MAC && done[index] > 0 {
                    chains[index].write_tag(simd, states[index], output);
                }
                (chains[index], done[index]) = (IDLE, 0);
                let Some(new) = next.next() else { break };
                (chains[index], left[index]) = (*new, new.steps::<MAC>());
                states[index] = new.start::<S, MAC>(simd);
            }
            // An idle slot has no steps; wrapping makes it the maximum, so it never limits the others.
            steps = steps.min(left[index].wrapping_sub(1));
        }
        // Idle slots report the maximum, so this value means that all slots are idle.
        if steps == usize::MAX {
            break;
        }
        let mut keys = [&NONE; PLACES];
        for index in 0..PLACES {
            keys[index] = chains[index].schedule;
        }
        // As many steps as the shortest record has left, so that no slot needs a test for its end inside the loop.
        for _ in 0..=steps {
            for index in 0..PLACES {
                if left[index] > 0 {
                    states[index] = states[index] ^ chains[index].load::<S, MAC>(simd, done[index]);
                }
            }
            states = encrypt_again::<S, ROUNDS>(simd, states, &mut keys);
            for index in 0..PLACES {
                if left[index] > 0 {
                    if !MAC {
                        chains[index].write(simd, done[index], states[index], output);
                    }
                    (done[index], left[index]) = (done[index] + 1, left[index] - 1);
                }
            }
        }
    }
}
