//! What a filter asks an MTA to do to a message, at its end.

use super::CHUNK_BYTES;
use super::code;
use super::error::EncodeError;
use super::flags::Actions;
use super::frame::{put, put_string};

/// One change. Header values are what stands behind the colon, the space there included, with LF where they are folded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MessageChange {
    /// A header behind all others.
    AddHeader {
        /// Before the colon.
        name: Vec<u8>,
        /// Behind it.
        value: Vec<u8>,
    },
    /// A header before the one at `index`, 0 the first: among all that the message will have, the MTA's own `Received` too.
    InsertHeader {
        /// Where.
        index: u32,
        /// Before the colon.
        name: Vec<u8>,
        /// Behind it.
        value: Vec<u8>,
    },
    /// Another value for the `index`th header of this name, from 1, among those that the filter was told; an empty value removes it.
    /// MTAs differ in whether later headers of the name count one less then: who removes several begins with the last
    /// (CVE-2022-48521).
    ChangeHeader {
        /// Which one of this name.
        index: u32,
        /// Before the colon.
        name: Vec<u8>,
        /// Behind it.
        value: Vec<u8>,
    },
    /// Another body, with CRLF at line ends. Postfix takes one per message.
    ReplaceBody(Vec<u8>),
    /// One more recipient.
    AddRecipient {
        /// In angle brackets.
        address: Vec<u8>,
        /// ESMTP arguments between spaces, where there are any.
        arguments: Option<Vec<u8>>,
    },
    /// One recipient less, named as the filter was told.
    DeleteRecipient(Vec<u8>),
    /// Another sender.
    ChangeFrom {
        /// In angle brackets.
        address: Vec<u8>,
        /// ESMTP arguments between spaces, where there are any.
        arguments: Option<Vec<u8>>,
    },
    /// The message is held, for this reason. Postfix shows 100 bytes of it.
    Quarantine(Vec<u8>),
}

impl MessageChange {
    /// What must have been negotiated for it.
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

    /// Appends it, as one frame or, where it is a long body, several; where that fails nothing is appended. Where
    /// [`super::Steps::LEADING_SPACE`] was not negotiated the MTA adds a space before header values, so one that is there is left out.
    ///
    /// # Errors
    /// A string holds a NUL, or all is longer than 4 GiB.
    pub fn encode(&self, has_leading_space: bool, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let behind =
            |value: &'_ [u8]| -> usize { usize::from(!has_leading_space && value.first() == Some(&b' ')) };
        match self {
            Self::AddHeader { name, value } => {
                put_header(out, code::ADD_HEADER, None, name, &value[behind(value)..])
            }
            Self::InsertHeader { index, name, value } => {
                put_header(out, code::INSERT_HEADER, Some(*index), name, &value[behind(value)..])
            }
            Self::ChangeHeader { index, name, value } => {
                put_header(out, code::CHANGE_HEADER, Some(*index), name, &value[behind(value)..])
            }
            Self::ReplaceBody(body) => put_body(out, body),
            Self::AddRecipient { address, arguments } => {
                let code = if arguments.is_some() { code::ADD_RCPT_PAR } else { code::ADD_RCPT };
                put_address(out, code, address, arguments.as_deref())
            }
            Self::DeleteRecipient(address) => put_address(out, code::DELETE_RCPT, address, None),
            Self::ChangeFrom { address, arguments } => {
                put_address(out, code::CHANGE_FROM, address, arguments.as_deref())
            }
            Self::Quarantine(reason) => {
                put(out, code::QUARANTINE, |out| put_string(out, reason, "the reason"))
            }
        }
    }
}

fn put_header(
    out: &mut Vec<u8>,
    code: u8,
    index: Option<u32>,
    name: &[u8],
    value: &[u8],
) -> Result<(), EncodeError> {
    put(out, code, |out| {
        if let Some(index) = index {
            out.extend_from_slice(&index.to_be_bytes());
        }
        put_string(out, name, "the header's name")?;
        put_string(out, value, "the header's value")
    })
}

/// An empty body needs a frame too, or it would not be replaced.
fn put_body(out: &mut Vec<u8>, body: &[u8]) -> Result<(), EncodeError> {
    let (first, rest) = body.split_at(body.len().min(CHUNK_BYTES));
    for chunk in std::iter::once(first).chain(rest.chunks(CHUNK_BYTES)) {
        put(out, code::REPLACE_BODY, |out| {
            out.extend_from_slice(chunk);
            Ok(())
        })?;
    }
    Ok(())
}

fn put_address(
    out: &mut Vec<u8>,
    code: u8,
    address: &[u8],
    arguments: Option<&[u8]>,
) -> Result<(), EncodeError> {
    put(out, code, |out| {
        put_string(out, address, "the address")?;
        arguments.map_or(Ok(()), |arguments| put_string(out, arguments, "ESMTP arguments"))
    })
}
