//! A message as it is on the wire: header fields and body. RFC 5322 2.1.

use std::ops::Range;

use crate::tags::shown;

/// Bounds of what a message may bring, beyond which it is refused before anything is computed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailLimits {
    /// Most header fields.
    pub headers: usize,
    /// Most bytes of all header fields together.
    pub header_bytes: usize,
    /// Most signatures that are verified, from the top; those below have the result `policy`.
    pub signatures: usize,
    /// Most names in one `h=`.
    pub signed_names: usize,
    /// Most key records that are looked up for one message: those of its signatures and of its ARC chain together.
    pub max_lookups: usize,
}

impl Default for MailLimits {
    fn default() -> Self {
        Self { headers: 20_000, header_bytes: 4 << 20, signatures: 5, signed_names: 512, max_lookups: 20 }
    }
}

/// Why something is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailParseError {
    /// A line of the header has neither a colon nor white space before it.
    #[error("header field {field}: `{start}` has no colon")]
    NoColon {
        /// Which field, from 1 on.
        field: usize,
        /// How it begins.
        start: String,
    },
    /// A field name is empty or has characters that no name may have. RFC 5322 2.2.
    #[error("header field {field}: `{name}` is no name of a header field")]
    Name {
        /// Which field, from 1 on.
        field: usize,
        /// What stands before the colon.
        name: String,
    },
    /// There are more fields than [`MailLimits::headers`].
    #[error("more than {0} header fields")]
    TooManyHeaders(usize),
    /// The fields are longer than [`MailLimits::header_bytes`].
    #[error("header fields of more than {0} bytes")]
    HeaderTooLong(usize),
}

/// One header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderField<'a> {
    /// The field with its folds, without the CRLF at its end.
    raw: &'a [u8],
    name_len: u32,
    colon: u32,
    /// Of the name in lower case: equal names have equal ones.
    pub(crate) hash: u32,
}

impl<'a> HeaderField<'a> {
    /// A field with its folds as CRLF and white space, without the CRLF at its end.
    ///
    /// # Errors
    /// There is no colon, or no name before it; the field is numbered 1.
    pub fn new(raw: &'a [u8]) -> Result<Self, MailParseError> {
        Self::numbered(raw, 1)
    }

    fn numbered(raw: &'a [u8], field: usize) -> Result<Self, MailParseError> {
        let Some(colon) = memchr::memchr(b':', raw) else {
            return Err(MailParseError::NoColon { field, start: shown(&raw[..raw.len().min(32)]) });
        };
        let mut name_len = colon;
        // Obsolete, and allowed: white space before the colon. RFC 5322 4.5.
        while name_len > 0 && matches!(raw[name_len - 1], b' ' | b'\t') {
            name_len -= 1;
        }
        let name = &raw[..name_len];
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return Err(MailParseError::Name { field, name: shown(name) });
        }
        let places = (u32::try_from(name_len), u32::try_from(colon));
        let (Ok(name_len), Ok(colon)) = places else {
            return Err(MailParseError::HeaderTooLong(u32::MAX as usize));
        };
        Ok(Self { raw, name_len, colon, hash: name_hash(name) })
    }

    /// As it was written.
    #[must_use]
    pub fn name(&self) -> &'a [u8] {
        &self.raw[..self.name_len as usize]
    }

    /// What is behind the colon, with folds and white space.
    #[must_use]
    pub fn value(&self) -> &'a [u8] {
        &self.raw[self.colon as usize + 1..]
    }

    /// The whole field, without the CRLF at its end.
    #[must_use]
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// True where the field has this name, in whatever case.
    #[must_use]
    pub fn is(&self, name: &[u8]) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }
}

