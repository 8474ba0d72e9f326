//! GHASH by powers of H. NIST SP 800-38D 6.4. It is computed as POLYVAL (RFC 8452 appendix A), whose bit order is
//! the processor's.
//!
//! With the bytes of every block reversed, GHASH under H is POLYVAL under H x: sums of products a b x^-128 modulo
//! x^128 + x^127 + x^126 + x^121 + 1.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::one_block::encrypted;
use super::schedule::{AesSchedule, Encrypting, PrepareAes};
use crate::simd::{BLOCK, BlockSimd, MulVector, VECTOR_BYTES};

/// The number of powers of H, one per block of a vector.
const POWERS: usize = 4;

/// A key with its powers of H.
#[derive(ZeroizeOnDrop)]
pub(super) struct GcmKey {
    pub(super) schedule: AesSchedule,
    /// H^4, H^3, H^2, H and zeros. Sixty-four bytes from block 4 - n on are the powers for n blocks.
    powers: [[u8; BLOCK]; 2 * POWERS - 1],
}

/// A sum of products: the first block of a vector, with zeros in the others.
pub(super) type Sum<S> = <S as crate::simd::Simd>::V;

impl PrepareAes for GcmKey {
    fn prepare<S: BlockSimd>(simd: S, key: &[u8]) -> Self {
        let Encrypting(schedule) = Encrypting::prepare(simd, key);
        let mut h = doubled(u128::from_be_bytes(encrypted(simd, &schedule, key.len(), &[0; BLOCK])));
        let mut powers = [[0; BLOCK]; 2 * POWERS - 1];
        powers[POWERS - 1] = h.to_le_bytes();
        h.zeroize();
        for at in (0..POWERS - 1).rev() {
            powers[at] = simd.call(
                #[inline(always)]
                || {
                    let [above, first] = [at + 1, POWERS - 1].map(|at| simd.load_prefix(&powers[at]));
                    simd.first_block(product(simd, above, first))
                },
            );
        }
        Self { schedule, powers }
    }

    #[inline(always)]
    fn prefetch<S: BlockSimd>(&self, simd: S) {
        self.schedule.prefetch(simd);
        simd.prefetch(&self.powers);
    }
}

/// Multiplies by x. RFC 8452 appendix A, mulX_POLYVAL.
fn doubled(value: u128) -> u128 {
    const POLYNOMIAL: u128 = 0xC200_0000_0000_0000_0000_0000_0000_0001;
    // H is secret, so the carry selects by a mask and not by a branch.
    (value << 1) ^ (POLYNOMIAL & (value >> 127).wrapping_neg())
}

impl GcmKey {
    /// Absorbs the first `count` blocks, one to four, whose bytes are reversed. Other blocks are ignored.
    #[inline(always)]
    pub(super) fn absorb<S: BlockSimd>(&self, simd: S, sum: Sum<S>, blocks: S::V, count: usize) -> Sum<S> {
        // For n blocks the first gets H^n and the last gets H; the zeros behind cancel the unused blocks.
        let powers = &self.powers.as_flattened()[BLOCK * (POWERS - count)..];
        simd.sum_of_blocks(product(simd, blocks ^ sum, simd.load_prefix(&powers[..VECTOR_BYTES])))
    }

    /// Absorbs bytes that are padded with zeros to whole blocks.
    #[inline(always)]
    pub(super) fn absorb_bytes<S: BlockSimd>(&self, simd: S, sum: Sum<S>, bytes: &[u8]) -> Sum<S> {
        bytes.chunks(VECTOR_BYTES).fold(
            sum,
            #[inline(always)]
            |sum, piece| {
                let blocks = simd.reverse_blocks(simd.load_prefix(piece));
                self.absorb(simd, sum, blocks, piece.len().div_ceil(BLOCK))
            },
        )
    }
}

/// Replaces the block at `place` with the last block of a hash, its bytes reversed: the lengths in bits. NIST SP
/// 800-38D 7.1 step 5.
#[inline(always)]
pub(super) fn with_lengths<S: BlockSimd>(
    simd: S,
    blocks: S::V,
    place: usize,
    aad_len: usize,
    len: usize,
) -> S::V {
    let lengths = simd.splat(8 * len as u64).or_if(0b1010_1010, simd.splat(8 * aad_len as u64));
    blocks.or_if(0b11 << (2 * place), lengths)
}

/// Computes a b x^-128 in every block: four products of words, and two foldings of the low half into the high one.
#[inline(always)]
fn product<S: BlockSimd>(simd: S, a: S::V, b: S::V) -> S::V {
    let low = simd.multiply_words::<0x00>(a, b);
    let high = simd.multiply_words::<0x11>(a, b);
    // Schoolbook and not Karatsuba: a fourth product costs less than the two exchanges of words that it would save.
    let middle = simd.swap_words(simd.multiply_words::<0x01>(a, b) ^ simd.multiply_words::<0x10>(a, b));
    let low = low ^ simd.zero().or_if(0b1010_1010, middle);
    let high = high ^ simd.zero().or_if(0b0101_0101, middle);
    let polynomial = simd.splat(0xC200_0000_0000_0000);
    // Each folding clears the 64 lowest bits by adding a multiple of the polynomial.
    let once = simd.swap_words(low) ^ simd.multiply_words::<0x00>(low, polynomial);
    let twice = simd.swap_words(once) ^ simd.multiply_words::<0x00>(once, polynomial);
    high ^ twice
}
