//! Points in time as arguments: absolute, or relative to the present.

use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use oarlock_dnssec::rdata::parse_time;

/// A point in time: seconds since 1970 modulo 2^32, as in signatures (RFC 4034 3.1.5), or a time span before or after
/// the present.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TimePoint {
    At(u32),
    After(TimeSpan),
    Before(TimeSpan),
}

/// A time span in seconds, below 2^31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeSpan(u32);

impl TimePoint {
    /// Returns seconds since 1970 modulo 2^32, if the present is `now`.
    pub(crate) fn from(self, now: u32) -> u32 {
        match self {
            Self::At(time) => time,
            Self::After(TimeSpan(seconds)) => now.wrapping_add(seconds),
            Self::Before(TimeSpan(seconds)) => now.wrapping_sub(seconds),
        }
    }

    /// Returns seconds since 1970 modulo 2^32, relative to the present.
    pub(crate) fn at_present(self) -> u32 {
        self.from(now())
    }

    /// Returns seconds since 1970, if the present is `now_s`. Times of DKIM do not wrap.
    pub(crate) fn since_1970(self, now_s: u64) -> u64 {
        match self {
            Self::At(time) => time.into(),
            Self::After(TimeSpan(seconds)) => now_s.saturating_add(seconds.into()),
            Self::Before(TimeSpan(seconds)) => now_s.saturating_sub(seconds.into()),
        }
    }
}

impl TimeSpan {
    pub(crate) fn seconds(self) -> u32 {
        self.0
    }
}

impl FromStr for TimePoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(duration) = text.strip_prefix('+') {
            return duration.parse().map(Self::After);
        }
        if let Some(duration) = text.strip_prefix('-') {
            return duration.parse().map(Self::Before);
        }
        parse_time(text.as_bytes()).map(Self::At).ok_or_else(|| {
            "expected YYYYMMDDHHMMSS, seconds since 1970, or a duration from now as +30d or -1h".into()
        })
    }
}

impl FromStr for TimeSpan {
    type Err = String;

    /// Parses a number with its unit. A number without a unit is in seconds.
    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit_s) = match text.as_bytes() {
            [.., b'm'] => (&text[..text.len() - 1], 60),
            [.., b'h'] => (&text[..text.len() - 1], 3600),
            [.., b'd'] => (&text[..text.len() - 1], 86_400),
            [.., b'w'] => (&text[..text.len() - 1], 604_800),
            [.., b's'] => (&text[..text.len() - 1], 1),
            _ => (text, 1),
        };
        // `parse` alone would also take a sign.
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<u32> = number.parse().ok().filter(|_| is_number);
        let seconds =
            number.and_then(|number| number.checked_mul(unit_s)).filter(|seconds| *seconds < 1 << 31);
        seconds
            .map(Self)
            .ok_or_else(|| "expected a number with s, m, h, d or w, as 36h, and less than 68 years".into())
    }
}

/// Returns the present in seconds since 1970 modulo 2^32.
pub(crate) fn now() -> u32 {
    // The numbers wrap in 2106, as DNSSEC's do.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, seconds) in
            [("0", 0), ("7s", 7), ("5m", 300), ("2h", 7200), ("30d", 2_592_000), ("1w", 604_800)]
        {
            assert_eq!(text.parse(), Ok(TimeSpan(seconds)));
        }
        for text in ["", "d", "1y", "-1h", "+1h", "1.5h", "99999w", "4294967296"] {
            assert!(text.parse::<TimeSpan>().is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_absolute_or_relative_to_now() {
        let from = |text: &str| text.parse::<TimePoint>().map(|time| time.from(1000));
        assert_eq!(
            ["+1m", "-1m", "20240101000000", "5"].map(from),
            [Ok(1060), Ok(940), Ok(1_704_067_200), Ok(5)]
        );
        let since_1970 = |text: &str| text.parse::<TimePoint>().map(|time| time.since_1970(1 << 33));
        assert_eq!(
            ["+1m", "-1m", "20240101000000", "5"].map(since_1970),
            [Ok((1 << 33) + 60), Ok((1 << 33) - 60), Ok(1_704_067_200), Ok(5)]
        );
        assert!(from("tomorrow").is_err() && from("+").is_err() && from("20241301000000").is_err());
    }
}
