//! Counter mode, whose key stream depends on no data. A vector takes a piece of up to four blocks of one record. NIST
//! SP 800-38A 6.5.

use super::chunk;
use super::rounds::encrypt;
use super::schedule::{AesSchedule, NONE};
use crate::simd::{AesBlocks, BLOCK, BlockSimd, FOUR_BLOCKS, SingleSimd};

/// A record to encrypt or decrypt.
#[derive(Clone, Copy)]
pub(super) struct CtrRecord<'a> {
    pub(super) schedule: &'a AesSchedule,
    /// The next counter block as a big-endian number.
    pub(super) counter: u128,
    pub(super) input: &'a [u8],
    /// The offset of the output.
    pub(super) output: usize,
}

const IDLE: CtrRecord<'static> = CtrRecord { schedule: &NONE, counter: 0, input: &[], output: 0 };

/// Encrypts or decrypts every record of `next`.
#[inline(always)]
pub(super) fn run<'a, S: BlockSimd, const PLACES: usize, const ROUNDS: usize>(
    simd: S,
    next: impl FnMut() -> Option<CtrRecord<'a>>,
    output: &mut [u8],
) {
    chunk::each(
        IDLE,
        next,
        #[inline(always)]
        |records: &[CtrRecord<'a>]| {
            let (mut next, mut rest) = (records.iter(), IDLE);
            loop {
                let mut pieces = [IDLE; PLACES];
                for slot in &mut pieces {
                    *slot = piece(&mut rest, &mut next);
                }
                if pieces[0].input.is_empty() {
                    break;
                }
                crypt_pieces::<S, PLACES, ROUNDS>(simd, &pieces, output);
            }
        },
    );
}

#[inline(always)]
fn crypt_pieces<S: BlockSimd, const PLACES: usize, const ROUNDS: usize>(
    simd: S,
    pieces: &[CtrRecord<'_>; PLACES],
    output: &mut [u8],
) {
    let mut counters = [simd.splat_block(&[0; BLOCK]); PLACES];
    let mut keys = [&NONE; PLACES];
    for index in 0..PLACES {
        let CtrRecord { counter, schedule, .. } = pieces[index];
        // The bytes of a counter are reversed here: the low word comes first.
        let first = simd.single().block_of_words([counter as u64, (counter >> 64) as u64]);
        counters[index] = simd.counters(first, [0, 1, 2, 3]).reversed();
        keys[index] = schedule;
    }
    let streams = encrypt::<_, PLACES, ROUNDS>(
        #[inline(always)]
        |key| simd.splat_block(key),
        counters,
        &keys,
    );
    for index in 0..PLACES {
        let CtrRecord { input, output: at, .. } = pieces[index];
        simd.crypt_prefix(input, streams[index], &mut output[at..at + input.len()]);
    }
}

/// Returns the next piece as a record of its own, or an empty piece if no record is left.
///
/// The vectors count in 32 bits. So a piece ends where the low 32 bits of the counter wrap.
#[inline(always)]
fn piece<'a>(rest: &mut CtrRecord<'a>, next: &mut std::slice::Iter<'_, CtrRecord<'a>>) -> CtrRecord<'a> {
    while rest.input.is_empty() {
        let Some(new) = next.next() else { return IDLE };
        *rest = *new;
    }
    let to_wrap = (1 << 32) - u64::from(rest.counter as u32);
    let max = FOUR_BLOCKS.min(BLOCK * to_wrap.min(4) as usize);
    let (input, left) = rest.input.split_at(rest.input.len().min(max));
    let piece = CtrRecord { input, ..*rest };
    rest.counter = rest.counter.wrapping_add(input.len().div_ceil(BLOCK) as u128);
    (rest.input, rest.output) = (left, rest.output + input.len());
    piece
}
