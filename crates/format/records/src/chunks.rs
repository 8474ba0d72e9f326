//! A text cut into chunks of whole rows.

use std::fmt;
use std::io::{self, Read};

use crate::plan::count_lines;
use crate::{FileFormat, SecretBuffer};

/// The size of a chunk in bytes: enough rows to fill the lanes, few enough to stay in a cache.
const CHUNK: usize = 1 << 20;
/// The longest row in bytes, so that an open quote does not fill the memory.
const MAX_ROW: usize = if cfg!(test) { 4 << 20 } else { 64 << 20 };

/// A reader of chunks of whole rows.
pub struct ChunkReader {
    reader: Box<dyn Read + Send>,
    format: FileFormat,
    /// The rows that were cut off the last chunk.
    rest: SecretBuffer,
    /// The first chunk, which `look` has seen already, and the length of its header.
    first: Option<(SecretBuffer, usize)>,
    given: u64,
    is_at_end: bool,
}

/// Whole rows of a text.
#[derive(Debug)]
pub struct RowChunk {
    /// The number of the chunk, from 0.
    pub number: u64,
    buffer: SecretBuffer,
    /// The length of the header before the rows.
    header: usize,
}

/// An error of a [`ChunkReader`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// The reader failed.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// A row does not end within the limit.
    #[error(
        "a row is longer than {max} bytes (a quote that is left open, or lines that do not end with a line feed?)"
    )]
    LongRow {
        /// The length of the longest allowed row in bytes.
        max: usize,
    },
}

impl RowChunk {
    /// Returns the rows, without the header of the file.
    #[must_use]
    pub fn rows(&self) -> &[u8] {
        &self.buffer[self.header..]
    }

    /// Returns the length in bytes, with the header of the file.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Returns the memory, for a later chunk.
    #[must_use]
    pub fn into_buffer(self) -> SecretBuffer {
        self.buffer
    }
}

impl ChunkReader {
    /// Creates a reader of rows in this format.
    #[must_use]
    pub fn new(reader: Box<dyn Read + Send>, format: FileFormat) -> Self {
        let (rest, first) = (SecretBuffer::default(), None);
        Self { reader, format, rest, first, given: 0, is_at_end: false }
    }

    /// Gives the first chunk to `look`, which returns its finding and the length of the header in bytes. Returns the
    /// finding and the number of lines in the header.
    ///
    /// # Errors
    /// The text cannot be read, its first row is too long, or `look` failed.
    pub fn look<T, E: From<ChunkError>>(
        &mut self,
        look: impl FnOnce(&[u8]) -> Result<(T, usize), E>,
    ) -> Result<(T, u64), E> {
        let first = self.cut(SecretBuffer::default())?.unwrap_or_default();
        let (found, header) = look(&first)?;
        let lines = count_lines(&first[..header]);
        self.first = Some((first, header));
        Ok((found, lines))
    }

    /// Returns the next chunk, in `memory` of an earlier one; `None` at the end.
    ///
    /// # Errors
    /// The text cannot be read, or a row is too long.
    pub fn next(&mut self, memory: SecretBuffer) -> Result<Option<RowChunk>, ChunkError> {
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

    fn cut(&mut self, mut buffer: SecretBuffer) -> Result<Option<SecretBuffer>, ChunkError> {
        buffer.clear();
        buffer.extend(&self.rest);
        self.rest.clear();
        let mut wanted = CHUNK;
        loop {
            while buffer.len() < wanted && !self.is_at_end {
                let missing = wanted - buffer.len();
                self.is_at_end = fill_buffer(&mut *self.reader, &mut buffer, missing)? == 0;
            }
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
                return Err(ChunkError::LongRow { max: MAX_ROW });
            }
            wanted = 2 * buffer.len();
        }
    }
}

impl fmt::Debug for ChunkReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, given, is_at_end, .. } = self;
        write!(f, "ChunkReader({format:?}, {given} chunks given, is_at_end: {is_at_end})")
    }
}

/// Reads once, up to `max` bytes, and returns their number; 0 at the end.
///
/// # Errors
/// The reader failed.
pub fn fill_buffer(reader: &mut dyn Read, buffer: &mut SecretBuffer, max: usize) -> io::Result<usize> {
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

    /// A reader that gives a few bytes at a time.
    struct SlowReader(Vec<u8>, usize);

    impl Read for SlowReader {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let len = into.len().min(self.0.len()).min(self.1);
            into[..len].copy_from_slice(&self.0[..len]);
            self.0.drain(..len);
            Ok(len)
        }
    }

    fn chunks(text: Vec<u8>, step: usize) -> Result<Vec<Vec<u8>>, ChunkError> {
        let mut source = ChunkReader::new(Box::new(SlowReader(text, step)), FileFormat::CSV);
        source.look(|_| Ok::<_, ChunkError>(((), 0)))?;
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
        assert!(matches!(chunks(open, usize::MAX), Err(ChunkError::LongRow { .. })));
    }
}
