//! The hash chain of an audit log: each line carries the hash of the line before it, so that a line that was removed,
//! changed or moved is found.
//!
//! | module | content |
//! |---|---|
//! | `audit_chain` | the hash of a line, the form of a chained line, the file that keeps the last hash |
//! | `audit_chain/verify` | [`ChainVerifier`], which reads files and finds breaks |
//! | `audit_chain/report` | [`ChainReport`]: files, faults and notes |
//!
//! A chained line is a JSON object whose last field is `"previous"`: SHA-256 of the line before it, without its line
//! end, in 64 hexadecimal digits. The first line of a chain has 64 zeros. So `sha256sum` can check a line by hand.

mod report;
mod verify;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use aws_lc_rs::digest::{SHA256, digest};
use oarlock_files::atomic_file::{self, WriteOptions};

pub use self::report::{BreakKind, ChainBreak, ChainFile, ChainNote, ChainReport, NoteKind};
pub use self::verify::ChainVerifier;

/// The hash of a line, without its line end.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LineHash([u8; 32]);

/// An error of a text that should be the hash of a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected 64 hexadecimal digits in lower case, found {found} characters that are not all such digits"
)]
pub struct LineHashError {
    /// The number of characters.
    found: usize,
}

/// The beginning of the last field of a chained line.
const FIELD: &[u8] = b",\"previous\":\"";
/// The end of a chained line.
const END: &[u8] = b"\"}";
/// The number of hexadecimal digits of a hash.
const DIGITS: usize = 64;
/// The bytes that the chain adds to a line.
pub(crate) const CHAIN_BYTES: usize = FIELD.len() + DIGITS + END.len() - 1;

impl LineHash {
    /// The hash that the first line of a chain carries.
    pub const NONE: Self = Self([0; 32]);

    /// Returns the hash of a line without its line end.
    #[must_use]
    pub fn from_line(line: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, line).as_ref());
        Self(hash)
    }

    /// Returns the hash of a hash and a line. It stands for several lines.
    fn and(self, line: &[u8]) -> Self {
        Self::from_line(&[&self.0, line].concat())
    }

    fn digits(self) -> [u8; DIGITS] {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; DIGITS];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        digits
    }

    fn parse(digits: &[u8]) -> Option<Self> {
        let mut hash = [0; 32];
        if digits.len() != DIGITS {
            return None;
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(hash))
    }
}

/// Returns the value of a hexadecimal digit. Capitals are not accepted, because each hash has one form.
fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digits().iter().try_for_each(|digit| write!(f, "{}", char::from(*digit)))
    }
}

impl fmt::Debug for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LineHash({self})")
    }
}

impl FromStr for LineHash {
    type Err = LineHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The text itself is not repeated: it may be anything that a user has pasted.
        Self::parse(text.as_bytes()).ok_or_else(|| LineHashError { found: text.chars().count() })
    }
}

impl serde::Serialize for LineHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Appends a line to `out`, with the hash of the line before it and a line end. Returns the hash of the new line.
/// `object` is a JSON object with at least one field, without a line end.
///
/// ```
/// use oarlock_server::audit_chain::{LineHash, append_chained};
///
/// let mut log = Vec::new();
/// let first = append_chained(&mut log, b"{\"event\":\"start\"}", LineHash::NONE);
/// append_chained(&mut log, b"{\"event\":\"stop\"}", first);
/// assert!(String::from_utf8_lossy(&log).contains(&format!("\"stop\",\"previous\":\"{first}\"}}")));
/// ```
pub fn append_chained(out: &mut Vec<u8>, object: &[u8], previous: LineHash) -> LineHash {
    let start = out.len();
    out.extend_from_slice(object.strip_suffix(b"}").unwrap_or(object));
    out.extend_from_slice(FIELD);
    out.extend_from_slice(&previous.digits());
    out.extend_from_slice(END);
    let hash = LineHash::from_line(&out[start..]);
    out.push(b'\n');
    hash
}

/// Returns the hash that a line carries, if it is a chained line.
pub(crate) fn previous_of(line: &[u8]) -> Option<LineHash> {
    let line = line.strip_suffix(END)?;
    let (rest, digits) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    if rest.ends_with(FIELD) { LineHash::parse(digits) } else { None }
}

/// Lines that are not entries: each was cut short by a crash or by a full disk. One hash stands for all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TornLines {
    pub(crate) count: u64,
    pub(crate) hash: LineHash,
}

