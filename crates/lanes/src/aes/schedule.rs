//! Round keys. FIPS 197 5.2 and 5.3.5.

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

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

/// Expands a key. FIPS 197 5.2. Words are little-endian here, so the first byte is the lowest.
fn expanded<S: BlockSimd>(simd: S, key: &[u8]) -> AesSchedule {
    let key_words = key.len() / 4;
    let mut words = Zeroizing::new([0_u32; 4 * ROUND_KEYS]);
    for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let mut round_constant = 1_u8;
    for at in key_words..4 * (rounds(key) + 1) {
        let last = words[at - 1];
        let added = if at.is_multiple_of(key_words) {
            let constant = u32::from(round_constant);
            // Doubles a public constant in GF(2^8).
            round_constant = round_constant << 1 ^ if round_constant >> 7 == 1 { 0x1B } else { 0 };
            // RotWord turns by one byte towards the front, which is a right rotation of a little-endian word.
            substituted(simd, last.rotate_right(8)) ^ constant
        } else if key_words == 8 && at % 8 == 4 {
            substituted(simd, last)
        } else {
            last
        };
        words[at] = words[at - key_words] ^ added;
    }
    let mut schedule = AesSchedule::empty();
    for (bytes, word) in schedule.keys.as_flattened_mut().chunks_exact_mut(4).zip(&*words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    schedule
}

/// Computes SubWord with an AES round. All columns hold the same word, so ShiftRows changes nothing.
fn substituted<S: BlockSimd>(simd: S, word: u32) -> u32 {
    simd.call(
        #[inline(always)]
        || {
            // The instruction and not a table of S: an index that is secret would show in the cache.
            let simd = simd.single();
            let columns = simd.block_of_words([u64::from(word) << 32 | u64::from(word); 2]);
            let mut substituted = [0; BLOCK];
            simd.store_block(columns.encrypt_last(simd.block_of_words([0; 2])), &mut substituted);
            let [a, b, c, d, ..] = substituted;
            u32::from_le_bytes([a, b, c, d])
        },
    )
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
