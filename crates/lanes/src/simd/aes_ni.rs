//! The AES-NI leaf: rounds of AES and carry-less products on 128 bits, with AVX.
#![allow(unsafe_code, reason = "intrinsics are called here")]

use std::arch::asm;
use std::arch::x86_64::*;
use std::fmt;
use std::ops::BitXor;

use super::Cpu;
use super::blocks::{AesBlocks, BLOCK, BlockBytes, BlockSimd, HashPowers, SingleSimd};
use super::ifma::prefetch;
use super::registers::clear_registers;
use crate::simd::Leaf;

/// A CPU and an operating system with AVX, AES-NI and PCLMULQDQ. [`AesSimd::detect`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct AesSimd(());

/// A block in a register.
///
/// The field is private to this module, and every function that makes an `XmmBlock` takes an [`AesSimd`] or another
/// `XmmBlock`. So an `XmmBlock` proves AVX, AES-NI and PCLMULQDQ.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct XmmBlock(__m128i);

/// Four blocks in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct XmmBlocks([XmmBlock; 4]);

impl AesSimd {
    /// Returns the token if the CPU has every instruction of this module and the system saves its registers.
    pub(crate) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq");
        has_all.then_some(Self(()))
    }

    /// Returns a register as a block: for leaves whose token contains this one.
    #[inline(always)]
    pub(super) fn block(self, register: __m128i) -> XmmBlock {
        XmmBlock(register)
    }

    #[inline(always)]
    fn zero(self) -> XmmBlock {
        // SAFETY: `self` proves AVX.
        XmmBlock(unsafe { _mm_setzero_si128() })
    }

    /// Loads sixteen bytes of a table from byte `start` on, which is at most `N - 16`.
    #[inline(always)]
    fn load_table<const N: usize>(self, table: &[u8; N], start: usize) -> XmmBlock {
        match table[start..].first_chunk() {
            Some(bytes) => self.load_block(bytes),
            // unreachable by the bound of `start`
            None => self.zero(),
        }
    }
}

impl Cpu for AesSimd {
    const LEAF: Leaf = Leaf::AesNi;

    #[inline(always)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: `self` proves every feature that the function enables.
        unsafe { enter(body) }
    }

    #[inline(always)]
    fn prefetch<T>(self, line: &T) {
        prefetch(line);
    }

    fn clear_registers(self) {
        // SAFETY: `self` proves AVX.
        unsafe { clear_registers() }
    }
}

/// Runs a body for [`Cpu::call`]. Code that is inlined here is compiled with these features.
#[inline(never)]
#[target_feature(enable = "avx,ssse3,sse4.1,aes,pclmulqdq")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Indices that move the bytes of a block. Sixteen bytes from `16 + n` on move the block down by n bytes, and from
/// `16 - n` on they move it up; zeros take the empty positions.
static MOVES: [u8; 3 * BLOCK] = {
    let mut moves = [0x80; 3 * BLOCK];
    let mut at = 0;
    while at < BLOCK {
        moves[BLOCK + at] = at as u8;
        at += 1;
    }
    moves
};

/// Masks of prefixes. Sixteen bytes from `16 - n` on have n bytes of ones.
static PREFIXES: [u8; 2 * BLOCK] = {
    let mut masks = [0; 2 * BLOCK];
    let mut at = 0;
    while at < BLOCK {
        masks[at] = 0xFF;
        at += 1;
    }
    masks
};

/// Paddings. Sixteen bytes from `16 - n` on have the byte 0x80 at position n.
static PADDINGS: [u8; 2 * BLOCK] = {
    let mut paddings = [0; 2 * BLOCK];
    paddings[BLOCK] = 0x80;
    paddings
};

impl SingleSimd for AesSimd {
    type Block = XmmBlock;

    #[inline(always)]
    fn opaque<T>(self, value: &T) -> &T {
        let mut same = std::ptr::from_ref(value);
        // SAFETY: nothing is done with the pointer, so it still is the reference.
        unsafe {
            asm!("/* {} */", inout(reg) same, options(readonly, nostack, preserves_flags));
            &*same
        }
    }

