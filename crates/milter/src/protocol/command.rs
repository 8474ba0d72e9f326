//! What an MTA says: `SMFIC_*`.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use super::code;
use super::error::{EncodeError, ProtocolError};
use super::frame::{MilterFrame, put, put_string};
use super::options::NegotiationOptions;
use super::text::{FrameReader, MacroPairs, NulStrings};

/// A command, its strings where they were received. What is behind the last string of a command is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MilterCommand<'a> {
    /// What the MTA speaks and offers.
    Negotiate(NegotiationOptions),
    /// Macros for the command with the code `of`, which may follow or not.
    Macros {
        /// A command's code.
        of: u8,
        /// Names and values.
        pairs: MacroPairs<'a>,
    },
    /// A client has connected to the MTA.
    Connect(ConnectInfo<'a>),
    /// HELO or EHLO, with its argument.
    Helo(&'a [u8]),
    /// MAIL.
    Mail(EnvelopeAddress<'a>),
    /// RCPT.
    Recipient(EnvelopeAddress<'a>),
    /// DATA.
    Data,
    /// One header. What the line ends of a folded value are is the MTA's choice: Postfix and Sendmail send LF.
    Header {
        /// Before the colon.
        name: &'a [u8],
        /// Behind it: with [`super::Steps::LEADING_SPACE`] all, else without the first space.
        value: &'a [u8],
    },
    /// All headers were sent.
    EndOfHeaders,
    /// A piece of the body, of at most [`super::CHUNK_BYTES`] bytes from most MTAs, cut anywhere.
    Body(&'a [u8]),
    /// The end of the message, with the last piece of its body, which may be empty.
    EndOfMessage(&'a [u8]),
    /// This message is over, the connection is not.
    Abort,
    /// The connection is over.
    Quit,
    /// The connection is over, and another one follows on the same socket.
    QuitNewConnection,
    /// A command that the MTA does not know.
    Unknown(&'a [u8]),
}

/// Who has connected to the MTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectInfo<'a> {
    /// Its name, or its address in brackets.
    pub host: &'a [u8],
    /// How it has come.
    pub family: AddressFamily,
    /// Its port; 0 where there is none or none is known.
    pub port: u16,
    /// Its address as text, or the path of its socket; empty where nothing is known.
    pub address: &'a [u8],
}

/// How a client has come to the MTA: `SMFIA_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressFamily {
    /// Nothing is known.
    Unknown,
    /// UNIX socket.
    Unix,
    /// IPv4.
    Inet,
    /// IPv6.
    Inet6,
}

impl AddressFamily {
    /// On the wire.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Unknown => b'U',
            Self::Unix => b'L',
            Self::Inet => b'4',
            Self::Inet6 => b'6',
        }
    }

    fn read(byte: u8) -> Option<Self> {
        [Self::Unknown, Self::Unix, Self::Inet, Self::Inet6].into_iter().find(|family| family.code() == byte)
    }
}

impl<'a> ConnectInfo<'a> {
    /// Its address, where it is one. Sendmail writes `IPv6:` before those of version 6.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        let text = std::str::from_utf8(self.address).ok()?;
        match self.family {
            AddressFamily::Unknown | AddressFamily::Unix => None,
            AddressFamily::Inet => IpAddr::from_str(text).ok(),
            AddressFamily::Inet6 => {
                let has_label = text.get(..5).is_some_and(|label| label.eq_ignore_ascii_case("IPv6:"));
                let text = if has_label { &text[5..] } else { text };
                Ipv6Addr::from_str(text).ok().map(IpAddr::V6)
            }
        }
    }

    fn read(mut reader: FrameReader<'a>) -> Result<Self, ProtocolError> {
        let host = reader.string("the host's name")?;
        let family = reader.byte("the address family")?;
        let family = AddressFamily::read(family).ok_or(ProtocolError::Family(family))?;
        if family == AddressFamily::Unknown {
            return Ok(Self { host, family, port: 0, address: b"" });
        }
        let port = reader.u16("the port")?;
        Ok(Self { host, family, port, address: reader.string("the address")? })
    }

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_string(out, self.host, "the host's name")?;
        out.push(self.family.code());
        if self.family == AddressFamily::Unknown {
            return Ok(());
        }
        out.extend_from_slice(&self.port.to_be_bytes());
        put_string(out, self.address, "the address")
    }
}

