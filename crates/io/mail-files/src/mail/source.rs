//! The locations of messages.

use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::MboxQuoting;
use super::quoting::UnquotedReader;

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
    part: Option<MboxPart>,
}

/// The position of a message in an mbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MboxPart {
    pub(super) number: u64,
    pub(super) start: u64,
    pub(super) len_bytes: u64,
    pub(super) quoting: MboxQuoting,
}

impl MailSource {
    /// Makes the location of a file that was found below the first `depth` components of its path.
    pub(super) fn file(path: impl Into<Arc<Path>>, depth: usize) -> Self {
        Self { path: path.into(), depth, is_stream: false, part: None }
    }

    pub(super) fn stream(path: &Path) -> Self {
        Self { is_stream: true, ..Self::file(path, 0) }
    }

    pub(super) fn part(&self, part: MboxPart) -> Self {
        Self { part: Some(part), ..self.clone() }
    }

    /// Returns the path as it was given or found.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of the message in an mbox, from 1.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.part.map(|part| part.number)
    }

    /// Returns true for standard input, pipes and the like, which can be read once.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Returns true if the message is a file of its own.
    #[must_use]
    pub fn is_file(&self) -> bool {
        !self.is_stream && self.part.is_none()
    }

    /// Reads the message again as a stream, because it is too long for the memory. Lines end as in the file, see
    /// [`CrlfReader`](oarlock_dkim::CrlfReader).
    ///
    /// # Errors
    /// The file cannot be opened any more, or it is a stream.
    pub fn open(&self) -> io::Result<Box<dyn BufRead + Send>> {
        if self.is_stream {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "a stream can be read once"));
        }
        let mut file = File::open(&self.path)?;
        let Some(part) = self.part else { return Ok(Box::new(BufReader::new(file))) };
        file.seek(SeekFrom::Start(part.start))?;
        let quoted = BufReader::new(file.take(part.len_bytes));
        Ok(Box::new(BufReader::new(UnquotedReader::new(quoted, part.quoting))))
    }

    /// Returns the path of the message below a directory for results: its path below the given directory, or the name
    /// of the given file.
    pub(super) fn below(&self) -> PathBuf {
        let mut below: PathBuf = match self.is_stream {
            true => "stream".into(),
            false => self.path.components().skip(self.depth).collect(),
        };
        if let Some(part) = self.part {
            let mut name = below.file_name().unwrap_or(OsStr::new("mbox")).to_owned();
            name.push(format!(".{}.eml", part.number));
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
        self.part.map_or(Ok(()), |part| write!(f, ":{}", part.number))
    }
}
