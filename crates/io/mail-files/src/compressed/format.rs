//! Compressed formats and their first bytes.

use std::fmt;

/// A format of compressed streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressionFormat {
    /// gzip (RFC 1952).
    Gzip,
    /// xz (The .xz File Format 1.2).
    Xz,
    /// Zstandard (RFC 8878).
    Zstd,
}

impl CompressionFormat {
    /// The number of bytes that identify every format.
    pub(super) const MAGIC_LEN: usize = 6;

    /// Returns the format of a stream with these first bytes.
    pub(super) fn detect(beginning: &[u8]) -> Option<Self> {
        match beginning {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // A skippable frame may come first (RFC 8878 3.1.2).
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

impl fmt::Display for CompressionFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        })
    }
}
