//! The padding of values that are not whole blocks.

use std::fmt;
use std::str::FromStr;

use crate::SecretBuffer;
use crate::error::UnknownName;

/// The padding of the last block of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// No padding. A value that is not whole blocks is rejected.
    #[default]
    None,
    /// PKCS #7: at least one byte is added, and each added byte holds their number. RFC 5652 6.3.
    Pkcs7,
}

impl Padding {
    /// All paddings.
    pub const ALL: [Self; 2] = [Self::None, Self::Pkcs7];

    /// Fills the last block of the value that begins at `start` of `data`.
    pub fn fill(self, block_len: usize, start: usize, data: &mut SecretBuffer) {
        if self == Self::Pkcs7 {
            let missing = block_len - (data.len() - start) % block_len;
            data.add(missing).fill(missing as u8);
        }
    }

    /// Removes the padding. Returns None if the padding is wrong. No branch before that depends on the position of
    /// the wrong byte or on the length of the padding: timing would show them to an attacker who can submit
    /// ciphertexts.
    #[must_use]
    pub fn strip(self, block_len: usize, value: &[u8]) -> Option<&[u8]> {
        match (self, value.last()) {
            (Self::None, _) => Some(value),
            (Self::Pkcs7, None) => None,
            (Self::Pkcs7, Some(last)) => {
                let count = u16::from(*last);
                // The count must be 1 to `block_len`.
                let mut bad = mask(count, 1) | mask(block_len as u16, count);
                for (index, byte) in (0..block_len as u16).zip(value.iter().rev()) {
                    // Every byte of the last block is compared, and the mask selects those of the padding.
                    bad |= mask(index, count) & (byte ^ last);
                }
                // A value of whole blocks that is not empty is at least as long as any valid padding.
                (bad == 0).then(|| &value[..value.len() - usize::from(*last)])
            }
        }
    }
}

/// Returns all ones if `left` is less than `right`, without a branch.
fn mask(left: u16, right: u16) -> u8 {
    // Both are at most 255, so only a negative difference has ones in its high byte.
    (left.wrapping_sub(right) >> 8) as u8
}

impl fmt::Display for Padding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Pkcs7 => "pkcs7",
        })
    }
}

impl FromStr for Padding {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        UnknownName::find(&Self::ALL, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_is_stripped() {
        for block_len in [8, 16] {
            for len in 0..40 {
                let mut data = SecretBuffer::default();
                data.extend(b"before");
                data.extend(&vec![16; len]);
                Padding::Pkcs7.fill(block_len, 6, &mut data);
                assert!((data.len() - 6).is_multiple_of(block_len) && data.len() - 6 > len);
                assert_eq!(Padding::Pkcs7.strip(block_len, &data[6..]), Some(&vec![16; len][..]));
            }
        }
    }

    #[test]
    fn every_wrong_byte_is_found() {
        let whole = [9, 9, 9, 5, 5, 5, 5, 5];
        assert_eq!(Padding::Pkcs7.strip(8, &whole), Some(&[9, 9, 9][..]));
        for at in 3..8 {
            for bit in 0..8 {
                let mut value = whole;
                value[at] ^= 1 << bit;
                let is_right = value[7] == 1;
                assert_eq!(Padding::Pkcs7.strip(8, &value).is_some(), is_right, "{value:?}");
            }
        }
        for count in [0, 9, 16, 17, 128, 255] {
            assert_eq!(Padding::Pkcs7.strip(8, &[count; 8]), None);
        }
        assert_eq!(Padding::Pkcs7.strip(16, &[17; 16]), None);
        assert_eq!(Padding::Pkcs7.strip(16, &[16; 16]), Some(&[][..]));
        assert_eq!(Padding::Pkcs7.strip(8, &[]), None);
        assert_eq!(Padding::None.strip(8, &[3]), Some(&[3][..]));
    }
}
