//! The steps of a connection and their order.

use crate::protocol::{MilterCommand, ProtocolError, Steps};

/// A step that is passed to a filter. The variants are in the order of the steps.
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
    /// An unknown command comes at any time and changes nothing.
    Unknown,
}

impl SessionStep {
    /// Returns the flag by which the filter opts out of the reply.
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

    /// Returns true for a step that concerns all messages of the connection.
    pub(super) fn is_of_connection(self) -> bool {
        self <= Self::Helo
    }
}

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionPhase {
    /// Nothing was received.
    Fresh,
    /// The options were negotiated, and no client is known.
    Agreed,
    /// A client is known, and no message is in progress.
    Greeted,
    /// A message is in progress. This was its last step.
    In(SessionStep),
}

impl SessionPhase {
    fn description(self) -> &'static str {
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

    /// Checks that `command` is allowed in this phase. `left_out` are the steps that the MTA was asked not to send.
    ///
    /// Headers, DATA and the body may be missing from any message. MAIL and RCPT may be missing only if they were left
    /// out. HELO, MAIL and ABORT start again and may come in the middle of a message.
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
        // A step may repeat, so that only a later step excludes `next`.
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
            // A message has at most one DATA and one end of headers.
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
            false => Err(ProtocolError::OutOfOrder { code: command.code(), after: self.description() }),
        }
    }
}
