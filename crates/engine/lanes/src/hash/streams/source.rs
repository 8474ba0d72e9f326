//! The blocks of a message that are left, and its padding.

use super::{BLOCK, Block, StreamHash};
use crate::hash::group::MessageEnding;
use crate::simd::erase;

/// A message whose hash has begun: whole blocks, which are read where they are, and then the end with its padding,
/// which is copied.
pub(super) struct MessageSource<'a> {
    whole: &'a [Block],
    /// The end of the message and its padding, in the last blocks.
    tail: [Block; TAIL],
    /// The first block of `tail` that is left.
    first: usize,
    /// True if the last block of `tail` is padding alone, which all messages of the run share.
    has_shared_padding: bool,
}

/// The most blocks of an end with its padding.
const TAIL: usize = 2;

/// The bytes of an end with its padding.
const TAIL_BYTES: usize = TAIL * BLOCK;

/// The bit that ends a message. FIPS 180-4 5.1.1.
pub(super) const MARK: u8 = 0x80;

impl Default for MessageSource<'_> {
    fn default() -> Self {
        Self { whole: &[], tail: [[0; BLOCK]; TAIL], first: TAIL, has_shared_padding: false }
    }
}

impl<'a> MessageSource<'a> {
    /// Begins a message of whole blocks that end with `padding`.
    #[inline(always)]
    pub(super) fn start_whole(&mut self, message: &'a [u8], padding: &Block) {
        self.whole = message.as_chunks().0;
        self.tail[TAIL - 1] = *padding;
        (self.first, self.has_shared_padding) = (TAIL - 1, true);
    }

    /// Begins a message.
    #[inline(always)]
    pub(super) fn start<H: StreamHash>(&mut self, message: &'a [u8], ending: MessageEnding) {
        let (whole, rest) = message.as_chunks();
        (self.whole, self.has_shared_padding) = (whole, false);
        // Not below 0: an end that is not whole takes one or two blocks with its padding.
        self.first = TAIL + whole.len() - ending.blocks::<H>(message.len());
        if self.first == TAIL {
            return;
        }
        self.tail = [[0; BLOCK]; TAIL];
        let tail = &mut self.tail.as_flattened_mut()[self.first * BLOCK..];
        if !rest.is_empty() {
            tail[..rest.len()].copy_from_slice(rest);
        }
        tail[rest.len()] = MARK;
        self.set_bits(ending.bits(message.len()));
    }

    /// Begins the outer hash of HMAC: of a digest of at most 32 bytes, which follows one block. RFC 2104 section 2.
    #[inline(always)]
    pub(super) fn start_outer(&mut self, digest: &[u8]) {
        let tail = &mut self.tail[TAIL - 1];
        *tail = [0; BLOCK];
        tail[..digest.len()].copy_from_slice(digest);
        tail[digest.len()] = MARK;
        self.set_bits(8 * (BLOCK + digest.len()) as u64);
        (self.first, self.has_shared_padding) = (TAIL - 1, false);
    }

    /// Writes the length of the message in bits, which ends the padding.
    #[inline(always)]
    fn set_bits(&mut self, bits: u64) {
        self.tail.as_flattened_mut()[TAIL_BYTES - size_of::<u64>()..].copy_from_slice(&bits.to_be_bytes());
    }

    /// Returns true if no block is left.
    #[inline(always)]
    pub(super) fn has_ended(&self) -> bool {
        self.whole.is_empty() && self.first == TAIL
    }

    /// Returns true if only the padding is left that all messages of the run share.
    #[inline(always)]
    pub(super) fn is_at_shared_padding(&self) -> bool {
        self.whole.is_empty() && self.has_shared_padding && self.first != TAIL
    }

    /// Returns the next blocks: all whole ones of the message, or those of its end. Empty if the message has ended.
    #[inline(always)]
    pub(super) fn left(&self) -> &[Block] {
        if self.whole.is_empty() { &self.tail[self.first..] } else { self.whole }
    }

    /// Moves on by a number of blocks, at most as many as [`MessageSource::left`] returned.
    #[inline(always)]
    pub(super) fn advance(&mut self, blocks: usize) {
        if self.whole.is_empty() {
            self.first += blocks;
        } else {
            self.whole = &self.whole[blocks..];
        }
    }
}

impl Drop for MessageSource<'_> {
    fn drop(&mut self) {
        // A message can be secret, and so is the inner digest of HMAC.
        erase(self.tail.as_flattened_mut());
    }
}
