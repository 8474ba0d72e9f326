//! Service parameters. RFC 9460.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::{codec, dohpath, parse as text_of, print as text};
use crate::data_error::DataError;
use crate::text::entries::EntryWords;
use crate::text::word::{EntryWord, WordKind, digits};
use crate::text::{EntryError, Read};

const MANDATORY: u16 = 0;
const ALPN: u16 = 1;
const NO_DEFAULT_ALPN: u16 = 2;
const PORT: u16 = 3;
const IPV4HINT: u16 = 4;
const ECH: u16 = 5;
const IPV6HINT: u16 = 6;
const DOHPATH: u16 = 7;
const OHTTP: u16 = 8;
const TLS_SUPPORTED_GROUPS: u16 = 9;
const DOCPATH: u16 = 10;
const PVD: u16 = 11;
const OOTS: u16 = 12;

/// The registered keys. RFC 9460 14.3.2, RFC 9461 section 5, RFC 9540 section 4, RFC 9953 3.2, and IANA's registry for
/// those of drafts. No RFC fixes the text of `pvd` and `oots`, so their values are bytes as written.
const KEYS: [(&str, u16); 13] = [
    ("mandatory", MANDATORY),
    ("alpn", ALPN),
    ("no-default-alpn", NO_DEFAULT_ALPN),
    ("port", PORT),
    ("ipv4hint", IPV4HINT),
    ("ech", ECH),
    ("ipv6hint", IPV6HINT),
    ("dohpath", DOHPATH),
    ("ohttp", OHTTP),
    ("tls-supported-groups", TLS_SUPPORTED_GROUPS),
    ("docpath", DOCPATH),
    ("pvd", PVD),
    ("oots", OOTS),
];

/// The last key that BIND 9.18 and Knot DNS 3.2 know by name. Later keys are written by number.
const LAST_WIDELY_NAMED: u16 = IPV6HINT;
const PARAMETER: &str = "a parameter in small letters (mandatory, alpn, no-default-alpn, port, ipv4hint, ech, ipv6hint, dohpath, \
                         ohttp, tls-supported-groups, docpath, pvd, oots, or key0 to key65534)";

type Value = SmallVec<[u8; 64]>;

/// Parses parameters up to the entry's end and sorts them by key.
pub(super) fn parse(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let mut parameters = SmallVec::<[(u16, Value); 4]>::new();
    while let Some(word) = words.next_pair()? {
        let (name, text) = split(word)?;
        let key = key(name).ok_or_else(|| EntryError::word(word, PARAMETER))?;
        parameters.push((key, value(key, word, text.as_deref())?));
    }
    // RFC 9460 2.2: keys ascend in wire format, while a zone file has them in any order. A key that occurs twice is
    // found by `check`.
    parameters.sort_by_key(|(key, _)| *key);
    let start = out.len();
    for (key, value) in &parameters {
        let len =
            u16::try_from(value.len()).map_err(|_| DataError::Field("a value of more than 65535 bytes"))?;
        out.extend_from_slice(&key.to_be_bytes());
        out.extend_from_slice(&len.to_be_bytes());
        out.extend_from_slice(value);
    }
    check(&out[start..])?;
    Ok(())
}

/// A key as written, and the text of its value.
type Parameter<'t> = (&'t [u8], Option<Cow<'t, [u8]>>);

/// Splits a word into its key and its value, with quotes and escapes resolved.
fn split(word: EntryWord<'_>) -> Read<Parameter<'_>> {
    let bytes = word.bytes();
    if word.kind() == WordKind::Quoted {
        return Err(EntryError::word(word, PARAMETER));
    }
    let Some(at) = bytes.iter().position(|byte| *byte == b'=') else { return Ok((bytes, None)) };
    let (name, text) = (&bytes[..at], &bytes[at + 1..]);
    let text = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text);
    if !text.contains(&b'\\') {
        return Ok((name, Some(Cow::Borrowed(text))));
    }
    let mut plain = Vec::new();
    codec::unescape_into(EntryWord::new(text, text.len(), WordKind::Escaped), &mut plain)?;
    Ok((name, Some(Cow::Owned(plain))))
}

/// Parses a key. Keys are in lower case only. RFC 9460 2.1.
fn key(name: &[u8]) -> Option<u16> {
    if let Some((_, key)) = KEYS.iter().find(|(known, _)| known.as_bytes() == name) {
        return Some(*key);
    }
    let number = name.strip_prefix(b"key")?;
    // RFC 9460 2.1 forbids leading zeros, so each key has one spelling.
    let is_plain = number == b"0" || !number.starts_with(b"0");
    digits(number).filter(|_| is_plain).and_then(|number| u16::try_from(number).ok())
}

