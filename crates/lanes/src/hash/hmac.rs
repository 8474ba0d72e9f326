//! HMAC: keys as chaining values, and the outer hash. RFC 2104.

use std::marker::PhantomData;

use zeroize::Zeroizing;

use super::alone::absorb_alone;
use super::group::MessageEnding;
use super::sha1::LaneSha1;
use super::sha256::LaneSha256;
use super::sha512::LaneSha512;
use super::{CHAIN_BYTES, Chain, ChainBytes, LaneHash, WORDS, compress};
use crate::simd::{HalfMask, Simd, erase};

/// A hash for HMAC.
pub(crate) trait HmacHash: LaneHash {
    /// The bytes of a digest.
    const OUTPUT: usize;
}

impl HmacHash for LaneSha1 {
    const OUTPUT: usize = 20;
}

impl HmacHash for LaneSha256 {
    const OUTPUT: usize = 32;
}

impl HmacHash for LaneSha512 {
    const OUTPUT: usize = 64;
}

/// The prepared form of a key for any hash: the chaining values after the inner and the outer padded key. RFC 2104
/// section 4.
pub(crate) struct HmacChains<H> {
    pub(crate) inner: ChainBytes,
    pub(crate) outer: ChainBytes,
    hash: PhantomData<fn() -> H>,
}

impl<H: HmacHash> HmacChains<H> {
    pub(crate) fn new(key: &[u8]) -> Self {
        let mut pad = Zeroizing::new([0; LONGEST_BLOCK]);
        if key.len() > H::BLOCK {
            let mut state = Zeroizing::new(H::initial());
            absorb_alone::<H>(&mut state, key, 0, MessageEnding::Padded { before: 0 });
            pad[..H::OUTPUT].copy_from_slice(&state[..H::OUTPUT]);
        } else {
            pad[..key.len()].copy_from_slice(key);
        }
        let mut prepared = Self { inner: H::initial(), outer: H::initial(), hash: PhantomData };
        for (state, mask) in [(&mut prepared.inner, 0x36), (&mut prepared.outer, 0x36 ^ 0x5C)] {
            // The first mask is still in the pad, so the second one cancels it.
            pad.iter_mut().for_each(|byte| *byte ^= mask);
            H::compress_alone(state, &pad[..H::BLOCK]);
        }
        prepared
    }
}

impl<H> Drop for HmacChains<H> {
    fn drop(&mut self) {
        erase(&mut self.inner);
        erase(&mut self.outer);
    }
}

/// The bytes of the longest block.
const LONGEST_BLOCK: usize = 128;

/// The prepared form of a key: the chaining value after the inner padded key, and in the second half the
/// one after the outer padded key. RFC 2104 section 4.
pub(super) struct HmacStates<H> {
    states: ChainBytes,
    hash: PhantomData<fn() -> H>,
}

impl<H: HmacHash> HmacStates<H> {
    pub(super) fn new(key: &[u8]) -> Self {
        let pad = padded::<H>(key);
        let mut prepared = Self { states: [0; CHAIN_BYTES], hash: PhantomData };
        for (half, mask) in
            prepared.states.as_chunks_mut::<{ CHAIN_BYTES / 2 }>().0.iter_mut().zip([0x36, 0x5C])
        {
            let (mut state, masked) =
                (Zeroizing::new(H::initial()), Zeroizing::new(pad.map(|byte| byte ^ mask)));
            // One block each, once per key: lanes would gain nothing.
            H::compress_alone(&mut state, &masked[..]);
            half.copy_from_slice(&state[..CHAIN_BYTES / 2]);
        }
        prepared
    }

    /// Returns both chaining values.
    pub(super) fn states(&self) -> &ChainBytes {
        &self.states
    }
}

/// The bytes of a block of either function, to which a key is padded.
const KEY_BLOCK: usize = 64;

/// Pads a key with zeros. A key longer than a block is hashed first. RFC 2104 section 2.
fn padded<H: HmacHash>(key: &[u8]) -> Zeroizing<[u8; KEY_BLOCK]> {
    let mut pad = Zeroizing::new([0; KEY_BLOCK]);
    if key.len() > H::BLOCK {
        let mut state = Zeroizing::new(H::initial());
        absorb_alone::<H>(&mut state, key, 0, MessageEnding::Padded { before: 0 });
        pad[..H::OUTPUT].copy_from_slice(&state[..H::OUTPUT]);
    } else {
        pad[..key.len()].copy_from_slice(key);
    }
    pad
}

impl<H> Drop for HmacStates<H> {
    fn drop(&mut self) {
        erase(&mut self.states);
    }
}

/// The end of a message that follows the padded key.
pub(super) const INNER: MessageEnding = MessageEnding::Padded { before: KEY_BLOCK as u64 };

/// Computes the outer hash over the digests in `inner`.
pub(super) fn finish<S: Simd, H: HmacHash>(simd: S, inner: &Chain<S::V>, outer: &Chain<S::V>) -> Chain<S::V> {
    simd.call(
        #[inline(always)]
        || {
            let digest_words = H::OUTPUT / 4;
            let mut words = [simd.zero(); WORDS];
            words[..digest_words].copy_from_slice(&inner[..digest_words]);
            // The padding of the outer message is constant: a digest that follows one block.
            words[digest_words] = simd.splat32(0x8000_0000);
            words[WORDS - 1] = simd.splat32(8 * (KEY_BLOCK + H::OUTPUT) as u32);
            compress::<S, H, 1>(simd, [*outer], [words], [HalfMask::MAX], |_| {})[0]
        },
    )
}
