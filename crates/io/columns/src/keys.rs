//! A set of keys that computes batches: keys in this process, or at a server.

use std::collections::HashMap;
use std::fmt;

use oarlock::{Accelerator, Key, Status};
use oarlock_keytable::{Batch, BatchOutcome, KeyTable};
use zeroize::Zeroizing;

use crate::ColumnError;

/// A set of named keys. Columns are computed alike whether the keys are in this process or at a server.
pub trait ColumnKeys: Send + Sync + fmt::Debug {
    /// Returns the number by which the records of a batch name a symmetric key.
    ///
    /// # Errors
    /// There is no such key. A server may find that out only when a batch names the key.
    fn batch_key(&self, name: &str) -> Result<u32, ColumnError>;

    /// Computes a batch. `keys` are the names of the keys in it, for errors.
    ///
    /// # Errors
    /// The machine or the server failed, or it refuses the key. A bad record has a status and is no error.
    fn run_batch(&self, batch: &Batch<'_>, keys: &str, answer: &mut BatchAnswer) -> Result<(), ColumnError>;

    /// Returns the largest batch that these keys take.
    fn limits(&self) -> BatchLimits;

    /// Returns the key of signatures with this name.
    ///
    /// # Errors
    /// There is no such key, or the server does not answer.
    fn signature_key(&self, name: &str) -> Result<Key, ColumnError>;

    /// Returns the accelerator that computes hashes and signatures.
    fn accelerator(&self) -> &Accelerator;
}

/// The largest batch of a set of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// The records.
    pub rows: usize,
    /// The bytes of the values, if there is more than one.
    pub bytes: usize,
    /// The bytes of one value.
    pub value_bytes: usize,
}

/// The statuses and the output of a batch, in memory that is used again. The output is erased when it is dropped.
#[derive(Debug, Default)]
pub struct BatchAnswer(AnswerSource);

#[derive(Default)]
enum AnswerSource {
    #[default]
    Nothing,
    Local(BatchOutcome),
    Server(Vec<Status>, Zeroizing<Vec<u8>>),
}

impl BatchAnswer {
    /// Returns one status for each record.
    #[must_use]
    pub fn statuses(&self) -> &[Status] {
        match &self.0 {
            AnswerSource::Nothing => &[],
            AnswerSource::Local(outcome) => outcome.statuses(),
            AnswerSource::Server(statuses, _) => statuses,
        }
    }

    /// Returns the output.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        match &self.0 {
            AnswerSource::Nothing => &[],
            AnswerSource::Local(outcome) => outcome.output(),
            AnswerSource::Server(_, output) => output,
        }
    }

    /// Sets the statuses and the output, as a server sent them.
    pub fn set(&mut self, statuses: Vec<Status>, output: Zeroizing<Vec<u8>>) {
        self.0 = AnswerSource::Server(statuses, output);
    }

    /// Returns the outcome of an accelerator, into which it may compute again.
    pub fn outcome(&mut self) -> &mut BatchOutcome {
        if !matches!(self.0, AnswerSource::Local(_)) {
            self.0 = AnswerSource::Local(BatchOutcome::default());
        }
        match &mut self.0 {
            AnswerSource::Local(outcome) => outcome,
            // unreachable because the line above has set it
            _ => unreachable!(),
        }
    }
}

/// Shows no bytes, because they may be secret.
impl fmt::Debug for AnswerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Local(_) => "local",
            Self::Server(..) => "server",
        })
    }
}

/// Keys in this process: a table of symmetric keys with their policies, and keys of signatures.
pub struct LocalKeys {
    accelerator: Accelerator,
    table: KeyTable,
    signature_keys: HashMap<String, Key>,
}

/// A batch stays within the caches of a core, and has enough records for all lanes many times over.
const LOCAL_LIMITS: BatchLimits =
    BatchLimits { rows: 8192, bytes: 1 << 20, value_bytes: (u32::MAX / 2) as usize };

impl LocalKeys {
    /// Creates a set of the keys of a table.
    #[must_use]
    pub fn new(accelerator: Accelerator, table: KeyTable) -> Self {
        Self { accelerator, table, signature_keys: HashMap::new() }
    }

    /// Adds a key of signatures, private or public, under a name.
    #[must_use]
    pub fn with_signature_key(mut self, name: impl Into<String>, key: Key) -> Self {
        self.signature_keys.insert(name.into(), key);
        self
    }
}

impl ColumnKeys for LocalKeys {
    fn batch_key(&self, name: &str) -> Result<u32, ColumnError> {
        self.table.index(name).ok_or_else(|| ColumnError::UnknownKey { name: name.to_owned() })
    }

    fn run_batch(&self, batch: &Batch<'_>, keys: &str, answer: &mut BatchAnswer) -> Result<(), ColumnError> {
        let run = self.table.run_into(&self.accelerator, batch, answer.outcome());
        run.map_err(|error| ColumnError::of_job(error, keys))
    }

    fn limits(&self) -> BatchLimits {
        LOCAL_LIMITS
    }

    fn signature_key(&self, name: &str) -> Result<Key, ColumnError> {
        let found = self.signature_keys.get(name).cloned();
        found.ok_or_else(|| ColumnError::UnknownKey { name: name.to_owned() })
    }

    fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }
}

/// Shows the number of keys.
impl fmt::Debug for LocalKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalKeys({} keys, {} of signatures)", self.table.len(), self.signature_keys.len())
    }
}
