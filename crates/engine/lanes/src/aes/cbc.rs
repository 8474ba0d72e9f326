//! CBC decryption, in which no block depends on the result of another. A vector takes a piece of up to four blocks
//! of one record. NIST SP 800-38A 6.2.

use super::chunk;
use super::rounds::decrypt;
use super::schedule::{AesSchedule, NONE};
use crate::simd::{BLOCK, BlockBytes, BlockSimd, FOUR_BLOCKS};

/// A record to decrypt.
#[derive(Clone, Copy)]
pub(super) struct CbcRecord<'a> {
    pub(super) schedule: &'a AesSchedule,
    pub(super) iv: &'a BlockBytes,
    pub(super) input: &'a [u8],
    /// The offset of the output.
    pub(super) output: usize,
}

const IDLE: CbcRecord<'static> = CbcRecord { schedule: &NONE, iv: &[0; BLOCK], input: &[], output: 0 };

/// Decrypts every record of `next`.
#[inline(always)]
pub(super) fn run<'a, S: BlockSimd, const PLACES: usize, const ROUNDS: usize>(
    simd: S,
    next: impl FnMut() -> Option<CbcRecord<'a>>,
    output: &mut [u8],
) {
    chunk::each(
        IDLE,
        next,
        #[inline(always)]
        |records: &[CbcRecord<'a>]| {
            let (groups, mut rest) = records.as_chunks();
            if records.iter().all(|record| record.input.len() <= FOUR_BLOCKS) {
                for group in groups {
                    decrypt_pieces::<S, PLACES, ROUNDS>(simd, group, output);
                }
            } else {
                rest = records;
            }
            decrypt_long::<S, PLACES, ROUNDS>(simd, rest, output);
        },
    );
}

/// Decrypts records of any lengths. A long record fills several places of a step, so the AES unit is busy even with
/// one record.
#[inline(always)]
fn decrypt_long<S: BlockSimd, const PLACES: usize, const ROUNDS: usize>(
    simd: S,
    records: &[CbcRecord<'_>],
    output: &mut [u8],
) {
    let (mut next, mut rest) = (records.iter(), IDLE);
    loop {
        let mut pieces = [IDLE; PLACES];
        for slot in &mut pieces {
            *slot = piece(&mut rest, &mut next);
        }
        if pieces[0].input.is_empty() {
            break;
        }
        decrypt_pieces::<S, PLACES, ROUNDS>(simd, &pieces, output);
    }
}

/// Decrypts pieces of up to four blocks.
#[inline(always)]
fn decrypt_pieces<S: BlockSimd, const PLACES: usize, const ROUNDS: usize>(
    simd: S,
    pieces: &[CbcRecord<'_>; PLACES],
    output: &mut [u8],
) {
    let mut blocks = [simd.splat_block(&[0; BLOCK]); PLACES];
    let mut keys = [&NONE; PLACES];
    for index in 0..PLACES {
        blocks[index] = simd.load_prefix(pieces[index].input);
        keys[index] = pieces[index].schedule;
    }
    let states = decrypt::<_, PLACES, ROUNDS>(
        #[inline(always)]
        |key| simd.splat_block(key),
        blocks,
        &keys,
    );
    for index in 0..PLACES {
        let CbcRecord { iv, input, output: at, .. } = pieces[index];
        // Each plaintext block is XORed with the ciphertext block before it, and the first with the IV.
        let before = simd.blocks_after(blocks[index], iv);
        simd.store_prefix(states[index] ^ before, &mut output[at..at + input.len()]);
    }
}

/// Returns the next piece as a record of its own, or an empty piece if no record is left.
#[inline(always)]
fn piece<'a>(rest: &mut CbcRecord<'a>, next: &mut std::slice::Iter<'_, CbcRecord<'a>>) -> CbcRecord<'a> {
    while rest.input.is_empty() {
        let Some(new) = next.next() else { return IDLE };
        *rest = *new;
    }
    let (input, left) = rest.input.split_at(rest.input.len().min(FOUR_BLOCKS));
    let piece = CbcRecord { input, ..*rest };
    // The last block of a piece is the IV of the next. The length of a record is a multiple of the block, so a block
    // is whole or absent.
    if let Some(block) = input.last_chunk() {
        rest.iv = block;
    }
    (rest.input, rest.output) = (left, rest.output + input.len());
    piece
}
