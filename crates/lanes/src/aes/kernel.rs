//! The kernels of the AES shapes: the fields that each reads of a record, and its loop.

use oarlock_core::Span;

use super::cbc::{self, CbcRecord};
use super::chain::{self, ChainedRecord};
use super::cmac::CmacKey;
use super::gcm::{self, GcmRecord, TagAction};
use super::ghash::GcmKey;
use super::schedule::{Decrypting, Encrypting, PrepareAes};
use crate::records::{RecordPart, RecordRef};
use crate::simd::{BLOCK, BlockSimd};

/// The offsets of a record's results in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultSpan {
    pub(super) output: usize,
    pub(super) len: usize,
    pub(super) tag: usize,
    pub(super) tag_len: usize,
}

/// The kernel of a shape: what it reads of a record, and the loop that computes records.
pub(super) trait AesKernel {
    /// The prepared form of a key.
    type Key: PrepareAes;

    /// A record in the form that the loop takes.
    type Record<'a>;

    /// True if a tag is written beside the output.
    const WRITES_TAG: bool = false;

    /// True if the output may have fewer bytes than the result.
    const IS_SHORTENED: bool = false;

    /// Returns the bytes of output of a record of `len` bytes.
    fn output_len(len: usize) -> usize {
        len
    }

    /// Reads a record. A kernel whose last block differs from the message's bytes puts it in `last`.
    fn read<'a, S: BlockSimd>(
        simd: S,
        part: &'a RecordPart<'a>,
        work: (RecordRef, ResultSpan, &'a Self::Key),
        last: &mut [u8; BLOCK],
    ) -> Self::Record<'a>;

    /// Computes all records of `next`, and calls `reject` with the index of each record whose tag is wrong.
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut(&mut [u8; BLOCK]) -> Option<Self::Record<'a>>,
        output: &mut [u8],
        reject: impl FnMut(usize),
    );
}

/// Computes all records of `next` with the kernel of their shape.
#[inline(always)]
pub(super) fn compute<'a, S: BlockSimd, K: AesKernel, const ROUNDS: usize>(
    simd: S,
    part: &'a RecordPart<'a>,
    mut next: impl FnMut() -> Option<(RecordRef, ResultSpan, &'a K::Key)>,
    output: &mut [u8],
    reject: impl FnMut(usize),
) {
    K::run::<S, ROUNDS>(
        simd,
        #[inline(always)]
        |last| Some(K::read(simd, part, next()?, last)),
        output,
        reject,
    );
}

/// The kernel of CBC encryption.
pub(super) struct CbcEncryptKernel;

/// The kernel of CBC decryption.
pub(super) struct CbcDecryptKernel;

/// The kernel of CMAC.
pub(super) struct CmacKernel;

/// The kernel of GCM: encryption if `SEALS` is true, else decryption.
pub(super) struct GcmKernel<const SEALS: bool>;

impl AesKernel for CbcEncryptKernel {
    type Key = Encrypting;
    type Record<'a> = ChainedRecord<'a>;

    #[inline(always)]
    fn read<'a, S: BlockSimd>(
        _simd: S,
        part: &'a RecordPart<'a>,
        (record, place, key): (RecordRef, ResultSpan, &'a Encrypting),
        _last: &mut [u8; BLOCK],
    ) -> ChainedRecord<'a> {
        ChainedRecord {
            schedule: &key.0,
            start: iv(part, record),
            blocks: part.input(&record, 0).as_chunks().0,
            has_last: false,
            output: place.output,
            tag_len: 0,
        }
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut(&mut [u8; BLOCK]) -> Option<ChainedRecord<'a>>,
        output: &mut [u8],
        _reject: impl FnMut(usize),
    ) {
        chain::run::<S, ROUNDS, false>(simd, next, output);
    }
}

impl AesKernel for CbcDecryptKernel {
    type Key = Decrypting;
    type Record<'a> = CbcRecord<'a>;

