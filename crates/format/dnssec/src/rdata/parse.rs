//! Text into wire format.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::fields::{DataField, fields};
use super::{
    bitmap, codec, historic, hosts, lengths, location, mnemonics, prefixes, regexp, service, time, wire,
};
use crate::name::LetterCase;
use crate::rtype::RecordType;
use crate::text::entries::EntryWords;
use crate::text::names::{self, ZoneOrigin};
use crate::text::word::{EntryWord, WordKind, digits};
use crate::text::{EntryError, Read};

const ALGORITHM: &str = "an algorithm";
const BYTE: &str = "a number up to 255";
const SHORT: &str = "a number up to 65535";
const LONG: &str = "a number up to 4294967295";
const PERIOD: &str = "a time in seconds";
const KEY_FLAGS: &str = "flags up to 65535, or their mnemonics with | between them, such as ZONE|KSK";
const KEY_PROTOCOL: &str = "a protocol up to 255, NONE, TLS, EMAIL, DNSSEC, IPSEC or ALL";
const NODE: &str = "a number up to 18446744073709551615, or two up to 4294967295 with a dot between them";
const TIME: &str = "a time as YYYYMMDDHHmmSS, or seconds since 1970";
const NAME: &str = "a name";
/// The words that name a type.
pub(super) const TYPE: &str = "a registered type, or TYPE and a number up to 65535";

/// Parses the remaining words of an entry as data of a type, and appends it in canonical form.
#[inline]
pub(crate) fn parse(
    rtype: RecordType,
    words: &mut EntryWords<'_>,
    origin: Option<ZoneOrigin<'_>>,
    out: &mut Vec<u8>,
) -> Read<()> {
    if words.passes_generic()? {
        return generic(rtype, words, out);
    }
    if rtype == RecordType::RRSIG {
        signature(words, origin, out)?;
        return words.end();
    }
    let fields = fields(rtype).ok_or(EntryError::GenericOnly(rtype))?;
    let start = out.len();
    for each in fields {
        field(*each, words, origin, out)?;
    }
    words.end()?;
    Ok(lengths::check(rtype, &out[start..])?)
}

/// Parses a signature. Half of the records of a signed zone are signatures, so their fields are not looked up one by
/// one.
fn signature(words: &mut EntryWords<'_>, origin: Option<ZoneOrigin<'_>>, out: &mut Vec<u8>) -> Read<()> {
    let covered = covered(words)?.0.to_be_bytes();
    let algorithm = named(words, ALGORITHM, u8::MAX.into(), mnemonics::algorithm)? as u8;
    let labels = words.require(BYTE)?.number(u8::MAX.into(), BYTE)? as u8;
    let ttl = words.require(LONG)?.number(u32::MAX, LONG)?;
    let numbers = [ttl, time(words.require(TIME)?)?, time(words.require(TIME)?)?];
    let tag = words.require(SHORT)?.number(u16::MAX.into(), SHORT)? as u16;
    // The fields of fixed length, written with one copy. RFC 4034 3.1.
    let mut start = [0; 18];
    start[..2].copy_from_slice(&covered);
    (start[2], start[3]) = (algorithm, labels);
    for (index, number) in numbers.into_iter().enumerate() {
        start[4 + 4 * index..8 + 4 * index].copy_from_slice(&number.to_be_bytes());
    }
    start[16..].copy_from_slice(&tag.to_be_bytes());
    out.extend_from_slice(&start);
    names::write(words.require(NAME)?, origin, LetterCase::Lower, out)?;
    coded(DataField::Base64, words, out)
}

#[inline]
fn covered(words: &mut EntryWords<'_>) -> Read<RecordType> {
    let word = words.require("a type")?;
    word.record_type().ok_or_else(|| EntryError::word(word, TYPE))
}

