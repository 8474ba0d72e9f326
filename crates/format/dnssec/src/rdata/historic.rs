//! WKS, X25, ATMA and A6, types that few zones still have.

use super::{codec, parse, print};
use crate::data_error::DataError;
use crate::name::{DomainName, LetterCase};
use crate::text::entries::EntryWords;
use crate::text::names::{self, ZoneOrigin};
use crate::text::word::{EntryWord, WordKind, digits};
use crate::text::{EntryError, Read};

const PROTOCOL: &str = "the name of a protocol, such as tcp, or its number up to 255";
const SERVICE: &str = "the name of a service, or a port up to 65535";
const ATM: &str = "+ and decimal digits, or pairs of hexadecimal digits, with single dots between them";
const PREFIX: &str = "the length of a prefix up to 128";
/// The length of a bitmap with a bit for every port, in bytes.
const MAX_SERVICES: usize = 8192;
/// The formats of ATM addresses: end systems and telephone numbers.
const END_SYSTEM: u8 = 0;
const TELEPHONE: u8 = 1;

/// The protocols of IANA's registry that `protocols(5)` lists too.
const PROTOCOLS: [(&str, u8); 28] = [
    ("icmp", 1),
    ("igmp", 2),
    ("ggp", 3),
    ("ipencap", 4),
    ("st", 5),
    ("tcp", 6),
    ("egp", 8),
    ("igp", 9),
    ("pup", 12),
    ("udp", 17),
    ("hmp", 20),
    ("xns-idp", 22),
    ("rdp", 27),
    ("iso-tp4", 29),
    ("dccp", 33),
    ("ipv6", 41),
    ("rsvp", 46),
    ("gre", 47),
    ("esp", 50),
    ("ah", 51),
    ("skip", 57),
    ("ipv6-icmp", 58),
    ("eigrp", 88),
    ("ospf", 89),
    ("pim", 103),
    ("vrrp", 112),
    ("l2tp", 115),
    ("sctp", 132),
];

/// Services that RFC 1010 and its successors name for WKS records.
const SERVICES: [(&str, u16); 46] = [
    ("tcpmux", 1),
    ("rje", 5),
    ("echo", 7),
    ("discard", 9),
    ("systat", 11),
    ("users", 11),
    ("daytime", 13),
    ("netstat", 15),
    ("qotd", 17),
    ("quote", 17),
    ("chargen", 19),
    ("ftp-data", 20),
    ("ftp", 21),
    ("ssh", 22),
    ("telnet", 23),
    ("smtp", 25),
    ("time", 37),
    ("nameserver", 42),
    ("nicname", 43),
    ("whois", 43),
    ("tacacs", 49),
    ("domain", 53),
    ("bootps", 67),
    ("bootpc", 68),
    ("tftp", 69),
    ("gopher", 70),
    ("finger", 79),
    ("http", 80),
    ("supdup", 95),
    ("hostnames", 101),
    ("hostname", 101),
    ("pop2", 109),
    ("pop3", 110),
    ("sunrpc", 111),
    ("auth", 113),
    ("sftp", 115),
    ("nntp", 119),
    ("ntp", 123),
    ("imap2", 143),
    ("imap", 143),
    ("snmp", 161),
    ("snmp-trap", 162),
    ("bgp", 179),
    ("irc", 194),
    ("ldap", 389),
    ("https", 443),
];

/// Reads an address of a public data network. RFC 1183 3.1.
pub(super) fn parse_psdn(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    let start = out.len();
    codec::text(word, out)?;
    match check_psdn(&out[start..]) {
        Ok(_) => Ok(()),
        Err(_) => Err(EntryError::word(word, "at least four decimal digits")),
    }
}

pub(super) fn check_psdn(rest: &[u8]) -> Result<usize, DataError> {
    let len = 1 + usize::from(*rest.first().ok_or(DataError::Short)?);
    let address = rest.get(1..len).ok_or(DataError::Short)?;
    let is_good = address.len() >= 4 && address.iter().all(u8::is_ascii_digit);
    if is_good { Ok(len) } else { Err(DataError::Field("a PSDN address of fewer than four digits")) }
}

/// Reads a protocol, and services up to the entry's end.
pub(super) fn parse_services(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    let word = words.require(PROTOCOL)?;
    let named = PROTOCOLS.iter().find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(word.bytes()));
    out.push(match named {
        Some((_, number)) => *number,
        None => word.number(u8::MAX.into(), PROTOCOL)? as u8,
    });
    let bits_at = out.len();
    while let Some(word) = words.next()? {
        let port = service(word).ok_or_else(|| EntryError::word(word, SERVICE))?;
        let at = bits_at + usize::from(port / 8);
        out.resize(out.len().max(at + 1), 0);
        out[at] |= 0x80 >> (port % 8);
    }
    Ok(())
}

fn service(word: EntryWord<'_>) -> Option<u16> {
    if let Some(port) = word.digits() {
        return u16::try_from(port).ok();
    }
    SERVICES
        .iter()
        .find(|(name, _)| name.as_bytes().eq_ignore_ascii_case(word.bytes()))
        .map(|(_, port)| *port)
}

pub(super) fn check_services(rest: &[u8]) -> Result<usize, DataError> {
    let (_protocol, bits) = rest.split_first().ok_or(DataError::Short)?;
    // Zeros at the end would give the same services another wire format, and so another canonical form.
    match bits.len() <= MAX_SERVICES && bits.last() != Some(&0) {
        true => Ok(rest.len()),
        false => Err(DataError::Field("services of more than 8192 bytes, or with zeros behind them")),
    }
}

