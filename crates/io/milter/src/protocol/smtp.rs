//! SMTP replies that a filter makes the MTA send.

use std::fmt::Write as _;

use super::error::EncodeError;

/// A reply of code 4yz or 5yz, with an extended code (RFC 3463) and one or more lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpReply {
    wire: String,
    code: u16,
}

/// The maximum length of a reply line without its end: RFC 5321 4.5.3.1.5.
const LINE_BYTES: usize = 510;

impl SmtpReply {
    /// Makes a reply from the lines of `text`. Each line gets `code` and `extended` in front of it.
    ///
    /// # Errors
    /// The code is not 400 to 599, the extended code is of another class, or a line cannot be sent.
    pub fn new(code: u16, extended: Option<(u16, u16, u16)>, text: &str) -> Result<Self, EncodeError> {
        if !(400..600).contains(&code) {
            return Err(EncodeError::Code(code));
        }
        if let Some(found) = extended.filter(|extended| extended.0 != code / 100) {
            return Err(EncodeError::ExtendedCode { code, found });
        }
        let lines: Vec<&str> = if text.is_empty() { vec![""] } else { text.lines().collect() };
        let mut wire = String::new();
        for (index, line) in lines.iter().enumerate() {
            let (is_last, start) = (index + 1 == lines.len(), wire.len());
            // unreachable because writing to a String cannot fail
            let _ = write!(wire, "{code}{}", if is_last { ' ' } else { '-' });
            if let Some((class, subject, detail)) = extended {
                let _ = write!(wire, "{class}.{subject}.{detail} ");
            }
            wire.push_str(line);
            let bytes = wire.len() - start;
            if bytes > LINE_BYTES || line.chars().any(|c| c.is_control() && c != '\t') {
                return Err(EncodeError::Line { bytes });
            }
            if !is_last {
                wire.push_str("\r\n");
            }
        }
        Ok(Self { wire, code })
    }

    /// Returns the SMTP reply code, 400 to 599.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.code
    }

    /// Returns the lines with CRLF between them.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.wire
    }

    /// Returns the transmitted form. Sendmail uses it as a format string, and Postfix undoes that, so that `%` is
    /// doubled.
    #[must_use]
    pub(super) fn for_wire(&self) -> Vec<u8> {
        self.wire.replace('%', "%%").into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_an_smtp_reply_has_its_code() {
        let reply = SmtpReply::new(550, Some((5, 7, 1)), "no\nreally, 100% no").unwrap();
        assert_eq!(reply.as_str(), "550-5.7.1 no\r\n550 5.7.1 really, 100% no");
        assert_eq!(reply.for_wire(), b"550-5.7.1 no\r\n550 5.7.1 really, 100%% no");
        assert_eq!(SmtpReply::new(451, None, "").unwrap().as_str(), "451 ");
        assert_eq!(reply.code(), 550);
    }

    #[test]
    fn rejects_replies_that_smtp_cannot_express() {
        assert_eq!(SmtpReply::new(250, None, "ok"), Err(EncodeError::Code(250)));
        assert_eq!(SmtpReply::new(600, None, "ok"), Err(EncodeError::Code(600)));
        let found = (4, 7, 1);
        assert_eq!(
            SmtpReply::new(550, Some(found), "no"),
            Err(EncodeError::ExtendedCode { code: 550, found })
        );
        assert!(matches!(SmtpReply::new(550, None, "a\0b"), Err(EncodeError::Line { .. })));
        assert!(matches!(SmtpReply::new(550, None, "a\rb"), Err(EncodeError::Line { .. })));
        assert!(SmtpReply::new(550, None, &"x".repeat(506)).is_ok());
        assert_eq!(SmtpReply::new(550, None, &"x".repeat(507)), Err(EncodeError::Line { bytes: 511 }));
    }
}
