//! What may be wrong with frames: of a peer, and of what is to be sent to one.

/// The peer broke the protocol. Nothing it sends after that can be trusted to be a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A frame says that it is longer than is taken in.
    #[error("a frame of {found} bytes, where at most {max} are taken")]
    TooLong {
        /// Bytes behind the length.
        found: u32,
        /// The limit.
        max: u32,
    },
    /// A frame of no bytes has no code.
    #[error("a frame without a code")]
    Empty,
    /// No command, or no reply, has this code.
    #[error("nothing has the code {:?}", char::from(*.0))]
    UnknownCode(u8),
    /// Data ends before what must be there.
    #[error("{:?}: it ends before {what}", char::from(*.code))]
    Truncated {
        /// Of the command or reply.
        code: u8,
        /// What is missing.
        what: &'static str,
    },
    /// A string has no NUL at its end.
    #[error("{:?}: {what} does not end with a NUL", char::from(*.code))]
    Unterminated {
        /// Of the command or reply.
        code: u8,
        /// Which string.
        what: &'static str,
    },
    /// No address family has this code.
    #[error("address family {:?}", char::from(*.0))]
    Family(u8),
    /// Macros come in pairs.
    #[error("a macro without a value")]
    OddMacros,
    /// A reply goes on where it should end. Commands may: `libmilter` takes what it knows and leaves the rest.
    #[error("{:?}: {bytes} bytes too many", char::from(*.code))]
    Excess {
        /// Of the reply.
        code: u8,
        /// How many.
        bytes: usize,
    },
    /// No version that is spoken here.
    #[error("protocol version {0}, where 2 or later is spoken")]
    Version(u32),
    /// Right by itself, wrong at this time.
    #[error("{:?} {after}", char::from(*.code))]
    OutOfOrder {
        /// Of the command or reply.
        code: u8,
        /// Where the conversation stands.
        after: &'static str,
    },
    /// The other side negotiated what was not on offer.
    #[error("negotiated {found:#x}, where {offered:#x} was offered")]
    NotOffered {
        /// Bits or version found.
        found: u32,
        /// Bits or version offered.
        offered: u32,
    },
}

impl ProtocolError {
    /// By which it is counted.
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

/// Kinds of protocol errors, as they are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolErrorKind {
    /// Longer than is taken.
    TooLong,
    /// No such command.
    UnknownCode,
    /// A command that cannot be read.
    Malformed,
    /// A command at the wrong time.
    OutOfOrder,
    /// A version that is not spoken, or what was not on offer.
    Negotiation,
}

impl ProtocolErrorKind {
    /// All of them, in the order of their counters.
    pub const ALL: [Self; 5] =
        [Self::TooLong, Self::UnknownCode, Self::Malformed, Self::OutOfOrder, Self::Negotiation];

    /// As a label of metrics.
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

/// The caller wants to say what the protocol has no way to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Strings end at their first NUL.
    #[error("{what} holds a NUL")]
    Nul {
        /// Which string.
        what: &'static str,
    },
    /// Longer than a length can say.
    #[error("a frame of {bytes} bytes")]
    TooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// SMTP replies of a filter are 4yz or 5yz.
    #[error("SMTP reply code {0}, where 400 to 599 is allowed")]
    Code(u16),
    /// An extended code's class is that of the code.
    #[error("extended code {found:?} beside SMTP reply code {code}")]
    ExtendedCode {
        /// The SMTP reply code.
        code: u16,
        /// The extended code.
        found: (u16, u16, u16),
    },
    /// A line of an SMTP reply is printable, and not longer than RFC 5321 4.5.3.1.5 allows.
    #[error("a line of an SMTP reply with control characters, or of {bytes} bytes")]
    Line {
        /// Its bytes.
        bytes: usize,
    },
}