/// Parses the generic form: length, and bytes in hex. RFC 3597 section 5.
fn generic(rtype: RecordType, words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let word = words.require("the length of the data")?;
    let len = word.number(u16::MAX.into(), "the length of the data")?;
    let mut data = Vec::new();
    codec::hex(words, &mut data)?;
    if data.len() != len as usize {
        return Err(EntryError::word(word, "the number of bytes that follow"));
    }
    words.end()?;
    Ok(wire::canonical(rtype, &data, out)?)
}

fn field(
    field: DataField,
    words: &mut EntryWords<'_>,
    origin: Option<ZoneOrigin<'_>>,
    out: &mut Vec<u8>,
) -> Read<()> {
    match field {
        DataField::Byte => byte(words, out)?,
        DataField::Short => short(words, out)?,
        DataField::Long => long(words.require("a number")?.number(u32::MAX, LONG)?, out),
        DataField::Period => long(words.require(PERIOD)?.period()?, out),
        DataField::Time => long(time(words.require(TIME)?)?, out),
        DataField::Covered => out.extend_from_slice(&covered(words)?.0.to_be_bytes()),
        DataField::Algorithm => {
            out.push(named(words, ALGORITHM, u8::MAX.into(), mnemonics::algorithm)? as u8);
        }
        DataField::Digest => {
            out.push(named(words, "a kind of digest", u8::MAX.into(), mnemonics::digest)? as u8);
        }
        DataField::Notify => {
            out.push(
                named(words, "NOTIFY, or the number of a scheme,", u8::MAX.into(), mnemonics::scheme)? as u8
            );
        }
        DataField::KeyFlags => {
            let flags = named(words, KEY_FLAGS, u16::MAX, mnemonics::key_flags)?;
            out.extend_from_slice(&flags.to_be_bytes());
        }
        DataField::KeyProtocol => {
            out.push(named(words, KEY_PROTOCOL, u8::MAX.into(), mnemonics::key_protocol)? as u8);
        }
        DataField::CertKind => {
            let kind = named(words, "a kind of certificate", u16::MAX, mnemonics::cert_kind)?;
            out.extend_from_slice(&kind.to_be_bytes());
        }
        DataField::Ip4 => out.extend_from_slice(&ip4(words.require("an IPv4 address")?)?.octets()),
        DataField::Ip6 => out.extend_from_slice(&ip6(words.require("an IPv6 address")?)?.octets()),
        DataField::Name => names::write(words.require(NAME)?, origin, LetterCase::Lower, out)?,
        DataField::NameKept => names::write(words.require(NAME)?, origin, LetterCase::Kept, out)?,
        DataField::Base64 | DataField::OptionalBase64 | DataField::Hex | DataField::OptionalHex => {
            coded(field, words, out)?;
        }
        DataField::Types => bitmap::parse(words, out)?,
        DataField::SomeTypes if words.is_done()? => return Err(EntryError::Missing("a type").into()),
        DataField::SomeTypes => bitmap::parse(words, out)?,
        DataField::Hash => hash(words.require("a hash in base32hex")?, out)?,
        DataField::Salt => salt(words.require("a salt")?, out)?,
        _ => rare_field(field, words, origin, out)?,
    }
    Ok(())
}

