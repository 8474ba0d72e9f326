//! Points in time of signatures: seconds since 1970 in 32 bits. RFC 4034 3.2.

use crate::text::word::eight_digits;

/// Parses a point in time of an RRSIG record: `YYYYMMDDHHmmSS` in UTC, or seconds since 1970. RFC 4034 3.2.
#[must_use]
pub fn parse_time(text: &[u8]) -> Option<u32> {
    if let Ok(text) = text.try_into() {
        return parse(text);
    }
    let is_number = text.len() <= 10 && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}

/// Parses `YYYYMMDDHHmmSS` from 1970 to 2106.
#[inline]
pub(super) fn parse(text: &[u8; 14]) -> Option<u32> {
    let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) else { return None };
    let date = eight_digits(u64::from_le_bytes(*first))?;
    // The last eight digits overlap with the day by two, which the remainder removes.
    let time = eight_digits(u64::from_le_bytes(*last))? % 1_000_000;
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
    // A leap second is second 60. It counts as the first second of the next minute.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days(date / 10_000, date / 100 % 100, date % 100)?;
    let seconds = u64::from(days) * 86_400 + u64::from(3600 * hour + 60 * minute + second);
    u32::try_from(seconds).ok()
}

/// Appends `YYYYMMDDHHmmSS`.
pub(super) fn print(seconds: u32, out: &mut Vec<u8>) {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let mut text = [0; 14];
    let mut put = |at: usize, value: u32| {
        text[at] = b'0' + (value / 10) as u8;
        text[at + 1] = b'0' + (value % 10) as u8;
    };
    let parts = [year / 100, year % 100, month, day, rest / 3600, rest / 60 % 60, rest % 60];
    for (at, part) in parts.into_iter().enumerate() {
        put(2 * at, part);
    }
    out.extend_from_slice(&text);
}

/// Appends a time as `ctime` of C writes it: `Mon Nov 30 20:44:25 2026`.
pub(super) fn print_date(seconds: u32, out: &mut Vec<u8>) {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (weekday, month) = (DAYS[(days % 7) as usize], MONTHS[(month - 1) as usize]);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    let text = format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year}");
    out.extend_from_slice(text.as_bytes());
}

/// Returns the days from 1970 to a date of the Gregorian calendar. Years begin in March, so that the leap day is the
/// last of its year.
fn days(year: u32, month: u32, day: u32) -> Option<u32> {
    if year < 1970 || !(1..=12).contains(&month) || day == 0 || day > month_len(year, month) {
        return None;
    }
    // (153 * month + 2) / 5 is the number of days before a month of a year that begins in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - EPOCH)
}

/// The days from 1 March of the year 0 to 1970.
const EPOCH: u32 = 719_468;

fn month_len(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the date `days` days after the first day of 1970.
fn date(days: u32) -> (u32, u32, u32) {
    let days = days + EPOCH;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let is_next = month >= 10;
    (400 * era + year + u32::from(is_next), if is_next { month - 9 } else { month + 3 }, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_calendar_are_seconds() {
        let cases = [
            ("19700101000000", 0),
            ("20000229235959", 951_868_799),
            ("20040509183619", 1_084_127_779),
            ("21060207062815", u32::MAX),
        ];
        for (text, seconds) in cases {
            assert_eq!(parse(text.as_bytes().try_into().unwrap()), Some(seconds), "{text}");
            let mut out = Vec::new();
            print(seconds, &mut out);
            assert_eq!(out, text.as_bytes());
        }
        for bad in [
            "19691231235959",
            "20010229000000",
            "21060207062816",
            "20041301000000",
            "2004010100000x",
            "20040100000000",
        ] {
            assert_eq!(parse(bad.as_bytes().try_into().unwrap()), None, "{bad}");
        }
    }

    #[test]
    fn dates_have_names() {
        let cases = [
            (0, "Thu Jan  1 00:00:00 1970"),
            (951_868_799, "Tue Feb 29 23:59:59 2000"),
            (1_796_071_465, "Mon Nov 30 20:44:25 2026"),
        ];
        for (seconds, text) in cases {
            let mut out = Vec::new();
            print_date(seconds, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn every_day_comes_back() {
        for day in 0..49_710 {
            let (year, month, date) = date(day);
            assert_eq!(days(year, month, date), Some(day));
        }
    }
}
