//! Frames: the bytes of a record around its payload, without any cryptography.

mod numbers;
mod ssh;
mod tls;

use std::ops::Range;

use smallvec::SmallVec;

use crate::content::Content;
use crate::error::{OpeningError, SealingError};
use crate::random::RandomBytes;
use crate::suite::Protocol;

pub(crate) use self::numbers::RecordNumbers;

/// A short string of bytes, mostly without an allocation.
pub(crate) type ShortBytes = SmallVec<[u8; 32]>;

/// A record to seal: everything but its payload.
///
/// The wire has `prefix`, then the ciphertext of `head`, payload and `tail` (`body_len` bytes), then a tag of
/// `tag_len` bytes.
pub(crate) struct SealFrame {
    /// The bytes in clear in front: the header and the IV that the record carries.
    pub(crate) prefix: ShortBytes,
    pub(crate) iv: ShortBytes,
    pub(crate) aad: ShortBytes,
    /// The plaintext in front of the payload.
    pub(crate) head: ShortBytes,
    /// The plaintext behind the payload.
    pub(crate) tail: ShortBytes,
    pub(crate) sequence: u64,
    pub(crate) body_len: usize,
    pub(crate) tag_len: usize,
}

impl SealFrame {
    /// Returns the number of bytes on the wire.
    pub(crate) fn wire_len(&self) -> usize {
        self.prefix.len() + self.body_len + self.tag_len
    }
}

/// A record to open: spans in the wire buffer.
pub(crate) struct OpenFrame {
    /// The number of bytes of the whole record.
    pub(crate) used: usize,
    /// The ciphertext.
    pub(crate) body: Range<usize>,
    /// The detached tag.
    pub(crate) tag: Range<usize>,
    pub(crate) iv: ShortBytes,
    pub(crate) aad: ShortBytes,
    pub(crate) sequence: u64,
    /// The type of content in the header of TLS.
    pub(crate) outer_type: u8,
}

/// The length of the record at the start of a wire buffer.
pub(crate) enum FrameLen {
    /// At least so many bytes are missing.
    NeedMore(usize),
    /// The record has so many bytes.
    Known(usize),
}

/// Parts of a record that the sealer would choose itself, for records that must come out equal to given ones, and for
/// padding that hides lengths.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordChoices<'a> {
    /// The IV that the record carries, as long as [`Suite::explicit_iv_len`](crate::Suite::explicit_iv_len) says. Two
    /// records of one key must never have the same one.
    pub explicit_iv: Option<&'a [u8]>,
    /// The padding of an SSH packet: 4 to 255 bytes that fill the last block. RFC 4253 section 6.
    pub padding: Option<&'a [u8]>,
    /// The number of zeros behind the content of a record of TLS 1.3. RFC 8446 5.4.
    pub zeros: usize,
}

/// Frames a payload of `payload_len` bytes.
pub(crate) fn seal_frame(
    numbers: &mut RecordNumbers,
    content: Content,
    payload_len: usize,
    choices: &RecordChoices<'_>,
    random: &mut RandomBytes,
) -> Result<SealFrame, SealingError> {
    match numbers.suite.protocol() {
        Protocol::Ssh => ssh::seal_frame(numbers, content, payload_len, choices, random),
        _ => tls::seal_frame(numbers, content, payload_len, choices, random),
    }
}

/// Returns the content of an opened body, and its span in the body.
pub(crate) fn read_content(
    numbers: &RecordNumbers,
    frame: &OpenFrame,
    body: &[u8],
) -> Result<(Content, Range<usize>), OpeningError> {
    match numbers.suite.protocol() {
        Protocol::Ssh => ssh::read_content(numbers.suite, body),
        _ => tls::read_content(numbers.suite, frame.outer_type, body),
    }
}

pub(crate) use self::ssh::{
    MAX_PACKET_LEN, PacketLen, check_packet_len, clear_packet_len, has_clear_length,
    open_frame as open_ssh_frame,
};
pub(crate) use self::tls::{frame_len as tls_frame_len, open_frame as open_tls_frame};
