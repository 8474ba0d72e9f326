//! What is wrong with an entry of a zone file. All of it is the file's fault.

use std::fmt;

use super::word::EntryWord;
use crate::name::NameError;
use crate::rdata::DataError;
use crate::records::ZoneRecordsError;
use crate::rtype::RecordType;

/// Most characters of a word that an error shows.
const SHOWN: usize = 64;

/// Why an entry of a zone file was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// A word that is not what its place wants.
    #[error("`{word}` where {expected} should be")]
    Word {
        /// The word as written, shortened where it is long.
        word: Box<str>,
        /// What should be there.
        expected: &'static str,
    },
    /// The entry ends too soon.
    #[error("the entry ends where {0} should be")]
    Missing(&'static str),
    /// More words than the type has.
    #[error("`{0}` after the record's data")]
    SecondInput(Box<str>),
    /// A word that is no name.
    #[error("`{word}` is no name: {error}")]
    Name {
        /// The word as written, shortened where it is long.
        word: Box<str>,
        /// What is wrong with it.
        error: NameError,
    },
    /// A relative name, and neither `$ORIGIN` nor SOA before it.
    #[error("`{0}` is relative, and no origin is known")]
    NoOrigin(Box<str>),
    /// No owner's name, and no entry with a good one before it.
    #[error("no owner's name, here or before")]
    NoOwner,
    /// No TTL, and none to take its place.
    #[error("no TTL, and neither $TTL, a TTL nor an SOA before")]
    NoTtl,
    /// An SOA without a TTL, whose minimum is too long to be one. RFC 2181 section 8.
    #[error("no TTL, and the SOA's minimum, {0}, is too long to be one: a TTL is at most 2147483647 seconds")]
    LongMinimum(u32),
    /// A class other than IN.
    #[error("class `{0}`; only IN is read")]
    Class(Box<str>),
    /// A word that is neither the mnemonic of a type nor `TYPE` and its number.
    #[error("`{0}` where a registered type, or TYPE and a number up to 65535, should be")]
    UnknownType(Box<str>),
    /// A type that stands in messages only. RFC 6895 3.1.
    #[error("type {0} stands in no zone")]
    MetaType(RecordType),
    /// A type whose text is not known here.
    #[error("the text of type {0} is not known; its data can be written as \\# (RFC 3597)")]
    GenericOnly(RecordType),
    /// Data in generic form that the type does not allow.
    #[error("{0}")]
    Data(#[from] DataError),
    /// A quoted string that its line does not end.
    #[error("a quoted string that is not closed in its line")]
    OpenQuote,
    /// An opening parenthesis that is never closed.
    #[error("a parenthesis that is not closed")]
    OpenParenthesis,
    /// A closing parenthesis without an opening one.
    #[error("a parenthesis is closed that was not opened")]
    ClosingParenthesis,
    /// An entry of more than 1 MiB.
    #[error("an entry of more than 1 MiB")]
    Long,
    /// The text ends before the entry does.
    #[error("the file ends within an entry")]
    Ended,
    /// A hundred parentheses that are not closed.
    #[error("100 parentheses that are not closed; the rest is not read")]
    GaveUp,
    /// A word with a dollar sign that is no directive.
    #[error("`{0}` is no directive")]
    Directive(Box<str>),
    /// A file that could not be included.
    #[error("cannot include `{path}`: {error}")]
    Include {
        /// As written.
        path: Box<str>,
        /// Why.
        error: Box<str>,
    },
    /// A `$GENERATE` that cannot be followed.
    #[error("$GENERATE: {0}")]
    Generate(&'static str),
    /// No room for the record.
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

/// What was read, or an error in a box: most calls give neither much nor fail.
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

/// What an error shows of a word.
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

/// An entry that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyEntry {
    /// The file as `$INCLUDE` named it; none for the zone file itself.
    pub file: Option<Box<str>>,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong with the entry.
    pub error: EntryError,
}

impl fmt::Display for FaultyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        write!(f, "line {}: {}", self.line, self.error)
    }
}
