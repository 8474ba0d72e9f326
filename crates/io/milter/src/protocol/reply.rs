//! The replies of a filter: `SMFIR_*`.

use super::change::MessageChange;
use super::code;
use super::error::{EncodeError, ProtocolError};
use super::frame::{MilterFrame, write_frame, write_string};
use super::options::NegotiationOptions;
use super::smtp::SmtpReply;
use super::text::FrameReader;

/// A reply. It owns its data, because an MTA collects all changes before it applies them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterReply {
    /// The choice among the offered options.
    Negotiate(NegotiationOptions),
    /// Continues.
    Continue,
    /// Accepts this message, or all of this connection, without asking further.
    Accept,
    /// Rejects for good.
    Reject,
    /// Rejects for now.
    Tempfail,
    /// Accepts and discards the message.
    Discard,
    /// Ends this step for this message.
    Skip,
    /// Asks for more time: the MTA starts its timeout again.
    Progress,
    /// Makes the MTA reply 421 and close the connection.
    Shutdown,
    /// Makes the MTA cut the client's connection.
    ConnectionFailure,
    /// Rejects with this SMTP reply in its transmitted form: `%` is doubled, and there is no NUL.
    Smtp(Vec<u8>),
    /// Asks for a change at the end of the message. A new body comes in pieces.
    Change(MessageChange),
}

impl FilterReply {
    /// Reads a frame.
    ///
    /// # Errors
    /// The code is unknown, or the data is truncated or too long. Postfix closes the connection for that.
    pub fn read(frame: MilterFrame<'_>) -> Result<Self, ProtocolError> {
        let MilterFrame { code, data } = frame;
        let mut reader = FrameReader::new(code, data);
        let reply = match code {
            code::OPTNEG => return Ok(Self::Negotiate(NegotiationOptions::read(data)?)),
            code::CONTINUE => Self::Continue,
            code::ACCEPT => Self::Accept,
            code::REJECT => Self::Reject,
            code::TEMPFAIL => Self::Tempfail,
            code::DISCARD => Self::Discard,
            code::SKIP => Self::Skip,
            code::PROGRESS => Self::Progress,
            code::SHUTDOWN => Self::Shutdown,
            code::CONNECTION_FAILURE => Self::ConnectionFailure,
            code::REPLY_CODE => Self::Smtp(reader.string("the SMTP reply")?.to_vec()),
            code::REPLACE_BODY => {
                return Ok(Self::Change(MessageChange::ReplaceBody(reader.rest().to_vec())));
            }
            _ => Self::Change(read_change(code, &mut reader)?),
        };
        reader.end().map(|()| reply)
    }

    /// Appends the reply as a frame, with header values unchanged. On an error nothing is appended.
    ///
    /// # Errors
    /// A string holds a NUL, or the frame is longer than 4 GiB.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let code = match self {
            Self::Negotiate(options) => return options.encode(out),
            Self::Change(change) => return change.encode(true, out),
            Self::Smtp(text) => {
                return write_frame(out, code::REPLY_CODE, |out| write_string(out, text, "the SMTP reply"));
            }
            Self::Continue => code::CONTINUE,
            Self::Accept => code::ACCEPT,
            Self::Reject => code::REJECT,
            Self::Tempfail => code::TEMPFAIL,
            Self::Discard => code::DISCARD,
            Self::Skip => code::SKIP,
            Self::Progress => code::PROGRESS,
            Self::Shutdown => code::SHUTDOWN,
            Self::ConnectionFailure => code::CONNECTION_FAILURE,
        };
        write_frame(out, code, |_| Ok(()))
    }
}

impl From<&SmtpReply> for FilterReply {
    fn from(reply: &SmtpReply) -> Self {
        Self::Smtp(reply.for_wire())
    }
}

fn read_change(code: u8, reader: &mut FrameReader<'_>) -> Result<MessageChange, ProtocolError> {
    Ok(match code {
        code::ADD_HEADER => {
            let (name, value) = read_header(reader)?;
            MessageChange::AddHeader { name, value }
        }
        code::INSERT_HEADER => {
            let index = reader.u32("the index")?;
            let (name, value) = read_header(reader)?;
            MessageChange::InsertHeader { index, name, value }
        }
        code::CHANGE_HEADER => {
            let index = reader.u32("the index")?;
            let (name, value) = read_header(reader)?;
            MessageChange::ChangeHeader { index, name, value }
        }
        code::ADD_RCPT => MessageChange::AddRecipient { address: read_address(reader)?, arguments: None },
        code::ADD_RCPT_PAR => {
            MessageChange::AddRecipient { address: read_address(reader)?, arguments: read_arguments(reader)? }
        }
        code::DELETE_RCPT => MessageChange::DeleteRecipient(read_address(reader)?),
        code::CHANGE_FROM => {
            MessageChange::ChangeFrom { address: read_address(reader)?, arguments: read_arguments(reader)? }
        }
        code::QUARANTINE => MessageChange::Quarantine(reader.string("the reason")?.to_vec()),
        unknown => return Err(ProtocolError::UnknownCode(unknown)),
    })
}

fn read_header(reader: &mut FrameReader<'_>) -> Result<(Vec<u8>, Vec<u8>), ProtocolError> {
    let name = reader.string("the header's name")?.to_vec();
    Ok((name, reader.string("the header's value")?.to_vec()))
}

fn read_address(reader: &mut FrameReader<'_>) -> Result<Vec<u8>, ProtocolError> {
    Ok(reader.string("the address")?.to_vec())
}

fn read_arguments(reader: &mut FrameReader<'_>) -> Result<Option<Vec<u8>>, ProtocolError> {
    match reader.is_empty() {
        true => Ok(None),
        false => Ok(Some(reader.string("ESMTP arguments")?.to_vec())),
    }
}
