//! The mapping of fields to columns, from the header.

use std::ops::Range;

use memchr::{memchr2, memchr3};
use oarlock::keys::text_file::TextFault;

use super::{Field, RowFields, foreign_line_end};
use crate::SecretBuffer;
use crate::columns::Columns;
use crate::error::{PlanError, RejectReason};
use crate::plan::count_lines;
use crate::reject::describe;
use crate::row::{CellSpan, MAX_COLUMNS, RowSpan, bom_len, empty_lines, foreign_line_ends};
use crate::text::unescaped;

/// The columns of a file.
#[derive(Debug)]
pub(crate) struct CsvLayout {
    delimiter: u8,
    /// The number of fields of every row.
    fields: u32,
    /// The fields that are columns of the job, in order.
    wanted: Vec<(u32, u8)>,
}

impl CsvLayout {
    /// Reads the first row of a file. Returns the layout, the beginning of the output, and the length of what was read
    /// of the file: byte order mark, empty lines and header.
    pub(crate) fn read(
        chunk: &[u8],
        delimiter: u8,
        has_header: bool,
        columns: &Columns,
    ) -> Result<(Self, SecretBuffer, usize), PlanError> {
        // A byte order mark is not part of a name.
        let bom_len = bom_len(chunk);
        let start = bom_len + empty_lines(&chunk[bom_len..]);
        if chunk.len() == start {
            return Err(PlanError::NoHeader);
        }
        let mut fields = RowFields::from_chunk(chunk, start, delimiter);
        let first: Vec<Field> = fields.by_ref().collect();
        let first_row = start..fields.end.map_or(chunk.len(), |end| end.next);
        // Before other faults: with another line end the first row has swallowed the others.
        if let Some((at, end)) = foreign_line_end(&chunk[first_row], delimiter) {
            let line = 1 + count_lines(&chunk[..start + at]) as usize;
            return Err(PlanError::Text(TextFault::LineEnd { line, end }));
        }
        if let Some(reason) = &fields.fault {
            return Err(PlanError::BadHeader { reason: describe(reason, columns) });
        }
        if has_header {
            check_names(chunk, &first)?;
        }
        let names: Vec<String> = if has_header {
            first
                .iter()
                .map(|field| String::from_utf8_lossy(&unescaped(chunk, *field)).into_owned())
                .collect()
        } else {
            (1..=first.len()).map(|number| number.to_string()).collect()
        };
        let layout = Self { delimiter, fields: first.len() as u32, wanted: find(&names, columns)? };
        let mut head = SecretBuffer::default();
        let end = fields.end.filter(|_| has_header);
        if end.is_none() {
            head.extend(&chunk[..bom_len]);
        }
        if let Some(end) = end {
            let mut at = 0;
            let mut from = start;
            let drops = first.iter().enumerate().filter(|(field, _)| layout.drops(*field as u32, columns));
            for (_, cell) in drops {
                let range = dropped(chunk, from, delimiter, *cell);
                from = range.end;
                head.extend(&chunk[at..range.start.max(at)]);
                at = range.end;
            }
            head.extend(&chunk[at..end.end.max(at)]);
            for column in columns.appended(|column| layout.has(column)) {
                head.push(delimiter);
                push_name(columns.names[column].as_bytes(), delimiter, &mut head);
            }
            head.extend(&chunk[end.end..end.next]);
        }
        Ok((layout, head, end.map_or(bom_len, |end| end.next)))
    }

    fn has(&self, column: usize) -> bool {
        self.wanted.iter().any(|(_, wanted)| usize::from(*wanted) == column)
    }

    fn drops(&self, field: u32, columns: &Columns) -> bool {
        self.wanted.iter().any(|(wanted_field, column)| {
            *wanted_field == field && columns.drops.contains(&usize::from(*column))
        })
    }

    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Reads the row at `start`.
    #[inline]
    pub(crate) fn row(&self, chunk: &[u8], start: usize, cells: &mut [CellSpan; MAX_COLUMNS]) -> RowSpan {
        let mut fields = RowFields::from_chunk(chunk, start, self.delimiter);
        let (mut count, mut wanted) = (0, self.wanted.iter().peekable());
        for field in fields.by_ref() {
            // `wanted` is in the order of the fields, so each field costs one comparison.
            if let Some((_, column)) = wanted.next_if(|(wanted_field, _)| *wanted_field == count) {
                cells[usize::from(*column)] = field;
            }
            count += 1;
        }
        let (end, next) = fields.end.map_or((chunk.len(), chunk.len()), |end| (end.end, end.next));
        // In a file of one column an empty line is an empty value.
        let is_blank = end == start && self.fields > 1;
        if count != self.fields && !is_blank && fields.fault.is_none() {
            fields.fault = Some(RejectReason::Columns { expected: self.fields, found: count });
        }
        RowSpan { append_at: end, is_empty: false, is_blank, end, next, fault: fields.fault }
    }
}