/// Parses a field that few zones have.
fn rare_field(
    field: DataField,
    words: &mut EntryWords<'_>,
    origin: Option<ZoneOrigin<'_>>,
    out: &mut Vec<u8>,
) -> Read<()> {
    match field {
        DataField::Text => codec::text(words.require("a string")?, out),
        DataField::OptionalText => words.next()?.map_or(Ok(()), |word| codec::text(word, out)),
        DataField::Texts => texts(words, out),
        DataField::Regexp => expression(words.require(regexp::EXPRESSION)?, out),
        DataField::Node => node(words.require(NODE)?, out),
        DataField::Tag => tag(words.require("a tag")?, out),
        DataField::Quoted => codec::unescape_into(words.require("a quoted string")?, out),
        DataField::Uri => quoted(words.require("a URI in quotes")?, out),
        DataField::Base64OrHyphen => base64_or_hyphen(words, out),
        DataField::Psdn => historic::parse_psdn(words.require("a PSDN address")?, out),
        DataField::Services => historic::parse_services(words, out),
        DataField::Atm => historic::parse_atm(words.require("an ATM address")?, out),
        DataField::AddressSuffix => historic::parse_suffix(words, origin, out),
        DataField::OldTypes => bitmap::parse_old(words, out),
        DataField::Eui48 => eui(words.require("an EUI-48")?, 6, out),
        DataField::Eui64 => eui(words.require("an EUI-64")?, 8, out),
        DataField::Locator => locator(words.require("four numbers in hex")?, out),
        DataField::Nsap => nsap(words.require("an NSAP address")?, out),
        DataField::Prefixes => prefixes::parse(words, out),
        DataField::Location => location::parse(words, out),
        DataField::Gateway => hosts::parse_gateway(words, origin, out),
        DataField::Relay => hosts::parse_relay(words, origin, out),
        DataField::HostIdentity => hosts::parse_identity(words, origin, out),
        DataField::Parameters => service::parse(words, out),
        // unreachable because `field` has all others
        _ => Ok(()),
    }
}

#[inline]
pub(super) fn byte(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    out.push(words.require(BYTE)?.number(u8::MAX.into(), BYTE)? as u8);
    Ok(())
}

#[inline]
fn short(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let number = words.require(SHORT)?.number(u16::MAX.into(), SHORT)?;
    out.extend_from_slice(&(number as u16).to_be_bytes());
    Ok(())
}

#[inline]
fn long(number: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_be_bytes());
}

#[inline]
fn time(word: EntryWord<'_>) -> Read<u32> {
    match <&[u8; 14]>::try_from(word.bytes()) {
        Ok(text) => time::parse(text).ok_or_else(|| EntryError::word(word, TIME)),
        Err(_) => word.number(u32::MAX, TIME),
    }
}

/// Parses a number or its mnemonic.
#[inline]
fn named(
    words: &mut EntryWords<'_>,
    expected: &'static str,
    max: u16,
    by_name: fn(&[u8]) -> Option<u16>,
) -> Read<u16> {
    let word = words.require(expected)?;
    // A number above the maximum must not be searched for as a mnemonic: the error would be misleading.
    match word.digits().map(u16::try_from) {
        Some(Ok(number)) if number <= max => Ok(number),
        Some(_) => Err(EntryError::word(word, expected)),
        None => by_name(word.bytes()).ok_or_else(|| EntryError::word(word, expected)),
    }
}

pub(super) fn ip4(word: EntryWord<'_>) -> Read<Ipv4Addr> {
    address(word.bytes()).ok_or_else(|| EntryError::word(word, "an IPv4 address"))
}

pub(super) fn ip6(word: EntryWord<'_>) -> Read<Ipv6Addr> {
    address(word.bytes()).ok_or_else(|| EntryError::word(word, "an IPv6 address"))
}

pub(super) fn address<T: FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[inline]
fn coded(field: DataField, words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let before = out.len();
    match field {
        DataField::Base64 | DataField::OptionalBase64 => codec::base64(words, out)?,
        _ => codec::hex(words, out)?,
    }
    match field {
        DataField::Base64 if out.len() == before => Err(EntryError::Missing("base64").into()),
        DataField::Hex if out.len() == before => Err(EntryError::Missing("hexadecimal digits").into()),
        _ => Ok(()),
    }
}

fn hash(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    with_length(word, out, |out| codec::base32(word, out))
}

fn salt(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    match word.bytes() {
        // RFC 5155 3.3: a hyphen is an empty salt.
        b"-" => out.push(0),
        text => with_length(word, out, |out| codec::hex_word(word, text, out))?,
    }
    Ok(())
}

