//! AES-SIV of many records side by side. RFC 5297.
//!
//! The records of a chunk go through the same passes: MACs of the associated data, of the IVs and of the texts with the
//! kernel of CMAC, and the key stream with that of CTR. Results stay in memory of this module, which is erased, until
//! the tag of a record that is opened has been compared.

use oarlock_core::{
    AeadAlg, Direction, EngineFault, OutcomeWriter, Outcomes, OutputSink, Records, Shape, Span, Status,
};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use super::chain;
use super::chained::ChainedRecord;
use super::cmac::{CmacKey, doubled};
use super::ctr::{self, CtrRecord};
use super::keys::{PreparedKeys, prepare_slots, prepare_table};
use super::one_block::encrypted;
use super::schedule::{AesSchedule, Encrypting, PrepareAes, ROUNDS_128, ROUNDS_256};
use crate::records::{self, RecordKernel, RecordPart, RecordRef, StepRule};
use crate::simd::{BLOCK, BlockBytes, BlockSimd, declassify};

/// The records of a chunk. Their keys, texts and MACs fit into the second-level cache if they are short.
const CHUNK: usize = 128;

/// The two keys. RFC 5297 2.6.
#[derive(ZeroizeOnDrop)]
pub(super) struct SivKey {
    mac: CmacKey,
    /// The MAC of a block of zeros, with which every computation starts.
    start: u128,
    cipher: AesSchedule,
}

impl PrepareAes for SivKey {
    fn prepare<S: BlockSimd>(simd: S, key: &[u8]) -> Self {
        let (mac_key, cipher_key) = key.split_at(key.len() / 2);
        let mac = CmacKey::prepare(simd, mac_key);
        // A block of zeros is whole, so only the subkey is encrypted.
        let start = encrypted(simd, &mac.schedule, mac_key.len(), mac.subkey(BLOCK));
        let Encrypting(cipher) = Encrypting::prepare(simd, cipher_key);
        Self { mac, start: u128::from_be_bytes(start), cipher }
    }

    #[inline(always)]
    fn prefetch<S: BlockSimd>(&self, simd: S) {
        self.mac.prefetch(simd);
        self.cipher.prefetch(simd);
    }
}

/// Computes every record of every part into `out`.
pub(super) fn run<S: BlockSimd>(
    simd: S,
    alg: AeadAlg,
    direction: Direction,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    let mut kernel = SivRun { simd, alg, direction, left: parts.iter(), table: Vec::new() };
    records::run(&mut kernel, parts, out)
}

/// The records of one run.
struct SivRun<'p, S> {
    simd: S,
    alg: AeadAlg,
    direction: Direction,
    /// The parts that have not begun.
    left: std::slice::Iter<'p, &'p Records<'p>>,
    /// The prepared keys of the current part.
    table: Vec<Option<&'p SivKey>>,
}

impl<S: BlockSimd> RecordKernel for SivRun<'_, S> {
    fn shape(&self) -> Shape {
        Shape::Aead { alg: self.alg, direction: self.direction }
    }

    fn steps(&self) -> StepRule {
        StepRule::EVEN
    }

    fn begin(&mut self, _part: &RecordPart<'_>) {
        self.table = match self.left.next() {
            Some(records) => prepare_table(self.simd, records, self.alg.key_len()),
            None => Vec::new(),
        };
    }

    fn compute(&mut self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        let slots = prepare_slots::<S, SivKey>(self.simd, part, records);
        let keys = PreparedKeys { part, table: &self.table, slots: &slots };
        let mut memory = ChunkMemory::default();
        for chunk in records.chunks(CHUNK) {
            let mut work = Vec::with_capacity(chunk.len());
            let mut text_len = 0;
            for record in chunk {
                match keys.find(self.simd, *record) {
                    Some(key) => {
                        work.push(SivRecord::new(part, *record, key, text_len));
                        text_len += record.len as usize;
                    }
                    None => out.statuses[record.index as usize] = Status::BadKey,
                }
            }
            let chunk = SivChunk { simd: self.simd, part, work: &work, text_len };
            match (self.direction, self.alg) {
                (Direction::Encrypt, AeadAlg::Aes128Siv) => chunk.seal::<ROUNDS_128>(&mut memory, out),
                (Direction::Encrypt, _) => chunk.seal::<ROUNDS_256>(&mut memory, out),
                (Direction::Decrypt, AeadAlg::Aes128Siv) => chunk.open::<ROUNDS_128>(&mut memory, out),
                (Direction::Decrypt, _) => chunk.open::<ROUNDS_256>(&mut memory, out),
            }
        }
    }
}

/// An accepted record.
struct SivRecord<'a> {
    record: RecordRef,
    key: &'a SivKey,
    /// The associated data, if there is any.
    aad: Option<&'a [u8]>,
    iv: &'a [u8],
    input: &'a [u8],
    /// The offset of its text in the memory of the chunk.
    text: usize,
}

