//! SHA-512 of eight messages side by side, each in several pieces. FIPS 180-4.
//!
//! A message is a list of parts, so callers need not concatenate. Lengths are public and can differ from lane to
//! lane: a lane whose message has ended keeps its state under a mask. Contents can be secret, so every buffer that
//! held them is erased.

use super::sha512::LaneSha512;
use super::{Chain, LaneChains, LaneHash, MerkleDamgard, WORDS, compress, load_chains};
use crate::simd::{HalfMask, LANES, LaneArray, MulSimd, erase};

/// The bytes of a message block.
pub(crate) const BLOCK: usize = LaneSha512::BLOCK;

/// A message as a list of consecutive parts.
pub(crate) type Parts<'a> = &'a [&'a [u8]];

type Block = [u8; BLOCK];

/// Returns the digests of eight messages.
pub(crate) fn digest<S: MulSimd>(simd: S, messages: [Parts<'_>; LANES]) -> [[u8; 64]; LANES] {
    let words = digest_words(simd, messages);
    let mut digests = [[0; 64]; LANES];
    simd.call(
        #[inline(always)]
        || {
            let rows = LaneChains::<S::V, LaneSha512>::new(simd, &words);
            for (lane, digest) in digests.iter_mut().enumerate() {
                rows.store(lane, digest);
            }
        },
    );
    digests
}

/// Returns the digests of `messages` as words that stay in their lanes. The first word holds the first eight bytes,
/// big-endian. FIPS 180-4 6.4.2.
pub(crate) fn digest_words<S: MulSimd>(simd: S, messages: [Parts<'_>; LANES]) -> Chain<S::V> {
    let mut chain = initial(simd);
    let (mut lanes, mut buffers) = (messages.map(PaddedMessage::new), Buffers::new());
    // Lengths are public, so the number of blocks may be that of the longest message.
    let last = lanes.iter().map(|lane| lane.blocks).max().unwrap_or(0);
    for block in 0..last {
        let running = mask_of(&lanes, |lane| block < lane.blocks);
        let mut lane = lanes.iter_mut().zip(&mut buffers.0);
        let blocks = std::array::from_fn(|_| match lane.next() {
            Some((lane, buffer)) => lane.next_block(buffer),
            None => &[0; BLOCK],
        });
        [chain] = simd.call(
            #[inline(always)]
            || compress::<S, LaneSha512, 1>(simd, [chain], [load(simd, blocks)], [running], |_| {}),
        );
    }
    chain
}

fn initial<S: MulSimd>(simd: S) -> Chain<S::V> {
    let initial = LaneSha512::initial();
    let words = simd.call(
        #[inline(always)]
        || load_chains::<S, LaneSha512>(simd, |_| &initial),
    );
    std::array::from_fn(|word| words[word])
}

/// Loads the sixteen big-endian words of each lane's block.
#[inline(always)]
fn load<S: MulSimd>(simd: S, blocks: [&Block; LANES]) -> [S::V; WORDS] {
    let mut words = [simd.zero(); WORDS];
    for (at, word) in words.iter_mut().enumerate() {
        *word = simd.load_bytes(&LaneArray::chunks(blocks[at % LANES]).0[at / LANES]);
    }
    LaneSha512::arrange(&mut words);
    words
}

fn mask_of<T>(lanes: &[T; LANES], is_set: impl Fn(&T) -> bool) -> HalfMask {
    lanes.iter().rev().fold(0, |mask, lane| mask << 1 | HalfMask::from(is_set(lane)))
}

/// A message and its padding, block by block. FIPS 180-4 5.1.2.
struct PaddedMessage<'a> {
    parts: Parts<'a>,
    /// The bytes of the first part that were read.
    used: usize,
    /// The bytes of the message that are left.
    left: usize,
    /// The blocks of the padded message.
    blocks: usize,
    /// The bits of the message.
    bits: u128,
    is_marked: bool,
}

impl<'a> PaddedMessage<'a> {
    #[inline(always)]
    fn new(parts: Parts<'a>) -> Self {
        let left = parts.iter().map(|part| part.len()).sum::<usize>();
        // One byte for the mark and sixteen for the length. FIPS 180-4 5.1.2.
        let (blocks, bits) = ((left + 17).div_ceil(BLOCK), left as u128 * 8);
        Self { parts, used: 0, left, blocks, bits, is_marked: false }
    }

    /// Returns the next block. It is borrowed from a part that holds it whole, and assembled in `buffer` otherwise.
    /// Past the end the block is arbitrary.
    #[inline(always)]
    fn next_block<'b>(&mut self, buffer: &'b mut Block) -> &'b Block
    where
        'a: 'b,
    {
        // Long parts are hashed in place, without a copy that would have to be erased.
        if self.left >= BLOCK
            && let Some(block) = self.parts[0][self.used..].first_chunk()
        {
            self.used += BLOCK;
            self.left -= BLOCK;
            return block;
        }
        self.fill(buffer);
        buffer
    }

    fn fill(&mut self, buffer: &mut Block) {
        let mut filled = 0;
        while filled < BLOCK && self.left > 0 {
            let rest = &self.parts[0][self.used..];
            let taken = rest.len().min(BLOCK - filled);
            buffer[filled..filled + taken].copy_from_slice(&rest[..taken]);
            (filled, self.left, self.used) = (filled + taken, self.left - taken, self.used + taken);
            if taken == rest.len() {
                (self.parts, self.used) = (&self.parts[1..], 0);
            }
        }
        if filled < BLOCK {
            self.pad(buffer, filled);
        }
    }

    /// Appends a one bit, zeros, and the length if the block has space for it.
    fn pad(&mut self, buffer: &mut Block, filled: usize) {
        buffer[filled..].fill(0);
        if !self.is_marked {
            buffer[filled] = 0x80;
            self.is_marked = true;
        }
        // The mark takes one byte and the length 16. Without space for both the length goes to a block of its own.
        if filled + 17 <= BLOCK || filled == 0 {
            buffer[BLOCK - 16..].copy_from_slice(&self.bits.to_be_bytes());
        }
    }
}

/// The memory in which blocks are assembled.
struct Buffers([Block; LANES]);

impl Buffers {
    #[inline(always)]
    fn new() -> Self {
        Self([[0; BLOCK]; LANES])
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        erase(self.0.as_flattened_mut());
    }
}

#[cfg(test)]
mod tests;
