//! Traffic of the DNS as others have recorded it: captures of packets, dnstap, and logs of queries.
//!
//! | item | what it does |
//! |---|---|
//! | [`read`] | recognises a stream and shows each [`CaptureEvent`] of it |
//! | [`dnstap`] | frames of a live dnstap connection, and what they hold |
//! | [`SkipCounts`], [`CaptureReport`] | what was not shown, and why a stream ended |
//!
//! A client's address is looked at by nobody here, and never leaves.

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

use self::bytes::ByteStream;
pub use self::fault::CaptureError;
use self::link::LinkType;
use self::packet::messages;
pub use self::query_log::LogFormat;

/// Bytes of a stream by which it is recognised.
const PEEK_BYTES: usize = 64 << 10;

/// Something that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureEvent<'a> {
    /// A message of the DNS (RFC 1035 section 4), as far as it was captured.
    Message {
        /// Seconds since 1970; none where the capture does not say.
        at_s: Option<u64>,
        /// Between whom, where that is known.
        side: Option<ResolverSide>,
        /// True where a capture has it in a segment of TCP.
        is_tcp: bool,
        /// The message from its header on, perhaps cut short.
        bytes: &'a [u8],
    },
    /// A query of which a log tells no more than the time.
    Query {
        /// Seconds since 1970, or since some other moment where the log leaves out the year.
        at_s: u64,
    },
}

/// Between whom a message was exchanged, as dnstap tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResolverSide {
    /// A client and its resolver.
    Client,
    /// A resolver and the servers that it asks.
    Upstream,
    /// An authoritative server and who asks it.
    Authoritative,
}

/// What a stream turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureFormat {
    /// A capture in the format of libpcap.
    Pcap,
    /// A capture in pcapng.
    PcapNg,
    /// Frame Streams with dnstap.
    Dnstap,
    /// Lines.
    Log(LogFormat),
}

/// What was in a stream and gave no event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkipCounts {
    /// Packets of other protocols than IP, or neither UDP nor TCP.
    pub not_ip: u64,
    /// Packets from and to other ports than 53, and segments of TCP without data.
    pub not_dns: u64,
    /// Fragments of IP: they are not put together.
    pub fragments: u64,
    /// Segments of TCP that hold something else than whole messages.
    pub tcp_parts: u64,
    /// Packets, frames or headers that are not what they claim.
    pub malformed: u64,
    /// Packets of interfaces whose link type is not known here.
    pub unknown_links: u64,
    /// Messages that were shown, but only as far as they were captured.
    pub cut_short: u64,
    /// Lines, or frames, that tell of something else than a query.
    pub others: u64,
    /// Lines that are not of their log's format.
    pub lines: u64,
}

/// How reading a stream went.
#[derive(Debug)]
pub struct CaptureReport {
    /// What it was; `None` where it was nothing that is known here, or empty.
    pub format: Option<CaptureFormat>,
    /// Events that were shown.
    pub events: u64,
    /// What was not shown.
    pub skipped: SkipCounts,
    /// Why reading ended before the end. What came before has been shown.
    pub fault: Option<CaptureError>,
}

/// Who hears of events.
pub type EventSink<'a> = &'a mut dyn FnMut(CaptureEvent<'_>);

/// Reads a stream to its end, or as far as it is good, and shows what it holds.
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
    let format = CaptureFormat::of(&beginning);
    // A stream that breaks off within its first bytes has still something to show.
    let (rest, fault) = match peeked {
        Ok(_) => (Some(input), None),
        Err(error) => (None, Some(error)),
    };
    let Some(format) = format else {
        return Err(fault.map_or(CaptureError::Unrecognised { is_empty: beginning.is_empty() }, Into::into));
    };
    report.format = Some(format);
    let bytes = ByteStream::new(Read::chain(&beginning[..], StreamRest { rest, fault }));
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
    fn of(beginning: &[u8]) -> Option<Self> {
        if pcap::is_pcap(beginning) {
            return Some(Self::Pcap);
        }
        if pcapng::is_pcapng(beginning) {
            return Some(Self::PcapNg);
        }
        if dnstap::is_dnstap(beginning) {
            return Some(Self::Dnstap);
        }
        LogFormat::of(beginning).map(Self::Log)
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

/// What follows the first bytes: the stream, or the error that ended it.
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

/// Shows the messages of a packet.
fn show(link: LinkType, at_s: Option<u64>, packet: &[u8], skipped: &mut SkipCounts, sink: EventSink<'_>) {
    messages(link, packet, skipped, &mut |bytes, is_tcp| {
        sink(CaptureEvent::Message { at_s, side: None, is_tcp, bytes });
    });
}
