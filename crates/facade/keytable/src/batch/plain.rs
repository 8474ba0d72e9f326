//! Batches that go to the engines unchanged: one task, the table's keys, the caller's IVs and no slots.
//!
//! The cost is one pass over the key column, which finds the rights that all keys have in common, and a second pass
//! if uses are counted. No column is copied.

use std::borrow::Cow;

use oarlock::Accelerator;
use oarlock_core::{Column, JobError, KeySource, Outcomes, Records, SecretSlots, Shape, Status};

use crate::table::{RightSet, TableSnapshot};

/// Runs the records of one shape under keys of the table.
pub(super) fn run(
    accelerator: &Accelerator,
    shape: Shape,
    records: &Records<'_>,
    snapshot: &TableSnapshot,
    outcomes: &mut Outcomes,
) -> Result<(), JobError> {
    let records = Records {
        keys: Cow::Borrowed(&snapshot.keys),
        slots: Cow::Owned(SecretSlots::default()),
        ..records.borrowed()
    };
    accelerator.records().run_into(shape, &records, outcomes)?;
    // There are no slots to depend on.
    if outcomes.has_status(Status::DependencyFailed) {
        for index in 0..outcomes.len() {
            if outcomes.statuses()[index] == Status::DependencyFailed {
                outcomes.set(index, Status::Malformed);
            }
        }
    }
    Ok(())
}

/// Returns the rights of a key, or none if the table does not have it.
#[inline]
pub(super) fn rights_of(rights: &[RightSet], source: KeySource) -> RightSet {
    // An index past the end finds the last entry, which has no rights. This saves a branch per record.
    let last = rights.len() - 1;
    match source {
        KeySource::Table(index) => rights[(index as usize).min(last)],
        KeySource::Slot(_) => rights[last],
    }
}

/// Returns the rights that all keys of a column have in common, or none if a key is not in the table.
pub(super) fn common_rights(rights: &[RightSet], column: &Column<'_, KeySource>, len: usize) -> RightSet {
    let of = |source| rights_of(rights, source);
    match column {
        Column::One(source) => of(*source),
        Column::Runs(runs) => {
            runs.iter().fold(RightSet::ALL, |common, (_, source)| common.common(of(*source)))
        }
        Column::Each(sources) => {
            sources.iter().fold(RightSet::ALL, |common, source| common.common(of(*source)))
        }
        Column::Stride { .. } => {
            column.cursor().take(len).fold(RightSet::ALL, |common, source| common.common(of(source)))
        }
    }
}
