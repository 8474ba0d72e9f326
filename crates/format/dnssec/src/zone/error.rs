//! The location of a faulty entry in a zone file.

use std::fmt;

use crate::text::EntryError;

/// An entry that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultyEntry {
    /// The file as `$INCLUDE` names it; None for the zone file itself.
    pub file: Option<Box<str>>,
    /// The line, from 1.
    pub line: u32,
    /// The error of the entry.
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
