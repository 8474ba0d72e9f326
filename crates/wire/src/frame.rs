//! Frames of a UNIX socket: a length of four bytes, little-endian, and a message.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;

use crate::WireError;

/// What a client writes first: the name and the version of the protocol.
pub const PREAMBLE: &[u8; 8] = b"oarlock\x01";

/// Bytes of a frame's length.
pub const HEADER_BYTES: usize = 4;

/// Appends a message as a frame.
///
/// # Errors
/// The message is longer than a frame can say, 4 GiB.
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
    message.encode_raw(buffer);
    Ok(())
}

/// Bytes of the message behind a frame's head; None where that is not all there yet.
///
/// # Errors
/// It is longer than `max` bytes: whoever sends that is not to be read any further.
pub fn len(received: &[u8], max: usize) -> Result<Option<usize>, WireError> {
    let Some(head) = received.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
    let len = u32::from_le_bytes(*head) as usize;
    match len > max {
        true => Err(WireError::TooMany { what: "bytes of a frame", found: len as u64, bound: max as u64 }),
        false => Ok(Some(len)),
    }
}

/// Takes the next frame's message out of what has been received; None where it is not all there yet.
///
/// # Errors
/// It is longer than `max` bytes: whoever sends that is not to be read any further.
pub fn take(received: &mut BytesMut, max: usize) -> Result<Option<Bytes>, WireError> {
    let Some(len) = len(received, max)? else { return Ok(None) };
    if received.len() < HEADER_BYTES + len {
        received.reserve(HEADER_BYTES + len - received.len());
        return Ok(None);
    }
    received.advance(HEADER_BYTES);
    Ok(Some(received.split_to(len).freeze()))
}
