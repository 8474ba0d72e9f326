//! HSS and XMSS: the hash functions of their trees, across many messages of one length. RFC 8554 and RFC 8391. What is
//! hashed is in `oarlock_engine_kit::stateful`.
//!
//! | module | contents |
//! |---|---|
//! | this one | batch sizes, and the verification of a batch |
//! | `lanes` | SHA-256 and SHAKE256, one message in each lane |
//! | `streams` | SHA-256 by instructions of its own |

mod lanes;
mod streams;

use oarlock_core::{BatchSize, Operation, Outcomes, Shape, Status};
use oarlock_engine_kit::stateful::{self, PaddedMessages, StatefulCheck, TreeHasher};

use crate::batch::accept;
use crate::simd::{ShaSimd, ShortSimd};
use crate::slh_dsa::{LaneSteps, StreamSteps};

/// Batch sizes of verification, which takes up to a millisecond. One signature has 26 chains or more, whose lanes run
/// dry towards the end.
const VERIFY: BatchSize = BatchSize { preferred: 8, max: 64 };

/// The instructions that hash messages.
pub(crate) trait MessageLeaf: Copy {
    /// Hashes messages with SHA-256.
    fn sha256(self, messages: &PaddedMessages, values: &mut [u8]);

    /// Hashes messages with SHAKE256.
    fn shake256(self, messages: &PaddedMessages, values: &mut [u8]);
}

impl<S: ShortSimd> MessageLeaf for LaneSteps<S> {
    fn sha256(self, messages: &PaddedMessages, values: &mut [u8]) {
        lanes::sha256(self.0, messages, values);
    }

    fn shake256(self, messages: &PaddedMessages, values: &mut [u8]) {
        lanes::shake256(self.0, messages, values);
    }
}

impl<S: ShaSimd, L: ShortSimd> MessageLeaf for StreamSteps<S, L> {
    fn sha256(self, messages: &PaddedMessages, values: &mut [u8]) {
        streams::sha256(self.streams, messages, values);
    }

    fn shake256(self, messages: &PaddedMessages, values: &mut [u8]) {
        self.lanes.shake256(messages, values);
    }
}

/// Returns the batch sizes of a shape, or None if it is not computed here.
pub(crate) fn offers(shape: Shape) -> Option<BatchSize> {
    matches!(shape, Shape::HssVerify | Shape::XmssVerify).then_some(VERIFY)
}

/// Verifies every operation. Signatures of all parameter sets share the lanes.
pub(crate) fn run<L: MessageLeaf>(leaf: L, shape: Shape, operations: &[Operation<'_>], out: &mut Outcomes) {
    let jobs = accept(shape, operations, out, StatefulCheck::new);
    let checks: Vec<_> = jobs.iter().map(|job| job.job).collect();
    for (job, is_valid) in jobs.iter().zip(stateful::verify(&LeafHasher(leaf), &checks)) {
        out.set(job.index, if is_valid { Status::Done } else { Status::Rejected });
    }
}

/// The hash functions of a leaf.
struct LeafHasher<L>(L);

impl<L: MessageLeaf> TreeHasher for LeafHasher<L> {
    fn hash(&self, messages: &PaddedMessages, values: &mut [u8]) {
        match messages.hash().is_shake() {
            true => self.0.shake256(messages, values),
            false => self.0.sha256(messages, values),
        }
    }
}
