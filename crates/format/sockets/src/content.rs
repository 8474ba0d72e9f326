//! The content of a record.

use std::fmt;

/// The kind of content of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// An alert of TLS.
    Alert,
    /// Bytes of handshake messages of TLS.
    Handshake,
    /// Application data of TLS.
    ApplicationData,
    /// The payload of an SSH packet: a message number and the message.
    Packet,
}

impl Content {
    /// Returns the number of the type in TLS. RFC 8446 5.1.
    pub(crate) fn tls_type(self) -> Option<u8> {
        match self {
            Self::Alert => Some(21),
            Self::Handshake => Some(22),
            Self::ApplicationData => Some(23),
            Self::Packet => None,
        }
    }

    pub(crate) fn from_tls_type(number: u8) -> Option<Self> {
        [Self::Alert, Self::Handshake, Self::ApplicationData]
            .into_iter()
            .find(|content| content.tls_type() == Some(number))
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alert => "an alert",
            Self::Handshake => "a handshake message",
            Self::ApplicationData => "application data",
            Self::Packet => "an SSH packet",
        })
    }
}
