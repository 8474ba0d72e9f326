//! Rejected rows, and their lines in the file of rejected rows.

use oarlock::{JobError, Status};

use crate::columns::Columns;
use crate::csv;
use crate::error::RejectReason;
use crate::{SecretBuffer, ndjson};

/// A row without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedRow {
    /// The line in its chunk at which it begins, from 0.
    pub line: u64,
    /// The reason for which the row was left out.
    pub reason: RejectReason,
    /// The row, if the job keeps it.
    pub row: Option<Vec<u8>>,
    /// Its position in its chunk.
    pub(crate) row_start: usize,
    pub(crate) row_end: usize,
}

/// Returns the header of a CSV file of rejected rows.
pub(crate) fn csv_head(delimiter: u8, has_row: bool) -> Vec<u8> {
    let mut head = b"line".to_vec();
    head.extend([&[delimiter][..], b"reason"].concat());
    if has_row {
        head.extend([&[delimiter][..], b"row"].concat());
    }
    head.push(b'\n');
    head
}

/// Adds a rejected row of a CSV file.
pub(crate) fn push_csv(line: u64, reason: &str, row: Option<&[u8]>, delimiter: u8, to: &mut SecretBuffer) {
    to.extend(line.to_string().as_bytes());
    to.push(delimiter);
    csv::push_quoted(reason.as_bytes(), to);
    if let Some(row) = row {
        to.push(delimiter);
        csv::push_quoted(row, to);
    }
    to.push(b'\n');
}

/// Adds a rejected row of an NDJSON file.
pub(crate) fn push_json(line: u64, reason: &str, row: Option<&[u8]>, to: &mut SecretBuffer) {
    to.extend(format!("{{\"line\":{line},\"reason\":").as_bytes());
    ndjson::push_string(reason, to);
    if let Some(row) = row {
        to.extend(b",\"row\":");
        ndjson::push_string(&String::from_utf8_lossy(row), to);
    }
    to.extend(b"}\n");
}

/// Returns a reason as text. Column names are the caller's own words; no bytes of the row are shown, because values
/// may be secret.
pub(crate) fn describe(reason: &RejectReason, columns: &Columns) -> String {
    let name = |column: &u8| columns.names.get(usize::from(*column)).map_or("", String::as_str);
    match reason {
        RejectReason::Columns { expected, found } => format!("expected {expected} columns, found {found}"),
        RejectReason::AfterQuote => "something follows a closing quote".into(),
        RejectReason::OpenQuote => "a quoted field does not end".into(),
        RejectReason::LineEnd(end) => {
            format!("the line ends with {end}: expected LF or CRLF. {}", end.remedy())
        }
        RejectReason::NotObject { byte } => {
            format!("not one JSON object: parsing failed at byte {byte} of the line")
        }
        RejectReason::NoField { column } => format!("no field {:?}: every row needs it", name(column)),
        RejectReason::TwoFields { column } => format!("two fields {:?}: expected one", name(column)),
        RejectReason::NotText { column } => {
            format!("{:?} is not a string: expected text in quotes", name(column))
        }
        RejectReason::Encoding { column } => format!("{:?} is not in the encoding of the file", name(column)),
        RejectReason::NotUtf8 => {
            "the decrypted value is not UTF-8 text: the key is wrong, or choose the encoding hex or base64"
                .into()
        }
        RejectReason::Format(error) => error.to_string(),
        RejectReason::UnknownKey => Status::UnknownKey.to_string(),
        RejectReason::Refused { status, expected: Some(expected) } => {
            format!("{status}; expected {expected}")
        }
        RejectReason::Refused { status, expected: None } => status.to_string(),
        RejectReason::RefusedByHolder(error) => match &**error {
            JobError::HolderRefused { reason, .. } => reason.clone(),
            other => other.to_string(),
        },
        RejectReason::TooLong { max } => {
            format!("the values of the row have more than {max} bytes, too many for a server")
        }
        RejectReason::Padding => {
            "no padding: the key or IV is wrong, or the value was changed or was never padded".into()
        }
    }
}
