//! AES-GCM-SIV of many records side by side. RFC 8452.
//!
//! Every record has keys of its own, which depend on its IV. A record of 16 bytes under AES-128 takes 70 rounds: 40
//! derive its keys, 10 expand one of them, and 20 encrypt the tag and the text. One record waits for each of these
//! steps. So four records share a register, each with one block in it, and several registers run in step.

#![expect(clippy::needless_range_loop, reason = "the places of several arrays are walked in step")]

use super::chunk;
use super::joined::{JoinedKeys, block_mut};
use super::rounds::{encrypt, encrypt_joined};
use super::schedule::{AesSchedule, NONE, ROUNDS_256, expand};
use super::tag::TagAction;
use crate::simd::{AesBlocks, BLOCK, BlockBytes, BlockSimd, FOUR_BLOCKS, OneBlock, SingleSimd, erase};

/// A record to seal or to open.
#[derive(Clone, Copy)]
pub(super) struct GcmSivRecord<'a> {
    /// The key-generating key.
    pub(super) schedule: &'a AesSchedule,
    pub(super) iv: &'a [u8; 12],
    pub(super) aad: &'a [u8],
    pub(super) input: &'a [u8],
    /// The offset of the output.
    pub(super) output: usize,
    pub(super) tag: TagAction<'a>,
    /// The index of the record, for its status.
    pub(super) index: usize,
}

const IDLE: GcmSivRecord<'static> = GcmSivRecord {
    schedule: &NONE,
    iv: &[0; 12],
    aad: &[],
    input: &[],
    output: 0,
    tag: TagAction::Write(0, 0),
    index: 0,
};

/// The most significant bit of a block: clear in the block that becomes the tag, and set in counters. RFC 8452 4.
const TOP_BIT: BlockBytes = (1_u128 << 127).to_le_bytes();
const ALL_BUT_TOP_BIT: BlockBytes = (u128::MAX >> 1).to_le_bytes();

/// The number of hashed blocks from which four powers of a hash key pay: one reduction serves four blocks.
const MIN_BLOCKS_FOR_POWERS: usize = 7;

/// Seals or opens every record of `next`, and calls `reject` with the index of each record whose tag is wrong.
#[inline(always)]
pub(super) fn run<'a, S: BlockSimd, const PLACES: usize, const ROUNDS: usize, const SEALS: bool>(
    simd: S,
    next: impl FnMut() -> Option<GcmSivRecord<'a>>,
    output: &mut [u8],
    mut reject: impl FnMut(usize),
) {
    let mut keys = DerivedKeys::<PLACES>::empty();
    chunk::each(
        IDLE,
        next,
        #[inline(always)]
        |records: &[GcmSivRecord<'a>]| {
            for chunk in records.chunks(4 * PLACES) {
                let mut group = RecordGroup { simd, records: [[&IDLE; 4]; PLACES] };
                for (slot, record) in group.records.as_flattened_mut().iter_mut().zip(chunk) {
                    *slot = record;
                }
                group.derive::<ROUNDS>(&mut keys);
                let tags = match SEALS {
                    true => group.seal::<ROUNDS>(&mut keys, output),
                    false => group.open::<ROUNDS>(&mut keys, output),
                };
                for (records, tags) in chunk.chunks(4).zip(tags) {
                    for (record, tag) in records.iter().zip(simd.split(tags)) {
                        let text = record.output..record.output + record.input.len();
                        if !record.tag.finish(simd.single(), tag, output, text) {
                            reject(record.index);
                        }
                    }
                }
            }
        },
    );
    keys.erase();
}

/// The keys of the records of a group.
struct DerivedKeys<const PLACES: usize> {
    ciphers: [JoinedKeys; PLACES],
    /// The powers H to H^4 of the hash keys, each of four records side by side.
    powers: [[[u8; FOUR_BLOCKS]; 4]; PLACES],
}

impl<const PLACES: usize> DerivedKeys<PLACES> {
    #[inline(always)]
    fn empty() -> Self {
        Self { ciphers: [JoinedKeys::empty(); PLACES], powers: [[[0; FOUR_BLOCKS]; 4]; PLACES] }
    }

    #[inline(always)]
    fn erase(&mut self) {
        self.ciphers.iter_mut().for_each(JoinedKeys::erase);
        erase(self.powers.as_flattened_mut().as_flattened_mut());
    }
}

/// Records in step: four in each place.
struct RecordGroup<'r, 'a, S, const PLACES: usize> {
    simd: S,
    records: [[&'r GcmSivRecord<'a>; 4]; PLACES],
}