/// Appends the length of the bytes that `write` appends, and those bytes.
fn with_length(
    word: EntryWord<'_>,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Read<()>,
) -> Read<()> {
    let start = out.len();
    out.push(0);
    write(out)?;
    match out.len() - start - 1 {
        0 => Err(EntryError::word(word, "at least one byte")),
        len => {
            out[start] = u8::try_from(len).map_err(|_| EntryError::word(word, "at most 255 bytes"))?;
            Ok(())
        }
    }
}

fn texts(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    codec::text(words.require("a string")?, out)?;
    while let Some(word) = words.next()? {
        codec::text(word, out)?;
    }
    Ok(())
}

/// Parses a substitution expression. RFC 3403 4.1.
fn expression(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    let start = out.len();
    codec::text(word, out)?;
    match regexp::is_substitution(&out[start + 1..]) {
        true => Ok(()),
        false => Err(EntryError::word(word, regexp::EXPRESSION)),
    }
}

fn node(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    let text = word.bytes();
    let number = match text.iter().position(|byte| *byte == b'.') {
        Some(dot) => digits(&text[..dot])
            .zip(digits(&text[dot + 1..]))
            .map(|(high, low)| u64::from(high) << 32 | u64::from(low)),
        None if text.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(text).ok().and_then(|text| text.parse().ok())
        }
        None => None,
    };
    out.extend_from_slice(&number.ok_or_else(|| EntryError::word(word, NODE))?.to_be_bytes());
    Ok(())
}

/// Parses a quoted string up to the end. RFC 7553 4.4.
fn quoted(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    match word.kind() {
        WordKind::Quoted => codec::unescape_into(word, out),
        _ => Err(EntryError::word(word, "a URI in quotes")),
    }
}

fn base64_or_hyphen(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    match words.require("base64, or - for no data,")? {
        word if word.bytes() == b"-" => Ok(()),
        word if word.kind() == WordKind::Quoted => Err(EntryError::word(word, "base64, or - for no data")),
        word => codec::base64_words(word, words, out),
    }
}

fn tag(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    if word.kind() != WordKind::Plain || !word.bytes().iter().all(u8::is_ascii_alphanumeric) {
        return Err(EntryError::word(word, "a tag of letters and digits"));
    }
    codec::text(word, out)
}

/// Parses `count` bytes in hex with hyphens. RFC 7043 3.2.
fn eui(word: EntryWord<'_>, count: usize, out: &mut Vec<u8>) -> Read<()> {
    let parts = word.bytes().split(|byte| *byte == b'-');
    let is_whole = word.len() == 3 * count - 1 && parts.clone().all(|part| part.len() == 2);
    if !is_whole {
        return Err(EntryError::word(word, "bytes in hex with hyphens between them"));
    }
    parts.into_iter().try_for_each(|part| codec::hex_word(word, part, out))
}

/// Parses a locator. RFC 6742 2.1.2.
fn locator(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    let error = || EntryError::word(word, "four numbers in hex with colons between them");
    let mut count = 0;
    for part in word.bytes().split(|byte| *byte == b':') {
        let is_good = (1..=4).contains(&part.len()) && part.iter().all(u8::is_ascii_hexdigit);
        let text = std::str::from_utf8(part).ok().filter(|_| is_good).ok_or_else(error)?;
        out.extend_from_slice(&u16::from_str_radix(text, 16).map_err(|_| error())?.to_be_bytes());
        count += 1;
    }
    if count == 4 { Ok(()) } else { Err(error()) }
}

/// Parses an NSAP address. RFC 1706 section 7.
fn nsap(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    let digits = word.bytes().strip_prefix(b"0x").or_else(|| word.bytes().strip_prefix(b"0X"));
    let digits = digits.ok_or_else(|| EntryError::word(word, "`0x` and hexadecimal digits"))?;
    let digits: Vec<u8> = digits.iter().copied().filter(|byte| *byte != b'.').collect();
    if digits.is_empty() {
        return Err(EntryError::word(word, "`0x` and at least two hexadecimal digits"));
    }
    codec::hex_word(word, &digits, out)
}
