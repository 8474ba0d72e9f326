//! Blocks of which a slice holds some bytes only, for leaves with one block in a register.

use super::blocks::{AesBlocks, BLOCK, SingleSimd};

/// One block in a register, with the operations that partial blocks and products need.
pub(super) trait BlockRegister: AesBlocks {
    /// Returns the words of the block, the lower word first.
    fn words(self) -> [u64; 2];

    /// Moves the bytes of the block. `moves` has the index of each byte, or 0x80 for zero.
    fn moved(self, moves: Self) -> Self;

    /// Exchanges the words of the block.
    fn exchanged_words(self) -> Self;

    /// Returns the low words of two blocks, that of `self` below.
    fn low_words(self, other: Self) -> Self;

    /// Returns the high words of two blocks, that of `self` below.
    fn high_words(self, other: Self) -> Self;

    /// Multiplies the low words of two blocks as polynomials over GF(2).
    fn low_product(self, other: Self) -> Self;

    /// Multiplies the high words of two blocks as polynomials over GF(2).
    fn high_product(self, other: Self) -> Self;
}

/// Indices that move the bytes of a block. Sixteen bytes from `16 + n` on move the block down by n bytes, and from
/// `16 - n` on they move it up; zeros take the empty positions.
static MOVES: [u8; 3 * BLOCK] = {
    let mut moves = [0x80; 3 * BLOCK];
    let mut at = 0;
    while at < BLOCK {
        moves[BLOCK + at] = at as u8;
        at += 1;
    }
    moves
};

/// Masks of prefixes. Sixteen bytes from `16 - n` on have n bytes of ones.
static PREFIXES: [u8; 2 * BLOCK] = {
    let mut masks = [0; 2 * BLOCK];
    let mut at = 0;
    while at < BLOCK {
        masks[at] = 0xFF;
        at += 1;
    }
    masks
};

/// Paddings. Sixteen bytes from `16 - n` on have the byte 0x80 at position n.
static PADDINGS: [u8; 2 * BLOCK] = {
    let mut paddings = [0; 2 * BLOCK];
    paddings[BLOCK] = 0x80;
    paddings
};

/// Returns a mask of the first `count` bytes, at most 16.
#[inline(always)]
pub(super) fn prefix_mask<S: SingleSimd>(simd: S, count: usize) -> S::Block {
    load_table(simd, &PREFIXES, BLOCK - count.min(BLOCK))
}

/// Returns the byte 0x80 behind `count` bytes of zeros, or zeros if `count` is 16.
#[inline(always)]
fn padding<S: SingleSimd>(simd: S, count: usize) -> S::Block {
    load_table(simd, &PADDINGS, BLOCK - count.min(BLOCK))
}

/// Moves the bytes of a block down by `count`, at most 16. Zeros follow.
#[inline(always)]
fn moved_down<S: SingleSimd<Block: BlockRegister>>(simd: S, block: S::Block, count: usize) -> S::Block {
    block.moved(load_table(simd, &MOVES, BLOCK + count.min(BLOCK)))
}

/// Moves the bytes of a block up by `count`, at most 16. Zeros are before them.
#[inline(always)]
fn moved_up<S: SingleSimd<Block: BlockRegister>>(simd: S, block: S::Block, count: usize) -> S::Block {
    block.moved(load_table(simd, &MOVES, BLOCK - count.min(BLOCK)))
}

/// Loads sixteen bytes of a table from byte `start` on, which is at most `N - 16`.
#[inline(always)]
fn load_table<S: SingleSimd, const N: usize>(simd: S, table: &[u8; N], start: usize) -> S::Block {
    match table[start..].first_chunk() {
        Some(bytes) => simd.load_block(bytes),
        // unreachable by the bound of `start`
        None => simd.block_of_words([0; 2]),
    }
}

/// Loads a block as [`SingleSimd::load_block_at`] does.
#[inline(always)]
pub(super) fn load_block_at<S: SingleSimd<Block: BlockRegister>>(
    simd: S,
    bytes: &[u8],
    start: usize,
) -> S::Block {
    let rest = &bytes[start.min(bytes.len())..];
    match (rest.first_chunk(), bytes.last_chunk()) {
        (Some(block), _) => simd.load_block(block),
        // The last bytes of a longer slice are loaded with what is before them, which then moves out.
        (None, Some(last)) => moved_down(simd, simd.load_block(last), BLOCK - rest.len()),
        (None, None) => simd.block_of_words(short_words(rest)),
    }
}

/// Loads a block as [`SingleSimd::load_padded_at`] does.
#[inline(always)]
pub(super) fn load_padded_at<S: SingleSimd<Block: BlockRegister>>(
    simd: S,
    bytes: &[u8],
    start: usize,
) -> S::Block {
    let count = bytes.len().saturating_sub(start).min(BLOCK);
    load_block_at(simd, bytes, start) ^ padding(simd, count)
}

/// Stores a block as [`SingleSimd::store_block_prefix`] does.
#[inline(always)]
pub(super) fn store_block_prefix<S: SingleSimd<Block: BlockRegister>>(
    simd: S,
    block: S::Block,
    out: &mut [u8],
) {
    match out.first_chunk_mut() {
        Some(whole) => simd.store_block(block, whole),
        None => store_short(block.words(), out),
    }
}

/// Loads four blocks. Zeros follow the end of the slice.
#[inline(always)]
pub(super) fn load_blocks<S: SingleSimd<Block: BlockRegister>>(simd: S, bytes: &[u8]) -> [S::Block; 4] {
    let (low, high) = (load_two_blocks(simd, bytes, 0), load_two_blocks(simd, bytes, 2 * BLOCK));
    [low[0], low[1], high[0], high[1]]
}

