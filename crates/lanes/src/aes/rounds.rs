//! The cipher on blocks of several records side by side. An AES instruction takes about four cycles and two start in
//! each cycle, so eight must be in flight.

use super::schedule::AesSchedule;
use crate::simd::BlockSimd;

/// The vectors side by side, each under a key of its own.
pub(super) const PLACES: usize = 8;

/// Encrypts the four blocks of every vector. FIPS 197 5.1.
#[inline(always)]
pub(super) fn encrypt<S: BlockSimd, const ROUNDS: usize>(
    simd: S,
    states: [S::V; PLACES],
    keys: &[&AesSchedule; PLACES],
) -> [S::V; PLACES] {
    rounds::<S, ROUNDS>(simd, states, keys, S::encrypt_round, S::encrypt_last)
}

/// Decrypts the four blocks of every vector. FIPS 197 5.3.5.
#[inline(always)]
pub(super) fn decrypt<S: BlockSimd, const ROUNDS: usize>(
    simd: S,
    states: [S::V; PLACES],
    keys: &[&AesSchedule; PLACES],
) -> [S::V; PLACES] {
    rounds::<S, ROUNDS>(simd, states, keys, S::decrypt_round, S::decrypt_last)
}

#[inline(always)]
fn rounds<S: BlockSimd, const ROUNDS: usize>(
    simd: S,
    mut states: [S::V; PLACES],
    keys: &[&AesSchedule; PLACES],
    round: impl Fn(S, S::V, S::V) -> S::V,
    last: impl Fn(S, S::V, S::V) -> S::V,
) -> [S::V; PLACES] {
    // Each vector has a key of its own, so round keys are loaded at the place of use and never kept in registers.
    for place in 0..PLACES {
        states[place] = states[place] ^ simd.splat_block(&keys[place].keys[0]);
    }
    // `ROUNDS` is a constant, so the loop unrolls and the states stay in registers.
    for at in 1..ROUNDS {
        for place in 0..PLACES {
            states[place] = round(simd, states[place], simd.splat_block(&keys[place].keys[at]));
        }
    }
    for place in 0..PLACES {
        states[place] = last(simd, states[place], simd.splat_block(&keys[place].keys[ROUNDS]));
    }
    states
}
