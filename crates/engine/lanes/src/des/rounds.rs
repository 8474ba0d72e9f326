//! The sixteen rounds on all blocks. FIPS 46-3.

use oarlock_core::Direction;
use zeroize::Zeroize;

use super::bits::BITS;
use super::permutations::{IP, P};
use super::schedule::{DesSchedule, KEY_BIT_INDICES, STARTS, WINDOW, bit_index};
use super::{sboxes, sboxes_two};
use crate::simd::{Simd, Vector};

/// Half a block of each lane, with bit 1 first.
pub(super) type Half<V> = [V; 32];

/// The position in the other half for each output bit of the S-boxes: P, inverted.
const TARGETS: [usize; 32] = {
    let (mut targets, mut bit) = ([0; 32], 0);
    while bit < 32 {
        targets[P[bit] as usize - 1] = bit;
        bit += 1;
    }
    targets
};

/// The position of each row of a block among the bits of the halves: IP.
const BITS_OF_ROWS: [u8; BITS] = {
    let (mut bits, mut half) = ([0; BITS], 0);
    while half < 2 {
        let mut bit = 0;
        while bit < 32 {
            bits[bit_index(IP[half][bit])] = 32 * half as u8 + bit as u8;
            bit += 1;
        }
        half += 1;
    }
    bits
};

/// Blocks between the initial and the final permutation. The two cancel if one cipher follows another, so triple DES
/// runs them once.
#[derive(Clone, Copy)]
pub(super) struct DesState<V> {
    halves: [Half<V>; 2],
    /// True if the halves have exchanged their roles. The exchange after each cipher only flips this flag.
    is_swapped: bool,
}

impl<V: Vector> DesState<V> {
    pub(super) fn new<S: Simd<V = V>>(simd: S) -> Self {
        Self { halves: [[simd.zero(); 32]; 2], is_swapped: false }
    }

    /// Returns a row of the block, before the initial permutation or after the final one.
    #[inline(always)]
    pub(super) fn row_mut(&mut self, row: usize) -> &mut V {
        let bit = usize::from(BITS_OF_ROWS[row % BITS]);
        &mut self.halves[(bit / 32) ^ usize::from(self.is_swapped)][bit % 32]
    }

    /// Loads rows through the initial permutation.
    #[inline(always)]
    pub(super) fn load<S: Simd<V = V>>(&mut self, simd: S, row: impl Fn(usize) -> V) {
        self.is_swapped = false;
        simd.call(
            #[inline(always)]
            || {
                for at in 0..BITS {
                    *self.row_mut(at) = row(at);
                }
            },
        );
    }

    /// Passes each row to `take` through the final permutation.
    #[inline(always)]
    pub(super) fn store<S: Simd<V = V>>(&mut self, simd: S, mut take: impl FnMut(usize, V)) {
        simd.call(
            #[inline(always)]
            || {
                for at in 0..BITS {
                    take(at, *self.row_mut(at));
                }
            },
        );
    }

    /// Runs one cipher: sixteen rounds and the exchange of the halves.
    pub(super) fn cipher<S: Simd<V = V>>(&mut self, simd: S, schedule: &DesSchedule<V>, way: Direction) {
        let [first, second] = &mut self.halves;
        // The exchange after each cipher is a change of names, which saves 64 moves.
        let (left, right) = if self.is_swapped { (second, first) } else { (first, second) };
        // Two rounds a call, after which the halves have their first roles again. So one piece of code serves all
        // rounds of both directions.
        for pair in 0..8 {
            let start = |round: usize| match way {
                Direction::Encrypt => STARTS[round],
                Direction::Decrypt => STARTS[15 - round],
            };
            let (even, odd) = (schedule.window(start(2 * pair)), schedule.window(start(2 * pair + 1)));
            // unreachable because every start is one of the schedule's own
            let (Some(even), Some(odd)) = (even, odd) else { return };
            simd.call(
                #[inline(always)]
                || {
                    round(left, right, even);
                    round(right, left, odd);
                },
            );
        }
        self.is_swapped = !self.is_swapped;
    }
}

