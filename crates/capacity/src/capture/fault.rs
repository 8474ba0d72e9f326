//! Why a stream was not read to its end.

use std::io;

/// Why a capture, a dnstap stream or a log was not read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The machine, or the compression around the stream.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file: neither its first bytes nor its first lines are known.
    #[error("{}", match is_empty {
        true => "nothing in it",
        false => "neither pcap, pcapng nor dnstap, nor a log of BIND, Unbound, dnsmasq or with a time at the front of each line",
    })]
    Unrecognised {
        /// True where there are no bytes at all.
        is_empty: bool,
    },
    /// The file: it ends within something.
    #[error("it ends within {what}, {at_byte} bytes in")]
    Truncated {
        /// Within what.
        what: &'static str,
        /// Where that began.
        at_byte: u64,
    },
    /// The file: a length that cannot be.
    #[error("{what} of {found} bytes, {at_byte} bytes in: expected {expected}")]
    Length {
        /// Of what.
        what: &'static str,
        /// What it says.
        found: u64,
        /// What would do.
        expected: &'static str,
        /// Where it stands.
        at_byte: u64,
    },
    /// The file: packets of a link that is not known here.
    #[error("link type {0} is not known: expected Ethernet, raw IP, Linux cooked (1 or 2) or loopback")]
    LinkType(u32),
    /// The file: a section of pcapng whose byte order is not told.
    #[error("a section {at_byte} bytes in has no byte-order magic")]
    ByteOrder {
        /// Where it begins.
        at_byte: u64,
    },
    /// The peer: frames of something else than dnstap.
    #[error("frames of {0:?}: expected protobuf:dnstap.Dnstap")]
    Content(String),
    /// The peer: a control frame that is malformed or out of turn.
    #[error("a control frame that is malformed or out of turn: {0}")]
    Control(&'static str),
}
