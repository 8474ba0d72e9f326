//! Finds the white space of 64 bytes at once.

use wide::u8x16;

/// The number of bytes in a block.
pub(super) const BLOCK: usize = 64;

/// The positions of white space and control characters in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlankMask {
    /// A bit for each byte that is a space or a control character. The lowest bit is the first byte.
    pub(super) low: u64,
    /// True if the block has a tab.
    pub(super) has_tab: bool,
}

impl BlankMask {
    #[inline]
    pub(super) fn find(block: &[u8; BLOCK]) -> Self {
        let (quarters, _) = block.as_chunks::<16>();
        let (space, tab) = (u8x16::splat(b' '), u8x16::splat(b'\t'));
        let (mut low, mut tabs) = (0, u8x16::ZERO);
        for (index, quarter) in quarters.iter().enumerate() {
            let bytes = u8x16::new(*quarter);
            // A byte is at most a space if the minimum of both is the byte. There is no unsigned comparison for bytes.
            low |= u64::from(bytes.min(space).simd_eq(bytes).to_bitmask()) << (16 * index);
            tabs |= bytes.simd_eq(tab);
        }
        Self { low, has_tab: tabs.to_bitmask() != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_bit() {
        for index in 0..BLOCK {
            for byte in 0..=u8::MAX {
                let mut block = [b'a'; BLOCK];
                block[index] = byte;
                let low = u64::from(byte <= b' ') << index;
                assert_eq!(
                    BlankMask::find(&block),
                    BlankMask { low, has_tab: byte == b'\t' },
                    "{byte} at {index}"
                );
            }
        }
    }
}
