//! The file below a decoder, and its position.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::CompressionFormat;

/// The bytes of the file, including those that identified the format.
pub(super) struct CompressedSource {
    inner: Box<dyn Read + Send>,
    beginning: [u8; CompressionFormat::MAGIC_LEN],
    /// The part of the first bytes that has not been returned yet.
    left: std::ops::Range<usize>,
    watched: Arc<WatchedSource>,
}

/// The state of a source that a decoder owns.
#[derive(Debug, Default)]
pub(super) struct WatchedSource {
    bytes: AtomicU64,
    is_at_end: AtomicBool,
    /// The error of the system, which decoders wrap or lose.
    error: Mutex<Option<io::Error>>,
}

/// A handle that shows how much of a file has been read.
#[derive(Clone, Debug)]
pub struct ConsumedBytes(Arc<WatchedSource>);

impl ConsumedBytes {
    pub(super) fn new(watched: Arc<WatchedSource>) -> Self {
        Self(watched)
    }

    /// Returns the number of compressed bytes that have been read, at most one buffer ahead of the decompressed ones.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }
}

impl CompressedSource {
    /// Reads the first bytes and recognises their format.
    pub(super) fn new(
        mut inner: Box<dyn Read + Send>,
    ) -> io::Result<(Self, Arc<WatchedSource>, Option<CompressionFormat>)> {
        let mut beginning = Vec::with_capacity(CompressionFormat::MAGIC_LEN);
        (&mut inner).take(CompressionFormat::MAGIC_LEN as u64).read_to_end(&mut beginning)?;
        let format = CompressionFormat::detect(&beginning);
        let watched = Arc::new(WatchedSource::default());
        let mut kept = [0; CompressionFormat::MAGIC_LEN];
        kept[..beginning.len()].copy_from_slice(&beginning);
        let source = Self { inner, beginning: kept, left: 0..beginning.len(), watched: Arc::clone(&watched) };
        Ok((source, watched, format))
    }

    fn read_beginning(&mut self, buffer: &mut [u8]) -> usize {
        let len = buffer.len().min(self.left.len());
        let start = self.left.start;
        buffer[..len].copy_from_slice(&self.beginning[start..start + len]);
        self.left.start += len;
        len
    }

    fn read_inner(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.inner.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.watched.keep_error(error)),
                Ok(0) if !buffer.is_empty() => {
                    // Only the thread that decodes reads this flag.
                    self.watched.is_at_end.store(true, Ordering::Relaxed);
                    return Ok(0);
                }
                read => return read,
            }
        }
    }
}

impl Read for CompressedSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = match self.left.is_empty() {
            true => self.read_inner(buffer)?,
            false => self.read_beginning(buffer),
        };
        // Another thread shows the progress. It needs no order with other memory.
        self.watched.bytes.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

impl WatchedSource {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns true if a read came after the last byte.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_at_end.load(Ordering::Relaxed)
    }

    pub(super) fn take_error(&self) -> Option<io::Error> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps the error and returns one of the same kind for the decoder.
    fn keep_error(&self, error: io::Error) -> io::Error {
        let kind = error.kind();
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        kind.into()
    }
}
