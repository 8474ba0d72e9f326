//! Keys at a cryptoserver.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use oarlock::{Accelerator, Column, Key, Shape};
use oarlock_keytable::{Batch, BatchTask, KeyTable};
use oarlock_wire::RemoteHolder;

use crate::{BatchAnswer, BatchLimits, ColumnError, ColumnKeys};

/// Keys at one or several cryptoservers. Values travel to the server, and keys stay there.
pub struct ServerKeys {
    accelerator: Accelerator,
    holder: RemoteHolder,
    names: Mutex<ServerNames>,
}

/// The names of keys that a call has used.
#[derive(Default)]
struct ServerNames {
    names: Vec<Arc<str>>,
    indices: HashMap<Arc<str>, u32>,
    signature_keys: HashMap<String, Key>,
}

/// A message has at most 16 MiB, and its values may be four times as far apart as they are long together.
const SERVER_LIMITS: BatchLimits = BatchLimits { rows: 1 << 14, bytes: 2 << 20, value_bytes: 15 << 20 };

impl ServerKeys {
    /// Creates a set of the keys of a holder. `accelerator` hashes, verifies signatures under public halves, and passes
    /// signing jobs to the holder: it must have the holder.
    #[must_use]
    pub fn new(accelerator: Accelerator, holder: RemoteHolder) -> Self {
        Self { accelerator, holder, names: Mutex::default() }
    }

    fn names(&self) -> std::sync::MutexGuard<'_, ServerNames> {
        // The lock is held for a look-up or an insertion.
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ColumnKeys for ServerKeys {
    fn batch_key(&self, name: &str) -> Result<u32, ColumnError> {
        let mut names = self.names();
        if let Some(index) = names.indices.get(name) {
            return Ok(*index);
        }
        let index = u32::try_from(names.names.len())
            .map_err(|_| ColumnError::Machine("there are too many names of keys".to_owned()))?;
        let name: Arc<str> = name.into();
        names.names.push(Arc::clone(&name));
        names.indices.insert(name, index);
        Ok(index)
    }

    fn run_batch(&self, batch: &Batch<'_>, keys: &str, answer: &mut BatchAnswer) -> Result<(), ColumnError> {
        // A hash needs no key, so its values stay here.
        if matches!(batch.task, Column::One(BatchTask::Do(Shape::Digest { .. }))) {
            let run = KeyTable::new().run_into(&self.accelerator, batch, answer.outcome());
            return run.map_err(|error| ColumnError::of_job(error, keys));
        }
        let names = self.names().names.clone();
        let results = self.holder.run_batch(&names, batch);
        let (statuses, output) = results.map_err(|error| ColumnError::of_job(error, keys))?;
        answer.set(statuses, output);
        Ok(())
    }

    fn limits(&self) -> BatchLimits {
        SERVER_LIMITS
    }

    fn signature_key(&self, name: &str) -> Result<Key, ColumnError> {
        if let Some(key) = self.names().signature_keys.get(name) {
            return Ok(key.clone());
        }
        let found = self.holder.key(name).map_err(|error| match error {
            oarlock_wire::RemoteError::NoKey { name, reason } => ColumnError::KeyRefused { name, reason },
            oarlock_wire::RemoteError::Key { name, error } => {
                ColumnError::KeyRefused { name, reason: error.to_string() }
            }
            other => ColumnError::Machine(other.to_string()),
        })?;
        self.names().signature_keys.insert(name.to_owned(), found.clone());
        Ok(found)
    }

    fn accelerator(&self) -> &Accelerator {
        &self.accelerator
    }
}

/// Shows the servers.
impl fmt::Debug for ServerKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<String> = self.holder.servers().into_iter().map(|server| server.address).collect();
        write!(f, "ServerKeys({})", servers.join(", "))
    }
}
