//! Key schedules of 512 keys, bit by bit.
//!
//! A round's key bits are C and D at places that shift with the round. C and D lie there twice over, so that the bits of a round are those
//! of any other behind a moved start: no round has a schedule of its own, and the code of a round is the same for all.

use zeroize::Zeroize;

use super::bits::BITS;
use super::permutations::{PC1, PC2, SHIFTS};
use crate::simd::{Simd, Vector};

/// Bits of C or D.
const HALF: usize = 28;

/// The key bits of a round and all that lies between them: C from the shift on, and D.
pub(super) const WINDOW: usize = 2 * HALF + HALF;

/// C twice, then D twice.
#[derive(Clone, Copy)]
pub(super) struct DesSchedule<V>([V; 4 * HALF]);

/// Where the bits of a round start: the sum of the shifts up to it.
pub(super) const STARTS: [usize; 16] = {
    let (mut starts, mut sum, mut round) = ([0; 16], 0, 0);
    while round < 16 {
        sum += SHIFTS[round] as usize;
        starts[round] = sum;
        round += 1;
    }
    starts
};

/// For each of the 48 bits of a round's key its place in the window.
pub(super) const PLACES: [usize; 48] = {
    let (mut places, mut bit) = ([0; 48], 0);
    while bit < 48 {
        let from = PC2[bit] as usize - 1;
        places[bit] = if from < HALF { from } else { from + HALF };
        bit += 1;
    }
    places
};

impl<V: Vector> DesSchedule<V> {
    pub(super) fn new<S: Simd<V = V>>(simd: S) -> Self {
        Self([simd.zero(); 4 * HALF])
    }

    /// Takes over the keys whose bits lie in `rows`; parity bits are left out.
    pub(super) fn fill(&mut self, rows: &[V; BITS]) {
        for (half, choice) in self.0.chunks_exact_mut(2 * HALF).zip(PC1) {
            for (at, bit) in choice.into_iter().enumerate() {
                half[at] = rows[place_of(bit)];
                half[at + HALF] = half[at];
            }
        }
    }

    /// What a round reads its key from; None where no round starts.
    #[inline(always)]
    pub(super) fn window(&self, start: usize) -> Option<&[V; WINDOW]> {
        self.0.get(start..)?.first_chunk()
    }
}

impl<V: Zeroize> Zeroize for DesSchedule<V> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Where bit `number` of FIPS 46-3, counted from 1 at the most significant bit of the first byte, is among the rows.
pub(super) const fn place_of(number: u8) -> usize {
    let (byte, bit) = ((number as usize - 1) / 8, (number as usize - 1) % 8);
    8 * byte + 7 - bit
}
