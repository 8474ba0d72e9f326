//! CBC decryption, in which no block waits for another: pieces of up to four blocks, of whichever records. NIST SP 800-38A 6.2.

use super::rounds::{PLACES, decrypt};
use super::schedule::{AesSchedule, NONE};
use crate::simd::{BLOCK, BlockSimd, VECTOR_BYTES};

/// A record to decrypt.
pub(super) struct CbcRecord<'a> {
    pub(super) schedule: &'a AesSchedule,
    pub(super) iv: &'a [u8; BLOCK],
    pub(super) input: &'a [u8],
    /// Where the output begins.
    pub(super) output: usize,
}

const IDLE: CbcRecord<'static> = CbcRecord { schedule: &NONE, iv: &[0; BLOCK], input: &[], output: 0 };

/// Decrypts every record that `next` gives.
#[inline(always)]
pub(super) fn run<'a, S: BlockSimd, const ROUNDS: usize>(
    simd: S,
    mut next: impl FnMut() -> Option<CbcRecord<'a>>,
    output: &mut [u8],
) {
    let mut rest = IDLE;
    loop {
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
            let before = simd.blocks_after(blocks[place], simd.splat_block(iv));
            crate::simd::Vector::store_prefix(states[place] ^ before, &mut output[at..at + input.len()]);
        }
    }
}

/// The next piece, as a record of its own; an empty one where there is none left.
#[inline(always)]
fn piece<'a>(rest: &mut CbcRecord<'a>, next: &mut impl FnMut() -> Option<CbcRecord<'a>>) -> CbcRecord<'a> {
    while rest.input.is_empty() {
        let Some(new) = next() else { return IDLE };
        *rest = new;
    }
    let (input, left) = rest.input.split_at(rest.input.len().min(VECTOR_BYTES));
    let piece = CbcRecord { input, ..*rest };
    // The last block of the piece, if it has one: lengths are whole blocks.
    if let Some(block) = input.last_chunk() {
        rest.iv = block;
    }
    (rest.input, rest.output) = (left, rest.output + input.len());
    piece
}
