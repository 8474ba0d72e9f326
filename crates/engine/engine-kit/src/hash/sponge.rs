//! SHA-3 and SHAKE over AWS-LC's permutation. FIPS 202.

use std::fmt;

use zeroize::Zeroize;

use crate::ffi::hash::HashState;
use crate::ffi::keccak::absorb;

/// A sponge with blocks of `RATE` bytes, a digest of `OUTPUT` bytes, and the suffix that follows every message,
/// together with the first bit of the padding. Erased on drop.
#[derive(Clone)]
pub struct Sponge<const RATE: usize, const OUTPUT: usize, const SUFFIX: u8> {
    state: [u64; 25],
    /// The beginning of a block that is not complete.
    block: [u8; RATE],
    filled: usize,
}

/// The suffix of SHA-3: the bits 01, and the first bit of the padding. FIPS 202 6.1.
const SHA3: u8 = 0x06;

/// The suffix of SHAKE: the bits 1111, and the first bit of the padding. FIPS 202 6.2.
const SHAKE: u8 = 0x1F;

/// SHA3-224.
pub type Sha3_224 = Sponge<144, 28, SHA3>;
/// SHA3-256.
pub type Sha3_256 = Sponge<136, 32, SHA3>;
/// SHA3-384.
pub type Sha3_384 = Sponge<104, 48, SHA3>;
/// SHA3-512.
pub type Sha3_512 = Sponge<72, 64, SHA3>;
/// SHAKE128 with 256 bits of output.
pub type Shake128 = Sponge<168, 32, SHAKE>;
/// SHAKE256 with 512 bits of output.
pub type Shake256 = Sponge<136, 64, SHAKE>;

/// Fills `out`, of any length, with SHAKE128 of the parts, one after the other. FIPS 202 section 6.2.
pub fn shake128(parts: &[&[u8]], out: &mut [u8]) {
    let mut hash = Shake128::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.squeeze(out);
}

/// Fills `out`, of any length, with SHAKE256 of the parts, one after the other. FIPS 202 section 6.2.
pub fn shake256(parts: &[&[u8]], out: &mut [u8]) {
    let mut hash = Shake256::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.squeeze(out);
}

impl<const RATE: usize, const OUTPUT: usize, const SUFFIX: u8> Sponge<RATE, OUTPUT, SUFFIX> {
    /// Pads the message and fills `out`. FIPS 202 algorithm 8.
    fn squeeze(mut self, out: &mut [u8]) {
        self.block[self.filled..].fill(0);
        // One byte if the message ends a byte before the block does.
        self.block[self.filled] = SUFFIX;
        self.block[RATE - 1] |= 0x80;
        absorb(&mut self.state, &self.block, RATE);
        for (index, chunk) in out.chunks_mut(RATE).enumerate() {
            if index > 0 {
                // A block of zeros leaves the state as it is, and the permutation follows.
                absorb(&mut self.state, &[0; RATE], RATE);
            }
            write_words(&self.state, chunk);
        }
    }
}

impl<const RATE: usize, const OUTPUT: usize, const SUFFIX: u8> HashState for Sponge<RATE, OUTPUT, SUFFIX> {
    const BLOCK: usize = RATE;
    const OUTPUT: usize = OUTPUT;
    const STATE: usize = 200;

    fn new() -> Self {
        Self { state: [0; 25], block: [0; RATE], filled: 0 }
    }

    fn update(&mut self, mut data: &[u8]) {
        if self.filled > 0 {
            let (now, later) = data.split_at(data.len().min(RATE - self.filled));
            self.block[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            if self.filled < RATE {
                return;
            }
            absorb(&mut self.state, &self.block, RATE);
            data = later;
        }
        let (blocks, rest) = data.split_at(data.len() / RATE * RATE);
        absorb(&mut self.state, blocks, RATE);
        self.block[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    fn update_with_digest_of(&mut self, other: Self) {
        let mut digest = [0; OUTPUT];
        other.squeeze(&mut digest);
        self.update(&digest);
        digest.zeroize();
    }

    fn finish(self, out: &mut [u8]) {
        let len = out.len().min(OUTPUT);
        self.squeeze(&mut out[..len]);
    }

    fn chain(&self, out: &mut [u8]) {
        write_words(&self.state, out);
    }

    fn compress(state: &[u8], blocks: &[u8], out: &mut [u8]) {
        let mut hash = Self::new();
        for (word, bytes) in hash.state.iter_mut().zip(state.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        absorb(&mut hash.state, blocks, RATE);
        hash.chain(out);
    }
}

impl<const RATE: usize, const OUTPUT: usize, const SUFFIX: u8> fmt::Debug for Sponge<RATE, OUTPUT, SUFFIX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sponge({RATE})")
    }
}

impl<const RATE: usize, const OUTPUT: usize, const SUFFIX: u8> Drop for Sponge<RATE, OUTPUT, SUFFIX> {
    fn drop(&mut self) {
        self.state.zeroize();
        self.block.zeroize();
    }
}

/// Writes the leading bytes of the words, as many as `out` holds.
fn write_words(words: &[u64; 25], out: &mut [u8]) {
    for (word, bytes) in words.iter().zip(out.chunks_mut(8)) {
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
}
