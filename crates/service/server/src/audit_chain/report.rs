//! The report of a verified chain.

use std::fmt;

use serde::Serialize;

use super::LineHash;

/// The result of verifying the files of an audit log.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ChainReport {
    /// True if no fault was found.
    pub is_whole: bool,
    /// The number of entries in all files.
    pub entries: u64,
    /// The hash that the first chained line carries: zeros if the chain begins there.
    pub first: Option<LineHash>,
    /// The hash of the last entry. The next file of the log begins with it.
    pub last: Option<LineHash>,
    /// The files in the order of the chain.
    pub files: Vec<ChainFile>,
    /// The breaks of the chain, at most [`ChainReport::MAX_LISTED`].
    pub faults: Vec<ChainBreak>,
    /// The number of all breaks.
    pub fault_count: u64,
    /// Remarks that are not breaks, at most [`ChainReport::MAX_LISTED`].
    pub notes: Vec<ChainNote>,
    /// The number of all remarks.
    pub note_count: u64,
}

impl ChainReport {
    /// The maximum number of faults, and of notes, that a report lists.
    pub const MAX_LISTED: usize = 100;
}

/// One file of a log.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ChainFile {
    /// The name that the caller gave.
    pub file: String,
    /// The number of entries.
    pub entries: u64,
    /// The number of entries before the first chained line. A server without a chain has written them.
    pub unchained: u64,
    /// The number of lines that were cut short.
    pub torn: u64,
}

/// A break of the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChainBreak {
    /// The file in which the line stands.
    pub file: String,
    /// The line at which the break was found, from 1. Zero stands for the file as a whole.
    pub line: u64,
    /// The kind of the break.
    pub kind: BreakKind,
    /// The line that must come first: the last entry before the break.
    pub after: Option<u64>,
}

/// The kind of a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BreakKind {
    /// The line carries another hash than that of the line before it.
    OtherHash,
    /// The line begins a new chain, although lines come before it.
    NewChain,
    /// The line carries no hash, although lines before it do.
    NoHash,
    /// The line is not an entry, and no entry says that it was cut short.
    NotAnEntry,
    /// An entry says that lines before it were cut short, and they are not there or are others.
    OtherCut,
    /// The first line does not continue from the expected hash.
    OtherFirst,
    /// The last line does not have the expected hash.
    OtherLast,
}

/// A remark that is not a break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ChainNote {
    /// The file in which the line stands.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The kind of the remark.
    pub kind: NoteKind,
}

/// The kind of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NoteKind {
    /// Lines before this entry were cut short, and the entry says so.
    Cut,
    /// The file ends with half a line.
    HalfLine,
    /// The chain continues from a file that was not given.
    Continues,
    /// The clock of the server was set back before this entry.
    ClockBack,
    /// The server reports that entries could not be written.
    Lost,
}

impl fmt::Display for ChainBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, kind, after } = self;
        match line {
            0 => write!(f, "{file}: ")?,
            line => write!(f, "{file}:{line}: ")?,
        }
        match (kind, after) {
            (BreakKind::OtherHash, Some(after)) => write!(
                f,
                "this line does not follow line {after}: line {after} was changed, or lines between them were removed, \
                 added or moved"
            ),
            (BreakKind::OtherHash, None) => {
                f.write_str("this line does not follow the last line of the file before it: lines are missing or changed")
            }
            (BreakKind::NewChain, _) => {
                f.write_str("this line begins a new chain: lines before it may be missing")
            }
            (BreakKind::NoHash, _) => {
                f.write_str("this line carries no hash (\"previous\"): it was changed or added")
            }
            (BreakKind::NotAnEntry, _) => f.write_str(
                "this line is not an entry, and no entry \"cut\" follows: it was changed, added or cut",
            ),
            (BreakKind::OtherCut, _) => f.write_str(
                "this entry says that lines before it were cut short, and those lines are missing or changed",
            ),
            (BreakKind::OtherFirst, _) => {
                f.write_str("the first line does not continue from the expected hash: lines before it are missing")
            }
            (BreakKind::OtherLast, _) => f.write_str(
                "the last line does not have the expected hash: it was changed, or lines after it are missing",
            ),
        }
    }
}

impl fmt::Display for ChainNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.kind {
            NoteKind::Cut => {
                "lines before this entry were cut short by a crash or a full disk; the chain continues"
            }
            NoteKind::HalfLine => {
                "the file ends with half a line: the server was killed, or was writing while the file was read"
            }
            NoteKind::Continues => "the chain continues from a file that was not given",
            NoteKind::ClockBack => "the clock was set back before this entry",
            NoteKind::Lost => "entries before this one could not be written; the entry has their number",
        };
        write!(f, "{}:{}: {text}", self.file, self.line)
    }
}
