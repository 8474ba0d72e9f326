//! The kernels of the AES shapes: the fields that each reads of a record, and its loop.

use oarlock_core::{Direction, Status};

use super::cbc::{self, CbcRecord};
use super::chain;
use super::chained::ChainedRecord;
use super::cmac::CmacKey;
use super::ctr::{self, CtrRecord};
use super::ff1::{self, Ff1Record};
use super::fields::RecordFields;
use super::gcm::{self, GcmRecord};
use super::gcm_siv::{self, GcmSivRecord};
use super::ghash::GcmKey;
use super::schedule::{Decrypting, Encrypting, PrepareAes};
use super::tag::TagAction;
use crate::records::RecordRef;
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
    fn read<'a>(
        fields: impl RecordFields<'a>,
        work: (RecordRef, ResultSpan, &'a Self::Key),
    ) -> Self::Record<'a>;

    /// Computes all records of `next`, and calls `fail` with the index and the status of each record that fails.
    fn run<'a, S: BlockSimd, const ROUNDS: usize>(
        simd: S,
        next: impl FnMut() -> Option<Self::Record<'a>>,
        output: &mut [u8],
        fail: impl FnMut(usize, Status),
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
        fields: impl RecordFields<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Encrypting),
    ) -> ChainedRecord<'a> {
        ChainedRecord {
            schedule: &key.0,
            block: fields.iv(record),
            message: fields.input(record),
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
        fields: impl RecordFields<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Decrypting),
    ) -> CbcRecord<'a> {
        let input = fields.input(record);
        CbcRecord { schedule: &key.0, iv: fields.iv(record), input, output: span.output }
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
        fields: impl RecordFields<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Encrypting),
    ) -> CtrRecord<'a> {
        let (input, counter) = (fields.input(record), u128::from_be_bytes(*fields.iv(record)));
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
        fields: impl RecordFields<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a CmacKey),
    ) -> ChainedRecord<'a> {
        let message = fields.input(record);
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
        fields: impl RecordFields<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a GcmKey),
    ) -> GcmRecord<'a> {
        message(fields, record, span, key, tag_action::<SEALS>(fields, record, span))
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
        fields: impl RecordFields<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Encrypting),
    ) -> GcmSivRecord<'a> {
        GcmSivRecord {
            schedule: &key.0,
            iv: fields.iv(record),
            aad: fields.bytes(fields.aad_span(record)),
            input: fields.input(record),
            output: span.output,
            tag: tag_action::<SEALS>(fields, record, span),
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
        fields: impl RecordFields<'a>,
        (record, span, key): (RecordRef, ResultSpan, &'a Encrypting),
    ) -> Ff1Record<'a> {
        Ff1Record {
            schedule: &key.0,
            radix: fields.bytes(fields.iv_span(record)),
            tweak: fields.bytes(fields.aad_span(record)),
            input: fields.input(record),
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

/// Returns the use of a record's tag: to be written if `SEALS` is true, else compared.
#[inline(always)]
fn tag_action<'a, const SEALS: bool>(
    fields: impl RecordFields<'a>,
    record: RecordRef,
    span: ResultSpan,
) -> TagAction<'a> {
    match SEALS {
        true => TagAction::Write(span.tag, span.tag_len),
        false => TagAction::Compare(fields.bytes(fields.tag_span(record))),
    }
}

#[inline(always)]
fn message<'a>(
    fields: impl RecordFields<'a>,
    record: RecordRef,
    span: ResultSpan,
    key: &'a GcmKey,
    tag: TagAction<'a>,
) -> GcmRecord<'a> {
    GcmRecord {
        key,
        iv: fields.bytes(fields.iv_span(record)),
        aad: fields.bytes(fields.aad_span(record)),
        input: fields.input(record),
        output: span.output,
        tag,
        index: record.index as usize,
    }
}
