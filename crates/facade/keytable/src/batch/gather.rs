//! The columns of one group: its records side by side, their results close together, and slots of its own.

use std::borrow::Cow;
use std::collections::HashMap;

use oarlock_core::{
    BatchTask, Column, InputSource, Key, KeySource, OutputSink, Records, SecretSlots, Span, Status,
};

use super::wave_plan::BatchRow;

/// Columns of one group, kept from group to group.
#[derive(Default)]
pub(super) struct GroupColumns {
    /// The indices of the records in the batch.
    pub(super) members: Vec<u32>,
    key: Vec<KeySource>,
    second_key: Vec<KeySource>,
    iv: Vec<Span>,
    second_iv: Vec<Span>,
    aad: Vec<Span>,
    pub(super) input: Vec<InputSource>,
    pub(super) output: Vec<OutputSink>,
    pub(super) tag: Vec<Span>,
    /// The check values of unwrapped keys.
    pub(super) check_values: Vec<Span>,
    output_len: usize,
    /// The capacities of the group's own slots, in bytes.
    capacities: Vec<u32>,
    /// Slots of the batch that the group reads, and its own slots for them.
    reads: HashMap<u32, u32>,
}

impl GroupColumns {
    pub(super) fn clear(&mut self) {
        self.members.clear();
        self.key.clear();
        self.second_key.clear();
        self.iv.clear();
        self.second_iv.clear();
        self.aad.clear();
        self.input.clear();
        self.output.clear();
        self.tag.clear();
        self.check_values.clear();
        self.capacities.clear();
        self.reads.clear();
        self.output_len = 0;
    }

    /// Adds a record, unless a slot that it reads is empty.
    pub(super) fn push(
        &mut self,
        index: u32,
        row: &BatchRow,
        keys: [KeySource; 2],
        ivs: [Span; 2],
        slots: &SecretSlots,
        capacity: impl Fn(u32) -> Option<u32>,
    ) -> Result<(), Status> {
        let key = if row.task.has_key() { self.key_in(keys[0], slots)? } else { KeySource::Table(0) };
        let second =
            if row.task.has_second_key() { self.key_in(keys[1], slots)? } else { KeySource::Table(0) };
        let input = match row.input {
            InputSource::Slot(slot) => InputSource::Slot(self.read(slot, slots)?),
            data @ InputSource::Data(_) => data,
        };
        let output = match row.output {
            OutputSink::Slot(slot) => {
                OutputSink::Slot(self.own_slot(capacity(slot).ok_or(Status::Malformed)?)?)
            }
            OutputSink::Output(span) => OutputSink::Output(self.reserve_output(span.len)?),
        };
        let (tag, check_value) = match row.task {
            BatchTask::UnwrapKey { .. } => (Span::default(), row.tag),
            task if task.is_seal() => (self.reserve_output(row.tag.len)?, Span::default()),
            task if task.is_open() => (row.tag, Span::default()),
            _ => (Span::default(), Span::default()),
        };
        self.members.push(index);
        self.key.push(key);
        self.second_key.push(second);
        self.iv.push(ivs[0]);
        self.second_iv.push(ivs[1]);
        self.aad.push(row.aad);
        self.input.push(input);
        self.output.push(output);
        self.tag.push(tag);
        self.check_values.push(check_value);
        Ok(())
    }

    /// Adds a record of a task that reads nothing but data and writes nothing but output.
    ///
    /// Columns that the task does not read stay empty.
    pub(super) fn push_plain(&mut self, index: u32, task: BatchTask, records: &Records<'_>) {
        let at = index as usize;
        self.members.push(index);
        if task.has_key() {
            self.key.push(records.key.get(at).unwrap_or(NOWHERE));
        }
        if task.iv_len().is_some() {
            self.iv.push(records.iv.get(at).unwrap_or_default());
        }
        self.input.push(records.input.get(at).unwrap_or(InputSource::Data(Span::default())));
        let output_len = match records.output.get(at) {
            Some(OutputSink::Output(span)) => span.len,
            _ => 0,
        };
        let output = self.reserve_output(output_len).unwrap_or_default();
        self.output.push(OutputSink::Output(output));
        if task.is_seal() || task.is_open() {
            self.aad.push(records.aad.get(at).unwrap_or_default());
            let tag = records.tag.get(at).unwrap_or_default();
            let tag = if task.is_seal() { self.reserve_output(tag.len).unwrap_or_default() } else { tag };
            self.tag.push(tag);
        }
    }

    fn key_in(&mut self, source: KeySource, slots: &SecretSlots) -> Result<KeySource, Status> {
        match source {
            KeySource::Slot(slot) => self.read(slot, slots).map(KeySource::Slot),
            table @ KeySource::Table(_) => Ok(table),
        }
    }

    /// A slot of the group's own for what is in a slot of the batch.
    fn read(&mut self, slot: u32, slots: &SecretSlots) -> Result<u32, Status> {
        let secret = slots.get(slot).ok_or(Status::DependencyFailed)?;
        if let Some(known) = self.reads.get(&slot) {
            return Ok(*known);
        }
        let copy = self.own_slot(u32::try_from(secret.len()).map_err(|_| Status::BadLength)?)?;
        self.reads.insert(slot, copy);
        Ok(copy)
    }

    fn own_slot(&mut self, capacity: u32) -> Result<u32, Status> {
        let slot = u32::try_from(self.capacities.len()).map_err(|_| Status::Malformed)?;
        self.capacities.push(capacity);
        Ok(slot)
    }

    fn reserve_output(&mut self, len: u32) -> Result<Span, Status> {
        let span = Span::new(self.output_len, len as usize).ok_or(Status::BadLength)?;
        self.output_len += len as usize;
        Ok(span)
    }

    /// The group's own slots, with the secrets that it reads.
    pub(super) fn slots(&self, all: &SecretSlots) -> SecretSlots {
        // unreachable because all slots of the batch fit, and the group has each at most once
        let mut slots = SecretSlots::with_capacities(&self.capacities).unwrap_or_default();
        for (from, to) in &self.reads {
            let secret = all.get(*from).unwrap_or_default();
            if let Some(out) = slots.fill(*to, secret.len()) {
                out.copy_from_slice(secret);
            }
        }
        slots
    }

    /// The records of the group.
    pub(super) fn records<'a>(
        &'a self,
        keys: &'a [Key],
        data: Cow<'a, [u8]>,
        slots: SecretSlots,
    ) -> Records<'a> {
        Records {
            len: self.members.len(),
            keys: Cow::Borrowed(keys),
            data,
            output_len: self.output_len,
            slots: Cow::Owned(slots),
            key: column(&self.key, NOWHERE),
            second_key: column(&self.second_key, NOWHERE),
            iv: column(&self.iv, Span::default()),
            second_iv: column(&self.second_iv, Span::default()),
            aad: column(&self.aad, Span::default()),
            input: Column::Each(Cow::Borrowed(&self.input)),
            output: Column::Each(Cow::Borrowed(&self.output)),
            tag: column(&self.tag, Span::default()),
        }
    }
}

const NOWHERE: KeySource = KeySource::Table(u32::MAX);

/// A column with one value per record. Empty if the task does not read it.
fn column<T: Copy>(values: &[T], unread: T) -> Column<'_, T> {
    if values.is_empty() { Column::One(unread) } else { Column::Each(Cow::Borrowed(values)) }
}
