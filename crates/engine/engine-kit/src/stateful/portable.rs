//! The hash functions by one stream of compression functions, on every processor.

use sha2::block_api::compress256;

use super::{ChainStart, PaddedMessages, TreeHasher};
use crate::slh_dsa::portable::keccak::permute;
use crate::slh_dsa::portable::{SHA256_START, absorb};

/// Hashes one message after the other.
#[derive(Clone, Copy, Debug)]
pub struct PortableHasher;

impl TreeHasher for PortableHasher {
    fn hash(&self, messages: &PaddedMessages, values: &mut [u8]) {
        let padded = messages.padded().chunks_exact(messages.padded_len());
        let pairs = padded.zip(values.chunks_exact_mut(messages.hash().n()));
        match messages.hash().is_shake() {
            true => pairs.for_each(|(padded, value)| shake256(padded, value)),
            false => {
                let starts = (0..).map(|index| messages.start(index));
                starts.zip(pairs).for_each(|(start, (padded, value))| sha256(start, padded, value));
            }
        }
    }
}

/// Returns the chaining value behind a first block.
pub(super) fn start_behind(block: &[u8; 64]) -> ChainStart {
    let mut start = [0; 32];
    sha256(None, block, &mut start);
    start
}

fn sha256(start: Option<&ChainStart>, padded: &[u8], value: &mut [u8]) {
    let mut state = SHA256_START;
    if let Some(start) = start {
        state
            .iter_mut()
            .zip(start.as_chunks().0)
            .for_each(|(word, bytes)| *word = u32::from_be_bytes(*bytes));
    }
    compress256(&mut state, padded.as_chunks().0);
    value.as_chunks_mut().0.iter_mut().zip(state).for_each(|(bytes, word)| *bytes = word.to_be_bytes());
}

fn shake256(padded: &[u8], value: &mut [u8]) {
    let mut state = [0; 25];
    for block in padded.as_chunks().0 {
        absorb(&mut state, block);
        permute(&mut state);
    }
    value.as_chunks_mut().0.iter_mut().zip(state).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
}
