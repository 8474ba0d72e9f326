//! Records of TLS 1.2 and TLS 1.3. RFC 5246 6.2, RFC 7366, RFC 8446 section 5.

use std::ops::Range;

use oarlock::ChainOrder;

use super::{FrameLen, OpenFrame, RecordChoices, RecordNumbers, SealFrame, ShortBytes};
use crate::content::Content;
use crate::error::{OpeningError, SealingError};
use crate::random::RandomBytes;
use crate::suite::{Protocol, RecordTransform, Suite};

/// The largest content. RFC 8446 5.1.
pub(crate) const MAX_CONTENT_LEN: usize = 1 << 14;
const HEADER_LEN: usize = 5;
const APPLICATION_DATA: u8 = 23;

pub(super) fn seal_frame(
    numbers: &mut RecordNumbers,
    content: Content,
    payload_len: usize,
    choices: &RecordChoices<'_>,
    random: &mut RandomBytes,
) -> Result<SealFrame, SealingError> {
    let suite = numbers.suite;
    let inner_type = content.tls_type().filter(|_| payload_len > 0 || content == Content::ApplicationData);
    let no_content = SealingError::NoSuchContent { suite, content, found: payload_len };
    let inner_type = inner_type.ok_or(no_content)?;
    let plain_len = payload_len.saturating_add(choices.zeros);
    if plain_len > MAX_CONTENT_LEN {
        return Err(SealingError::TooLong { suite, max: MAX_CONTENT_LEN, found: plain_len });
    }
    let explicit_iv = choose_iv(numbers, choices, random)?;
    numbers.usage.count(payload_len).map_err(|limit| SealingError::KeysUsedUp { suite, limit })?;
    let frame = match (suite.protocol(), suite.transform()) {
        (Protocol::Tls13, _) => seal_tls13(numbers, inner_type, payload_len, choices.zeros),
        (_, RecordTransform::Aead(_)) => seal_aead(numbers, inner_type, payload_len, &explicit_iv),
        (_, RecordTransform::Chain { cipher, mac, order }) => {
            let lens = CbcLens { block: cipher.alg.block_len(), mac: mac.tag_len() };
            seal_cbc(numbers, inner_type, payload_len, explicit_iv, lens, order)
        }
    };
    numbers.advance(frame.body_len);
    Ok(frame)
}

/// Returns the IV that the record carries: the chosen one; the sequence number for GCM (RFC 5288 section 3); random
/// bytes for CBC (RFC 5246 6.2.3.2).
fn choose_iv(
    numbers: &RecordNumbers,
    choices: &RecordChoices<'_>,
    random: &mut RandomBytes,
) -> Result<ShortBytes, SealingError> {
    let (suite, len) = (numbers.suite, numbers.suite.explicit_iv_len());
    match choices.explicit_iv {
        Some(iv) if iv.len() == len => Ok(ShortBytes::from_slice(iv)),
        Some(iv) => {
            let expected = if len == 0 {
                "none"
            } else if len == 8 {
                "8"
            } else {
                "16"
            };
            Err(SealingError::BadChoice { suite, what: "IV", expected, found: iv.len() })
        }
        None if matches!(suite.transform(), RecordTransform::Aead(_)) => {
            Ok(ShortBytes::from_slice(&numbers.sequence.to_be_bytes()[..len]))
        }
        None => {
            let mut iv = ShortBytes::from_elem(0, len);
            random.fill(&mut iv)?;
            Ok(iv)
        }
    }
}

fn seal_tls13(numbers: &RecordNumbers, inner_type: u8, payload_len: usize, zeros: usize) -> SealFrame {
    let body_len = payload_len + 1 + zeros;
    let header = header(APPLICATION_DATA, body_len + numbers.suite.tag_len());
    let mut tail = ShortBytes::from_elem(0, 1 + zeros);
    tail[0] = inner_type;
    SealFrame {
        prefix: header.clone(),
        iv: numbers.tls_nonce(&[]),
        aad: header,
        tail,
        body_len,
        ..empty_frame(numbers)
    }
}

fn seal_aead(numbers: &RecordNumbers, inner_type: u8, payload_len: usize, explicit_iv: &[u8]) -> SealFrame {
    let mut prefix = header(inner_type, explicit_iv.len() + payload_len + numbers.suite.tag_len());
    prefix.extend_from_slice(explicit_iv);
    SealFrame {
        prefix,
        iv: numbers.tls_nonce(explicit_iv),
        aad: mac_header(numbers.sequence, inner_type, Some(payload_len)),
        body_len: payload_len,
        ..empty_frame(numbers)
    }
}

