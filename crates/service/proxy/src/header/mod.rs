//! The header of the PROXY protocol, versions 1 and 2: the addresses of a connection, sent ahead of its first byte.
//!
//! The format is that of HAProxy's `proxy-protocol.txt`. This module does no I/O: [`ProxyHeader::parse`] reads the
//! bytes received so far, and [`ProxyHeader::encode`] appends a header to a buffer.

mod crc32c;
mod error;
mod fields;
mod v1;
mod v2;

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

pub use error::{HeaderEncodeError, HeaderError};
pub use fields::{HeaderFields, TlsFields};

/// The version of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderVersion {
    /// A line of text, with addresses only.
    V1,
    /// A binary header, with addresses and fields.
    V2,
}

/// The maximum length of a header that is accepted, in bytes. A header with the certificate of a client fits; the
/// format itself would allow 65,551 bytes of memory per connection before it is known who sends them.
pub(crate) const MAX_HEADER_LEN: usize = 16 << 10;

/// A header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyHeader {
    /// The addresses; None if the sender does not know them or speaks for itself (`UNKNOWN`, `LOCAL`).
    pub addresses: Option<ConnectionAddresses>,
    /// The fields of version 2. Version 1 has none.
    pub fields: HeaderFields,
}

/// Both addresses of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionAddresses {
    /// The address of the client.
    pub source: SocketAddr,
    /// The address at which the client was accepted.
    pub destination: SocketAddr,
}

/// The result of parsing the first bytes of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderProgress {
    /// The bytes are the beginning of a header. At least `missing` bytes are still to come, and so many may be read
    /// without reading beyond the header.
    Incomplete {
        /// The number of missing bytes, at least 1.
        missing: usize,
    },
    /// A complete header, followed by other bytes or none.
    Complete {
        /// The header that was read.
        header: Box<ProxyHeader>,
        /// The length of the header in bytes.
        len: usize,
    },
}

impl ProxyHeader {
    /// Parses the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`HeaderError`] as soon as the bytes cannot become a header.
    pub fn parse(bytes: &[u8]) -> Result<HeaderProgress, HeaderError> {
        if bytes.is_empty() {
            // The shortest line of version 1 is shorter than any header of version 2.
            return Ok(HeaderProgress::Incomplete { missing: v1::MIN_LINE_LEN });
        }
        if is_start_of(bytes, &v2::SIGNATURE) {
            return v2::parse(bytes);
        }
        if is_start_of(bytes, v1::START) {
            return v1::parse(bytes);
        }
        Err(HeaderError::NoHeader)
    }

    /// Appends the header to `out`. With `has_checksum`, a header of version 2 gets a CRC-32C.
    ///
    /// # Errors
    /// The fields are too long for the format.
    pub fn encode(
        &self,
        version: HeaderVersion,
        has_checksum: bool,
        out: &mut Vec<u8>,
    ) -> Result<(), HeaderEncodeError> {
        match version {
            HeaderVersion::V1 => {
                v1::encode(self.addresses, out);
                Ok(())
            }
            HeaderVersion::V2 => v2::encode(self, has_checksum, out),
        }
    }
}

impl ConnectionAddresses {
    /// Returns both addresses in one family: IPv4 if both are, otherwise IPv6. The formats have no mixed pairs.
    fn in_one_family(self) -> Self {
        let [source, destination] = [self.source, self.destination].map(canonical);
        if source.is_ipv4() == destination.is_ipv4() {
            return Self { source, destination };
        }
        Self { source: mapped(source), destination: mapped(destination) }
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn mapped(address: SocketAddr) -> SocketAddr {
    let ip: Ipv6Addr = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    SocketAddr::new(ip.into(), address.port())
}

/// Returns true if one of both is the start of the other.
fn is_start_of(bytes: &[u8], start: &[u8]) -> bool {
    let len = bytes.len().min(start.len());
    bytes[..len] == start[..len]
}

#[cfg(test)]
mod tests;
