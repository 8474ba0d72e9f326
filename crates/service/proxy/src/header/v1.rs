//! Version 1: a line of text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::error::HeaderError;
use super::{ConnectionAddresses, HeaderFields, HeaderProgress, ProxyHeader};

pub(super) const START: &[u8] = b"PROXY ";

/// The maximum length of a line with its end. It is that of two IPv6 addresses.
const MAX_LINE_LEN: usize = 107;

/// The length of the shortest line, `PROXY UNKNOWN` and its end.
pub(super) const MIN_LINE_LEN: usize = 15;

pub(super) fn parse(bytes: &[u8]) -> Result<HeaderProgress, HeaderError> {
    let start = &bytes[..bytes.len().min(MAX_LINE_LEN)];
    let Some(end) = start.windows(2).position(|pair| pair == b"\r\n") else {
        if start.len() == MAX_LINE_LEN {
            return Err(HeaderError::Text { expected: "a line end within 107 bytes" });
        }
        // After the shortest line each further byte may be the last one.
        return Ok(HeaderProgress::Incomplete { missing: MIN_LINE_LEN.saturating_sub(start.len()).max(1) });
    };
    let line = str::from_utf8(&start[..end]).map_err(|_| HeaderError::Text { expected: "ASCII" })?;
    let header = Box::new(ProxyHeader { addresses: parse_line(line)?, fields: HeaderFields::default() });
    Ok(HeaderProgress::Complete { header, len: end + 2 })
}

fn parse_line(line: &str) -> Result<Option<ConnectionAddresses>, HeaderError> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["PROXY", "UNKNOWN", ..] => Ok(None),
        ["PROXY", "TCP4", source, destination, from, to] => {
            let ip = |text: &str| text.parse::<Ipv4Addr>().ok().map(IpAddr::from);
            addresses([ip(source), ip(destination)], [from, to], "two IPv4 addresses").map(Some)
        }
        ["PROXY", "TCP6", source, destination, from, to] => {
            let ip = |text: &str| text.parse::<Ipv6Addr>().ok().map(IpAddr::from);
            addresses([ip(source), ip(destination)], [from, to], "two IPv6 addresses").map(Some)
        }
        _ => Err(HeaderError::Text {
            expected: "PROXY TCP4 or TCP6 with two addresses and two ports, or UNKNOWN",
        }),
    }
}

fn addresses(
    ips: [Option<IpAddr>; 2],
    ports: [&str; 2],
    expected: &'static str,
) -> Result<ConnectionAddresses, HeaderError> {
    let [Some(source), Some(destination)] = ips else { return Err(HeaderError::Text { expected }) };
    let [from, to] = [parse_port(ports[0])?, parse_port(ports[1])?];
    Ok(ConnectionAddresses {
        source: SocketAddr::new(source, from),
        destination: SocketAddr::new(destination, to),
    })
}

/// Parses a port. Signs and leading zeros, which the parser of numbers would accept, are not allowed.
fn parse_port(text: &str) -> Result<u16, HeaderError> {
    let is_canonical =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    let port = text.parse().ok().filter(|_| is_canonical);
    port.ok_or(HeaderError::Text { expected: "ports from 0 to 65535" })
}

pub(super) fn encode(addresses: Option<ConnectionAddresses>, out: &mut Vec<u8>) {
    let line = match addresses.map(ConnectionAddresses::in_one_family) {
        None => "PROXY UNKNOWN\r\n".to_owned(),
        Some(ConnectionAddresses { source, destination }) => format!(
            "PROXY {} {} {} {} {}\r\n",
            if source.is_ipv4() { "TCP4" } else { "TCP6" },
            source.ip(),
            destination.ip(),
            source.port(),
            destination.port()
        ),
    };
    out.extend_from_slice(line.as_bytes());
}
