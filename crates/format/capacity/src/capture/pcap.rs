//! Captures in the format of libpcap (draft-ietf-opsawg-pcap).

use std::io::Read;

use super::bytes::{ByteOrder, CaptureStream};
use super::{CaptureError, EventSink, LinkType, SkipCounts, pass_messages};

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// The maximum length of a packet in bytes.
pub(super) const MAX_PACKET: u32 = 1 << 18;

pub(super) fn is_pcap(beginning: &[u8]) -> bool {
    order(beginning).is_some()
}

fn order(beginning: &[u8]) -> Option<ByteOrder> {
    let is_magic = |order: &ByteOrder| matches!(order.u32(beginning, 0), MICROSECONDS | NANOSECONDS);
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(is_magic)
}

pub(super) fn read<R: Read>(
    mut bytes: CaptureStream<R>,
    skipped: &mut SkipCounts,
    sink: EventSink<'_>,
) -> Result<(), CaptureError> {
    let header = bytes.exact(24, "the header of the file")?;
    let order = order(header).ok_or(CaptureError::Unrecognised { is_empty: false })?;
    // The upper bits state the length of the frame checksum, which comes after the packet.
    let number = order.u32(header, 20) & 0xffff;
    let link = LinkType::from_number(number).ok_or(CaptureError::LinkType(number))?;
    loop {
        let at_byte = bytes.at_byte();
        let Some(record) = bytes.next(16, "the header of a packet")? else { return Ok(()) };
        let (at_s, len) = (u64::from(order.u32(record, 0)), order.u32(record, 8));
        if len > MAX_PACKET {
            let (what, expected) = ("a packet", "at most 262144");
            return Err(CaptureError::Length { what, found: len.into(), expected, at_byte });
        }
        let packet = bytes.exact(len as usize, "a packet")?;
        pass_messages(link, Some(at_s), packet, skipped, sink);
    }
}
