//! Packets of SSH. RFC 4253 section 6, RFC 5647, and the forms of OpenSSH.

use std::ops::Range;

use oarlock::{AeadAlg, ChainOrder, Status};

use super::{OpenFrame, RecordChoices, RecordNumbers, SealFrame, ShortBytes};
use crate::content::Content;
use crate::error::{OpeningError, SealingError};
use crate::random::RandomBytes;
use crate::suite::{RecordTransform, Suite};

/// The largest packet, with its length in front and its tag behind. RFC 4253 6.1.
pub(crate) const MAX_PACKET_LEN: usize = 35_000;
const LENGTH_LEN: usize = 4;
/// RFC 4253 section 6.
const MIN_PADDING: usize = 4;
const MAX_PADDING: usize = 255;

/// True if the length of a packet is not encrypted: GCM, and encrypt-then-MAC.
pub(crate) fn has_clear_length(suite: Suite) -> bool {
    match suite.transform() {
        RecordTransform::Aead(alg) => alg != AeadAlg::ChaCha20Poly1305Ssh,
        RecordTransform::Chain { order, .. } => order == ChainOrder::EncryptThenMac,
    }
}

/// Returns the number that divides the length of what is encrypted.
fn block_len(suite: Suite) -> usize {
    match suite.transform() {
        // A stream cipher. RFC 4253 section 6 asks for 8.
        RecordTransform::Aead(AeadAlg::ChaCha20Poly1305Ssh) => 8,
        RecordTransform::Aead(_) => 16,
        RecordTransform::Chain { cipher, .. } => cipher.alg.block_len(),
    }
}

/// Returns the number of bytes of the length that count as part of the padded packet.
///
/// The length is padded with the packet only if the same cipher stream encrypts both (RFC 4253 section 6). The forms
/// of OpenSSH leave it out.
fn counted_length_len(suite: Suite) -> usize {
    match suite.transform() {
        RecordTransform::Chain { order: ChainOrder::EncryptAndMac, .. } => LENGTH_LEN,
        _ => 0,
    }
}

pub(super) fn seal_frame(
    numbers: &mut RecordNumbers,
    content: Content,
    payload_len: usize,
    choices: &RecordChoices<'_>,
    random: &mut RandomBytes,
) -> Result<SealFrame, SealingError> {
    let suite = numbers.suite;
    if content != Content::Packet || payload_len == 0 {
        return Err(SealingError::NoSuchContent { suite, content, found: payload_len });
    }
    let padding = choose_padding(suite, payload_len, choices, random)?;
    let packet_len = 1 + payload_len + padding.len();
    let max = MAX_PACKET_LEN - LENGTH_LEN - suite.tag_len() - 1 - MIN_PADDING - block_len(suite);
    if payload_len > max {
        return Err(SealingError::TooLong { suite, max, found: payload_len });
    }
    numbers
        .usage
        .count(LENGTH_LEN + packet_len)
        .map_err(|limit| SealingError::KeysUsedUp { suite, limit })?;

    // `packet_len` is below 35,000.
    let length = (packet_len as u32).to_be_bytes();
    let mut frame = SealFrame {
        prefix: ShortBytes::new(),
        iv: numbers.ssh_iv().ok_or(SealingError::Engine(Status::DependencyFailed))?,
        aad: ShortBytes::new(),
        head: ShortBytes::new(),
        tail: padding,
        sequence: u64::from(numbers.packet_number()),
        body_len: packet_len,
        tag_len: suite.tag_len(),
    };
    if has_clear_length(suite) {
        frame.prefix.extend_from_slice(&length);
    } else {
        frame.head.extend_from_slice(&length);
        frame.body_len += LENGTH_LEN;
    }
    frame.head.push(frame.tail.len() as u8);
    frame.aad = aad(numbers, length);
    numbers.advance(frame.body_len);
    Ok(frame)
}

/// Returns what the MAC covers besides the ciphertext or plaintext.
fn aad(numbers: &RecordNumbers, length: [u8; LENGTH_LEN]) -> ShortBytes {
    let number = numbers.packet_number().to_be_bytes();
    match numbers.suite.transform() {
        RecordTransform::Aead(AeadAlg::ChaCha20Poly1305Ssh) => ShortBytes::new(),
        RecordTransform::Aead(_) => ShortBytes::from_slice(&length),
        RecordTransform::Chain { order: ChainOrder::EncryptThenMac, .. } => {
            let mut aad = ShortBytes::from_slice(&number);
            aad.extend_from_slice(&length);
            aad
        }
        RecordTransform::Chain { .. } => ShortBytes::from_slice(&number),
    }
}

