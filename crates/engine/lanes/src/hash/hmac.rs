//! HMAC: keys as chaining values, and the outer hash. RFC 2104.

use std::convert::Infallible;
use std::marker::PhantomData;

use oarlock_core::KeySource;
use zeroize::Zeroizing;

use super::alone::absorb_alone;
use super::group::MessageEnding;
use super::sha1::LaneSha1;
use super::sha256::{LaneSha256, initial_224};
use super::sha512::{LaneSha512, initial_384};
use super::{CHAIN_BYTES, Chain, ChainBytes, HashWord, LaneHash, MerkleDamgard, WORDS, compress};
use crate::records::RecordPart;
use crate::simd::{HalfMask, Simd, erase};

/// A hash for HMAC.
pub(crate) trait HmacHash: 'static {
    /// The function whose lanes compute it.
    type Lanes: MerkleDamgard;

    /// The bytes of a digest.
    const OUTPUT: usize;

    /// Returns the chaining value before any block.
    fn initial_chain() -> ChainBytes {
        Self::Lanes::initial()
    }
}

impl HmacHash for LaneSha1 {
    type Lanes = Self;

    const OUTPUT: usize = 20;
}

impl HmacHash for LaneSha256 {
    type Lanes = Self;

    const OUTPUT: usize = 32;
}

/// SHA-224: SHA-256 from another chaining value, with a shorter digest.
pub(crate) struct LaneSha224;

impl HmacHash for LaneSha224 {
    type Lanes = LaneSha256;

    const OUTPUT: usize = 28;

    fn initial_chain() -> ChainBytes {
        initial_224()
    }
}

/// SHA-384: SHA-512 from another chaining value, with a shorter digest.
pub(crate) struct LaneSha384;

impl HmacHash for LaneSha384 {
    type Lanes = LaneSha512;

    const OUTPUT: usize = 48;

    fn initial_chain() -> ChainBytes {
        initial_384()
    }
}

impl HmacHash for LaneSha512 {
    type Lanes = Self;

    const OUTPUT: usize = 64;
}

/// The prepared form of a key: the chaining values after the inner and after the outer padded key. RFC 2104 section 4.
pub(crate) struct HmacChains<H> {
    /// The inner and the outer value. If words have 32 bits, both are in the first array.
    states: [ChainBytes; 2],
    hash: PhantomData<fn() -> H>,
}

impl<H: HmacHash> HmacChains<H> {
    pub(super) fn new(key: &[u8]) -> Self {
        let mut pad = Zeroizing::new([0; LONGEST_BLOCK]);
        if key.len() > H::Lanes::BLOCK {
            // A key longer than a block is hashed first. RFC 2104 section 2.
            let mut state = Zeroizing::new(H::initial_chain());
            absorb_alone::<H::Lanes>(&mut state, key, 0, MessageEnding::Padded { before: 0 });
            pad[..H::OUTPUT].copy_from_slice(&state[..H::OUTPUT]);
        } else {
            pad[..key.len()].copy_from_slice(key);
        }
        let mut prepared = Self { states: [[0; CHAIN_BYTES]; 2], hash: PhantomData };
        let chains = prepared.states.as_flattened_mut().chunks_exact_mut(chain_len::<H::Lanes>());
        for (chain, mask) in chains.zip([0x36, 0x36 ^ 0x5C]) {
            // The first mask is still in the pad, so the second one cancels it.
            pad.iter_mut().for_each(|byte| *byte ^= mask);
            let mut state = Zeroizing::new(H::initial_chain());
            // One block each, once per key: lanes would gain nothing.
            H::Lanes::compress_alone(&mut state, &pad[..H::Lanes::BLOCK]);
            chain.copy_from_slice(&state[..chain.len()]);
        }
        prepared
    }

    /// Calls `take` with the prepared form of a record's key, which is cached with the key's handle, or made for this
    /// record if the key is in a slot: such a key changes from batch to batch.
    pub(crate) fn with<R>(
        part: &RecordPart<'_>,
        source: KeySource,
        bytes: &[u8],
        take: impl FnOnce(&Self) -> R,
    ) -> R {
        let handle = match source {
            KeySource::Table(index) => part.key_table().get(index as usize),
            KeySource::Slot(_) => None,
        };
        match handle.map(|key| key.prepared::<_, Infallible>(|_| Ok(Self::new(bytes)))) {
            Some(Ok(prepared)) => take(prepared),
            None => take(&Self::new(bytes)),
        }
    }

    /// Returns both chaining values as [`super::load_chains`] takes them.
    pub(super) fn states(&self) -> &[ChainBytes; 2] {
        &self.states
    }

    /// Returns the chaining values after the inner and after the outer key.
    pub(crate) fn each(&self) -> Zeroizing<[ChainBytes; 2]> {
        let mut values = Zeroizing::new([[0; CHAIN_BYTES]; 2]);
        let states = self.states.as_flattened().chunks_exact(chain_len::<H::Lanes>());
        for (value, state) in values.iter_mut().zip(states) {
            value[..state.len()].copy_from_slice(state);
        }
        values
    }
}

impl<H> Drop for HmacChains<H> {
    fn drop(&mut self) {
        erase(self.states.as_flattened_mut());
    }
}

/// The bytes of the longest block.
const LONGEST_BLOCK: usize = 128;

/// Returns the bytes of a chaining value of eight words.
const fn chain_len<H: MerkleDamgard>() -> usize {
    8 * size_of::<H::Word>()
}

/// Returns the end of a message that follows the padded key.
pub(super) const fn inner<H: MerkleDamgard>() -> MessageEnding {
    MessageEnding::Padded { before: H::BLOCK as u64 }
}

/// Computes the outer hash over the digests of `output` bytes in `inner`.
pub(super) fn finish<S: Simd, H: MerkleDamgard>(
    simd: S,
    output: usize,
    inner: &Chain<S::V>,
    outer: &Chain<S::V>,
) -> Chain<S::V> {
    simd.call(
        #[inline(always)]
        || {
            let digest_words = output / size_of::<H::Word>();
            let mut words = [simd.zero(); WORDS];
            words[..digest_words].copy_from_slice(&inner[..digest_words]);
            // The padding of the outer message is constant: a digest that follows one block.
            words[digest_words] = H::Word::splat(simd, H::Word::TOP_BIT);
            words[WORDS - 1] = H::Word::splat(simd, (8 * (H::BLOCK + output) as u16).into());
            compress::<S, H, 1>(simd, [*outer], [words], [HalfMask::MAX], |_| {})[0]
        },
    )
}
