//! Errors of headers.

/// The fault of a header that a peer sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The connection does not begin with a header.
    #[error("the connection does not begin with a PROXY header")]
    NoHeader,
    /// The text of version 1 is not valid.
    #[error("PROXY v1: expected {expected}")]
    Text {
        /// The expected part of the line.
        expected: &'static str,
    },
    /// The version is not 2.
    #[error("PROXY v2: expected version 2, found {found}")]
    Version {
        /// The version found.
        found: u8,
    },
    /// The command is neither LOCAL nor PROXY.
    #[error("PROXY v2: expected the command 0 or 1, found {found}")]
    Command {
        /// The command found.
        found: u8,
    },
    /// The address family or the protocol is not that of a stream.
    #[error("PROXY v2: expected a stream over IPv4, IPv6 or UNIX, found family and protocol {found:#04x}")]
    Family {
        /// The byte found.
        found: u8,
    },
    /// The header is longer than `MAX_HEADER_LEN`.
    #[error("PROXY v2: expected at most {max} bytes, found {found}", max = super::MAX_HEADER_LEN)]
    TooLong {
        /// The length found.
        found: usize,
    },
    /// The header ends within its addresses or a field.
    #[error("PROXY v2: the header ends within {within}")]
    Cut {
        /// The part that is cut.
        within: &'static str,
    },
    /// A field that must be text is not UTF-8.
    #[error("PROXY v2: the field {field} is not text in UTF-8")]
    NotText {
        /// The name of the field.
        field: &'static str,
    },
    /// A field appears twice.
    #[error("PROXY v2: the field {field} appears twice")]
    Twice {
        /// The name of the field.
        field: &'static str,
    },
    /// The checksum does not match.
    #[error("PROXY v2: the checksum does not match")]
    Checksum,
}

/// The reason why a header cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("PROXY v2: the fields have {found} bytes, and the format allows 65535")]
pub struct HeaderEncodeError {
    /// The length of the addresses and fields in bytes.
    pub found: usize,
}
