//! SHA-1, SHA-256 and SHA-224 by instructions for their rounds, several messages in turn.
//!
//! The instructions hash one message, and each waits for the one before. So the rounds of a few messages alternate. A
//! message that ends makes room for the next one at once. There is no order by length, and nothing is transposed.
//!
//! | module | contents |
//! |---|---|
//! | this one | shapes, and the loop over records |
//! | `mode` | the chaining values before and after the messages of a shape |
//! | `padding` | the block of padding that messages of one length share |
//! | `source` | the blocks of a message that are left, and its padding |
//! | `sha1`, `sha256` | the rounds of several messages |

mod messages;
mod mode;
mod padding;
mod sha1;
mod sha256;
mod source;

use std::marker::PhantomData;

use oarlock_core::{BatchSize, DigestAlg, EngineFault, MacAlg, OutcomeWriter, Outcomes, Records, Shape};
use zeroize::{Zeroize, Zeroizing};

use super::hmac::{HmacHash, LaneSha224};
use super::sha1::LaneSha1;
use super::sha256::{LaneSha256, initial_224};
use super::{CHAIN_BYTES, MerkleDamgard};
use crate::fault::not_offered;
use crate::records::{self, RecordKernel, RecordPart, RecordRef, StepRule};
use crate::simd::{KeptWords, ShaSimd};
pub(crate) use messages::advance;
use mode::{HmacStreams, PartStreams, StreamMode, WholeStreams};
pub(crate) use padding::MessageSchedule;
use padding::SharedPadding;
use source::MessageSource;

/// A block of either function.
type Block = [u8; BLOCK];

/// The bytes of a block.
const BLOCK: usize = 64;

/// The most messages in turn.
const MAX_STREAMS: usize = 4;

/// A hash function with instructions for its rounds.
pub(crate) trait StreamHash: MerkleDamgard + HmacHash<Lanes = Self> {
    /// The number of messages in turn, at most [`MAX_STREAMS`]. Measured: docs/performance/records.md.
    const STREAMS: usize;

    /// The index in a [`StreamState`] of each two words of a chaining value.
    const ORDER: [usize; 4];

    /// Hashes blocks of `N` messages, as many of each as the first has. The others must have no fewer. `kept` is memory
    /// for the message schedules.
    fn compress<S: ShaSimd, const N: usize>(
        simd: S,
        states: &mut [StreamState; N],
        kept: &mut [KeptWords; N],
        blocks: [&[Block]; N],
    );

    /// Returns the message schedule of a public block.
    fn schedule(block: &Block) -> MessageSchedule;

    /// Hashes the block of a schedule, which is the same for all messages.
    fn compress_scheduled<S: ShaSimd, const N: usize>(
        simd: S,
        states: &mut [StreamState; N],
        kept: &mut [KeptWords; N],
        schedule: &MessageSchedule,
    );
}

/// A chaining value in the order of the instructions: words from the last to the first of each vector. So two of them
/// are a big-endian number.
#[derive(Clone, Copy, Default, Zeroize)]
#[repr(align(16))]
pub(crate) struct StreamState([u64; 4]);

impl StreamState {
    /// Reads the first half of a chaining value.
    #[inline(always)]
    fn new<H: StreamHash>(bytes: &[u8; CHAIN_BYTES / 2]) -> Self {
        let mut state = Self::default();
        for (word, pair) in H::ORDER.iter().zip(bytes.as_chunks().0) {
            state.0[*word] = u64::from_be_bytes(*pair);
        }
        state
    }

    /// Returns the big-endian bytes of the chaining value.
    #[inline(always)]
    pub(crate) fn bytes<H: StreamHash>(&self) -> [u8; CHAIN_BYTES / 2] {
        let mut bytes = [0; CHAIN_BYTES / 2];
        for (pair, word) in bytes.as_chunks_mut().0.iter_mut().zip(H::ORDER) {
            *pair = self.0[word].to_be_bytes();
        }
        bytes
    }

    #[inline(always)]
    fn load<S: ShaSimd>(&self, simd: S) -> [S::W; 2] {
        let [a, b, c, d] = self.0;
        [simd.load_words(&[a, b]), simd.load_words(&[c, d])]
    }

