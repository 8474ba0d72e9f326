//! The input file, and its chunks of whole rows.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

use oarlock_records::{ChunkReader, FileFormat, RowChunk, SecretBuffer};

use super::{RecordsError, is_standard};

/// The input file.
pub(super) struct ChunkSource {
    chunks: ChunkReader,
    name: String,
    len_bytes: Option<u64>,
}

/// The header of a file.
#[derive(Debug)]
pub(super) struct FileHeader {
    /// The number of lines in it.
    pub(super) lines: u64,
    /// The name of the file.
    pub(super) name: String,
}

/// The input file, before its format is known.
pub(super) struct InputFile {
    /// None is standard input.
    file: Option<File>,
    /// The first bytes, if they were read already.
    head: Vec<u8>,
    /// The name in messages.
    pub(super) name: String,
    /// The length of a file. That of a pipe is unknown.
    pub(super) len_bytes: Option<u64>,
}

impl InputFile {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, RecordsError> {
        if is_standard(path) {
            return Ok(Self { file: None, head: Vec::new(), name: "stdin".to_owned(), len_bytes: None });
        }
        let fail = |error| RecordsError::Open { path: path.to_path_buf(), error };
        let file = File::open(path).map_err(fail)?;
        let about = file.metadata().map_err(fail)?;
        if about.is_dir() {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        let len_bytes = about.is_file().then_some(about.len());
        Ok(Self { file: Some(file), head: Vec::new(), name: path.display().to_string(), len_bytes })
    }

    /// Returns the first `len` bytes, or fewer if the file is shorter. They stay to be read.
    fn peek(&mut self, len: usize) -> Result<&[u8], RecordsError> {
        let missing = len.saturating_sub(self.head.len()) as u64;
        let read = match &mut self.file {
            Some(file) => file.take(missing).read_to_end(&mut self.head),
            None => io::stdin().lock().take(missing).read_to_end(&mut self.head),
        };
        read.map_err(|error| RecordsError::Open { path: self.name.clone().into(), error })?;
        Ok(&self.head)
    }

    /// Returns all bytes.
    pub(super) fn into_reader(self) -> Box<dyn Read + Send> {
        let head = Cursor::new(self.head);
        match self.file {
            Some(file) => Box::new(head.chain(file)),
            None => Box::new(head.chain(io::stdin())),
        }
    }

    /// Returns the file, read from its beginning, if it is not a pipe.
    pub(super) fn into_file(self) -> Option<File> {
        let mut file = self.file.filter(|_| self.len_bytes.is_some())?;
        // `peek` has read the first bytes.
        file.rewind().ok()?;
        Some(file)
    }
}

/// The two forms of Arrow IPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrowContainer {
    /// A file, whose footer names its batches.
    File,
    /// A stream of messages.
    Stream,
}

impl ArrowContainer {
    /// Returns the container that the first bytes of a file show. A file has a magic number and zeros, and a stream
    /// begins with the mark of a message.
    pub(super) fn find(input: &mut InputFile) -> Result<Option<Self>, RecordsError> {
        Ok(match input.peek(8)? {
            b"ARROW1\0\0" => Some(Self::File),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Self::Stream),
            _ => None,
        })
    }
}

impl ChunkSource {
    /// Reads a file of rows.
    pub(super) fn new(input: InputFile, format: FileFormat) -> Self {
        let (name, len_bytes) = (input.name.clone(), input.len_bytes);
        Self { chunks: ChunkReader::new(input.into_reader(), format), name, len_bytes }
    }

    pub(super) fn len_bytes(&self) -> Option<u64> {
        self.len_bytes
    }

    /// Gives the first chunk to `look`, as [`ChunkReader::look`] does. Returns its finding and the header.
    pub(super) fn look<T>(
        &mut self,
        look: impl FnOnce(&[u8]) -> Result<(T, usize), RecordsError>,
    ) -> Result<(T, FileHeader), RecordsError> {
        let (found, lines) = self.chunks.look(look).map_err(|error| error.in_file(&self.name))?;
        Ok((found, FileHeader { lines, name: self.name.clone() }))
    }

    /// Returns the next chunk, in `memory` of an earlier one; None at the end.
    pub(super) fn next(&mut self, memory: SecretBuffer) -> Result<Option<RowChunk>, RecordsError> {
        self.chunks.next(memory).map_err(|error| RecordsError::from(error).in_file(&self.name))
    }
}