impl<'a> SivRecord<'a> {
    fn new(part: &'a RecordPart<'a>, record: RecordRef, key: &'a SivKey, text: usize) -> Self {
        let bytes = |span: Span| span.slice(part.data()).unwrap_or_default();
        let aad = Some(part.aad_span(record)).filter(|span| !span.is_absent()).map(bytes);
        let iv = bytes(part.iv_span(record));
        Self { record, key, aad, iv, input: part.input(&record, 0), text }
    }
}

/// The associated data of a record, whose MAC is a component.
#[derive(Clone, Copy)]
struct AadComponent<'a> {
    key: &'a SivKey,
    aad: &'a [u8],
}

impl AadComponent<'_> {
    /// True if both have the same MAC, because they are the same place under the same key.
    fn equals(&self, other: &Self) -> bool {
        std::ptr::eq(self.key, other.key) && std::ptr::eq(self.aad, other.aad)
    }
}

/// Memory for one chunk after the other.
#[derive(Default)]
struct ChunkMemory {
    /// The sums of each record.
    sums: Zeroizing<Vec<u128>>,
    /// The MACs of a pass.
    macs: Zeroizing<Vec<BlockBytes>>,
    /// Texts whose end is XORed with the sum.
    ends: Zeroizing<Vec<u8>>,
    /// The results.
    texts: Zeroizing<Vec<u8>>,
}

/// The records of one chunk.
struct SivChunk<'a, S> {
    simd: S,
    part: &'a RecordPart<'a>,
    work: &'a [SivRecord<'a>],
    /// The bytes of all texts.
    text_len: usize,
}

