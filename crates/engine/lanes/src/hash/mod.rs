//! Hashes of many messages side by side: one in each half lane for words of 32 bits, one in each lane for words of
//! 64 bits.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`LaneHash`]: the operations of a hash function on a block of every lane, for SHA-1 and SHA-2 |
//! | `sha1`, `sha256`, `sha512` | the functions; `sha2` has the shared rounds, `*_constants` the tables |
//! | `sponge` | SHA-3 and SHAKE |
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
pub(crate) mod sponge;
pub(crate) mod streams;
mod word;

use std::marker::PhantomData;

use zeroize::Zeroize;

use crate::simd::{HalfMask, LaneArray, Simd, Vector};

pub(crate) use group::MessageEnding;
#[cfg(feature = "measure")]
pub(crate) use group::{MessageGroup, absorb};
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

/// A hash function of many messages, one in each lane or half lane.
pub(crate) trait LaneHash: 'static {
    /// The chaining values of every lane, word by word.
    type Chain<V: Vector>: LaneArray<V> + Zeroize;

    /// A block of every lane, word by word.
    type Words<V: Vector>: LaneArray<V>;

    /// The chaining values of every lane as bytes: row `r * LANES + j` is part `r` of lane `j`.
    type Rows<V: Vector>: LaneArray<V>;

    /// The chaining value of one lane as bytes.
    type State: LaneArray<u8>;

    /// The bytes of a block.
    const BLOCK: usize;

    /// The bytes of a word.
    const WORD: usize;

    /// The fewest bytes that the padding adds to a message.
    const MIN_PADDING: usize;

    /// True if two groups are hashed in turn on leaves whose vectors [hash in pairs](Vector::HASHES_IN_PAIRS).
    const IN_PAIRS: bool;

    /// The number of messages whose blocks take as long one at a time as one step of eight words does.
    const MAX_ALONE: usize;

    /// Loads block `step` of every lane's message, which must have it whole.
    fn load<S: Simd>(simd: S, messages: &LaneMessages<'_>, step: usize) -> Self::Words<S::V>;

    /// Loads block `step` if some messages end, with the padding of these. A lane past its end gets arbitrary bytes.
    /// `last` are the lanes whose last block it is.
    fn load_end<S: Simd>(
        simd: S,
        messages: &LaneMessages<'_>,
        step: usize,
        last: HalfMask,
        ending: MessageEnding,
    ) -> Self::Words<S::V>;

    /// Hashes one block of each lane whose bit is set in `running`, in `N` groups. Calls `meanwhile` with the numbers
    /// from 0 on, at least [`WORDS`] times, so that other work can be spread over the block.
    fn compress<S: Simd, const N: usize>(
        simd: S,
        chains: &mut [Self::Chain<S::V>; N],
        words: [Self::Words<S::V>; N],
        running: [HalfMask; N],
        meanwhile: impl FnMut(usize),
    );

    /// Turns words into rows.
    fn to_rows<S: Simd>(simd: S, chain: &Self::Chain<S::V>) -> Self::Rows<S::V>;

    /// Turns rows into words.
    fn from_rows<V: Vector>(rows: Self::Rows<V>) -> Self::Chain<V>;

    /// Moves one chaining value over a message from byte `at` on, which starts a block, and over its padding.
    fn absorb_alone(state: &mut Self::State, message: &[u8], at: usize, ending: MessageEnding);
}

/// The message of each lane.
pub(crate) type LaneMessages<'a> = [&'a [u8]; MAX_LANES];

/// A hash function of blocks of sixteen words, whose padding ends with the length of the message: SHA-1 and SHA-2. A
/// block of every lane is sixteen vectors for both sizes of words and every width.
pub(crate) trait MerkleDamgard: 'static {
    /// The word of the function.
    type Word: HashWord;

    /// As [`LaneHash::MAX_ALONE`]. Measured.
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

impl<H: MerkleDamgard> LaneHash for H {
    type Chain<V: Vector> = Chain<V>;
    type Words<V: Vector> = [V; WORDS];
    type Rows<V: Vector> = [V; WORDS];
    type State = ChainBytes;

