//! Errors of reading a capture.

use std::io;

/// An error that ends the reading of a capture, a dnstap stream or a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The system or the decompression failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file has no known format.
    #[error("{}", match is_empty {
        true => "the file is empty",
        false => "expected pcap, pcapng, dnstap, or a log of BIND, Unbound, dnsmasq or with a time at the front of each line",
    })]
    Unrecognised {
        /// True if the file is empty.
        is_empty: bool,
    },
    /// The file ends within an item.
    #[error("it ends within {what}, {at_byte} bytes in")]
    Truncated {
        /// The item.
        what: &'static str,
        /// The start of the item.
        at_byte: u64,
    },
    /// A length in the file is not allowed.
    #[error("{what} of {found} bytes, {at_byte} bytes in: expected {expected}")]
    Length {
        /// The item with the length.
        what: &'static str,
        /// The length.
        found: u64,
        /// The allowed lengths.
        expected: &'static str,
        /// The position of the length.
        at_byte: u64,
    },
    /// The packets have an unknown link type.
    #[error("link type {0} is not known: expected Ethernet, raw IP, Linux cooked (1 or 2) or loopback")]
    LinkType(u32),
    /// A section of pcapng does not state its byte order.
    #[error("a section {at_byte} bytes in has no byte-order magic")]
    ByteOrder {
        /// The start of the section.
        at_byte: u64,
    },
    /// The peer sends frames of another content type than dnstap.
    #[error("frames of {0:?}: expected protobuf:dnstap.Dnstap")]
    Content(String),
    /// The peer sends a control frame that is malformed or out of turn.
    #[error("a control frame that is malformed or out of turn: {0}")]
    Control(&'static str),
}
