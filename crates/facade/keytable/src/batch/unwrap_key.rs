//! Keys that come into the table wrapped under one of its own.

use std::sync::Arc;

use oarlock::Accelerator;
use oarlock_core::{BatchTask, KeyType, KeyWrap, Status};

use super::{BatchBuilder, BatchEntry, BatchOutcome, EntryOutput};
use crate::table::{InsertedKey, KeyTable, TableError};

/// A wrapped key.
#[derive(Clone, Copy, Debug)]
pub struct WrappedKey<'a> {
    /// The way it is wrapped.
    pub wrap: KeyWrap,
    /// The type of key that comes out.
    pub key_type: KeyType,
    /// The wrapped key.
    pub bytes: &'a [u8],
    /// Its check value, three bytes ([`BatchTask::UnwrapKey`] says of what); legacy wraps must have one, else empty.
    pub check_value: &'a [u8],
}

impl KeyTable {
    /// Unwraps a key under the table's key `master` and inserts it as `name`.
    ///
    /// Its policy is the one that the policy of `master` has for keys of its type
    /// ([`KeyPolicy::unwraps`](crate::table::KeyPolicy::unwraps)).
    ///
    /// # Errors
    /// There is no such master key, the name is taken, or the key was not unwrapped, with the reason that a record of
    /// a batch would have.
    pub fn unwrap_key(
        &self,
        accelerator: &Accelerator,
        master: &str,
        name: impl Into<Arc<str>>,
        wrapped: WrappedKey<'_>,
    ) -> Result<InsertedKey, TableError> {
        let refused = |reason| TableError::NotUnwrapped { reason };
        let index = self.index(master).ok_or_else(|| TableError::UnknownKey { name: master.into() })?;
        let policy = self.info(index).and_then(|info| info.policy.of_unwrapped(wrapped.key_type).cloned());
        let mut builder = BatchBuilder::new();
        let capacity = u32::try_from(wrapped.bytes.len()).map_err(|_| refused(Status::BadLength))?;
        let slot = builder.slot(capacity);
        let entry = BatchEntry::new(BatchTask::unwrap_key(wrapped.wrap, wrapped.key_type))
            .key(index)
            .input(wrapped.bytes)
            .tag(wrapped.check_value)
            .output(EntryOutput::Slot(slot));
        builder.add(entry).map_err(|_| refused(Status::BadLength))?;
        let mut outcome = BatchOutcome::default();
        let run = super::run(accelerator, self, &builder.batch(), &mut outcome);
        let slots = run.map_err(|_| refused(Status::EngineFailed))?;
        match (outcome.statuses(), slots.get(slot), policy) {
            ([Status::Done], Some(secret), Some(policy)) => {
                self.insert(name, wrapped.key_type, secret, policy)
            }
            ([Status::Done], ..) => Err(refused(Status::Forbidden)),
            (statuses, ..) => Err(refused(statuses.first().copied().unwrap_or_default())),
        }
    }
}
