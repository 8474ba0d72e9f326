//! The cipher on blocks of several records side by side. An AES instruction takes about four cycles and up to two start
//! in each cycle, so eight must be in flight.

use super::joined::JoinedKeys;
use super::schedule::AesSchedule;
use crate::simd::{AesBlocks, BLOCK, BlockBytes, BlockSimd};

/// Encrypts the blocks of every place, each under a key of its own. FIPS 197 5.1. `load` makes
/// blocks of a round key.
#[inline(always)]
pub(super) fn encrypt<B: AesBlocks, const PLACES: usize, const ROUNDS: usize>(
    load: impl Fn(&BlockBytes) -> B,
    states: [B; PLACES],
    keys: &[&AesSchedule; PLACES],
) -> [B; PLACES] {
    rounds::<B, PLACES, ROUNDS>(
        #[inline(always)]
        |index, at| load(&keys[index].keys[at]),
        load(&[0; BLOCK]),
        states,
        B::encrypt_round,
        B::encrypt_last,
    )
}

/// Encrypts as [`encrypt`] does, with the blocks of four records in each place.
#[inline(always)]
pub(super) fn encrypt_joined<S: BlockSimd, const PLACES: usize, const ROUNDS: usize>(
    simd: S,
    states: [S::Four; PLACES],
    keys: &[JoinedKeys; PLACES],
) -> [S::Four; PLACES] {
    rounds::<_, PLACES, ROUNDS>(
        #[inline(always)]
        |index, at| keys[index].round(simd, at),
        simd.splat_block(&[0; BLOCK]),
        states,
        S::Four::encrypt_round,
        S::Four::encrypt_last,
    )
}

/// Decrypts as [`encrypt`] encrypts. FIPS 197 5.3.5.
#[inline(always)]
pub(super) fn decrypt<B: AesBlocks, const PLACES: usize, const ROUNDS: usize>(
    load: impl Fn(&BlockBytes) -> B,
    states: [B; PLACES],
    keys: &[&AesSchedule; PLACES],
) -> [B; PLACES] {
    rounds::<B, PLACES, ROUNDS>(
        #[inline(always)]
        |index, at| load(&keys[index].keys[at]),
        load(&[0; BLOCK]),
        states,
        B::decrypt_round,
        B::decrypt_last,
    )
}

/// Computes the rounds of every place. `key` returns the round key of a place.
#[expect(clippy::needless_range_loop, reason = "a place has a state and a key")]
#[inline(always)]
fn rounds<B: AesBlocks, const PLACES: usize, const ROUNDS: usize>(
    key: impl Fn(usize, usize) -> B,
    zero: B,
    mut states: [B; PLACES],
    round: impl Fn(B, B) -> B,
    last: impl Fn(B, B) -> B,
) -> [B; PLACES] {
    if B::ADDS_KEYS_FIRST {
        // With a key of zeros behind it, the addition of the next key is part of the instruction.
        for at in 0..ROUNDS - 1 {
            for index in 0..PLACES {
                states[index] = round(states[index] ^ key(index, at), zero);
            }
        }
        for index in 0..PLACES {
            let (before, after) = (key(index, ROUNDS - 1), key(index, ROUNDS));
            states[index] = last(states[index] ^ before, after);
        }
        return states;
    }
    // Each place has a key of its own, so round keys are loaded at the place of use and never kept in registers.
    for index in 0..PLACES {
        states[index] = states[index] ^ key(index, 0);
    }
    // `ROUNDS` and `PLACES` are constants, so the loops unroll and the states stay in registers.
    for at in 1..ROUNDS {
        for index in 0..PLACES {
            states[index] = round(states[index], key(index, at));
        }
    }
    for index in 0..PLACES {
        states[index] = last(states[index], key(index, ROUNDS));
    }
    states
}
