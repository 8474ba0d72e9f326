//! The text of a cell.

use std::borrow::Cow;

use crate::csv;
use crate::row::{CellKind, CellSpan};

/// Returns the text of a CSV field.
pub(crate) fn unescaped(chunk: &[u8], cell: CellSpan) -> Cow<'_, [u8]> {
    let bytes = &chunk[cell.range()];
    if cell.kind() == CellKind::Escaped { Cow::Owned(csv::unquoted(bytes)) } else { Cow::Borrowed(bytes) }
}

/// Returns the text of a JSON value: a string without its escapes, or a number as it is written. None for other
/// values.
pub(crate) fn of_json(chunk: &[u8], cell: CellSpan) -> Option<Cow<'_, [u8]>> {
    let bytes = &chunk[cell.range()];
    match cell.kind() {
        CellKind::Text => Some(Cow::Borrowed(bytes)),
        CellKind::Escaped => {
            serde_json::from_slice::<String>(bytes).ok().map(|text| Cow::Owned(text.into_bytes()))
        }
        CellKind::Other if bytes.iter().all(u8::is_ascii_digit) => Some(Cow::Borrowed(bytes)),
        CellKind::Other | CellKind::Missing => None,
    }
}
