//! The hash functions of the SHA-2 sets. FIPS 205 section 11.2.

use sha2::block_api::{compress256, compress512};
use zeroize::Zeroize;

use crate::slh_dsa::{Address, Chain, HashSteps};

/// The steps under some public seeds.
#[derive(Debug)]
pub(super) struct Sha2Steps {
    n: usize,
    seeds: Vec<SeedStates>,
}

/// The states after PK.seed and zeros up to a block.
#[derive(Debug)]
struct SeedStates {
    sha256: [u32; 8],
    sha512: [u64; 8],
}

impl Sha2Steps {
    pub(super) fn new<'s>(n: usize, public_seeds: impl Iterator<Item = &'s [u8]>) -> Self {
        Self { n, seeds: public_seeds.map(SeedStates::new).collect() }
    }

    fn seed(&self, address: &Address) -> &SeedStates {
        &self.seeds[address.key as usize]
    }
}

impl SeedStates {
    fn new(public_seed: &[u8]) -> Self {
        let (mut short, mut long) = ([0; 64], [0; 128]);
        short[..public_seed.len()].copy_from_slice(public_seed);
        long[..public_seed.len()].copy_from_slice(public_seed);
        let (mut sha256, mut sha512) = (SHA256_START, SHA512_START);
        compress256(&mut sha256, &[short]);
        compress512(&mut sha512, &[long]);
        Self { sha256, sha512 }
    }
}

/// The number of bytes from which the fields of a compressed address are the index of the step.
const INDEX_AT: usize = Address::COMPRESSED_LEN - 4;

impl HashSteps for Sha2Steps {
    fn chains(&self, chains: &[Chain], values: &mut [u8]) {
        let end = Address::COMPRESSED_LEN + self.n;
        // Everything but the address and the value is the same for all steps: the padding, and the length with PK.seed.
        let mut block = [0; 64];
        block[end] = 0x80;
        block[56..].copy_from_slice(&(8 * (64 + end) as u64).to_be_bytes());
        let mut state = [0; 8];
        for (chain, value) in chains.iter().zip(values.chunks_exact_mut(self.n)) {
            let start = &self.seed(&chain.first).sha256;
            block[..Address::COMPRESSED_LEN].copy_from_slice(&chain.first.compressed());
            block[Address::COMPRESSED_LEN..end].copy_from_slice(value);
            for step in 0..u32::from(chain.steps) {
                block[INDEX_AT..Address::COMPRESSED_LEN]
                    .copy_from_slice(&(chain.first.index + step).to_be_bytes());
                state = *start;
                compress256(&mut state, &[block]);
                let words = block[Address::COMPRESSED_LEN..end].chunks_exact_mut(4);
                words.zip(&state).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
            }
            value.copy_from_slice(&block[Address::COMPRESSED_LEN..end]);
        }
        block.zeroize();
        state.zeroize();
    }

    fn nodes(&self, addresses: &[Address], children: &[u8], nodes: &mut [u8]) {
        let each = children.len() / addresses.len().max(1);
        let mut message = vec![0; Address::COMPRESSED_LEN + each];
        let items = addresses.iter().zip(children.chunks_exact(each)).zip(nodes.chunks_exact_mut(self.n));
        for ((address, children), node) in items {
            message[..Address::COMPRESSED_LEN].copy_from_slice(&address.compressed());
            message[Address::COMPRESSED_LEN..].copy_from_slice(children);
            // FIPS 205 section 11.2.2: H and T of the larger sets are SHA-512.
            match self.n {
                16 => finish256(self.seed(address).sha256, &message, node),
                _ => finish512(self.seed(address).sha512, &message, node),
            }
        }
        message.zeroize();
    }
}

/// Writes the leading bytes of SHA-256 over the block of `state` and a message.
fn finish256(mut state: [u32; 8], message: &[u8], out: &mut [u8]) {
    let (blocks, rest) = message.as_chunks();
    compress256(&mut state, blocks);
    let mut last = [[0; 64]; 2];
    let count = pad(last.as_flattened_mut(), rest, 64, message.len());
    compress256(&mut state, &last[..count]);
    out.chunks_exact_mut(4).zip(state).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
    (last, state).zeroize();
}

/// Writes the leading bytes of SHA-512 over the block of `state` and a message.
fn finish512(mut state: [u64; 8], message: &[u8], out: &mut [u8]) {
    let (blocks, rest) = message.as_chunks();
    compress512(&mut state, blocks);
    let mut last = [[0; 128]; 2];
    let count = pad(last.as_flattened_mut(), rest, 128, message.len());
    compress512(&mut state, &last[..count]);
    out.chunks_exact_mut(8).zip(state).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_be_bytes()));
    (last, state).zeroize();
}

/// Pads the rest of a message of `len` bytes that follows one block. Returns the number of blocks. FIPS 180-4 section
/// 5.1.
fn pad(blocks: &mut [u8], rest: &[u8], block_len: usize, len: usize) -> usize {
    blocks[..rest.len()].copy_from_slice(rest);
    blocks[rest.len()] = 0x80;
    // The length field is an eighth of a block, and its first half is always zero here for SHA-512.
    let count = (rest.len() + 1 + block_len / 8).div_ceil(block_len);
    let bits = (8 * (block_len + len) as u64).to_be_bytes();
    blocks[count * block_len - 8..count * block_len].copy_from_slice(&bits);
    count
}

/// FIPS 180-4 section 5.3.3.
pub(crate) const SHA256_START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// FIPS 180-4 section 5.3.5.
const SHA512_START: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];
