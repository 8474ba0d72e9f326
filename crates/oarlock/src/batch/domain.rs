//! The number of texts that a record of FF1 may have: with few, tokens can be guessed.

use oarlock_core::{InputSource, Records, Shape, Span, ff1_radix};

use super::BatchTask;
use crate::format::MIN_TOKEN_TEXTS;

/// True if a record may be computed as far as the number of its texts is concerned. Lengths of inputs in slots are not
/// known yet; the engines ask for 100 texts.
pub(super) fn is_large_enough(task: BatchTask, records: &Records<'_>, iv: Span, input: InputSource) -> bool {
    let (BatchTask::Do(Shape::Fpe { .. }), InputSource::Data(input)) = (task, input) else { return true };
    // A radix that does not exist is the engine's to refuse.
    let Some(radix) = iv.of(&records.data).and_then(ff1_radix) else { return true };
    let numerals = input.len / if radix <= 256 { 1 } else { 2 };
    let texts =
        (0..numerals).try_fold(1_u64, |texts, _| (texts < MIN_TOKEN_TEXTS).then(|| texts * u64::from(radix)));
    texts.is_none_or(|texts| texts >= MIN_TOKEN_TEXTS)
}

/// True if all records of a task are large enough.
pub(super) fn are_large_enough(task: BatchTask, records: &Records<'_>) -> bool {
    if !matches!(task, BatchTask::Do(Shape::Fpe { .. })) {
        return true;
    }
    let mut columns = records.iv.cursor().zip(records.input.cursor()).take(records.len);
    columns.all(|(iv, input)| is_large_enough(task, records, iv, input))
}
