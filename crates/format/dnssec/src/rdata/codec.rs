//! Hex, base64 and quoted strings of zone files, to and from bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memchr;

use crate::base32hex::read_base32hex;
use crate::name;
use crate::text::entries::EntryWords;
use crate::text::word::{EntryWord, WordKind};
use crate::text::{EntryError, Read};

const HEX: &[u8; 16] = b"0123456789ABCDEF";
/// The value of a byte that is not a digit.
const NONE: u8 = 0xff;
const HEX_VALUES: [u8; 256] = hex_values();

/// Returns the values of digits in either case.
const fn hex_values() -> [u8; 256] {
    let mut values = [NONE; 256];
    let mut value = 0;
    while value < HEX.len() {
        values[HEX[value] as usize] = value as u8;
        values[HEX[value].to_ascii_lowercase() as usize] = value as u8;
        value += 1;
    }
    values
}

/// Appends the bytes of base64 up to the entry's end, over any number of words. RFC 4648 section 4, padded.
#[inline]
pub(super) fn base64(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let Some(word) = words.next()? else { return Ok(()) };
    match words.is_done()? {
        true => base64_word(word, word.bytes(), out),
        false => base64_words(word, words, out),
    }
}

/// Decodes base64 of several words. A group of four characters may be split between words, so they are joined first.
pub(super) fn base64_words(first: EntryWord<'_>, words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let mut joined = first.bytes().to_vec();
    while let Some(word) = words.next()? {
        joined.extend_from_slice(word.bytes());
    }
    base64_word(first, &joined, out)
}

#[inline]
pub(super) fn base64_word(word: EntryWord<'_>, text: &[u8], out: &mut Vec<u8>) -> Read<()> {
    let start = out.len();
    // The decoder writes directly behind the earlier bytes. Public keys and signatures are most of a signed zone.
    out.resize(start + text.len().div_ceil(4) * 3, 0);
    match STANDARD.decode_slice(text, &mut out[start..]) {
        Ok(len) => {
            out.truncate(start + len);
            Ok(())
        }
        Err(_) => Err(EntryError::word(word, "base64")),
    }
}

pub(super) fn write_base64(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // unreachable because there is room for every group of four
    let len = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or(0);
    out.truncate(start + len);
}

/// Appends the bytes of hex up to the entry's end, over any number of words.
pub(crate) fn hex(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let mut half = None;
    let mut last = None;
    while let Some(word) = words.next()? {
        hex_part(word, word.bytes(), &mut half, out)?;
        last = Some(word);
    }
    match (half, last) {
        (Some(_), Some(word)) => Err(EntryError::word(word, "an even number of hexadecimal digits")),
        _ => Ok(()),
    }
}

/// Appends the bytes of one word of hex.
pub(super) fn hex_word(word: EntryWord<'_>, text: &[u8], out: &mut Vec<u8>) -> Read<()> {
    let mut half = None;
    hex_part(word, text, &mut half, out)?;
    match half {
        Some(_) => Err(EntryError::word(word, "an even number of hexadecimal digits")),
        None => Ok(()),
    }
}

/// Decodes one word of hex. `half` holds the digit that waits for its other half between words.
fn hex_part(word: EntryWord<'_>, text: &[u8], half: &mut Option<u8>, out: &mut Vec<u8>) -> Read<()> {
    let mut text = text;
    if let (Some(high), Some((first, rest))) = (*half, text.split_first()) {
        out.push(hex_byte(word, high, *first)?);
        (*half, text) = (None, rest);
    }
    let (pairs, odd) = text.as_chunks::<2>();
    let start = out.len();
    out.resize(start + pairs.len(), 0);
    // Bad digits are collected and checked after the loop. Without an early exit the loop is vectorised.
    let mut bad = 0;
    for (byte, [high, low]) in out[start..].iter_mut().zip(pairs) {
        let (high, low) = (HEX_VALUES[usize::from(*high)], HEX_VALUES[usize::from(*low)]);
        bad |= high | low;
        *byte = high << 4 | low;
    }
    if bad > 15 {
        return Err(EntryError::word(word, "hexadecimal digits"));
    }
    if let [odd] = odd {
        *half = Some(*odd);
        // The digit is checked now, so that an error names this word and not the next one.
        hex_byte(word, *odd, b'0')?;
    }
    Ok(())
}

#[inline]
fn hex_byte(word: EntryWord<'_>, high: u8, low: u8) -> Read<u8> {
    let (high, low) = (HEX_VALUES[usize::from(high)], HEX_VALUES[usize::from(low)]);
    // Digits have values below 16, so one comparison finds a bad digit of either kind.
    if (high | low) > 15 {
        return Err(EntryError::word(word, "hexadecimal digits"));
    }
    Ok(high << 4 | low)
}

pub(super) fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

/// Appends the bytes of base32hex without padding. RFC 5155 3.3, RFC 4648 section 7.
pub(super) fn base32(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    read_base32hex(word.bytes(), out).ok_or_else(|| EntryError::word(word, "base32hex"))
}

/// Appends the text of a word with its escapes resolved. RFC 1035 5.1.
pub(crate) fn unescape_into(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    let mut rest = word.bytes();
    while let Some(at) = memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        out.push(
            name::unescape(&mut rest).map_err(|_| EntryError::word(word, "a string with valid escapes"))?,
        );
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// Appends the length and the bytes of a string of up to 255 bytes.
pub(super) fn text(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    let start = out.len();
    out.push(0);
    match word.kind() {
        WordKind::Plain => out.extend_from_slice(word.bytes()),
        _ => unescape_into(word, out)?,
    }
    let len = out.len() - start - 1;
    out[start] = u8::try_from(len).map_err(|_| EntryError::word(word, "a string of up to 255 bytes"))?;
    Ok(())
}

/// Appends bytes as a quoted string.
pub(super) fn write_quoted(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    bytes.iter().for_each(|byte| write_quoted_byte(*byte, out));
    out.push(b'"');
}

pub(super) fn write_quoted_byte(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        b' '..=b'~' => out.push(byte),
        _ => out.extend_from_slice(&[b'\\', b'0' + byte / 100, b'0' + byte / 10 % 10, b'0' + byte % 10]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> EntryWord<'_> {
        EntryWord::new(text.as_bytes(), text.len(), WordKind::Plain)
    }

    #[test]
    fn rejects_odd_or_malformed_hex() {
        let mut out = Vec::new();
        hex_word(word("00fFa9"), b"00fFa9", &mut out).unwrap();
        assert_eq!(out, [0, 0xff, 0xa9]);
        for bad in ["0", "0g", "g", "0x00"] {
            assert!(hex_word(word(bad), bad.as_bytes(), &mut Vec::new()).is_err(), "{bad}");
        }
    }
}
