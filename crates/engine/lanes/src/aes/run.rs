//! The path from accepted records to kernels and back.

use std::cell::Cell;

use oarlock_core::{
    CipherMode, Direction, EngineFault, OutcomeWriter, Outcomes, OutputSink, Records, Shape, Span, Status,
};
use zeroize::Zeroizing;

use super::fields::RecordFields;
use super::kernel::{
    AesKernel, CbcDecryptKernel, CbcEncryptKernel, CmacKernel, CtrKernel, Ff1Kernel, GcmKernel, GcmSivKernel,
    ResultSpan,
};
use super::keys::{PreparedKeys, prepare_slots, prepare_table};
use super::schedule::{PrepareAes, ROUNDS_128, ROUNDS_256};
use super::siv;
use crate::records::{self, RecordKernel, RecordPart, RecordRef, StepRule};
use crate::simd::{BLOCK, BlockSimd, fetch_ahead};

/// Computes every record of every part into `out`.
pub(crate) fn run<S: BlockSimd>(
    simd: S,
    shape: Shape,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    use Direction::{Decrypt, Encrypt};
    match shape {
        Shape::Cipher { mode: CipherMode::Ctr, .. } => with::<S, CtrKernel>(simd, shape, parts, out),
        Shape::Cipher { direction: Encrypt, .. } => with::<S, CbcEncryptKernel>(simd, shape, parts, out),
        Shape::Cipher { direction: Decrypt, .. } => with::<S, CbcDecryptKernel>(simd, shape, parts, out),
        Shape::Aead { alg, direction: Encrypt } if alg.is_gcm_siv() => {
            with::<S, GcmSivKernel<true>>(simd, shape, parts, out)
        }
        Shape::Aead { alg, direction: Decrypt } if alg.is_gcm_siv() => {
            with::<S, GcmSivKernel<false>>(simd, shape, parts, out)
        }
        Shape::Aead { alg, direction } if alg.is_siv() => siv::run(simd, alg, direction, parts, out),
        Shape::Aead { direction: Encrypt, .. } => with::<S, GcmKernel<true>>(simd, shape, parts, out),
        Shape::Aead { direction: Decrypt, .. } => with::<S, GcmKernel<false>>(simd, shape, parts, out),
        Shape::Fpe { direction: Encrypt, .. } => with::<S, Ff1Kernel<true>>(simd, shape, parts, out),
        Shape::Fpe { direction: Decrypt, .. } => with::<S, Ff1Kernel<false>>(simd, shape, parts, out),
        _ => with::<S, CmacKernel>(simd, shape, parts, out),
    }
}

/// Encrypts or decrypts accepted records of a part that is read as a cipher.
pub(crate) fn crypt<S: BlockSimd>(
    simd: S,
    shape: Shape,
    part: &RecordPart<'_>,
    records: &[RecordRef],
    out: &mut OutcomeWriter<'_>,
) {
    match shape {
        Shape::Cipher { mode: CipherMode::Ctr, .. } => once::<S, CtrKernel>(simd, shape, part, records, out),
        Shape::Cipher { direction: Direction::Encrypt, .. } => {
            once::<S, CbcEncryptKernel>(simd, shape, part, records, out);
        }
        _ => once::<S, CbcDecryptKernel>(simd, shape, part, records, out),
    }
}

fn once<S: BlockSimd, K: AesKernel>(
    simd: S,
    shape: Shape,
    part: &RecordPart<'_>,
    records: &[RecordRef],
    out: &mut OutcomeWriter<'_>,
) {
    // Without a table, each record looks its prepared key up in its handle.
    AesRun::<S, K> { simd, shape, left: [].iter(), table: Vec::new() }.compute(part, records, out);
}

fn with<S: BlockSimd, K: AesKernel>(
    simd: S,
    shape: Shape,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    let left = parts.iter();
    records::run(&mut AesRun::<S, K> { simd, shape, left, table: Vec::new() }, parts, out)
}

/// The records of one run.
struct AesRun<'p, S, K: AesKernel> {
    simd: S,
    shape: Shape,
    /// The parts that have not begun.
    left: std::slice::Iter<'p, &'p Records<'p>>,
    /// The prepared keys of the current part.
    table: Vec<Option<&'p K::Key>>,
}

impl<S: BlockSimd, K: AesKernel> AesRun<'_, S, K> {
    fn key_len(&self) -> usize {
        let len = match self.shape {
            Shape::Cipher { alg, .. } => Some(alg.key_len()),
            Shape::Aead { alg, .. } => Some(alg.key_len()),
            Shape::Fpe { alg, .. } => Some(alg.key_len()),
            Shape::Mac { alg } => alg.key_len(),
            _ => None,
        };
        // unreachable because `offers` names only shapes whose keys have a length
        len.unwrap_or_default()
    }
}

impl<S: BlockSimd, K: AesKernel> RecordKernel for AesRun<'_, S, K> {
    fn shape(&self) -> Shape {
        self.shape
    }

    /// A slot takes the next record as soon as its own is finished, so the order of lengths does not matter. Records of
    /// FF1 and GCM-SIV run in step, so those of one length come together.
    fn steps(&self) -> StepRule {
        match self.shape {
            Shape::Fpe { .. } => StepRule::blocks(1, 0),
            Shape::Aead { alg, .. } if alg.is_gcm_siv() => StepRule::blocks(BLOCK, BLOCK - 1),
            _ => StepRule::EVEN,
        }
    }

    fn prefetches(&self) -> bool {
        true
    }

    fn begin(&mut self, _part: &RecordPart<'_>) {
        self.table = match self.left.next() {
            Some(records) => prepare_table(self.simd, records, self.key_len()),
            None => Vec::new(),
        };
    }

    fn compute(&mut self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>) {
        let window = RecordWindow { simd: self.simd, part, records };
        let slots = prepare_slots::<S, K::Key>(self.simd, part, records);
        let keys = PreparedKeys { part, table: &self.table, slots: &slots };
        if self.key_len() == 16 {
            window.run::<K, ROUNDS_128>(&keys, out);
        } else {
            window.run::<K, ROUNDS_256>(&keys, out);
        }
    }
}

