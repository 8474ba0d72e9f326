//! Base 32 with the extended hex alphabet and without padding, for the hashed names of NSEC3. RFC 4648 section 7, RFC
//! 5155 1.3.

const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

/// Returns the number of characters that encode `len` bytes.
#[must_use]
pub fn base32hex_len(len_bytes: usize) -> usize {
    (8 * len_bytes).div_ceil(5)
}

/// Appends bytes as text, in lower case.
pub fn write_base32hex(bytes: &[u8], out: &mut Vec<u8>) {
    for group in bytes.chunks(5) {
        let mut whole = [0; 8];
        whole[3..3 + group.len()].copy_from_slice(group);
        let bits = u64::from_be_bytes(whole);
        for digit in 0..base32hex_len(group.len()) {
            out.push(DIGITS[(bits >> (35 - 5 * digit)) as usize % 32]);
        }
    }
}

/// Decodes a text in any case and appends its bytes. If the text is malformed, returns None and appends nothing.
#[must_use]
pub fn read_base32hex(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let before = out.len();
    let read = text.chunks(8).try_for_each(|group| {
        let bytes = 5 * group.len() / 8;
        let mut bits = 0;
        for character in group {
            bits = bits << 5 | digit(*character)?;
        }
        // Eight characters encode five bytes. A shorter group at the end is padded with zero bits.
        bits <<= 40 - 5 * group.len();
        let whole = u64::to_be_bytes(bits);
        out.extend_from_slice(&whole[3..3 + bytes]);
        // A group of 1, 3 or 6 characters encodes no whole byte, and unused bits must be zero.
        (base32hex_len(bytes) == group.len() && whole[3 + bytes..].iter().all(|byte| *byte == 0))
            .then_some(())
    });
    if read.is_none() {
        out.truncate(before);
    }
    read
}

fn digit(character: u8) -> Option<u64> {
    Some(u64::from(match character {
        b'0'..=b'9' => character - b'0',
        b'a'..=b'v' => character - b'a' + 10,
        b'A'..=b'V' => character - b'A' + 10,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Option<Vec<u8>> {
        let mut out = b"x".to_vec();
        let read = read_base32hex(text, &mut out);
        assert!(read.is_some() || out == b"x");
        read.map(|()| out.split_off(1))
    }

    /// RFC 4648 section 10, without padding.
    #[test]
    fn encodes_the_examples_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "co"),
            ("fo", "cpng"),
            ("foo", "cpnmu"),
            ("foob", "cpnmuog"),
            ("fooba", "cpnmuoj1"),
            ("foobar", "cpnmuoj1e8"),
        ] {
            let mut out = Vec::new();
            write_base32hex(bytes.as_bytes(), &mut out);
            assert_eq!(out, text.as_bytes());
            assert_eq!(base32hex_len(bytes.len()), text.len());
            assert_eq!(read(text.as_bytes()).unwrap(), bytes.as_bytes());
            assert_eq!(read(text.to_uppercase().as_bytes()).unwrap(), bytes.as_bytes());
        }
    }

    #[test]
    fn rejects_malformed_base32hex() {
        for text in ["c", "cpn", "cpnmuo", "cw", "cp", "co======", "cpnmuoj1e"] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
