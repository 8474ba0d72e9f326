//! The way of records through the devices of a set.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use oarlock::engine_api::HeldOutcomes;
use oarlock::{JobError, Status};
use oarlock_keytable::Batch;

use super::SetDevices;
use super::routing::{is_of_device, no_device_of};
use crate::record::{HeldRecord, HeldResult, RecordFault, read_batch, write_batch};

/// The records of a batch under one key that have no result yet, and the devices that have been asked for them.
struct RoutedRecords {
    key: Arc<str>,
    indices: Vec<usize>,
    asked: Vec<usize>,
}

/// The records of a batch, and what they have become so far.
struct RoutedBatch<'b> {
    records: Vec<Result<HeldRecord<'b>, RecordFault>>,
    results: Vec<Result<HeldResult, RecordFault>>,
}

impl SetDevices {
    /// Computes a batch and waits for it. The records of a key go to the device that will finish them first, and those
    /// with which it fails to another one.
    pub(super) fn run_batch(self: &Arc<Self>, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        let mut routed = RoutedBatch::new(batch)?;
        let mut pending = routed.by_key();
        while !pending.is_empty() {
            let mut by_device: BTreeMap<usize, Vec<RoutedRecords>> = BTreeMap::new();
            for mut records in pending {
                // Without a device the last fault stays.
                let ranked = self.ranked(&records.key, &records.asked);
                let Some((&best, others)) = ranked.split_first() else { continue };
                others.iter().for_each(|other| self.devices[*other].passed_over());
                records.asked.push(best);
                by_device.entry(best).or_default().push(records);
            }
            // One after the other: the caller gets the results of all at once, and most batches have one key.
            let failed =
                by_device.into_iter().flat_map(|(device, keys)| self.run_at(device, keys, &mut routed));
            pending = failed.collect();
        }
        Ok(write_batch(batch, &routed.records, routed.results))
    }

    /// Runs records at a device. Returns those with which it has failed.
    fn run_at(
        &self,
        device: usize,
        keys: Vec<RoutedRecords>,
        routed: &mut RoutedBatch<'_>,
    ) -> Vec<RoutedRecords> {
        let device = &self.devices[device];
        let mut indices = Vec::new();
        for records in &keys {
            match device.prepare_key(&records.key) {
                Ok(()) => indices.extend_from_slice(&records.indices),
                Err(error) => {
                    let fault = RecordFault::of_error(error, &device.name);
                    records.indices.iter().for_each(|index| routed.take(*index, Err(fault.clone())));
                }
            }
        }
        indices.sort_unstable();
        let records: Vec<&HeldRecord<'_>> =
            indices.iter().filter_map(|index| routed.records[*index].as_ref().ok()).collect();
        let results = device.run_records(&records);
        indices.iter().zip(results).for_each(|(index, result)| routed.take(*index, result));
        let failed = keys.into_iter().filter_map(|mut records| {
            if records.indices.iter().any(|index| routed.has_status(*index, Status::UnknownKey)) {
                device.refuse(&records.key);
            }
            records.indices.retain(|index| routed.is_of_device(*index));
            (!records.indices.is_empty()).then_some(records)
        });
        failed.collect()
    }
}

impl<'b> RoutedBatch<'b> {
    fn new(batch: &'b Batch<'_>) -> Result<Self, JobError> {
        let records = read_batch(batch)?;
        let results = records.iter().map(|record| match record {
            Ok(record) => {
                let error = Some(Arc::new(no_device_of(record.key)));
                Err(RecordFault { status: Status::UnknownKey, error })
            }
            Err(fault) => Err(fault.clone()),
        });
        let results = results.collect();
        Ok(Self { records, results })
    }

    /// Returns the records that can be computed, by their keys.
    fn by_key(&self) -> Vec<RoutedRecords> {
        let (mut found, mut positions) = (Vec::new(), HashMap::new());
        for (index, record) in self.records.iter().enumerate() {
            let Ok(record) = record else { continue };
            let position = *positions.entry(Arc::clone(record.key)).or_insert_with_key(|key| {
                found.push(RoutedRecords { key: Arc::clone(key), indices: Vec::new(), asked: Vec::new() });
                found.len() - 1
            });
            found[position].indices.push(index);
        }
        found
    }

    /// Takes the result of a device. One that refuses has no such key, and one that failed before may have it: then the
    /// failure is the answer.
    fn take(&mut self, index: usize, result: Result<HeldResult, RecordFault>) {
        let is_refusal = matches!(error_of(&result), Some(JobError::HolderRefused { .. }));
        let has_failed = matches!(error_of(&self.results[index]), Some(JobError::HolderFailed { .. }));
        if !(is_refusal && has_failed) {
            self.results[index] = result;
        }
    }

    fn has_status(&self, index: usize, status: Status) -> bool {
        matches!(&self.results[index], Err(fault) if fault.status == status)
    }

    /// True for a record that another device with the key may compute.
    fn is_of_device(&self, index: usize) -> bool {
        error_of(&self.results[index]).is_some_and(is_of_device)
    }
}

fn error_of(result: &Result<HeldResult, RecordFault>) -> Option<&JobError> {
    result.as_ref().err()?.error.as_deref()
}
