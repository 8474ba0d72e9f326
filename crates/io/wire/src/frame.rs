//! The frames on a UNIX socket: a length of four bytes, little-endian, and a message.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;

use crate::WireError;

/// The first bytes of a client: the name and the version of the protocol.
pub const PREAMBLE: &[u8; 8] = b"oarlock\x01";

/// The bytes of a frame's length.
pub const HEADER_BYTES: usize = 4;

/// Appends a message as a frame.
///
/// # Errors
/// The message is longer than 4 GiB, the maximum of a frame.
pub fn write(message: &impl Message, buffer: &mut BytesMut) -> Result<(), WireError> {
    let found = message.encoded_len();
    let bound = u64::from(u32::MAX);
    let len = u32::try_from(found).map_err(|_| WireError::TooMany {
        what: "bytes of a message",
        found: found as u64,
        bound,
    })?;
    buffer.reserve(HEADER_BYTES + found);
    buffer.put_u32_le(len);
    // `encode` would compute the length a second time.
    message.encode_raw(buffer);
    Ok(())
}

/// Returns the length of a frame's message, or `None` if the header is not complete yet.
///
/// # Errors
/// The message is longer than `max` bytes. Read no further: the sender does not keep to the protocol.
pub fn len(received: &[u8], max: usize) -> Result<Option<usize>, WireError> {
    let Some(head) = received.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
    let len = u32::from_le_bytes(*head) as usize;
    match len > max {
        true => Err(WireError::TooMany { what: "bytes of a frame", found: len as u64, bound: max as u64 }),
        false => Ok(Some(len)),
    }
}

/// Takes the next message from the received bytes, or returns `None` if it is not complete yet.
///
/// # Errors
/// The message is longer than `max` bytes. Read no further: the sender does not keep to the protocol.
pub fn take(received: &mut BytesMut, max: usize) -> Result<Option<Bytes>, WireError> {
    let Some(len) = len(received, max)? else { return Ok(None) };
    if received.len() < HEADER_BYTES + len {
        // Reserved at once, and only after the check against `max`: a hostile length must not allocate.
        received.reserve(HEADER_BYTES + len - received.len());
        return Ok(None);
    }
    received.advance(HEADER_BYTES);
    Ok(Some(received.split_to(len).freeze()))
}