/// Returns the bytes of a field that is left out, with its quotes and one delimiter. All bytes before `from` are left
/// out, or `from` is the start of the row.
pub(crate) fn dropped(chunk: &[u8], from: usize, delimiter: u8, cell: CellSpan) -> Range<usize> {
    let (start, end) = (cell.start(), cell.end());
    let quotes = usize::from(start > from && chunk[start - 1] == b'"');
    let (start, end) = (start - quotes, end + quotes);
    // The delimiter before the field goes with it. The first field of a row has none, so it takes the one
    // behind it.
    if start > from {
        return start - 1..end;
    }
    start..end + usize::from(chunk.get(end) == Some(&delimiter))
}

/// Adds a text as a field. `is_quoted` is true if the field has quotes already.
pub(crate) fn push_text(text: &[u8], delimiter: u8, is_quoted: bool, to: &mut SecretBuffer) {
    if is_quoted {
        push_doubled(text, to);
        return;
    }
    // A quote inside is ordinary text if the first character is not a quote. Other programs take a carriage return or
    // U+0085 for the end of the line.
    let needs_quotes = text.first() == Some(&b'"')
        || memchr2(b'\n', delimiter, text).is_some()
        || foreign_line_ends(text).next().is_some();
    if needs_quotes { push_quoted(text, to) } else { to.extend(text) }
}

/// Refuses names with characters that end lines elsewhere, or that no name has: such a header has swallowed rows.
fn check_names(chunk: &[u8], header: &[Field]) -> Result<(), PlanError> {
    for (number, field) in (1..).zip(header) {
        let is_quoted = field.start() > 0 && chunk[field.start() - 1] == b'"';
        if let Some(found) = control_character(&chunk[field.range()]).filter(|_| !is_quoted) {
            let reason = format!("the name of column {number} contains {found}: expected text without it");
            return Err(PlanError::BadHeader { reason });
        }
    }
    Ok(())
}

fn control_character(name: &[u8]) -> Option<String> {
    let is_refused =
        |found: &char| found.is_control() && *found != '\t' || matches!(found, '\u{2028}' | '\u{2029}');
    name.utf8_chunks().find_map(|part| match part.valid().chars().find(is_refused) {
        Some(found) => Some(format!("the character U+{:04X}", u32::from(found))),
        // U+0085 in ISO 8859-1.
        None => part.invalid().contains(&0x85).then(|| "the byte 85".to_owned()),
    })
}

/// Finds the fields that are columns of the job. All columns that are read must exist.
fn find(names: &[String], columns: &Columns) -> Result<Vec<(u32, u8)>, PlanError> {
    let mut wanted = Vec::new();
    for (column, name) in columns.names.iter().enumerate() {
        let mut fields =
            (0_u32..).zip(names).filter(|(_, candidate)| *candidate == name).map(|(field, _)| field);
        match (fields.next(), fields.next()) {
            (Some(field), None) => wanted.push((field, column as u8)),
            (Some(_), Some(_)) => return Err(PlanError::TwoColumns { name: name.clone() }),
            (None, _) if columns.is_read(column) => {
                return Err(PlanError::NoColumn { name: name.clone(), found: listed(names) });
            }
            (None, _) => {}
        }
    }
    wanted.sort_unstable();
    Ok(wanted)
}

fn listed(names: &[String]) -> String {
    // A file may have thousands of columns, and an error should fit on a screen.
    const MAX_LISTED: usize = 20;
    let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("{name:?}")).collect();
    let more = match names.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    shown.join(", ") + &more
}

fn push_name(name: &[u8], delimiter: u8, text: &mut SecretBuffer) {
    if memchr3(b'"', b'\n', delimiter, name).is_none() && foreign_line_ends(name).next().is_none() {
        return text.extend(name);
    }
    push_quoted(name, text);
}

/// Adds a field in quotes. RFC 4180 2.6 and 2.7.
pub(crate) fn push_quoted(field: &[u8], text: &mut SecretBuffer) {
    text.push(b'"');
    push_doubled(field, text);
    text.push(b'"');
}

fn push_doubled(field: &[u8], text: &mut SecretBuffer) {
    for byte in field {
        if *byte == b'"' {
            text.push(b'"');
        }
        text.push(*byte);
    }
}

/// Returns the text of a quoted field, with doubled quotes made single.
pub(crate) fn unquoted(text: &[u8]) -> Vec<u8> {
    let mut single = Vec::with_capacity(text.len());
    let mut bytes = text.iter().peekable();
    while let Some(byte) = bytes.next() {
        single.push(*byte);
        if *byte == b'"' {
            bytes.next_if_eq(&&b'"');
        }
    }
    single
}

/// True if the byte may separate fields. Bytes of encodings, quotes and line ends may not.
pub(crate) fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n+/=".contains(&byte)
}
