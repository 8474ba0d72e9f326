//! The hash function of the SHAKE sets in lanes: SHAKE256 over PK.seed, the address and the value. FIPS 205 section
//! 11.1.

use oarlock_engine_kit::slh_dsa::{Address, Chain};
use zeroize::Zeroize;

use super::refill::ChainLanes;
use crate::keccak::{KeccakState, LAST_BIT, RATE_256, SHAKE_SUFFIX, STATE_WORDS, absorb, permute};
use crate::simd::{LaneArray, ShortSimd, Vector};

/// The words of an address.
const ADDRESS_WORDS: usize = Address::LEN / 8;

/// The words of the longest seed and the longest value.
const MAX_VALUE: usize = 4;

/// The lanes of the widest vector.
const MAX_WORDS: usize = 8;

/// A public seed, padded with zeros.
pub(super) type SeedWords = [u64; MAX_VALUE];

/// Returns the words of a seed.
pub(super) fn seed_words(public_seed: &[u8]) -> SeedWords {
    let mut words = words_of(public_seed);
    std::array::from_fn(|_| words.next().unwrap_or(0))
}

/// Returns the little-endian words of bytes.
fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// A word of every lane.
type LaneRow = [u64; MAX_WORDS];

/// Chains of SHAKE256, one in each lane.
pub(super) struct ShakeChains<'a, S> {
    simd: S,
    /// The words of a value and of a seed.
    words: usize,
    seeds: &'a [SeedWords],
    seed: [LaneRow; MAX_VALUE],
    /// The words of the addresses before the last.
    address: [LaneRow; ADDRESS_WORDS - 1],
    /// The last words, height and index, as big-endian numbers.
    index: LaneRow,
    value: [LaneRow; MAX_VALUE],
}

impl<'a, S: ShortSimd> ShakeChains<'a, S> {
    pub(super) fn new(simd: S, n: usize, seeds: &'a [SeedWords]) -> Self {
        const ROW: LaneRow = [0; MAX_WORDS];
        Self {
            simd,
            words: n / 8,
            seeds,
            seed: [ROW; MAX_VALUE],
            address: [ROW; ADDRESS_WORDS - 1],
            index: ROW,
            value: [ROW; MAX_VALUE],
        }
    }
}

impl<S: ShortSimd> ChainLanes for ShakeChains<'_, S> {
    const LANES: usize = S::V::WORDS;

    fn load(&mut self, lane: usize, chain: &Chain, value: &[u8]) {
        for (row, word) in self.seed.iter_mut().zip(self.seeds[chain.first.key as usize]) {
            row[lane] = word;
        }
        let Address { height, index, .. } = chain.first;
        for (row, word) in self.address.iter_mut().zip(words_of(&chain.first.encoded())) {
            row[lane] = word;
        }
        self.index[lane] = u64::from(height) << 32 | u64::from(index);
        for (row, word) in self.value.iter_mut().zip(words_of(value)) {
            row[lane] = word;
        }
    }

    fn run(&mut self, steps: u32) {
        let Self { simd, words, seed, address, index, value, .. } = self;
        let (simd, words) = (*simd, *words);
        let load = |row: &LaneRow| simd.load(&LaneArray::chunks(&row[..]).0[0]);
        let mut state: KeccakState<S::V> = [simd.zero(); STATE_WORDS];
        for _ in 0..steps {
            simd.call(
                #[inline(always)]
                || {
                    let mut values = [simd.zero(); MAX_VALUE];
                    for (word, row) in values.iter_mut().zip(&*value) {
                        *word = load(row);
                    }
                    state = [simd.zero(); STATE_WORDS];
                    for (word, row) in state.iter_mut().zip(seed.iter().take(words).chain(&*address)) {
                        *word = load(row);
                    }
                    let last = words + ADDRESS_WORDS - 1;
                    let number = load(index);
                    state[last] = number.swap_bytes();
                    store(number + simd.splat(1), index);
                    state[last + 1..][..words].copy_from_slice(&values[..words]);
                    state[last + 1 + words] = simd.splat(SHAKE_SUFFIX);
                    state[RATE_256 - 1] = state[RATE_256 - 1] ^ simd.splat(LAST_BIT);
                },
            );
            permute(simd, &mut state);
            simd.call(
                #[inline(always)]
                || {
                    for (row, word) in value.iter_mut().zip(&state).take(words) {
                        store(*word, row);
                    }
                },
            );
        }
        state.zeroize();
    }

    fn store(&self, lane: usize, value: &mut [u8]) {
        for (bytes, row) in value.as_chunks_mut::<8>().0.iter_mut().zip(&self.value) {
            *bytes = row[lane].to_le_bytes();
        }
    }
}

#[inline(always)]
fn store<V: Vector>(words: V, row: &mut LaneRow) {
    LaneArray::chunks_mut(&mut row[..])[0] = words.words();
}

impl<S> Drop for ShakeChains<'_, S> {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

/// Computes nodes side by side, one in each lane: H and T of FIPS 205 section 11.1.
pub(super) fn nodes<S: ShortSimd>(
    simd: S,
    seeds: &[SeedWords],
    addresses: &[Address],
    children: &[u8],
    out: &mut [u8],
) {
    let (each, n) = (children.len() / addresses.len().max(1), out.len() / addresses.len().max(1));
    let lanes = S::V::WORDS;
    let groups = addresses.chunks(lanes).zip(children.chunks(lanes * each)).zip(out.chunks_mut(lanes * n));
    let mut state: KeccakState<S::V> = [simd.zero(); STATE_WORDS];
    for ((addresses, children), out) in groups {
        let address = |lane: usize| &addresses[lane.min(addresses.len() - 1)];
        let encoded: [_; MAX_WORDS] = std::array::from_fn(|lane| address(lane).encoded());
        let child = |lane: usize| &children[lane.min(addresses.len() - 1) * each..][..each];
        let seed = (0..n / 8).map(
            #[inline(always)]
            |at| simd.load(&LaneArray::from_fn(|lane| seeds[address(lane).key as usize][at])),
        );
        let word_at =
            |bytes: &[u8], at: usize| bytes.as_chunks().0.get(at).map_or(0, |word| u64::from_le_bytes(*word));
        let address_words = (0..ADDRESS_WORDS).map(
            #[inline(always)]
            |at| simd.load(&LaneArray::from_fn(|lane| word_at(&encoded[lane], at))),
        );
        let child_words = (0..each / 8).map(
            #[inline(always)]
            |at| simd.load(&LaneArray::from_fn(|lane| word_at(child(lane), at))),
        );
        state = [simd.zero(); STATE_WORDS];
        absorb(simd, &mut state, 0, RATE_256, SHAKE_SUFFIX, seed.chain(address_words).chain(child_words));
        for (at, word) in state.iter().enumerate().take(n / 8) {
            for (out, word) in out.chunks_exact_mut(n).zip(word.words().as_ref()) {
                out[8 * at..][..8].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
    state.zeroize();
}
