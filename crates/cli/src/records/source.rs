//! A file cut into chunks of whole rows.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use oarlock_records::{FileFormat, SecretBuffer};

use super::{RecordsError, is_standard};

/// The size of a chunk in bytes: enough rows to fill the lanes, few enough to stay in a cache.
const CHUNK: usize = 1 << 20;
/// The longest row in bytes, so that an open quote does not fill the memory.
const MAX_ROW: usize = if cfg!(test) { 4 << 20 } else { 64 << 20 };

/// Reads a file chunk by chunk.
pub(super) struct ChunkSource {
    reader: Box<dyn Read + Send>,
    name: String,
    len_bytes: Option<u64>,
    format: FileFormat,
    /// The rows that were cut off the last chunk.
    rest: SecretBuffer,
    /// The first chunk, which `look` has seen already, and the length of its header.
    first: Option<(SecretBuffer, usize)>,
    given: u64,
    is_at_end: bool,
}

/// Whole rows of a file.
#[derive(Debug)]
pub(super) struct RowChunk {
    /// Its number, from 0.
    pub(super) number: u64,
    buffer: SecretBuffer,
    /// The header before the rows.
    header: usize,
}

impl RowChunk {
    pub(super) fn rows(&self) -> &[u8] {
        &self.buffer[self.header..]
    }

    pub(super) fn len_bytes(&self) -> usize {
        self.buffer.len()
    }

    pub(super) fn into_buffer(self) -> SecretBuffer {
        self.buffer
    }
}

impl ChunkSource {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, RecordsError> {
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
        Ok(Self::new(reader, name, len_bytes))
    }

    fn new(reader: Box<dyn Read + Send>, name: String, len_bytes: Option<u64>) -> Self {
        Self {
            reader,
            name,
            len_bytes,
            format: FileFormat::CSV,
            rest: SecretBuffer::default(),
            first: None,
            given: 0,
            is_at_end: false,
        }
    }

    pub(super) fn len_bytes(&self) -> Option<u64> {
        self.len_bytes
    }

    /// Gives the first chunk to `look`, which returns its finding and the length of the header in bytes. Returns the
    /// finding and the header.
    pub(super) fn look<T>(
        &mut self,
        format: FileFormat,
        look: impl FnOnce(&[u8]) -> Result<(T, usize), RecordsError>,
    ) -> Result<(T, FileHeader), RecordsError> {
        self.format = format;
        let first = self.cut(SecretBuffer::default())?.unwrap_or_default();
        let (found, header) = look(&first)?;
        let lines = oarlock_records::count_lines(&first[..header]);
        self.first = Some((first, header));
        Ok((found, FileHeader { lines, name: self.name.clone() }))
    }

    /// Returns the next chunk, in `memory` of an earlier one; None at the end.
    pub(super) fn next(&mut self, memory: SecretBuffer) -> Result<Option<RowChunk>, RecordsError> {
        let (buffer, header) = match self.first.take() {
            Some(first) => first,
            None => match self.cut(memory)? {
                Some(buffer) => (buffer, 0),
                None => return Ok(None),
            },
        };
        self.given += 1;
        Ok(Some(RowChunk { number: self.given - 1, buffer, header }))
    }

    fn cut(&mut self, mut buffer: SecretBuffer) -> Result<Option<SecretBuffer>, RecordsError> {
        buffer.clear();
        buffer.reserve(CHUNK + self.rest.len());
        buffer.extend(&self.rest);
        self.rest.clear();
        let mut wanted = CHUNK;
        loop {
            self.fill(&mut buffer, wanted)?;
            if self.is_at_end {
                return Ok((!buffer.is_empty()).then_some(buffer));
            }
            let whole = self.format.whole_rows(&buffer);
            if whole > 0 {
                self.rest.extend(&buffer[whole..]);
                buffer.truncate(whole);
                return Ok(Some(buffer));
            }
            if buffer.len() >= MAX_ROW {
                return Err(RecordsError::LongRow { name: self.name.clone(), max: MAX_ROW });
            }
            wanted = 2 * buffer.len();
        }
    }

    /// Reads until `wanted` bytes are there or the input ends.
    fn fill(&mut self, buffer: &mut SecretBuffer, wanted: usize) -> Result<(), RecordsError> {
        while buffer.len() < wanted && !self.is_at_end {
            let missing = wanted - buffer.len();
            let read = fill(&mut *self.reader, buffer, missing);
            let read = read.map_err(|error| RecordsError::Read { name: self.name.clone(), error })?;
            self.is_at_end = read == 0;
        }
        Ok(())
    }
}

/// The header of a file.
#[derive(Debug)]
pub(super) struct FileHeader {
    /// The number of lines in it.
    pub(super) lines: u64,
    /// The name of the file.
    pub(super) name: String,
}

/// Reads once, up to `max` bytes.
pub(super) fn fill(reader: &mut dyn Read, buffer: &mut SecretBuffer, max: usize) -> io::Result<usize> {
    let start = buffer.len();
    loop {
        let read = reader.read(buffer.add(max));
        buffer.truncate(start + read.as_ref().map_or(0, |read| *read));
        match read {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Trickle(Vec<u8>, usize);

    impl Read for Trickle {
        fn read(&mut self, place: &mut [u8]) -> io::Result<usize> {
            let len = place.len().min(self.0.len()).min(self.1);
            place[..len].copy_from_slice(&self.0[..len]);
            self.0.drain(..len);
            Ok(len)
        }
    }

    fn chunks(text: Vec<u8>, step: usize) -> Result<Vec<Vec<u8>>, RecordsError> {
        let mut source = ChunkSource::new(Box::new(Trickle(text, step)), "test".into(), None);
        source.look(FileFormat::CSV, |_| Ok(((), 0)))?;
        let mut chunks = Vec::new();
        while let Some(chunk) = source.next(SecretBuffer::default())? {
            chunks.push(chunk.rows().to_vec());
        }
        Ok(chunks)
    }

    #[test]
    fn chunks_are_whole_rows_and_together_the_file() {
        let row = b"1,\"a\nb\",22222222222222222222\r\n";
        let text = row.repeat(3 * CHUNK / row.len());
        for step in [CHUNK / 3 + 1, usize::MAX] {
            let chunks = chunks(text.clone(), step).unwrap();
            assert!(chunks.len() >= 3 && chunks.iter().all(|chunk| chunk.len() % row.len() == 0));
            assert_eq!(chunks.concat(), text);
        }
        assert!(chunks(Vec::new(), 1).unwrap().concat().is_empty());
        assert_eq!(chunks(b"a,b".to_vec(), 1).unwrap(), [b"a,b".to_vec()]);
    }

    #[test]
    fn a_row_may_be_longer_than_a_chunk_but_not_endless() {
        let mut text = vec![b'7'; 3 * CHUNK];
        text.extend(b"\n1\n");
        assert_eq!(chunks(text.clone(), usize::MAX).unwrap().concat(), text);
        let mut open = b"\"".to_vec();
        open.resize(2 * MAX_ROW + 2, b'\n');
        assert!(matches!(chunks(open, usize::MAX), Err(RecordsError::LongRow { .. })));
    }
}