    const BLOCK: usize = WORDS * Self::WORD;
    const WORD: usize = size_of::<H::Word>();
    // A mark of one byte, and the length in an eighth of a block.
    const MIN_PADDING: usize = 1 + Self::BLOCK / 8;
    const IN_PAIRS: bool = true;
    const MAX_ALONE: usize = H::ALONE;

    #[inline(always)]
    fn load<S: Simd>(simd: S, messages: &LaneMessages<'_>, step: usize) -> [S::V; WORDS] {
        let mut rows = [simd.zero(); WORDS];
        for (at, row) in rows.iter_mut().enumerate() {
            let (lanes, rows) = (LaneLayout::<S::V, H>::LANES, Self::BLOCK / S::V::BYTES);
            let message = LaneArray::chunks(messages[at % lanes]).0;
            *row = simd.load_bytes(&message[rows * step + at / lanes]);
        }
        H::arrange(&mut rows);
        rows
    }

    #[inline(always)]
    fn load_end<S: Simd>(
        simd: S,
        messages: &LaneMessages<'_>,
        step: usize,
        last: HalfMask,
        ending: MessageEnding,
    ) -> [S::V; WORDS] {
        // FIPS 180-4 5.1: a bit behind the message.
        const MARK: &Marks = &marks(0x80);
        let mut words = [simd.zero(); WORDS];
        for (at, word) in words.iter_mut().enumerate() {
            let lanes = LaneLayout::<S::V, H>::LANES;
            let from = Self::BLOCK * step + S::V::BYTES * (at / lanes);
            *word = row_and_mark(simd, messages[at % lanes], from, MARK);
        }
        H::arrange(&mut words);
        // The length goes to lanes whose last block this is. Others may have ended before or have blocks to come.
        if last != 0 {
            let mut bits = [0; MAX_LANES];
            for (bits, message) in bits.iter_mut().zip(messages) {
                *bits = ending.bits(message.len());
            }
            let [high, low] = H::lengths(simd, &bits);
            words[WORDS - 2] = H::add_if(words[WORDS - 2], last, high);
            words[WORDS - 1] = H::add_if(words[WORDS - 1], last, low);
        }
        words
    }

    #[inline(always)]
    fn compress<S: Simd, const N: usize>(
        simd: S,
        chains: &mut [Chain<S::V>; N],
        words: [[S::V; WORDS]; N],
        running: [HalfMask; N],
        meanwhile: impl FnMut(usize),
    ) {
        *chains = compress::<S, H, N>(simd, *chains, words, running, meanwhile);
    }

    #[inline(always)]
    fn to_rows<S: Simd>(simd: S, chain: &Chain<S::V>) -> [S::V; WORDS] {
        let mut rows = [simd.zero(); WORDS];
        rows[..chain.len()].copy_from_slice(chain);
        H::arrange(&mut rows);
        rows
    }

    #[inline(always)]
    fn from_rows<V: Vector>(mut rows: [V; WORDS]) -> Chain<V> {
        H::arrange(&mut rows);
        let [chain, _] = halves(rows);
        chain
    }

    fn absorb_alone(state: &mut ChainBytes, message: &[u8], at: usize, ending: MessageEnding) {
        alone::absorb_alone::<H>(state, message, at, ending);
    }
}

/// Hashes one block of each lane whose bit is set in `running`. `meanwhile` is passed to [`MerkleDamgard::rounds`].
/// FIPS 180-4 6.1.2, 6.2.2 and 6.4.2.
#[inline(always)]
fn compress<S: Simd, H: MerkleDamgard, const N: usize>(
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
    pub(crate) const LANES: usize = V::BYTES / H::WORD;

    /// The number of groups that are hashed in turn.
    pub(crate) const GROUPS: usize = if V::HASHES_IN_PAIRS && H::IN_PAIRS { 2 } else { 1 };

    /// The number of messages that are hashed one at a time rather than in lanes.
    pub(crate) const ALONE: usize = (H::MAX_ALONE * V::WORDS).div_ceil(8);
}

