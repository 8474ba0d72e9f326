//! Messages that are no records of their own, side by side: chaining values in bytes before and after.

use std::array;

use zeroize::Zeroize;

use super::group::{MessageEnding, MessageGroup, absorb};
use super::{ChainBytes, LaneChains, LaneLayout, MerkleDamgard, WORDS, load_chains};
use crate::simd::{Simd, Vector};

/// Moves each chaining value over its message and the end of it.
pub(crate) fn advance<S: Simd, H: MerkleDamgard>(
    simd: S,
    states: &mut [ChainBytes],
    messages: &[&[u8]],
    ending: MessageEnding,
) {
    // A condition of constants, so the kernels are not even compiled.
    if !S::V::OFFERS_HASHES {
        return;
    }
    let lanes = LaneLayout::<S::V, H>::LANES;
    let together = LaneLayout::<S::V, H>::GROUPS * lanes;
    for (states, messages) in states.chunks_mut(together).zip(messages.chunks(together)) {
        if messages.len() > lanes {
            advance_groups::<S, H, 2>(simd, states, messages, ending);
        } else {
            advance_groups::<S, H, 1>(simd, states, messages, ending);
        }
    }
}

fn advance_groups<S: Simd, H: MerkleDamgard, const N: usize>(
    simd: S,
    states: &mut [ChainBytes],
    messages: &[&[u8]],
    ending: MessageEnding,
) {
    let lanes = LaneLayout::<S::V, H>::LANES;
    let mut groups: [MessageGroup<'_>; N] = array::from_fn(|_| MessageGroup::new(ending));
    let none: [MessageGroup<'_>; N] = array::from_fn(|_| MessageGroup::new(ending));
    let mut chains = [[simd.zero(); WORDS / 2]; N];
    let each = || states.chunks(lanes).zip(messages.chunks(lanes));
    for ((group, chain), (states, messages)) in groups.iter_mut().zip(&mut chains).zip(each()) {
        group.fill::<S::V, H>(messages.iter().copied());
        simd.call(
            #[inline(always)]
            || {
                // Lanes without a message repeat the last one.
                let words = load_chains::<S, H>(simd, |lane| &states[lane.min(states.len() - 1)]);
                chain.copy_from_slice(&words[..WORDS / 2]);
            },
        );
    }
    absorb::<S, H, N>(simd, &mut chains, &groups, &none);
    for (chain, states) in chains.iter().zip(states.chunks_mut(lanes)) {
        simd.call(
            #[inline(always)]
            || {
                let rows = LaneChains::<S::V, H>::new(simd, chain);
                for (lane, state) in states.iter_mut().enumerate() {
                    rows.store(lane, state);
                }
            },
        );
    }
    chains.zeroize();
}
