//! The kernels of the AES shapes: the fields that each reads of a record, and its loop.

use oarlock_core::{Direction, Span, Status};

use super::cbc::{self, CbcRecord};
use super::chain;
use super::chained::ChainedRecord;
use super::cmac::CmacKey;
use super::ctr::{self, CtrRecord};
use super::ff1::{self, Ff1Record};
use super::gcm::{self, GcmRecord};
use super::gcm_siv::{self, GcmSivRecord};
use super::ghash::GcmKey;
use super::schedule::{Decrypting, Encrypting, PrepareAes};
use super::tag::TagAction;
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

    /// Reads a record.
    fn read<'a>(part: &'a RecordPart<'a>, work: (RecordRef, ResultSpan, &'a Self::Key)) -> Self::Record<'a>;

    /// Computes all records of `next`, and calls `fail` with the index and the status of each record that fails.
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut() -> Option<Self::Record<'a>>,
        output: &mut [u8],
        fail: impl FnMut(usize, Status),
    );
}

/// Computes all records of `next` with the kernel of their shape.
#[inline(always)]
pub(super) fn compute<'a, S: BlockSimd, K: AesKernel, const ROUNDS: usize>(
    simd: S,
    part: &'a RecordPart<'a>,
    mut next: impl FnMut() -> Option<(RecordRef, ResultSpan, &'a K::Key)>,
    output: &mut [u8],
    fail: impl FnMut(usize, Status),
) {
    K::run::<S, ROUNDS>(
        simd,
        #[inline(always)]
        || Some(K::read(part, next()?)),
        output,
        fail,
    );
}

/// The kernel of CBC encryption.
pub(super) struct CbcEncryptKernel;

/// The kernel of CBC decryption.
pub(super) struct CbcDecryptKernel;

/// The kernel of CTR, which is the same in both directions.
pub(super) struct CtrKernel;

/// The kernel of CMAC.
pub(super) struct CmacKernel;

/// The kernel of GCM: encryption if `SEALS` is true, else decryption.
pub(super) struct GcmKernel<const SEALS: bool>;

impl AesKernel for CbcEncryptKernel {
    type Key = Encrypting;
    type Record<'a> = ChainedRecord<'a>;

    #[inline(always)]
    fn read<'a>(
        part: &'a RecordPart<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Encrypting),
    ) -> ChainedRecord<'a> {
        ChainedRecord {
            schedule: &key.0,
            block: iv(part, record),
            message: part.input(&record, 0),
            output: span.output,
            tag_len: 0,
        }
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut() -> Option<ChainedRecord<'a>>,
        output: &mut [u8],
        _fail: impl FnMut(usize, Status),
    ) {
        chain::run::<S, ROUNDS, false>(simd, next, output);
    }
}

impl AesKernel for CbcDecryptKernel {
    type Key = Decrypting;
    type Record<'a> = CbcRecord<'a>;

    #[inline(always)]
    fn read<'a>(
        part: &'a RecordPart<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Decrypting),
    ) -> CbcRecord<'a> {
        let input = part.input(&record, 0);
        CbcRecord { schedule: &key.0, iv: iv(part, record), input, output: span.output }
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut() -> Option<CbcRecord<'a>>,
        output: &mut [u8],
        _fail: impl FnMut(usize, Status),
    ) {
        match S::FOURS {
            2 => cbc::run::<S, 2, ROUNDS>(simd, next, output),
            4 => cbc::run::<S, 4, ROUNDS>(simd, next, output),
            _ => cbc::run::<S, 8, ROUNDS>(simd, next, output),
        }
    }
}

impl AesKernel for CtrKernel {
    type Key = Encrypting;
    type Record<'a> = CtrRecord<'a>;

    #[inline(always)]
    fn read<'a>(
        part: &'a RecordPart<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Encrypting),
    ) -> CtrRecord<'a> {
        let (input, counter) = (part.input(&record, 0), u128::from_be_bytes(*iv(part, record)));
        CtrRecord { schedule: &key.0, counter, input, output: span.output }
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut() -> Option<CtrRecord<'a>>,
        output: &mut [u8],
        _fail: impl FnMut(usize, Status),
    ) {
        match S::FOURS {
            2 => ctr::run::<S, 2, ROUNDS>(simd, next, output),
            4 => ctr::run::<S, 4, ROUNDS>(simd, next, output),
            _ => ctr::run::<S, 8, ROUNDS>(simd, next, output),
        }
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
    fn read<'a>(
        part: &'a RecordPart<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a CmacKey),
    ) -> ChainedRecord<'a> {
        let message = part.input(&record, 0);
        // A CMAC is the last block of a CBC encryption under an IV of zeros. SP 800-38B 6.2.
        ChainedRecord {
            schedule: &key.schedule,
            block: key.subkey(message.len()),
            message,
            output: span.output,
            tag_len: span.len,
        }
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut() -> Option<ChainedRecord<'a>>,
        output: &mut [u8],
        _fail: impl FnMut(usize, Status),
    ) {
        chain::run::<S, ROUNDS, true>(simd, next, output);
    }
}

