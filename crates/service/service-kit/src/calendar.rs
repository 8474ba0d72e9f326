//! The Gregorian calendar.

/// The days from 1 March of the year 0 to 1970.
const EPOCH: u64 = 719_468;

/// Returns year, month and day of the date that is `days` days after the first day of 1970.
#[must_use]
pub fn date_of(days: u64) -> (u64, u64, u64) {
    // Years begin in March, so the leap day is the last of its year.
    let days = days + EPOCH;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let is_next = month >= 10;
    let date = day - (153 * month + 2) / 5 + 1;
    (400 * era + year + u64::from(is_next), if is_next { month - 9 } else { month + 3 }, date)
}
