//! Comma-separated values (RFC 4180), read in place: what is not changed keeps its bytes, quotes included.
//!
//! A quote opens a field only as its first byte; elsewhere it is a character like any other, so a stray one spoils its own
//! field and no other.

mod cut;
mod layout;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use self::cut::whole_rows;
pub(crate) use self::layout::{Layout, dropped, is_delimiter, push_quoted, push_text, unquoted};
pub(crate) use self::read::{Field, Fields};
