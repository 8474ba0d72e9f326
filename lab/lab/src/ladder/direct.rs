//! Steps 5 to 8: the host lends its memory to a call in the same process.

use std::sync::Arc;

use oarlock::Accelerator;
use oarlock_keytable::{BatchOutcome, KeyTable};

use super::LadderError;
use super::columns::BatchColumns;
use super::known::KnownAnswers;
use super::measure::{LadderClock, LadderContender};
use super::message::{self, FieldReader};
use super::workload::{KeyRing, Workload};

/// Parameters in the data stream. Parameters and data are read in place. Steps 5 and 6.
pub(super) struct Streamed {
    ring: Arc<KeyRing>,
    accelerator: Accelerator,
    table: KeyTable,
    stream: Vec<u8>,
    columns: BatchColumns,
    outcome: BatchOutcome,
}

impl Streamed {
    pub(super) fn new(
        ring: &Arc<KeyRing>,
        accelerator: &Accelerator,
        table: &KeyTable,
        workload: &Workload,
    ) -> Self {
        let mut stream = Vec::new();
        message::write_stream(workload, &mut stream);
        let (ring, accelerator, table) = (Arc::clone(ring), accelerator.clone(), table.clone());
        Self {
            ring,
            accelerator,
            table,
            stream,
            columns: BatchColumns::default(),
            outcome: BatchOutcome::default(),
        }
    }
}

impl LadderContender for Streamed {
    fn run(&mut self) -> Result<(), LadderError> {
        FieldReader::new(&self.stream).stream(&self.ring, &mut self.columns)?;
        let batch = self.columns.batch(&self.stream);
        Ok(self.table.run_into(&self.accelerator, &batch, &mut self.outcome)?)
    }

    fn results(&self) -> &[u8] {
        self.outcome.output()
    }

    fn clock(&self) -> LadderClock {
        LadderClock::Thread
    }
}

/// Parameters in columns before the data, in the host's memory. Step 7, and with known answers step 8.
pub(super) struct LentColumns {
    accelerator: Accelerator,
    table: KeyTable,
    data: Vec<u8>,
    columns: BatchColumns,
    known: Option<KnownAnswers>,
    outcome: BatchOutcome,
}

impl LentColumns {
    pub(super) fn new(
        ring: &KeyRing,
        accelerator: &Accelerator,
        table: &KeyTable,
        workload: &Workload,
    ) -> Result<Self, LadderError> {
        Ok(Self {
            accelerator: accelerator.clone(),
            table: table.clone(),
            data: workload.data.clone(),
            columns: workload.columns(ring)?,
            known: None,
            outcome: BatchOutcome::default(),
        })
    }

    /// Puts the keys in runs.
    pub(super) fn with_key_runs(mut self) -> Self {
        self.columns.shorten_keys();
        self
    }

    /// Computes known answers before each batch.
    pub(super) fn with_known_answers(self, known: KnownAnswers) -> Self {
        Self { known: Some(known), ..self }
    }
}

impl LadderContender for LentColumns {
    fn run(&mut self) -> Result<(), LadderError> {
        if let Some(known) = &self.known {
            known.check(&self.accelerator)?;
        }
        let batch = self.columns.batch(&self.data);
        Ok(self.table.run_into(&self.accelerator, &batch, &mut self.outcome)?)
    }

    fn results(&self) -> &[u8] {
        self.outcome.output()
    }

    fn clock(&self) -> LadderClock {
        LadderClock::Thread
    }
}
