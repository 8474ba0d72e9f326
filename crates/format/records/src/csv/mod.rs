//! Comma-separated values (RFC 4180), read in place. Unchanged parts keep their bytes, including quotes.
//!
//! A quote opens a field only as its first byte. Elsewhere it is an ordinary character, so a stray quote damages only
//! its own field.

mod cut;
mod layout;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use self::cut::{foreign_line_end, whole_rows};
pub(crate) use self::layout::{CsvLayout, dropped, is_delimiter, push_quoted, push_text, unquoted};
pub(crate) use self::read::{Field, RowFields};