/// Loads a chaining value for each lane, from the bytes that `value` returns. If its words have 32 bits, the last eight
/// vectors of the result are those of a second chaining value.
#[inline(always)]
pub(crate) fn load_chains<'a, S: Simd, H: MerkleDamgard>(
    simd: S,
    value: impl Fn(usize) -> &'a ChainBytes,
) -> [S::V; WORDS] {
    let (lanes, rows) = (LaneLayout::<S::V, H>::LANES, CHAIN_BYTES / S::V::BYTES);
    let mut words = [simd.zero(); WORDS];
    for (at, word) in words.iter_mut().enumerate().take(lanes * rows) {
        *word = simd.load_bytes(&LaneArray::chunks(value(at % lanes)).0[at / lanes]);
    }
    H::arrange(&mut words);
    words
}

/// Loads a chaining value for each lane, from bytes that may be fewer than a chaining value has. Zeros follow them.
#[inline(always)]
fn load_states<'a, S: Simd, H: LaneHash>(
    simd: S,
    value: impl Fn(usize) -> Option<&'a [u8]>,
) -> H::Chain<S::V> {
    let (lanes, zero) = (LaneLayout::<S::V, H>::LANES, simd.zero());
    let mut rows = H::Rows::<S::V>::from_fn(|_| zero);
    for (at, row) in rows.as_mut().iter_mut().enumerate() {
        if let Some(rest) = value(at % lanes).and_then(|value| value.get(S::V::BYTES * (at / lanes)..)) {
            *row = simd.load_prefix(rest);
        }
    }
    H::from_rows(rows)
}

/// Divides the words of two chaining values.
#[inline(always)]
fn halves<V: Vector>(words: [V; WORDS]) -> [Chain<V>; 2] {
    let half = |first: usize| {
        std::array::from_fn(
            #[inline(always)]
            |word| words[first + word],
        )
    };
    [half(0), half(WORDS / 2)]
}

/// The chaining values of all lanes as bytes.
pub(crate) struct LaneChains<V: Vector, H: LaneHash>(H::Rows<V>);

impl<V: Vector, H: LaneHash> LaneChains<V, H> {
    /// Arranges words to bytes.
    #[inline(always)]
    pub(crate) fn new<S: Simd<V = V>>(simd: S, chain: &H::Chain<V>) -> Self {
        Self(H::to_rows(simd, chain))
    }

    /// Stores the leading bytes of a lane's chaining value, as many as the slice holds.
    #[inline(always)]
    pub(crate) fn store(&self, lane: usize, out: &mut [u8]) {
        let rows = self.0.as_ref().iter().skip(lane).step_by(LaneLayout::<V, H>::LANES);
        for (row, chunk) in rows.zip(out.chunks_mut(V::BYTES)) {
            row.store_prefix(chunk);
        }
    }
}

/// Loads a vector of bytes of a message from `at` on, followed by zeros, and the byte that follows the message.
///
/// Past the end the masked load still gets an address within the message. With an unmapped address the processor
/// takes half a microsecond to find out that it need not read.
#[inline(always)]
fn row_and_mark<S: Simd>(simd: S, message: &[u8], at: usize, marks: &Marks) -> S::V {
    let row = simd.load_prefix(&message[at.min(message.len())..]);
    // Past the end the difference wraps to a large number, so a lane gets the mark once only.
    let end = message.len().wrapping_sub(at).min(S::V::BYTES);
    match LaneArray::chunks(&marks[MAX_BYTES - end..]).0.first() {
        Some(mark) => row | simd.load_bytes(mark),
        None => row,
    }
}

/// The bytes of the widest vector.
const MAX_BYTES: usize = 64;

/// A byte that follows messages, after the zeros of a vector. A vector that is read from `MAX_BYTES - n` on has it at
/// byte `n`.
type Marks = [u8; 2 * MAX_BYTES];

const fn marks(mark: u8) -> Marks {
    let mut bytes = [0; 2 * MAX_BYTES];
    bytes[MAX_BYTES] = mark;
    bytes
}

/// Computes `a ^ b ^ c`.
#[inline(always)]
fn xor3<V: Vector>(a: V, b: V, c: V) -> V {
    a.ternary::<0x96>(b, c)
}

#[cfg(test)]
mod tests;