/// Of a name in whatever case: its length and its first eight bytes, in which nearly all names differ.
pub(crate) fn name_hash(name: &[u8]) -> u32 {
    let first = match name.first_chunk::<8>() {
        Some(first) => u64::from_le_bytes(*first),
        None => name.iter().fold(0, |first, byte| first << 8 | u64::from(*byte)),
    };
    let mixed = ((first | 0x2020_2020_2020_2020) ^ name.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32
}

/// Header fields from the top, and the body behind the empty line. Lines end with CRLF; CR and LF that stand alone are bytes like
/// others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailMessage<'a> {
    /// From the top.
    pub headers: Vec<HeaderField<'a>>,
    /// What is behind the empty line; empty where there is none.
    pub body: &'a [u8],
}

impl<'a> MailMessage<'a> {
    /// Reads a message. A first line `From ` as mailboxes have it is skipped.
    ///
    /// # Errors
    /// A field without colon or name, or more than the limits allow.
    pub fn parse(bytes: &'a [u8], limits: &MailLimits) -> Result<Self, MailParseError> {
        let mut headers = Vec::with_capacity(32);
        let mut rest = bytes;
        if rest.starts_with(b"From ") {
            rest = &rest[field(rest).end.min(rest.len())..];
        }
        while !rest.is_empty() {
            if let Some(body) = rest.strip_prefix(b"\r\n") {
                return Ok(Self { headers, body });
            }
            let place = field(rest);
            if headers.len() == limits.headers {
                return Err(MailParseError::TooManyHeaders(limits.headers));
            }
            headers.push(HeaderField::numbered(&rest[..place.start], headers.len() + 1)?);
            rest = &rest[place.end..];
            if bytes.len() - rest.len() > limits.header_bytes {
                return Err(MailParseError::HeaderTooLong(limits.header_bytes));
            }
        }
        Ok(Self { headers, body: &[] })
    }
}

/// Where the first field's CRLF is: at the first that no white space follows, or at the end.
fn field(bytes: &[u8]) -> Range<usize> {
    let mut from = 0;
    while let Some(len) = memchr::memchr(b'\n', &bytes[from..]) {
        let end = from + len + 1;
        let is_line = end >= 2 && bytes[end - 2] == b'\r';
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

    fn parse(text: &[u8]) -> Result<MailMessage<'_>, MailParseError> {
        MailMessage::parse(text, &MailLimits::default())
    }

    #[test]
    fn fields_have_their_folds_and_the_body_is_behind_the_empty_line() {
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
    fn messages_end_anywhere() {
        assert_eq!(parse(b"").unwrap().headers.len(), 0);
        assert_eq!(parse(b"\r\nx").unwrap().body, b"x");
        assert_eq!(parse(b"A: b").unwrap().headers[0].value(), b" b");
        assert_eq!(parse(b"A: b\r\n").unwrap().body, b"");
        assert_eq!(parse(b"From only a mailbox").unwrap().headers.len(), 0);
        // What stands alone ends no line.
        let message = parse(b"A: b\nC: d\re\0\xff\r\n\r\n").unwrap();
        assert_eq!((message.headers.len(), message.headers[0].value()), (1, &b" b\nC: d\re\0\xff"[..]));
    }

    #[test]
    fn what_is_no_field_is_told_with_its_number() {
        let error = |text: &[u8]| parse(text).unwrap_err();
        assert_eq!(
            error(b"A: b\r\nno colon\r\n\r\n"),
            MailParseError::NoColon { field: 2, start: "no colon".into() }
        );
        assert_eq!(error(b": b\r\n\r\n"), MailParseError::Name { field: 1, name: String::new() });
        assert_eq!(error(b"a b: c\r\n"), MailParseError::Name { field: 1, name: "a b".into() });
        assert_eq!(error(b"\xe4: c\r\n"), MailParseError::Name { field: 1, name: "\\xe4".into() });
        let limits = MailLimits { headers: 2, header_bytes: 40, ..MailLimits::default() };
        let of = |text: &[u8]| MailMessage::parse(text, &limits).unwrap_err();
        assert_eq!(of(b"A:\r\nB:\r\nC:\r\n"), MailParseError::TooManyHeaders(2));
        assert_eq!(of(&[b"A:", &[b'x'; 60][..], b"\r\n"].concat()), MailParseError::HeaderTooLong(40));
    }
}
