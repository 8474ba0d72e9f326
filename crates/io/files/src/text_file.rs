//! Text files in UTF-8 whose lines end with LF or CRLF. With another line end the first line hides the others, and a
//! comment hides settings.

use std::path::Path;
use std::{fs, io};

use oarlock::keys::text_file::checked_text;

/// Reads a text file, without its byte order mark.
///
/// # Errors
/// The file cannot be read, is not in UTF-8, or has other line ends.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path)?;
    let text = checked_text(&bytes).map_err(invalid)?;
    String::from_utf8(text.to_vec()).map_err(|_| invalid("expected text in UTF-8"))
}

/// Returns the first line of a secret text, without its end and without a byte order mark. The lines after it are
/// ignored.
///
/// # Errors
/// The line has an end that is not read, or the text is in UTF-16.
pub fn first_line(text: &[u8]) -> io::Result<&[u8]> {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    checked_text(line.strip_suffix(b"\r").unwrap_or(line)).map_err(invalid)
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_ends_with_lf_or_crlf_or_the_text() {
        for text in ["secret", "secret\n", "secret\r\nmore", "secret\r", "\u{feff}secret\nm\rre"] {
            assert_eq!(first_line(text.as_bytes()).unwrap(), b"secret", "{text:?}");
        }
        assert_eq!(first_line(b"").unwrap(), b"");
        for text in ["secret\rmore", "secret\u{85}more\n", "sec\0ret\n", "s\0e\0c\0"] {
            let error = first_line(text.as_bytes()).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_text_is_read_or_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            read_text(&path).map_err(|error| error.to_string())
        };
        assert_eq!(read(b"\xEF\xBB\xBFa\r\nb"), Ok("a\r\nb".to_owned()));
        for bytes in [&b"# a\rb\n"[..], b"# a\xC2\x85b\n", b"\xFF\xFEa\0", b"a\xFF\n", b"a\0\n"] {
            assert!(read(bytes).is_err(), "{}", bytes.escape_ascii());
        }
    }
}
