//! Steps of a connection, and which may follow which.

use crate::protocol::{Command, ProtocolError, Steps};

/// A step that a filter is told, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Connect,
    Helo,
    Mail,
    Recipient,
    Data,
    Header,
    EndOfHeaders,
    Body,
    EndOfMessage,
    /// Comes at any time and changes nothing.
    Unknown,
}

impl Step {
    /// Negotiated where it gets no reply.
    pub(super) fn without_reply(self) -> Steps {
        match self {
            Self::Connect => Steps::NO_REPLY_CONNECT,
            Self::Helo => Steps::NO_REPLY_HELO,
            Self::Mail => Steps::NO_REPLY_MAIL,
            Self::Recipient => Steps::NO_REPLY_RECIPIENT,
            Self::Data => Steps::NO_REPLY_DATA,
            Self::Header => Steps::NO_REPLY_HEADER,
            Self::EndOfHeaders => Steps::NO_REPLY_END_OF_HEADERS,
            Self::Body => Steps::NO_REPLY_BODY,
            Self::EndOfMessage => Steps::NONE,
            Self::Unknown => Steps::NO_REPLY_UNKNOWN,
        }
    }

    /// What is said here holds for all messages of the connection.
    pub(super) fn is_of_connection(self) -> bool {
        self <= Self::Helo
    }
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing was said.
    Fresh,
    /// It was negotiated, and no client is known.
    Agreed,
    /// A client is known, and no message under way.
    Greeted,
    /// A message is: this was its last step.
    In(Step),
}

impl Place {
    fn says(self) -> &'static str {
        match self {
            Self::Fresh => "before the negotiation",
            Self::Agreed => "before a client connected",
            Self::Greeted => "between messages",
            Self::In(Step::Mail) => "after MAIL",
            Self::In(Step::Recipient) => "after RCPT",
            Self::In(Step::Data) => "after DATA",
            Self::In(Step::Header) => "after a header",
            Self::In(Step::EndOfHeaders) => "after the end of headers",
            Self::In(Step::Body) => "after a body chunk",
            Self::In(_) => "at the end of a message",
        }
    }

    /// Whether `command` may come here, where `left_out` are steps that the MTA was asked not to send.
    ///
    /// Headers, DATA and body may be missing from any message, MAIL and RCPT only where they were left out. What begins anew (HELO,
    /// MAIL, ABORT) may come in the middle of a message.
    pub(super) fn check(self, command: &Command<'_>, left_out: Steps) -> Result<(), ProtocolError> {
        let is_client_known = match self {
            Self::Fresh => false,
            Self::Agreed => left_out.contains(Steps::NO_CONNECT),
            Self::Greeted | Self::In(_) => true,
        };
        let has_envelope = |needed: Steps| match self {
            Self::In(Step::Mail) => left_out.contains(needed & Steps::NO_RECIPIENT),
            Self::In(_) => true,
            _ => is_client_known && left_out.contains(needed),
        };
        let is_before = |next: Step| !matches!(self, Self::In(last) if last > next);
        let is_in_content = |next| is_before(next) && has_envelope(Steps::NO_MAIL | Steps::NO_RECIPIENT);
        let is_allowed = match command {
            Command::Negotiate(_) => self == Self::Fresh,
            Command::Quit => true,
            Command::Macros { .. } | Command::Abort | Command::QuitNewConnection | Command::Unknown(_) => {
                self != Self::Fresh
            }
            Command::Connect(_) => self == Self::Agreed,
            Command::Helo(_) | Command::Mail(_) => is_client_known,
            Command::Recipient(_) => is_before(Step::Recipient) && has_envelope(Steps::NO_MAIL),
            // There is one DATA, and one end of headers.
            Command::Data => self != Self::In(Step::Data) && is_in_content(Step::Data),
            Command::Header { .. } => is_in_content(Step::Header),
            Command::EndOfHeaders => {
                self != Self::In(Step::EndOfHeaders) && is_in_content(Step::EndOfHeaders)
            }
            Command::Body(_) => is_in_content(Step::Body),
            Command::EndOfMessage(_) => is_in_content(Step::EndOfMessage),
        };
        match is_allowed {
            true => Ok(()),
            false => Err(ProtocolError::OutOfOrder { code: command.code(), after: self.says() }),
        }
    }
}
