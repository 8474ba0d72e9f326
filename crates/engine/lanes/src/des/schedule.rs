//! The key schedules of as many keys as there are lanes, in bitsliced form.
//!
//! The key bits of a round are bits of C and D at positions that shift from round to round. C and D are stored twice
//! in a row, so a round reads the same positions from a moved start. No round needs a schedule of its own, and all
//! rounds share their code.

use zeroize::Zeroize;

use super::bits::BITS;
use super::permutations::{PC1, PC2, SHIFTS};
use crate::simd::{Simd, Vector};

/// The bits of C or D.
const HALF: usize = 28;

/// The length of the slice that a round reads: C from its shift on, and D.
pub(super) const WINDOW: usize = 2 * HALF + HALF;

/// The bits of C twice, then of D twice.
#[derive(Clone, Copy)]
pub(super) struct DesSchedule<V>([V; 4 * HALF]);

/// The start of each round's slice: the sum of the shifts up to it.
pub(super) const STARTS: [usize; 16] = {
    let (mut starts, mut sum, mut round) = ([0; 16], 0, 0);
    while round < 16 {
        sum += SHIFTS[round] as usize;
        starts[round] = sum;
        round += 1;
    }
    starts
};

/// The position in the slice of each of the 48 key bits of a round.
pub(super) const KEY_BIT_INDICES: [usize; 48] = {
    let (mut positions, mut bit) = ([0; 48], 0);
    while bit < 48 {
        let from = PC2[bit] as usize - 1;
        positions[bit] = if from < HALF { from } else { from + HALF };
        bit += 1;
    }
    positions
};

impl<V: Vector> DesSchedule<V> {
    pub(super) fn new<S: Simd<V = V>>(simd: S) -> Self {
        Self([simd.zero(); 4 * HALF])
    }

    /// Stores the keys whose bits are in `rows`. Parity bits are left out.
    pub(super) fn fill(&mut self, rows: &[V; BITS]) {
        for (half, choice) in self.0.chunks_exact_mut(2 * HALF).zip(PC1) {
            for (at, bit) in choice.into_iter().enumerate() {
                half[at] = rows[bit_index(bit)];
                // The copy behind C (or D) makes every rotation a contiguous slice.
                half[at + HALF] = half[at];
            }
        }
    }

    /// Returns the slice of a round, or None if no round has this start.
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

/// Returns the row of bit `number` of FIPS 46-3, which counts from 1 at the most significant bit of the first byte.
pub(super) const fn bit_index(number: u8) -> usize {
    let (byte, bit) = ((number as usize - 1) / 8, (number as usize - 1) % 8);
    8 * byte + 7 - bit
}