    #[inline(always)]
    fn store<S: ShaSimd>(&mut self, simd: S, variables: [S::W; 2]) {
        let [[a, b], [c, d]] = variables.map(
            #[inline(always)]
            |vector| simd.words(vector),
        );
        self.0 = [a, b, c, d];
    }
}

/// Reads the first half of a chaining value, which is all of it for words of 32 bits.
pub(crate) fn first_half<H: StreamHash>(value: &[u8; CHAIN_BYTES]) -> StreamState {
    value.first_chunk().map(StreamState::new::<H>).unwrap_or_default()
}

/// Returns block `at` of each message.
#[inline(always)]
fn blocks_at<'a, const N: usize>(blocks: &[&'a [Block]; N], at: usize) -> [&'a Block; N] {
    blocks.map(
        #[inline(always)]
        |blocks| &blocks[at],
    )
}

/// Returns the batch sizes of a shape, or None if it is not SHA-1, SHA-224, SHA-256 or an HMAC of them.
pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
    let preferred = match shape {
        Shape::Digest { alg: DigestAlg::Sha1 }
        | Shape::DigestPart { alg: DigestAlg::Sha1 }
        | Shape::Mac { alg: MacAlg::HmacSha1 } => LaneSha1::STREAMS,
        Shape::Digest { alg: DigestAlg::Sha224 | DigestAlg::Sha256 }
        | Shape::DigestPart { alg: DigestAlg::Sha224 | DigestAlg::Sha256 }
        | Shape::Mac { alg: MacAlg::HmacSha224 | MacAlg::HmacSha256 } => LaneSha256::STREAMS,
        _ => return None,
    };
    // The maximum keeps other queues from waiting long.
    Some(BatchSize { preferred, max: 65_536 })
}

/// Hashes every record of every part.
pub(crate) fn run<S: ShaSimd>(
    simd: S,
    shape: Shape,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    let batch = StreamBatch { simd, shape, parts };
    match shape {
        Shape::Digest { alg: alg @ DigestAlg::Sha1 } => {
            let start = WholeStreams::new::<LaneSha1>(&LaneSha1::initial());
            batch.run::<LaneSha1, _>(start, alg.output_len(), out)
        }
        Shape::Digest { alg: alg @ DigestAlg::Sha224 } => {
            let start = WholeStreams::new::<LaneSha256>(&initial_224());
            batch.run::<LaneSha256, _>(start, alg.output_len(), out)
        }
        Shape::Digest { alg: alg @ DigestAlg::Sha256 } => {
            let start = WholeStreams::new::<LaneSha256>(&LaneSha256::initial());
            batch.run::<LaneSha256, _>(start, alg.output_len(), out)
        }
        Shape::DigestPart { alg: alg @ DigestAlg::Sha1 } => {
            batch.run::<LaneSha1, _>(PartStreams, alg.state_len(), out)
        }
        Shape::DigestPart { alg: alg @ (DigestAlg::Sha224 | DigestAlg::Sha256) } => {
            batch.run::<LaneSha256, _>(PartStreams, alg.state_len(), out)
        }
        Shape::Mac { alg: alg @ MacAlg::HmacSha1 } => {
            batch.run::<LaneSha1, _>(HmacStreams::<LaneSha1>::default(), alg.tag_len(), out)
        }
        Shape::Mac { alg: alg @ MacAlg::HmacSha224 } => {
            batch.run::<LaneSha256, _>(HmacStreams::<LaneSha224>::default(), alg.tag_len(), out)
        }
        Shape::Mac { alg: alg @ MacAlg::HmacSha256 } => {
            batch.run::<LaneSha256, _>(HmacStreams::<LaneSha256>::default(), alg.tag_len(), out)
        }
        _ => Err(not_offered(shape)),
    }
}

struct StreamBatch<'a, S> {
    simd: S,
    shape: Shape,
    parts: &'a [&'a Records<'a>],
}

