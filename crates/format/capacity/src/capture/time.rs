//! The times of logs.

/// The seconds of a day.
const DAY_S: u64 = 86_400;
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the seconds since 1970. Every time zone counts as UTC, because only differences matter.
pub(super) fn seconds(year: u64, month: u64, day: u64, time_s: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let leap_days = |year: u64| year / 4 - year / 100 + year / 400;
    let before: u64 = (1..month).map(|month| month_days(year, month)).sum();
    let days = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969) + before + day - 1;
    Some(days * DAY_S + time_s)
}

fn month_days(year: u64, month: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the number of a month from its three letters.
pub(super) fn month(name: &str) -> Option<u64> {
    MONTHS.iter().position(|month| month.eq_ignore_ascii_case(name)).map(|index| index as u64 + 1)
}

/// Parses `15:52:11`, with or without a fraction, into seconds.
pub(super) fn time_s(text: &str) -> Option<u64> {
    let whole = text.split_once(['.', ',']).map_or(text, |(whole, _)| whole);
    let mut parts = whole.split(':');
    let mut part = |max: u64| parts.next().and_then(|part| digits(part, 2)).filter(|&part| part <= max);
    let (hour, minute, second) = (part(23)?, part(59)?, part(60)?);
    parts.next().is_none().then_some(hour * 3600 + minute * 60 + second)
}

/// Parses a number of exactly `len` digits.
pub(super) fn digits(text: &str, len: usize) -> Option<u64> {
    let is_number = text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Parses `2026-11-23`.
pub(super) fn iso_day(text: &str) -> Option<(u64, u64, u64)> {
    let mut parts = text.split('-');
    let mut part = |len| parts.next().and_then(|part| digits(part, len));
    let day = (part(4)?, part(2)?, part(2)?);
    parts.next().is_none().then_some(day)
}

/// Parses a time of RFC 3339 and ignores the time zone. A space may stand for the `T`.
pub(super) fn iso(day: &str, time: &str) -> Option<u64> {
    let (year, month, day) = iso_day(day)?;
    let time = time.trim_end_matches(['Z', 'z']);
    let end = time.rfind(['+', '-']).unwrap_or(time.len());
    seconds(year, month, day, time_s(&time[..end])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(seconds(1970, 1, 1, 0), Some(0));
        assert_eq!(seconds(2000, 2, 29, 0), Some(951_782_400));
        assert_eq!(seconds(2000, 3, 1, 0), Some(951_868_800));
        assert_eq!(seconds(2016, 10, 6, 12 * 3600), Some(1_475_755_200));
        assert_eq!(seconds(2100, 3, 1, 1), Some(4_107_542_401));
        for (year, month, day) in [(1969, 1, 1), (2000, 0, 1), (2000, 13, 1), (2000, 1, 0), (2000, 1, 32)] {
            assert_eq!(seconds(year, month, day, 0), None);
        }
    }

    #[test]
    fn times_are_read_in_each_form() {
        assert_eq!(time_s("15:52:11.123"), Some(57_131));
        for bad in ["", "1:2:3", "24:00:00", "12:60:00", "12:00", "12:00:00:00", "ab:00:00"] {
            assert_eq!(time_s(bad), None, "{bad}");
        }
        assert_eq!(iso("2016-10-06", "12:00:00.5+02:00"), Some(1_475_755_200));
        assert_eq!(iso("2016-10-06", "12:00:00Z"), Some(1_475_755_200));
        assert_eq!(iso("2016-10-6", "12:00:00Z"), None);
    }
}
