//! dnstap (<https://dnstap.info>): Frame Streams around messages in protocol buffers.

use std::io::Read;

use super::bytes::CaptureStream;
use super::{CaptureError, CaptureEvent, EventSink, ResolverSide, SkipCounts};

/// The content type of dnstap in Frame Streams.
pub const CONTENT_TYPE: &str = "protobuf:dnstap.Dnstap";

/// The maximum length of a data frame in bytes: two messages of 64 KiB and their description.
const MAX_FRAME: usize = 256 << 10;
/// The maximum length of a control frame in bytes, according to Frame Streams.
const MAX_CONTROL: usize = 512;

/// The types of control frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlType {
    /// The receiver accepts an offered content type.
    Accept = 1,
    /// Data frames follow.
    Start = 2,
    /// No data frames follow.
    Stop = 3,
    /// The sender offers content types.
    Ready = 4,
    /// The receiver has received everything.
    Finish = 5,
}

/// A frame of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnstapFrame<'a> {
    /// A data frame, which `decode_event` decodes.
    Data(&'a [u8]),
    /// A control frame. Its content type is that of dnstap, or it has none.
    Control(ControlType),
}

/// A decoder of frames whose bytes are pushed as they arrive. It does no I/O.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: Vec<u8>,
    start: usize,
    /// The number of bytes in the frames that have been returned.
    at_byte: u64,
}

impl FrameDecoder {
    /// Adds bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns true if all bytes belonged to complete frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.buffer.len()
    }

    /// Returns the position of the next frame in the stream.
    #[must_use]
    pub fn at_byte(&self) -> u64 {
        self.at_byte
    }

    /// Returns the next frame, if it has arrived completely.
    ///
    /// # Errors
    /// A length, a control frame or a content type is not allowed. The stream is of no use afterwards.
    pub fn next_frame(&mut self) -> Result<Option<DnstapFrame<'_>>, CaptureError> {
        let Some(head) = FrameHead::parse(&self.buffer[self.start..], self.at_byte)? else { return Ok(None) };
        let from = self.start + head.len;
        let to = from + head.body_len;
        if self.buffer.len() < to {
            return Ok(None);
        }
        self.at_byte += (to - self.start) as u64;
        self.start = to;
        let body = &self.buffer[from..to];
        Ok(Some(if head.is_control { DnstapFrame::Control(control(body)?) } else { DnstapFrame::Data(body) }))
    }
}

/// The bytes before a frame's content.
struct FrameHead {
    len: usize,
    body_len: usize,
    is_control: bool,
}

impl FrameHead {
    /// Reads a length, or zero and the length of a control frame.
    fn parse(bytes: &[u8], at_byte: u64) -> Result<Option<Self>, CaptureError> {
        let (len, is_control) = match number(bytes, 0) {
            Some(0) => (8, true),
            Some(_) => (4, false),
            None => return Ok(None),
        };
        let Some(body_len) = number(bytes, len - 4) else { return Ok(None) };
        let (what, max, expected) = match is_control {
            true => ("a control frame", MAX_CONTROL, "at most 512"),
            false => ("a frame", MAX_FRAME, "at most 262144"),
        };
        if body_len > max {
            return Err(CaptureError::Length { what, found: body_len as u64, expected, at_byte });
        }
        Ok(Some(Self { len, body_len, is_control }))
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(four) as usize)
}

/// Decodes a control frame. If it names content types, dnstap's content type must be among them.
fn control(frame: &[u8]) -> Result<ControlType, CaptureError> {
    let kind = number(frame, 0).ok_or(CaptureError::Control("no type"))?;
    let control = match kind {
        1 => ControlType::Accept,
        2 => ControlType::Start,
        3 => ControlType::Stop,
        4 => ControlType::Ready,
        5 => ControlType::Finish,
        _ => return Err(CaptureError::Control("an unknown type")),
    };
    let mut rest = &frame[4..];
    let mut other = None;
    while !rest.is_empty() {
        let (field, len) = (number(rest, 0), number(rest, 4));
        let (Some(1), Some(value)) = (field, len.and_then(|len| rest.get(8..8 + len))) else {
            return Err(CaptureError::Control("a malformed field"));
        };
        if value == CONTENT_TYPE.as_bytes() {
            return Ok(control);
        }
        other = Some(String::from_utf8_lossy(value).into_owned());
        rest = &rest[8 + value.len()..];
    }
    other.map_or(Ok(control), |other| Err(CaptureError::Content(other)))
}

