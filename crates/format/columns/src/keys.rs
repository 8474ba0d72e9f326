//! The keys of columns: a key table, and the accelerator that computes under it.

use oarlock::{Accelerator, JobError};
use oarlock_keytable::{Batch, BatchOutcome, KeyTable, MAX_HELD_BYTES, MAX_HELD_RECORDS};

use crate::{ColumnError, RowFault};

/// The keys of a table. Columns are computed alike whether a key is in this process or with a holder of the
/// accelerator.
#[derive(Clone, Debug)]
pub struct ColumnKeys {
    accelerator: Accelerator,
    table: KeyTable,
}

/// The largest batch under a key.
#[derive(Clone, Copy)]
pub(crate) struct BatchLimits {
    /// The number of values.
    pub(crate) rows: usize,
    /// The bytes of all values together, unless there is only one.
    pub(crate) bytes: usize,
    /// The bytes of one value.
    pub(crate) value_bytes: usize,
}

/// A batch stays within the caches of a core, and has enough records for all lanes many times over.
const LOCAL_LIMITS: BatchLimits =
    BatchLimits { rows: 8192, bytes: 1 << 20, value_bytes: (u32::MAX / 2) as usize };

/// The values of a message may be four times as far apart as they are long together.
const HELD_LIMITS: BatchLimits =
    BatchLimits { rows: MAX_HELD_RECORDS, bytes: 2 << 20, value_bytes: MAX_HELD_BYTES };

impl ColumnKeys {
    /// Creates a set of the keys of a table.
    #[must_use]
    pub fn new(accelerator: Accelerator, table: KeyTable) -> Self {
        Self { accelerator, table }
    }

    /// Returns the index of a key.
    pub(crate) fn index(&self, name: &str) -> Result<u32, ColumnError> {
        self.table.index(name).ok_or_else(|| ColumnError::UnknownKey { name: name.to_owned() })
    }

    /// Returns the largest batch under the key at an index.
    pub(crate) fn limits(index: u32) -> BatchLimits {
        if KeyTable::is_held(index) { HELD_LIMITS } else { LOCAL_LIMITS }
    }

    /// Computes a batch. `names` are the names of the keys in it, for errors.
    pub(crate) fn run_batch(
        &self,
        batch: &Batch<'_>,
        names: &str,
        outcome: &mut BatchOutcome,
    ) -> Result<(), ColumnError> {
        let run = self.table.run_into(&self.accelerator, batch, outcome);
        run.map_err(|error| ColumnError::of_job(error, names))
    }
}

/// Returns the fault of a record that is not done. A refusal of the key is an error of the call.
pub(crate) fn row_fault(outcome: &BatchOutcome, record: usize, names: &str) -> Result<RowFault, ColumnError> {
    match outcome.refusal(record) {
        Some(refusal) => Err(ColumnError::of_job(JobError::clone(refusal), names)),
        None => ColumnError::of_status(outcome.statuses()[record], names),
    }
}
