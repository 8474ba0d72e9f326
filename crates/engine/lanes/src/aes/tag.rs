//! The tags of records that are sealed or opened.

use std::ops::Range;

use crate::simd::{SingleSimd, declassify};

/// The use of a computed tag.
#[derive(Clone, Copy)]
pub(super) enum TagAction<'a> {
    /// Write the tag at an offset, with a length.
    Write(usize, usize),
    /// Compare the tag with an expected one.
    Compare(&'a [u8]),
}

impl TagAction<'_> {
    /// Writes the tag, or compares it. If it is wrong, replaces the text of the record with zeros and returns false.
    #[inline(always)]
    pub(super) fn finish<S: SingleSimd>(
        self,
        simd: S,
        tag: S::Block,
        output: &mut [u8],
        text: Range<usize>,
    ) -> bool {
        match self {
            Self::Write(start, len) => simd.store_block_prefix(tag, &mut output[start..start + len]),
            Self::Compare(expected) => {
                let differs = simd.differ(tag, simd.load_block_at(expected, 0), expected.len());
                // The comparison has no early exit. Only its verdict is public, and the status reveals it anyway.
                if declassify(differs) {
                    // No plaintext may be released before its tag is verified. NIST SP 800-38D 7.2.
                    output[text].fill(0);
                    return false;
                }
            }
        }
        true
    }
}
