//! SHA-512 of eight messages side by side. FIPS 180-4.
//!
//! A message is given as parts, so that nobody concatenates. Lengths are public and may differ from lane to lane: a lane
//! that has ended keeps its state under a mask. Contents may be secret: every buffer that held them is erased.

use zeroize::Zeroizing;

use super::sha512_constants::{INITIAL, ROUND};
use crate::simd::{LANES, Mask, Simd, Vector, erase};

/// Bytes of a message block.
pub(crate) const BLOCK: usize = 128;

/// A message as the parts that follow one another.
pub(crate) type Parts<'a> = &'a [&'a [u8]];

type Block = [u8; BLOCK];

/// Eight chaining values: word `i` of lane `j` is lane `j` of `words[i]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain<V> {
    words: [V; 8],
}

/// The digests of eight messages.
pub(crate) fn digest<S: Simd>(simd: S, messages: [Parts<'_>; LANES]) -> [[u8; 64]; LANES] {
    let words = Chain::start(simd).finish(simd, messages);
    let mut digests = [[0; 64]; LANES];
    simd.call(
        #[inline(always)]
        || {
            for (digest, lane) in digests.iter_mut().zip(S::V::transpose(words)) {
                let words = lane.swap_bytes().words();
                for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(words) {
                    *bytes = word.to_le_bytes();
                }
            }
        },
    );
    digests
}

impl<V: Vector> Chain<V> {
    /// The chaining values before any block. FIPS 180-4 5.3.5.
    pub(crate) fn start<S: Simd<V = V>>(simd: S) -> Self {
        Self { words: INITIAL.map(|word| simd.splat(word)) }
    }

    /// The digests of `messages`, as words that stay in their lanes (the first word holds the
    /// first eight bytes, big-endian). FIPS 180-4 6.4.2.
    pub(crate) fn finish<S: Simd<V = V>>(mut self, simd: S, messages: [Parts<'_>; LANES]) -> [V; 8] {
        let mut lanes = messages.map(Padded::new);
        let (mut buffers, mut schedule) = (Buffers::new(), Zeroizing::new([simd.zero(); 16]));
        let last = lanes.iter().map(|lane| lane.blocks).max().unwrap_or(0);
        for block in 0..last {
            let running = mask_of(&lanes, |lane| block < lane.blocks);
            let mut lane = lanes.iter_mut().zip(&mut buffers.0);
            let blocks = std::array::from_fn(|_| match lane.next() {
                Some((lane, buffer)) => lane.next_block(buffer),
                None => &[0; BLOCK],
            });
            compress(simd, &mut self.words, &mut schedule, blocks, running);
        }
        self.words
    }
}

fn mask_of<T>(lanes: &[T; LANES], is_set: impl Fn(&T) -> bool) -> Mask {
    lanes.iter().rev().fold(0, |mask, lane| mask << 1 | Mask::from(is_set(lane)))
}

/// A message and its padding, block by block. FIPS 180-4 5.1.2.
struct Padded<'a> {
    parts: Parts<'a>,
    /// Bytes of the first part that are used up.
    used: usize,
    /// Bytes of the message that are left.
    left: usize,
    /// Blocks of the padded message.
    blocks: usize,
    /// Bits of the message.
    bits: u128,
    is_marked: bool,
}

impl<'a> Padded<'a> {
    #[inline(always)]
    fn new(parts: Parts<'a>) -> Self {
        let left = parts.iter().map(|part| part.len()).sum::<usize>();
        let (blocks, bits) = ((left + 17).div_ceil(BLOCK), left as u128 * 8);
        Self { parts, used: 0, left, blocks, bits, is_marked: false }
    }

    /// The next block, in place where a part holds it whole; past the end, any block.
    #[inline(always)]
    fn next_block<'b>(&mut self, buffer: &'b mut Block) -> &'b Block
    where
        'a: 'b,
    {
        if self.left >= BLOCK
            && let Some(block) = self.parts[0][self.used..].first_chunk()
        {
            self.used += BLOCK;
            self.left -= BLOCK;
            return block;
        }
        self.fill(buffer);
        buffer
    }

    fn fill(&mut self, buffer: &mut Block) {
        let mut filled = 0;
        while filled < BLOCK && self.left > 0 {
            let rest = &self.parts[0][self.used..];
            let taken = rest.len().min(BLOCK - filled);
            buffer[filled..filled + taken].copy_from_slice(&rest[..taken]);
            (filled, self.left, self.used) = (filled + taken, self.left - taken, self.used + taken);
            if taken == rest.len() {
                (self.parts, self.used) = (&self.parts[1..], 0);
            }
        }
        if filled < BLOCK {
            self.pad(buffer, filled);
        }
    }

    /// A one bit, zeros, and the length where there is room for it.
    fn pad(&mut self, buffer: &mut Block, filled: usize) {
        buffer[filled..].fill(0);
        if !self.is_marked {
            buffer[filled] = 0x80;
            self.is_marked = true;
        }
        if filled + 17 <= BLOCK || filled == 0 {
            buffer[BLOCK - 16..].copy_from_slice(&self.bits.to_be_bytes());
        }
    }
}

