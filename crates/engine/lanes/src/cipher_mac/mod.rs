//! A cipher and an HMAC over each record, for TLS, SSH and ESP. [`Shape::Chain`] states the order.
//!
//! The records of a window pass through the lanes of the hash and then through those of the cipher, or the other way. A
//! window is small enough that its records stay in the second cache between the two.
//!
//! | module | contents |
//! |---|---|
//! | this one | shapes, and the passes of each order |
//! | `passes` | the pass of the hash and the pass of the cipher, each on its own leaf |
//! | `tls` | TLS records in CBC mode: sealing with padding, opening in constant time |

mod passes;
mod tls;

use oarlock_core::{
    BatchSize, ChainOrder, CipherSpec, Direction, EngineFault, OutcomeWriter, Outcomes, OutputSink, Records,
    Shape, Status,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::fault::not_offered;
use crate::hash::ChainBytes;
use crate::leaves::{LeafChoice, Leaves};
use crate::records::{self, RecordKernel, RecordPart, RecordRef, StepRule};
use crate::scratch::{ThreadScratch, WipePolicy};
use crate::simd::{declassify, erase};
use passes::ChainPasses;

/// Returns the leaf of the cipher of a chain and the chain's batch sizes, or None if the shape is not a chain or if the
/// leaves lack its cipher or its hash.
pub(crate) fn choice(leaves: &Leaves, shape: Shape) -> Option<LeafChoice> {
    let Shape::Chain { cipher, mac, direction, .. } = shape else { return None };
    if !shape.is_possible() {
        return None;
    }
    let (choice, _) = leaves.cipher(cipher_shape(cipher, direction))?;
    let preferred = choice.size.preferred.max(leaves.widest_hash(Shape::Mac { alg: mac })?);
    Some(LeafChoice { size: BatchSize { preferred, max: 65_536 }, ..choice })
}

/// Computes every record of every part into `out`.
pub(crate) fn run(
    leaves: &Leaves,
    shape: Shape,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    let mut run = ChainRun::new(leaves, shape).ok_or(not_offered(shape))?;
    records::run(&mut run, parts, out)
}

fn cipher_shape(cipher: CipherSpec, direction: Direction) -> Shape {
    Shape::Cipher { alg: cipher.alg, mode: cipher.mode, direction }
}

/// The bytes of the records in a window. Inputs, outputs and the messages of the hash stay in a second-level cache.
const WINDOW_BYTES: usize = 256 << 10;

/// The records of one run.
struct ChainRun<'l> {
    passes: ChainPasses<'l>,
    order: ChainOrder,
    shape: Shape,
    /// The number of records that fill the lanes.
    lanes: usize,
    text: ThreadScratch<MessageText>,
}

/// The messages of a window, one behind the other. The memory is kept, because the system maps new memory page by page.
#[derive(Default)]
struct MessageText {
    bytes: Vec<u8>,
    /// The bytes that messages of former windows have filled. They are erased at the end of the run.
    used: usize,
}

impl MessageText {
    /// Makes room for messages of `len` bytes.
    fn renew(&mut self, len: usize) -> &mut Vec<u8> {
        self.used = self.used.max(self.bytes.len());
        // A vector that grows by itself would leave a copy of the messages in freed memory.
        if self.bytes.capacity() < len {
            self.wipe();
            self.bytes = Vec::with_capacity(len);
        }
        self.bytes.clear();
        &mut self.bytes
    }
}

impl WipePolicy for MessageText {
    fn wipe(&mut self) {
        self.bytes.resize(self.used.max(self.bytes.len()), 0);
        erase(&mut self.bytes);
        self.bytes.clear();
        self.used = 0;
    }
}

impl RecordKernel for ChainRun<'_> {
    fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the blocks of DES, whose lanes need the longest record first. AES and hashes take records of similar
    /// length in any order.
    fn steps(&self) -> StepRule {
        let ChainPasses { cipher, mac, direction, .. } = self.passes;
        let added = match (self.order, direction) {
            // A tag, and padding up to a block.
            (ChainOrder::MacThenEncrypt, Direction::Encrypt) => mac.tag_len() + cipher.alg.block_len(),
            _ => 0,
        };
        StepRule::blocks(8, added)
    }

    fn compute(&mut self, part: &RecordPart<'_>, mut records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        while let Some(first) = records.first() {
            // The first record is the longest.
            let fit = (WINDOW_BYTES / (first.len as usize).max(1)).next_multiple_of(self.lanes);
            let (window, rest) = records.split_at(records.len().min(fit.max(self.lanes)));
            self.window(part, window, out);
            records = rest;
        }
    }
}

impl<'l> ChainRun<'l> {
    fn new(leaves: &'l Leaves, shape: Shape) -> Option<Self> {
        let Shape::Chain { cipher, mac, order, direction } = shape else { return None };
        let lanes = choice(leaves, shape)?.size.preferred;
        let (_, ciphers) = leaves.cipher(cipher_shape(cipher, direction))?;
        let (_, hashes) = leaves.hash(Shape::Mac { alg: mac })?;
        let passes = ChainPasses { ciphers, hashes, cipher, mac, direction };
        Some(Self { passes, order, shape, lanes, text: ThreadScratch::take(MessageText::default) })
    }

