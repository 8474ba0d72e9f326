//! One JSON object per line, read in place. Unchanged parts keep their bytes, including spaces and the order of
//! fields.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use memchr::{memchr, memrchr};
use oarlock::keys::text_file::ForeignLineEnd;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::columns::Columns;
use crate::error::RejectReason;
use crate::row::{CellKind, CellSpan, MAX_COLUMNS, RowSpan, foreign_line_ends, line_end};

/// Returns the length of the whole lines at the front of `buffer`.
pub(crate) fn whole_rows(buffer: &[u8]) -> usize {
    memrchr(b'\n', buffer).map_or(0, |feed| feed + 1)
}

/// Returns the position of the first line end outside of strings that is neither LF nor CRLF. A string may contain
/// U+0085, but no carriage return. RFC 8259 section 7.
pub(crate) fn foreign_line_end(chunk: &[u8]) -> Option<(usize, ForeignLineEnd)> {
    let mut strings = StringScan { chunk, at: 0, is_open: false };
    foreign_line_ends(chunk)
        .find(|(at, end)| *end == ForeignLineEnd::CarriageReturn || !strings.is_open_at(*at))
}

/// A scan for strings, from one position to a later one.
struct StringScan<'c> {
    chunk: &'c [u8],
    at: usize,
    is_open: bool,
}

impl StringScan<'_> {
    fn is_open_at(&mut self, position: usize) -> bool {
        if let Some(feed) = memrchr(b'\n', &self.chunk[self.at..position]) {
            (self.at, self.is_open) = (self.at + feed + 1, false);
        }
        let mut bytes = self.chunk[self.at..position].iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => self.is_open = !self.is_open,
                // The byte after a backslash may be a quote that ends nothing.
                b'\\' => _ = bytes.next(),
                _ => {}
            }
        }
        self.at = position;
        self.is_open
    }
}

/// Reads the line at `start`.
pub(crate) fn row(
    chunk: &[u8],
    start: usize,
    columns: &Columns,
    cells: &mut [CellSpan; MAX_COLUMNS],
) -> RowSpan {
    let feed = memchr(b'\n', &chunk[start..]).map(|offset| start + offset);
    let (end, next) = line_end(chunk, start, feed);
    if end == start {
        return RowSpan { append_at: end, is_empty: true, is_blank: true, end, next, fault: None };
    }
    let mut object =
        ObjectReader { line: &chunk[start..end], start, columns, cells, append_at: None, twice: None };
    let mut reader = serde_json::Deserializer::from_slice(object.line);
    let parsed = object.read(&mut reader).and_then(|()| reader.end());
    let (append_at, twice) = (object.append_at, object.twice);
    // Only the position: the message of serde may quote a value of the row.
    let not_object = |error: serde_json::Error| RejectReason::NotObject { byte: error.column() as u32 };
    let fault = parsed.err().map(not_object).or(twice.map(|column| RejectReason::TwoFields { column }));
    // An object without fields is `{`, perhaps spaces, and `}`.
    let opening = || memchr(b'{', &chunk[start..end]).map_or(end, |offset| start + offset + 1);
    let (append_at, is_empty) = (append_at.unwrap_or_else(opening), append_at.is_none());
    RowSpan { append_at, is_empty, is_blank: false, end, next, fault }
}

/// A reader of an object's fields, one by one.
struct ObjectReader<'l, 'c> {
    line: &'l [u8],
    start: usize,
    columns: &'c Columns,
    cells: &'c mut [CellSpan; MAX_COLUMNS],
    /// The position behind the last field.
    append_at: Option<usize>,
    /// A column that occurs twice.
    twice: Option<u8>,
}

impl<'l> ObjectReader<'l, '_> {
    fn read(
        &mut self,
        reader: &mut serde_json::Deserializer<serde_json::de::SliceRead<'l>>,
    ) -> Result<(), serde_json::Error> {
        reader.deserialize_map(self)
    }

    fn take(&mut self, name: &str, value: &'l RawValue) {
        let text = value.get().as_bytes();
        // The value borrows from the line, so the difference of their addresses is its position.
        let offset = text.as_ptr().addr().wrapping_sub(self.line.as_ptr().addr());
        let start = self.start + offset;
        let end = start + text.len();
        self.append_at = Some(end);
        let Some(column) = self.columns.names.iter().position(|candidate| candidate == name) else { return };
        // RFC 8259 section 4 leaves open which of two equal names counts. Another reader might take the other
        // value.
        if self.cells[column].kind() != CellKind::Missing {
            self.twice = Some(column as u8);
        }
        self.cells[column] = match text {
            // Without a backslash the text is its own value and is read in place.
            [b'"', inner @ .., b'"'] if memchr(b'\\', inner).is_none() => {
                CellSpan::new(start + 1..end - 1, CellKind::Text)
            }
            [b'"', ..] => CellSpan::new(start..end, CellKind::Escaped),
            _ => CellSpan::new(start..end, CellKind::Other),
        };
    }
}

impl<'l> Visitor<'l> for &mut ObjectReader<'l, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(FieldNameSeed)? {
            let value: &'l RawValue = map.next_value()?;
            self.take(&name, value);
        }
        Ok(())
    }
}

/// Reads a field's name, which is borrowed if it has no escapes.
struct FieldNameSeed;

impl<'l> DeserializeSeed<'l> for FieldNameSeed {
    type Value = Cow<'l, str>;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<Cow<'l, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'l> Visitor<'l> for FieldNameSeed {
    type Value = Cow<'l, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'l str) -> Result<Cow<'l, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Cow<'l, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

/// Adds a text as the inside of a string. Text that is not UTF-8 was rejected before.
pub(crate) fn push_escaped(text: &[u8], to: &mut crate::SecretBuffer) {
    let mut quoted = serde_json::to_vec(&String::from_utf8_lossy(text)).unwrap_or_default();
    if let [_, inner @ .., _] = &quoted[..] {
        to.extend(inner);
    }
    oarlock::engine_api::erase(&mut quoted);
}

/// Returns the bytes of a field that is left out: its name, its value, and one comma at or after `from`.
pub(crate) fn dropped(chunk: &[u8], from: usize, cell: CellSpan) -> Range<usize> {
    let quotes = usize::from(cell.kind() == CellKind::Text);
    let (value, end) = (cell.start() - quotes, cell.end() + quotes);
    let is_space = |byte: &u8| byte.is_ascii_whitespace();
    let trimmed = |end: usize| end - chunk[..end].iter().rev().take_while(|byte| is_space(byte)).count();
    // A colon and the name precede the value.
    let name_end = trimmed(trimmed(value) - 1);
    let before = trimmed(name_start(chunk, name_end));
    if before > from && chunk[before - 1] == b',' {
        return before - 1..end;
    }
    let next = end + chunk[end..].iter().take_while(|byte| is_space(byte)).count();
    before..if chunk.get(next) == Some(&b',') { next + 1 } else { end }
}

/// Returns the start of the string that ends with the quote before `end`.
fn name_start(chunk: &[u8], end: usize) -> usize {
    let mut at = end - 1;
    while let Some(quote) = memrchr(b'"', &chunk[..at]) {
        let escapes = chunk[..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        // An odd number of backslashes escapes the quote.
        if escapes.is_multiple_of(2) {
            return quote;
        }
        at = quote;
    }
    0
}

/// Adds a string in quotes.
pub(crate) fn push_string(text: &str, to: &mut crate::SecretBuffer) {
    // unreachable because a string is always JSON
    to.extend(serde_json::to_string(text).unwrap_or_default().as_bytes());
}