/// The distance between a record that is read and the one whose input is prefetched. Measured.
const AHEAD: u32 = 48;

/// The accepted records of one part.
struct RecordWindow<'a, S> {
    simd: S,
    part: &'a RecordPart<'a>,
    records: &'a [RecordRef],
}

impl<S: BlockSimd> RecordWindow<'_, S> {
    /// Computes records with an output span into the output, and records with an output slot into memory that is
    /// erased afterwards.
    fn run<K: AesKernel, const ROUNDS: usize>(
        &self,
        keys: &PreparedKeys<'_, K::Key>,
        out: &mut OutcomeWriter<'_>,
    ) {
        self.pass::<K, ROUNDS>(keys, out.output, out.statuses, None);
        if self.part.has_slots() {
            self.through_scratch::<K, ROUNDS>(keys, out);
        }
    }

    /// Returns the offsets of a record's results, or None if its output is a slot.
    #[inline(always)]
    fn direct<'a, K: AesKernel>(fields: impl RecordFields<'a>, record: RecordRef) -> Option<ResultSpan> {
        let output = fields.output_start(record)?;
        let len = if K::IS_SHORTENED { fields.output_len(record) } else { record.len as usize };
        let tag = if K::WRITES_TAG { fields.tag_span(record) } else { Span::default() };
        Some(ResultSpan { output, len, tag: tag.start as usize, tag_len: tag.len as usize })
    }

    fn through_scratch<K: AesKernel, const ROUNDS: usize>(
        &self,
        keys: &PreparedKeys<'_, K::Key>,
        out: &mut OutcomeWriter<'_>,
    ) {
        let mut len = 0;
        let span_of = |record: &RecordRef| match self.part.output(*record) {
            OutputSink::Slot(_) => {
                let (output, output_len) = (len, K::output_len(record.len as usize));
                let tag_len = self.part.tag_span(*record).len as usize;
                len += output_len + tag_len;
                Some(ResultSpan { output, len: output_len, tag: output + output_len, tag_len })
            }
            OutputSink::Output(_) => None,
        };
        let spans: Vec<Option<ResultSpan>> = self.records.iter().map(span_of).collect();
        // Slots hold secrets, so their results pass through memory that is erased.
        let mut scratch = Zeroizing::new(vec![0; len]);
        self.pass::<K, ROUNDS>(keys, &mut scratch, out.statuses, Some(&spans));
        for (record, span) in self.records.iter().zip(&spans) {
            let (OutputSink::Slot(slot), Some(span)) = (self.part.output(*record), span) else { continue };
            let status = &mut out.statuses[record.index as usize];
            // A record with a wrong tag or an unusable key leaves its slot empty.
            if *status != Status::Pending {
                continue;
            }
            match out.slots.fill(slot, span.len) {
                Some(secret) => secret.copy_from_slice(&scratch[span.output..span.tag]),
                None => *status = Status::Malformed,
            }
            if K::WRITES_TAG
                && let Some(tag) = self.part.tag_span(*record).slice_mut(out.output)
            {
                tag.copy_from_slice(&scratch[span.tag..span.tag + span.tag_len]);
            }
        }
    }

    /// Computes the records that have a span in `output`: one of `spans`, or, without these, that of their result.
    // One function for both, because the kernels are compiled into it.
    fn pass<K: AesKernel, const ROUNDS: usize>(
        &self,
        keys: &PreparedKeys<'_, K::Key>,
        output: &mut [u8],
        statuses: &mut [Status],
        spans: Option<&[Option<ResultSpan>]>,
    ) {
        // Two closures set statuses, one for bad keys and one for wrong tags; cells let both borrow the list.
        let statuses = Cell::from_mut(statuses).as_slice_of_cells();
        // Equal records have no slots for output, so a pass over slots computes none of them.
        let equal = self.part.equal_fields().filter(|_| spans.is_none());
        self.simd.call(
            #[inline(always)]
            || {
                // Inside of the call, so that it is in a register.
                let mut records = self.records.iter().enumerate();
                K::run::<S, ROUNDS>(
                    self.simd,
                    #[inline(always)]
                    || loop {
                        let (at, record) = records.next()?;
                        let record = *record;
                        let Some(key) = keys.find(self.simd, record) else {
                            statuses[record.index as usize].set(Status::BadKey);
                            continue;
                        };
                        // A chunk is read before it is computed.
                        key.prefetch(self.simd);
                        // The branch is the same for all records, and the fields of equal ones need no others.
                        if let Some(fields) = equal
                            && let Some(span) = Self::direct::<K>(fields, record)
                        {
                            fetch_ahead(fields.data(), fields.later_input(record, AHEAD));
                            return Some(K::read(fields, (record, span, key)));
                        }
                        let span = match spans {
                            None => Self::direct::<K>(self.part, record),
                            Some(spans) => spans[at],
                        };
                        if let Some(span) = span {
                            return Some(K::read(self.part, (record, span, key)));
                        }
                    },
                    output,
                    |index, status| statuses[index].set(status),
                );
            },
        );
    }
}
