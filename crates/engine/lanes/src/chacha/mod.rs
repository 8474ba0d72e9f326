//! ChaCha20-Poly1305, in the form of RFC 8439 and in that of SSH (draft-ietf-sshm-chacha20-poly1305).
//!
//! Sixteen blocks of key stream are made side by side: of one record where it is long, and otherwise of several. The
//! first block of each record is its key of Poly1305. The ciphertext of a long record is hashed in sixteen lanes.
//!
//! | module | contents |
//! |---|---|
//! | this one | the records of a run, and the blocks of each |
//! | `stream` | the key stream of ChaCha20 |
//! | `poly1305` | Poly1305, one block or sixteen at a time |

mod poly1305;
mod stream;
#[cfg(test)]
mod tests;

use oarlock_core::{
    AeadAlg, BatchSize, Direction, EngineFault, OutcomeWriter, Outcomes, Records, Shape, Span, Status,
};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use self::poly1305::Poly1305;
use crate::records::{self, RecordKernel, RecordPart, RecordRef, StepRule};
use crate::simd::{UnzipSimd, Vector, declassify};
use stream::{BLOCK, BLOCKS, BlockStart, STRIDE};

/// Returns the batch sizes of a shape, or None if it is not ChaCha20-Poly1305. One long record fills the lanes; short
/// ones share them.
pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
    let is_one =
        matches!(shape, Shape::Aead { alg: AeadAlg::ChaCha20Poly1305 | AeadAlg::ChaCha20Poly1305Ssh, .. });
    is_one.then_some(BatchSize { preferred: BLOCKS, max: 1 << 16 })
}

/// Computes every record of every part into `out`.
pub(crate) fn run<S: UnzipSimd>(
    simd: S,
    shape: Shape,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    let Shape::Aead { alg, direction } = shape else { return Err(crate::fault::not_offered(shape)) };
    let (is_ssh, opens) = (alg == AeadAlg::ChaCha20Poly1305Ssh, direction == Direction::Decrypt);
    records::run(&mut ChaChaRun { simd, shape, is_ssh, opens }, parts, out)
}

/// The records of one run.
struct ChaChaRun<S> {
    simd: S,
    shape: Shape,
    is_ssh: bool,
    opens: bool,
}

/// The bytes of the records in a window. Inputs and outputs stay in a second-level cache between cipher and hash.
const WINDOW_BYTES: usize = 128 << 10;

/// The bytes of a packet's length in SSH, which has a key of its own.
const SSH_LENGTH: usize = 4;

/// An accepted record.
struct Message<'a> {
    record: RecordRef,
    key: &'a [u8; 32],
    /// The key of the length in SSH.
    length_key: Option<&'a [u8; 32]>,
    nonce: [u8; 12],
    input: &'a [u8],
    aad: &'a [u8],
}

/// A block of key stream that is made beside blocks of other records.
#[derive(Clone, Copy)]
struct LooseBlock {
    /// The index of the message in its window.
    message: usize,
    counter: u32,
    purpose: BlockPurpose,
}

#[derive(Clone, Copy)]
enum BlockPurpose {
    /// The key of Poly1305.
    HashKey,
    /// The length of a packet in SSH.
    Length,
    /// Bytes of the record.
    Data(Span),
}

impl<S: UnzipSimd> RecordKernel for ChaChaRun<S> {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn steps(&self) -> StepRule {
        StepRule::EVEN
    }

    fn compute(&mut self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        let mut rest = records;
        while !rest.is_empty() {
            let mut bytes = 0;
            let count = rest.iter().take_while(|record| {
                let fits = bytes < WINDOW_BYTES;
                bytes += record.len as usize;
                fits
            });
            let (window, after) = rest.split_at(count.count());
            self.window(part, window, out);
            rest = after;
        }
    }
}

impl<S: UnzipSimd> ChaChaRun<S> {
    fn window(&self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        let mut messages = Vec::with_capacity(records.len());
        for record in records {
            match self.message(part, *record) {
                Some(message) => messages.push(message),
                // unreachable because the lengths of key and nonce were checked when the record was accepted
                None => out.statuses[record.index as usize] = Status::BadKey,
            }
        }
        let mut hash_keys = Zeroizing::new(vec![[0; 32]; messages.len()]);
        let mut loose = [None; BLOCKS];
        let mut count = 0;
        for (index, message) in messages.iter().enumerate() {
            self.each_loose(index, message, |block| {
                loose[count] = Some(block);
                count += 1;
                if count == BLOCKS {
                    self.crypt_loose(part, &messages, &loose, &mut hash_keys, out);
                    (loose, count) = ([None; BLOCKS], 0);
                }
            });
        }
        if count > 0 {
            self.crypt_loose(part, &messages, &loose, &mut hash_keys, out);
        }
        for (message, key) in messages.iter().zip(&*hash_keys) {
            let output = part.output_bytes(&message.record, 0, out);
            self.crypt_strides(message, output);
            let covered = if self.opens { message.input } else { &*output };
            let mut tag = self.tag(key, message.aad, covered);
            self.finish(part, message, &tag, out);
            // The right tag of a forged record must not stay behind.
            tag.zeroize();
        }
    }

    fn message<'a>(&self, part: &'a RecordPart<'a>, record: RecordRef) -> Option<Message<'a>> {
        let of_data = |span: Span| span.slice(part.data()).unwrap_or_default();
        let iv = of_data(part.iv_span(record));
        // RFC 8439 puts zeros before the nonce of SSH, whose counter has 64 bits.
        let mut nonce = [0; 12];
        nonce.get_mut(12usize.checked_sub(iv.len())?..)?.copy_from_slice(iv);
        let keys = part.key_bytes(record);
        let (key, rest) = keys.split_first_chunk()?;
        let length_key = if self.is_ssh { Some(rest.first_chunk()?) } else { None };
        let (input, aad) = (part.input(&record, 0), of_data(part.aad_span(record)));
        Some(Message { record, key, length_key, nonce, input, aad })
    }