/// An address of an envelope with its ESMTP arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvelopeAddress<'a>(NulStrings<'a>);

impl<'a> EnvelopeAddress<'a> {
    /// Of strings one behind the other, each with a NUL at its end; None where there is not even one.
    #[must_use]
    pub fn new(strings: &'a [u8]) -> Option<Self> {
        matches!(strings, [.., 0]).then_some(Self(NulStrings(strings)))
    }

    /// The address as the client has written it, mostly in angle brackets.
    #[must_use]
    pub fn address(&self) -> &'a [u8] {
        self.0.clone().next().unwrap_or_default()
    }

    /// ESMTP arguments, like `SIZE=1000`.
    pub fn arguments(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.0.skip(1)
    }
}

impl<'a> MilterCommand<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    /// There is no such command, or it is cut short.
    pub fn read(frame: MilterFrame<'a>) -> Result<Self, ProtocolError> {
        let MilterFrame { code, data } = frame;
        let mut reader = FrameReader::new(code, data);
        Ok(match code {
            code::OPTNEG => Self::Negotiate(NegotiationOptions::read(data)?),
            code::MACRO => {
                Self::Macros { of: reader.byte("the command of macros")?, pairs: reader.pairs("a macro")? }
            }
            code::CONNECT => Self::Connect(ConnectInfo::read(reader)?),
            code::HELO => Self::Helo(reader.string("the argument")?),
            code::MAIL => Self::Mail(EnvelopeAddress(reader.strings("the sender")?)),
            code::RCPT => Self::Recipient(EnvelopeAddress(reader.strings("the recipient")?)),
            code::DATA => Self::Data,
            code::HEADER => Self::Header {
                name: reader.string("the header's name")?,
                value: reader.string("the header's value")?,
            },
            code::EOH => Self::EndOfHeaders,
            code::BODY => Self::Body(reader.rest()),
            code::BODY_EOB => Self::EndOfMessage(reader.rest()),
            code::ABORT => Self::Abort,
            code::QUIT => Self::Quit,
            code::QUIT_NC => Self::QuitNewConnection,
            code::UNKNOWN => Self::Unknown(reader.string("the command")?),
            unknown => return Err(ProtocolError::UnknownCode(unknown)),
        })
    }

    /// On the wire.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Negotiate(_) => code::OPTNEG,
            Self::Macros { .. } => code::MACRO,
            Self::Connect(_) => code::CONNECT,
            Self::Helo(_) => code::HELO,
            Self::Mail(_) => code::MAIL,
            Self::Recipient(_) => code::RCPT,
            Self::Data => code::DATA,
            Self::Header { .. } => code::HEADER,
            Self::EndOfHeaders => code::EOH,
            Self::Body(_) => code::BODY,
            Self::EndOfMessage(_) => code::BODY_EOB,
            Self::Abort => code::ABORT,
            Self::Quit => code::QUIT,
            Self::QuitNewConnection => code::QUIT_NC,
            Self::Unknown(_) => code::UNKNOWN,
        }
    }

    /// Appends it as a frame; where that fails nothing is appended.
    ///
    /// # Errors
    /// A string holds a NUL, or all is longer than 4 GiB.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Self::Negotiate(options) = self {
            return options.encode(out);
        }
        put(out, self.code(), |out| self.encode_data(out))
    }

    fn encode_data(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Self::Macros { of, pairs } => {
                out.push(*of);
                out.extend_from_slice(pairs.as_bytes());
            }
            Self::Connect(connect) => connect.encode(out)?,
            Self::Helo(argument) => put_string(out, argument, "the argument")?,
            Self::Mail(envelope) | Self::Recipient(envelope) => out.extend_from_slice(envelope.0.as_bytes()),
            Self::Header { name, value } => {
                put_string(out, name, "the header's name")?;
                put_string(out, value, "the header's value")?;
            }
            Self::Body(bytes) | Self::EndOfMessage(bytes) => out.extend_from_slice(bytes),
            Self::Unknown(command) => put_string(out, command, "the command")?,
            Self::Negotiate(_)
            | Self::Data
            | Self::EndOfHeaders
            | Self::Abort
            | Self::Quit
            | Self::QuitNewConnection => {}
        }
        Ok(())
    }
}
