//! Hashing of one message at a time by the crates `sha1` and `sha2`, which use the SHA instructions of the CPU if it
//! has them.

use zeroize::{Zeroize, Zeroizing};

use super::group::MessageEnding;
use super::{CHAIN_BYTES, ChainBytes, LaneHash, MerkleDamgard};

/// The longest end of a message with its padding: two blocks of SHA-512.
const LONGEST_END: usize = 256;

/// Advances `state` over a message from byte `at` on, which starts a block, and over its padding.
pub(super) fn absorb_alone<H: MerkleDamgard>(
    state: &mut ChainBytes,
    message: &[u8],
    at: usize,
    ending: MessageEnding,
) {
    let rest = message.get(at..).unwrap_or_default();
    let (blocks, end) = rest.split_at(rest.len() / H::BLOCK * H::BLOCK);
    H::compress_alone(state, blocks);
    // With an open end nothing is left, and no padding follows.
    let left = (ending.blocks::<H>(message.len()) * H::BLOCK).saturating_sub(at + blocks.len());
    let mut padded = Zeroizing::new([0; LONGEST_END]);
    if let Some(padded) = padded.get_mut(..left)
        && let Some((mark, _)) = padded.get_mut(end.len()..).and_then(|padding| padding.split_first_mut())
    {
        // If the lane already absorbed the mark, only the block with the length is left.
        *mark = if message.len() >= at { 0x80 } else { 0 };
        padded[..end.len()].copy_from_slice(end);
        padded[left - 8..].copy_from_slice(&ending.bits(message.len()).to_be_bytes());
        H::compress_alone(state, padded);
    }
}

/// Returns words in big-endian bytes, followed by zeros.
pub(super) fn chain_bytes<const N: usize, const B: usize>(words: [[u8; B]; N]) -> ChainBytes {
    let mut bytes = [0; CHAIN_BYTES];
    bytes.iter_mut().zip(words.as_flattened()).for_each(|(to, from)| *to = *from);
    bytes
}

/// Calls `body` with the words of a chaining value, and stores its changes.
pub(super) fn with_words<T: Copy + Default + Zeroize, const N: usize, const B: usize>(
    chain: &mut ChainBytes,
    from_bytes: impl Fn([u8; B]) -> T,
    to_bytes: impl Fn(T) -> [u8; B],
    body: impl FnOnce(&mut [T; N]),
) {
    let mut words = [T::default(); N];
    for (word, bytes) in words.iter_mut().zip(chain.as_chunks().0) {
        *word = from_bytes(*bytes);
    }
    body(&mut words);
    for (bytes, word) in chain.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = to_bytes(word);
    }
    words.zeroize();
}