fn choose_padding(
    suite: Suite,
    payload_len: usize,
    choices: &RecordChoices<'_>,
    random: &mut RandomBytes,
) -> Result<ShortBytes, SealingError> {
    let block = block_len(suite);
    let padded = counted_length_len(suite) + 1 + payload_len;
    if let Some(padding) = choices.padding {
        let is_valid = (MIN_PADDING..=MAX_PADDING).contains(&padding.len())
            && (padded + padding.len()).is_multiple_of(block);
        let expected = "4 to 255 that fill the last block";
        let bad = SealingError::BadChoice { suite, what: "padding", expected, found: padding.len() };
        return if is_valid { Ok(ShortBytes::from_slice(padding)) } else { Err(bad) };
    }
    let mut len = padded.next_multiple_of(block) - padded;
    if len < MIN_PADDING {
        len += block;
    }
    let mut padding = ShortBytes::from_elem(0, len);
    random.fill(&mut padding)?;
    Ok(padding)
}

/// The length of a packet as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketLen {
    /// The whole packet has so many bytes.
    Good(usize),
    /// The length is not valid. The answer must not come before a packet of any length would have been refused, or it
    /// tells an attacker what a chosen block decrypts to. RFC 4253 6, and CPNI-957037.
    Bad,
}

/// Checks the length that was decrypted.
pub(crate) fn check_packet_len(suite: Suite, length: [u8; LENGTH_LEN]) -> PacketLen {
    match total_len(suite, length) {
        Ok(total) => PacketLen::Good(total),
        Err(_) => PacketLen::Bad,
    }
}

/// Reads the length of a packet whose length is in clear. It is no secret, so a bad one is refused at once.
pub(crate) fn clear_packet_len(suite: Suite, length: [u8; LENGTH_LEN]) -> Result<usize, OpeningError> {
    total_len(suite, length)
}

fn total_len(suite: Suite, length: [u8; LENGTH_LEN]) -> Result<usize, OpeningError> {
    let found = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    let (min, max) = (1 + MIN_PADDING, MAX_PACKET_LEN - LENGTH_LEN - suite.tag_len());
    if !(min..=max).contains(&found) {
        return Err(OpeningError::RecordLength { suite, min, max, found });
    }
    let block = block_len(suite);
    if !(counted_length_len(suite) + found).is_multiple_of(block) {
        return Err(OpeningError::NotWholeBlocks { suite, block, found });
    }
    Ok(LENGTH_LEN + found + suite.tag_len())
}

/// Returns the spans of a packet of `used` bytes.
pub(crate) fn open_frame(numbers: &RecordNumbers, wire: &[u8], used: usize) -> OpenFrame {
    let suite = numbers.suite;
    let start = if has_clear_length(suite) { LENGTH_LEN } else { 0 };
    let body = start..used - suite.tag_len();
    let mut length = [0; LENGTH_LEN];
    length.copy_from_slice(&wire[..LENGTH_LEN]);
    // The opener keeps the last block of each packet, so the IV is always known.
    let iv = numbers.ssh_iv().unwrap_or_default();
    let sequence = u64::from(numbers.packet_number());
    OpenFrame { used, tag: body.end..used, body, iv, aad: aad(numbers, length), sequence, outer_type: 0 }
}

/// Returns the payload of an opened body.
pub(super) fn read_content(suite: Suite, body: &[u8]) -> Result<(Content, Range<usize>), OpeningError> {
    let start = if has_clear_length(suite) { 0 } else { LENGTH_LEN };
    let found = body.get(start).map_or(0, |padding| usize::from(*padding));
    let payload_len = body.len().checked_sub(start + 1 + found).filter(|_| found >= MIN_PADDING);
    match payload_len {
        None => Err(OpeningError::BadPadding { found }),
        Some(0) => Err(OpeningError::EmptyContent { content: Content::Packet }),
        Some(len) => Ok((Content::Packet, start + 1..start + 1 + len)),
    }
}