impl<S: BlockSimd> SivChunk<'_, S> {
    fn seal<const ROUNDS: usize>(&self, memory: &mut ChunkMemory, out: &mut OutcomeWriter<'_>) {
        self.sum_components::<ROUNDS>(None, memory);
        let texts: Vec<&[u8]> = self.work.iter().map(|work| work.input).collect();
        self.finish_macs::<ROUNDS>(&texts, memory);
        let ChunkMemory { macs, texts, .. } = memory;
        self.crypt::<ROUNDS>(macs.iter(), texts);
        for (work, tag) in self.work.iter().zip(macs.iter()) {
            self.give(work, texts, out);
            if let Some(tag_out) = self.part.tag_span(work.record).slice_mut(out.output) {
                tag_out.copy_from_slice(tag);
            }
        }
    }

    fn open<const ROUNDS: usize>(&self, memory: &mut ChunkMemory, out: &mut OutcomeWriter<'_>) {
        let expected = |work: &SivRecord<'_>| {
            let tag = self.part.tag_span(work.record).slice(self.part.data());
            tag.and_then(|tag| tag.first_chunk().copied()).unwrap_or_default()
        };
        let tags: Vec<BlockBytes> = self.work.iter().map(expected).collect();
        let mut texts = std::mem::take(&mut memory.texts);
        self.crypt::<ROUNDS>(tags.iter(), &mut texts);
        self.sum_components::<ROUNDS>(None, memory);
        let plain: Vec<&[u8]> =
            self.work.iter().map(|work| &texts[work.text..][..work.input.len()]).collect();
        self.finish_macs::<ROUNDS>(&plain, memory);
        let mut verified = are_equal(&tags, &memory.macs);
        if self.work.iter().zip(&verified).any(|(work, verified)| !verified && work.aad.is_none()) {
            // Versions before 0.1 took no associated data for an empty string of it. Few chunks need this.
            self.sum_components::<ROUNDS>(Some(&[]), memory);
            self.finish_macs::<ROUNDS>(&plain, memory);
            let older = are_equal(&tags, &memory.macs);
            for ((work, verified), older) in self.work.iter().zip(&mut verified).zip(older) {
                *verified |= older && work.aad.is_none();
            }
        }
        for (work, verified) in self.work.iter().zip(verified) {
            match verified {
                true => self.give(work, &texts, out),
                false => out.statuses[work.record.index as usize] = Status::Rejected,
            }
        }
        memory.texts = texts;
    }

    /// Copies the text of a record to its output.
    fn give(&self, work: &SivRecord<'_>, texts: &[u8], out: &mut OutcomeWriter<'_>) {
        let text = &texts[work.text..][..work.input.len()];
        let output = match self.part.output(work.record) {
            OutputSink::Output(span) => span.slice_mut(out.output),
            OutputSink::Slot(slot) => out.slots.fill(slot, text.len()),
        };
        match output {
            Some(output) => output.copy_from_slice(text),
            None => out.statuses[work.record.index as usize] = Status::Malformed,
        }
    }

    /// Computes the sums of all components before the text. RFC 5297 2.4. `absent` stands for associated data that is
    /// absent.
    fn sum_components<const ROUNDS: usize>(&self, absent: Option<&[u8]>, memory: &mut ChunkMemory) {
        // One MAC for records that follow each other with the same associated data.
        let mut firsts: Vec<AadComponent<'_>> = Vec::with_capacity(self.work.len());
        let mac_of: Vec<Option<usize>> = self
            .work
            .iter()
            .map(|work| {
                let component = AadComponent { key: work.key, aad: work.aad.or(absent)? };
                if firsts.last().is_none_or(|first| !component.equals(first)) {
                    firsts.push(component);
                }
                Some(firsts.len() - 1)
            })
            .collect();
        if !firsts.is_empty() {
            self.mac_all::<ROUNDS>(firsts.iter().map(|first| (first.key, first.aad)), memory);
        }
        let ChunkMemory { sums, macs, .. } = memory;
        sums.clear();
        sums.extend(self.work.iter().zip(mac_of).map(|(work, mac)| match mac {
            Some(mac) => added(work.key.start, &macs[mac]),
            None => work.key.start,
        }));
        let with_iv = || self.work.iter().enumerate().filter(|(_, work)| !work.iv.is_empty());
        if with_iv().next().is_some() {
            self.mac_all::<ROUNDS>(with_iv().map(|(_, work)| (work.key, work.iv)), memory);
            for ((at, _), mac) in with_iv().zip(memory.macs.iter()) {
                memory.sums[at] = added(memory.sums[at], mac);
            }
        }
    }

    /// Computes the synthetic IVs from the sums and the texts. RFC 5297 2.4.
    fn finish_macs<const ROUNDS: usize>(&self, texts: &[&[u8]], memory: &mut ChunkMemory) {
        let mut ends = std::mem::take(&mut memory.ends);
        let len = texts.iter().map(|text| text.len().max(BLOCK)).sum();
        if ends.capacity() < len {
            // A vector that grew would leave texts in freed memory.
            ends = Zeroizing::new(Vec::with_capacity(len));
        }
        ends.clear();
        for (text, sum) in texts.iter().zip(memory.sums.iter()) {
            let start = ends.len();
            ends.extend_from_slice(text);
            let sum = match text.len() < BLOCK {
                false => *sum,
                true => {
                    ends.push(0x80);
                    ends.resize(start + BLOCK, 0);
                    doubled(*sum)
                }
            };
            if let Some(end) = ends.last_chunk_mut::<BLOCK>() {
                *end = (u128::from_be_bytes(*end) ^ sum).to_be_bytes();
            }
        }
        let mut rest = &ends[..];
        let messages = self.work.iter().zip(texts).map(|(work, text)| {
            let (message, others) = rest.split_at(text.len().max(BLOCK));
            rest = others;
            (work.key, message)
        });
        self.mac_all::<ROUNDS>(messages, memory);
        memory.ends = ends;
    }

    /// Computes the MACs of messages.
    fn mac_all<'m, const ROUNDS: usize>(
        &self,
        messages: impl Iterator<Item = (&'m SivKey, &'m [u8])>,
        memory: &mut ChunkMemory,
    ) {
        let records: Vec<ChainedRecord<'m>> = messages
            .enumerate()
            .map(|(at, (key, message))| ChainedRecord {
                schedule: &key.mac.schedule,
                block: key.mac.subkey(message.len()),
                message,
                output: BLOCK * at,
                tag_len: BLOCK,
            })
            .collect();
        let macs = &mut memory.macs;
        macs.clear();
        macs.resize(records.len(), [0; BLOCK]);
        let (mut next, simd) = (records.iter(), self.simd);
        simd.call(
            #[inline(always)]
            || chain::run::<S, ROUNDS, true>(simd, || next.next().copied(), macs.as_flattened_mut()),
        );
    }

    /// Encrypts or decrypts the inputs with the key streams of synthetic IVs. RFC 5297 2.5.
    fn crypt<'t, const ROUNDS: usize>(
        &self,
        tags: impl Iterator<Item = &'t BlockBytes>,
        texts: &mut Zeroizing<Vec<u8>>,
    ) {
        if texts.capacity() < self.text_len {
            *texts = Zeroizing::new(Vec::with_capacity(self.text_len));
        }
        texts.resize(self.text_len, 0);
        let mut records = self.work.iter().zip(tags).map(|(work, tag)| CtrRecord {
            schedule: &work.key.cipher,
            counter: u128::from_be_bytes(*tag) & !(1 << 63 | 1 << 31),
            input: work.input,
            output: work.text,
        });
        let simd = self.simd;
        simd.call(
            #[inline(always)]
            || {
                let next = || records.next();
                match S::FOURS {
                    2 => ctr::run::<S, 2, ROUNDS>(simd, next, texts),
                    4 => ctr::run::<S, 4, ROUNDS>(simd, next, texts),
                    _ => ctr::run::<S, 8, ROUNDS>(simd, next, texts),
                }
            },
        );
    }
}

/// Compares each tag with its MAC.
fn are_equal(tags: &[BlockBytes], macs: &[BlockBytes]) -> Vec<bool> {
    let difference =
        |(tag, mac): (&BlockBytes, &BlockBytes)| u128::from_ne_bytes(*tag) ^ u128::from_ne_bytes(*mac);
    // The answers are public: the statuses say them.
    tags.iter().zip(macs).map(|pair| declassify(difference(pair) == 0)).collect()
}

/// Doubles a sum and adds a MAC.
fn added(sum: u128, mac: &BlockBytes) -> u128 {
    doubled(sum) ^ u128::from_be_bytes(*mac)
}