fn value(key: u16, word: EntryWord<'_>, text: Option<&[u8]>) -> Read<Value> {
    let bad = |expected| EntryError::word(word, expected);
    // `keyNNNNN` gives the value as bytes, for every key.
    let is_generic = word.bytes().get(..3).is_some_and(|name| name.eq_ignore_ascii_case(b"key"));
    let text = text.unwrap_or_default();
    let mut out = Value::new();
    match key {
        _ if is_generic => out.extend_from_slice(text),
        MANDATORY => mandatory(text, &mut out).ok_or_else(|| bad("a list of other keys"))?,
        ALPN => alpn(text, &mut out).ok_or_else(|| bad("a list of protocols"))?,
        PORT => {
            let port = digits(text).and_then(|port| u16::try_from(port).ok()).ok_or_else(|| bad("a port"))?;
            out.extend_from_slice(&port.to_be_bytes());
        }
        IPV4HINT | IPV6HINT => {
            for address in text.split(|byte| *byte == b',') {
                let address = EntryWord::new(address, address.len(), WordKind::Plain);
                match key {
                    IPV4HINT => out.extend_from_slice(&text_of::ip4(address)?.octets()),
                    _ => out.extend_from_slice(&text_of::ip6(address)?.octets()),
                }
            }
        }
        TLS_SUPPORTED_GROUPS => {
            groups(text, &mut out).ok_or_else(|| bad("a list of numbers of TLS groups"))?;
        }
        DOCPATH if text.is_empty() => {}
        DOCPATH => alpn(text, &mut out).ok_or_else(|| bad("a list of segments of a path"))?,
        ECH => {
            let mut bytes = Vec::new();
            codec::base64_word(word, text, &mut bytes)?;
            out.extend_from_slice(&bytes);
        }
        _ => out.extend_from_slice(text),
    }
    Ok(out)
}

fn mandatory(text: &[u8], out: &mut Value) -> Option<()> {
    let mut keys = text.split(|byte| *byte == b',').map(key).collect::<Option<SmallVec<[u16; 8]>>>()?;
    // RFC 9460 section 8: in wire format this list is in ascending order too.
    keys.sort_unstable();
    keys.iter().for_each(|key| out.extend_from_slice(&key.to_be_bytes()));
    Some(())
}

/// Parses numbers between commas. draft-ietf-tls-key-share-prediction section 3.
fn groups(text: &[u8], out: &mut Value) -> Option<()> {
    for number in text.split(|byte| *byte == b',') {
        let group = digits(number).and_then(|number| u16::try_from(number).ok())?;
        out.extend_from_slice(&group.to_be_bytes());
    }
    Some(())
}

/// Parses protocols, or segments of a path, between commas. A comma or backslash within one has a backslash before it.
/// RFC 9460 A.1.
fn alpn(text: &[u8], out: &mut Value) -> Option<()> {
    let mut length_at = out.len();
    out.push(0);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b',' => {
                end_protocol(out, length_at)?;
                length_at = out.len();
                out.push(0);
            }
            // This is the second level of escapes. The first one, of the zone file, has been resolved already.
            b'\\' => out.push(*bytes.next()?),
            byte => out.push(*byte),
        }
    }
    end_protocol(out, length_at)
}

fn end_protocol(out: &mut Value, length_at: usize) -> Option<()> {
    out[length_at] = u8::try_from(out.len() - length_at - 1).ok().filter(|len| *len > 0)?;
    Some(())
}

/// Splits off the first parameter.
fn first(rest: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let [key_high, key_low, high, low, rest @ ..] = rest else { return None };
    let (value, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))?;
    Some((u16::from_be_bytes([*key_high, *key_low]), value, rest))
}

fn has(all: &[u8], wanted: u16) -> bool {
    let mut rest = all;
    while let Some((key, _, after)) = first(rest) {
        if key == wanted {
            return true;
        }
        rest = after;
    }
    false
}

pub(super) fn check(all: &[u8]) -> Result<usize, DataError> {
    let mut rest = all;
    let mut before = None;
    while !rest.is_empty() {
        let (key, value, after) = first(rest).ok_or(DataError::Short)?;
        if before.is_some_and(|before| before >= key) {
            return Err(DataError::Field("parameters that repeat or are not in order"));
        }
        check_value(key, value, all)?;
        before = Some(key);
        rest = after;
    }
    Ok(all.len())
}

