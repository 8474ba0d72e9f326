//! What can be wrong with a compressed stream.

use std::io;

use super::CompressionFormat;

/// A compressed stream that cannot be read to its end. It travels inside an [`io::Error`]: see [`DamagedError::of`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged {format} stream, about {at_byte} bytes in: {damage}")]
pub struct DamagedError {
    /// What the first bytes said it is.
    pub format: CompressionFormat,
    /// What is wrong.
    pub damage: StreamDamage,
    /// Compressed bytes read until then, at most one buffer beyond the place.
    pub at_byte: u64,
}

/// What is wrong with a compressed stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamDamage {
    /// It ends before its end.
    #[error("it ends too early")]
    Truncated,
    /// A checksum or a field is wrong, it needs more memory than is given, or something else follows it.
    #[error("{0}")]
    Malformed(String),
    /// It holds more than its [`TextLimit`](super::TextLimit) allows.
    #[error("it decompresses to more than the {max_bytes} bytes that are allowed")]
    TooLong {
        /// Bytes that are allowed.
        max_bytes: u64,
    },
}

impl DamagedError {
    /// The damage that an error of [`DecompressedInput`](super::DecompressedInput) tells of, if it does.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<&Self> {
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
