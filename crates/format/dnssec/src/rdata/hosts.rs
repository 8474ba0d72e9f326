//! Gateways, relays and host identities. RFC 4025 section 3, RFC 8777 4.3, RFC 8005 section 6.

use super::{codec, parse, print};
use crate::data_error::DataError;
use crate::name::{DomainName, LetterCase};
use crate::text::entries::EntryWords;
use crate::text::names::{self, ZoneOrigin};
use crate::text::{EntryError, Read};

const NO_KIND: DataError = DataError::Field("a kind of gateway above 3");
const EXPECTED_KIND: &str = "a kind of gateway up to 3";

/// Reads kind, algorithm and gateway.
pub(super) fn parse_gateway(
    words: &mut EntryWords<'_>,
    origin: Option<ZoneOrigin<'_>>,
    out: &mut Vec<u8>,
) -> Read<()> {
    let kind = words.require(EXPECTED_KIND)?.number(3, EXPECTED_KIND)? as u8;
    out.push(kind);
    parse::byte(words, out)?;
    parse_host(kind, words, origin, out)
}

/// Reads discovery bit, kind and relay.
pub(super) fn parse_relay(
    words: &mut EntryWords<'_>,
    origin: Option<ZoneOrigin<'_>>,
    out: &mut Vec<u8>,
) -> Read<()> {
    let discovery = words.require("the discovery bit")?.number(1, "0 or 1")? as u8;
    let kind = words.require(EXPECTED_KIND)?.number(3, EXPECTED_KIND)? as u8;
    out.push(discovery << 7 | kind);
    parse_host(kind, words, origin, out)
}

fn parse_host(
    kind: u8,
    words: &mut EntryWords<'_>,
    origin: Option<ZoneOrigin<'_>>,
    out: &mut Vec<u8>,
) -> Read<()> {
    let word = words.require("a gateway")?;
    match kind {
        // RFC 4025 2.5 and 3.1: without a gateway, the text has a dot and the wire format has nothing.
        0 if word.bytes() == b"." => {}
        0 => return Err(EntryError::word(word, "`.`")),
        1 => out.extend_from_slice(&parse::ip4(word)?.octets()),
        2 => out.extend_from_slice(&parse::ip6(word)?.octets()),
        // RFC 4034 6.2 lists neither IPSECKEY nor AMTRELAY, so the name keeps its case.
        _ => names::write(word, origin, LetterCase::Kept, out)?,
    }
    Ok(())
}

pub(super) fn gateway_len(rest: &[u8]) -> Result<usize, DataError> {
    let [kind, _algorithm, host @ ..] = rest else { return Err(DataError::Short) };
    Ok(2 + host_len(*kind, host)?.ok_or(NO_KIND)?)
}

pub(super) fn relay_len(rest: &[u8]) -> Result<usize, DataError> {
    let [kind, host @ ..] = rest else { return Err(DataError::Short) };
    // RFC 8777 4.2.3 leaves other kinds to later documents, so their relays are any bytes.
    Ok(1 + host_len(kind & 0x7f, host)?.unwrap_or(host.len()))
}

/// Returns the length of a gateway, or None if the kind is unassigned.
fn host_len(kind: u8, host: &[u8]) -> Result<Option<usize>, DataError> {
    Ok(match kind {
        0 => Some(0),
        1 => Some(4),
        2 => Some(16),
        3 => Some(DomainName::at_front(host)?.0.as_bytes().len()),
        _ => None,
    })
}

/// Returns true if the kind of the relay has a text.
pub(super) fn has_relay_text(data: &[u8]) -> bool {
    data.get(1).is_none_or(|kind| kind & 0x7f <= 3)
}

/// Checks that an IPSECKEY has a public key, which only algorithm 0 may lack. RFC 4025 2.4.
pub(super) fn check_gateway_key(data: &[u8]) -> Result<(), DataError> {
    match data.get(2) {
        Some(0) => Ok(()),
        _ if has_gateway_key(data) => Ok(()),
        _ => Err(DataError::Field("no public key in an IPSECKEY whose algorithm is not 0")),
    }
}