fn check_value(key: u16, value: &[u8], all: &[u8]) -> Result<(), DataError> {
    let (is_good, error) = match key {
        MANDATORY => {
            (is_mandatory(value, all), "mandatory keys that are not there, repeat or are not in order")
        }
        ALPN => (is_alpn(value), "an alpn that is not a list of protocols"),
        NO_DEFAULT_ALPN => {
            // RFC 9460 7.1.1: without `alpn` and without the default protocol, the record offers nothing.
            (value.is_empty() && has(all, ALPN), "no-default-alpn with a value or without alpn")
        }
        PORT => (value.len() == 2, "a port that does not have two bytes"),
        IPV4HINT => (
            !value.is_empty() && value.len().is_multiple_of(4),
            "an ipv4hint that is not a list of addresses",
        ),
        IPV6HINT => (
            !value.is_empty() && value.len().is_multiple_of(16),
            "an ipv6hint that is not a list of addresses",
        ),
        DOHPATH => (
            dohpath::is_template(value),
            "a dohpath that is not a template in UTF-8 that begins with / and has the variable dns, such as /dns-query{?dns}",
        ),
        OHTTP => (value.is_empty(), "an ohttp with a value"),
        TLS_SUPPORTED_GROUPS => (
            !value.is_empty() && value.len().is_multiple_of(2),
            "tls-supported-groups that are not a list of numbers of 16 bits",
        ),
        // RFC 9953 3.2: the root path has no segments.
        DOCPATH => (value.is_empty() || is_alpn(value), "a docpath that is not a list of segments"),
        // RFC 9460 14.3.2 reserves it as an invalid key.
        u16::MAX => (false, "the key 65535"),
        _ => (true, ""),
    };
    if is_good { Ok(()) } else { Err(DataError::Field(error)) }
}

/// Checks the list of mandatory keys. RFC 9460 section 8.
fn is_mandatory(value: &[u8], all: &[u8]) -> bool {
    let (pairs, odd) = value.as_chunks::<2>();
    let keys = || pairs.iter().map(|pair| u16::from_be_bytes(*pair));
    !value.is_empty()
        && odd.is_empty()
        && keys().zip(keys().skip(1)).all(|(one, two)| one < two)
        && keys().all(|key| key != MANDATORY && has(all, key))
}

fn is_alpn(value: &[u8]) -> bool {
    let mut rest = value;
    while let [len, after @ ..] = rest {
        match after.get(usize::from(*len)..) {
            Some(after) if *len > 0 => rest = after,
            _ => return false,
        }
    }
    !value.is_empty()
}

pub(super) fn print(all: &[u8], out: &mut Vec<u8>) {
    let mut rest = all;
    while let Some((key, value, after)) = first(rest) {
        if rest.len() < all.len() {
            out.push(b' ');
        }
        print_key(key, value.is_empty(), out);
        if !value.is_empty() {
            out.push(b'=');
            print_value(key, value, out);
        }
        rest = after;
    }
}

/// Prints a key. Knot DNS 3.2 reads `ech` without a value by number only.
fn print_key(key: u16, is_alone: bool, out: &mut Vec<u8>) {
    let is_named = key <= LAST_WIDELY_NAMED && !(key == ECH && is_alone);
    match KEYS.iter().find(|(_, number)| *number == key && is_named) {
        Some((name, _)) => out.extend_from_slice(name.as_bytes()),
        None => {
            out.extend_from_slice(b"key");
            text::digits(key.into(), out);
        }
    }
}

fn print_value(key: u16, value: &[u8], out: &mut Vec<u8>) {
    match key {
        MANDATORY => {
            print_list(value.as_chunks::<2>().0, out, |key, out| {
                print_key(u16::from_be_bytes(*key), false, out);
            });
        }
        ALPN => print_alpn(value, out),
        PORT => text::digits(value.iter().fold(0, |port, byte| port << 8 | u32::from(*byte)), out),
        IPV4HINT => print_list(value.as_chunks::<4>().0, out, |address, out| text::ip4(address, out)),
        IPV6HINT => print_list(value.as_chunks::<16>().0, out, |address, out| text::ip6(address, out)),
        ECH => codec::write_base64(value, out),
        _ => codec::write_quoted(value, out),
    }
}

fn print_list<T>(items: &[T], out: &mut Vec<u8>, print: impl Fn(&T, &mut Vec<u8>)) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        print(item, out);
    }
}

fn print_alpn(value: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = value;
    while let [len, after @ ..] = rest {
        if rest.len() < value.len() {
            out.push(b',');
        }
        let (protocol, after) = after.split_at(usize::from(*len));
        for byte in protocol {
            // The backslash before a comma or a backslash is escaped itself, because the text has two levels of
            // escapes.
            if matches!(byte, b',' | b'\\') {
                codec::write_quoted_byte(b'\\', out);
            }
            codec::write_quoted_byte(*byte, out);
        }
        rest = after;
    }
    out.push(b'"');
}
