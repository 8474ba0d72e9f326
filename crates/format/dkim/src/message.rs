//! A message as it is transmitted: header fields and body. RFC 5322 2.1.

use std::ops::Range;

use crate::tags::printable;

/// The limits for a message. A message beyond them is rejected before anything is computed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailLimits {
    /// The maximum number of header fields.
    pub max_headers: usize,
    /// The maximum length of all header fields together, in bytes.
    pub max_header_bytes: usize,
    /// The maximum number of signatures that are verified, from the top. The signatures below have the result `policy`.
    pub max_signatures: usize,
    /// The maximum number of names in one `h=`.
    pub max_signed_names: usize,
    /// The maximum number of key records that are looked up for one message, for its signatures and its ARC chain
    /// together.
    pub max_lookups: usize,
}

impl Default for MailLimits {
    fn default() -> Self {
        Self {
            // Both are far above real messages: mail servers limit a header to some hundred KiB.
            max_headers: 20_000,
            max_header_bytes: 4 << 20,
            // Each costs a hash of the header and a lookup. RFC 6376 6.1 allows such a limit.
            max_signatures: 5,
            max_signed_names: 512,
            // Enough for five signatures and a chain of fourteen sets, which is longer than usual chains.
            max_lookups: 20,
        }
    }
}

/// An error of parsing a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MailParseError {
    /// A line of the header has no colon and does not begin with white space.
    #[error("header field {field}: `{start}` has no colon")]
    NoColon {
        /// The number of the field, from 1.
        field: usize,
        /// The start of the field.
        start: String,
    },
    /// A field name is empty or has forbidden characters. RFC 5322 2.2.
    #[error("header field {field}: `{name}` is not a header field name")]
    Name {
        /// The number of the field, from 1.
        field: usize,
        /// The text before the colon.
        name: String,
    },
    /// There are more fields than [`MailLimits::max_headers`].
    #[error("more than {0} header fields")]
    TooManyHeaders(usize),
    /// The fields are longer than [`MailLimits::max_header_bytes`].
    #[error("header fields of more than {0} bytes")]
    HeaderTooLong(usize),
}

/// The positions within one header field, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldLayout {
    name_len: u32,
    colon: u32,
    hash: u32,
}

/// One header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderField<'a> {
    /// The field with its folds and without the CRLF at its end.
    raw: &'a [u8],
    name_len: u32,
    colon: u32,
    /// A hash of the lower-case name. Equal names have equal hashes.
    pub(crate) hash: u32,
}

impl<'a> HeaderField<'a> {
    /// Parses a field. Its folds are CRLF and white space, and the CRLF at its end is left out.
    ///
    /// # Errors
    /// The field has no colon or no name. The error numbers the field 1.
    pub fn new(raw: &'a [u8]) -> Result<Self, MailParseError> {
        Self::parse_numbered(raw, 1)
    }

    fn parse_numbered(raw: &'a [u8], field: usize) -> Result<Self, MailParseError> {
        let Some(colon) = memchr::memchr(b':', raw) else {
            return Err(MailParseError::NoColon { field, start: printable(&raw[..raw.len().min(32)]) });
        };
        let mut name_len = colon;
        // RFC 5322 4.5 allows white space before the colon as obsolete syntax.
        while name_len > 0 && matches!(raw[name_len - 1], b' ' | b'\t') {
            name_len -= 1;
        }
        let name = &raw[..name_len];
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return Err(MailParseError::Name { field, name: printable(name) });
        }
        let offsets = (u32::try_from(name_len), u32::try_from(colon));
        let (Ok(name_len), Ok(colon)) = offsets else {
            return Err(MailParseError::HeaderTooLong(u32::MAX as usize));
        };
        Ok(Self { raw, name_len, colon, hash: name_hash(name) })
    }

    /// Makes a field from its bytes and the layout of an earlier parse. It searches nothing.
    ///
    /// `raw` must be the bytes of the field that gave this layout.
    #[must_use]
    pub fn with_layout(raw: &'a [u8], layout: FieldLayout) -> Self {
        let FieldLayout { name_len, colon, hash } = layout;
        Self { raw, name_len, colon, hash }
    }

    /// Returns the layout of the field. It stays valid when the bytes move.
    #[must_use]
    pub fn layout(&self) -> FieldLayout {
        FieldLayout { name_len: self.name_len, colon: self.colon, hash: self.hash }
    }

    /// Returns the name as it is written.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        &self.raw[..self.name_len as usize]
    }

    /// Returns the text after the colon, with folds and white space.
    #[must_use]
    pub fn value(&self) -> &'a [u8] {
        &self.raw[self.colon as usize + 1..]
    }

    /// Returns the whole field without the CRLF at its end.
    #[must_use]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Returns true if the field has this name. The case does not matter.
    #[must_use]
    pub fn is(&self, name: &[u8]) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }
}

/// Hashes a name without regard to case. It uses the length and the first eight bytes, which differ for nearly all
/// field names.
pub(crate) fn name_hash(name: &[u8]) -> u32 {
    // A hash of fixed cost is enough: a match is confirmed by comparing the names.
    let first = match name.first_chunk::<8>() {
        Some(first) => u64::from_le_bytes(*first),
        None => name.iter().fold(0, |first, byte| first << 8 | u64::from(*byte)),
    };
    // Bit 5 distinguishes upper from lower case. Setting it in every byte makes the hash independent of case.
    let mixed = ((first | 0x2020_2020_2020_2020) ^ name.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32
}

/// The header fields and the body of a message. Lines end with CRLF. A single CR or LF is an ordinary byte.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedMail<'a> {
    /// The header fields from the top.
    pub headers: Vec<HeaderField<'a>>,
    /// The bytes after the empty line.
    pub body: &'a [u8],
}

