//! The changes that a filter asks for at the end of a message.

use super::CHUNK_BYTES;
use super::code;
use super::error::EncodeError;
use super::flags::Actions;
use super::frame::{write_frame, write_string};

/// One change of a message. A header value starts right after the colon, with its space, and has LF at its folds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MessageChange {
    /// Adds a header after all others.
    AddHeader {
        /// The text before the colon.
        name: Vec<u8>,
        /// The text after the colon.
        value: Vec<u8>,
    },
    /// Inserts a header before the one at `index`. Index 0 is the first of all headers that the message will have, the
    /// MTA's own `Received` included.
    InsertHeader {
        /// The index, from 0.
        index: u32,
        /// The text before the colon.
        name: Vec<u8>,
        /// The text after the colon.
        value: Vec<u8>,
    },
    /// Changes the value of the `index`th header of this name, from 1, among those that the filter has seen. An empty
    /// value removes the header. After a removal, MTAs differ in how they count later headers of the name. Remove
    /// several headers from the last one on (CVE-2022-48521).
    ChangeHeader {
        /// The index among the headers of this name, from 1.
        index: u32,
        /// The text before the colon.
        name: Vec<u8>,
        /// The text after the colon.
        value: Vec<u8>,
    },
    /// Replaces the body. Line ends are CRLF. Postfix accepts one replacement per message.
    ReplaceBody(Vec<u8>),
    /// Adds a recipient.
    AddRecipient {
        /// The address in angle brackets.
        address: Vec<u8>,
        /// The ESMTP arguments, separated by spaces.
        arguments: Option<Vec<u8>>,
    },
    /// Removes a recipient. The address must be as the MTA sent it.
    DeleteRecipient(Vec<u8>),
    /// Changes the sender.
    ChangeFrom {
        /// The address in angle brackets.
        address: Vec<u8>,
        /// The ESMTP arguments, separated by spaces.
        arguments: Option<Vec<u8>>,
    },
    /// Quarantines the message for this reason. Postfix shows 100 bytes of it.
    Quarantine(Vec<u8>),
}

impl MessageChange {
    /// Returns the actions that must be negotiated for this change.
    #[must_use]
    pub fn needs(&self) -> Actions {
        match self {
            Self::AddHeader { .. } | Self::InsertHeader { .. } => Actions::ADD_HEADERS,
            Self::ChangeHeader { .. } => Actions::CHANGE_HEADERS,
            Self::ReplaceBody(_) => Actions::CHANGE_BODY,
            Self::AddRecipient { arguments: None, .. } => Actions::ADD_RECIPIENTS,
            Self::AddRecipient { .. } => Actions::ADD_RECIPIENTS_WITH_ARGUMENTS,
            Self::DeleteRecipient(_) => Actions::DELETE_RECIPIENTS,
            Self::ChangeFrom { .. } => Actions::CHANGE_FROM,
            Self::Quarantine(_) => Actions::QUARANTINE,
        }
    }

    /// Appends the change as one frame, or as several for a long body. On an error nothing is appended. Without
    /// [`super::Steps::LEADING_SPACE`] the MTA adds a space before a header value, so that the value's own space is
    /// left out.
    ///
    /// # Errors
    /// A string holds a NUL, or a frame is longer than 4 GiB.
    pub fn encode(&self, has_leading_space: bool, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let behind =
            |value: &'_ [u8]| -> usize { usize::from(!has_leading_space && value.first() == Some(&b' ')) };
        match self {
            Self::AddHeader { name, value } => {
                write_header(out, code::ADD_HEADER, None, name, &value[behind(value)..])
            }
            Self::InsertHeader { index, name, value } => {
                write_header(out, code::INSERT_HEADER, Some(*index), name, &value[behind(value)..])
            }
            Self::ChangeHeader { index, name, value } => {
                write_header(out, code::CHANGE_HEADER, Some(*index), name, &value[behind(value)..])
            }
            Self::ReplaceBody(body) => write_body(out, body),
            Self::AddRecipient { address, arguments } => {
                let code = if arguments.is_some() { code::ADD_RCPT_PAR } else { code::ADD_RCPT };
                write_address(out, code, address, arguments.as_deref())
            }
            Self::DeleteRecipient(address) => write_address(out, code::DELETE_RCPT, address, None),
            Self::ChangeFrom { address, arguments } => {
                write_address(out, code::CHANGE_FROM, address, arguments.as_deref())
            }
            Self::Quarantine(reason) => {
                write_frame(out, code::QUARANTINE, |out| write_string(out, reason, "the reason"))
            }
        }
    }
}

fn write_header(
    out: &mut Vec<u8>,
    code: u8,
    index: Option<u32>,
    name: &[u8],
    value: &[u8],
) -> Result<(), EncodeError> {
    write_frame(out, code, |out| {
        if let Some(index) = index {
            out.extend_from_slice(&index.to_be_bytes());
        }
        write_string(out, name, "the header's name")?;
        write_string(out, value, "the header's value")
    })
}

/// Writes a new body in chunks. An empty body needs a frame as well, or the MTA would keep the old one.
fn write_body(out: &mut Vec<u8>, body: &[u8]) -> Result<(), EncodeError> {
    let (first, rest) = body.split_at(body.len().min(CHUNK_BYTES));
    for chunk in std::iter::once(first).chain(rest.chunks(CHUNK_BYTES)) {
        write_frame(out, code::REPLACE_BODY, |out| {
            out.extend_from_slice(chunk);
            Ok(())
        })?;
    }
    Ok(())
}

fn write_address(
    out: &mut Vec<u8>,
    code: u8,
    address: &[u8],
    arguments: Option<&[u8]>,
) -> Result<(), EncodeError> {
    write_frame(out, code, |out| {
        write_string(out, address, "the address")?;
        arguments.map_or(Ok(()), |arguments| write_string(out, arguments, "ESMTP arguments"))
    })
}
