//! One part of a run: the loop over its records, and the values and the output of each.

use std::ops::Range;

use oarlock_core::{EngineFault, OutcomeWriter, OutputSink, Shape, Span, Status};
use oarlock_engine_kit::{OrderedRecords, RecordPart, RecordRef, StepRule};

use crate::fault::not_offered;
use crate::op_error::OpError;
use crate::prepare::{PrepareKey, PreparedKeyTable};

/// The records of one part and their outcomes.
pub(crate) struct RecordBatch<'a, 'o> {
    shape: Shape,
    part: &'a RecordPart<'a>,
    out: OutcomeWriter<'o>,
}

/// The number of records from which a window costs less than the check of each record by itself.
const FEW: usize = 8;

/// The number of records that are accepted together. Their list and the bytes that they read and write stay in the
/// first-level cache, and a longer window does not lower the cost of a record.
const WINDOW: usize = 256;

impl<'a, 'o> RecordBatch<'a, 'o> {
    pub(crate) fn new(shape: Shape, part: &'a RecordPart<'a>, out: OutcomeWriter<'o>) -> Self {
        Self { shape, part, out }
    }

    /// Returns the shape of the records.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the fault for a shape that no kernel computes.
    pub(crate) fn refused(&self) -> EngineFault {
        not_offered(self.shape)
    }

    /// Computes every record, in the order of the batch. A record that fails leaves zeros in its output and does not
    /// affect other records.
    #[inline(always)]
    pub(crate) fn each(
        self,
        mut compute: impl FnMut(AcceptedRecord<'_>, &mut RecordTarget<'_>) -> Result<(), OpError>,
    ) -> Result<(), EngineFault> {
        let mut target = RecordTarget { index: 0, out: self.out };
        let (mut few, mut many) = ([RecordRef::default(); FEW], OrderedRecords::default());
        for first in (0..self.part.len()).step_by(WINDOW) {
            let window = first..self.part.len().min(first + WINDOW);
            target.out.begin_window(window.clone());
            let accepted = if self.part.len() <= FEW {
                accept_few(self.part, &mut few, &mut target.out)
            } else {
                accept_many(self.part, window.clone(), &mut many, &mut target.out)
            };
            for record in accepted {
                target.index = record.index;
                let record = AcceptedRecord { part: self.part, record: *record };
                if let Err(error) = compute(record, &mut target) {
                    // A failed record must not leave partial output, such as unverified plaintext.
                    target.out.wipe(record.output());
                    target.out.statuses[target.index as usize] = error.status()?;
                }
            }
            target.out.finish_window(window);
        }
        Ok(())
    }

    /// As [`RecordBatch::each`], with the prepared key of each record.
    #[inline(always)]
    pub(crate) fn each_with_key<K: PrepareKey>(
        self,
        mut compute: impl FnMut(&K, AcceptedRecord<'_>, &mut RecordTarget<'_>) -> Result<(), OpError>,
    ) -> Result<(), EngineFault> {
        let mut keys = PreparedKeyTable::<K>::new(self.part);
        self.each(
            #[inline(always)]
            |record, target| compute(keys.find(record.record)?, record, target),
        )
    }

    /// As [`RecordBatch::each`], with both prepared keys of each translation.
    #[inline(always)]
    pub(crate) fn each_with_two_keys<D: PrepareKey, E: PrepareKey>(
        self,
        mut compute: impl FnMut(&D, &E, AcceptedRecord<'_>, &mut RecordTarget<'_>) -> Result<(), OpError>,
    ) -> Result<(), EngineFault> {
        let mut keys = PreparedKeyTable::<D>::new(self.part);
        let mut second_keys = PreparedKeyTable::<E>::new(self.part);
        self.each(
            #[inline(always)]
            |record, target| {
                compute(keys.find(record.record)?, second_keys.find_second(record.record)?, record, target)
            },
        )
    }
}

/// Accepts the records of a short part without an allocation.
fn accept_few<'l>(
    part: &RecordPart<'_>,
    list: &'l mut [RecordRef; FEW],
    out: &mut OutcomeWriter<'_>,
) -> &'l [RecordRef] {
    let mut count = 0;
    for (index, status) in (0..).zip(&mut out.statuses[..part.len()]) {
        match part.accept_one(index) {
            Ok(record) => {
                list[count] = record;
                count += 1;
            }
            Err(rejected) => *status = rejected,
        }
    }
    &list[..count]
}

