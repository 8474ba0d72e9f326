//! Files that may be compressed, read as streams and recognised by their first bytes.
//!
//! | item | purpose |
//! |---|---|
//! | [`open`] | opens a file or standard input, decompressed according to its first bytes |
//! | [`DecompressedInput`] | the stream; [`DecompressedInput::consumed`] is the position in the file, [`DecompressedInput::len_bytes`] its length |
//! | [`TextLimit`] | limits the size of a compressed stream, so that a small file cannot fill the memory |
//! | [`IncludedFiles`] | reads the files that a text includes, under one limit |
//! | [`DamagedError`] | reports a compressed stream that ends too early or is malformed |

mod damaged;
mod format;
mod included;
mod limit;
mod source;
#[cfg(test)]
mod tests;
mod zstd;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

pub use self::damaged::{DamagedError, StreamDamage};
pub use self::format::CompressionFormat;
pub use self::included::{IncludeError, IncludedFiles};
pub use self::limit::TextLimit;
pub use self::source::ConsumedBytes;
use self::source::{CompressedSource, WatchedSource};
use self::zstd::ZstdReader;

/// The path that stands for standard input.
pub const STDIN: &str = "-";

/// The maximum memory for the dictionary of an xz stream in KiB: four times that of `xz -9`.
const MAX_XZ_KIB: u32 = 256 << 10;
/// The number of bytes that one call of the xz decoder may return. A call that finds damage loses its output.
const XZ_READ_BYTES: usize = 4 << 10;
/// The number of bytes read from the file at once.
const BUFFER_BYTES: usize = 128 << 10;

/// The contents of a file, decompressed on the fly. Consecutive streams of any format are read as one.
///
/// A damaged stream yields all bytes before the damage, then an error that wraps a [`DamagedError`], and the same
/// error at every later call.
pub struct DecompressedInput {
    decoder: StreamDecoder,
    watched: Arc<WatchedSource>,
    len_bytes: Option<u64>,
    damaged: Option<DamagedError>,
    text_limit: Option<TextLimit>,
    text_bytes: u64,
}

enum StreamDecoder {
    Plain(BufReader<CompressedSource>),
    Gzip(Box<MultiGzDecoder<BufReader<CompressedSource>>>),
    Xz(Box<XzReader<BufReader<CompressedSource>>>),
    Zstd(Box<ZstdReader<BufReader<CompressedSource>>>),
}

/// Opens a file, or standard input if the path is `-`.
///
/// # Errors
/// The file cannot be opened, or its first bytes cannot be read.
pub fn open(path: &Path) -> io::Result<DecompressedInput> {
    if path == Path::new(STDIN) {
        return DecompressedInput::new(io::stdin());
    }
    let file = File::open(path)?;
    let about = file.metadata()?;
    let len_bytes = about.is_file().then_some(about.len());
    Ok(DecompressedInput { len_bytes, ..DecompressedInput::new(file)? })
}

impl DecompressedInput {
    /// Wraps a stream of unknown length.
    ///
    /// # Errors
    /// The first bytes cannot be read.
    pub fn new(inner: impl Read + Send + 'static) -> io::Result<Self> {
        let (source, watched, format) = CompressedSource::new(Box::new(inner))?;
        let source = BufReader::with_capacity(BUFFER_BYTES, source);
        let decoder = match format {
            None => StreamDecoder::Plain(source),
            Some(CompressionFormat::Gzip) => StreamDecoder::Gzip(Box::new(MultiGzDecoder::new(source))),
            Some(CompressionFormat::Xz) => {
                StreamDecoder::Xz(Box::new(XzReader::new_mem_limit(source, true, MAX_XZ_KIB)))
            }
            Some(CompressionFormat::Zstd) => StreamDecoder::Zstd(Box::new(ZstdReader::new(source))),
        };
        Ok(Self { decoder, watched, len_bytes: None, damaged: None, text_limit: None, text_bytes: 0 })
    }

    /// Ends a compressed stream with an error if it holds more than `limit`. Uncompressed streams have no limit.
    #[must_use]
    pub fn with_text_limit(self, limit: TextLimit) -> Self {
        Self { text_limit: Some(limit), ..self }
    }

    /// Returns the compression, or None for an uncompressed stream.
    #[must_use]
    pub fn format(&self) -> Option<CompressionFormat> {
        match self.decoder {
            StreamDecoder::Plain(_) => None,
            StreamDecoder::Gzip(_) => Some(CompressionFormat::Gzip),
            StreamDecoder::Xz(_) => Some(CompressionFormat::Xz),
            StreamDecoder::Zstd(_) => Some(CompressionFormat::Zstd),
        }
    }

    /// Returns the length of the file, compressed. Returns None for pipes, devices and standard input.
    #[must_use]
    pub fn len_bytes(&self) -> Option<u64> {
        self.len_bytes
    }

    /// Returns a handle that shows how much of the file has been read, for another thread.
    #[must_use]
    pub fn consumed(&self) -> ConsumedBytes {
        ConsumedBytes::new(Arc::clone(&self.watched))
    }

    /// Counts decompressed bytes and enforces the limit.
    fn count_text(&mut self, format: CompressionFormat, len: usize) -> io::Result<usize> {
        self.text_bytes = self.text_bytes.saturating_add(len as u64);
        let at_byte = self.watched.bytes();
        // The ratio is checked against the bytes read so far, so a bomb is noticed before it is decompressed.
        let Some(max_bytes) = self.text_limit.map(|limit| limit.max_bytes(at_byte)) else { return Ok(len) };
        if self.text_bytes <= max_bytes {
            return Ok(len);
        }
        let damaged = DamagedError { format, damage: StreamDamage::TooLong { max_bytes }, at_byte };
        self.damaged = Some(damaged.clone());
        Err(damaged.into())
    }

    /// Decides if an error of the decoder comes from the system or from the file.
    fn convert_error(&mut self, format: CompressionFormat, error: io::Error) -> io::Error {
        // Decoders wrap the errors of their source, and some turn them into errors of the format.
        if let Some(cause) = self.watched.take_error() {
            return cause;
        }
        let damage = match self.watched.is_at_end() {
            true => StreamDamage::Truncated,
            false => StreamDamage::Malformed(error.to_string()),
        };
        let damaged = DamagedError { format, damage, at_byte: self.watched.bytes() };
        self.damaged = Some(damaged.clone());
        damaged.into()
    }
}

impl Read for DecompressedInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(damaged) = &self.damaged {
            return Err(damaged.clone().into());
        }
        let read = match &mut self.decoder {
            StreamDecoder::Plain(source) => return source.read(buffer),
            StreamDecoder::Gzip(decoder) => decoder.read(buffer),
            StreamDecoder::Xz(decoder) => {
                let max = buffer.len().min(XZ_READ_BYTES);
                decoder.read(&mut buffer[..max])
            }
            StreamDecoder::Zstd(decoder) => decoder.read(buffer),
        };
        match (read, self.format()) {
            (Err(error), Some(format)) => Err(self.convert_error(format, error)),
            (Ok(len), Some(format)) => self.count_text(format, len),
            (read, None) => read,
        }
    }
}

impl std::fmt::Debug for DecompressedInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecompressedInput")
            .field("format", &self.format())
            .field("consumed_bytes", &self.watched.bytes())
            .field("len_bytes", &self.len_bytes)
            .finish_non_exhaustive()
    }
}
