//! Hashes of many messages side by side: one in each half lane for words of 32 bits, one in each lane for words of
//! 64 bits.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`LaneHash`]: the operations of a hash function on a block of every lane |
//! | `sha1`, `sha256`, `sha512` | the functions; `sha2` has the shared rounds, `*_constants` the tables |
//! | `word` | words of 32 and of 64 bits in vectors |
//! | `group` | messages of different lengths in the lanes, block by block, and their padding |
//! | `alone` | one message at a time, for the last few of a group |
//! | `messages` | messages outside of records, for chains of a cipher and a MAC |
//! | `hmac` | keys as chaining values, the outer hash |
//! | `streams` | SHA-1 and SHA-256 by instructions of their own, several messages in turn |
//! | `run` | records: digests, parts of digests, HMAC |
//! | `parts` | SHA-512 of messages in several pieces, for signatures |

mod alone;
mod group;
mod hmac;
mod messages;
pub(crate) mod parts;
mod run;
pub(crate) mod sha1;
mod sha2;
pub(crate) mod sha256;
mod sha256_constants;
pub(crate) mod sha512;
mod sha512_constants;
pub(crate) mod streams;
mod word;

use std::marker::PhantomData;

use crate::simd::{HalfMask, LaneArray, Simd, Vector};

pub(crate) use group::MessageEnding as HashEnding;
#[cfg(feature = "measure")]
pub(crate) use group::{MessageEnding, MessageGroup, absorb};
pub(crate) use hmac::{HmacChains, HmacHash, LaneSha384};
pub(crate) use messages::advance;
pub(crate) use run::{offers, run};
pub(crate) use word::HashWord;

/// The words of a message block.
pub(crate) const WORDS: usize = 16;

/// The chaining values of every lane, word by word. SHA-1 uses five words.
pub(crate) type Chain<V> = [V; 8];

/// A chaining value, or two of 32-bit words, in big-endian bytes.
pub(crate) type ChainBytes = [u8; CHAIN_BYTES];

/// The bytes of a [`ChainBytes`].
pub(crate) const CHAIN_BYTES: usize = 64;

/// The most messages side by side: one per half lane of the widest vector.
pub(crate) const MAX_LANES: usize = 16;

/// A hash function in lanes. A block of every lane is sixteen vectors for both sizes of words and every width.
pub(crate) trait LaneHash: 'static {
    /// The word of the function.
    type Word: HashWord;

    /// The bytes of a block.
    const BLOCK: usize = WORDS * size_of::<Self::Word>();

    /// The number of messages whose blocks take as long one at a time as one step of eight words does. Measured.
    const ALONE: usize;

    /// Returns the chaining value before any block.
    fn initial() -> ChainBytes;

    /// Computes the rounds over a block of every lane of `N` groups. While the steps of one group wait, those of
    /// another run. Calls `meanwhile` every four rounds with their number, at least [`WORDS`] times.
    fn rounds<S: Simd, const N: usize>(
        simd: S,
        states: [Chain<S::V>; N],
        words: [[S::V; WORDS]; N],
        meanwhile: impl FnMut(usize),
    ) -> [Chain<S::V>; N];

    /// Moves one chaining value over whole blocks.
    fn compress_alone(state: &mut ChainBytes, blocks: &[u8]);

    /// As [`HashWord::arrange`].
    #[inline(always)]
    fn arrange<V: Vector>(rows: &mut [V; WORDS]) {
        Self::Word::arrange(rows);
    }

    /// As [`HashWord::lengths`].
    #[inline(always)]
    fn lengths<S: Simd>(simd: S, bits: &[u64; MAX_LANES]) -> [S::V; 2] {
        Self::Word::lengths(simd, bits)
    }

    /// As [`HashWord::add_if`].
    #[inline(always)]
    fn add_if<V: Vector>(word: V, running: HalfMask, other: V) -> V {
        Self::Word::add_if(word, running, other)
    }
}

/// Hashes one block of each lane whose bit is set in `running`. `meanwhile` is passed to [`LaneHash::rounds`]. FIPS
/// 180-4 6.1.2, 6.2.2 and 6.4.2.
#[inline(always)]
fn compress<S: Simd, H: LaneHash, const N: usize>(
    simd: S,
    chains: [Chain<S::V>; N],
    words: [[S::V; WORDS]; N],
    running: [HalfMask; N],
    meanwhile: impl FnMut(usize),
) -> [Chain<S::V>; N] {
    let mut sums = H::rounds(simd, chains, words, meanwhile);
    for ((sums, chain), running) in sums.iter_mut().zip(chains).zip(running) {
        for (sum, word) in sums.iter_mut().zip(chain) {
            // A lane that has ended computes too; the mask discards its sum, and its chaining value stays.
            *sum = H::add_if(word, running, *sum);
        }
    }
    sums
}

/// The layout of a hash function in vectors.
pub(crate) struct LaneLayout<V, H>(PhantomData<(V, H)>);

impl<V: Vector, H: LaneHash> LaneLayout<V, H> {
    /// The number of messages side by side.
    pub(crate) const LANES: usize = V::BYTES / size_of::<H::Word>();

    /// The rows of a block: the vectors that its bytes fill.
    pub(crate) const ROWS: usize = H::BLOCK / V::BYTES;

    /// The number of messages that are hashed one at a time rather than in lanes.
    pub(crate) const ALONE: usize = (H::ALONE * V::WORDS).div_ceil(8);

    /// The rows of a chaining value.
    const CHAIN_ROWS: usize = CHAIN_BYTES / V::BYTES;
}

/// Loads a chaining value for each lane, from the bytes that `value` returns. If its words have 32 bits, the last eight
/// vectors of the result are those of a second chaining value.
#[inline(always)]
pub(crate) fn load_chains<'a, S: Simd, H: LaneHash>(
    simd: S,
    value: impl Fn(usize) -> &'a ChainBytes,
) -> [S::V; WORDS] {
    let lanes = LaneLayout::<S::V, H>::LANES;
    let mut words = [simd.zero(); WORDS];
    for (at, word) in words.iter_mut().enumerate().take(lanes * LaneLayout::<S::V, H>::CHAIN_ROWS) {
        *word = simd.load_bytes(&LaneArray::chunks(value(at % lanes)).0[at / lanes]);
    }
    H::arrange(&mut words);
    words
}

/// The chaining values of all lanes as big-endian bytes.
#[derive(Clone, Copy)]
pub(crate) struct LaneChains<V, H>([V; WORDS], PhantomData<H>);

impl<V: Vector, H: LaneHash> LaneChains<V, H> {
    /// Arranges words to bytes.
    #[inline(always)]
    pub(crate) fn new<S: Simd<V = V>>(simd: S, chain: &Chain<V>) -> Self {
        let mut rows = [simd.zero(); WORDS];
        rows[..chain.len()].copy_from_slice(chain);
        H::arrange(&mut rows);
        Self(rows, PhantomData)
    }

    /// Stores the leading bytes of a lane's chaining value, as many as the slice holds.
    #[inline(always)]
    pub(crate) fn store(&self, lane: usize, out: &mut [u8]) {
        let rows = self.0.iter().skip(lane).step_by(LaneLayout::<V, H>::LANES);
        for (row, chunk) in rows.zip(out.chunks_mut(V::BYTES)) {
            row.store_prefix(chunk);
        }
    }
}

/// Computes `a ^ b ^ c`.
#[inline(always)]
fn xor3<V: Vector>(a: V, b: V, c: V) -> V {
    a.ternary::<0x96>(b, c)
}

#[cfg(test)]
mod tests;
