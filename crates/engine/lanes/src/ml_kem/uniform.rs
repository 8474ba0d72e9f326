//! Uniform polynomials, drawn from public seeds. FIPS 203 algorithm 7.

use super::COEFFICIENTS;
use super::key::POLY_WORDS;
use super::reduce::Q;
use crate::lattice::uniform::UniformDraw;
use crate::simd::ShortSimd;

/// The coefficients that were drawn, and space for those of a step that are not needed.
#[derive(Clone, Copy)]
pub(super) struct KemDraw {
    coefficients: [u16; COEFFICIENTS + 16],
    count: usize,
}

impl KemDraw {
    pub(super) const NEW: Self = Self { coefficients: [0; COEFFICIENTS + 16], count: 0 };

    /// Returns the words of the polynomial.
    pub(super) fn words(&self) -> [u64; POLY_WORDS] {
        let fours = self.coefficients.as_chunks::<4>().0;
        std::array::from_fn(|word| word_of(fours[word]))
    }
}

impl UniformDraw for KemDraw {
    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.count >= COEFFICIENTS
    }

    #[inline(always)]
    fn take<S: ShortSimd>(&mut self, simd: S, bytes: &[u8; 24]) {
        if let Some(out) = self.coefficients[self.count..].first_chunk_mut() {
            self.count += simd.take_below(bytes, Q.cast_unsigned(), out);
        }
    }
}

/// Returns a word of coefficients, the first in the lowest bits.
#[inline(always)]
pub(super) fn word_of(coefficients: [u16; 4]) -> u64 {
    coefficients.iter().rev().fold(0, |word, quarter| word << 16 | u64::from(*quarter))
}