impl<'a> ParsedMail<'a> {
    /// Parses a message. A first line `From `, as mailbox files have it, is skipped.
    ///
    /// # Errors
    /// A field has no colon or no name, or the message exceeds a limit.
    pub fn parse(bytes: &'a [u8], limits: &MailLimits) -> Result<Self, MailParseError> {
        let mut headers = Vec::with_capacity(32);
        let mut rest = bytes;
        if is_mailbox_line(rest) {
            rest = &rest[field_end(rest).end.min(rest.len())..];
        }
        while !rest.is_empty() {
            if let Some(body) = rest.strip_prefix(b"\r\n") {
                return Ok(Self { headers, body });
            }
            let end = field_end(rest);
            if headers.len() == limits.max_headers {
                return Err(MailParseError::TooManyHeaders(limits.max_headers));
            }
            headers.push(HeaderField::parse_numbered(&rest[..end.start], headers.len() + 1)?);
            rest = &rest[end.end..];
            if bytes.len() - rest.len() > limits.max_header_bytes {
                return Err(MailParseError::HeaderTooLong(limits.max_header_bytes));
            }
        }
        Ok(Self { headers, body: &[] })
    }
}

/// Returns true for the first line of a message in a mailbox file. `From :` is a header field in obsolete syntax (RFC
/// 5322 4.5). If it were skipped, a mail program could show an author that no signature covers.
fn is_mailbox_line(bytes: &[u8]) -> bool {
    let Some(after) = bytes.strip_prefix(b"From ") else { return false };
    after.iter().find(|byte| !matches!(byte, b' ' | b'\t')) != Some(&b':')
}

/// Returns the range of the CRLF that ends the first field. White space after a CRLF continues the field.
fn field_end(bytes: &[u8]) -> Range<usize> {
    let mut from = 0;
    while let Some(len) = memchr::memchr(b'\n', &bytes[from..]) {
        let end = from + len + 1;
        let is_line = end >= 2 && bytes[end - 2] == b'\r';
        // RFC 5322 2.2.3: white space at the start of a line continues the field.
        if is_line && !matches!(bytes.get(end), Some(b' ' | b'\t')) {
            return end - 2..end;
        }
        from = end;
    }
    bytes.len()..bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> Result<ParsedMail<'_>, MailParseError> {
        ParsedMail::parse(text, &MailLimits::default())
    }

    #[test]
    fn parses_folded_fields_and_the_body_after_the_empty_line() {
        let message = parse(b"From a@b Thu\r\nA: one\r\nB : two\r\n\t2\r\nA:\r\n\r\nbody\r\n\r\n").unwrap();
        let names: Vec<&[u8]> = message.headers.iter().map(HeaderField::name).collect();
        assert_eq!(names, [&b"A"[..], b"B", b"A"]);
        assert_eq!(message.headers[1].value(), b" two\r\n\t2");
        assert_eq!(message.headers[1].raw(), b"B : two\r\n\t2");
        assert_eq!(message.headers[2].value(), b"");
        assert_eq!(message.body, b"body\r\n\r\n");
        assert!(message.headers[0].is(b"a") && message.headers[0].hash == message.headers[2].hash);
    }

    #[test]
    fn an_obsolete_from_field_is_not_the_first_line_of_a_mailbox() {
        for text in [&b"From : a@b\r\n\r\n"[..], b"From \t : a@b\r\n\r\n"] {
            let message = parse(text).unwrap();
            assert_eq!(message.headers.len(), 1, "{}", text.escape_ascii());
            assert!(message.headers[0].is(b"From"));
        }
        assert_eq!(parse(b"From a@b : x\r\nA: b\r\n\r\n").unwrap().headers.len(), 1);
    }

    #[test]
    fn parses_messages_that_end_anywhere() {
        assert_eq!(parse(b"").unwrap().headers.len(), 0);
        assert_eq!(parse(b"\r\nx").unwrap().body, b"x");
        assert_eq!(parse(b"A: b").unwrap().headers[0].value(), b" b");
        assert_eq!(parse(b"A: b\r\n").unwrap().body, b"");
        assert_eq!(parse(b"From only a mailbox").unwrap().headers.len(), 0);
        // A single CR or LF ends no line.
        let message = parse(b"A: b\nC: d\re\0\xff\r\n\r\n").unwrap();
        assert_eq!((message.headers.len(), message.headers[0].value()), (1, &b" b\nC: d\re\0\xff"[..]));
    }

    #[test]
    fn reports_a_malformed_field_with_its_number() {
        let error = |text: &[u8]| parse(text).unwrap_err();
        assert_eq!(
            error(b"A: b\r\nno colon\r\n\r\n"),
            MailParseError::NoColon { field: 2, start: "no colon".into() }
        );
        assert_eq!(error(b": b\r\n\r\n"), MailParseError::Name { field: 1, name: String::new() });
        assert_eq!(error(b"a b: c\r\n"), MailParseError::Name { field: 1, name: "a b".into() });
        assert_eq!(error(b"\xe4: c\r\n"), MailParseError::Name { field: 1, name: "\\xe4".into() });
        let limits = MailLimits { max_headers: 2, max_header_bytes: 40, ..MailLimits::default() };
        let of = |text: &[u8]| ParsedMail::parse(text, &limits).unwrap_err();
        assert_eq!(of(b"A:\r\nB:\r\nC:\r\n"), MailParseError::TooManyHeaders(2));
        assert_eq!(of(&[b"A:", &[b'x'; 60][..], b"\r\n"].concat()), MailParseError::HeaderTooLong(40));
    }
}
