//! Messages of one length, padded for their hash function.

use oarlock_core::TreeHash;

/// The bytes of a block of SHA-256.
const SHA256_BLOCK: usize = 64;

/// The bytes that SHAKE256 absorbs at once. FIPS 202 section 6.2.
const SHAKE256_BLOCK: usize = 136;

/// Messages of one length, each padded to whole blocks.
///
/// The padding is made once. The steps of a chain change the bytes before it. A first block of SHA-256 that many
/// messages have in common is left out: its chaining value stands for it.
#[derive(Debug)]
pub struct PaddedMessages {
    hash: TreeHash,
    len: usize,
    padded_len: usize,
    bytes: Vec<u8>,
    /// The chaining values before the messages, or none if they begin with their first block.
    starts: Vec<ChainStart>,
}

/// A chaining value of SHA-256, in big-endian bytes.
pub type ChainStart = [u8; 32];

impl PaddedMessages {
    /// Makes an empty list for messages of `len` bytes.
    pub(super) fn new(hash: TreeHash, len: usize) -> Self {
        let padded_len = match hash.is_shake() {
            // The suffix and the last bit share a byte at least.
            true => (len + 1).next_multiple_of(SHAKE256_BLOCK),
            // A mark, and the length in eight bytes.
            false => (len + 9).next_multiple_of(SHA256_BLOCK),
        };
        Self { hash, len, padded_len, bytes: Vec::new(), starts: Vec::new() }
    }

    /// Returns the hash function.
    #[must_use]
    pub fn hash(&self) -> TreeHash {
        self.hash
    }

    /// Returns the number of messages.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bytes.len() / self.padded_len
    }

    /// Returns the number of bytes of each message with its padding.
    #[must_use]
    pub fn padded_len(&self) -> usize {
        self.padded_len
    }

    /// Returns the messages with their padding, one behind the other: blocks of 64 bytes for SHA-256, and of 136 bytes
    /// for SHAKE256.
    #[must_use]
    pub fn padded(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the chaining value of SHA-256 before a message, or `None` if the message begins with its first block.
    #[must_use]
    pub fn start(&self, index: usize) -> Option<&ChainStart> {
        self.starts.get(index)
    }

    /// Appends a message behind a first block. All messages of a list have one, or none has.
    pub(super) fn push_behind(&mut self, start: &ChainStart, parts: &[&[u8]]) {
        self.starts.push(*start);
        self.push(parts);
    }

    /// Appends a message, given in parts.
    pub(super) fn push(&mut self, parts: &[&[u8]]) {
        let start = self.bytes.len();
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        debug_assert_eq!(self.bytes.len() - start, self.len, "a message of another length");
        self.bytes.resize(start + self.padded_len, 0);
        let padding = &mut self.bytes[start + self.len..];
        if self.hash.is_shake() {
            // The bits 1111 of SHAKE and the first bit of the padding; the last bit. FIPS 202 sections 5.1 and 6.2.
            padding[0] = 0x1F;
            padding[self.padded_len - self.len - 1] |= 0x80;
        } else {
            // FIPS 180-4 section 5.1.1.
            padding[0] = 0x80;
            let before = if self.starts.is_empty() { 0 } else { SHA256_BLOCK };
            let bits = (8 * (before + self.len) as u64).to_be_bytes();
            padding[self.padded_len - self.len - 8..].copy_from_slice(&bits);
        }
    }

    /// Returns the bytes of a message.
    pub(super) fn message_mut(&mut self, index: usize) -> &mut [u8] {
        &mut self.bytes[index * self.padded_len..][..self.len]
    }

    /// Removes a message. The last one takes its number.
    pub(super) fn swap_remove(&mut self, index: usize) {
        let last = self.bytes.len() - self.padded_len;
        self.bytes.copy_within(last.., index * self.padded_len);
        self.bytes.truncate(last);
        if !self.starts.is_empty() {
            self.starts.swap_remove(index);
        }
    }

    /// Removes all messages.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }
}
