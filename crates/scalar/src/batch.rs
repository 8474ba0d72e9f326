//! One part of a run: the loop over its records, and the values and the output of each.

use oarlock_core::{
    EngineFault, OrderedRecords, OutputSink, PartMut, RecordPart, RecordRef, Shape, Span, Status,
};

use crate::fault::not_offered;
use crate::op_error::OpError;
use crate::prepare::{KeyTable, PrepareKey};

/// The records of one part and their outcomes.
pub(crate) struct RecordBatch<'a, 'o> {
    shape: Shape,
    part: &'a RecordPart<'a>,
    out: PartMut<'o>,
}

/// The number of records that are accepted together. Their list and the bytes that they read and write stay in the
/// first-level cache, and a longer window does not lower the cost of a record.
const WINDOW: usize = 256;

impl<'a, 'o> RecordBatch<'a, 'o> {
    pub(crate) fn new(shape: Shape, part: &'a RecordPart<'a>, out: PartMut<'o>) -> Self {
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
        let mut accepted = OrderedRecords::default();
        for first in (0..self.part.len()).step_by(WINDOW) {
            let window = first..self.part.len().min(first + WINDOW);
            target.out.begin_window(window.clone());
            // Equal costs keep the order of the batch. Prefetching gains nothing: one record after the other is slow
            // enough for the CPU's own.
            self.part.accept(window.clone(), &mut accepted, &mut target.out, |_| 1, |_, _| {});
            for record in accepted.longest_first(|_| 1) {
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
        let mut keys = KeyTable::<K>::new(self.part);
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
        let mut keys = KeyTable::<D>::new(self.part);
        let mut second_keys = KeyTable::<E>::new(self.part);
        self.each(
            #[inline(always)]
            |record, target| {
                compute(keys.find(record.record)?, second_keys.find_second(record.record)?, record, target)
            },
        )
    }
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

    /// Returns the associated data.
    #[inline(always)]
    pub(crate) fn aad(&self) -> &'a [u8] {
        self.bytes(self.part.aad_span(self.record))
    }

    /// Returns the AEAD tag to compare in a decryption.
    #[inline(always)]
    pub(crate) fn expected_tag(&self) -> &'a [u8] {
        self.bytes(self.part.tag_span(self.record))
    }

    /// Returns the place of an AEAD tag in an encryption.
    #[inline(always)]
    pub(crate) fn tag(&self) -> Span {
        self.part.tag_span(self.record)
    }

    /// Returns the place of the output.
    #[inline(always)]
    pub(crate) fn output(&self) -> OutputSink {
        self.part.output(self.record)
    }

    #[inline(always)]
    fn bytes(&self, span: Span) -> &'a [u8] {
        // unreachable because accepted spans are in bounds
        span.of(self.part.data()).unwrap_or_default()
    }
}

/// The output of one record.
pub(crate) struct RecordTarget<'o> {
    index: u32,
    out: PartMut<'o>,
}

impl RecordTarget<'_> {
    /// Returns the place of a result as long as the input.
    #[inline(always)]
    pub(crate) fn place_like_input(&mut self, record: &AcceptedRecord<'_>) -> &mut [u8] {
        record.part.place(&record.record, 0, &mut self.out)
    }

    /// As [`PartMut::place`].
    #[inline(always)]
    pub(crate) fn place(&mut self, sink: OutputSink, len: usize) -> Result<&mut [u8], Status> {
        self.out.place(sink, len)
    }

    /// As [`PartMut::write`].
    #[inline(always)]
    pub(crate) fn write(&mut self, sink: OutputSink, result: &[u8]) -> Result<(), OpError> {
        Ok(self.out.write(sink, result)?)
    }

    /// As [`PartMut::write_tag`].
    #[inline(always)]
    pub(crate) fn write_tag(&mut self, span: Span, tag: &[u8]) -> Result<(), OpError> {
        Ok(self.out.write_tag(span, tag)?)
    }

    /// As [`PartMut::shorten`].
    pub(crate) fn shorten(&mut self, sink: OutputSink, len: usize) -> Result<(), OpError> {
        Ok(self.out.shorten(self.index as usize, sink, len)?)
    }
}