    /// Returns the range of a record's input that the main key encrypts in whole strides.
    fn strides(&self, message: &Message<'_>) -> std::ops::Range<usize> {
        let first = if self.is_ssh { SSH_LENGTH.min(message.input.len()) } else { 0 };
        first..first + (message.input.len() - first) / STRIDE * STRIDE
    }

    /// Calls `take` with each block of a message that is not in a stride.
    fn each_loose(&self, message: usize, of: &Message<'_>, mut take: impl FnMut(LooseBlock)) {
        take(LooseBlock { message, counter: 0, purpose: BlockPurpose::HashKey });
        if self.is_ssh {
            take(LooseBlock { message, counter: 0, purpose: BlockPurpose::Length });
        }
        let strides = self.strides(of);
        // Records are far below 2^38 bytes, where the counter would wrap.
        let first = 1 + (strides.len() / BLOCK) as u32;
        for (start, counter) in (strides.end..of.input.len()).step_by(BLOCK).zip(first..) {
            let len = BLOCK.min(of.input.len() - start);
            let span = Span { start: start as u32, len: len as u32 };
            take(LooseBlock { message, counter, purpose: BlockPurpose::Data(span) });
        }
    }

    /// Makes up to sixteen blocks of key stream, and uses each.
    fn crypt_loose(
        &self,
        part: &RecordPart<'_>,
        messages: &[Message<'_>],
        blocks: &[Option<LooseBlock>; BLOCKS],
        hash_keys: &mut [[u8; 32]],
        out: &mut OutcomeWriter<'_>,
    ) {
        const IDLE: BlockStart<'static> = BlockStart { key: &[0; 32], nonce: &[0; 12], counter: 0 };
        let starts = blocks.map(|block| {
            let Some(LooseBlock { message, counter, purpose }) = block else { return IDLE };
            let Message { key, length_key, ref nonce, .. } = messages[message];
            let key = match purpose {
                BlockPurpose::Length => length_key.unwrap_or(key),
                _ => key,
            };
            BlockStart { key, nonce, counter }
        });
        self.simd.call(
            #[inline(always)]
            || {
                let mut rows = stream::start_of_each(self.simd, &starts);
                let streams = stream::key_stream(&rows);
                // The rows hold the keys.
                rows.zeroize();
                for (block, stream) in blocks.iter().zip(streams) {
                    let Some(LooseBlock { message, purpose, .. }) = *block else { break };
                    let range = match purpose {
                        BlockPurpose::HashKey => {
                            stream.store_prefix(&mut hash_keys[message]);
                            continue;
                        }
                        BlockPurpose::Length => 0..SSH_LENGTH.min(messages[message].input.len()),
                        BlockPurpose::Data(span) => span.range(),
                    };
                    let Message { record, input, .. } = &messages[message];
                    let result = &mut part.output_bytes(record, 0, out)[range.clone()];
                    (stream ^ self.simd.load_prefix(&input[range])).store_prefix(result);
                }
            },
        );
    }

    fn crypt_strides(&self, message: &Message<'_>, out: &mut [u8]) {
        let strides = self.strides(message);
        if strides.is_empty() {
            return;
        }
        let start = BlockStart { key: message.key, nonce: &message.nonce, counter: 1 };
        self.simd.call(
            #[inline(always)]
            || {
                let output = &mut out[strides.clone()];
                stream::crypt_run(self.simd, &start, &message.input[strides], output);
            },
        );
    }

    /// Returns the tag of a sealed record.
    fn tag(&self, key: &[u8; 32], aad: &[u8], sealed: &[u8]) -> [u8; 16] {
        let mut hash = Poly1305::new(key);
        if !self.is_ssh {
            hash.absorb_padded(aad);
        }
        // Shorter messages take longer to set the lanes up than to be hashed one block at a time.
        let strides = if sealed.len() < MIN_STRIDES * poly1305::STRIDE {
            0
        } else {
            sealed.len() / poly1305::STRIDE * poly1305::STRIDE
        };
        let (front, rest) = sealed.split_at(strides);
        if !front.is_empty() {
            self.simd.call(
                #[inline(always)]
                || hash.absorb_strides(self.simd, front),
            );
        }
        if self.is_ssh {
            hash.absorb(rest);
        } else {
            hash.absorb_padded(rest);
            hash.absorb_lengths(aad.len(), sealed.len());
        }
        hash.tag()
    }

    /// Writes the tag, or compares it with that of the record.
    fn finish(
        &self,
        part: &RecordPart<'_>,
        message: &Message<'_>,
        tag: &[u8; 16],
        out: &mut OutcomeWriter<'_>,
    ) {
        let (record, span) = (message.record, part.tag_span(message.record));
        let status = &mut out.statuses[record.index as usize];
        if self.opens {
            let expected = span.slice(part.data()).unwrap_or_default();
            // Only the verdict is public, and the status reveals it anyway.
            if declassify(tag.ct_eq(expected).unwrap_u8()) == 0 {
                *status = Status::Rejected;
                out.wipe(part.output(record));
            }
        } else if out.write_tag(span, tag).is_err() {
            out.statuses[record.index as usize] = Status::Malformed;
        }
    }
}

/// The fewest strides of Poly1305 that are hashed in lanes.
const MIN_STRIDES: usize = 2;
