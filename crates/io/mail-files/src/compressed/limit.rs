//! Limits on the bytes that a compressed stream may hold.

/// The number of bytes that every compressed stream may hold by default.
const MIN_LIMIT_BYTES: u64 = 1 << 30;
/// The maximum ratio. Signed zones compress to a third or a tenth, and unsigned zones of one pattern to a fiftieth.
/// The limit of gzip itself is about a thousandth.
const MAX_RATIO: u64 = 100;

/// The maximum number of bytes that a compressed stream may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextLimit {
    /// 1 GiB, or a hundred times the compressed bytes read so far if that is more.
    #[default]
    Ratio,
    /// A number of bytes.
    Bytes(u64),
}

impl TextLimit {
    /// Returns the maximum number of bytes that a stream may hold after `compressed_bytes` of input.
    #[must_use]
    pub fn max_bytes(self, compressed_bytes: u64) -> u64 {
        match self {
            Self::Ratio => compressed_bytes.saturating_mul(MAX_RATIO).max(MIN_LIMIT_BYTES),
            Self::Bytes(bytes) => bytes,
        }
    }
}
