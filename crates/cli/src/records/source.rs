//! The input file, cut into chunks of whole rows.

use std::fs::File;
use std::io::{self, Read};
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

impl ChunkSource {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path, format: FileFormat) -> Result<Self, RecordsError> {
        let fail = |error| RecordsError::Open { path: path.to_path_buf(), error };
        let (reader, name, len_bytes): (Box<dyn Read + Send>, _, _) = if is_standard(path) {
            (Box::new(io::stdin()), "stdin".to_owned(), None)
        } else {
            let file = File::open(path).map_err(fail)?;
            let about = file.metadata().map_err(fail)?;
            if about.is_dir() {
                return Err(fail(io::ErrorKind::IsADirectory.into()));
            }
            (Box::new(file), path.display().to_string(), about.is_file().then_some(about.len()))
        };
        Ok(Self { chunks: ChunkReader::new(reader, format), name, len_bytes })
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
