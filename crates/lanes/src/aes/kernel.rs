//! What each shape takes of a record.

use oarlock_core::Span;

use super::cbc::{self, Sealed};
use super::chain::{self, Chain};
use super::cmac::CmacKey;
use super::gcm::{self, Message, Tag};
use super::ghash::GcmKey;
use super::schedule::{Decrypting, Encrypting, Prepare};
use crate::records::{Accepted, Part};
use crate::simd::{BLOCK, Blocks};

/// Where a record's results go in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) output: usize,
    pub(super) len: usize,
    pub(super) tag: usize,
    pub(super) tag_len: usize,
}

/// A shape's kernel.
pub(super) trait Kernel {
    /// What a key becomes.
    type Key: Prepare;

    /// Whether there is a tag beside the output.
    const WRITES_TAG: bool = false;

    /// Whether the output may have fewer bytes than the result.
    const IS_SHORTENED: bool = false;

    /// Bytes of output of a record of `len` bytes.
    fn output_len(len: usize) -> usize {
        len
    }

    /// Computes all records of `next`; `reject` is called with the indices of those whose tag is wrong.
    fn run<'a, S: Blocks, const ROUNDS: usize>(
        simd: S,
        part: &'a Part<'a>,
        next: impl FnMut() -> Option<(Accepted, Place, &'a Self::Key)>,
        output: &mut [u8],
        reject: impl FnMut(usize),
    );
}

/// CBC encryption.
pub(super) struct CbcEncrypt;

/// CBC decryption.
pub(super) struct CbcDecrypt;

/// CMAC.
pub(super) struct Cmac;

/// GCM encryption.
pub(super) struct Seal;

/// GCM decryption.
pub(super) struct Open;

impl Kernel for CbcEncrypt {
    type Key = Encrypting;

    #[inline(always)]
    fn run<'a, S: Blocks, const ROUNDS: usize>(
        simd: S,
        part: &'a Part<'a>,
        mut next: impl FnMut() -> Option<(Accepted, Place, &'a Encrypting)>,
        output: &mut [u8],
        _reject: impl FnMut(usize),
    ) {
        chain::run::<S, ROUNDS, false>(
            simd,
            #[inline(always)]
            |_| {
                let (record, place, key) = next()?;
                Some(Chain {
                    schedule: &key.0,
                    start: iv(part, record),
                    blocks: part.input(&record, 0).as_chunks().0,
                    has_last: false,
                    output: place.output,
                    tag_len: 0,
                })
            },
            output,
        );
    }
}

impl Kernel for CbcDecrypt {
    type Key = Decrypting;

    #[inline(always)]
    fn run<'a, S: Blocks, const ROUNDS: usize>(
        simd: S,
        part: &'a Part<'a>,
        mut next: impl FnMut() -> Option<(Accepted, Place, &'a Decrypting)>,
        output: &mut [u8],
        _reject: impl FnMut(usize),
    ) {
        cbc::run::<S, ROUNDS>(
            simd,
            #[inline(always)]
            || {
                let (record, place, key) = next()?;
                let input = part.input(&record, 0);
                Some(Sealed { schedule: &key.0, iv: iv(part, record), input, output: place.output })
            },
            output,
        );
    }
}

impl Kernel for Cmac {
    type Key = CmacKey;

    const IS_SHORTENED: bool = true;

    fn output_len(_len: usize) -> usize {
        BLOCK
    }

    #[inline(always)]
    fn run<'a, S: Blocks, const ROUNDS: usize>(
        simd: S,
        part: &'a Part<'a>,
        mut next: impl FnMut() -> Option<(Accepted, Place, &'a CmacKey)>,
        output: &mut [u8],
        _reject: impl FnMut(usize),
    ) {
        chain::run::<S, ROUNDS, true>(
            simd,
            #[inline(always)]
            |last| {
                let (record, place, key) = next()?;
                let blocks = key.blocks(simd, part.input(&record, 0), last);
                Some(Chain {
                    schedule: &key.schedule,
                    start: &[0; BLOCK],
                    blocks,
                    has_last: true,
                    output: place.output,
                    tag_len: place.len,
                })
            },
            output,
        );
    }
}

impl Kernel for Seal {
    type Key = GcmKey;

    const WRITES_TAG: bool = true;

    #[inline(always)]
    fn run<'a, S: Blocks, const ROUNDS: usize>(
        simd: S,
        part: &'a Part<'a>,
        mut next: impl FnMut() -> Option<(Accepted, Place, &'a GcmKey)>,
        output: &mut [u8],
        reject: impl FnMut(usize),
    ) {
        gcm::run::<S, ROUNDS>(
            simd,
            #[inline(always)]
            || {
                let (record, place, key) = next()?;
                Some(message(part, record, place, key, Tag::Write(place.tag, place.tag_len)))
            },
            output,
            reject,
        );
    }
}

impl Kernel for Open {
    type Key = GcmKey;

    #[inline(always)]
    fn run<'a, S: Blocks, const ROUNDS: usize>(
        simd: S,
        part: &'a Part<'a>,
        mut next: impl FnMut() -> Option<(Accepted, Place, &'a GcmKey)>,
        output: &mut [u8],
        reject: impl FnMut(usize),
    ) {
        gcm::run::<S, ROUNDS>(
            simd,
            #[inline(always)]
            || {
                let (record, place, key) = next()?;
                Some(message(part, record, place, key, Tag::Compare(bytes(part, part.tag_span(record)))))
            },
            output,
            reject,
        );
    }
}

/// The IV of an accepted record, which has the length of a block.
#[inline(always)]
fn iv<'a>(part: &'a Part<'a>, record: Accepted) -> &'a [u8; BLOCK] {
    let bytes = part.data().get(record.iv as usize..);
    bytes.and_then(<[u8]>::first_chunk).unwrap_or(&[0; BLOCK])
}

#[inline(always)]
fn message<'a>(
    part: &'a Part<'a>,
    record: Accepted,
    place: Place,
    key: &'a GcmKey,
    tag: Tag<'a>,
) -> Message<'a> {
    Message {
        key,
        iv: bytes(part, part.iv_span(record)),
        aad: bytes(part, part.aad_span(record)),
        input: part.input(&record, 0),
        output: place.output,
        tag,
        index: record.index as usize,
    }
}

/// The bytes of a span of an accepted record, which there are.
#[inline(always)]
fn bytes<'a>(part: &'a Part<'a>, span: Span) -> &'a [u8] {
    span.of(part.data()).unwrap_or_default()
}
