//! CBC decryption, in which no block depends on the result of another. A vector takes a piece of up to four blocks
//! of one record. NIST SP 800-38A 6.2.

use super::rounds::{PLACES, decrypt};
use super::schedule::{AesSchedule, NONE};
use crate::simd::{BLOCK, BlockSimd, VECTOR_BYTES};

/// A record to decrypt.
pub(super) struct CbcRecord<'a> {
    pub(super) schedule: &'a AesSchedule,
    pub(super) iv: &'a [u8; BLOCK],
    pub(super) input: &'a [u8],
    /// The offset of the output.
    pub(super) output: usize,
}

const IDLE: CbcRecord<'static> = CbcRecord { schedule: &NONE, iv: &[0; BLOCK], input: &[], output: 0 };

/// Decrypts every record of `next`.
#[inline(always)]
pub(super) fn run<'a, S: BlockSimd, const ROUNDS: usize>(
    simd: S,
    mut next: impl FnMut() -> Option<CbcRecord<'a>>,
    output: &mut [u8],
) {
    let mut rest = IDLE;
    loop {
        // A long record fills several places of a step, so the AES unit is busy even with one record.
        let pieces: [CbcRecord<'_>; PLACES] = std::array::from_fn(
            #[inline(always)]
            |_| piece(&mut rest, &mut next),
        );
        if pieces[0].input.is_empty() {
            break;
        }
        let blocks = std::array::from_fn(
            #[inline(always)]
            |place| simd.load_prefix(pieces[place].input),
        );
        let keys = std::array::from_fn(
            #[inline(always)]
            |place| pieces[place].schedule,
        );
        let states = decrypt::<S, ROUNDS>(simd, blocks, &keys);
        for place in 0..PLACES {
            let CbcRecord { iv, input, output: at, .. } = pieces[place];
            // Each plaintext block is XORed with the ciphertext block before it, and the first with the IV.
            let before = simd.blocks_after(blocks[place], simd.splat_block(iv));
            crate::simd::Vector::store_prefix(states[place] ^ before, &mut output[at..at + input.len()]);
        }
    }
}

/// Returns the next piece as a record of its own, or an empty piece if no record is left.
#[inline(always)]
fn piece<'a>(rest: &mut CbcRecord<'a>, next: &mut impl FnMut() -> Option<CbcRecord<'a>>) -> CbcRecord<'a> {
    while rest.input.is_empty() {
        let Some(new) = next() else { return IDLE };
        *rest = new;
    }
    let (input, left) = rest.input.split_at(rest.input.len().min(VECTOR_BYTES));
    let piece = CbcRecord { input, ..*rest };
    // The last block of a piece is the IV of the next. The length of a record is a multiple of the block, so a block
    // is whole or absent.
    if let Some(block) = input.last_chunk() {
        rest.iv = block;
    }
    (rest.input, rest.output) = (left, rest.output + input.len());
    piece
}
