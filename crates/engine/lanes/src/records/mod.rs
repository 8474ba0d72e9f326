//! From columns of records to groups of lanes: the loop over a run.
//!
//! [`RecordPart`] of the engine kit reads the columns and accepts records. This module divides them into windows, in
//! order of length, and gives each window to a kernel.

use std::ops::Range;

use oarlock_core::{EngineFault, OutcomeWriter, Outcomes, Records, Shape, Status};
use oarlock_engine_kit::OrderedRecords;
pub(crate) use oarlock_engine_kit::{EqualFields, RecordPart, RecordRef, StepRule};

use crate::fault::engine_failure;
use crate::scratch::{ThreadScratch, WipePolicy};
use crate::simd::fetch_ahead;

/// The number of records that are sorted by length together. Groups of 512 lanes of mixed lengths waste few of their
/// steps at this size, and the sorted list stays in the second-level cache.
const WINDOW: usize = 4096;

/// The number of records of equal length that are accepted together, without sorting. Their list stays in the
/// first-level cache.
const EQUAL_WINDOW: usize = 1024;

/// The computation of one shape of records.
pub(crate) trait RecordKernel {
    /// Returns the shape.
    fn shape(&self) -> Shape;

    /// Returns the cost of a record by its length. Records of similar cost are put side by side.
    fn steps(&self) -> StepRule;

    /// True if the kernel prefetches the inputs of equal records while it computes. Otherwise those of the next window
    /// are prefetched at once, for which the kernel waits.
    fn prefetches(&self) -> bool {
        false
    }

    /// Prepares the values that all records of a part share.
    fn begin(&mut self, _part: &RecordPart<'_>) {}

    /// Computes accepted records in any order and writes their results. Sets the status of a record only if it
    /// fails.
    fn compute(&mut self, part: &RecordPart<'_>, records: &[RecordRef], out: &mut OutcomeWriter<'_>);
}

/// Computes every record of every part into `out`.
pub(crate) fn run(
    kernel: &mut dyn RecordKernel,
    parts: &[&Records<'_>],
    out: &mut Outcomes,
) -> Result<(), EngineFault> {
    const MISMATCH: &str = "the outcomes do not match the records: make them with Outcomes::for_jobs";
    if out.parts() != parts.len() {
        return Err(engine_failure(MISMATCH));
    }
    for (index, records) in parts.iter().enumerate() {
        let part = RecordPart::new(kernel.shape(), records);
        // Results that fail are erased below, and the others written.
        let fills = part.fills_output();
        let mut out = if fills { out.part_to_overwrite(index) } else { out.part_mut(index) };
        // Indices and offsets are 32 bits wide: half the memory of a `RecordRef`, which bounds the sorting.
        let is_countable = u32::try_from(records.len).is_ok();
        if !is_countable || out.statuses.len() != records.len || out.output.len() != records.output_len {
            return Err(engine_failure(MISMATCH));
        }
        run_part(kernel, &part, &mut out);
    }
    Ok(())
}

// One function for all kernels, because there are many of them, and it is called once for many records.
fn run_part(kernel: &mut dyn RecordKernel, part: &RecordPart<'_>, out: &mut OutcomeWriter<'_>) {
    let mut ordered = ThreadScratch::take(OrderedRecords::default);
    kernel.begin(part);
    let max = if part.equal_len().is_some() { EQUAL_WINDOW } else { WINDOW };
    for first in (0..part.len()).step_by(max) {
        let window = first..part.len().min(first + max);
        out.begin_window(window.clone());
        match part.equal_len() {
            Some(_) if kernel.prefetches() => {
                part.accept(window.clone(), &mut ordered, out, kernel.steps(), |_, _| {});
            }
            _ => part.accept(window.clone(), &mut ordered, out, kernel.steps(), fetch_ahead),
        }
        let records = ordered.longest_first();
        // Window by window, so that records, outputs and statuses are still in the cache.
        kernel.compute(part, records, out);
        out.finish_window(window.clone());
        if part.fills_output() {
            erase_failures(part, window, out);
        }
    }
}

/// Erases the results of records that failed, where the output can have those of an earlier run.
fn erase_failures(part: &RecordPart<'_>, window: Range<usize>, out: &mut OutcomeWriter<'_>) {
    // All statuses are looked at, many at once: nearly always none has failed.
    let statuses = &out.statuses[window.clone()];
    if statuses.iter().fold(true, |are_done, status| are_done & (*status == Status::Done)) {
        return;
    }
    for index in window {
        if out.statuses[index] != Status::Done {
            part.erase_result(index as u32, out);
        }
    }
}

impl WipePolicy for OrderedRecords {
    fn wipe(&mut self) {
        self.clear();
    }
}
