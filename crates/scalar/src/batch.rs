//! One part of a run: the loop over its records, and the output of each.

use oarlock_core::{EngineFault, OutputSink, PartMut, Records, ResolvedRecord, Shape, Span, Status};

use crate::fault::not_offered;
use crate::op_error::OpError;

/// The records of one part and their outcomes.
pub(crate) struct RecordBatch<'a, 'r> {
    shape: Shape,
    records: &'a Records<'r>,
    part: PartMut<'a>,
}

impl<'a, 'r> RecordBatch<'a, 'r> {
    pub(crate) fn new(shape: Shape, records: &'a Records<'r>, part: PartMut<'a>) -> Self {
        Self { shape, records, part }
    }

    /// Returns the shape of the records.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the fault for a shape that no kernel computes.
    pub(crate) fn refused(&self) -> EngineFault {
        not_offered(self.shape)
    }

    /// Computes every record. A record that fails leaves zeros in its output and does not affect other records.
    pub(crate) fn each(
        self,
        mut compute: impl FnMut(&ResolvedRecord<'_>, &mut RecordTarget<'_>) -> Result<(), OpError>,
    ) -> Result<(), EngineFault> {
        let mut target = RecordTarget { index: 0, part: self.part };
        let mut records = self.records.resolve(self.shape);
        for index in 0..target.part.statuses.len() {
            target.index = index;
            // If a column ends early, the records past its end have no meaning.
            let record = records.next().unwrap_or(Err(Status::Malformed));
            let done = record.map_err(OpError::Job).and_then(|record| {
                // A failed record must not leave partial output, such as unverified plaintext.
                compute(&record, &mut target).inspect_err(|_| target.part.wipe(record.output))
            });
            target.part.statuses[index] = match done {
                Ok(()) => Status::Done,
                Err(error) => error.status()?,
            };
        }
        Ok(())
    }
}

/// The output of one record.
pub(crate) struct RecordTarget<'a> {
    index: usize,
    part: PartMut<'a>,
}

impl RecordTarget<'_> {
    /// As [`PartMut::place`].
    pub(crate) fn place(&mut self, sink: OutputSink, len: usize) -> Result<&mut [u8], Status> {
        self.part.place(sink, len)
    }

    /// As [`PartMut::write`].
    pub(crate) fn write(&mut self, sink: OutputSink, result: &[u8]) -> Result<(), OpError> {
        Ok(self.part.write(sink, result)?)
    }

    /// As [`PartMut::write_tag`].
    pub(crate) fn write_tag(&mut self, span: Span, tag: &[u8]) -> Result<(), OpError> {
        Ok(self.part.write_tag(span, tag)?)
    }

    /// As [`PartMut::shorten`].
    pub(crate) fn shorten(&mut self, sink: OutputSink, len: usize) -> Result<(), OpError> {
        Ok(self.part.shorten(self.index, sink, len)?)
    }
}
