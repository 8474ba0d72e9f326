//! Records at a device in a process of its own.

use std::sync::{Arc, mpsc};

use oarlock::engine_api::Holder;
use oarlock::{Fingerprint, JobError, Key, KeyKind, KeySource};
use oarlock_keytable::{Batch, BatchBuilder, BatchEntry, EntryIv, EntryOutput};

use super::{IsolatedHsm, device_error};
use crate::record::{HeldRecord, HeldResult, RecordFault, RecordIv, read_outcomes};
use crate::{HsmError, Pkcs11Uri};

impl IsolatedHsm {
    /// Makes the process serve a key, unless it does so already.
    pub(crate) fn prepare_key(&self, reference: &str) -> Result<(), HsmError> {
        {
            let state = self.0.lock();
            if let Some(fault) = state.refusal() {
                return Err(fault);
            }
            if state.keys.contains(reference) {
                return Ok(());
            }
        }
        let no_name = |_| HsmError::KeyName { found: reference.to_owned() };
        let uri: Pkcs11Uri = reference.parse().map_err(no_name)?;
        let (answer, answers) = mpsc::channel();
        // An error means that nobody waits any more.
        self.look_up(&uri, Box::new(move |found| drop(answer.send(found))));
        answers.recv().unwrap_or(Err(HsmError::Closed)).map(drop)
    }

    /// Computes records and waits for them. The results are in the order of the records.
    pub(crate) fn run_records(&self, records: &[&HeldRecord<'_>]) -> Vec<Result<HeldResult, RecordFault>> {
        let ran = self.try_records(records).map_err(|error| self.fault_of(error));
        let of_device = |mut fault: RecordFault| {
            fault.error =
                fault.error.map(|error| Arc::new(device_error(&self.0.name, JobError::clone(&error))));
            fault
        };
        match ran {
            Ok(results) => results.into_iter().map(|result| result.map_err(of_device)).collect(),
            Err(fault) => records.iter().map(|_| Err(fault.clone())).collect(),
        }
    }

    fn try_records(
        &self,
        records: &[&HeldRecord<'_>],
    ) -> Result<Vec<Result<HeldResult, RecordFault>>, JobError> {
        let mut keys: Vec<Key> = Vec::new();
        let mut names: Vec<&Arc<str>> = Vec::new();
        let mut builder = BatchBuilder::new();
        for record in records {
            let position = names.iter().position(|name| *name == record.key).unwrap_or_else(|| {
                // The process knows the rest.
                let unknown = Fingerprint::new([0; 32]);
                keys.push(Key::held(
                    KeyKind::Secret(0),
                    self.0.name.as_str(),
                    record.key.as_ref(),
                    None,
                    unknown,
                ));
                names.push(record.key);
                names.len() - 1
            });
            builder.add(record.entry(KeySource::Table(position as u32)))?;
        }
        let mut batch: Batch<'_> = builder.batch();
        batch.records.keys = keys.into();
        let held = self.0.remote.run_batch(&batch)?;
        read_outcomes(&batch, &held)
    }

    fn fault_of(&self, error: JobError) -> RecordFault {
        RecordFault::of_error(device_error(&self.0.name, error).into(), &self.0.name)
    }
}

impl HeldRecord<'_> {
    /// Returns the record for another batch, with places of whole results.
    fn entry(&self, key: KeySource) -> BatchEntry<'_> {
        let iv = match self.iv {
            RecordIv::Given(iv) => EntryIv::Bytes(iv),
            RecordIv::Zero => EntryIv::Zero,
            RecordIv::Random => EntryIv::Generated,
            RecordIv::None => EntryIv::Bytes(&[]),
        };
        let entry = BatchEntry::new(self.task).key_from(key).iv(iv).input(self.input).tag(self.tag);
        entry.aad(self.aad).output(EntryOutput::Output)
    }
}
