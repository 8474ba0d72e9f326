//! Times as DNSSEC writes them.

use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use oarlock_dnssec::rdata::parse_time;

/// A point in time: seconds since 1970 modulo 2^32, as signatures have them. RFC 4034 3.1.5.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time(u32);

impl Time {
    pub(super) fn serial(self) -> u32 {
        self.0
    }
}

impl FromStr for Time {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_time(text.as_bytes()).map(Self).ok_or("expected YYYYMMDDHHMMSS, or seconds since 1970")
    }
}

/// Now.
pub(super) fn now() -> u32 {
    // The numbers wrap in 2106, as DNSSEC's do.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as u32)
}
