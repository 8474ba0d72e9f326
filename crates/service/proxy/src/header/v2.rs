//! Version 2: a binary header.

use std::net::{IpAddr, SocketAddr};

use super::crc32c;
use super::error::{HeaderEncodeError, HeaderError};
use super::fields::{self, HeaderFields};
use super::{ConnectionAddresses, HeaderProgress, MAX_HEADER_LEN, ProxyHeader};

pub(super) const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// The length of the signature, the command, the family and the length.
const FIXED_LEN: usize = 16;

const LOCAL: u8 = 0;
const PROXY: u8 = 1;

const UNSPECIFIED: u8 = 0x00;
const TCP4: u8 = 0x11;
const TCP6: u8 = 0x21;
const UNIX_STREAM: u8 = 0x31;

pub(super) fn parse(bytes: &[u8]) -> Result<HeaderProgress, HeaderError> {
    let Some(fixed) = bytes.first_chunk::<FIXED_LEN>() else {
        return Ok(HeaderProgress::Incomplete { missing: FIXED_LEN - bytes.len() });
    };
    let (version, command) = (fixed[12] >> 4, fixed[12] & 15);
    if version != 2 {
        return Err(HeaderError::Version { found: version });
    }
    if command > PROXY {
        return Err(HeaderError::Command { found: command });
    }
    let len = FIXED_LEN + usize::from(u16::from_be_bytes([fixed[14], fixed[15]]));
    if len > MAX_HEADER_LEN {
        return Err(HeaderError::TooLong { found: len });
    }
    let Some(whole) = bytes.get(..len) else {
        return Ok(HeaderProgress::Incomplete { missing: len - bytes.len() });
    };
    // LOCAL: the sender speaks for itself, and the rest must be skipped.
    let header = if command == LOCAL { ProxyHeader::default() } else { parse_proxy(fixed[13], whole)? };
    Ok(HeaderProgress::Complete { header: Box::new(header), len })
}

fn parse_proxy(family: u8, whole: &[u8]) -> Result<ProxyHeader, HeaderError> {
    let block = match family {
        UNSPECIFIED => 0,
        TCP4 => 12,
        TCP6 => 36,
        UNIX_STREAM => 216,
        found => return Err(HeaderError::Family { found }),
    };
    let (before, fields) =
        whole.split_at_checked(FIXED_LEN + block).ok_or(HeaderError::Cut { within: "the addresses" })?;
    let addresses = match family {
        TCP4 => before[FIXED_LEN..].first_chunk().map(parse_ipv4),
        TCP6 => before[FIXED_LEN..].first_chunk().map(parse_ipv6),
        _ => None,
    };
    Ok(ProxyHeader { addresses, fields: HeaderFields::parse(before, fields)? })
}

fn parse_ipv4(block: &[u8; 12]) -> ConnectionAddresses {
    let [a, b, c, d, e, f, g, h, from @ .., to_high, to_low] = *block;
    ConnectionAddresses {
        source: (IpAddr::from([a, b, c, d]), u16::from_be_bytes(from)).into(),
        destination: (IpAddr::from([e, f, g, h]), u16::from_be_bytes([to_high, to_low])).into(),
    }
}

fn parse_ipv6(block: &[u8; 36]) -> ConnectionAddresses {
    let ip = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&block[at..at + 16]);
        IpAddr::from(octets)
    };
    let port = |at: usize| u16::from_be_bytes([block[at], block[at + 1]]);
    ConnectionAddresses {
        source: SocketAddr::new(ip(0), port(32)),
        destination: SocketAddr::new(ip(16), port(34)),
    }
}

pub(super) fn encode(
    header: &ProxyHeader,
    has_checksum: bool,
    out: &mut Vec<u8>,
) -> Result<(), HeaderEncodeError> {
    let start = out.len();
    out.extend_from_slice(&SIGNATURE);
    let addresses = header.addresses.map(ConnectionAddresses::in_one_family);
    let family = match addresses {
        None => UNSPECIFIED,
        Some(addresses) if addresses.source.is_ipv4() => TCP4,
        Some(_) => TCP6,
    };
    // The length follows once it is known.
    out.extend_from_slice(&[0x20 | PROXY, family, 0, 0]);
    if let Some(ConnectionAddresses { source, destination }) = addresses {
        for ip in [source.ip(), destination.ip()] {
            match ip {
                IpAddr::V4(ip) => out.extend_from_slice(&ip.octets()),
                IpAddr::V6(ip) => out.extend_from_slice(&ip.octets()),
            }
        }
        out.extend_from_slice(&source.port().to_be_bytes());
        out.extend_from_slice(&destination.port().to_be_bytes());
    }
    header.fields.encode(out);
    if has_checksum {
        fields::append(fields::CHECKSUM, Some(&[0; 4]), out);
    }
    finish(&mut out[start..], has_checksum)
}

/// Writes the length and the checksum, whose place is the end.
fn finish(header: &mut [u8], has_checksum: bool) -> Result<(), HeaderEncodeError> {
    let found = header.len() - FIXED_LEN;
    let len = u16::try_from(found).map_err(|_| HeaderEncodeError { found })?;
    header[14..16].copy_from_slice(&len.to_be_bytes());
    if has_checksum {
        let at = header.len() - 4;
        let checksum = crc32c::checksum(&[header]);
        header[at..].copy_from_slice(&checksum.to_be_bytes());
    }
    Ok(())
}