/// Encodes a control frame, with the content type of dnstap if its type may carry one.
#[must_use]
pub fn control_frame(control: ControlType) -> Vec<u8> {
    let mut frame = (control as u32).to_be_bytes().to_vec();
    if matches!(control, ControlType::Accept | ControlType::Start | ControlType::Ready) {
        frame.extend(1_u32.to_be_bytes());
        frame.extend((CONTENT_TYPE.len() as u32).to_be_bytes());
        frame.extend(CONTENT_TYPE.as_bytes());
    }
    let mut out = vec![0; 4];
    out.extend((frame.len() as u32).to_be_bytes());
    out.extend(frame);
    out
}

pub(super) fn is_dnstap(beginning: &[u8]) -> bool {
    let is_start = |frame: &[u8]| matches!(number(frame, 8), Some(2 | 4));
    number(beginning, 0) == Some(0)
        && number(beginning, 4).is_some_and(|len| (4..=MAX_CONTROL).contains(&len))
        && is_start(beginning)
}

pub(super) fn read<R: Read>(
    mut bytes: CaptureStream<R>,
    skipped: &mut SkipCounts,
    sink: EventSink<'_>,
) -> Result<(), CaptureError> {
    let mut frames = FrameDecoder::default();
    loop {
        let chunk = bytes.chunk()?;
        if chunk.is_empty() {
            let cut = CaptureError::Truncated { what: "a frame", at_byte: frames.at_byte() };
            return if frames.is_empty() { Ok(()) } else { Err(cut) };
        }
        frames.push(chunk);
        while let Some(frame) = frames.next_frame()? {
            match frame {
                DnstapFrame::Data(data) => decode_frame(data, skipped, sink),
                DnstapFrame::Control(ControlType::Stop) => return Ok(()),
                DnstapFrame::Control(_) => {}
            }
        }
    }
}

/// Passes the event of a data frame to `sink`, or counts the reason why there is none.
pub fn decode_frame(data: &[u8], skipped: &mut SkipCounts, sink: EventSink<'_>) {
    match decode_event(data) {
        Some(Some(event)) => sink(event),
        Some(None) => skipped.others += 1,
        None => skipped.malformed += 1,
    }
}

/// Decodes a data frame. Types `*_QUERY` give the query, and types `*_RESPONSE` the response. Returns None if the bytes
/// are malformed, and `Some(None)` if they describe anything else.
#[must_use]
pub(crate) fn decode_event(data: &[u8]) -> Option<Option<CaptureEvent<'_>>> {
    let mut message = None;
    for field in ProtobufFields(data) {
        // dnstap.proto, `Dnstap.message`.
        if let (14, FieldValue::Bytes(bytes)) = field? {
            message = Some(bytes);
        }
    }
    message.map_or(Some(None), message_event)
}

/// The used fields of `Message` in dnstap.proto.
#[derive(Default)]
struct DnstapMessage<'a> {
    kind: u64,
    query_s: Option<u64>,
    query: Option<&'a [u8]>,
    response_s: Option<u64>,
    response: Option<&'a [u8]>,
}

fn message_event(bytes: &[u8]) -> Option<Option<CaptureEvent<'_>>> {
    let mut message = DnstapMessage::default();
    for field in ProtobufFields(bytes) {
        match field? {
            (1, FieldValue::Number(kind)) => message.kind = kind,
            (8, FieldValue::Number(seconds)) => message.query_s = Some(seconds),
            (10, FieldValue::Bytes(query)) => message.query = Some(query),
            (12, FieldValue::Number(seconds)) => message.response_s = Some(seconds),
            (14, FieldValue::Bytes(response)) => message.response = Some(response),
            _ => {}
        }
    }
    let side = match message.kind {
        1 | 2 => ResolverSide::Authoritative,
        3 | 4 | 7 | 8 => ResolverSide::Upstream,
        5 | 6 | 9..=12 => ResolverSide::Client,
        _ => return Some(None),
    };
    let (at_s, bytes) = match message.kind % 2 {
        1 => (message.query_s, message.query),
        _ => (message.response_s, message.response),
    };
    Some(bytes.map(|bytes| CaptureEvent::Message { at_s, side: Some(side), is_tcp: false, bytes }))
}

/// An iterator over the fields of a message in protocol buffers (<https://protobuf.dev/programming-guides/encoding>).
/// After a malformed field it yields None and ends.
struct ProtobufFields<'a>(&'a [u8]);

enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Iterator for ProtobufFields<'a> {
    type Item = Option<(u64, FieldValue<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> ProtobufFields<'a> {
    fn field(&mut self) -> Option<(u64, FieldValue<'a>)> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => FieldValue::Number(self.varint()?),
            1 => FieldValue::Bytes(self.take(8)?),
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                FieldValue::Bytes(self.take(len)?)
            }
            5 => FieldValue::Bytes(self.take(4)?),
            _ => return None,
        };
        Some((tag >> 3, value))
    }

    /// Reads a number of at most ten bytes of seven bits, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (value, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(value)
    }
}
