//! Lists of address prefixes. RFC 3123.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::parse::address as address_of;
use super::print as text;
use crate::data_error::DataError;
use crate::text::entries::EntryWords;
use crate::text::word::{EntryWord, digits};
use crate::text::{EntryError, Read};

const EXPECTED: &str = "a prefix such as 1:192.0.2.0/24 or !2:2001:db8::/32";

/// Reads prefixes up to the entry's end.
pub(super) fn parse(words: &mut EntryWords<'_>, out: &mut Vec<u8>) -> Read<()> {
    while let Some(word) = words.next()? {
        prefix(word, out).ok_or_else(|| EntryError::word(word, EXPECTED))?;
    }
    Ok(())
}

fn prefix(word: EntryWord<'_>, out: &mut Vec<u8>) -> Option<()> {
    let (is_negated, text) = match word.bytes() {
        [b'!', text @ ..] => (true, text),
        text => (false, text),
    };
    let (family, address) = text.split_at_checked(2)?;
    let slash = address.iter().position(|byte| *byte == b'/')?;
    let (address, len) = (&address[..slash], digits(&address[slash + 1..])?);
    let (family, max, bytes) = match family {
        b"1:" => (1, 32, address_of::<Ipv4Addr>(address)?.octets().to_vec()),
        b"2:" => (2, 128, address_of::<Ipv6Addr>(address)?.octets().to_vec()),
        _ => return None,
    };
    if len > max {
        return None;
    }
    // RFC 3123 section 4: trailing zero bytes of an address must not be sent.
    let used = bytes.len() - bytes.iter().rev().take_while(|byte| **byte == 0).count();
    out.extend_from_slice(&[0, family, len as u8, u8::from(is_negated) << 7 | used as u8]);
    out.extend_from_slice(&bytes[..used]);
    Some(())
}

/// The family, the length of the prefix, its negation, and the address without trailing zero bytes.
type Prefix<'d> = (u16, u8, bool, &'d [u8]);

fn first(rest: &[u8]) -> Option<(Prefix<'_>, &[u8])> {
    let [high, low, len, bytes_len, rest @ ..] = rest else { return None };
    let (bytes, rest) = rest.split_at_checked(usize::from(bytes_len & 0x7f))?;
    Some(((u16::from_be_bytes([*high, *low]), *len, *bytes_len >= 0x80, bytes), rest))
}

pub(super) fn check(all: &[u8]) -> Result<usize, DataError> {
    let mut rest = all;
    while !rest.is_empty() {
        let ((family, len, _, bytes), after) = first(rest).ok_or(DataError::Short)?;
        let is_good = match family {
            1 => len <= 32 && bytes.len() <= 4,
            2 => len <= 128 && bytes.len() <= 16,
            _ => return Err(DataError::Field("addresses of a family other than 1 and 2")),
        };
        if !is_good || bytes.last() == Some(&0) {
            return Err(DataError::Field("a prefix that is too long, or that ends in zeros"));
        }
        rest = after;
    }
    Ok(all.len())
}

pub(super) fn print(all: &[u8], out: &mut Vec<u8>) {
    let mut rest = all;
    while let Some(((family, len, is_negated, bytes), after)) = first(rest) {
        if rest.len() < all.len() {
            out.push(b' ');
        }
        out.extend_from_slice(if is_negated { b"!" } else { b"" });
        text::digits(family.into(), out);
        out.push(b':');
        let mut address = [0; 16];
        address[..bytes.len()].copy_from_slice(bytes);
        match family {
            1 => text::ip4(&address[..4], out),
            _ => text::ip6(&address, out),
        }
        out.push(b'/');
        text::digits(len.into(), out);
        rest = after;
    }
}
