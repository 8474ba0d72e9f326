//! The locations of messages.

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The path that stands for standard input.
pub(super) const STDIN: &str = "-";

/// The location of a message. It is shown as its path, or `-` for standard input, with `:17` for the seventeenth
/// message of an mbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailSource {
    path: Arc<Path>,
    /// The number of path components that the caller gave.
    depth: usize,
    is_stream: bool,
    /// The number in an mbox, from 1.
    number: Option<u64>,
}

impl MailSource {
    /// Makes the location of a file that was found below the first `depth` components of its path.
    pub(super) fn file(path: impl Into<Arc<Path>>, depth: usize) -> Self {
        Self { path: path.into(), depth, is_stream: false, number: None }
    }

    pub(super) fn stream(path: &Path) -> Self {
        Self { is_stream: true, ..Self::file(path, 0) }
    }

    /// Makes the location of a message in the mbox that is here.
    pub(super) fn part(&self, number: u64) -> Self {
        Self { number: Some(number), ..self.clone() }
    }

    /// Returns the path as it was given or found.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of the message in an mbox, from 1.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// Returns true for standard input, pipes and the like, which can be read once.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Returns true if the message is a file of its own.
    #[must_use]
    pub fn is_file(&self) -> bool {
        !self.is_stream && self.number.is_none()
    }

    /// Returns the path of the message below a directory for results: its path below the given directory, or the name
    /// of the given file.
    pub(super) fn below(&self) -> PathBuf {
        let mut below: PathBuf = match self.is_stream {
            true => "stream".into(),
            false => self.path.components().skip(self.depth).collect(),
        };
        if let Some(number) = self.number {
            let mut name = below.file_name().unwrap_or(OsStr::new("mbox")).to_owned();
            name.push(format!(".{number}.eml"));
            below.set_file_name(name);
        }
        below
    }
}

impl fmt::Display for MailSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name may contain control sequences of the terminal.
        for character in self.path.to_string_lossy().chars() {
            match character.is_control() {
                true => write!(f, "{}", character.escape_default())?,
                false => f.write_char(character)?,
            }
        }
        self.number.map_or(Ok(()), |number| write!(f, ":{number}"))
    }
}
