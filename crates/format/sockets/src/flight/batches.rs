//! The batches of a flight.

use oarlock::{Accelerator, Shape, Status};

use crate::batch::{BatchIsFull, BatchRecord, ColumnBatch, status_of};

/// Records of one shape, and the status of a call that failed as a whole.
#[derive(Default)]
pub(super) struct FlightBatch {
    pub(super) shape: Option<Shape>,
    pub(super) records: ColumnBatch,
    failure: Option<Status>,
}

impl FlightBatch {
    pub(super) fn run(&mut self, accelerator: &Accelerator) {
        let Some(shape) = self.shape.filter(|_| self.records.len() > 0) else { return };
        self.failure = self.records.run(accelerator, shape).err().map(|error| status_of(&error));
    }

    pub(super) fn result(&self, index: usize) -> Result<&[u8], Status> {
        self.failure.map_or_else(|| self.records.result(index), Err)
    }
}

/// The batches of a flight: one per shape, and one more for each record of a connection that waits for the record
/// before it.
#[derive(Default)]
pub(super) struct FlightBatches(pub(super) Vec<FlightBatch>);

impl FlightBatches {
    /// Adds a record to the batch of its shape among those from `first` on.
    pub(super) fn push(
        &mut self,
        first: usize,
        shape: Shape,
        record: &BatchRecord<'_>,
    ) -> Result<(usize, usize), BatchIsFull> {
        let is_of_shape = |batch: &FlightBatch| batch.shape == Some(shape) || batch.shape.is_none();
        let batch = match self.0[first..].iter().position(is_of_shape) {
            Some(position) => first + position,
            None => {
                self.0.push(FlightBatch::default());
                self.0.len() - 1
            }
        };
        self.0[batch].shape = Some(shape);
        Ok((batch, self.0[batch].records.push(record)?))
    }

    pub(super) fn clear(&mut self) {
        for batch in &mut self.0 {
            (batch.shape, batch.failure) = (None, None);
            batch.records.clear();
        }
    }
}