impl<S: ShaSimd> StreamBatch<'_, S> {
    fn run<H: StreamHash, K: StreamMode<H>>(
        self,
        mode: K,
        result_len: usize,
        out: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        let Self { simd, shape, parts } = self;
        let mut run = StreamRun { simd, shape, mode, result_len, padding: None, hash: PhantomData::<H> };
        records::run(&mut run, parts, out)
    }
}

/// A run of records of one shape.
struct StreamRun<S, H, K> {
    simd: S,
    shape: Shape,
    mode: K,
    /// The bytes of a result.
    result_len: usize,
    /// The padding of every message of the part, if it is a block of its own.
    padding: Option<SharedPadding>,
    hash: PhantomData<H>,
}

impl<S: ShaSimd, H: StreamHash, K: StreamMode<H>> RecordKernel for StreamRun<S, H, K> {
    fn shape(&self) -> Shape {
        self.shape
    }

    /// A stream takes the next record as soon as its own is finished, so the order of lengths does not matter.
    fn steps(&self) -> StepRule {
        StepRule::EVEN
    }

    fn prefetches(&self) -> bool {
        true
    }

    fn begin(&mut self, part: &RecordPart<'_>) {
        let padding = |len| SharedPadding::new::<H>(K::ENDING, len, part.len());
        self.padding = part.equal_len().and_then(padding);
    }

    fn compute(&mut self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        Streams::<H>::default().hash(Waiting { run: self, part, records }, out);
    }
}

/// The messages that are hashed in turn.
struct Streams<'a, H> {
    /// The chaining values. Erased afterwards: those of HMAC are enough to forge its MACs.
    states: Zeroizing<[StreamState; MAX_STREAMS]>,
    /// The words of the message schedules. Erased afterwards: messages can be secret.
    kept: Zeroizing<[KeptWords; MAX_STREAMS]>,
    streams: [Stream<'a>; MAX_STREAMS],
    /// The number of streams in use. They come first.
    count: usize,
    hash: PhantomData<H>,
}

/// The message of a stream.
#[derive(Default)]
struct Stream<'a> {
    record: RecordRef,
    source: MessageSource<'a>,
    /// The chaining value before the hash that follows this one.
    outer: Zeroizing<StreamState>,
    /// True if the result of this hash is the message of another.
    is_inner: bool,
}

impl<H: StreamHash> Default for Streams<'_, H> {
    fn default() -> Self {
        Self {
            states: Zeroizing::default(),
            kept: Zeroizing::default(),
            streams: std::array::from_fn(|_| Stream::default()),
            count: 0,
            hash: PhantomData,
        }
    }
}

/// The records of a window that no stream has begun.
struct Waiting<'w, 'a, S, H, K> {
    run: &'w StreamRun<S, H, K>,
    part: &'w RecordPart<'a>,
    records: &'w [RecordRef],
}

impl<'a, S: ShaSimd, H: StreamHash, K: StreamMode<H>> Waiting<'_, 'a, S, H, K> {
    /// Begins the next record in a stream. Returns false if there is none.
    #[inline(always)]
    fn start(&mut self, stream: &mut Stream<'a>, state: &mut StreamState) -> bool {
        let Some((record, others)) = self.records.split_first() else { return false };
        if let Some(later) = others.get(AHEAD) {
            fetch(self.run.simd, self.part.input(later, 0));
        }
        self.records = others;
        stream.record = *record;
        stream.is_inner = K::INNER_LEN.is_some();
        let message = self.part.input(record, 0);
        match &self.run.padding {
            Some(padding) => stream.source.start_whole(message, &padding.block),
            None => stream.source.start::<H>(message, K::ENDING),
        }
        self.run.mode.start(self.part, *record, state, &mut stream.outer);
        true
    }
}

