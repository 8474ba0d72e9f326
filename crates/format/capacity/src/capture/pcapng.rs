//! Captures in pcapng (draft-ietf-opsawg-pcapng).

use std::io::Read;

use super::bytes::{ByteOrder, CaptureStream};
use super::{CaptureError, EventSink, LinkType, SkipCounts, pass_messages};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// The obsolete packet block, which old programs still write.
const PACKET: u32 = 2;
const SIMPLE: u32 = 3;
const ENHANCED: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

const OPTION_END: u16 = 0;
const OPTION_RESOLUTION: u16 = 9;
const OPTION_OFFSET: u16 = 14;

/// The maximum length of a block that is read into memory, in bytes.
const MAX_BLOCK: u32 = 16 << 20;

pub(super) fn is_pcapng(beginning: &[u8]) -> bool {
    beginning.get(..4) == Some(&SECTION.to_be_bytes())
}

pub(super) fn read<R: Read>(
    mut bytes: CaptureStream<R>,
    skipped: &mut SkipCounts,
    sink: EventSink<'_>,
) -> Result<(), CaptureError> {
    let mut section = Section { order: ByteOrder::Little, interfaces: Vec::new() };
    loop {
        let at_byte = bytes.at_byte();
        let Some(head) = bytes.next(8, "the head of a block")? else { return Ok(()) };
        // The type of a section header reads the same in either byte order.
        if is_pcapng(head) {
            let len = [head[4], head[5], head[6], head[7]];
            section = Section::begin_section(&mut bytes, len, at_byte)?;
            continue;
        }
        let (kind, len) = (section.order.u32(head, 0), section.order.u32(head, 4));
        let body = body(&mut bytes, section.order, OpenBlock { len, done: 8, at_byte })?;
        section.block(kind, body, skipped, sink);
    }
}

/// A block, and the number of its bytes that have been read.
struct OpenBlock {
    len: u32,
    done: u32,
    at_byte: u64,
}

/// Reads the body of a block, without the copy of the length at its end.
fn body<R: Read>(
    bytes: &mut CaptureStream<R>,
    order: ByteOrder,
    block: OpenBlock,
) -> Result<&[u8], CaptureError> {
    let OpenBlock { len, done, at_byte } = block;
    let wrong = |found: u32, expected| CaptureError::Length {
        what: "a block",
        found: found.into(),
        expected,
        at_byte,
    };
    if len < done + 4 || !len.is_multiple_of(4) || len > MAX_BLOCK {
        return Err(wrong(len, "a multiple of 4 that fits its kind, at most 16777216"));
    }
    let rest = bytes.exact((len - done) as usize, "a block")?;
    let (body, _) = rest.split_at(rest.len() - 4);
    match order.u32(rest, body.len()) {
        again if again == len => Ok(body),
        again => Err(wrong(again, "the same length at its end as at its front")),
    }
}

struct Section {
    order: ByteOrder,
    interfaces: Vec<Interface>,
}

/// The interface of a packet.
struct Interface {
    /// The link type; None if it is unknown.
    link: Option<LinkType>,
    /// The maximum number of bytes that were kept of a packet; 0 for all.
    max_bytes: u32,
    resolution: u8,
    offset_s: i64,
}

impl Section {
    fn begin_section<R: Read>(
        bytes: &mut CaptureStream<R>,
        len: [u8; 4],
        at_byte: u64,
    ) -> Result<Self, CaptureError> {
        let magic = bytes.exact(4, "the head of a section")?;
        let is_magic = |order: &ByteOrder| order.u32(magic, 0) == BYTE_ORDER;
        let order = [ByteOrder::Little, ByteOrder::Big].into_iter().find(is_magic);
        let order = order.ok_or(CaptureError::ByteOrder { at_byte })?;
        // Version and section length follow the magic number and are not needed.
        body(bytes, order, OpenBlock { len: order.u32(&len, 0), done: 12, at_byte })?;
        Ok(Self { order, interfaces: Vec::new() })
    }

    fn block(&mut self, kind: u32, body: &[u8], skipped: &mut SkipCounts, sink: EventSink<'_>) {
        let order = self.order;
        let stamp = |at: usize| u64::from(order.u32(body, at)) << 32 | u64::from(order.u32(body, at + 4));
        match kind {
            INTERFACE => self.interfaces.push(Interface::new(order, body)),
            ENHANCED => {
                let (interface, len) = (order.u32(body, 0), order.u32(body, 12));
                self.packet(interface, Some(stamp(4)), body.get(20..), len, skipped, sink);
            }
            PACKET => {
                let (interface, len) = (order.u16(body, 0), order.u32(body, 12));
                self.packet(interface.into(), Some(stamp(4)), body.get(20..), len, skipped, sink);
            }
            SIMPLE => {
                let max = self.interfaces.first().map_or(0, |first| first.max_bytes);
                let max = if max == 0 { u32::MAX } else { max };
                let there = u32::try_from(body.len().saturating_sub(4)).unwrap_or(u32::MAX);
                let len = order.u32(body, 0).min(max).min(there);
                self.packet(0, None, body.get(4..), len, skipped, sink);
            }
            _ => {}
        }
    }

    fn packet(
        &self,
        interface: u32,
        stamp: Option<u64>,
        data: Option<&[u8]>,
        len: u32,
        skipped: &mut SkipCounts,
        sink: EventSink<'_>,
    ) {
        let data = data.and_then(|data| data.get(..len as usize));
        let (Some(interface), Some(data)) = (self.interfaces.get(interface as usize), data) else {
            skipped.malformed += 1;
            return;
        };
        match interface.link {
            Some(link) => {
                pass_messages(link, stamp.and_then(|stamp| interface.at_s(stamp)), data, skipped, sink);
            }
            None => skipped.unknown_links += 1,
        }
    }
}

impl Interface {
    fn new(order: ByteOrder, body: &[u8]) -> Self {
        let mut interface = Self {
            link: LinkType::from_number(order.u16(body, 0).into()),
            max_bytes: order.u32(body, 4),
            resolution: 6,
            offset_s: 0,
        };
        let mut options = body.get(8..).unwrap_or_default();
        while let Some((code, value, rest)) = option(order, options) {
            match (code, value) {
                (OPTION_RESOLUTION, &[resolution]) => interface.resolution = resolution,
                (OPTION_OFFSET, value) if value.len() == 8 => {
                    interface.offset_s = order.u64(value, 0).cast_signed();
                }
                _ => {}
            }
            options = rest;
        }
        interface
    }

    /// Converts a timestamp to seconds since 1970. Returns None if the sum does not fit into 64 bits.
    fn at_s(&self, stamp: u64) -> Option<u64> {
        // The resolution is a power of two if the highest bit is set, and a power of ten otherwise.
        let seconds = match self.resolution {
            twos @ 0x80.. => stamp.checked_shr((twos & 0x7f).into()).unwrap_or(0),
            tens => 10_u64.checked_pow(tens.into()).map_or(0, |per_s| stamp / per_s),
        };
        seconds.checked_add_signed(self.offset_s)
    }
}

/// Splits off the first option: its code and its value.
fn option(order: ByteOrder, options: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let (code, len) = (order.u16(options, 0), usize::from(order.u16(options, 2)));
    if code == OPTION_END {
        return None;
    }
    let value = options.get(4..4 + len)?;
    Some((code, value, options.get(4 + len.next_multiple_of(4)..).unwrap_or_default()))
}
