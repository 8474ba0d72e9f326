//! The default of `TCP_NOTSENT_LOWAT`, below which the kernel's TLS stops.

use std::fs;

/// The default for new sockets of this network namespace.
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_notsent_lowat";
/// The bytes of a full record with its header, type and tag.
pub(super) const FULL_RECORD: u32 = (16 << 10) + 22;

/// Returns the default in bytes, if the system shows it.
pub(super) fn unsent_limit() -> Option<u32> {
    fs::read_to_string(DEFAULT).ok()?.trim().parse().ok()
}

/// Returns the default if records can stop for ever because of it. Linux 6.1 did with a limit of 16384: a socket with
/// an unsent record is full then, and waits for an event that does not come.
pub(super) fn low_unsent_limit() -> Option<u32> {
    unsent_limit().filter(|limit| is_too_low(*limit))
}

pub(super) fn is_too_low(limit: u32) -> bool {
    limit < FULL_RECORD
}