impl<S: BlockSimd, const PLACES: usize> RecordGroup<'_, '_, S, PLACES> {
    /// Derives the keys of all records and expands those of the cipher. RFC 8452 4.
    #[inline(always)]
    fn derive<const ROUNDS: usize>(&self, keys: &mut DerivedKeys<PLACES>) {
        let simd = self.simd;
        let single = simd.single();
        for at in 0..4 {
            let halves = self.derivation::<ROUNDS>(at, [0, 1, 2, 3]);
            for index in 0..PLACES {
                let [hash, cipher] = simd.low_words(halves[index]);
                single.store_block(hash, block_mut(&mut keys.powers[index][0], at));
                single.store_block(cipher, keys.ciphers[index].key_mut(0, at));
            }
            if ROUNDS == ROUNDS_256 {
                let halves = self.derivation::<ROUNDS>(at, [4, 5, 4, 5]);
                for index in 0..PLACES {
                    let [cipher, _] = simd.low_words(halves[index]);
                    single.store_block(cipher, keys.ciphers[index].key_mut(1, at));
                }
            }
        }
        let second = usize::from(ROUNDS == ROUNDS_256);
        let ciphers = &mut keys.ciphers;
        let mut first = [[simd.splat_block(&[0; BLOCK]); 2]; PLACES];
        for index in 0..PLACES {
            first[index] = [ciphers[index].round(simd, 0), ciphers[index].round(simd, second)];
        }
        expand::<_, PLACES, ROUNDS>(
            #[inline(always)]
            |key| simd.splat_block(key),
            first,
            #[inline(always)]
            |round, index, key| ciphers[index].set_round(simd, round, key),
        );
    }

    /// Encrypts four blocks of the derivation for record `at` of each place.
    #[inline(always)]
    fn derivation<const ROUNDS: usize>(&self, at: usize, numbers: [u32; 4]) -> [S::Four; PLACES] {
        let simd = self.simd;
        let mut states = [simd.splat_block(&[0; BLOCK]); PLACES];
        let mut keys = [&NONE; PLACES];
        for index in 0..PLACES {
            let GcmSivRecord { schedule, iv, .. } = self.records[index][at];
            let [a, b, c, d, rest @ ..] = **iv;
            let low = u64::from(u32::from_le_bytes([a, b, c, d])) << 32;
            let block = simd.single().block_of_words([low, u64::from_le_bytes(rest)]);
            states[index] = simd.counters(block, numbers);
            keys[index] = schedule;
        }
        encrypt::<_, PLACES, ROUNDS>(
            #[inline(always)]
            |key| simd.splat_block(key),
            states,
            &keys,
        )
    }

    /// Encrypts the texts into `output`, and returns the tags. RFC 8452 4.
    #[inline(always)]
    fn seal<const ROUNDS: usize>(
        &self,
        keys: &mut DerivedKeys<PLACES>,
        output: &mut [u8],
    ) -> [S::Four; PLACES] {
        let texts = self.records.map(
            #[inline(always)]
            |four| four.map(|record| record.input),
        );
        let sums = self.hash(keys, &texts);
        let tags = self.tags::<ROUNDS>(keys, sums);
        self.crypt::<ROUNDS>(keys, tags, output);
        tags
    }

    /// Decrypts the texts into `output`, and returns the tags that they should have. RFC 8452 5.
    #[inline(always)]
    fn open<const ROUNDS: usize>(
        &self,
        keys: &mut DerivedKeys<PLACES>,
        output: &mut [u8],
    ) -> [S::Four; PLACES] {
        let mut expected = [self.simd.splat_block(&[0; BLOCK]); PLACES];
        for index in 0..PLACES {
            expected[index] = self.joined(
                index,
                #[inline(always)]
                |record| match record.tag {
                    TagAction::Compare(tag) => self.simd.single().load_block_at(tag, 0),
                    TagAction::Write(..) => self.simd.single().block_of_words([0; 2]),
                },
            );
        }
        self.crypt::<ROUNDS>(keys, expected, output);
        let output = &*output;
        let texts = self.records.map(
            #[inline(always)]
            |four| four.map(|record| &output[record.output..record.output + record.input.len()]),
        );
        let sums = self.hash(keys, &texts);
        self.tags::<ROUNDS>(keys, sums)
    }