impl<const SEALS: bool> AesKernel for GcmKernel<SEALS> {
    type Key = GcmKey;
    type Record<'a> = GcmRecord<'a>;

    const WRITES_TAG: bool = SEALS;

    #[inline(always)]
    fn read<'a>(
        part: &'a RecordPart<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a GcmKey),
    ) -> GcmRecord<'a> {
        message(part, record, span, key, tag_action::<SEALS>(part, record, span))
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut() -> Option<GcmRecord<'a>>,
        output: &mut [u8],
        mut fail: impl FnMut(usize, Status),
    ) {
        let reject = |index| fail(index, Status::Rejected);
        match S::FOURS {
            2 => gcm::run::<S, 2, ROUNDS>(simd, next, output, reject),
            4 => gcm::run::<S, 4, ROUNDS>(simd, next, output, reject),
            _ => gcm::run::<S, 8, ROUNDS>(simd, next, output, reject),
        }
    }
}

/// The kernel of GCM-SIV: encryption if `SEALS` is true, else decryption.
pub(super) struct GcmSivKernel<const SEALS: bool>;

impl<const SEALS: bool> AesKernel for GcmSivKernel<SEALS> {
    type Key = Encrypting;
    type Record<'a> = GcmSivRecord<'a>;

    const WRITES_TAG: bool = SEALS;

    #[inline(always)]
    fn read<'a>(
        part: &'a RecordPart<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Encrypting),
    ) -> GcmSivRecord<'a> {
        GcmSivRecord {
            schedule: &key.0,
            iv: iv(part, record),
            aad: bytes(part, part.aad_span(record)),
            input: part.input(&record, 0),
            output: span.output,
            tag: tag_action::<SEALS>(part, record, span),
            index: record.index as usize,
        }
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut() -> Option<GcmSivRecord<'a>>,
        output: &mut [u8],
        mut fail: impl FnMut(usize, Status),
    ) {
        let reject = |index| fail(index, Status::Rejected);
        match S::FOURS {
            2 => gcm_siv::run::<S, 2, ROUNDS, SEALS>(simd, next, output, reject),
            // More would be idle in short batches, and four hide the latencies.
            _ => gcm_siv::run::<S, 4, ROUNDS, SEALS>(simd, next, output, reject),
        }
    }
}

/// The kernel of FF1: encryption if `ENCRYPTS` is true, else decryption.
pub(super) struct Ff1Kernel<const ENCRYPTS: bool>;

impl<const ENCRYPTS: bool> AesKernel for Ff1Kernel<ENCRYPTS> {
    type Key = Encrypting;
    type Record<'a> = Ff1Record<'a>;

    #[inline(always)]
    fn read<'a>(
        part: &'a RecordPart<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Encrypting),
    ) -> Ff1Record<'a> {
        Ff1Record {
            schedule: &key.0,
            radix: bytes(part, part.iv_span(record)),
            tweak: bytes(part, part.aad_span(record)),
            input: part.input(&record, 0),
            output: span.output,
            index: record.index as usize,
        }
    }

    #[inline(always)]
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut() -> Option<Ff1Record<'a>>,
        output: &mut [u8],
        fail: impl FnMut(usize, Status),
    ) {
        let direction = if ENCRYPTS { Direction::Encrypt } else { Direction::Decrypt };
        ff1::run::<S, ROUNDS>(simd, direction, next, output, fail);
    }
}

/// Returns the IV of an accepted record, which has `N` bytes.
#[inline(always)]
fn iv<'a, const N: usize>(part: &'a RecordPart<'a>, record: RecordRef) -> &'a [u8; N] {
    let bytes = part.data().get(record.iv as usize..);
    bytes.and_then(<[u8]>::first_chunk).unwrap_or(&[0; N])
}

/// Returns the use of a record's tag: to be written if `SEALS` is true, else compared.
#[inline(always)]
fn tag_action<'a, const SEALS: bool>(
    part: &'a RecordPart<'a>,
    record: RecordRef,
    span: ResultSpan,
) -> TagAction<'a> {
    match SEALS {
        true => TagAction::Write(span.tag, span.tag_len),
        false => TagAction::Compare(bytes(part, part.tag_span(record))),
    }
}

#[inline(always)]
fn message<'a>(
    part: &'a RecordPart<'a>,
    record: RecordRef,
    span: ResultSpan,
    key: &'a GcmKey,
    tag: TagAction<'a>,
) -> GcmRecord<'a> {
    GcmRecord {
        key,
        iv: bytes(part, part.iv_span(record)),
        aad: bytes(part, part.aad_span(record)),
        input: part.input(&record, 0),
        output: span.output,
        tag,
        index: record.index as usize,
    }
}

/// Returns the bytes of a span of an accepted record. Accepted spans are in bounds.
#[inline(always)]
fn bytes<'a>(part: &'a RecordPart<'a>, span: Span) -> &'a [u8] {
    span.slice(part.data()).unwrap_or_default()
}
