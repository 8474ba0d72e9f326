//! The cards of the paper's experiments 1 to 4, and of 7 through a socket.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use oarlock::{Accelerator, Records};
use oarlock::{
    BlockCipher, Column, Direction, InputSource, KeySource, Outcomes, OutputSink, SecretSlots, Span, Status,
};
use oarlock_keytable::{
    BatchBuilder, BatchEntry, BatchOutcome, BatchTask, EntryIv, EntryOutput, KeyTable, WrappedKey,
};

use super::LadderError;
use super::columns::BatchColumns;
use super::message::{CardRequest, FieldReader, OneKeyMessage};
use super::peer::LadderCard;
use super::workload::{BLOCK, KeyRing, MASTER, WRAP, cbc_shape};

/// A card that unwraps the key of every request, or only new keys, and computes requests one by one or together:
/// experiments 1, 2 and 4.
pub(super) struct Unwrapping {
    ring: Arc<KeyRing>,
    accelerator: Accelerator,
    table: KeyTable,
    master: u32,
    /// One call for each request, or one call for all.
    calls: EngineCalls,
    /// The cached keys: indices in the table, by wrapped key.
    cache: Option<HashMap<Vec<u8>, u32>>,
    batch: BatchBuilder,
}

/// Engine calls for a message of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EngineCalls {
    OneEach,
    OneForAll,
}

impl Unwrapping {
    pub(super) fn new(
        ring: &Arc<KeyRing>,
        accelerator: &Accelerator,
        calls: EngineCalls,
        keeps_keys: bool,
    ) -> Result<Self, LadderError> {
        let (table, master) = ring.master_table()?;
        let cache = keeps_keys.then(HashMap::new);
        let (ring, accelerator) = (Arc::clone(ring), accelerator.clone());
        Ok(Self { ring, accelerator, table, master, calls, cache, batch: BatchBuilder::new() })
    }

    /// Returns the source of a request's key: the table, or a slot that an earlier record of the batch fills.
    fn key(&mut self, request: &CardRequest<'_>) -> Result<KeySource, LadderError> {
        let key_type = self.ring.cipher.key_type();
        let Some(cache) = &mut self.cache else {
            let slot = self.batch.slot(request.wrapped.len() as u32);
            let unwrap = BatchEntry::new(BatchTask::unwrap_key(WRAP, key_type))
                .key(self.master)
                .input(request.wrapped);
            self.batch.add(unwrap.tag(request.check_value).output(EntryOutput::Slot(slot)))?;
            return Ok(KeySource::Slot(slot));
        };
        if let Some(index) = cache.get(request.wrapped) {
            return Ok(KeySource::Table(*index));
        }
        let wrapped =
            WrappedKey { wrap: WRAP, key_type, bytes: request.wrapped, check_value: request.check_value };
        let name = format!("kept {}", cache.len());
        let added = self.table.unwrap_key(&self.accelerator, MASTER, name, wrapped)?;
        cache.insert(request.wrapped.to_vec(), added.index);
        Ok(KeySource::Table(added.index))
    }

    fn add(&mut self, request: &CardRequest<'_>) -> Result<(), LadderError> {
        let key = self.key(request)?;
        let entry = BatchEntry::new(self.ring.task(request.direction)).key_from(key);
        self.batch.add(entry.iv(EntryIv::Bytes(request.iv)).input(request.data))?;
        Ok(())
    }

    fn run(&mut self, results: &mut Vec<u8>) -> Result<(), LadderError> {
        let outcome = self.table.run(&self.accelerator, &self.batch.batch())?;
        check(&outcome)?;
        results.extend_from_slice(outcome.output());
        self.batch.clear();
        Ok(())
    }
}

impl LadderCard for Unwrapping {
    fn answer(&mut self, message: &[u8], results: &mut Vec<u8>) -> Result<(), LadderError> {
        let key_len = self.ring.cipher.alg().key_len();
        let mut fields = FieldReader::new(message);
        self.batch.clear();
        while !fields.is_at_end() {
            self.add(&fields.request(key_len)?)?;
            if self.calls == EngineCalls::OneEach {
                self.run(results)?;
            }
        }
        if self.calls == EngineCalls::OneForAll { self.run(results) } else { Ok(()) }
    }
}

/// A card that computes all operations of a message under one key in one engine call: experiment 3. The key schedule
/// is made once, or for every operation, like the paper's control, which reset the chip each time.
pub(super) struct SameKey {
    ring: Arc<KeyRing>,
    accelerator: Accelerator,
    table: KeyTable,
    rebuilds: bool,
    columns: BatchColumns,
}

impl SameKey {
    pub(super) fn new(
        ring: &Arc<KeyRing>,
        accelerator: &Accelerator,
        rebuilds: bool,
    ) -> Result<Self, LadderError> {
        let (table, _) = ring.master_table()?;
        let (ring, accelerator) = (Arc::clone(ring), accelerator.clone());
        Ok(Self { ring, accelerator, table, rebuilds, columns: BatchColumns::default() })
    }