/// Returns true if an IPSECKEY has a public key.
pub(crate) fn has_gateway_key(data: &[u8]) -> bool {
    let rest = data.get(1..).unwrap_or_default();
    gateway_len(rest).is_ok_and(|len| rest.len() > len)
}

pub(super) fn print_gateway(part: &[u8], out: &mut Vec<u8>) {
    let [kind, algorithm, host @ ..] = part else { return };
    print::digits((*kind).into(), out);
    out.push(b' ');
    print::digits((*algorithm).into(), out);
    print_host(*kind, host, out);
}

pub(super) fn print_relay(part: &[u8], out: &mut Vec<u8>) {
    let [kind, host @ ..] = part else { return };
    out.extend_from_slice(if *kind < 0x80 { b"0 " } else { b"1 " });
    print::digits((kind & 0x7f).into(), out);
    print_host(kind & 0x7f, host, out);
}

fn print_host(kind: u8, host: &[u8], out: &mut Vec<u8>) {
    out.push(b' ');
    match kind {
        1 => print::ip4(host, out),
        2 => print::ip6(host, out),
        3 => print::name(DomainName::trusted(host), out),
        _ => out.push(b'.'),
    }
}

/// Reads algorithm, identity tag in hex, key in base64, and rendezvous servers.
pub(super) fn parse_identity(
    words: &mut EntryWords<'_>,
    origin: Option<ZoneOrigin<'_>>,
    out: &mut Vec<u8>,
) -> Read<()> {
    let start = out.len();
    // The lengths of tag and key come first in wire format. They are filled in when they are known.
    out.push(0);
    parse::byte(words, out)?;
    out.extend_from_slice(&[0, 0]);
    let word = words.require("a host identity tag")?;
    codec::hex_word(word, word.bytes(), out)?;
    let tag_len = out.len() - start - 4;
    out[start] = u8::try_from(tag_len).map_err(|_| EntryError::word(word, "up to 255 bytes"))?;
    let word = words.require("a public key")?;
    codec::base64_word(word, word.bytes(), out)?;
    let key_len = out.len() - start - 4 - tag_len;
    let key_len = u16::try_from(key_len).map_err(|_| EntryError::word(word, "up to 65535 bytes"))?;
    out[start + 2..start + 4].copy_from_slice(&key_len.to_be_bytes());
    while let Some(word) = words.next()? {
        names::write(word, origin, LetterCase::Kept, out)?;
    }
    Ok(())
}

/// The algorithm, the tag, the key and the servers.
type Identity<'d> = (u8, &'d [u8], &'d [u8], &'d [u8]);

fn identity(all: &[u8]) -> Option<Identity<'_>> {
    let [tag_len, algorithm, high, low, rest @ ..] = all else { return None };
    let (tag, rest) = rest.split_at_checked(usize::from(*tag_len))?;
    let (key, servers) = rest.split_at_checked(usize::from(u16::from_be_bytes([*high, *low])))?;
    Some((*algorithm, tag, key, servers))
}

pub(super) fn check_identity(all: &[u8]) -> Result<usize, DataError> {
    let (_, tag, key, mut servers) = identity(all).ok_or(DataError::Short)?;
    if tag.is_empty() || key.is_empty() {
        return Err(DataError::Field("a host identity without tag or key"));
    }
    while !servers.is_empty() {
        servers = DomainName::at_front(servers)?.1;
    }
    Ok(all.len())
}

pub(super) fn print_identity(all: &[u8], out: &mut Vec<u8>) {
    let Some((algorithm, tag, key, mut servers)) = identity(all) else { return };
    print::digits(algorithm.into(), out);
    out.push(b' ');
    codec::write_hex(tag, out);
    out.push(b' ');
    codec::write_base64(key, out);
    while let Ok((server, rest)) = DomainName::at_front(servers) {
        out.push(b' ');
        print::name(server, out);
        servers = rest;
    }
}
