//! Errors of entries in a zone file. The author of the file is at fault.

use oarlock::keys::text_file::{ForeignLineEnd, UTF16_NAME, UTF16_REMEDY};

use super::word::EntryWord;
use crate::data_error::DataError;
use crate::name::NameError;
use crate::records::ZoneRecordsError;
use crate::rtype::RecordType;

/// The maximum number of characters of a word that an error shows.
const SHOWN: usize = 64;

/// An error of an entry in a zone file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// A word is not of the required form.
    #[error("found `{word}`, expected {expected}")]
    Word {
        /// The word as written, shortened if it is long.
        word: Box<str>,
        /// The required form.
        expected: &'static str,
    },
    /// The entry ends too soon.
    #[error("the entry ends, expected {0}")]
    Missing(&'static str),
    /// The entry has more words than its type.
    #[error("`{0}` after the record's data")]
    SecondInput(Box<str>),
    /// A name is malformed.
    #[error("`{word}` is not a name: {error}")]
    Name {
        /// The word as written, shortened if it is long.
        word: Box<str>,
        /// The error of the name.
        error: NameError,
    },
    /// A relative name has neither `$ORIGIN` nor an SOA before it.
    #[error("`{0}` is relative, and no origin is known")]
    NoOrigin(Box<str>),
    /// The entry has no owner, and no entry before it has a valid one.
    #[error("missing owner name: the first entry needs one")]
    NoOwner,
    /// The entry has no TTL, and there is no default.
    #[error("missing TTL: set $TTL or write one")]
    NoTtl,
    /// An SOA has no TTL, and its minimum is too large to be one. RFC 2181 section 8.
    #[error(
        "missing TTL, and the SOA's minimum, {0}, is too long for one: a TTL is at most 2147483647 seconds"
    )]
    LongMinimum(u32),
    /// The class is not IN.
    #[error("class `{0}`: only IN is supported")]
    Class(Box<str>),
    /// A word is neither the mnemonic of a type nor `TYPE` and a number.
    #[error("found `{0}`, expected a registered type, or TYPE and a number up to 65535")]
    UnknownType(Box<str>),
    /// The type occurs in messages only. RFC 6895 3.1.
    #[error("type {0} is not allowed in a zone")]
    MetaType(RecordType),
    /// This crate does not know the text of the type.
    #[error("the text of type {0} is unknown: write its data as \\# (RFC 3597)")]
    GenericOnly(RecordType),
    /// Data in generic form does not match its type.
    #[error("{0}")]
    Data(#[from] DataError),
    /// A line has an end that is not read, and would hide the rest of the line.
    #[error("the line ends with {}: expected LF or CRLF. {}", .0, .0.remedy())]
    LineEnd(ForeignLineEnd),
    /// The file is in UTF-16.
    #[error("{UTF16_NAME}: {UTF16_REMEDY}")]
    Utf16,
    /// A quoted string does not end in its line.
    #[error("a quoted string does not end in its line")]
    OpenQuote,
    /// A parenthesis is never closed.
    #[error("a parenthesis is never closed")]
    OpenParenthesis,
    /// A closing parenthesis has no opening one.
    #[error("a closing parenthesis has no opening one")]
    ClosingParenthesis,
    /// The entry has more than 1 MiB.
    #[error("an entry of more than 1 MiB")]
    Long,
    /// The text ends before the entry.
    #[error("the file ends within an entry")]
    Ended,
    /// A hundred parentheses are not closed.
    #[error("100 parentheses that are not closed; the rest is not read")]
    GaveUp,
    /// A word with a dollar sign is not a directive.
    #[error("`{0}` is not a directive")]
    Directive(Box<str>),
    /// A file could not be included.
    #[error("cannot include `{path}`: {error}")]
    Include {
        /// The path as written.
        path: Box<str>,
        /// The error of the file.
        error: Box<str>,
    },
    /// A `$GENERATE` is malformed.
    #[error("$GENERATE: {0}")]
    Generate(&'static str),
    /// The record cannot be stored.
    #[error("{0}")]
    Records(#[from] ZoneRecordsError),
}

impl EntryError {
    #[cold]
    pub(crate) fn word(word: EntryWord<'_>, expected: &'static str) -> Box<Self> {
        Box::new(Self::Word { word: shown(word.bytes()), expected })
    }

    #[cold]
    pub(crate) fn name(word: EntryWord<'_>, error: NameError) -> Box<Self> {
        Box::new(Self::Name { word: shown(word.bytes()), error })
    }
}

/// A parsed value, or an error in a box. The box keeps the result small, because these functions are called for every
/// word.
pub(crate) type Read<T> = Result<T, Box<EntryError>>;

impl From<ZoneRecordsError> for Box<EntryError> {
    fn from(error: ZoneRecordsError) -> Self {
        Box::new(error.into())
    }
}

impl From<DataError> for Box<EntryError> {
    fn from(error: DataError) -> Self {
        Box::new(error.into())
    }
}

/// Returns the part of a word that an error shows.
#[cold]
pub(crate) fn shown(word: &[u8]) -> Box<str> {
    let text: String = String::from_utf8_lossy(&word[..word.len().min(4 * SHOWN)])
        .chars()
        .flat_map(char::escape_debug)
        .collect();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}
