//! The dates between which a line of the table signs.

use std::fmt;

use oarlock_service_kit::date_of;

use super::LineFault;

const DAY_S: u64 = 86_400;

/// The days from 1 March of the year 0 to 1970.
const EPOCH: u64 = 719_468;

/// The last year that a date may have. Dates are kept in 32 bits, which end in 2106.
const LAST_YEAR: u64 = 2105;

/// A point in time in seconds since 1970. It is written as a date, or as a date with a time, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineDate(u32);

impl LineDate {
    pub(crate) fn parse(text: &str) -> Result<Self, LineFault> {
        parse(text).map(Self).ok_or_else(|| LineFault::Date(text.to_owned()))
    }

    /// Returns the seconds since 1970.
    #[must_use]
    pub fn seconds(self) -> u64 {
        self.0.into()
    }
}

impl fmt::Display for LineDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.seconds() / DAY_S, self.seconds() % DAY_S);
        let (year, month, day) = date_of(days);
        write!(f, "{year:04}-{month:02}-{day:02}")?;
        match rest {
            0 => Ok(()),
            _ => write!(f, "T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60),
        }
    }
}

/// The period in which a line signs. The default is always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SigningPeriod {
    /// The first second, if there is one.
    pub(crate) from: Option<LineDate>,
    /// The second after the last one, if there is one.
    pub(crate) until: Option<LineDate>,
}

impl SigningPeriod {
    pub(crate) fn parse(from: Option<&str>, until: Option<&str>) -> Result<Self, LineFault> {
        let from = from.map(LineDate::parse).transpose()?;
        let until = until.map(LineDate::parse).transpose()?;
        match (from, until) {
            (Some(from), Some(until)) if until <= from => Err(LineFault::Period { from, until }),
            _ => Ok(Self { from, until }),
        }
    }

    pub(crate) fn contains(self, now_s: u64) -> bool {
        !self.begins_after(now_s) && !self.is_over(now_s)
    }

    pub(crate) fn begins_after(self, now_s: u64) -> bool {
        self.from.is_some_and(|from| now_s < from.seconds())
    }

    pub(crate) fn is_over(self, now_s: u64) -> bool {
        self.until.is_some_and(|until| until.seconds() <= now_s)
    }
}

/// Parses `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM:SSZ`.
fn parse(text: &str) -> Option<u32> {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, time.strip_suffix('Z')?),
        None => (text, "00:00:00"),
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let days = days_of(year, month, day)?;
    let is_time = hour < 24 && minute < 60 && second < 60;
    is_time.then(|| u32::try_from(days * DAY_S + 3600 * hour + 60 * minute + second).ok())?
}

/// Parses three numbers of these lengths.
fn numbers(text: &str, separator: char, lengths: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(separator);
    let mut found = [0; 3];
    for (number, length) in found.iter_mut().zip(lengths) {
        let part = parts.next().filter(|part| part.len() == length)?;
        *number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(found)
}

/// Returns the days from 1970 to a date of the Gregorian calendar. Years begin in March, so the leap day is the last of
/// its year.
fn days_of(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=LAST_YEAR).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let (march_year, march_month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    // (153 * month + 2) / 5 is the number of days before a month of a year that begins in March.
    let before =
        365 * march_year + march_year / 4 - march_year / 100 + march_year / 400 + (153 * march_month + 2) / 5;
    let days = (before + day).checked_sub(EPOCH + 1)?;
    // A day that the month does not have would be one of the next month.
    (date_of(days) == (year, month, day)).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar_in_utc() {
        for (text, seconds) in [
            ("1970-01-01", 0),
            ("2000-02-29", 951_782_400),
            ("2026-07-01", 1_782_864_000),
            ("2026-07-01T00:00:01Z", 1_782_864_001),
            ("2026-12-31T23:59:59Z", 1_798_761_599),
            ("2105-12-31", 4_291_660_800),
        ] {
            let date = LineDate::parse(text).unwrap();
            assert_eq!((date.seconds(), date.to_string().as_str()), (seconds, text));
        }
        for wrong in [
            "",
            "2026",
            "2026-7-1",
            "2026-02-29",
            "2026-00-01",
            "2026-13-01",
            "2026-04-31",
            "2026-01-00",
            "1969-12-31",
            "2106-01-01",
            "2026-01-01T",
            "2026-01-01T00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "+026-01-01",
            "2026-01-01-01",
            "20260101",
        ] {
            assert_eq!(LineDate::parse(wrong), Err(LineFault::Date(wrong.to_owned())), "{wrong}");
        }
    }

    #[test]
    fn every_day_is_the_day_after_the_day_before() {
        let mut date = (1970, 1, 1);
        for days in 0..50_000 {
            assert_eq!(
                (date_of(days), days_of(date.0, date.1, date.2)),
                (date, (date.0 <= LAST_YEAR).then_some(days))
            );
            let is_leap = date.0 % 4 == 0 && (date.0 % 100 != 0 || date.0 % 400 == 0);
            let last = match date.1 {
                2 => 28 + u64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            date = match date {
                (year, 12, 31) => (year + 1, 1, 1),
                (year, month, day) if day == last => (year, month + 1, 1),
                (year, month, day) => (year, month, day + 1),
            };
        }
    }

    #[test]
    fn a_period_has_its_first_second_and_not_its_last() {
        let period = SigningPeriod::parse(Some("2026-01-01"), Some("2026-07-01")).unwrap();
        let [from, until] = [period.from, period.until].map(|date| date.unwrap().seconds());
        assert!(!period.contains(from - 1) && period.contains(from));
        assert!(period.contains(until - 1) && !period.contains(until));
        assert!(period.begins_after(from - 1) && period.is_over(until) && !period.is_over(until - 1));
        assert!(SigningPeriod::default().contains(0) && SigningPeriod::default().contains(u64::MAX));
        let reversed = SigningPeriod::parse(Some("2026-07-01"), Some("2026-07-01")).unwrap_err().to_string();
        assert!(reversed.contains("until=2026-07-01") && reversed.contains("from=2026-07-01"), "{reversed}");
    }
}
