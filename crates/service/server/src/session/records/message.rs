//! The records of a batch as they came: in one message, or appended to an open request.

use std::borrow::Cow;
use std::sync::Arc;

use oarlock::batch::{Batch, BatchTask};
use oarlock::{Key, KeySource};
use oarlock_wire::append::{AppendLayout, AppendSizes};
use oarlock_wire::proto::{self, Fault, RecordResults};
use oarlock_wire::{MessageLimits, WireError, records, task};

/// The maximum bytes of a batch that is computed on the thread that reads it.
const MAX_BYTES_AT_ONCE: usize = 4096;

/// The maximum number of records of such a batch.
const MAX_AT_ONCE: usize = 256;

/// The records of a batch.
pub(super) enum RecordMessage {
    /// A request of its own.
    Whole(Box<proto::Records>),
    /// A part of an open request.
    Appended(AppendedRecords),
}

/// The appends that are computed together.
pub(crate) struct AppendedRecords {
    pub(crate) layout: Arc<AppendLayout>,
    pub(crate) messages: Vec<proto::AppendRecords>,
    pub(crate) sizes: AppendSizes,
    /// The number of records before the first.
    pub(crate) first: u64,
    /// Shared with the queue, which counts the batches under way.
    pub(crate) _under_way: Arc<()>,
}

/// The same, in one piece.
pub(super) enum MergedMessage<'m> {
    Whole(&'m proto::Records),
    Appended(&'m AppendLayout, Cow<'m, proto::AppendRecords>),
}

impl RecordMessage {
    pub(super) fn merged(&self) -> MergedMessage<'_> {
        match self {
            Self::Whole(message) => MergedMessage::Whole(message),
            Self::Appended(appended) => {
                MergedMessage::Appended(&appended.layout, appended.layout.merge(&appended.messages))
            }
        }
    }

    /// Returns the number of records.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Whole(message) => message.count as usize,
            Self::Appended(appended) => appended.sizes.records,
        }
    }

    /// Returns true if computing the batch takes less time than handing it to another thread.
    pub(super) fn is_small(&self) -> bool {
        let bytes = match self {
            Self::Whole(message) => message.data.len() + message.output_len as usize,
            Self::Appended(appended) => appended.sizes.data + appended.sizes.output,
        };
        self.count() <= MAX_AT_ONCE && bytes <= MAX_BYTES_AT_ONCE
    }

    /// Returns the bytes that the records read. Records may all read the same data, so its length alone says little.
    pub(super) fn input_bytes(&self) -> usize {
        match self {
            Self::Whole(message) => match &message.input {
                Some(input) if input.each.is_empty() => self.count().saturating_mul(input.len as usize),
                _ => message.data.len(),
            },
            Self::Appended(appended) => appended.sizes.data,
        }
    }

    pub(super) fn tasks(&self) -> Vec<BatchTask> {
        match self {
            Self::Whole(message) => message.tasks.iter().filter_map(|task| task::read(task).ok()).collect(),
            Self::Appended(appended) => appended.layout.tasks().collect(),
        }
    }

    /// Returns the results of a batch that failed as a whole. Appended records each get the fault, for the request
    /// stays open.
    ///
    /// # Errors
    /// The fault itself, if the records were a request of their own.
    pub(super) fn failed(&self, fault: Fault) -> Result<RecordResults, Fault> {
        match self {
            Self::Whole(_) => Err(fault),
            Self::Appended(appended) => Ok(appended.failed(fault)),
        }
    }

    /// Adds what the results of an open request have.
    pub(super) fn numbered(&self, results: RecordResults) -> RecordResults {
        match self {
            Self::Whole(_) => results,
            Self::Appended(appended) => {
                RecordResults { first: appended.first, count: appended.sizes.records as u32, ..results }
            }
        }
    }
}

impl AppendedRecords {
    /// Returns what a refusal needs.
    pub(crate) fn without_messages(&self) -> Self {
        let (layout, under_way) = (Arc::clone(&self.layout), Arc::clone(&self._under_way));
        Self { layout, messages: Vec::new(), sizes: self.sizes, first: self.first, _under_way: under_way }
    }

    /// Returns the results of records that all have the same fault.
    pub(crate) fn failed(&self, fault: Fault) -> RecordResults {
        RecordResults {
            codes: vec![fault.code() as u8].into(),
            output: vec![0; self.sizes.output].into(),
            fault_of: vec![1].into(),
            faults: vec![Fault { index: 0, ..fault }],
            first: self.first,
            count: self.sizes.records as u32,
        }
    }
}

impl MergedMessage<'_> {
    /// Reads the batch. Keys are handles.
    pub(super) fn batch<'a>(
        &'a self,
        limits: &MessageLimits,
        keys: &'a [Key],
    ) -> Result<Batch<'a>, WireError> {
        match self {
            Self::Whole(message) => records::read(message, limits, keys, KeySource::Table),
            Self::Appended(layout, message) => layout.batch(message, keys, KeySource::Table),
        }
    }
}
