//! Steps of a connection, and which may follow which.

use crate::protocol::{MilterCommand, ProtocolError, Steps};

/// A step that a filter is told, in the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SessionStep {
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

impl SessionStep {
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
pub(super) enum SessionPhase {
    /// Nothing was said.
    Fresh,
    /// It was negotiated, and no client is known.
    Agreed,
    /// A client is known, and no message under way.
    Greeted,
    /// A message is: this was its last step.
    In(SessionStep),
}

impl SessionPhase {
    fn says(self) -> &'static str {
        match self {
            Self::Fresh => "before the negotiation",
            Self::Agreed => "before a client connected",
            Self::Greeted => "between messages",
            Self::In(SessionStep::Mail) => "after MAIL",
            Self::In(SessionStep::Recipient) => "after RCPT",
            Self::In(SessionStep::Data) => "after DATA",
            Self::In(SessionStep::Header) => "after a header",
            Self::In(SessionStep::EndOfHeaders) => "after the end of headers",
            Self::In(SessionStep::Body) => "after a body chunk",
            Self::In(_) => "at the end of a message",
        }
    }

    /// Whether `command` may come here, where `left_out` are steps that the MTA was asked not to send.
    ///
    /// Headers, DATA and body may be missing from any message, MAIL and RCPT only where they were left out. What begins anew (HELO,
    /// MAIL, ABORT) may come in the middle of a message.
    pub(super) fn check(self, command: &MilterCommand<'_>, left_out: Steps) -> Result<(), ProtocolError> {
        let is_client_known = match self {
            Self::Fresh => false,
            Self::Agreed => left_out.contains(Steps::NO_CONNECT),
            Self::Greeted | Self::In(_) => true,
        };
        let has_envelope = |needed: Steps| match self {
            Self::In(SessionStep::Mail) => left_out.contains(needed & Steps::NO_RECIPIENT),
            Self::In(_) => true,
            _ => is_client_known && left_out.contains(needed),
        };
        let is_before = |next: SessionStep| !matches!(self, Self::In(last) if last > next);
        let is_in_content = |next| is_before(next) && has_envelope(Steps::NO_MAIL | Steps::NO_RECIPIENT);
        let is_allowed = match command {
            MilterCommand::Negotiate(_) => self == Self::Fresh,
            MilterCommand::Quit => true,
            MilterCommand::Macros { .. }
            | MilterCommand::Abort
            | MilterCommand::QuitNewConnection
            | MilterCommand::Unknown(_) => self != Self::Fresh,
            MilterCommand::Connect(_) => self == Self::Agreed,
            MilterCommand::Helo(_) | MilterCommand::Mail(_) => is_client_known,
            MilterCommand::Recipient(_) => is_before(SessionStep::Recipient) && has_envelope(Steps::NO_MAIL),
            // There is one DATA, and one end of headers.
            MilterCommand::Data => self != Self::In(SessionStep::Data) && is_in_content(SessionStep::Data),
            MilterCommand::Header { .. } => is_in_content(SessionStep::Header),
            MilterCommand::EndOfHeaders => {
                self != Self::In(SessionStep::EndOfHeaders) && is_in_content(SessionStep::EndOfHeaders)
            }
            MilterCommand::Body(_) => is_in_content(SessionStep::Body),
            MilterCommand::EndOfMessage(_) => is_in_content(SessionStep::EndOfMessage),
        };
        match is_allowed {
            true => Ok(()),
            false => Err(ProtocolError::OutOfOrder { code: command.code(), after: self.says() }),
        }
    }
}