/// Where blocks are put together.
struct Buffers([Block; LANES]);

impl Buffers {
    #[inline(always)]
    fn new() -> Self {
        Self([[0; BLOCK]; LANES])
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        erase(self.0.as_flattened_mut());
    }
}

/// One block of each lane whose bit is set. FIPS 180-4 6.4.2.
fn compress<S: Simd>(
    simd: S,
    chain: &mut [S::V; 8],
    schedule: &mut [S::V; 16],
    blocks: [&Block; LANES],
    running: Mask,
) {
    simd.call(
        #[inline(always)]
        || {
            load(simd, schedule, blocks);
            let mut state = *chain;
            for (first, constants) in ROUND.as_chunks::<16>().0.iter().enumerate() {
                if first > 0 {
                    extend(schedule);
                }
                state = sixteen_rounds(simd, state, schedule, constants);
            }
            for (word, new) in chain.iter_mut().zip(state) {
                *word = word.add_if(running, new);
            }
        },
    );
}

/// The sixteen big-endian words of each lane's block.
#[inline(always)]
fn load<S: Simd>(simd: S, schedule: &mut [S::V; 16], blocks: [&Block; LANES]) {
    for half in [0, 8] {
        let mut rows = [simd.zero(); LANES];
        for (row, block) in rows.iter_mut().zip(blocks) {
            if let Some(bytes) = block[8 * half..].first_chunk() {
                *row = simd.load_bytes(bytes);
            }
        }
        for (word, column) in schedule[half..].iter_mut().zip(S::V::transpose(rows)) {
            *word = column.swap_bytes();
        }
    }
}

/// The next sixteen words of the message schedule in place of the last. FIPS 180-4 6.4.2, step 1.
///
/// Written out, so that words pass from step to step in registers: through memory they would wait for their stores.
#[inline(always)]
fn extend<V: Vector>(schedule: &mut [V; 16]) {
    let mut w = *schedule;
    extend_at::<0, V>(&mut w);
    extend_at::<4, V>(&mut w);
    extend_at::<8, V>(&mut w);
    extend_at::<12, V>(&mut w);
    *schedule = w;
}

/// Four words from `T` on.
#[inline(always)]
fn extend_at<const T: usize, V: Vector>(w: &mut [V; 16]) {
    for t in T..T + 4 {
        let (two, fifteen) = (w[(t + 14) % 16], w[(t + 1) % 16]);
        let sigma1 = xor3(two.rotr::<19>(), two.rotr::<61>(), two.shr::<6>());
        let sigma0 = xor3(fifteen.rotr::<1>(), fifteen.rotr::<8>(), fifteen.shr::<7>());
        w[t] = (w[(t + 9) % 16] + w[t] + sigma0) + sigma1;
    }
}

#[inline(always)]
fn sixteen_rounds<S: Simd>(simd: S, state: [S::V; 8], w: &[S::V; 16], constants: &[u64; 16]) -> [S::V; 8] {
    let state = four_rounds::<0, S>(simd, state, w, constants);
    let state = four_rounds::<4, S>(simd, state, w, constants);
    let state = four_rounds::<8, S>(simd, state, w, constants);
    four_rounds::<12, S>(simd, state, w, constants)
}

/// Four rounds from `T` on.
#[inline(always)]
fn four_rounds<const T: usize, S: Simd>(
    simd: S,
    mut state: [S::V; 8],
    w: &[S::V; 16],
    constants: &[u64; 16],
) -> [S::V; 8] {
    for t in T..T + 4 {
        state = round(state, w[t] + simd.splat(constants[t]));
    }
    state
}

/// FIPS 180-4 6.4.2, step 3; `word` is the message's plus the round's constant. The sum that waits for `e` is made last.
#[inline(always)]
fn round<V: Vector>([a, b, c, d, e, f, g, h]: [V; 8], word: V) -> [V; 8] {
    let sum1 = xor3(e.rotr::<14>(), e.rotr::<18>(), e.rotr::<41>());
    let sum0 = xor3(a.rotr::<28>(), a.rotr::<34>(), a.rotr::<39>());
    let (choice, majority) = (e.ternary::<0xCA>(f, g), a.ternary::<0xE8>(b, c));
    let early = h + word;
    let next_e = (d + early + choice) + sum1;
    let next_a = (early + choice + sum1 + majority) + sum0;
    [next_a, a, b, c, next_e, e, f, g]
}

#[inline(always)]
fn xor3<V: Vector>(a: V, b: V, c: V) -> V {
    a.ternary::<0x96>(b, c)
}

#[cfg(test)]
mod tests;
