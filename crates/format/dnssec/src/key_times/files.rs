//! Key files with times, read and rewritten.

use super::{KeyEvent, KeyTimes};
use crate::rdata;

/// The form of a file with a key's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedFile {
    /// BIND's private key: each time is a field. Files of a format before 1.3 have no times.
    Private,
    /// A DNSKEY: each time is a comment.
    Public,
}

/// A field of a key file that holds no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {event}: {fault}")]
pub struct KeyTimesError {
    /// The line, from 1.
    pub line: usize,
    /// The event whose time has the fault.
    pub event: KeyEvent,
    /// The fault of its value. The value itself is not repeated, because the file may hold a secret.
    pub fault: KeyTimesFault,
}

/// The fault of a time in a key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyTimesFault {
    /// The value is not a time.
    #[error(
        "the value is not a time: expected fourteen digits in UTC, as 20261130204425, from 1970 to 7 February 2106"
    )]
    NotATime,
    /// The field occurs before.
    #[error("given twice, first in line {first}: remove one of the two")]
    Twice {
        /// The line of the first time.
        first: usize,
    },
}

/// The first version of BIND's format that has times.
const TIMED_VERSION: (u32, u32) = (1, 3);
const FORMAT: &[u8] = b"Private-key-format";

impl KeyTimes {
    /// The bytes that [`write_file`](Self::write_file) adds to a text at most.
    pub const MAX_WRITTEN: usize = KeyEvent::ALL.len() * 64;

    /// Reads the times in the text of a key file. Other lines are skipped, well-formed or not.
    ///
    /// # Errors
    /// A time is malformed, after 2106, or given twice.
    pub fn read_file(text: &[u8], form: TimedFile) -> Result<Self, KeyTimesError> {
        let mut times = Self::default();
        if form == TimedFile::Private && !has_times(text) {
            return Ok(times);
        }
        let mut lines_of = [0; KeyEvent::ALL.len()];
        for (line, text) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let Some((event, value)) = time_field(text, form) else { continue };
            let fail = |fault| KeyTimesError { line, event, fault };
            if times.get(event).is_some() {
                return Err(fail(KeyTimesFault::Twice { first: lines_of[event as usize] }));
            }
            times.set(event, Some(parse(value).ok_or(fail(KeyTimesFault::NotATime))?));
            lines_of[event as usize] = line;
        }
        Ok(times)
    }

    /// Appends the text of a key file to `out`, with these times in place of its own. All other lines stay.
    ///
    /// The file may be a private key: with a capacity of `text.len()` and [`MAX_WRITTEN`](Self::MAX_WRITTEN), `out`
    /// does not move and leaves no copy in memory.
    pub fn write_file(&self, text: &[u8], form: TimedFile, out: &mut Vec<u8>) {
        let mut is_written = false;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            if time_field(line, form).is_some() {
                continue;
            }
            // Comments stand before the DNSKEY, and fields at the end.
            if form == TimedFile::Public && !is_written && !line.trim_ascii_start().starts_with(b";") {
                self.write(form, out);
                is_written = true;
            }
            out.extend_from_slice(line);
        }
        if !is_written {
            if out.last().is_some_and(|last| *last != b'\n') {
                out.push(b'\n');
            }
            self.write(form, out);
        }
    }

    /// Appends the times as lines of a key file.
    pub fn write(&self, form: TimedFile, out: &mut Vec<u8>) {
        for event in KeyEvent::ALL {
            let Some(time) = self.get(event) else { continue };
            if form == TimedFile::Public {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(event.name().as_bytes());
            out.extend_from_slice(b": ");
            rdata::write_time(time, out);
            if form == TimedFile::Public {
                out.extend_from_slice(b" (");
                rdata::write_date(time, out);
                out.push(b')');
            }
            out.push(b'\n');
        }
    }
}

/// Returns true if the format of a private key has times. A text without a version is not older than the format.
fn has_times(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').find_map(|line| value_of(line, FORMAT));
    line.and_then(version).is_none_or(|version| version >= TIMED_VERSION)
}

/// Parses `v1.3`.
fn version(text: &[u8]) -> Option<(u32, u32)> {
    let (major, minor) = std::str::from_utf8(text).ok()?.strip_prefix('v')?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn value_of<'t>(line: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let (found, value) = field(line)?;
    (found == name).then_some(value)
}

/// Returns the event and the value of a line with a time.
fn time_field(line: &[u8], form: TimedFile) -> Option<(KeyEvent, &[u8])> {
    let line = line.trim_ascii();
    let line = match form {
        TimedFile::Private => line,
        TimedFile::Public => line.strip_prefix(b";")?,
    };
    let (name, value) = field(line)?;
    Some((KeyEvent::from_name(name)?, value))
}

/// Splits a line into name and value.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

/// Parses the time at the start of a value. The text behind it is for human readers.
fn parse(value: &[u8]) -> Option<u32> {
    let word = value.split(u8::is_ascii_whitespace).next()?;
    // A number of seconds since 1970, which signatures may have, is not a time of a key file.
    (word.len() == 14).then(|| rdata::parse_time(word)).flatten()
}
