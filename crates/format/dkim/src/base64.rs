//! Base64 with white space in it, the `base64string` of RFC 6376 2.10. It carries signatures, hashes and public keys,
//! none of which is secret.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use crate::tags::is_space;

/// Decodes base64 and ignores white space. The padding may be missing, as in many hand-made records.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut packed = vec![0; text.len()];
    let mut len = 0;
    // Writing every byte and advancing only for the kept ones has no branch to mispredict.
    for byte in text {
        packed[len] = *byte;
        len += usize::from(!is_space(*byte));
    }
    packed.truncate(len);
    let padding = packed.iter().rev().take_while(|byte| **byte == b'=').count();
    // Padding may be missing, but if it is there it must be right.
    if padding > 2 || (padding > 0 && !packed.len().is_multiple_of(4)) {
        return None;
    }
    packed.truncate(packed.len() - padding);
    STANDARD_NO_PAD.decode(&packed).ok()
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_white_space_and_rejects_garbage_in_base64() {
        assert_eq!(decode(b"aGVs\r\n\t bG8=").as_deref(), Some(&b"hello"[..]));
        assert_eq!(decode(b"aGVsbG8").as_deref(), Some(&b"hello"[..]));
        assert_eq!(decode(b"").as_deref(), Some(&b""[..]));
        assert_eq!(encode(b"hello"), "aGVsbG8=");
        for garbage in
            [&b"aGVsbG8=="[..], b"aG=VsbG8", b"aGVsb*8=", b"a", b"====", b"aGVsbG8=aGVsbG8=", b"aGVs\0"]
        {
            assert_eq!(decode(garbage), None, "{}", garbage.escape_ascii());
        }
    }
}
