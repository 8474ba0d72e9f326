//! The commands of an MTA: `SMFIC_*`.

use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use super::code;
use super::error::{EncodeError, ProtocolError};
use super::frame::{MilterFrame, write_frame, write_string};
use super::options::NegotiationOptions;
use super::text::{FrameReader, MacroPairs, NulStrings};

/// A command. Its strings borrow from the frame. Data after the last string of a command is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MilterCommand<'a> {
    /// Offers a version, actions and steps.
    Negotiate(NegotiationOptions),
    /// Sends macros for the command with the code `of`. That command need not follow.
    Macros {
        /// The code of the command.
        of: u8,
        /// The names and values.
        pairs: MacroPairs<'a>,
    },
    /// Reports a client that connected to the MTA.
    Connect(ConnectInfo<'a>),
    /// Reports HELO or EHLO with its argument.
    Helo(&'a [u8]),
    /// Reports MAIL.
    Mail(EnvelopeAddress<'a>),
    /// Reports RCPT.
    Recipient(EnvelopeAddress<'a>),
    /// Reports DATA.
    Data,
    /// Sends one header. The MTA chooses the line ends of a folded value: Postfix and Sendmail send LF.
    Header {
        /// The text before the colon.
        name: &'a [u8],
        /// The text after the colon. Without [`super::Steps::LEADING_SPACE`] its first space is missing.
        value: &'a [u8],
    },
    /// Ends the headers.
    EndOfHeaders,
    /// Sends a piece of the body. Most MTAs send at most [`super::CHUNK_BYTES`] bytes and split anywhere.
    Body(&'a [u8]),
    /// Ends the message, with the last piece of its body, which may be empty.
    EndOfMessage(&'a [u8]),
    /// Aborts the message. The connection continues.
    Abort,
    /// Ends the connection.
    Quit,
    /// Ends the connection and starts another one on the same socket.
    QuitNewConnection,
    /// Reports a command that the MTA does not know.
    Unknown(&'a [u8]),
}

/// The client that connected to the MTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectInfo<'a> {
    /// The host name, or the address in brackets.
    pub host: &'a [u8],
    /// The address family.
    pub family: AddressFamily,
    /// The port, or 0 if it is unknown or the family has no ports.
    pub port: u16,
    /// The address as text, or the path of the socket. It is empty if the address is unknown.
    pub address: &'a [u8],
}

/// The address family of a client: `SMFIA_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressFamily {
    /// The family is unknown.
    Unknown,
    /// A UNIX socket.
    Unix,
    /// IPv4.
    Inet,
    /// IPv6.
    Inet6,
}

impl AddressFamily {
    /// Returns the code of the family.
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
    /// Returns the IP address, if the client has one. Sendmail writes `IPv6:` before an IPv6 address.
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
        write_string(out, self.host, "the host's name")?;
        out.push(self.family.code());
        if self.family == AddressFamily::Unknown {
            return Ok(());
        }
        out.extend_from_slice(&self.port.to_be_bytes());
        write_string(out, self.address, "the address")
    }
}

/// An envelope address with its ESMTP arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvelopeAddress<'a>(NulStrings<'a>);

impl<'a> EnvelopeAddress<'a> {
    /// Makes an address from consecutive strings, each with a NUL at its end. Returns None without a string.
    #[must_use]
    pub fn new(strings: &'a [u8]) -> Option<Self> {
        matches!(strings, [.., 0]).then_some(Self(NulStrings(strings)))
    }

    /// Returns the address as the client wrote it, usually in angle brackets.
    #[must_use]
    pub fn address(&self) -> &'a [u8] {
        self.0.clone().next().unwrap_or_default()
    }

    /// Returns the ESMTP arguments, such as `SIZE=1000`.
    pub fn arguments(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.0.skip(1)
    }
}

impl<'a> MilterCommand<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    /// The code is unknown, or the data is truncated.
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

    /// Returns the code of the command.
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

    /// Appends the command as a frame. On an error nothing is appended.
    ///
    /// # Errors
    /// A string holds a NUL, or the frame is longer than 4 GiB.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Self::Negotiate(options) = self {
            return options.encode(out);
        }
        write_frame(out, self.code(), |out| self.encode_data(out))
    }

    fn encode_data(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match self {
            Self::Macros { of, pairs } => {
                out.push(*of);
                out.extend_from_slice(pairs.as_bytes());
            }
            Self::Connect(connect) => connect.encode(out)?,
            Self::Helo(argument) => write_string(out, argument, "the argument")?,
            Self::Mail(envelope) | Self::Recipient(envelope) => out.extend_from_slice(envelope.0.as_bytes()),
            Self::Header { name, value } => {
                write_string(out, name, "the header's name")?;
                write_string(out, value, "the header's value")?;
            }
            Self::Body(bytes) | Self::EndOfMessage(bytes) => out.extend_from_slice(bytes),
            Self::Unknown(command) => write_string(out, command, "the command")?,
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
