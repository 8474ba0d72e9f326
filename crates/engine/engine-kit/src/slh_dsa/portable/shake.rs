//! The hash functions of the SHAKE sets: SHAKE256 throughout. FIPS 205 section 11.1.

use zeroize::Zeroize;

use super::keccak::permute;
use crate::slh_dsa::{Address, Chain, HashSteps};

/// The number of bytes that SHAKE256 absorbs at once. FIPS 202 section 6.2.
const RATE: usize = 136;

/// The steps under some public seeds.
#[derive(Debug)]
pub(super) struct ShakeSteps {
    n: usize,
    seeds: Vec<Vec<u8>>,
}

impl ShakeSteps {
    pub(super) fn new<'s>(n: usize, public_seeds: impl Iterator<Item = &'s [u8]>) -> Self {
        Self { n, seeds: public_seeds.map(<[u8]>::to_vec).collect() }
    }

    fn begin(&self, address: &Address, message: &mut [u8]) {
        message[..self.n].copy_from_slice(&self.seeds[address.key as usize]);
        message[self.n..self.n + Address::LEN].copy_from_slice(&address.encoded());
    }
}

/// Writes the leading bytes of SHAKE256 over a message. `state` is left for the caller to wipe.
fn hash(message: &[u8], state: &mut [u64; 25], out: &mut [u8]) {
    state.fill(0);
    let (blocks, rest) = message.as_chunks::<RATE>();
    for block in blocks {
        absorb(state, block);
        permute(state);
    }
    let mut last = [0; RATE];
    last[..rest.len()].copy_from_slice(rest);
    // The domain of SHAKE, and the end of the padding. FIPS 202 sections 6.2 and 5.1.
    last[rest.len()] = 0x1f;
    last[RATE - 1] |= 0x80;
    absorb(state, &last);
    permute(state);
    last.zeroize();
    out.chunks_exact_mut(8).zip(state).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
}

/// Adds a block to a state.
pub(crate) fn absorb(state: &mut [u64; 25], block: &[u8; RATE]) {
    let words = block.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    state.iter_mut().zip(words).for_each(|(word, absorbed)| *word ^= absorbed);
}

impl HashSteps for ShakeSteps {
    fn chains(&self, chains: &[Chain], values: &mut [u8]) {
        let value_at = self.n + Address::LEN;
        let mut message = vec![0; value_at + self.n];
        let mut state = [0; 25];
        for (chain, value) in chains.iter().zip(values.chunks_exact_mut(self.n)) {
            self.begin(&chain.first, &mut message);
            for step in 0..u32::from(chain.steps) {
                message[value_at - 4..value_at].copy_from_slice(&(chain.first.index + step).to_be_bytes());
                message[value_at..].copy_from_slice(value);
                hash(&message, &mut state, value);
            }
        }
        message.zeroize();
        state.zeroize();
    }

    fn nodes(&self, addresses: &[Address], children: &[u8], nodes: &mut [u8]) {
        let each = children.len() / addresses.len().max(1);
        let children_at = self.n + Address::LEN;
        let mut message = vec![0; children_at + each];
        let mut state = [0; 25];
        let items = addresses.iter().zip(children.chunks_exact(each)).zip(nodes.chunks_exact_mut(self.n));
        for ((address, children), node) in items {
            self.begin(address, &mut message);
            message[children_at..].copy_from_slice(children);
            hash(&message, &mut state, node);
        }
        message.zeroize();
        state.zeroize();
    }
}
