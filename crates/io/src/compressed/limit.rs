//! Limits on the bytes that a compressed stream may hold.

/// Bytes that every compressed stream may hold, unless the caller says otherwise.
const FLOOR_BYTES: u64 = 1 << 30;
/// Signed zones compress to a third or a tenth, unsigned ones of one pattern to a fiftieth; gzip itself ends at a thousandth.
const MAX_RATIO: u64 = 100;

/// The most bytes that a compressed stream may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextLimit {
    /// 1 GiB, or a hundred times what has been read of the compressed stream if that is more.
    #[default]
    Ratio,
    /// So many bytes.
    Bytes(u64),
}

impl TextLimit {
    /// Bytes that are allowed after so many compressed ones.
    #[must_use]
    pub fn max_bytes(self, compressed_bytes: u64) -> u64 {
        match self {
            Self::Ratio => compressed_bytes.saturating_mul(MAX_RATIO).max(FLOOR_BYTES),
            Self::Bytes(bytes) => bytes,
        }
    }
}