    #[inline(always)]
    fn load_block(self, bytes: &BlockBytes) -> XmmBlock {
        // SAFETY: `self` proves AVX; the reference is to 16 readable bytes, and the load may be unaligned.
        XmmBlock(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn block_of_words(self, [low, high]: [u64; 2]) -> XmmBlock {
        // SAFETY: `self` proves AVX.
        XmmBlock(unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) })
    }

    #[inline(always)]
    fn load_block_at(self, bytes: &[u8], start: usize) -> XmmBlock {
        let rest = &bytes[start.min(bytes.len())..];
        match (rest.first_chunk(), bytes.last_chunk()) {
            (Some(block), _) => self.load_block(block),
            // The last bytes of a longer slice are loaded with what is before them, which then moves out.
            (None, Some(last)) => self.load_block(last).moved_down(self, BLOCK - rest.len()),
            (None, None) => self.block_of_words(short_words(rest)),
        }
    }

    #[inline(always)]
    fn load_padded_at(self, bytes: &[u8], start: usize) -> XmmBlock {
        let count = bytes.len().saturating_sub(start).min(BLOCK);
        self.load_block_at(bytes, start) ^ self.load_table(&PADDINGS, BLOCK - count)
    }

    #[inline(always)]
    fn store_block(self, block: XmmBlock, place: &mut BlockBytes) {
        // SAFETY: `self` proves AVX; the reference is to 16 writable bytes, and the store may be unaligned.
        unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), block.0) };
    }

    #[inline(always)]
    fn store_block_prefix(self, block: XmmBlock, place: &mut [u8]) {
        match place.first_chunk_mut() {
            Some(place) => self.store_block(block, place),
            None => store_short(block.words(), place),
        }
    }

    #[inline(always)]
    fn differ(self, a: XmmBlock, b: XmmBlock, len: usize) -> bool {
        let mask = self.load_table(&PREFIXES, BLOCK - len.min(BLOCK));
        // SAFETY: `self` proves SSE4.1.
        unsafe { _mm_testz_si128((a ^ b).0, mask.0) == 0 }
    }

    #[inline(always)]
    fn add_to_counter(self, block: XmmBlock, count: u32) -> XmmBlock {
        // SAFETY: `self` proves AVX.
        XmmBlock(unsafe { _mm_add_epi32(block.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }
}

impl XmmBlock {
    /// Returns the register.
    #[inline(always)]
    pub(super) fn register(self) -> __m128i {
        self.0
    }

    /// Returns the words of the block, the lower word first.
    #[inline(always)]
    fn words(self) -> [u64; 2] {
        // SAFETY: `self` proves SSE4.1.
        unsafe { [_mm_cvtsi128_si64(self.0), _mm_extract_epi64::<1>(self.0)] }.map(i64::cast_unsigned)
    }

    /// Moves the bytes of the block. `moves` has the index of each byte, or 0x80 for zero.
    #[inline(always)]
    fn moved(self, moves: Self) -> Self {
        // SAFETY: `self` proves SSSE3.
        Self(unsafe { _mm_shuffle_epi8(self.0, moves.0) })
    }

    /// Moves the bytes down by `count`, at most 16. Zeros follow.
    #[inline(always)]
    fn moved_down(self, simd: AesSimd, count: usize) -> Self {
        self.moved(simd.load_table(&MOVES, BLOCK + count.min(BLOCK)))
    }

    /// Moves the bytes up by `count`, at most 16. Zeros are before them.
    #[inline(always)]
    fn moved_up(self, simd: AesSimd, count: usize) -> Self {
        self.moved(simd.load_table(&MOVES, BLOCK - count.min(BLOCK)))
    }

    /// Keeps the first `count` bytes, at most 16, and clears the others.
    #[inline(always)]
    fn kept(self, simd: AesSimd, count: usize) -> Self {
        // SAFETY: `self` proves AVX.
        Self(unsafe { _mm_and_si128(self.0, simd.load_table(&PREFIXES, BLOCK - count.min(BLOCK)).0) })
    }
}

impl BlockSimd for AesSimd {
    type Single = Self;
    type Four = XmmBlocks;

    const FOURS: usize = 2;

    #[inline(always)]
    fn single(self) -> Self {
        self
    }

    #[inline(always)]
    fn splat_block(self, block: &BlockBytes) -> XmmBlocks {
        XmmBlocks([self.load_block(block); 4])
    }

    #[inline(always)]
    fn load_prefix(self, bytes: &[u8]) -> XmmBlocks {
        XmmBlocks(self.load_blocks(bytes))
    }

    #[inline(always)]
    fn store_prefix(self, blocks: XmmBlocks, place: &mut [u8]) {
        self.store_blocks(blocks.0, place);
    }

    #[inline(always)]
    fn crypt_prefix(self, input: &[u8], stream: XmmBlocks, output: &mut [u8]) -> [XmmBlocks; 2] {
        let [input, output] = self.crypt_blocks(input, stream.0, output);
        [XmmBlocks(input), XmmBlocks(output)]
    }

    #[inline(always)]
    fn blocks_after(self, XmmBlocks([a, b, c, _]): XmmBlocks, before: &BlockBytes) -> XmmBlocks {
        XmmBlocks([self.load_block(before), a, b, c])
    }

    #[inline(always)]
    fn last_block(self, blocks: XmmBlocks) -> XmmBlock {
        blocks.0[3]
    }

    #[inline(always)]
    fn counters(self, fixed: XmmBlock, steps: [u32; 4]) -> XmmBlocks {
        let [a, b, c, d] = steps;
        let [a, b] = [self.add_to_counter(fixed, a), self.add_to_counter(fixed, b)];
        let [c, d] = [self.add_to_counter(fixed, c), self.add_to_counter(fixed, d)];
        XmmBlocks([a, b, c, d]).reversed()
    }

    #[inline(always)]
    fn with_words(self, blocks: XmmBlocks, at: usize, words: [u64; 2]) -> XmmBlocks {
        let block = self.block_of_words(words);
        let XmmBlocks([a, b, c, d]) = blocks;
        match at {
            0 => XmmBlocks([block, b, c, d]),
            1 => XmmBlocks([a, block, c, d]),
            2 => XmmBlocks([a, b, block, d]),
            _ => XmmBlocks([a, b, c, block]),
        }
    }

    #[inline(always)]
    fn xor_first(self, XmmBlocks([a, b, c, d]): XmmBlocks, block: XmmBlock) -> XmmBlocks {
        XmmBlocks([a ^ block, b, c, d])
    }

    #[inline(always)]
    fn sum_of_products(self, blocks: XmmBlocks, count: usize, powers: &HashPowers) -> XmmBlock {
        let XmmBlocks([a, b, c, d]) = blocks;
        let [p, q, r, s] = self.load_blocks(powers.powers(count));
        let [pq, rs, ..] = self.load_blocks(powers.sums(count));
        // SAFETY: `self` proves AVX and PCLMULQDQ.
        unsafe {
            let ([a, b, c, d], [p, q, r, s]) = ([a.0, b.0, c.0, d.0], [p.0, q.0, r.0, s.0]);
            let (pq, rs) = (pq.0, rs.0);
            let sum = |[a, b, c, d]: [__m128i; 4]| _mm_xor_si128(_mm_xor_si128(a, b), _mm_xor_si128(c, d));
            let low = sum([
                _mm_clmulepi64_si128::<0x00>(a, p),
                _mm_clmulepi64_si128::<0x00>(b, q),
                _mm_clmulepi64_si128::<0x00>(c, r),
                _mm_clmulepi64_si128::<0x00>(d, s),
            ]);
            let high = sum([
                _mm_clmulepi64_si128::<0x11>(a, p),
                _mm_clmulepi64_si128::<0x11>(b, q),
                _mm_clmulepi64_si128::<0x11>(c, r),
                _mm_clmulepi64_si128::<0x11>(d, s),
            ]);
            // The sums of the words of two blocks in one register: Karatsuba needs one product for the middle.
            let sums = |a, b| _mm_xor_si128(_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b));
            let (ab, cd) = (sums(a, b), sums(c, d));
            let middle = sum([
                _mm_clmulepi64_si128::<0x00>(ab, pq),
                _mm_clmulepi64_si128::<0x11>(ab, pq),
                _mm_clmulepi64_si128::<0x00>(cd, rs),
                _mm_clmulepi64_si128::<0x11>(cd, rs),
            ]);
            self.folded(low, middle, high)
        }
    }
}

impl AesSimd {
    /// Reduces the sum of products whose halves are `low` and `high`. `middle` is the sum of the products of the sums
    /// of words.
    #[inline(always)]
    pub(super) fn folded(self, low: __m128i, middle: __m128i, high: __m128i) -> XmmBlock {
        // SAFETY: `self` proves AVX and PCLMULQDQ.
        unsafe {
            let middle = _mm_xor_si128(middle, _mm_xor_si128(low, high));
            let low = _mm_xor_si128(low, _mm_slli_si128::<8>(middle));
            let high = _mm_xor_si128(high, _mm_srli_si128::<8>(middle));
            let polynomial = _mm_set1_epi64x(0xC200_0000_0000_0000_u64.cast_signed());
            // Each folding clears the 64 lowest bits by adding a multiple of the polynomial.
            let fold = |low| {
                let swapped = _mm_shuffle_epi32::<0x4E>(low);
                _mm_xor_si128(swapped, _mm_clmulepi64_si128::<0x00>(low, polynomial))
            };
            XmmBlock(_mm_xor_si128(high, fold(fold(low))))
        }
    }

    /// Loads four blocks. Zeros follow the end of the slice.
    #[inline(always)]
    pub(super) fn load_blocks(self, bytes: &[u8]) -> [XmmBlock; 4] {
        let (low, high) = (self.load_two_blocks(bytes, 0), self.load_two_blocks(bytes, 2 * BLOCK));
        [low[0], low[1], high[0], high[1]]
    }

    #[inline(always)]
    fn load_two_blocks(self, bytes: &[u8], start: usize) -> [XmmBlock; 2] {
        match bytes.len().saturating_sub(start) {
            0 => [self.zero(); 2],
            1..=BLOCK => [self.load_block_at(bytes, start), self.zero()],
            _ => [self.load_block_at(bytes, start), self.load_block_at(bytes, start + BLOCK)],
        }
    }

    /// Stores four blocks, as many bytes as the slice holds.
    #[inline(always)]
    pub(super) fn store_blocks(self, [a, b, c, d]: [XmmBlock; 4], place: &mut [u8]) {
        self.store_block_at(a, self.zero(), place, 0);
        self.store_block_at(b, a, place, BLOCK);
        self.store_block_at(c, b, place, 2 * BLOCK);
        self.store_block_at(d, c, place, 3 * BLOCK);
    }

    /// Stores a block at byte `start`, as many bytes as the slice holds. `before` is the block before it.
    #[inline(always)]
    fn store_block_at(self, block: XmmBlock, before: XmmBlock, place: &mut [u8], start: usize) {
        let Some(rest) = place.get_mut(start..).filter(|rest| !rest.is_empty()) else { return };
        let count = rest.len();
        if let Some(place) = rest.first_chunk_mut() {
            self.store_block(block, place);
        } else if let Some(last) = place.last_chunk_mut() {
            // The end of the block before is stored once more, so that one store of sixteen bytes suffices.
            self.store_block(before.moved_down(self, count) ^ block.moved_up(self, BLOCK - count), last);
        } else {
            store_short(block.words(), &mut place[start..]);
        }
    }

    /// XORs bytes with a key stream as [`BlockSimd::crypt_prefix`] does.
    #[inline(always)]
    pub(super) fn crypt_blocks(
        self,
        input: &[u8],
        [a, b, c, d]: [XmmBlock; 4],
        output: &mut [u8],
    ) -> [[XmmBlock; 4]; 2] {
        let [in_a, a] = self.crypt_block_at(input, a, self.zero(), output, 0);
        let [in_b, b] = self.crypt_block_at(input, b, a, output, BLOCK);
        let [in_c, c] = self.crypt_block_at(input, c, b, output, 2 * BLOCK);
        let [in_d, d] = self.crypt_block_at(input, d, c, output, 3 * BLOCK);
        [[in_a, in_b, in_c, in_d], [a, b, c, d]]
    }

    /// XORs the block at byte `start` with a block of a key stream. `before` is the block of output before it.
    #[inline(always)]
    fn crypt_block_at(
        self,
        input: &[u8],
        stream: XmmBlock,
        before: XmmBlock,
        output: &mut [u8],
        start: usize,
    ) -> [XmmBlock; 2] {
        let count = input.len().saturating_sub(start);
        if count == 0 {
            return [self.zero(); 2];
        }
        let piece = self.load_block_at(input, start);
        let whole = piece ^ stream;
        let result = if count < BLOCK { whole.kept(self, count) } else { whole };
        self.store_block_at(result, before, output, start);
        [piece, result]
    }
}

/// Returns fewer than sixteen bytes as little-endian words.
#[inline(always)]
fn short_words(bytes: &[u8]) -> [u64; 2] {
    // Two reads that may overlap replace a loop over the bytes.
    let bits = 8 * bytes.len();
    match (
        bytes.first_chunk::<8>(),
        bytes.last_chunk::<8>(),
        bytes.first_chunk::<4>(),
        bytes.last_chunk::<4>(),
    ) {
        (Some(first), Some(last), ..) => {
            let high = u64::from_le_bytes(*last).checked_shr(128 - bits as u32).unwrap_or(0);
            [u64::from_le_bytes(*first), high]
        }
        (.., Some(first), Some(last)) => {
            let high = u64::from(u32::from_le_bytes(*last)) << (bits - 32);
            [u64::from(u32::from_le_bytes(*first)) | high, 0]
        }
        _ => [bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0],
    }
}

/// Stores the first bytes of two little-endian words into a slice of fewer than sixteen bytes.
#[inline(always)]
fn store_short([low, high]: [u64; 2], place: &mut [u8]) {
    let bits = 8 * place.len() as u32;
    if place.len() >= 8 {
        let end = low.checked_shr(bits - 64).unwrap_or(0) | high.checked_shl(128 - bits).unwrap_or(0);
        place[..8].copy_from_slice(&low.to_le_bytes());
        if let Some(last) = place.last_chunk_mut() {
            *last = end.to_le_bytes();
        }
    } else if place.len() >= 4 {
        place[..4].copy_from_slice(&(low as u32).to_le_bytes());
        if let Some(last) = place.last_chunk_mut() {
            *last = ((low >> (bits - 32)) as u32).to_le_bytes();
        }
    } else {
        place.iter_mut().zip(low.to_le_bytes()).for_each(|(place, byte)| *place = byte);
    }
}

impl AesBlocks for XmmBlock {
    #[inline(always)]
    fn encrypt_round(self, key: Self) -> Self {
        // SAFETY: `self` proves AES-NI.
        Self(unsafe { _mm_aesenc_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn encrypt_last(self, key: Self) -> Self {
        // SAFETY: `self` proves AES-NI.
        Self(unsafe { _mm_aesenclast_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn decrypt_round(self, key: Self) -> Self {
        // SAFETY: `self` proves AES-NI.
        Self(unsafe { _mm_aesdec_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn decrypt_last(self, key: Self) -> Self {
        // SAFETY: `self` proves AES-NI.
        Self(unsafe { _mm_aesdeclast_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        // SAFETY: `self` proves AVX.
        self.moved(Self(unsafe { _mm_set_epi32(0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F) }))
    }
}

impl BitXor for XmmBlock {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }
}

impl XmmBlocks {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(XmmBlock, XmmBlock) -> XmmBlock) -> Self {
        let (Self([a, b, c, d]), Self([p, q, r, s])) = (self, other);
        Self([f(a, p), f(b, q), f(c, r), f(d, s)])
    }
}

impl AesBlocks for XmmBlocks {
    #[inline(always)]
    fn encrypt_round(self, key: Self) -> Self {
        self.zip(key, XmmBlock::encrypt_round)
    }

    #[inline(always)]
    fn encrypt_last(self, key: Self) -> Self {
        self.zip(key, XmmBlock::encrypt_last)
    }

    #[inline(always)]
    fn decrypt_round(self, key: Self) -> Self {
        self.zip(key, XmmBlock::decrypt_round)
    }

    #[inline(always)]
    fn decrypt_last(self, key: Self) -> Self {
        self.zip(key, XmmBlock::decrypt_last)
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        let Self([a, b, c, d]) = self;
        Self([a.reversed(), b.reversed(), c.reversed(), d.reversed()])
    }
}

impl BitXor for XmmBlocks {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        self.zip(other, XmmBlock::bitxor)
    }
}

impl fmt::Debug for AesSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AES-NI")
    }
}

/// Prints no bytes, which can be secret.
impl fmt::Debug for XmmBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Xmm")
    }
}