    fn window(&mut self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        use ChainOrder::{EncryptAndMac, EncryptThenMac, MacThenEncrypt};
        use Direction::{Decrypt, Encrypt};
        let passes = &{ self.passes };
        match (self.order, passes.direction) {
            (MacThenEncrypt, Encrypt) => tls::seal(passes, &mut self.text, part, records, out),
            (MacThenEncrypt, Decrypt) => tls::open(passes, &mut self.text, part, records, out),
            (EncryptThenMac, Encrypt) => {
                passes.crypt(part, records, out);
                self.write_tags(part, records, out, Covered::Output);
            }
            (EncryptAndMac, Encrypt) => {
                passes.crypt(part, records, out);
                self.write_tags(part, records, out, Covered::Input);
            }
            (EncryptThenMac, Decrypt) => {
                let rejected = self.compare_tags(part, records, out, Covered::Input);
                let accepted: Vec<RecordRef> = records
                    .iter()
                    .zip(&rejected)
                    .filter(|(_, bad)| !**bad)
                    .map(|(record, _)| *record)
                    .collect();
                passes.crypt(part, &accepted, out);
            }
            (EncryptAndMac, Decrypt) => {
                passes.crypt(part, records, out);
                let rejected = self.compare_tags(part, records, out, Covered::Output);
                for (record, _) in records.iter().zip(&rejected).filter(|(_, bad)| **bad) {
                    // No plaintext may be released whose tag is wrong.
                    out.wipe(part.output(*record));
                }
            }
            _ => {}
        }
    }

    /// Writes the detached tags of records whose cipher pass is done.
    fn write_tags(
        &mut self,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        out: &mut OutcomeWriter<'_>,
        covered: Covered,
    ) {
        let tags = self.tags(part, records, out, covered);
        for (record, tag) in records.iter().zip(&*tags) {
            if out.write_tag(part.tag_span(*record), &tag[..self.passes.mac.tag_len()]).is_err() {
                out.statuses[record.index as usize] = Status::Malformed;
            }
        }
    }

    /// Compares the detached tags, rejects the records whose tag is wrong, and returns which they are.
    fn compare_tags(
        &mut self,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        out: &mut OutcomeWriter<'_>,
        covered: Covered,
    ) -> Vec<bool> {
        let tags = self.tags(part, records, out, covered);
        let is_wrong = |(record, tag): (&RecordRef, &ChainBytes)| {
            let expected = part.tag_span(*record).slice(part.data()).unwrap_or_default();
            let is_right = tag.get(..expected.len()).map_or(0, |tag| tag.ct_eq(expected).unwrap_u8());
            // Only the verdict is public, and the status reveals it anyway.
            declassify(is_right) == 0
        };
        let rejected: Vec<bool> = records.iter().zip(&*tags).map(is_wrong).collect();
        for (record, _) in records.iter().zip(&rejected).filter(|(_, bad)| **bad) {
            out.statuses[record.index as usize] = Status::Rejected;
        }
        rejected
    }

    fn tags(
        &mut self,
        part: &RecordPart<'_>,
        records: &[RecordRef],
        out: &OutcomeWriter<'_>,
        covered: Covered,
    ) -> Zeroizing<Vec<ChainBytes>> {
        let bytes_of = |record: &RecordRef| match covered {
            Covered::Input => part.input(record, 0),
            Covered::Output => written(part, *record, out),
        };
        let aad_of = |record: &RecordRef| part.aad_span(*record).slice(part.data()).unwrap_or_default();
        let len = records.iter().map(|record| aad_of(record).len() + bytes_of(record).len()).sum();
        // One piece of memory for each message, because the hash reads whole blocks.
        let text = self.text.renew(len);
        let mut ends = Vec::with_capacity(records.len());
        for record in records {
            text.extend_from_slice(aad_of(record));
            text.extend_from_slice(bytes_of(record));
            ends.push(text.len());
        }
        let mut start = 0;
        let messages: Vec<&[u8]> =
            ends.iter().map(|end| &text[std::mem::replace(&mut start, *end)..*end]).collect();
        self.passes.tags(part, records, &messages)
    }
}

/// The bytes that a detached tag covers beside the associated data.
#[derive(Clone, Copy)]
enum Covered {
    Input,
    Output,
}

/// Returns the result of a record that the cipher pass wrote, as long as the input.
fn written<'o>(part: &RecordPart<'_>, record: RecordRef, out: &'o OutcomeWriter<'_>) -> &'o [u8] {
    match part.output(record) {
        OutputSink::Output(span) => span.slice(out.output).unwrap_or_default(),
        OutputSink::Slot(slot) => out.slots.get(slot).unwrap_or_default(),
    }
}
