//! Rejected rows, as lines for whoever looks into them.

use oarlock::Status;

use crate::columns::Columns;
use crate::csv;
use crate::error::Reason;
use crate::{Buffer, ndjson};

/// A row that has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The line where it begins, in its chunk, from 0.
    pub line: u64,
    /// Why.
    pub reason: Reason,
    /// The row, where the job keeps it.
    pub row: Option<Vec<u8>>,
    /// Where it lies in its chunk.
    pub(crate) row_start: usize,
    pub(crate) row_end: usize,
}

/// What goes before the first rejected row of a CSV file.
pub(crate) fn csv_head(delimiter: u8, has_row: bool) -> Vec<u8> {
    let mut head = b"line".to_vec();
    head.extend([&[delimiter][..], b"reason"].concat());
    if has_row {
        head.extend([&[delimiter][..], b"row"].concat());
    }
    head.push(b'\n');
    head
}

/// One rejected row of a CSV file.
pub(crate) fn push_csv(line: u64, reason: &str, row: Option<&[u8]>, delimiter: u8, to: &mut Buffer) {
    to.extend(line.to_string().as_bytes());
    to.push(delimiter);
    csv::push_quoted(reason.as_bytes(), to);
    if let Some(row) = row {
        to.push(delimiter);
        csv::push_quoted(row, to);
    }
    to.push(b'\n');
}

/// One rejected row of an NDJSON file.
pub(crate) fn push_json(line: u64, reason: &str, row: Option<&[u8]>, to: &mut Buffer) {
    to.extend(format!("{{\"line\":{line},\"reason\":").as_bytes());
    ndjson::push_string(reason, to);
    if let Some(row) = row {
        to.extend(b",\"row\":");
        ndjson::push_string(&String::from_utf8_lossy(row), to);
    }
    to.extend(b"}\n");
}

/// A reason for a human to read. Names of columns are the caller's own words; nothing of the row is told.
pub(crate) fn describe(reason: &Reason, columns: &Columns) -> String {
    let name = |column: &u8| columns.names.get(usize::from(*column)).map_or("", String::as_str);
    match reason {
        Reason::Columns { expected, found } => format!("expected {expected} columns, found {found}"),
        Reason::AfterQuote => "something follows a closing quote".into(),
        Reason::OpenQuote => "a quoted field does not end".into(),
        Reason::NotObject { byte } => format!("not one JSON object: see byte {byte}"),
        Reason::NoField { column } => format!("no field {:?}", name(column)),
        Reason::TwoFields { column } => format!("two fields {:?}", name(column)),
        Reason::NotText { column } => format!("{:?} is no string", name(column)),
        Reason::Encoding { column } => format!("{:?} is not in the encoding of the file", name(column)),
        Reason::NotUtf8 => {
            "what was decrypted is no text in UTF-8: another key, or --encoding hex or base64".to_owned()
        }
        Reason::UnknownKey => Status::UnknownKey.to_string(),
        Reason::Refused { status, expected: Some(expected) } => format!("{status}; expected {expected}"),
        Reason::Refused { status, expected: None } => status.to_string(),
        Reason::Padding => {
            "no padding: another key or IV, a changed value, or one that was not padded".into()
        }
    }
}
