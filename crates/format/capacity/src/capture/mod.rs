//! Recorded DNS traffic: packet captures, dnstap, and query logs.
//!
//! | item | purpose |
//! |---|---|
//! | [`read`] | recognises a stream and passes each [`CaptureEvent`] to a sink |
//! | [`dnstap`] | decodes the frames of a live dnstap connection |
//! | [`SkipCounts`], [`CaptureReport`] | the items without events, and the error that ended a stream |
//!
//! The addresses of clients are not read.

mod bytes;
pub mod dnstap;
mod fault;
mod link;
mod packet;
mod pcap;
mod pcapng;
mod query_log;
#[cfg(test)]
mod tests;
mod time;

use std::io::Read;

use self::bytes::CaptureStream;
pub use self::fault::CaptureError;
use self::link::LinkType;
use self::packet::read_packet;
pub use self::query_log::QueryLogFormat;

/// The number of bytes from which the format of a stream is recognised.
const PEEK_BYTES: usize = 64 << 10;

/// An event in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureEvent<'a> {
    /// A DNS message (RFC 1035 section 4), as far as it was captured.
    Message {
        /// The time in seconds since 1970; None if the capture does not state it.
        at_s: Option<u64>,
        /// The parties of the exchange, if they are known.
        side: Option<ResolverSide>,
        /// True if the message came in a TCP segment of a packet capture.
        is_tcp: bool,
        /// The message from its header on. It may be cut short.
        bytes: &'a [u8],
    },
    /// A query in a log, of which only the time is known.
    Query {
        /// The time in seconds since 1970, or since another moment if the log omits the year.
        at_s: u64,
    },
}

/// The parties of an exchange, as dnstap states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResolverSide {
    /// A client and its resolver.
    Client,
    /// A resolver and the servers that it asks.
    Upstream,
    /// An authoritative server and its clients.
    Authoritative,
}

/// The format of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureFormat {
    /// A capture in the format of libpcap.
    Pcap,
    /// A capture in pcapng.
    PcapNg,
    /// Frame Streams with dnstap.
    Dnstap,
    /// A log of lines.
    Log(QueryLogFormat),
}

/// The numbers of items in a stream that gave no event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkipCounts {
    /// The number of packets that are not IP, or neither UDP nor TCP.
    pub not_ip: u64,
    /// The number of packets without port 53, and of TCP segments without data.
    pub not_dns: u64,
    /// The number of IP fragments, which are not reassembled.
    pub fragments: u64,
    /// The number of TCP segments that hold incomplete messages.
    pub tcp_parts: u64,
    /// The number of malformed packets, frames or headers.
    pub malformed: u64,
    /// The number of packets of interfaces with unknown link types.
    pub unknown_links: u64,
    /// The number of messages that were passed on but not captured completely.
    pub cut_short: u64,
    /// The number of lines or frames about something other than a query.
    pub others: u64,
    /// The number of lines that do not have the format of the log.
    pub lines: u64,
}

/// The result of reading a stream.
#[derive(Debug)]
pub struct CaptureReport {
    /// The format; None if it is unknown or the stream is empty.
    pub format: Option<CaptureFormat>,
    /// The number of events.
    pub events: u64,
    /// The numbers of items that gave no event.
    pub skipped: SkipCounts,
    /// The error that ended the stream early. The events before it have been passed on.
    pub fault: Option<CaptureError>,
}

/// A receiver of events.
pub type EventSink<'a> = &'a mut dyn FnMut(CaptureEvent<'_>);

/// Reads a stream to its end, or up to the first error, and passes its events to `sink`.
pub fn read(input: impl Read, sink: EventSink<'_>) -> CaptureReport {
    let mut report = CaptureReport { format: None, events: 0, skipped: SkipCounts::default(), fault: None };
    let read = read_into(input, &mut report, sink);
    report.fault = read.err();
    report
}

fn read_into(
    mut input: impl Read,
    report: &mut CaptureReport,
    sink: EventSink<'_>,
) -> Result<(), CaptureError> {
    let mut beginning = Vec::new();
    let peeked = (&mut input).take(PEEK_BYTES as u64).read_to_end(&mut beginning);
    let format = CaptureFormat::detect(&beginning);
    // A stream that fails within its first bytes may still contain events.
    let (rest, fault) = match peeked {
        Ok(_) => (Some(input), None),
        Err(error) => (None, Some(error)),
    };
    let Some(format) = format else {
        return Err(fault.map_or(CaptureError::Unrecognised { is_empty: beginning.is_empty() }, Into::into));
    };
    report.format = Some(format);
    let bytes = CaptureStream::new(Read::chain(&beginning[..], StreamRest { rest, fault }));
    let CaptureReport { events, skipped, .. } = report;
    let mut counting = |event: CaptureEvent<'_>| {
        *events += 1;
        sink(event);
    };
    match format {
        CaptureFormat::Pcap => pcap::read(bytes, skipped, &mut counting),
        CaptureFormat::PcapNg => pcapng::read(bytes, skipped, &mut counting),
        CaptureFormat::Dnstap => dnstap::read(bytes, skipped, &mut counting),
        CaptureFormat::Log(log) => query_log::read(bytes, log, skipped, &mut counting),
    }
}

impl CaptureFormat {
    fn detect(beginning: &[u8]) -> Option<Self> {
        if pcap::is_pcap(beginning) {
            return Some(Self::Pcap);
        }
        if pcapng::is_pcapng(beginning) {
            return Some(Self::PcapNg);
        }
        if dnstap::is_dnstap(beginning) {
            return Some(Self::Dnstap);
        }
        QueryLogFormat::detect(beginning).map(Self::Log)
    }
}

impl std::fmt::Display for CaptureFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pcap => f.write_str("pcap"),
            Self::PcapNg => f.write_str("pcapng"),
            Self::Dnstap => f.write_str("dnstap"),
            Self::Log(log) => write!(f, "{log} log"),
        }
    }
}

/// The part after the first bytes: the stream, or the error that ended it.
struct StreamRest<R> {
    rest: Option<R>,
    fault: Option<std::io::Error>,
}

impl<R: Read> Read for StreamRest<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match (&mut self.rest, self.fault.take()) {
            (_, Some(fault)) => Err(fault),
            (Some(rest), None) => rest.read(buffer),
            (None, None) => Ok(0),
        }
    }
}

/// Passes the messages of a packet to `sink`.
fn pass_messages(
    link: LinkType,
    at_s: Option<u64>,
    packet: &[u8],
    skipped: &mut SkipCounts,
    sink: EventSink<'_>,
) {
    read_packet(link, packet, skipped, &mut |bytes, is_tcp| {
        sink(CaptureEvent::Message { at_s, side: None, is_tcp, bytes });
    });
}