#[inline(always)]
fn load_two_blocks<S: SingleSimd<Block: BlockRegister>>(
    simd: S,
    bytes: &[u8],
    start: usize,
) -> [S::Block; 2] {
    let zero = simd.block_of_words([0; 2]);
    match bytes.len().saturating_sub(start) {
        0 => [zero; 2],
        1..=BLOCK => [load_block_at(simd, bytes, start), zero],
        _ => [load_block_at(simd, bytes, start), load_block_at(simd, bytes, start + BLOCK)],
    }
}

/// Stores four blocks, as many bytes as the slice holds.
#[inline(always)]
pub(super) fn store_blocks<S: SingleSimd<Block: BlockRegister>>(
    simd: S,
    [a, b, c, d]: [S::Block; 4],
    out: &mut [u8],
) {
    store_block_at(simd, a, simd.block_of_words([0; 2]), out, 0);
    store_block_at(simd, b, a, out, BLOCK);
    store_block_at(simd, c, b, out, 2 * BLOCK);
    store_block_at(simd, d, c, out, 3 * BLOCK);
}

/// Stores a block at byte `start`, as many bytes as the slice holds. `before` is the block before it.
#[inline(always)]
fn store_block_at<S: SingleSimd<Block: BlockRegister>>(
    simd: S,
    block: S::Block,
    before: S::Block,
    out: &mut [u8],
    start: usize,
) {
    let Some(rest) = out.get_mut(start..).filter(|rest| !rest.is_empty()) else { return };
    let count = rest.len();
    if let Some(whole) = rest.first_chunk_mut() {
        simd.store_block(block, whole);
    } else if let Some(last) = out.last_chunk_mut() {
        // The end of the block before is stored once more, so that one store of sixteen bytes suffices.
        simd.store_block(moved_down(simd, before, count) ^ moved_up(simd, block, BLOCK - count), last);
    } else {
        store_short(block.words(), &mut out[start..]);
    }
}

/// XORs up to four blocks of bytes with a key stream into `output`, which has the length of `input`. Returns the input
/// and the output, each followed by zeros.
#[inline(always)]
pub(super) fn crypt_blocks<S: SingleSimd<Block: BlockRegister>>(
    simd: S,
    input: &[u8],
    [a, b, c, d]: [S::Block; 4],
    output: &mut [u8],
) -> [[S::Block; 4]; 2] {
    let [in_a, a] = crypt_block_at(simd, input, a, simd.block_of_words([0; 2]), output, 0);
    let [in_b, b] = crypt_block_at(simd, input, b, a, output, BLOCK);
    let [in_c, c] = crypt_block_at(simd, input, c, b, output, 2 * BLOCK);
    let [in_d, d] = crypt_block_at(simd, input, d, c, output, 3 * BLOCK);
    [[in_a, in_b, in_c, in_d], [a, b, c, d]]
}

/// XORs the block at byte `start` with a block of a key stream. `before` is the block of output before it.
#[inline(always)]
fn crypt_block_at<S: SingleSimd<Block: BlockRegister>>(
    simd: S,
    input: &[u8],
    stream: S::Block,
    before: S::Block,
    output: &mut [u8],
    start: usize,
) -> [S::Block; 2] {
    let count = input.len().saturating_sub(start);
    if count == 0 {
        return [simd.block_of_words([0; 2]); 2];
    }
    let piece = load_block_at(simd, input, start);
    let whole = piece ^ stream;
    let result = if count < BLOCK { whole.masked(prefix_mask(simd, count)) } else { whole };
    store_block_at(simd, result, before, output, start);
    [piece, result]
}

/// Returns fewer than sixteen bytes as little-endian words.
#[inline(always)]
pub(super) fn short_words(bytes: &[u8]) -> [u64; 2] {
    // Two reads that may overlap replace a loop over the bytes.
    let bits = 8 * bytes.len();
    match (
        bytes.first_chunk::<8>(),
        bytes.last_chunk::<8>(),
        bytes.first_chunk::<4>(),
        bytes.last_chunk::<4>(),
    ) {
        (Some(first), Some(last), ..) => {
            let high = u64::from_le_bytes(*last).checked_shr(128 - bits as u32).unwrap_or(0);
            [u64::from_le_bytes(*first), high]
        }
        (.., Some(first), Some(last)) => {
            let high = u64::from(u32::from_le_bytes(*last)) << (bits - 32);
            [u64::from(u32::from_le_bytes(*first)) | high, 0]
        }
        _ => [bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0],
    }
}

/// Stores the first bytes of two little-endian words into a slice of fewer than sixteen bytes.
#[inline(always)]
pub(super) fn store_short([low, high]: [u64; 2], out: &mut [u8]) {
    let bits = 8 * out.len() as u32;
    if out.len() >= 8 {
        let end = low.checked_shr(bits - 64).unwrap_or(0) | high.checked_shl(128 - bits).unwrap_or(0);
        out[..8].copy_from_slice(&low.to_le_bytes());
        if let Some(last) = out.last_chunk_mut() {
            *last = end.to_le_bytes();
        }
    } else if out.len() >= 4 {
        out[..4].copy_from_slice(&(low as u32).to_le_bytes());
        if let Some(last) = out.last_chunk_mut() {
            *last = ((low >> (bits - 32)) as u32).to_le_bytes();
        }
    } else {
        out.iter_mut().zip(low.to_le_bytes()).for_each(|(to, byte)| *to = byte);
    }
}
