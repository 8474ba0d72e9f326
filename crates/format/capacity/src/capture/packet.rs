//! DNS messages in IP packets.

use super::{LinkType, SkipCounts};

const DNS_PORT: u16 = 53;
/// The minimum length of a message: its header. RFC 1035 4.1.1.
const MESSAGE_HEADER: usize = 12;
/// The maximum number of IPv6 extension headers before UDP or TCP.
const MAX_EXTENSIONS: usize = 16;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// A receiver of messages. The flag is true for TCP.
pub(super) type PacketSink<'a> = &'a mut dyn FnMut(&[u8], bool);

/// Passes each message of a frame to `show`, or counts the reason why there is none.
pub(super) fn read_packet(link: LinkType, frame: &[u8], skipped: &mut SkipCounts, show: PacketSink<'_>) {
    let Some(ip) = link.ip(frame) else {
        skipped.not_ip += 1;
        return;
    };
    match datagram(ip) {
        Ok(DnsDatagram { protocol: UDP, data, is_cut }) => udp(data, is_cut, skipped, show),
        Ok(DnsDatagram { protocol: TCP, data, is_cut }) => tcp(data, is_cut, skipped, show),
        Ok(_) | Err(SkipReason::NotIp) => skipped.not_ip += 1,
        Err(SkipReason::Fragment) => skipped.fragments += 1,
        Err(SkipReason::Malformed) => skipped.malformed += 1,
    }
}

/// The payload of an IP packet.
struct DnsDatagram<'a> {
    protocol: u8,
    data: &'a [u8],
    /// True if the capture contains only a part of the packet.
    is_cut: bool,
}

enum SkipReason {
    NotIp,
    Fragment,
    Malformed,
}

fn datagram(ip: &[u8]) -> Result<DnsDatagram<'_>, SkipReason> {
    match ip.first().map(|first| first >> 4) {
        Some(4) => ipv4(ip),
        Some(6) => ipv6(ip),
        _ => Err(SkipReason::NotIp),
    }
}

/// Reads an IPv4 packet. RFC 791 3.1.
fn ipv4(ip: &[u8]) -> Result<DnsDatagram<'_>, SkipReason> {
    let header: &[u8; 20] = ip.first_chunk().ok_or(SkipReason::Malformed)?;
    let header_len = usize::from(header[0] & 15) * 4;
    // The length is zero if the network card does the segmentation. The capture's own length counts then.
    let total = match usize::from(u16::from_be_bytes([header[2], header[3]])) {
        0 => ip.len(),
        total => total,
    };
    if header_len < 20 || total < header_len {
        return Err(SkipReason::Malformed);
    }
    if u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0 {
        return Err(SkipReason::Fragment);
    }
    let data = ip.get(header_len..total.min(ip.len())).ok_or(SkipReason::Malformed)?;
    Ok(DnsDatagram { protocol: header[9], data, is_cut: ip.len() < total })
}

/// Reads an IPv6 packet. RFC 8200 sections 3 and 4.
fn ipv6(ip: &[u8]) -> Result<DnsDatagram<'_>, SkipReason> {
    let (header, rest) = ip.split_first_chunk::<40>().ok_or(SkipReason::Malformed)?;
    let len = match usize::from(u16::from_be_bytes([header[4], header[5]])) {
        0 => rest.len(),
        len => len,
    };
    let is_cut = rest.len() < len;
    let mut data = &rest[..len.min(rest.len())];
    let mut protocol = header[6];
    for _ in 0..MAX_EXTENSIONS {
        let len = match protocol {
            TCP | UDP => return Ok(DnsDatagram { protocol, data, is_cut }),
            // Hop-by-hop options, routing, destination options.
            0 | 43 | 60 => (usize::from(*data.get(1).ok_or(SkipReason::Malformed)?) + 1) * 8,
            // Authentication header, RFC 4302 2.2.
            51 => (usize::from(*data.get(1).ok_or(SkipReason::Malformed)?) + 2) * 4,
            44 => fragment_len(data)?,
            _ => return Err(SkipReason::NotIp),
        };
        protocol = *data.first().ok_or(SkipReason::Malformed)?;
        data = data.get(len..).ok_or(SkipReason::Malformed)?;
    }
    Err(SkipReason::Malformed)
}

/// Checks a fragment header. An atomic fragment (RFC 6946) is a packet by itself.
fn fragment_len(data: &[u8]) -> Result<usize, SkipReason> {
    let header: &[u8; 8] = data.first_chunk().ok_or(SkipReason::Malformed)?;
    match u16::from_be_bytes([header[2], header[3]]) & 0xfff9 {
        0 => Ok(8),
        _ => Err(SkipReason::Fragment),
    }
}

/// Reads a UDP datagram. RFC 768.
fn udp(data: &[u8], is_cut: bool, skipped: &mut SkipCounts, show: PacketSink<'_>) {
    let Some((header, rest)) = data.split_first_chunk::<8>() else {
        skipped.malformed += 1;
        return;
    };
    if !is_dns(header) {
        skipped.not_dns += 1;
        return;
    }
    let len = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let Some(len) = len.checked_sub(8).filter(|&len| len >= MESSAGE_HEADER) else {
        skipped.malformed += 1;
        return;
    };
    skipped.malformed += u64::from(rest.len() < len && !is_cut);
    match rest.get(..len) {
        Some(message) => show(message, false),
        None if is_cut && rest.len() >= MESSAGE_HEADER => {
            skipped.cut_short += 1;
            show(rest, false);
        }
        None => skipped.malformed += u64::from(is_cut),
    }
}

/// Reads a TCP segment (RFC 9293 3.1) of messages with their lengths before them (RFC 1035 4.2.2).
fn tcp(data: &[u8], is_cut: bool, skipped: &mut SkipCounts, show: PacketSink<'_>) {
    let Some(header) = data.first_chunk::<20>() else {
        skipped.malformed += 1;
        return;
    };
    if !is_dns(header) {
        skipped.not_dns += 1;
        return;
    }
    match data.get(usize::from(header[12] >> 4) * 4..) {
        None => skipped.malformed += 1,
        Some([]) if !is_cut => skipped.not_dns += 1,
        Some(segment) if is_cut || !is_whole(segment) => skipped.tcp_parts += 1,
        Some(segment) => PrefixedMessages(segment).for_each(|message| show(message, true)),
    }
}

fn is_dns(ports: &[u8]) -> bool {
    let port = |at: usize| ports.get(at..at + 2) == Some(&DNS_PORT.to_be_bytes());
    port(0) || port(2)
}

/// Returns true if messages fill the segment exactly.
fn is_whole(segment: &[u8]) -> bool {
    let shown: usize = PrefixedMessages(segment).map(|message| message.len() + 2).sum();
    shown == segment.len() && PrefixedMessages(segment).all(|message| message.len() >= MESSAGE_HEADER)
}

/// An iterator over complete messages with their lengths before them.
struct PrefixedMessages<'a>(&'a [u8]);

impl<'a> Iterator for PrefixedMessages<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = self.0.split_first_chunk::<2>()?;
        let (message, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        self.0 = rest;
        Some(message)
    }
}