    /// Puts the key into the table for this message, where it has a schedule.
    fn run_kept(
        &mut self,
        message: &[u8],
        mut fields: FieldReader<'_>,
        key: OneKeyMessage<'_>,
        results: &mut Vec<u8>,
    ) -> Result<(), LadderError> {
        const NAME: &str = "of this message";
        let wrapped = WrappedKey {
            wrap: WRAP,
            key_type: self.ring.cipher.key_type(),
            bytes: key.wrapped,
            check_value: key.check_value,
        };
        let index = self.table.unwrap_key(&self.accelerator, MASTER, NAME, wrapped)?.index;
        fields.under_one_key(&self.ring, key.direction, KeySource::Table(index), &mut self.columns)?;
        let outcome = self.table.run(&self.accelerator, &self.columns.batch(message))?;
        self.table.remove(NAME);
        check(&outcome)?;
        results.extend_from_slice(outcome.output());
        Ok(())
    }

    /// Leaves the key in a slot without a schedule: each record makes the schedule.
    fn run_rebuilt(
        &mut self,
        message: &[u8],
        mut fields: FieldReader<'_>,
        key: OneKeyMessage<'_>,
        results: &mut Vec<u8>,
    ) -> Result<(), LadderError> {
        let unwrapped = unwrap_into_slot(&self.accelerator, &self.ring, key.wrapped)?;
        fields.under_one_key(&self.ring, key.direction, KeySource::Slot(0), &mut self.columns)?;
        let records =
            Records { slots: Cow::Borrowed(unwrapped.slots(0)), ..self.columns.batch(message).records };
        let shape = cbc_shape(self.ring.cipher.alg(), key.direction);
        let outcomes = self.accelerator.records().run(shape, &records)?;
        all_done(outcomes.statuses())?;
        results.extend_from_slice(outcomes.bytes());
        Ok(())
    }
}

impl LadderCard for SameKey {
    fn answer(&mut self, message: &[u8], results: &mut Vec<u8>) -> Result<(), LadderError> {
        let mut fields = FieldReader::new(message);
        let key = fields.key(self.ring.cipher.alg().key_len())?;
        if self.rebuilds {
            self.run_rebuilt(message, fields, key, results)
        } else {
            self.run_kept(message, fields, key, results)
        }
    }
}

/// Unwraps a key into slot 0 of the returned records.
fn unwrap_into_slot(
    accelerator: &Accelerator,
    ring: &KeyRing,
    wrapped: &[u8],
) -> Result<Outcomes, LadderError> {
    let data = [&[0; BLOCK], wrapped].concat();
    let (iv, input) = (Span::new(0, BLOCK), Span::new(BLOCK, wrapped.len()));
    let (Some(iv), Some(input), Some(slots)) =
        (iv, input, SecretSlots::with_capacities(&[wrapped.len() as u32]))
    else {
        return Err(LadderError::TooLarge);
    };
    let records = Records {
        len: 1,
        keys: std::slice::from_ref(&ring.master).into(),
        data: data.into(),
        slots: Cow::Owned(slots),
        iv: Column::One(iv),
        input: Column::One(InputSource::Data(input)),
        output: Column::One(OutputSink::Slot(0)),
        ..Records::default()
    };
    let outcomes = accelerator.records().run(cbc_shape(BlockCipher::Tdes3, Direction::Decrypt), &records)?;
    all_done(outcomes.statuses())?;
    Ok(outcomes)
}

/// A card that reads parameters in columns before the data of a message: the paper's control of experiment 7, a
/// separate request buffer.
pub(super) struct FromColumns {
    ring: Arc<KeyRing>,
    accelerator: Accelerator,
    table: KeyTable,
    columns: BatchColumns,
}

impl FromColumns {
    pub(super) fn new(ring: &Arc<KeyRing>, accelerator: &Accelerator, table: &KeyTable) -> Self {
        let (ring, accelerator) = (Arc::clone(ring), accelerator.clone());
        Self { ring, accelerator, table: table.clone(), columns: BatchColumns::default() }
    }
}

impl LadderCard for FromColumns {
    fn answer(&mut self, message: &[u8], results: &mut Vec<u8>) -> Result<(), LadderError> {
        FieldReader::new(message).columns(&self.ring, &mut self.columns)?;
        let outcome = self.table.run(&self.accelerator, &self.columns.batch(message))?;
        check(&outcome)?;
        results.extend_from_slice(outcome.output());
        Ok(())
    }
}

fn check(outcome: &BatchOutcome) -> Result<(), LadderError> {
    all_done(outcome.statuses())
}

fn all_done(statuses: &[Status]) -> Result<(), LadderError> {
    match statuses.iter().position(|status| *status != Status::Done) {
        None => Ok(()),
        Some(record) => Err(LadderError::Refused { record, status: statuses[record] }),
    }
}
