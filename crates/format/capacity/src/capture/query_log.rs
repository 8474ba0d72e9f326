//! Query logs. Only the times of queries are read.

use std::fmt;
use std::io::Read;

use super::bytes::CaptureStream;
use super::time::{digits, iso, month, seconds, time_s};
use super::{CaptureError, CaptureEvent, EventSink, SkipCounts};

/// The number of bytes that are read of a line.
const MAX_LINE: usize = 4096;
/// The step back in time that indicates a new year in a log without years.
const HALF_A_YEAR_S: u64 = 183 * 86_400;

/// The program that wrote a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryLogFormat {
    /// The category `queries` of BIND.
    Bind,
    /// Unbound with `log-queries: yes`.
    Unbound,
    /// dnsmasq with `log-queries`.
    Dnsmasq,
    /// Lines that begin with a time, in seconds since 1970 or as in RFC 3339, one for each query.
    Timestamped,
}

/// The meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogLine {
    Query(u64),
    /// A line of this log about something other than a query.
    Other,
    Unknown,
}

impl QueryLogFormat {
    const ALL: [Self; 4] = [Self::Bind, Self::Unbound, Self::Dnsmasq, Self::Timestamped];

    /// Returns the first format that finds a query among the complete lines of the beginning.
    pub(super) fn detect(beginning: &[u8]) -> Option<Self> {
        let lines: Vec<_> = beginning.split(|&byte| byte == b'\n').map(text).collect();
        let finds = |format: &Self| lines.iter().any(|line| matches!(format.line(line), LogLine::Query(_)));
        Self::ALL.into_iter().find(finds)
    }

    fn line(self, line: &str) -> LogLine {
        match self {
            Self::Bind => bind(line),
            Self::Unbound => unbound(line),
            Self::Dnsmasq => dnsmasq(line),
            Self::Timestamped => timestamped(line),
        }
    }
}

impl fmt::Display for QueryLogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bind => "BIND",
            Self::Unbound => "Unbound",
            Self::Dnsmasq => "dnsmasq",
            Self::Timestamped => "timestamped",
        })
    }
}

fn text(line: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(line.trim_ascii())
}

pub(super) fn read<R: Read>(
    mut bytes: CaptureStream<R>,
    format: QueryLogFormat,
    skipped: &mut SkipCounts,
    sink: EventSink<'_>,
) -> Result<(), CaptureError> {
    let mut years = YearTracker::default();
    while let Some(line) = bytes.line(MAX_LINE)? {
        match format.line(&text(line)) {
            LogLine::Query(at_s) => sink(CaptureEvent::Query { at_s: years.add_years(at_s) }),
            LogLine::Other => skipped.others += 1,
            LogLine::Unknown => skipped.lines += u64::from(!line.trim_ascii().is_empty()),
        }
    }
    Ok(())
}

/// The years that have passed in a log without years.
#[derive(Default)]
struct YearTracker {
    added_s: u64,
    latest_s: u64,
}

impl YearTracker {
    fn add_years(&mut self, at_s: u64) -> u64 {
        // Times with a year are later than 1972, in which times without one are placed.
        let is_without_year = at_s < NO_YEAR_END_S;
        if is_without_year && at_s + self.added_s + HALF_A_YEAR_S < self.latest_s {
            // The stand-in year is a leap year.
            self.added_s += 366 * 86_400;
        }
        let placed = if is_without_year { at_s + self.added_s } else { at_s };
        self.latest_s = placed;
        placed
    }
}

/// The year of times without a year. It has a 29 February.
const NO_YEAR: u64 = 1972;
const NO_YEAR_END_S: u64 = 94_694_400;

