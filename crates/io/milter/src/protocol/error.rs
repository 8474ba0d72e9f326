//! Errors of frames: those of a peer, and those of data that cannot be sent.

/// A protocol error of the peer. Its later data cannot be trusted to be frames, so that the connection must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A frame is longer than the limit.
    #[error("a frame of {found} bytes: the maximum is {max}")]
    TooLong {
        /// The length of the frame in bytes.
        found: u32,
        /// The maximum length in bytes.
        max: u32,
    },
    /// A frame is empty and has no code.
    #[error("a frame without a code")]
    Empty,
    /// No command or reply has this code.
    #[error("unknown code {:?}", char::from(*.0))]
    UnknownCode(u8),
    /// The data ends before a required part.
    #[error("{:?}: the data ends before {what}", char::from(*.code))]
    Truncated {
        /// The code of the command or reply.
        code: u8,
        /// The missing part.
        what: &'static str,
    },
    /// A string has no NUL at its end.
    #[error("{:?}: {what} does not end with a NUL", char::from(*.code))]
    Unterminated {
        /// The code of the command or reply.
        code: u8,
        /// The name of the string.
        what: &'static str,
    },
    /// No address family has this code.
    #[error("unknown address family {:?}: expected U, L, 4 or 6", char::from(*.0))]
    Family(u8),
    /// A macro has a name and no value.
    #[error("a macro without a value")]
    OddMacros,
    /// A reply has data after its end. Commands may have such data, as `libmilter` ignores it.
    #[error("{:?}: {bytes} bytes too many", char::from(*.code))]
    Excess {
        /// The code of the reply.
        code: u8,
        /// The number of extra bytes.
        bytes: usize,
    },
    /// The version is not supported.
    #[error("protocol version {0}: version 2 or later is supported")]
    Version(u32),
    /// The command is not allowed at this time.
    #[error("{:?} {after}", char::from(*.code))]
    OutOfOrder {
        /// Of the command or reply.
        code: u8,
        /// The phase of the conversation.
        after: &'static str,
    },
    /// The other side chose something that was not offered.
    #[error("negotiated {found:#x}, but {offered:#x} was offered")]
    NotOffered {
        /// The bits or the version found.
        found: u32,
        /// The bits or the version offered.
        offered: u32,
    },
}

impl ProtocolError {
    /// Returns the kind by which the error is counted.
    #[must_use]
    pub fn kind(&self) -> ProtocolErrorKind {
        match self {
            Self::TooLong { .. } => ProtocolErrorKind::TooLong,
            Self::UnknownCode(_) => ProtocolErrorKind::UnknownCode,
            Self::OutOfOrder { .. } => ProtocolErrorKind::OutOfOrder,
            Self::Version(_) | Self::NotOffered { .. } => ProtocolErrorKind::Negotiation,
            Self::Empty
            | Self::Truncated { .. }
            | Self::Unterminated { .. }
            | Self::Family(_)
            | Self::OddMacros
            | Self::Excess { .. } => ProtocolErrorKind::Malformed,
        }
    }
}

/// A kind of protocol error, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProtocolErrorKind {
    /// A frame exceeds the limit.
    TooLong,
    /// The code is unknown.
    UnknownCode,
    /// The command cannot be parsed.
    Malformed,
    /// The command came at the wrong time.
    OutOfOrder,
    /// The version is not supported, or something was chosen that was not offered.
    Negotiation,
}

impl ProtocolErrorKind {
    /// All kinds, in the order of their counters.
    pub const ALL: [Self; 5] =
        [Self::TooLong, Self::UnknownCode, Self::Malformed, Self::OutOfOrder, Self::Negotiation];

    /// Returns the label for metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::UnknownCode => "unknown_code",
            Self::Malformed => "malformed",
            Self::OutOfOrder => "out_of_order",
            Self::Negotiation => "negotiation",
        }
    }
}

/// An error of encoding: the protocol cannot express the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A string holds a NUL, which would end it.
    #[error("{what} holds a NUL")]
    Nul {
        /// The name of the string.
        what: &'static str,
    },
    /// A frame is longer than its length field can express.
    #[error("a frame of {bytes} bytes: the maximum is 4 GiB")]
    TooLong {
        /// The length of the frame in bytes.
        bytes: usize,
    },
    /// An SMTP reply of a filter must have a code of the form 4yz or 5yz.
    #[error("SMTP reply code {0}: expected 400 to 599")]
    Code(u16),
    /// The class of the extended code is not that of the reply code.
    #[error("extended code {found:?} does not match SMTP reply code {code}: expected the same class")]
    ExtendedCode {
        /// The SMTP reply code.
        code: u16,
        /// The extended code.
        found: (u16, u16, u16),
    },
    /// A line of an SMTP reply is not printable or exceeds RFC 5321 4.5.3.1.5.
    #[error("a line of an SMTP reply of {bytes} bytes: expected printable text of at most 510 bytes")]
    Line {
        /// The length of the line in bytes.
        bytes: usize,
    },
}
