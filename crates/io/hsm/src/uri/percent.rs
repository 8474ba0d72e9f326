//! Percent-encoding of attribute values. RFC 3986 2.1, RFC 7512 2.3.

use std::fmt;

use super::{UriError, UriPart};

/// The characters besides letters and digits that a value may have as they are, in the path and in the query:
/// `pk11-pchar` without `&`, which only the path allows.
const PLAIN: &[u8] = b"-._~:[]@!$'()*+,=";

/// Attributes that may be empty: tools write those of a token without them so, and the token has blanks there.
const MAY_BE_EMPTY: [&str; 4] = ["token", "serial", "manufacturer", "model"];

/// Returns the bytes of a value.
pub(super) fn decode(name: &'static str, value: &str, part: UriPart) -> Result<Vec<u8>, UriError> {
    if value.is_empty() && !MAY_BE_EMPTY.contains(&name) {
        return Err(UriError::Empty { name });
    }
    let bytes = value.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let digits =
                bytes.get(at + 1..at + 3).and_then(|digits| Some((hex(digits[0])?, hex(digits[1])?)));
            let (high, low) = digits.ok_or(UriError::Percent { name, at })?;
            decoded.push(high << 4 | low);
            at += 3;
        } else if is_allowed(*byte, part) {
            decoded.push(*byte);
            at += 1;
        } else {
            return Err(UriError::Character { name, at });
        }
    }
    // A path with a NUL names another file in C, and no label has one.
    if name != "id" && decoded.contains(&0) {
        return Err(UriError::Value { name, expected: "no zero byte" });
    }
    Ok(decoded)
}

/// Writes a text, with all bytes encoded that mean something in a URI.
pub(super) fn write_encoded(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for byte in text.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' | b':' => write!(f, "{}", char::from(byte))?,
            _ if byte.is_ascii_alphanumeric() => write!(f, "{}", char::from(byte))?,
            _ => write!(f, "%{byte:02X}")?,
        }
    }
    Ok(())
}

/// Writes an identifier, with every byte encoded. RFC 7512 2.3 asks for it.
pub(super) fn write_id(f: &mut fmt::Formatter<'_>, id: &[u8]) -> fmt::Result {
    id.iter().try_for_each(|byte| write!(f, "%{byte:02X}"))
}

fn is_allowed(byte: u8, part: UriPart) -> bool {
    let is_extra = match part {
        UriPart::Path => byte == b'&',
        UriPart::Query => matches!(byte, b'/' | b'?' | b'|'),
    };
    byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) || is_extra
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