/// Reads `23-Nov-2026 15:52:11.123 queries: info: client @0x7f 192.0.2.1#53211 (example.com): query: example.com IN A
/// +E(0)K (…)`. Each part between the time and `client` may be absent, and the time may have the form of RFC 3339 or
/// syslog.
fn bind(line: &str) -> LogLine {
    let (head, is_query) = match line.find("client ") {
        Some(start) => (&line[..start], line[start..].contains(": query: ")),
        None => (line, false),
    };
    let Some(at_s) = bind_time(head) else { return LogLine::Unknown };
    if is_query { LogLine::Query(at_s) } else { LogLine::Other }
}

fn bind_time(head: &str) -> Option<u64> {
    let mut words = head.split_ascii_whitespace();
    let day = words.next()?;
    if let Some((day, time)) = day.split_once('T') {
        return iso(day, time);
    }
    let time_of = |day: &str, time: &str| {
        let mut parts = day.split('-');
        let (day, name, year) = (parts.next()?, parts.next()?, parts.next()?);
        seconds(digits(year, 4)?, month(name)?, digits(day, 2)?, time_s(time)?)
    };
    time_of(day, words.next()?).or_else(|| syslog_time(head).filter(|_| head.contains("named")))
}

/// Reads `Nov 23 15:52:11` at the start of a line.
fn syslog_time(head: &str) -> Option<u64> {
    let mut words = head.split_ascii_whitespace();
    let name = month(words.next()?)?;
    let day = words.next()?;
    seconds(NO_YEAR, name, digits(day, day.len().clamp(1, 2))?, time_s(words.next()?)?)
}

/// Reads `[1700000000] unbound[123:0] info: 192.0.2.1 example.com. A IN`, or the same with the time of syslog or RFC
/// 3339. Replies, which `log-replies` adds, have more words.
fn unbound(line: &str) -> LogLine {
    let Some((head, rest)) = line.split_once("unbound[") else { return LogLine::Unknown };
    let Some(at_s) = unbound_time(head) else { return LogLine::Unknown };
    let mut words = rest.split_ascii_whitespace().skip(1);
    let kind = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let is_question = match words[..] {
        [address, name, _, class] => {
            address.contains(['.', ':']) && name.ends_with('.') && CLASSES.contains(&class)
        }
        _ => false,
    };
    let is_query = is_question && matches!(kind, "info:" | "query:");
    if is_query { LogLine::Query(at_s) } else { LogLine::Other }
}

const CLASSES: [&str; 4] = ["IN", "CH", "HS", "ANY"];

fn unbound_time(head: &str) -> Option<u64> {
    let head = head.trim();
    let stamp = head.strip_prefix('[').and_then(|head| head.strip_suffix(']'));
    if let Some(seconds) = stamp.and_then(epoch) {
        return Some(seconds);
    }
    let first = head.split_ascii_whitespace().next()?;
    first.split_once('T').and_then(|(day, time)| iso(day, time)).or_else(|| syslog_time(head))
}

/// Reads `Nov 23 15:52:11 dnsmasq[123]: query[A] example.com from 192.0.2.1`. `log-queries=extra` adds a number and
/// an address before `query`.
fn dnsmasq(line: &str) -> LogLine {
    let Some((head, rest)) = line.split_once("dnsmasq[") else { return LogLine::Unknown };
    let first = head.split_ascii_whitespace().next().unwrap_or_default();
    let at_s = first.split_once('T').and_then(|(day, time)| iso(day, time)).or_else(|| syslog_time(head));
    let Some(at_s) = at_s else { return LogLine::Unknown };
    let is_query = rest.split_ascii_whitespace().skip(1).take(3).any(|word| word.starts_with("query["));
    if is_query { LogLine::Query(at_s) } else { LogLine::Other }
}

/// Reads `1700000000.25 …`, `2026-11-23T15:52:11Z …` or `2026-11-23 15:52:11 …`.
fn timestamped(line: &str) -> LogLine {
    let mut words = line.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let day =
        || first.split_once('T').map_or_else(|| iso(first, words.next()?), |(day, time)| iso(day, time));
    epoch(first).or_else(day).map_or(LogLine::Unknown, LogLine::Query)
}

