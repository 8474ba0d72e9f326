//! Hashes of many messages side by side: sixteen in half lanes for words of 32 bits, eight for words of 64 bits.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`LaneHash`]: the operations of a hash function on a block of every lane |
//! | `sha1`, `sha256`, `sha512` | the functions; `sha2` has the shared rounds, `*_constants` the tables |
//! | `word` | words of 32 and of 64 bits in vectors |
//! | `group` | messages of different lengths in the lanes, block by block, and their padding |
//! | `alone` | one message at a time, for the last few of a group |
//! | `hmac` | keys as chaining values, the outer hash |
//! | `run` | records: digests, parts of digests, HMAC |
//! | `parts` | SHA-512 of messages in several pieces, for signatures |

mod alone;
mod group;
mod hmac;
pub(crate) mod parts;
mod run;
pub(crate) mod sha1;
mod sha2;
pub(crate) mod sha256;
mod sha256_constants;
pub(crate) mod sha512;
mod sha512_constants;
mod word;

use crate::simd::{HalfMask, Simd, Vector};

#[cfg(feature = "measure")]
pub(crate) use group::{MessageEnding, MessageGroup, absorb};
pub(crate) use run::{offers, run};
pub(crate) use word::HashWord;

/// The words of a message block.
pub(crate) const WORDS: usize = 16;

/// The chaining values of every lane, word by word. SHA-1 uses five words.
pub(crate) type Chain<V> = [V; 8];

/// A row of bytes that becomes words of lanes: part of a lane's block, or a chaining value.
pub(crate) type Row = [u8; ROW];

/// The bytes of a row.
pub(crate) const ROW: usize = 64;

/// A hash function in lanes. A block of every lane is sixteen vectors for both sizes of words: 1,024 bytes.
pub(crate) trait LaneHash: 'static {
    /// The word of the function.
    type Word: HashWord;

    /// The number of messages side by side.
    const LANES: usize = Self::Word::LANES;

    /// The rows of a block.
    const ROWS: usize = WORDS / Self::LANES;

    /// The bytes of a block.
    const BLOCK: usize = ROW * Self::ROWS;

    /// The number of messages whose blocks take as long one at a time as one step of the lanes does. Measured.
    const ALONE: usize;

    /// Returns the chaining value before any block, as a row.
    fn initial() -> Row;

    /// Computes the rounds over a block of every lane of `N` groups. While the steps of one group wait, those of
    /// another run. Calls `meanwhile` every four rounds with their number, at least [`WORDS`] times.
    fn rounds<S: Simd, const N: usize>(
        simd: S,
        states: [Chain<S::V>; N],
        words: [[S::V; WORDS]; N],
        meanwhile: impl FnMut(usize),
    ) -> [Chain<S::V>; N];

    /// Moves one chaining value over whole blocks.
    fn compress_alone(state: &mut Row, blocks: &[u8]);

    /// As [`HashWord::arrange`].
    #[inline(always)]
    fn arrange<V: Vector>(rows: &mut [V; WORDS]) {
        Self::Word::arrange(rows);
    }

    /// As [`HashWord::lengths`].
    #[inline(always)]
    fn lengths<S: Simd>(simd: S, bits: &[u64; WORDS]) -> [S::V; 2] {
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

/// Loads the chaining values of `rows`, one row per lane.
#[inline(always)]
fn chain_of<S: Simd, H: LaneHash>(simd: S, rows: [&Row; WORDS]) -> [S::V; WORDS] {
    let mut words = [simd.zero(); WORDS];
    for (word, row) in words.iter_mut().zip(rows).take(H::LANES) {
        *word = simd.load_bytes(row);
    }
    H::arrange(&mut words);
    words
}

/// Returns the chaining values of all lanes, one row per lane.
#[inline(always)]
fn rows_of<S: Simd, H: LaneHash>(simd: S, chain: &Chain<S::V>) -> [S::V; WORDS] {
    let mut rows = [simd.zero(); WORDS];
    rows[..chain.len()].copy_from_slice(chain);
    H::arrange(&mut rows);
    rows
}

/// Computes `a ^ b ^ c`.
#[inline(always)]
fn xor3<V: Vector>(a: V, b: V, c: V) -> V {
    a.ternary::<0x96>(b, c)
}

#[cfg(test)]
mod tests;
