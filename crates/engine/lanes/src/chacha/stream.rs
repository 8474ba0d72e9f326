//! The key stream of ChaCha20, sixteen blocks side by side. RFC 8439 2.3.

use zeroize::Zeroize;

use crate::simd::{LaneArray, MulSimd, MulVector, Vector};

/// The bytes of a block.
pub(super) const BLOCK: usize = 64;

/// The blocks that are computed side by side: one for each half lane.
pub(super) const BLOCKS: usize = 16;

/// The bytes of key stream that are computed side by side.
pub(super) const STRIDE: usize = BLOCK * BLOCKS;

/// The words "expand 32-byte k". RFC 8439 2.3.
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574];

/// The key, the nonce and the number of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockStart<'a> {
    pub(super) key: &'a [u8; 32],
    pub(super) nonce: &'a [u8; 12],
    pub(super) counter: u32,
}

impl BlockStart<'_> {
    /// Returns the sixteen words of the state before the first round.
    #[inline(always)]
    fn words(&self) -> [u32; 16] {
        let mut words = [0; 16];
        let bytes = self.key.as_chunks().0.iter().chain(self.nonce.as_chunks().0);
        let numbers = bytes.map(|word| u32::from_le_bytes(*word));
        let (front, rest) = words.split_at_mut(4);
        front.copy_from_slice(&CONSTANTS);
        // The counter is between the key and the nonce.
        let (key, rest) = rest.split_at_mut(8);
        rest[0] = self.counter;
        for (word, number) in key.iter_mut().chain(&mut rest[1..]).zip(numbers) {
            *word = number;
        }
        words
    }
}

/// Returns the vectors of sixteen unrelated blocks before the first round: vector `i` has word `i` of each.
#[inline(always)]
pub(super) fn start_of_each<S: MulSimd>(simd: S, starts: &[BlockStart<'_>; BLOCKS]) -> [S::V; 16] {
    let mut rows = starts.map(
        #[inline(always)]
        |start| {
            let mut words = start.words();
            let pairs = words.as_chunks().0;
            let row = simd.load(&std::array::from_fn(|lane| {
                let [low, high] = pairs[lane];
                u64::from(low) | u64::from(high) << 32
            }));
            words.zeroize();
            row
        },
    );
    S::V::transpose32(&mut rows);
    rows
}

/// Returns the vectors of sixteen blocks of one stream, which follow each other.
#[inline(always)]
pub(super) fn start_of_run<S: MulSimd>(simd: S, start: &BlockStart<'_>) -> [S::V; 16] {
    let mut words = start.words();
    let mut rows = words.map(
        #[inline(always)]
        |word| simd.splat32(word),
    );
    words.zeroize();
    // The numbers 0 to 15 in the half lanes.
    let steps = std::array::from_fn(|lane| (2 * lane as u64) | ((2 * lane as u64 + 1) << 32));
    rows[COUNTER] = rows[COUNTER].add32(simd.load(&steps));
    rows
}

/// Moves the vectors of a run on by sixteen blocks.
#[inline(always)]
pub(super) fn advance<S: MulSimd>(simd: S, rows: &mut [S::V; 16]) {
    rows[COUNTER] = rows[COUNTER].add32(simd.splat32(BLOCKS as u32));
}

/// The index of the counter in a state.
const COUNTER: usize = 12;

/// Returns the key stream: each vector has the bytes of one block.
#[inline(always)]
pub(super) fn key_stream<V: MulVector>(start: &[V; 16]) -> [V; 16] {
    let mut state = *start;
    for _ in 0..10 {
        double_round(&mut state);
    }
    for (word, first) in state.iter_mut().zip(start) {
        *word = word.add32(*first);
    }
    V::transpose32(&mut state);
    state
}

/// A round of columns and a round of diagonals. RFC 8439 2.3.
#[inline(always)]
fn double_round<V: Vector>(state: &mut [V; 16]) {
    quarter_round(state, [0, 4, 8, 12]);
    quarter_round(state, [1, 5, 9, 13]);
    quarter_round(state, [2, 6, 10, 14]);
    quarter_round(state, [3, 7, 11, 15]);
    quarter_round(state, [0, 5, 10, 15]);
    quarter_round(state, [1, 6, 11, 12]);
    quarter_round(state, [2, 7, 8, 13]);
    quarter_round(state, [3, 4, 9, 14]);
}

/// RFC 8439 2.1. A rotation to the left by `n` is one to the right by `32 - n`.
#[inline(always)]
fn quarter_round<V: Vector>(state: &mut [V; 16], [a, b, c, d]: [usize; 4]) {
    state[a] = state[a].add32(state[b]);
    state[d] = (state[d] ^ state[a]).rotr32::<16>();
    state[c] = state[c].add32(state[d]);
    state[b] = (state[b] ^ state[c]).rotr32::<20>();
    state[a] = state[a].add32(state[b]);
    state[d] = (state[d] ^ state[a]).rotr32::<24>();
    state[c] = state[c].add32(state[d]);
    state[b] = (state[b] ^ state[c]).rotr32::<25>();
}

/// Encrypts or decrypts whole strides of one stream. `input` and `output` have the same length, a multiple of
/// [`STRIDE`].
#[inline(always)]
pub(super) fn crypt_run<S: MulSimd>(simd: S, start: &BlockStart<'_>, input: &[u8], output: &mut [u8]) {
    let mut rows = start_of_run(simd, start);
    for (from, to) in input.chunks_exact(STRIDE).zip(output.chunks_exact_mut(STRIDE)) {
        let stream = key_stream(&rows);
        let (from, _) = <S::V as Vector>::Bytes::chunks(from);
        for ((block, from), to) in stream.iter().zip(from).zip(to.as_chunks_mut::<BLOCK>().0) {
            store(*block ^ simd.load_bytes(from), to);
        }
        advance(simd, &mut rows);
    }
    // The rows hold the key.
    rows.zeroize();
}

/// Stores the bytes of a vector of eight words.
#[inline(always)]
pub(super) fn store<V: MulVector>(vector: V, out: &mut [u8; BLOCK]) {
    for (to, word) in out.as_chunks_mut().0.iter_mut().zip(vector.words()) {
        *to = word.to_le_bytes();
    }
}