/// Parses seconds since 1970, with or without a fraction. A number of fewer than nine digits is not a time.
fn epoch(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = (9..=11).contains(&whole.len()) && !fraction.is_empty();
    let are_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    if is_number && are_digits { whole.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: u64 = 1_795_449_131;

    #[test]
    fn distinguishes_queries_from_other_lines_of_each_log() {
        let bind_line =
            "client @0x7f01 192.0.2.1#53211 (example.com): query: example.com IN A +E(0)K (192.0.2.53)";
        for head in [
            "23-Nov-2026 15:52:11.123 queries: info: ",
            "23-Nov-2026 15:52:11.123 ",
            "2026-11-23T15:52:11.123Z ",
        ] {
            assert_eq!(bind(&format!("{head}{bind_line}")), LogLine::Query(MOMENT), "{head}");
        }
        assert!(matches!(bind(&format!("Nov 23 15:52:11 ns named[7]: {bind_line}")), LogLine::Query(_)));
        assert_eq!(bind("23-Nov-2026 15:52:11.123 general: info: running"), LogLine::Other);
        assert_eq!(bind(bind_line), LogLine::Unknown);

        let unbound_line = "unbound[123:0] info: 192.0.2.1 example.com. A IN";
        assert_eq!(unbound(&format!("[1795449131] {unbound_line}")), LogLine::Query(MOMENT));
        assert!(matches!(unbound(&format!("Nov 23 15:52:11 {unbound_line}")), LogLine::Query(_)));
        assert_eq!(unbound(&format!("[1795449131] {unbound_line} NOERROR 0.000000 0 45")), LogLine::Other);
        assert_eq!(unbound("[1795449131] unbound[1:0] query: ::1 . NS IN"), LogLine::Query(MOMENT));
        assert_eq!(
            unbound("[1795449131] unbound[1:0] info: start of service (unbound 1.17.1)."),
            LogLine::Other
        );

        for line in [
            "query[A] example.com from 192.0.2.1",
            "45 192.0.2.1/1234 query[AAAA] example.com from 192.0.2.1",
        ] {
            assert!(
                matches!(dnsmasq(&format!("Nov  3 15:52:11 dnsmasq[9]: {line}")), LogLine::Query(_)),
                "{line}"
            );
        }
        assert_eq!(dnsmasq("Nov 23 15:52:11 dnsmasq[9]: reply example.com is 192.0.2.7"), LogLine::Other);
        assert_eq!(dnsmasq("kernel: query[A]"), LogLine::Unknown);

        for line in [
            "1795449131 a",
            "1795449131.5,x",
            "2026-11-23T15:52:11Z q",
            "2026-11-23 15:52:11 q",
            "1795449131",
        ] {
            assert_eq!(timestamped(line), LogLine::Query(MOMENT), "{line}");
        }
        for line in ["", "12 a", "1795449131x", "2026-11-23", "hello"] {
            assert_eq!(timestamped(line), LogLine::Unknown, "{line}");
        }
    }

    #[test]
    fn a_log_is_recognised_by_its_queries() {
        let log = "2026-11-23T15:52:11Z general: running\n2026-11-23T15:52:11Z client 192.0.2.1#5 (a): query: a IN A + (::1)\n";
        assert_eq!(QueryLogFormat::detect(log.as_bytes()), Some(QueryLogFormat::Bind));
        assert_eq!(QueryLogFormat::detect(b"1795449131 a\n"), Some(QueryLogFormat::Timestamped));
        assert_eq!(QueryLogFormat::detect(b"\x00\x01\x02"), None);
    }

    #[test]
    fn times_increase_across_a_new_year() {
        let mut years = YearTracker::default();
        let december = years.add_years(seconds(NO_YEAR, 12, 31, 86_399).unwrap());
        let january = years.add_years(seconds(NO_YEAR, 1, 1, 0).unwrap());
        assert!(january > december && january - december <= 86_401, "{december} {january}");
    }
}
