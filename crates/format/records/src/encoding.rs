//! Bytes as text: hexadecimal and Base64 (RFC 4648). No table is indexed by a secret, because cache timing would
//! reveal it.

use std::fmt;
use std::str::FromStr;

use base64ct::Encoding as _;

use crate::SecretBuffer;
use crate::error::UnknownName;

/// The encoding of values in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Hexadecimal: read in either case, written in lower case. RFC 4648 section 8.
    #[default]
    Hex,
    /// Base64 with padding. RFC 4648 section 4.
    Base64,
    /// UTF-8 plaintext. Ciphertexts, IVs, tags and codes are then hexadecimal.
    Text,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Self; 3] = [Self::Hex, Self::Base64, Self::Text];

    /// Returns the encoding of binary bytes: hexadecimal in the place of text.
    #[must_use]
    pub fn of_binary(self) -> Self {
        if self == Self::Text { Self::Hex } else { self }
    }

    /// Decodes `text` and adds the bytes. Returns None and adds nothing if the text is not in this encoding.
    pub fn decode(self, text: &[u8], bytes: &mut SecretBuffer) -> Option<usize> {
        let start = bytes.len();
        let decoded = match self {
            Self::Hex if !text.len().is_multiple_of(2) => None,
            Self::Hex => {
                let out = bytes.add(text.len() / 2);
                decode_hex(text, out).then_some(text.len() / 2)
            }
            Self::Base64 => {
                let out = bytes.add(text.len() / 4 * 3);
                base64ct::Base64::decode(text, out).ok().map(<[u8]>::len)
            }
            Self::Text => std::str::from_utf8(text).ok().map(|text| {
                bytes.extend(text.as_bytes());
                text.len()
            }),
        };
        bytes.truncate(start + decoded.unwrap_or(0));
        decoded
    }

    /// Encodes `bytes` and adds the text.
    pub fn encode(self, bytes: &[u8], text: &mut SecretBuffer) {
        match self {
            Self::Hex => encode_hex(bytes, text.add(2 * bytes.len())),
            Self::Base64 => {
                let out = text.add(bytes.len().div_ceil(3) * 4);
                // unreachable because `out` is exactly as long as the text
                let encoded = base64ct::Base64::encode(bytes, out);
                debug_assert!(encoded.is_ok());
            }
            Self::Text => text.extend(bytes),
        }
    }
}

/// Decodes hexadecimal digits. Every digit takes the same steps, so the time is constant and the compiler can
/// vectorise the loop.
fn decode_hex(text: &[u8], bytes: &mut [u8]) -> bool {
    let mut bad = 0;
    for (byte, [high, low]) in bytes.iter_mut().zip(text.as_chunks().0) {
        let (high, low) = (digit(*high), digit(*low));
        bad |= high | low;
        *byte = high << 4 | low & 15;
    }
    // Digits are 0 to 15, and anything else has set the high bits.
    bad < 16
}

/// Returns 0 to 15, or 255 if the character is not a digit.
#[inline]
fn digit(character: u8) -> u8 {
    // Bit 0x20 turns capital letters into small ones.
    let (decimal, letter) = (character.wrapping_sub(b'0'), (character | 0x20).wrapping_sub(b'a'));
    // All ones if the character is in the range.
    let is_decimal = 0_u8.wrapping_sub(u8::from(decimal < 10));
    let is_letter = 0_u8.wrapping_sub(u8::from(letter < 6));
    decimal & is_decimal | letter.wrapping_add(10) & is_letter | !(is_decimal | is_letter)
}

fn encode_hex(bytes: &[u8], text: &mut [u8]) {
    for (byte, [high, low]) in bytes.iter().zip(text.as_chunks_mut().0) {
        (*high, *low) = (character(byte >> 4), character(byte & 15));
    }
}

#[inline]
fn character(digit: u8) -> u8 {
    let is_letter = 0_u8.wrapping_sub(u8::from(digit > 9));
    // In ASCII, the letters begin a fixed distance behind the digits.
    b'0' + digit + (is_letter & (b'a' - b'0' - 10))
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hex => "hex",
            Self::Base64 => "base64",
            Self::Text => "text",
        })
    }
}

impl FromStr for Encoding {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        UnknownName::find(&Self::ALL, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(encoding: Encoding, text: &str) -> Option<Vec<u8>> {
        let mut bytes = SecretBuffer::default();
        bytes.extend(b"x");
        let len = encoding.decode(text.as_bytes(), &mut bytes);
        assert_eq!(bytes.len(), 1 + len.unwrap_or(0), "nothing is left of what is no such text");
        len.map(|_| bytes[1..].to_vec())
    }

    fn encoded(encoding: Encoding, bytes: &[u8]) -> String {
        let mut text = SecretBuffer::default();
        encoding.encode(bytes, &mut text);
        String::from_utf8(text.to_vec()).unwrap()
    }

    /// RFC 4648 section 10.
    #[test]
    fn the_vectors_of_the_standard() {
        let cases = [
            ("", "", ""),
            ("f", "66", "Zg=="),
            ("fo", "666f", "Zm8="),
            ("foo", "666f6f", "Zm9v"),
            ("foob", "666f6f62", "Zm9vYg=="),
            ("fooba", "666f6f6261", "Zm9vYmE="),
            ("foobar", "666f6f626172", "Zm9vYmFy"),
        ];
        for (plain, hex, base64) in cases {
            for (encoding, text) in [(Encoding::Hex, hex), (Encoding::Base64, base64)] {
                assert_eq!(encoded(encoding, plain.as_bytes()), text);
                assert_eq!(decoded(encoding, text).unwrap(), plain.as_bytes());
            }
        }
    }

    #[test]
    fn every_byte_there_and_back_at_every_length() {
        let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for len in (0..100).chain([511, 512]) {
            for encoding in [Encoding::Hex, Encoding::Base64] {
                let text = encoded(encoding, &all[..len]);
                assert_eq!(decoded(encoding, &text).unwrap(), all[..len]);
            }
            let upper = encoded(Encoding::Hex, &all[..len]).to_uppercase();
            assert_eq!(decoded(Encoding::Hex, &upper).unwrap(), all[..len]);
        }
    }

    #[test]
    fn what_is_no_digit_is_found_wherever_it_stands() {
        for character in (0..=255_u8).filter(|character| !character.is_ascii_hexdigit()) {
            for at in 0..66 {
                let mut text = [b'7'; 66];
                text[at] = character;
                let mut bytes = SecretBuffer::default();
                assert_eq!(Encoding::Hex.decode(&text, &mut bytes), None, "{character} at {at}");
            }
        }
        assert_eq!(decoded(Encoding::Hex, "123"), None);
        for bad in ["Zg", "Zg=", "Zg===", "Z===", "Zh==", "Zm8", "Zm9v\n", "Zm 9", "Zm-_", "===="] {
            assert_eq!(decoded(Encoding::Base64, bad), None, "{bad:?}");
        }
    }
}
