//! Which bytes of a block are white space, told for 64 of them at once.

use wide::u8x16;

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;

/// A bit for each byte of a block, the lowest for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Classes {
    pub(super) space: u64,
    pub(super) tab: u64,
    pub(super) cr: u64,
}

impl Classes {
    #[inline]
    pub(super) fn of(block: &[u8; BLOCK]) -> Self {
        let (quarters, _) = block.as_chunks::<16>();
        let mut classes = Self { space: 0, tab: 0, cr: 0 };
        for (place, quarter) in quarters.iter().enumerate() {
            let bytes = u8x16::new(*quarter);
            let bits =
                |wanted: u8| u64::from(bytes.simd_eq(u8x16::splat(wanted)).to_bitmask()) << (16 * place);
            classes.space |= bits(b' ');
            classes.tab |= bits(b'\t');
            classes.cr |= bits(b'\r');
        }
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_bit() {
        for place in 0..BLOCK {
            let mut block = [b'a'; BLOCK];
            assert_eq!(Classes::of(&block), Classes { space: 0, tab: 0, cr: 0 });
            block[place] = b' ';
            assert_eq!(Classes::of(&block), Classes { space: 1 << place, tab: 0, cr: 0 });
            block[place] = b'\t';
            assert_eq!(Classes::of(&block), Classes { space: 0, tab: 1 << place, cr: 0 });
            block[place] = b'\r';
            assert_eq!(Classes::of(&block), Classes { space: 0, tab: 0, cr: 1 << place });
        }
    }
}
