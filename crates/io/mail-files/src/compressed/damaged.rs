//! Errors of compressed streams.

use std::io;

use super::CompressionFormat;

/// A compressed stream that cannot be read to its end. An [`io::Error`] wraps it: see [`DamagedError::find`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged {format} stream, about {at_byte} bytes in: {damage}")]
pub struct DamagedError {
    /// The format according to the first bytes.
    pub format: CompressionFormat,
    /// The kind of the damage.
    pub damage: StreamDamage,
    /// The number of compressed bytes read so far, at most one buffer beyond the damage.
    pub at_byte: u64,
}

/// The kind of damage to a compressed stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamDamage {
    /// The stream ends too early.
    #[error("it ends too early")]
    Truncated,
    /// A checksum or a field is wrong, the stream needs too much memory, or other bytes follow it.
    #[error("{0}")]
    Malformed(String),
    /// The stream holds more than its [`TextLimit`](super::TextLimit) allows.
    #[error("it decompresses to more than the {max_bytes} bytes that are allowed")]
    TooLong {
        /// The maximum number of bytes.
        max_bytes: u64,
    },
}

impl DamagedError {
    /// Returns the damage that an error of [`DecompressedInput`](super::DecompressedInput) wraps, if any.
    #[must_use]
    pub fn find(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<DamagedError> for io::Error {
    fn from(damaged: DamagedError) -> Self {
        let kind = match damaged.damage {
            StreamDamage::Truncated => io::ErrorKind::UnexpectedEof,
            StreamDamage::Malformed(_) | StreamDamage::TooLong { .. } => io::ErrorKind::InvalidData,
        };
        Self::new(kind, damaged)
    }
}