impl<'a, H: StreamHash> Streams<'a, H> {
    /// Hashes all records of a window.
    fn hash<S: ShaSimd, K: StreamMode<H>>(
        &mut self,
        mut waiting: Waiting<'_, 'a, S, H, K>,
        out: &mut OutcomeWriter<'_>,
    ) {
        let simd = waiting.run.simd;
        for (stream, state) in self.streams.iter_mut().zip(self.states.iter_mut()).take(H::STREAMS) {
            self.count += usize::from(waiting.start(stream, state));
        }
        loop {
            self.replace_ended(&mut waiting, out);
            let padding = waiting.run.padding.as_ref();
            match self.count {
                0 => return,
                1 => self.step::<S, 1>(simd, padding),
                2 => self.step::<S, 2>(simd, padding),
                3 => self.step::<S, 3>(simd, padding),
                _ => self.step::<S, MAX_STREAMS>(simd, padding),
            }
        }
    }

    /// Writes the results of messages that have ended, and begins others in their streams.
    #[inline(always)]
    fn replace_ended<S: ShaSimd, K: StreamMode<H>>(
        &mut self,
        waiting: &mut Waiting<'_, 'a, S, H, K>,
        out: &mut OutcomeWriter<'_>,
    ) {
        // From the last to the first, because the last one moves to the place of one that has no more records.
        for index in (0..self.count).rev() {
            let (stream, state) = (&mut self.streams[index], &mut self.states[index]);
            while stream.source.has_ended() {
                if let Some(len) = K::INNER_LEN.filter(|_| stream.is_inner) {
                    stream.source.start_outer(&state.bytes::<H>()[..len]);
                    (*state, stream.is_inner) = (*stream.outer, false);
                    continue;
                }
                write(waiting.part, stream.record, &state.bytes::<H>(), waiting.run.result_len, out);
                if !waiting.start(stream, state) {
                    self.count -= 1;
                    self.streams.swap(index, self.count);
                    self.states.swap(index, self.count);
                    break;
                }
            }
        }
    }

    /// Hashes blocks of the first `N` streams until one of them has none left, or continues with its padding.
    /// `padding` is the one that all messages share.
    fn step<S: ShaSimd, const N: usize>(&mut self, simd: S, padding: Option<&SharedPadding>) {
        let (Some(states), Some(kept), Some(streams)) = (
            self.states.first_chunk_mut::<N>(),
            self.kept.first_chunk_mut::<N>(),
            self.streams.first_chunk_mut::<N>(),
        ) else {
            return;
        };
        if let Some(padding) = padding
            && streams.iter().all(|stream| stream.source.is_at_shared_padding())
        {
            simd.call(
                #[inline(always)]
                || H::compress_scheduled(simd, states, kept, &padding.schedule),
            );
            streams.iter_mut().for_each(|stream| stream.source.advance(1));
            return;
        }
        let left = streams.each_ref().map(|stream| stream.source.left());
        let count = left.iter().map(|blocks| blocks.len()).min().unwrap_or_default();
        let blocks = left.map(|blocks| &blocks[..count]);
        simd.call(
            #[inline(always)]
            || H::compress(simd, states, kept, blocks),
        );
        for stream in streams {
            stream.source.advance(count);
        }
    }
}

/// The distance between the record that starts and the record whose input is prefetched.
const AHEAD: usize = 2 * MAX_STREAMS;

/// Prefetches the beginning of a message. The processor fetches the rest when it sees that blocks are read in order.
#[inline(always)]
fn fetch<S: ShaSimd>(simd: S, message: &[u8]) {
    for block in 0..FETCHED_BLOCKS {
        if let Some(byte) = message.get(block * BLOCK) {
            simd.prefetch(byte);
        }
    }
}

/// The blocks of a message that are prefetched. Measured.
const FETCHED_BLOCKS: usize = 4;

/// Writes the leading bytes of a result, as many as the output holds.
#[inline(always)]
fn write(
    part: &RecordPart<'_>,
    record: RecordRef,
    result: &[u8; 32],
    len: usize,
    out: &mut OutcomeWriter<'_>,
) {
    match out.result_mut(part.output(record), len) {
        Ok(output) => match output.first_chunk_mut() {
            // A copy of constant length, which needs no call.
            Some(whole) => *whole = *result,
            None => output.copy_from_slice(&result[..output.len()]),
        },
        Err(status) => out.statuses[record.index as usize] = status,
    }
}

#[cfg(test)]
mod tests;