#[derive(Clone, Copy)]
struct CbcLens {
    block: usize,
    mac: usize,
}

impl CbcLens {
    /// Returns the length of the ciphertext: content, MAC if it is inside, and 1 to `block` bytes of padding.
    fn body_len(self, payload_len: usize, order: ChainOrder) -> usize {
        let mac = if order == ChainOrder::MacThenEncrypt { self.mac } else { 0 };
        (payload_len + mac + 1).next_multiple_of(self.block)
    }
}

fn seal_cbc(
    numbers: &RecordNumbers,
    inner_type: u8,
    payload_len: usize,
    iv: ShortBytes,
    lens: CbcLens,
    order: ChainOrder,
) -> SealFrame {
    let body_len = lens.body_len(payload_len, order);
    let tag_len = numbers.suite.tag_len();
    let mut prefix = header(inner_type, iv.len() + body_len + tag_len);
    prefix.extend_from_slice(&iv);
    let (aad, tail) = if order == ChainOrder::MacThenEncrypt {
        // The engine appends the length, the MAC and the padding.
        (mac_header(numbers.sequence, inner_type, None), ShortBytes::new())
    } else {
        // RFC 7366 section 3: the MAC covers the length of IV and ciphertext, and both of them.
        let mut aad = mac_header(numbers.sequence, inner_type, Some(iv.len() + body_len));
        aad.extend_from_slice(&iv);
        let padding = body_len - payload_len;
        (aad, ShortBytes::from_elem((padding - 1) as u8, padding))
    };
    SealFrame { prefix, iv, aad, tail, body_len, ..empty_frame(numbers) }
}

fn empty_frame(numbers: &RecordNumbers) -> SealFrame {
    SealFrame {
        prefix: ShortBytes::new(),
        iv: ShortBytes::new(),
        aad: ShortBytes::new(),
        head: ShortBytes::new(),
        tail: ShortBytes::new(),
        sequence: numbers.sequence,
        body_len: 0,
        tag_len: numbers.suite.tag_len(),
    }
}

/// Returns the header of a record. Every length is at most 2^14 + 2048.
fn header(content_type: u8, len: usize) -> ShortBytes {
    ShortBytes::from_slice(&[content_type, 3, 3, (len >> 8) as u8, len as u8])
}

/// Returns what a MAC of TLS 1.2 covers in front of the content: the sequence number, type, version, and the length if
/// it is known. RFC 5246 6.2.3.1.
fn mac_header(sequence: u64, content_type: u8, len: Option<usize>) -> ShortBytes {
    let mut bytes = ShortBytes::from_slice(&sequence.to_be_bytes());
    bytes.extend_from_slice(&[content_type, 3, 3]);
    if let Some(len) = len {
        bytes.extend_from_slice(&[(len >> 8) as u8, len as u8]);
    }
    bytes
}

/// Returns the length of the record at the start of `wire`. Every byte is checked as soon as it is there.
pub(crate) fn frame_len(suite: Suite, wire: &[u8]) -> Result<FrameLen, OpeningError> {
    if let Some(found) = wire.first().copied() {
        let is_expected = match suite.protocol() {
            // RFC 8446 5.2: protected records have this type only.
            Protocol::Tls13 => found == APPLICATION_DATA,
            _ => Content::from_tls_type(found).is_some(),
        };
        if !is_expected {
            return Err(OpeningError::UnexpectedContent { suite, found });
        }
    }
    let major = wire.get(1).copied().unwrap_or(3);
    // RFC 8446 5.2: the version has no meaning in TLS 1.3. Its major part still tells a foreign protocol.
    let minor = wire.get(2).copied().filter(|_| suite.protocol() == Protocol::Tls12).unwrap_or(3);
    if (major, minor) != (3, 3) {
        return Err(OpeningError::WrongVersion { major, minor });
    }
    let [_, _, _, high, low, ..] = wire else { return Ok(FrameLen::NeedMore(HEADER_LEN - wire.len())) };
    let len = usize::from(u16::from_be_bytes([*high, *low]));
    check_len(suite, len)?;
    let total = HEADER_LEN + len;
    Ok(if wire.len() < total { FrameLen::NeedMore(total - wire.len()) } else { FrameLen::Known(total) })
}

