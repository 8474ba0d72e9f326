//! Round keys. FIPS 197 5.2 and 5.3.5.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::simd::{AesBlocks, BLOCK, BlockBytes, BlockSimd, SingleSimd};

/// The round keys of AES-256; AES-128 uses the first eleven.
pub(super) const ROUND_KEYS: usize = 15;

/// The rounds of AES-128 and AES-256.
pub(super) const ROUNDS_128: usize = 10;
pub(super) const ROUNDS_256: usize = 14;

/// The round keys of one key, for one direction, in the order in which they are added.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(align(64))]
pub(super) struct AesSchedule {
    pub(super) keys: [[u8; BLOCK]; ROUND_KEYS],
}

/// The prepared form of a key: cached with its handle, or made for a run if the key comes from a slot.
pub(super) trait PrepareAes: Send + Sync + 'static {
    /// Prepares a key of 16 or 32 bytes, or two of them side by side.
    fn prepare<S: BlockSimd>(simd: S, key: &[u8]) -> Self;

    /// Prefetches the prepared key.
    fn prefetch<S: BlockSimd>(&self, simd: S);
}

/// A key schedule for encryption.
pub(super) struct Encrypting(pub(super) AesSchedule);

/// A key schedule for decryption by the equivalent inverse cipher.
pub(super) struct Decrypting(pub(super) AesSchedule);

impl PrepareAes for Encrypting {
    fn prepare<S: BlockSimd>(simd: S, key: &[u8]) -> Self {
        Self(expanded(simd, key))
    }

    #[inline(always)]
    fn prefetch<S: BlockSimd>(&self, simd: S) {
        self.0.prefetch(simd);
    }
}

impl PrepareAes for Decrypting {
    fn prepare<S: BlockSimd>(simd: S, key: &[u8]) -> Self {
        Self(inverted(simd, &expanded(simd, key), rounds(key)))
    }

    #[inline(always)]
    fn prefetch<S: BlockSimd>(&self, simd: S) {
        self.0.prefetch(simd);
    }
}

/// A schedule of zeros, for idle slots.
pub(super) static NONE: AesSchedule = AesSchedule::empty();

impl AesSchedule {
    pub(super) const fn empty() -> Self {
        Self { keys: [[0; BLOCK]; ROUND_KEYS] }
    }

    /// Prefetches the cache lines of the schedule.
    #[inline(always)]
    pub(super) fn prefetch<S: BlockSimd>(&self, simd: S) {
        // Four round keys a line. AES-128 uses three of the lines, and one request more costs nothing.
        for line in [0, 4, 8] {
            simd.prefetch(&self.keys[line]);
        }
    }
}

fn rounds(key: &[u8]) -> usize {
    key.len() / 4 + 6
}

/// Computes the round keys behind those of `keys`: the halves of AES-256 keys, or twice the same AES-128 key. FIPS 197
/// 5.2. Calls `write` with the round, the place and the key.
#[inline(always)]
pub(super) fn expand<B: AesBlocks, const PLACES: usize, const ROUNDS: usize>(
    load: impl Fn(&BlockBytes) -> B,
    keys: [[B; 2]; PLACES],
    mut write: impl FnMut(usize, usize, B),
) {
    let has_halves = ROUNDS == ROUNDS_256;
    let mut keys = keys;
    let mut constant = 1_u8;
    for round in if has_halves { 2 } else { 1 }..=ROUNDS {
        let rotates = !has_halves || round % 2 == 0;
        let added = load(&if rotates { in_every_word(constant) } else { [0; BLOCK] });
        for (index, [before, last]) in keys.iter_mut().enumerate() {
            let words = if rotates { last.last_words::<true>() } else { last.last_words::<false>() };
            // An AES round is SubWord here: all columns hold the same word, so ShiftRows changes nothing. A table of S
            // would show its secret index in the cache.
            let next = before.word_sums() ^ words.encrypt_last(added);
            (*before, *last) = (if has_halves { *last } else { next }, next);
            write(round, index, next);
        }
        if rotates {
            // Doubles a public constant in GF(2^8).
            constant = constant << 1 ^ if constant >> 7 == 1 { 0x1B } else { 0 };
        }
    }
}

#[inline(always)]
fn in_every_word(constant: u8) -> BlockBytes {
    (u128::from(constant) * 0x1_0000_0001_0000_0001_0000_0001).to_le_bytes()
}

/// Expands a key. FIPS 197 5.2.
fn expanded<S: BlockSimd>(simd: S, key: &[u8]) -> AesSchedule {
    let mut schedule = AesSchedule::empty();
    schedule.keys.as_flattened_mut()[..key.len()].copy_from_slice(key);
    simd.call(
        #[inline(always)]
        || {
            let simd = simd.single();
            let (first, second) = (simd.load_block(&schedule.keys[0]), simd.load_block(&schedule.keys[1]));
            let load = |bytes: &BlockBytes| simd.load_block(bytes);
            let write = |round: usize, _: usize, key| simd.store_block(key, &mut schedule.keys[round]);
            match rounds(key) {
                ROUNDS_128 => expand::<_, 1, ROUNDS_128>(load, [[first; 2]], write),
                _ => expand::<_, 1, ROUNDS_256>(load, [[first, second]], write),
            }
        },
    );
    schedule
}

/// Returns the keys in reverse order, with InvMixColumns applied to all but the first and the last. FIPS 197 5.3.5.
fn inverted<S: BlockSimd>(simd: S, schedule: &AesSchedule, rounds: usize) -> AesSchedule {
    let mut inverted = AesSchedule::empty();
    for at in 0..=rounds {
        let key = &schedule.keys[rounds - at];
        inverted.keys[at] = if at == 0 || at == rounds { *key } else { mixed(simd, key) };
    }
    inverted
}

/// Computes InvMixColumns with two AES rounds, whose substitutions and shifts undo each other.
fn mixed<S: BlockSimd>(simd: S, key: &BlockBytes) -> BlockBytes {
    simd.call(
        #[inline(always)]
        || {
            let simd = simd.single();
            let zero = simd.block_of_words([0; 2]);
            let mut mixed = [0; BLOCK];
            simd.store_block(simd.load_block(key).encrypt_last(zero).decrypt_round(zero), &mut mixed);
            mixed
        },
    )
}
