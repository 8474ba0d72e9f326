//! Link types, and the search for the IP packet in a captured frame.

/// A link type of captures (<https://www.tcpdump.org/linktypes.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkType {
    Ethernet,
    /// Loopback of the BSDs: four bytes with the address family.
    Loopback,
    /// IP without a header before it.
    Raw,
    /// Linux "cooked" capture, version 1.
    Cooked,
    /// Linux "cooked" capture, version 2.
    Cooked2,
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// The tags of IEEE 802.1Q and 802.1ad, and of an earlier practice.
const VLANS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// The maximum number of VLAN tags around a packet.
const MAX_VLANS: usize = 4;

impl LinkType {
    pub(super) fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Ethernet,
            0 | 108 => Self::Loopback,
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            113 => Self::Cooked,
            276 => Self::Cooked2,
            _ => return None,
        })
    }

    /// Returns the IP packet in a frame, or None for another protocol.
    pub(super) fn ip(self, frame: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Ethernet => untagged(frame, 12, 14),
            Self::Loopback => frame.get(4..),
            Self::Raw => Some(frame),
            Self::Cooked => untagged(frame, 14, 16),
            Self::Cooked2 => untagged(frame, 0, 20),
        }
    }
}

/// Returns the bytes after a header of `len` bytes with a protocol number at `at`, and after VLAN tags.
fn untagged(frame: &[u8], at: usize, len: usize) -> Option<&[u8]> {
    let mut protocol = number(frame, at)?;
    let mut rest = frame.get(len..)?;
    for _ in 0..MAX_VLANS {
        if !VLANS.contains(&protocol) {
            break;
        }
        protocol = number(rest, 2)?;
        rest = rest.get(4..)?;
    }
    matches!(protocol, IPV4 | IPV6).then_some(rest)
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes)
}
