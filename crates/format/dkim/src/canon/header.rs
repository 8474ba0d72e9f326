//! Canonical header fields. RFC 6376 3.4.1 and 3.4.2.

use super::CanonicalForm;
use crate::message::HeaderField;

/// Appends the canonical form of a field, without a CRLF at its end.
pub(crate) fn canonicalize_header(form: CanonicalForm, header: &HeaderField<'_>, out: &mut Vec<u8>) {
    match form {
        CanonicalForm::Simple => out.extend_from_slice(header.raw()),
        CanonicalForm::Relaxed => {
            out.reserve(header.raw().len() + 2);
            out.extend(header.name().iter().map(u8::to_ascii_lowercase));
            out.push(b':');
            relax_value(header.value(), out);
        }
    }
}

/// Unfolds a value, turns each run of white space into one space, and trims both ends.
fn relax_value(value: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let mut has_space = false;
    let mut rest = value;
    while let [first, others @ ..] = rest {
        match first {
            b' ' | b'\t' => has_space = true,
            b'\r' if others.first() == Some(&b'\n') => {
                rest = &others[1..];
                continue;
            }
            _ => {
                if has_space && out.len() > start {
                    out.push(b' ');
                }
                has_space = false;
                let len = memchr::memchr3(b' ', b'\t', b'\r', others).map_or(rest.len(), |len| len + 1);
                out.extend_from_slice(&rest[..len]);
                rest = &rest[len..];
                continue;
            }
        }
        rest = others;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(form: CanonicalForm, raw: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        canonicalize_header(form, &HeaderField::new(raw).unwrap(), &mut out);
        out
    }

    #[test]
    fn the_examples_of_the_rfc() {
        // RFC 6376 3.4.5 and 3.4.6.
        assert_eq!(of(CanonicalForm::Relaxed, b"A: X"), b"a:X");
        assert_eq!(of(CanonicalForm::Relaxed, b"B : Y\t\r\n\tZ  "), b"b:Y Z");
        assert_eq!(of(CanonicalForm::Simple, b"B : Y\t\r\n\tZ  "), b"B : Y\t\r\n\tZ  ");
    }

    #[test]
    fn unfolds_white_space_and_nothing_else() {
        assert_eq!(of(CanonicalForm::Relaxed, b"SubJect:\r\n \r\n\ta \t b\r\n c\r\n "), b"subject:a b c");
        assert_eq!(of(CanonicalForm::Relaxed, b"A:"), b"a:");
        assert_eq!(of(CanonicalForm::Relaxed, b"A:\t"), b"a:");
        assert_eq!(of(CanonicalForm::Relaxed, b"A: a\rb \r c\n d\0\xff"), b"a:a\rb \r c\n d\0\xff");
    }
}
