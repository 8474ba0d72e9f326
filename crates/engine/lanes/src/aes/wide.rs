//! Long chains of equal length, four in a register: CBC encryption and CBC-MACs.
//!
//! A round of one block loads a round key, because each record has a key of its own, so loads limit [`super::chain`].
//! Here the round keys of four records lie side by side and one load serves four blocks. The keys are copied for that,
//! which pays from some blocks on.

use super::chained::ChainedRecord;
use super::joined::JoinedKeys;
use super::rounds::encrypt_joined;
use crate::simd::{BlockBytes, BlockSimd, OneBlock, SingleSimd};

/// The registers of four records each. The rounds of fewer would wait for each other.
const GROUPS: usize = 4;

/// The records in flight.
pub(super) const RECORDS: usize = 4 * GROUPS;

/// The number of blocks from which copying the keys pays.
pub(super) const MIN_STEPS: usize = 8;

/// Chains records of `steps` blocks. Writes each block to `output`, or with `MAC` only the leading bytes of the last.
#[inline(always)]
pub(super) fn chain<S: BlockSimd, const ROUNDS: usize, const MAC: bool>(
    simd: S,
    records: &[ChainedRecord<'_>; RECORDS],
    steps: usize,
    output: &mut [u8],
) {
    // The last block of a MAC is different.
    let whole = if MAC { steps.saturating_sub(1) } else { steps };
    let mut messages: [&[BlockBytes]; RECORDS] = [&[]; RECORDS];
    for (blocks, record) in messages.iter_mut().zip(records) {
        // unreachable because every message has `steps` blocks; the compiler learns the lengths here
        let Some(whole_blocks) = record.message.as_chunks().0.get(..whole) else { return };
        *blocks = whole_blocks;
    }
    let groups: &[[ChainedRecord<'_>; 4]] = records.as_chunks().0;
    let mut keys: [JoinedKeys; GROUPS] = std::array::from_fn(
        #[inline(always)]
        |group| JoinedKeys::new(groups[group].each_ref().map(|record| record.schedule), ROUNDS),
    );
    let mut states: [S::Four; GROUPS] = std::array::from_fn(
        #[inline(always)]
        |group| joined(simd, &groups[group], |record| record.start::<S::Single, MAC>(simd.single())),
    );
    #[expect(clippy::needless_range_loop, reason = "a step takes a block of every message")]
    for step in 0..whole {
        for (group, state) in states.iter_mut().enumerate() {
            let blocks = std::array::from_fn(
                #[inline(always)]
                |at| simd.single().load_block(&messages[4 * group + at][step]),
            );
            *state = *state ^ simd.join(blocks);
        }
        states = encrypt_joined::<S, GROUPS, ROUNDS>(simd, states, &keys);
        if !MAC {
            for (group, state) in groups.iter().zip(states) {
                for (record, block) in group.iter().zip(simd.split(state)) {
                    record.write(simd.single(), step, block, output);
                }
            }
        }
    }
    if MAC {
        for (group, state) in groups.iter().zip(&mut states) {
            *state = *state ^ joined(simd, group, |record| record.last(simd.single(), whole));
        }
        states = encrypt_joined::<S, GROUPS, ROUNDS>(simd, states, &keys);
        for (group, state) in groups.iter().zip(states) {
            for (record, block) in group.iter().zip(simd.split(state)) {
                record.write_tag(simd.single(), block, output);
            }
        }
    }
    for keys in &mut keys {
        keys.erase();
    }
}

/// Joins a block of each record.
#[inline(always)]
fn joined<'a, S: BlockSimd>(
    simd: S,
    records: &[ChainedRecord<'a>; 4],
    block: impl Fn(&ChainedRecord<'a>) -> OneBlock<S>,
) -> S::Four {
    simd.join(std::array::from_fn(
        #[inline(always)]
        |at| block(&records[at]),
    ))
}
