//! Batches under held keys, which their holder computes as a whole.

use std::collections::HashMap;

use oarlock_core::{Batch, BatchTask, Column, JobError, Key, KeySource, Records};

use super::with_keys;
use crate::table::KeyTable;

/// Returns a batch under held keys as their holder takes it, or `None` if its keys are local.
///
/// # Errors
/// Some of its keys are held, and others are not.
pub(super) fn held_batch<'b>(batch: &'b Batch<'_>, table: &KeyTable) -> Result<Option<Batch<'b>>, JobError> {
    if !table.has_held_keys() {
        return Ok(None);
    }
    let mut keys = HeldColumns { table, keys: Vec::new(), positions: HashMap::new(), has_local: false };
    let Records { key, second_key, .. } = &batch.records;
    let columns = [
        keys.column(batch, key, BatchTask::has_key),
        keys.column(batch, second_key, BatchTask::has_second_key),
    ];
    match (keys.keys.is_empty(), keys.has_local) {
        (true, _) => Ok(None),
        (false, true) => Err(JobError::Malformed { what: "keys of one batch live here and with a holder" }),
        (false, false) => {
            let mut held = with_keys(batch, columns);
            held.records.keys = keys.keys.into();
            Ok(Some(held))
        }
    }
}

/// Key columns that name held keys by their position in a list.
struct HeldColumns<'t> {
    table: &'t KeyTable,
    keys: Vec<Key>,
    /// The position in the list of each index that was named.
    positions: HashMap<u32, u32>,
    has_local: bool,
}

/// The index of no key. Its record fails alone.
const NO_KEY: u32 = Batch::FIRST_OUTSIDE - 1;

impl HeldColumns<'_> {
    /// Returns a column for the tasks that read it.
    fn column(
        &mut self,
        batch: &Batch<'_>,
        column: &Column<'_, KeySource>,
        is_read: fn(BatchTask) -> bool,
    ) -> Column<'static, KeySource> {
        let mut renumber =
            |task, source| if is_read(task) { self.renumber(source) } else { KeySource::Table(NO_KEY) };
        match (&batch.task, column) {
            (Column::One(task), Column::One(source)) => Column::One(renumber(*task, *source)),
            (tasks, _) => {
                let rows = tasks.cursor().zip(column.cursor()).take(batch.records.len);
                Column::Each(rows.map(|(task, source)| renumber(task, source)).collect())
            }
        }
    }

    fn renumber(&mut self, source: KeySource) -> KeySource {
        let KeySource::Table(index) = source else { return source };
        if let Some(position) = self.positions.get(&index) {
            return KeySource::Table(*position);
        }
        let position = match self.table.held_key(index) {
            Some(key) => {
                self.keys.push(key);
                self.keys.len() as u32 - 1
            }
            None => {
                self.has_local |= index >= Batch::FIRST_OUTSIDE || self.table.name(index).is_some();
                NO_KEY
            }
        };
        self.positions.insert(index, position);
        KeySource::Table(position)
    }
}
