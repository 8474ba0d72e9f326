//! The number of texts that a record of FF1 may have: with few, tokens can be guessed.

use oarlock_core::{BatchTask, Column, Ff1Radix, InputSource, Records, Shape, Span};

use crate::format::MIN_TOKEN_TEXTS;

/// True if a record may be computed as far as the number of its texts is concerned. Lengths of inputs in slots are not
/// known yet; the engines ask for 100 texts.
pub(super) fn is_large_enough(task: BatchTask, records: &Records<'_>, iv: Span, input: InputSource) -> bool {
    !matches!(task, BatchTask::Do(Shape::Fpe { .. }))
        || text_sizes(records, iv, input).is_none_or(TextSizes::are_large_enough)
}

/// True if all records of a task are large enough.
pub(super) fn are_large_enough(task: BatchTask, records: &Records<'_>) -> bool {
    if !matches!(task, BatchTask::Do(Shape::Fpe { .. })) {
        return true;
    }
    if let (Column::One(iv), Some([first, _])) = (&records.iv, records.input.ends(records.len)) {
        // At a constant stride all lengths are equal.
        return records.len == 0 || text_sizes(records, *iv, first).is_none_or(TextSizes::are_large_enough);
    }
    let columns = records.iv.cursor().zip(records.input.cursor()).take(records.len);
    let mut sizes = columns.map(|(iv, input)| text_sizes(records, iv, input));
    // Most records of a column are like the one before.
    let mut last = None;
    sizes.all(|current| {
        last.replace(current) == Some(current) || current.is_none_or(TextSizes::are_large_enough)
    })
}

/// The sizes that the number of texts depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TextSizes {
    radix: Ff1Radix,
    input_len: usize,
}

/// Returns the sizes of a record's texts. `None` if its input is in a slot, or if its radix does not exist, which is
/// the engine's to refuse.
fn text_sizes(records: &Records<'_>, iv: Span, input: InputSource) -> Option<TextSizes> {
    let InputSource::Data(Span { len, .. }) = input else { return None };
    let radix = iv.slice(&records.data).and_then(Ff1Radix::from_iv)?;
    Some(TextSizes { radix, input_len: len as usize })
}

impl TextSizes {
    fn are_large_enough(self) -> bool {
        let (radix, numerals) = (u64::from(self.radix.get()), self.input_len / self.radix.numeral_bytes());
        let texts =
            (0..numerals).try_fold(1_u64, |texts, _| (texts < MIN_TOKEN_TEXTS).then(|| texts * radix));
        texts.is_none_or(|texts| texts >= MIN_TOKEN_TEXTS)
    }
}