    /// Joins a block of each record of a place.
    #[inline(always)]
    fn joined(&self, index: usize, block: impl Fn(&GcmSivRecord<'_>) -> OneBlock<S>) -> S::Four {
        let [a, b, c, d] = self.records[index];
        self.simd.join([block(a), block(b), block(c), block(d)])
    }

    /// Computes POLYVAL of the associated data, plaintexts and lengths of all records. RFC 8452 4.
    #[inline(always)]
    fn hash(&self, keys: &mut DerivedKeys<PLACES>, texts: &[[&[u8]; 4]; PLACES]) -> [S::Four; PLACES] {
        let mut sums = [self.simd.splat_block(&[0; BLOCK]); PLACES];
        for index in 0..PLACES {
            let ([a, b, c, d], [p, q, r, s]) = (&self.records[index], texts[index]);
            let messages = [
                HashedMessage::new(a.aad, p),
                HashedMessage::new(b.aad, q),
                HashedMessage::new(c.aad, r),
                HashedMessage::new(d.aad, s),
            ];
            sums[index] = polyval(self.simd, &messages, &mut keys.powers[index]);
        }
        sums
    }

    /// Computes the tags from the sums of POLYVAL. RFC 8452 4.
    #[inline(always)]
    fn tags<const ROUNDS: usize>(
        &self,
        keys: &DerivedKeys<PLACES>,
        sums: [S::Four; PLACES],
    ) -> [S::Four; PLACES] {
        let simd = self.simd;
        let mut blocks = sums;
        for index in 0..PLACES {
            let ivs = self.joined(
                index,
                #[inline(always)]
                |record| {
                    let [a, b, c, d, e, f, g, h, rest @ ..] = *record.iv;
                    let low = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
                    simd.single().block_of_words([low, u32::from_le_bytes(rest).into()])
                },
            );
            blocks[index] = (blocks[index] ^ ivs).masked(simd.splat_block(&ALL_BUT_TOP_BIT));
        }
        encrypt_joined::<S, PLACES, ROUNDS>(simd, blocks, &keys.ciphers)
    }

    /// Encrypts or decrypts all inputs with the key streams of their tags. RFC 8452 4: AES-CTR.
    #[inline(always)]
    fn crypt<const ROUNDS: usize>(
        &self,
        keys: &DerivedKeys<PLACES>,
        tags: [S::Four; PLACES],
        output: &mut [u8],
    ) {
        let simd = self.simd;
        let mut counters = tags;
        for counters in &mut counters {
            *counters = counters.masked(simd.splat_block(&ALL_BUT_TOP_BIT)) ^ simd.splat_block(&TOP_BIT);
        }
        let steps = self
            .records
            .each_ref()
            .map(|four| four.iter().map(|record| record.input.len().div_ceil(BLOCK)).max().unwrap_or(0));
        // Once a place has finished, the others go on one by one: the records of short batches are few, and those with
        // the most steps are in the same place.
        let shared = steps.into_iter().min().unwrap_or(0);
        for step in 0..shared {
            let streams = encrypt_joined::<S, PLACES, ROUNDS>(simd, counters, &keys.ciphers);
            for index in 0..PLACES {
                counters[index] = simd.add_to_counters(counters[index], 1);
                crypt_step(simd, &self.records[index], step, streams[index], output);
            }
        }
        for index in 0..PLACES {
            let (mut counters, key) = ([counters[index]], std::array::from_ref(&keys.ciphers[index]));
            for step in shared..steps[index] {
                let [stream] = encrypt_joined::<S, 1, ROUNDS>(simd, counters, key);
                counters = [simd.add_to_counters(counters[0], 1)];
                crypt_step(simd, &self.records[index], step, stream, output);
            }
        }
    }
}

/// Encrypts or decrypts a block of each of four records.
#[inline(always)]
fn crypt_step<S: BlockSimd>(
    simd: S,
    records: &[&GcmSivRecord<'_>; 4],
    step: usize,
    streams: S::Four,
    output: &mut [u8],
) {
    // Without a loop, so that the blocks stay in registers.
    let ([a, b, c, d], [p, q, r, s]) = (records, simd.split(streams));
    a.crypt(simd.single(), step, p, output);
    b.crypt(simd.single(), step, q, output);
    c.crypt(simd.single(), step, r, output);
    d.crypt(simd.single(), step, s, output);
}

impl GcmSivRecord<'_> {
    /// Encrypts or decrypts the block of a step, if there is one.
    #[inline(always)]
    fn crypt<S: SingleSimd>(&self, simd: S, step: usize, stream: S::Block, output: &mut [u8]) {
        let start = BLOCK * step;
        let Some(input) = self.input.get(start..).filter(|input| !input.is_empty()) else { return };
        let result = &mut output[self.output + start..];
        if let (Some(input), Some(block)) = (input.first_chunk(), result.first_chunk_mut()) {
            simd.store_block(simd.load_block(input) ^ stream, block);
        } else {
            simd.store_block_prefix(
                simd.load_block_at(self.input, start) ^ stream,
                &mut result[..input.len()],
            );
        }
    }
}

/// The input of POLYVAL for a record: both parts are padded to whole blocks, and their lengths follow. RFC 8452 4.
struct HashedMessage<'m> {
    aad: &'m [u8],
    text: &'m [u8],
    aad_blocks: usize,
    text_blocks: usize,
}