    #[inline(always)]
    fn read<'a, S: BlockSimd>(
        _simd: S,
        part: &'a RecordPart<'a>,
        (record, place, key): (RecordRef, ResultSpan, &'a Decrypting),
        _last: &mut [u8; BLOCK],
    ) -> CbcRecord<'a> {
        let input = part.input(&record, 0);
        CbcRecord { schedule: &key.0, iv: iv(part, record), input, output: place.output }
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut(&mut [u8; BLOCK]) -> Option<CbcRecord<'a>>,
        output: &mut [u8],
        _reject: impl FnMut(usize),
    ) {
        cbc::run::<S, ROUNDS>(simd, without_last(next), output);
    }
}

impl AesKernel for CmacKernel {
    type Key = CmacKey;
    type Record<'a> = ChainedRecord<'a>;

    const IS_SHORTENED: bool = true;

    fn output_len(_len: usize) -> usize {
        BLOCK
    }

    #[inline(always)]
    fn read<'a, S: BlockSimd>(
        simd: S,
        part: &'a RecordPart<'a>,
        (record, place, key): (RecordRef, ResultSpan, &'a CmacKey),
        last: &mut [u8; BLOCK],
    ) -> ChainedRecord<'a> {
        // A CMAC is the last block of a CBC encryption under an IV of zeros. SP 800-38B 6.2.
        ChainedRecord {
            schedule: &key.schedule,
            start: &[0; BLOCK],
            blocks: key.blocks(simd, part.input(&record, 0), last),
            has_last: true,
            output: place.output,
            tag_len: place.len,
        }
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut(&mut [u8; BLOCK]) -> Option<ChainedRecord<'a>>,
        output: &mut [u8],
        _reject: impl FnMut(usize),
    ) {
        chain::run::<S, ROUNDS, true>(simd, next, output);
    }
}

impl<const SEALS: bool> AesKernel for GcmKernel<SEALS> {
    type Key = GcmKey;
    type Record<'a> = GcmRecord<'a>;

    const WRITES_TAG: bool = SEALS;

    #[inline(always)]
    fn read<'a, S: BlockSimd>(
        _simd: S,
        part: &'a RecordPart<'a>,
        (record, place, key): (RecordRef, ResultSpan, &'a GcmKey),
        _last: &mut [u8; BLOCK],
    ) -> GcmRecord<'a> {
        let tag = match SEALS {
            true => TagAction::Write(place.tag, place.tag_len),
            false => TagAction::Compare(bytes(part, part.tag_span(record))),
        };
        message(part, record, place, key, tag)
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut(&mut [u8; BLOCK]) -> Option<GcmRecord<'a>>,
        output: &mut [u8],
        reject: impl FnMut(usize),
    ) {
        gcm::run::<S, ROUNDS>(simd, without_last(next), output, reject);
    }
}

/// Adapts `next` for a loop in which all blocks of a record lie in its message.
#[inline(always)]
fn without_last<R>(mut next: impl FnMut(&mut [u8; BLOCK]) -> Option<R>) -> impl FnMut() -> Option<R> {
    #[inline(always)]
    // The block is unused, and the compiler removes it.
    move || next(&mut [0; BLOCK])
}

/// Returns the IV of an accepted record, which has the length of a block.
#[inline(always)]
fn iv<'a>(part: &'a RecordPart<'a>, record: RecordRef) -> &'a [u8; BLOCK] {
    let bytes = part.data().get(record.iv as usize..);
    bytes.and_then(<[u8]>::first_chunk).unwrap_or(&[0; BLOCK])
}

#[inline(always)]
fn message<'a>(
    part: &'a RecordPart<'a>,
    record: RecordRef,
    place: ResultSpan,
    key: &'a GcmKey,
    tag: TagAction<'a>,
) -> GcmRecord<'a> {
    GcmRecord {
        key,
        iv: bytes(part, part.iv_span(record)),
        aad: bytes(part, part.aad_span(record)),
        input: part.input(&record, 0),
        output: place.output,
        tag,
        index: record.index as usize,
    }
}

/// Returns the bytes of a span of an accepted record. Accepted spans are in bounds.
#[inline(always)]
fn bytes<'a>(part: &'a RecordPart<'a>, span: Span) -> &'a [u8] {
    span.of(part.data()).unwrap_or_default()
}
