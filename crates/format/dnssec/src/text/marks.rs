//! The search for bytes at which a word may end, 64 bytes at a time.

use wide::u8x16;

/// The length of a block in bytes.
pub(crate) const BLOCK: usize = 64;

/// Returns a bit for each byte that is a blank, a control character or one of `"();\`, the lowest bit for the first
/// byte.
#[inline]
pub(crate) fn marks(block: &[u8; BLOCK]) -> u64 {
    let (quarters, _) = block.as_chunks::<16>();
    let mut marks = 0;
    for (index, quarter) in quarters.iter().enumerate() {
        let bytes = u8x16::new(*quarter);
        // `(` and `)` differ in the lowest bit only, so one comparison finds both.
        let found = bytes.min(u8x16::splat(b' ')).simd_eq(bytes)
            | bytes.simd_eq(u8x16::splat(b'"'))
            | (bytes | u8x16::splat(1)).simd_eq(u8x16::splat(b')'))
            | bytes.simd_eq(u8x16::splat(b';'))
            | bytes.simd_eq(u8x16::splat(b'\\'));
        marks |= u64::from(found.to_bitmask()) << (16 * index);
    }
    marks
}

/// Returns the block in lower case, and a bit for each dot.
#[inline]
pub(crate) fn lower_and_dots(block: &[u8; BLOCK]) -> ([u8; BLOCK], u64) {
    let (quarters, _) = block.as_chunks::<16>();
    let (mut lower, mut dots) = ([0; BLOCK], 0);
    let (outs, _) = lower.as_chunks_mut::<16>();
    for (index, quarter) in quarters.iter().enumerate() {
        let bytes = u8x16::new(*quarter);
        // Only `A` to `Z` are below 26 after the subtraction.
        let from_a = bytes - u8x16::splat(b'A');
        let is_capital = from_a.min(u8x16::splat(25)).simd_eq(from_a);
        outs[index] = (bytes | (is_capital & u8x16::splat(0x20))).to_array();
        dots |= u64::from(bytes.simd_eq(u8x16::splat(b'.')).to_bitmask()) << (16 * index);
    }
    (lower, dots)
}

/// Returns a bit for each byte at which two blocks agree.
#[inline]
pub(crate) fn equal(one: &[u8; BLOCK], two: &[u8; BLOCK]) -> u64 {
    let ((ones, _), (twos, _)) = (one.as_chunks::<16>(), two.as_chunks::<16>());
    let mut equal = 0;
    for (index, (one, two)) in ones.iter().zip(twos).enumerate() {
        equal |= u64::from(u8x16::new(*one).simd_eq(u8x16::new(*two)).to_bitmask()) << (16 * index);
    }
    equal
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
                let is_mark = byte <= b' ' || b"\"();\\".contains(&byte);
                assert_eq!(marks(&block), u64::from(is_mark) << index, "{byte} at {index}");
                let (lower, dots) = lower_and_dots(&block);
                assert_eq!(lower, block.map(|byte| byte.to_ascii_lowercase()));
                assert_eq!(dots, u64::from(byte == b'.') << index);
            }
        }
    }
}