/// Four blocks of a message that has not begun.
static ZEROS: [u8; FOUR_BLOCKS] = [0; FOUR_BLOCKS];

impl<'m> HashedMessage<'m> {
    #[inline(always)]
    fn new(aad: &'m [u8], text: &'m [u8]) -> Self {
        Self { aad, text, aad_blocks: aad.len().div_ceil(BLOCK), text_blocks: text.len().div_ceil(BLOCK) }
    }

    /// Returns the number of blocks.
    #[inline(always)]
    fn blocks(&self) -> usize {
        self.aad_blocks + self.text_blocks + 1
    }

    /// Returns the block that has `left` blocks behind it, or zeros if there are fewer blocks.
    #[inline(always)]
    fn block<S: SingleSimd>(&self, simd: S, left: usize) -> S::Block {
        if left == 0 {
            return simd.block_of_words([8 * self.aad.len() as u64, 8 * self.text.len() as u64]);
        }
        if let Some(block) = self.text_blocks.checked_sub(left) {
            return simd.load_block_at(self.text, BLOCK * block);
        }
        match (self.aad_blocks + self.text_blocks).checked_sub(left) {
            Some(block) => simd.load_block_at(self.aad, BLOCK * block),
            None => simd.block_of_words([0; 2]),
        }
    }

    /// Returns four blocks, of which the last has `left` blocks behind it, if all of them are in one part and whole.
    #[inline(always)]
    fn four_blocks(&self, left: usize) -> Option<&'m [u8; FOUR_BLOCKS]> {
        // The last block is that of the lengths.
        let left = left.checked_sub(1)?;
        if let Some(block) = self.text_blocks.checked_sub(left + 4) {
            return self.text[BLOCK * block..].first_chunk();
        }
        let left = left.checked_sub(self.text_blocks)?;
        match self.aad_blocks.checked_sub(left + 4) {
            Some(block) => self.aad[BLOCK * block..].first_chunk(),
            None => (left >= self.aad_blocks).then_some(&ZEROS),
        }
    }
}

/// Computes POLYVAL of four messages. RFC 8452 3. `powers` has the keys, and gets powers of them if they pay.
///
/// All messages end with the same step. Shorter ones begin with blocks of zeros, which leave their sums zero.
#[inline(always)]
fn polyval<S: BlockSimd>(
    simd: S,
    messages: &[HashedMessage<'_>; 4],
    powers: &mut [[u8; FOUR_BLOCKS]; 4],
) -> S::Four {
    let [a, b, c, d] = messages;
    let single = simd.single();
    let mut left = a.blocks().max(b.blocks()).max(c.blocks().max(d.blocks()));
    let mut sum = simd.splat_block(&[0; BLOCK]);
    let key = simd.load_prefix(&powers[0]);
    let has_powers = left >= MIN_BLOCKS_FOR_POWERS;
    if has_powers {
        let square = simd.products([(key, key)]);
        simd.store_prefix(square, &mut powers[1]);
        simd.store_prefix(simd.products([(square, key)]), &mut powers[2]);
        simd.store_prefix(simd.products([(square, square)]), &mut powers[3]);
    }
    while left > 0 {
        if has_powers
            && let Some(next) = left.checked_sub(4)
            && let (Some(a), Some(b)) = (a.four_blocks(next), b.four_blocks(next))
            && let (Some(c), Some(d)) = (c.four_blocks(next), d.four_blocks(next))
        {
            let chunks = [a, b, c, d];
            sum = simd.products([
                (sum ^ column(simd, chunks, 0), simd.load_prefix(&powers[3])),
                (column(simd, chunks, 1), simd.load_prefix(&powers[2])),
                (column(simd, chunks, 2), simd.load_prefix(&powers[1])),
                (column(simd, chunks, 3), key),
            ]);
            left = next;
        } else {
            left -= 1;
            let blocks =
                [a.block(single, left), b.block(single, left), c.block(single, left), d.block(single, left)];
            sum = simd.products([(sum ^ simd.join(blocks), key)]);
        }
    }
    sum
}

/// Returns the blocks at one position of four messages.
#[inline(always)]
fn column<S: BlockSimd>(simd: S, [a, b, c, d]: [&[u8; FOUR_BLOCKS]; 4], at: usize) -> S::Four {
    let (single, zero) = (simd.single(), &[0; BLOCK]);
    // unreachable because there are four positions; the compiler sees that too
    let block = |chunk: &[u8; FOUR_BLOCKS]| single.load_block(chunk.as_chunks().0.get(at).unwrap_or(zero));
    simd.join([block(a), block(b), block(c), block(d)])
}