impl<V: Zeroize> Zeroize for DesState<V> {
    fn zeroize(&mut self) {
        self.halves.zeroize();
    }
}

/// Computes `left ^= P(S(E(right) ^ key))`. Each S-box reads outputs of six others of the round before. In this
/// order none waits for the last S-box of that round; it was the fastest of forty such orders.
#[inline(always)]
fn round<V: Vector>(left: &mut Half<V>, right: &Half<V>, key: &[V; WINDOW]) {
    add::<V, 0>(left, s_box::<V, 0>(inputs::<V, 0>(right, key)));
    add::<V, 3>(left, s_box::<V, 3>(inputs::<V, 3>(right, key)));
    add::<V, 1>(left, s_box::<V, 1>(inputs::<V, 1>(right, key)));
    add::<V, 7>(left, s_box::<V, 7>(inputs::<V, 7>(right, key)));
    add::<V, 6>(left, s_box::<V, 6>(inputs::<V, 6>(right, key)));
    add::<V, 4>(left, s_box::<V, 4>(inputs::<V, 4>(right, key)));
    add::<V, 5>(left, s_box::<V, 5>(inputs::<V, 5>(right, key)));
    add::<V, 2>(left, s_box::<V, 2>(inputs::<V, 2>(right, key)));
}

/// Computes S-box `BOX`, counted from 0, by the gates that the CPU has.
#[inline(always)]
fn s_box<V: Vector, const BOX: usize>(inputs: [V; 6]) -> [V; 4] {
    match (BOX, V::HAS_TERNARY) {
        (0, true) => sboxes::s1(inputs),
        (1, true) => sboxes::s2(inputs),
        (2, true) => sboxes::s3(inputs),
        (3, true) => sboxes::s4(inputs),
        (4, true) => sboxes::s5(inputs),
        (5, true) => sboxes::s6(inputs),
        (6, true) => sboxes::s7(inputs),
        (_, true) => sboxes::s8(inputs),
        (0, false) => sboxes_two::s1(inputs),
        (1, false) => sboxes_two::s2(inputs),
        (2, false) => sboxes_two::s3(inputs),
        (3, false) => sboxes_two::s4(inputs),
        (4, false) => sboxes_two::s5(inputs),
        (5, false) => sboxes_two::s6(inputs),
        (6, false) => sboxes_two::s7(inputs),
        (_, false) => sboxes_two::s8(inputs),
    }
}

/// Returns the inputs of S-box `BOX` XORed with the key: bits `4 BOX` to `4 BOX + 5` of the half. Bit 0 is bit 32.
#[inline(always)]
fn inputs<V: Vector, const BOX: usize>(right: &Half<V>, key: &[V; WINDOW]) -> [V; 6] {
    [
        input::<V, BOX, 0>(right, key),
        input::<V, BOX, 1>(right, key),
        input::<V, BOX, 2>(right, key),
        input::<V, BOX, 3>(right, key),
        input::<V, BOX, 4>(right, key),
        input::<V, BOX, 5>(right, key),
    ]
}

#[inline(always)]
fn input<V: Vector, const BOX: usize, const BIT: usize>(right: &Half<V>, key: &[V; WINDOW]) -> V {
    // E and PC-2 are constants of the two parameters, so each input is a load at a fixed offset.
    right[(4 * BOX + BIT + 31) % 32] ^ key[KEY_BIT_INDICES[6 * BOX + BIT]]
}

/// Adds the outputs of S-box `BOX` at their positions after P.
#[inline(always)]
fn add<V: Vector, const BOX: usize>(left: &mut Half<V>, outputs: [V; 4]) {
    for (bit, output) in outputs.into_iter().enumerate() {
        let target = &mut left[TARGETS[4 * BOX + bit]];
        *target = *target ^ output;
    }
}
