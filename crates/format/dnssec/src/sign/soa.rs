//! The SOA record of a zone: its serial number, and the time to live of negative answers. RFC 1035 3.3.13.

use std::cmp::Ordering;

use super::options::SerialPolicy;
use crate::name::DomainName;
use crate::rrsig::serial_cmp;

/// The length of the numbers after the two names, in bytes.
const NUMBERS: usize = 20;
const DAY: i64 = 86_400;

/// The fields of an SOA's data that signing needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SoaData<'a> {
    data: &'a [u8],
    pub(super) serial: u32,
    /// The minimum field in seconds.
    minimum: u32,
}

impl<'a> SoaData<'a> {
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let (_, rest) = DomainName::at_front(data).ok()?;
        let (_, numbers) = DomainName::at_front(rest).ok()?;
        let numbers: &[u8; NUMBERS] = numbers.try_into().ok()?;
        let word = |at: usize| numbers[at..at + 4].iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        Some(Self { data, serial: word(0), minimum: word(16) })
    }

    /// Returns the time to live of NSEC and NSEC3 records. RFC 9077 section 3.
    pub(super) fn denial_ttl(&self, own_ttl: u32) -> u32 {
        self.minimum.min(own_ttl)
    }

    /// Appends the data with another serial number.
    pub(super) fn write(&self, serial: u32, out: &mut Vec<u8>) {
        // The names before the numbers have any length, so the serial number is found from the end.
        let start = out.len() + self.data.len() - NUMBERS;
        out.extend_from_slice(self.data);
        out[start..start + 4].copy_from_slice(&serial.to_be_bytes());
    }
}

impl SerialPolicy {
    /// Returns the next serial number. It follows `serial`, and `last` of the last signed version; `now` is in
    /// seconds since 1970.
    pub(super) fn next(self, serial: u32, last: Option<u32>, now: u32) -> u32 {
        // Secondaries have the last signed version. They take a new version only if its number is greater. RFC 1034
        // 4.3.5.
        let latest = last.filter(|last| serial_cmp(*last, serial) == Ordering::Greater).unwrap_or(serial);
        let wanted = match self {
            Self::Keep => return serial,
            Self::Increment => latest,
            Self::UnixTime => now,
            Self::Date => date(now) * 100,
        };
        match serial_cmp(wanted, latest) {
            Ordering::Greater => wanted,
            // RFC 1982 allows 0, but some servers treat it as no serial number.
            _ => latest.wrapping_add(1).max(1),
        }
    }
}

/// Returns the day as YYYYMMDD.
fn date(now: u32) -> u32 {
    // Days since 0000-03-01, in eras of 400 years. A year that begins in March has its leap day at the end (Hinnant,
    // chrono-compatible date algorithms).
    let days = i64::from(now) / DAY + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = 400 * era + years + i64::from(month <= 2);
    (10_000 * year + 100 * month + day) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (now, day) in [
            (0, 19_700_101),
            (951_782_399, 20_000_228),
            (951_782_400, 20_000_229),
            (951_868_800, 20_000_301),
            (1_735_689_599, 20_241_231),
            (1_735_689_600, 20_250_101),
            (4_107_542_400, 21_000_301),
            (u32::MAX, 21_060_207),
        ] {
            assert_eq!(date(now), day);
        }
    }

    #[test]
    fn serial_numbers_never_go_back() {
        let now = 1_735_689_600;
        for (policy, serial, next) in [
            (SerialPolicy::Keep, 7, 7),
            (SerialPolicy::Increment, 7, 8),
            (SerialPolicy::Increment, u32::MAX, 1),
            (SerialPolicy::UnixTime, 7, now),
            (SerialPolicy::UnixTime, now, now + 1),
            (SerialPolicy::Date, 2_024_123_107, 2_025_010_100),
            (SerialPolicy::Date, 2_025_010_100, 2_025_010_101),
            (SerialPolicy::Date, 2_025_020_100, 2_025_020_101),
            // A number that is more than 2^31 ahead counts as earlier.
            (SerialPolicy::UnixTime, now + (1 << 31) - 7, now + (1 << 31) - 6),
        ] {
            assert_eq!(policy.next(serial, None, now), next, "{policy:?} {serial}");
        }
    }

    #[test]
    fn a_later_serial_number_of_the_former_zone_counts() {
        assert_eq!(SerialPolicy::Increment.next(7, Some(9), 0), 10);
        assert_eq!(SerialPolicy::Increment.next(7, Some(3), 0), 8);
        assert_eq!(SerialPolicy::Keep.next(7, Some(9), 0), 7);
    }

    #[test]
    fn rejects_truncated_soa_data() {
        let data = [&b"\x02ns\0\x04mail\0"[..], &[0, 0, 0, 9], &[0; 12], &[0, 0, 1, 0]].concat();
        let soa = SoaData::read(&data).unwrap();
        assert_eq!((soa.serial, soa.denial_ttl(300), soa.denial_ttl(100)), (9, 256, 100));
        let mut out = b"before".to_vec();
        soa.write(10, &mut out);
        assert_eq!(SoaData::read(&out[6..]).unwrap().serial, 10);
        for end in 0..data.len() {
            assert_eq!(SoaData::read(&data[..end]), None);
        }
        assert_eq!(SoaData::read(&[&data[..], &[0]].concat()), None);
    }
}