/// Accepts the records of a window. Not a part of [`RecordBatch::each`], which is compiled for each computation.
fn accept_many<'l>(
    part: &RecordPart<'_>,
    window: Range<usize>,
    list: &'l mut OrderedRecords,
    out: &mut OutcomeWriter<'_>,
) -> &'l [RecordRef] {
    // Equal costs keep the order of the batch. Prefetching gains nothing here: the CPU's own is fast enough for one
    // record after the other.
    part.accept(window, list, out, StepRule::EVEN, |_, _| {});
    list.longest_first()
}

/// A record that was accepted: its lengths fit the shape, and all places that it names exist.
#[derive(Clone, Copy)]
pub(crate) struct AcceptedRecord<'a> {
    part: &'a RecordPart<'a>,
    record: RecordRef,
}

impl<'a> AcceptedRecord<'a> {
    /// Returns the input.
    #[inline(always)]
    pub(crate) fn input(&self) -> &'a [u8] {
        self.part.input(&self.record, 0)
    }

    /// Returns the IV of a cipher, or the chaining state of a part of a digest. Its length follows from the shape.
    #[inline(always)]
    pub(crate) fn start<const N: usize>(&self) -> Result<&'a [u8; N], Status> {
        let bytes = self.part.data().get(self.record.iv as usize..);
        bytes.and_then(<[u8]>::first_chunk).ok_or(Status::BadLength)
    }

    /// Returns the IV of the encrypting half of a translation.
    #[inline(always)]
    pub(crate) fn second_start<const N: usize>(&self) -> Result<&'a [u8; N], Status> {
        self.bytes(self.part.second_iv_span(self.record)).first_chunk().ok_or(Status::BadLength)
    }

    /// Returns the IV of an AEAD record, of any length.
    #[inline(always)]
    pub(crate) fn iv(&self) -> &'a [u8] {
        self.bytes(self.part.iv_span(self.record))
    }

    /// Returns the associated data, or no bytes if there is none.
    #[inline(always)]
    pub(crate) fn aad(&self) -> &'a [u8] {
        self.bytes(self.part.aad_span(self.record))
    }

    /// True if there is associated data, perhaps an empty string.
    #[inline(always)]
    pub(crate) fn has_aad(&self) -> bool {
        !self.part.aad_span(self.record).is_absent()
    }

    /// Returns the AEAD tag to compare in a decryption.
    #[inline(always)]
    pub(crate) fn expected_tag(&self) -> &'a [u8] {
        self.bytes(self.part.tag_span(self.record))
    }

    /// Returns the span of an AEAD tag in an encryption.
    #[inline(always)]
    pub(crate) fn tag(&self) -> Span {
        self.part.tag_span(self.record)
    }

    /// Returns the sink of the output.
    #[inline(always)]
    pub(crate) fn output(&self) -> OutputSink {
        self.part.output(self.record)
    }

    #[inline(always)]
    fn bytes(&self, span: Span) -> &'a [u8] {
        // unreachable because accepted spans are in bounds
        span.slice(self.part.data()).unwrap_or_default()
    }
}

/// The output of one record.
pub(crate) struct RecordTarget<'o> {
    index: u32,
    out: OutcomeWriter<'o>,
}

impl RecordTarget<'_> {
    /// Returns the output of a result as long as the input.
    #[inline(always)]
    pub(crate) fn output_like_input(&mut self, record: &AcceptedRecord<'_>) -> &mut [u8] {
        record.part.output_bytes(&record.record, 0, &mut self.out)
    }

    /// As [`OutcomeWriter::result_mut`].
    #[inline(always)]
    pub(crate) fn output(&mut self, sink: OutputSink, len: usize) -> Result<&mut [u8], Status> {
        self.out.result_mut(sink, len)
    }

    /// Writes a result, as [`OutcomeWriter::write`]. A shorter span takes the leading bytes.
    #[inline(always)]
    pub(crate) fn write<const N: usize>(
        &mut self,
        sink: OutputSink,
        result: &[u8; N],
    ) -> Result<(), OpError> {
        let output = self.out.result_mut(sink, N)?;
        match <&mut [u8; N]>::try_from(&mut *output) {
            // One store, and no loop over bytes.
            Ok(whole) => *whole = *result,
            Err(_) => output.iter_mut().zip(result).for_each(|(to, from)| *to = *from),
        }
        Ok(())
    }

    /// Writes a detached tag. A shorter span takes the leading bytes.
    #[inline(always)]
    pub(crate) fn write_tag<const N: usize>(&mut self, span: Span, tag: &[u8; N]) -> Result<(), OpError> {
        self.write(OutputSink::Output(span), tag)
    }

    /// As [`OutcomeWriter::shorten`].
    pub(crate) fn shorten(&mut self, sink: OutputSink, len: usize) -> Result<(), OpError> {
        Ok(self.out.shorten(self.index as usize, sink, len)?)
    }
}