fn check_len(suite: Suite, found: usize) -> Result<(), OpeningError> {
    let max = MAX_CONTENT_LEN + if suite.protocol() == Protocol::Tls13 { 256 } else { 2048 };
    let around = suite.explicit_iv_len() + suite.tag_len();
    let (min, block) = match (suite.protocol(), suite.transform()) {
        (Protocol::Tls13, _) => (around + 1, 1),
        (_, RecordTransform::Aead(_)) => (around, 1),
        (_, RecordTransform::Chain { cipher, mac, order }) => {
            let lens = CbcLens { block: cipher.alg.block_len(), mac: mac.tag_len() };
            (around + lens.body_len(0, order), lens.block)
        }
    };
    if !(min..=max).contains(&found) {
        return Err(OpeningError::RecordLength { suite, min, max, found });
    }
    if !(found - around).is_multiple_of(block) {
        return Err(OpeningError::NotWholeBlocks { suite, block, found });
    }
    Ok(())
}

/// Returns the spans of a record of `used` bytes, which [`frame_len`] has checked.
pub(crate) fn open_frame(numbers: &RecordNumbers, wire: &[u8], used: usize) -> OpenFrame {
    let suite = numbers.suite;
    let body = HEADER_LEN + suite.explicit_iv_len()..used - suite.tag_len();
    let explicit_iv = &wire[HEADER_LEN..body.start];
    let (outer_type, sequence) = (wire[0], numbers.sequence);
    let (iv, aad) = match (suite.protocol(), suite.transform()) {
        (Protocol::Tls13, _) => (numbers.tls_nonce(&[]), ShortBytes::from_slice(&wire[..HEADER_LEN])),
        (_, RecordTransform::Aead(_)) => {
            (numbers.tls_nonce(explicit_iv), mac_header(sequence, outer_type, Some(body.len())))
        }
        (_, RecordTransform::Chain { order: ChainOrder::MacThenEncrypt, .. }) => {
            (ShortBytes::from_slice(explicit_iv), mac_header(sequence, outer_type, None))
        }
        (_, RecordTransform::Chain { .. }) => {
            let mut aad = mac_header(sequence, outer_type, Some(explicit_iv.len() + body.len()));
            aad.extend_from_slice(explicit_iv);
            (ShortBytes::from_slice(explicit_iv), aad)
        }
    };
    OpenFrame { used, tag: body.end..used, body, iv, aad, sequence, outer_type }
}

/// Returns the content of an opened body and its span.
pub(super) fn read_content(
    suite: Suite,
    outer_type: u8,
    body: &[u8],
) -> Result<(Content, Range<usize>), OpeningError> {
    let (content_type, len) = match (suite.protocol(), suite.transform()) {
        (Protocol::Tls13, _) => {
            // RFC 8446 5.4: the type is the last byte that is not zero.
            let len = body.iter().rposition(|byte| *byte != 0).ok_or(OpeningError::NoContentType)?;
            (body[len], len)
        }
        (_, RecordTransform::Aead(_)) => (outer_type, body.len()),
        (_, RecordTransform::Chain { mac, order: ChainOrder::MacThenEncrypt, .. }) => {
            // The engine has checked the padding together with the MAC.
            let padding = body.last().map_or(0, |last| usize::from(*last));
            (outer_type, body.len().saturating_sub(padding + 1 + mac.tag_len()))
        }
        (_, RecordTransform::Chain { .. }) => (outer_type, unpad(body)?),
    };
    let content = Content::from_tls_type(content_type)
        .ok_or(OpeningError::UnexpectedContent { suite, found: content_type })?;
    if len > MAX_CONTENT_LEN {
        return Err(OpeningError::ContentTooLong { max: MAX_CONTENT_LEN, found: len });
    }
    // RFC 8446 5.1 and RFC 5246 6.2.1.
    if len == 0 && content != Content::ApplicationData {
        return Err(OpeningError::EmptyContent { content });
    }
    Ok((content, 0..len))
}

/// Returns the length without the padding, which the MAC has confirmed: its check may branch.
fn unpad(body: &[u8]) -> Result<usize, OpeningError> {
    let last = body.last().copied().unwrap_or(0);
    let found = usize::from(last) + 1;
    let len = body.len().checked_sub(found).ok_or(OpeningError::BadPadding { found })?;
    if body[len..].iter().any(|byte| *byte != last) {
        return Err(OpeningError::BadPadding { found });
    }
    Ok(len)
}