impl TornLines {
    pub(crate) const NONE: Self = Self { count: 0, hash: LineHash::NONE };

    /// Returns these lines and one more after them.
    pub(crate) fn and(self, line: &[u8]) -> Self {
        let hash = if self.count == 0 { LineHash::from_line(line) } else { self.hash.and(line) };
        Self { count: self.count + 1, hash }
    }
}

/// Returns true if a line is a complete entry: a JSON object.
pub(crate) fn is_entry(line: &[u8]) -> bool {
    // An array or a number that was left by something else is not an entry, although it is JSON.
    line.first() == Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// Returns the path of the file that keeps the hash of the last line while no server runs: `FILE.chain`.
#[must_use]
pub fn chain_end_path(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(".chain");
    name.into()
}

/// Reads the hash of the last line that the server wrote before it stopped. Returns `None` if there is none: the server
/// runs, was killed, or never wrote a line.
///
/// # Errors
/// The file cannot be read, or does not contain a hash.
pub fn read_chain_end(log: &Path) -> io::Result<Option<LineHash>> {
    match fs::read(chain_end_path(log)) {
        Ok(text) => match LineHash::parse(text.trim_ascii_end()) {
            Some(hash) => Ok(Some(hash)),
            None => Err(io::Error::new(io::ErrorKind::InvalidData, "expected 64 hexadecimal digits")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keeps the hash of the last line beside a log.
pub(crate) fn write_chain_end(log: &Path, last: LineHash) -> io::Result<()> {
    let options = WriteOptions { mode: 0o600, is_synced: true };
    atomic_file::write(&chain_end_path(log), format!("{last}\n").as_bytes(), options)
}

/// Forgets the hash beside a log, because lines follow.
pub(crate) fn remove_chain_end(log: &Path) -> io::Result<()> {
    match fs::remove_file(chain_end_path(log)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chained_line_carries_the_hash_of_the_line_before_it() {
        let mut out = Vec::new();
        let first = append_chained(&mut out, b"{\"a\":1}", LineHash::NONE);
        append_chained(&mut out, b"{\"a\":2}", first);
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("{{\"a\":1,\"previous\":\"{}\"}}", "0".repeat(64)));
        assert_eq!(lines[0].len(), "{\"a\":1}".len() + CHAIN_BYTES);
        assert_eq!(previous_of(lines[1].as_bytes()), Some(LineHash::from_line(lines[0].as_bytes())));
        assert!(lines.iter().all(|line| is_entry(line.as_bytes())));
    }

    #[test]
    fn reads_a_hash_in_one_form_only() {
        let hash = LineHash::from_line(b"abc");
        // FIPS 180-4, the example of one block.
        assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        let upper = hash.to_string().to_uppercase();
        for bad in ["", "ba", &upper, &format!("{hash}0"), &"g".repeat(64), &"ü".repeat(32)] {
            assert!(bad.parse::<LineHash>().is_err(), "{bad}");
        }
        let line = |digits: &str| format!("{{\"a\":1,\"previous\":\"{digits}\"}}").into_bytes();
        assert_eq!(previous_of(&line(&hash.to_string())), Some(hash));
        assert_eq!(previous_of(&line(&upper)), None);
        assert_eq!(previous_of(b"\"}"), None);
        assert_eq!(previous_of(format!("{hash}\"}}").as_bytes()), None);
    }

    #[test]
    fn keeps_and_forgets_the_end_of_a_chain() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("audit.jsonl");
        assert_eq!(read_chain_end(&log).unwrap(), None);
        remove_chain_end(&log).unwrap();
        write_chain_end(&log, LineHash::from_line(b"x")).unwrap();
        assert_eq!(read_chain_end(&log).unwrap(), Some(LineHash::from_line(b"x")));
        remove_chain_end(&log).unwrap();
        assert_eq!(read_chain_end(&log).unwrap(), None);
        fs::write(chain_end_path(&log), "x\n").unwrap();
        assert_eq!(read_chain_end(&log).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn half_a_line_is_not_an_entry() {
        let line = b"{\"a\":\"}\",\"b\":[1]}";
        assert!(is_entry(line));
        assert!((0..line.len()).all(|cut| !is_entry(&line[..cut])));
        assert!(!is_entry(b"12") && !is_entry(b"[]") && !is_entry(b"{\"a\":1}x"));
    }
}