pub(super) fn print_services(part: &[u8], out: &mut Vec<u8>) {
    let Some((protocol, bits)) = part.split_first() else { return };
    print::digits((*protocol).into(), out);
    for port in 0..8 * bits.len() {
        if bits[port / 8] & (0x80 >> (port % 8)) != 0 {
            out.push(b' ');
            print::digits(port as u32, out);
        }
    }
}

/// Reads an ATM address: a telephone number after `+`, or the address of an end system in hex.
pub(super) fn parse_atm(word: EntryWord<'_>, out: &mut Vec<u8>) -> Read<()> {
    let (format, text) = match word.bytes().strip_prefix(b"+") {
        Some(text) => (TELEPHONE, text),
        None => (END_SYSTEM, word.bytes()),
    };
    let has_empty_part = text.split(|byte| *byte == b'.').any(<[u8]>::is_empty);
    let digits: Vec<u8> = text.iter().copied().filter(|byte| *byte != b'.').collect();
    if has_empty_part || word.kind() != WordKind::Plain {
        return Err(EntryError::word(word, ATM));
    }
    out.push(format);
    match format {
        END_SYSTEM => codec::hex_word(word, &digits, out),
        _ if digits.iter().all(u8::is_ascii_digit) => {
            out.extend_from_slice(&digits);
            Ok(())
        }
        _ => Err(EntryError::word(word, ATM)),
    }
}

pub(super) fn check_atm(rest: &[u8]) -> Result<usize, DataError> {
    match rest {
        [] | [_] => Err(DataError::Short),
        [TELEPHONE, digits @ ..] if !digits.iter().all(u8::is_ascii_digit) => {
            Err(DataError::Field("a telephone number that is not of digits"))
        }
        _ => Ok(rest.len()),
    }
}

/// Returns true if the format of an ATM address has a text.
pub(super) fn has_text(part: &[u8]) -> bool {
    matches!(part.first(), Some(&(END_SYSTEM | TELEPHONE)))
}

pub(super) fn print_atm(part: &[u8], out: &mut Vec<u8>) {
    match part {
        [END_SYSTEM, address @ ..] => codec::write_hex(address, out),
        [_, number @ ..] => {
            out.push(b'+');
            out.extend_from_slice(number);
        }
        [] => {}
    }
}

/// Reads the length of a prefix, the rest of the address unless it is empty, and the prefix's name unless the length
/// is 0. RFC 2874 3.2.
pub(super) fn parse_suffix(
    words: &mut EntryWords<'_>,
    origin: Option<ZoneOrigin<'_>>,
    out: &mut Vec<u8>,
) -> Read<()> {
    let word = words.require(PREFIX)?;
    let prefix_len = digits(word.bytes()).filter(|len| *len <= 128);
    let prefix_len = prefix_len.ok_or_else(|| EntryError::word(word, PREFIX))? as u8;
    out.push(prefix_len);
    if prefix_len < 128 {
        let mut address = parse::ip6(words.require("an IPv6 address")?)?.octets();
        let first = usize::from(prefix_len / 8);
        // RFC 2874 3.1: the bits of the prefix within the first byte are zero.
        address[first] &= 0xff >> (prefix_len % 8);
        out.extend_from_slice(&address[first..]);
    }
    if prefix_len > 0 {
        names::write(words.require("a name")?, origin, LetterCase::Lower, out)?;
    }
    Ok(())
}

/// Returns the length of the prefix length and of the rest of the address, in bytes.
fn suffix_len(prefix_len: u8) -> usize {
    1 + usize::from(128_u8.saturating_sub(prefix_len)).div_ceil(8)
}

pub(super) fn check_suffix(rest: &[u8]) -> Result<usize, DataError> {
    let prefix_len = *rest.first().ok_or(DataError::Short)?;
    let (head, name) = rest.split_at_checked(suffix_len(prefix_len)).ok_or(DataError::Short)?;
    let has_bits_before =
        prefix_len % 8 != 0 && head.get(1).is_some_and(|byte| byte >> (8 - prefix_len % 8) != 0);
    if prefix_len > 128 || has_bits_before {
        return Err(DataError::Field("a prefix above 128 bits, or bits of it in the address"));
    }
    Ok(head.len() + if prefix_len == 0 { 0 } else { DomainName::at_front(name)?.0.as_bytes().len() })
}

/// Returns the name of the prefix, in checked data.
pub(super) fn prefix_name(data: &mut [u8]) -> &mut [u8] {
    let at = data.first().map_or(0, |prefix_len| suffix_len(*prefix_len));
    data.get_mut(at..).unwrap_or_default()
}

pub(super) fn print_suffix(part: &[u8], out: &mut Vec<u8>) {
    let Some((&prefix_len, rest)) = part.split_first() else { return };
    let (suffix, name) = rest.split_at(suffix_len(prefix_len) - 1);
    print::digits(prefix_len.into(), out);
    if prefix_len < 128 {
        let mut address = [0; 16];
        address[16 - suffix.len()..].copy_from_slice(suffix);
        out.push(b' ');
        print::ip6(&address, out);
    }
    if prefix_len > 0 {
        out.push(b' ');
        print::name(DomainName::trusted(name), out);
    }
}
