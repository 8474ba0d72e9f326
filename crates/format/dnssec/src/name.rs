//! Domain names in wire format, uncompressed and absolute. RFC 1035 3.1 and 5.1, RFC 4034 6.1 and 6.2.

#[cfg(any(feature = "domain", feature = "hickory-proto"))]
mod convert;

use std::cmp::Ordering;
use std::fmt;

use smallvec::SmallVec;

/// The maximum length of a name in bytes, the root label included. RFC 1035 2.3.4.
pub const MAX_NAME: usize = 255;
const MAX_LABEL: usize = 63;

/// An absolute name in wire format, borrowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DomainName<'a>(&'a [u8]);

/// An absolute name in wire format, owned.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct DomainNameBuf(SmallVec<[u8; 32]>);

/// The treatment of capital letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    /// Capital letters stay.
    Kept,
    /// Capital letters become lower case, as in canonical form. RFC 4034 6.2.
    Lower,
}

/// An error of a malformed name. The caller, or the author of the file, is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The text is empty.
    #[error("an empty name; the root is written `.`")]
    Empty,
    /// Two dots follow each other, or a dot comes first.
    #[error("an empty label")]
    EmptyLabel,
    /// More than 63 bytes stand between dots.
    #[error("a label of more than 63 bytes")]
    LongLabel,
    /// The name has more than 255 bytes.
    #[error("a name of more than 255 bytes")]
    Long,
    /// A backslash is followed by neither a character nor three digits up to 255.
    #[error("`\\` that is followed by neither a character nor three digits up to 255")]
    Escape,
    /// The bytes are not in wire format: a length leads beyond the end, a pointer occurs, or bytes follow the root.
    #[error("a name that is not in wire format")]
    Wire,
}

impl<'a> DomainName<'a> {
    /// The root of all names.
    pub const ROOT: DomainName<'static> = DomainName(&[0]);

    /// Reads a name that fills `wire`.
    ///
    /// # Errors
    /// [`NameError::Wire`], or [`NameError::Long`].
    pub fn new(wire: &'a [u8]) -> Result<Self, NameError> {
        match Self::at_front(wire)? {
            (name, []) => Ok(name),
            _ => Err(NameError::Wire),
        }
    }

    /// Splits the name at the front of `wire` from the bytes after it. Pointers (RFC 1035 4.1.4) are rejected.
    ///
    /// # Errors
    /// [`NameError::Wire`], or [`NameError::Long`].
    pub fn at_front(wire: &'a [u8]) -> Result<(Self, &'a [u8]), NameError> {
        let mut at = 0;
        loop {
            let len = usize::from(*wire.get(at).ok_or(NameError::Wire)?);
            at += 1;
            if len == 0 {
                break;
            }
            // Bytes from 0xc0 on are pointers (RFC 1035 4.1.4). 0x40 to 0xbf are reserved or obsolete (RFC 6891 section
            // 5).
            if len > MAX_LABEL {
                return Err(NameError::Wire);
            }
            at += len;
        }
        if at > MAX_NAME {
            return Err(NameError::Long);
        }
        let (name, rest) = wire.split_at(at);
        Ok((Self(name), rest))
    }

    /// Wraps bytes from a buffer that holds valid names only.
    pub(crate) fn trusted(wire: &'a [u8]) -> Self {
        debug_assert!(Self::new(wire).is_ok());
        Self(wire)
    }

    /// Returns the wire format.
    #[must_use]
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Copies the name.
    #[must_use]
    pub fn to_buf(self) -> DomainNameBuf {
        DomainNameBuf(SmallVec::from_slice(self.0))
    }

    /// Copies the name in lower case.
    #[must_use]
    pub fn to_lower(self) -> DomainNameBuf {
        let mut bytes = SmallVec::from_slice(self.0);
        // Length bytes are at most 63, so none of them is a letter.
        bytes.make_ascii_lowercase();
        DomainNameBuf(bytes)
    }

    /// Returns true for `.`.
    #[must_use]
    pub fn is_root(self) -> bool {
        self.0.len() == 1
    }

    /// Returns true if the first label is `*`. RFC 4592 2.1.1.
    #[must_use]
    pub fn is_wildcard(self) -> bool {
        self.0.starts_with(b"\x01*")
    }

    /// Returns the labels from the left, without the root.
    #[must_use]
    pub fn labels(self) -> NameLabels<'a> {
        NameLabels(self.0)
    }

    /// Returns the number of labels, without the root.
    #[must_use]
    pub fn label_count(self) -> usize {
        self.labels().count()
    }

    /// Returns the name without its first label, or None for the root.
    #[must_use]
    pub fn parent(self) -> Option<DomainName<'a>> {
        match usize::from(self.0[0]) {
            0 => None,
            len => Some(DomainName(&self.0[len + 1..])),
        }
    }

    /// Returns the last `count` labels of the name, or the whole name if it has no more.
    #[must_use]
    pub fn last_labels(self, count: usize) -> DomainName<'a> {
        let mut name = self;
        for _ in count..self.label_count() {
            // unreachable default because the loop removes only labels that exist
            name = name.parent().unwrap_or(name);
        }
        name
    }

    /// Returns true if the name is `other` or a subdomain of it. Both names must have the same case.
    #[must_use]
    pub fn is_at_or_below(self, other: DomainName<'_>) -> bool {
        // Wire format has no pointers here, so a subdomain ends in the same bytes.
        let Some(start) = self.0.len().checked_sub(other.0.len()) else { return false };
        if self.0[start..] != *other.0 {
            return false;
        }
        // A suffix of equal bytes may begin within a label, so the boundary is checked.
        let mut at = 0;
        while at < start {
            at += 1 + usize::from(self.0[at]);
        }
        at == start
    }

    /// Compares in canonical order: label by label from the right, as bytes in lower case. RFC 4034 6.1.
    #[must_use]
    pub fn canonical_cmp(self, other: DomainName<'_>) -> Ordering {
        // Labels can be read from the left only, and the comparison starts at the right. So they are collected first.
        let labels: SmallVec<[&[u8]; 16]> = self.labels().collect();
        let others: SmallVec<[&[u8]; 16]> = other.labels().collect();
        let lower = |label: &[u8]| label.iter().map(u8::to_ascii_lowercase).collect::<SmallVec<[u8; 64]>>();
        for (one, two) in labels.iter().rev().zip(others.iter().rev()) {
            let order = lower(one).cmp(&lower(two));
            if order != Ordering::Equal {
                return order;
            }
        }
        labels.len().cmp(&others.len())
    }

    /// Appends a key whose order as bytes is the canonical order of names. The name must be in lower case.
    ///
    /// The key contains the labels from the right, each followed by 0. In a label, 0 becomes 1 0 and 1 becomes 1 1, so
    /// that the end of a label sorts first.
    pub fn write_key(self, out: &mut Vec<u8>) {
        let labels: SmallVec<[&[u8]; 16]> = self.labels().collect();
        for label in labels.iter().rev() {
            for &byte in *label {
                match byte {
                    0 | 1 => out.extend_from_slice(&[1, byte]),
                    _ => out.push(byte),
                }
            }
            out.push(0);
        }
    }
}

impl DomainNameBuf {
    /// Parses the text of a name as in a zone file. Relative names end in `origin`, and `@` is `origin`.
    ///
    /// # Errors
    /// The text is malformed, or the name is too long with its origin.
    pub fn parse(text: &[u8], origin: DomainName<'_>, case: LetterCase) -> Result<Self, NameError> {
        let mut out = Vec::new();
        write_text(text, origin, case, &mut out)?;
        Ok(Self(SmallVec::from_slice(&out)))
    }

    /// Borrows the name.
    #[must_use]
    pub fn name(&self) -> DomainName<'_> {
        DomainName(&self.0)
    }
}

/// Appends the wire format of a name's text. If it fails, `out` is unchanged.
pub(crate) fn write_text(
    text: &[u8],
    origin: DomainName<'_>,
    case: LetterCase,
    out: &mut Vec<u8>,
) -> Result<(), NameError> {
    let before = out.len();
    let result = write_labels(text, origin, case, out);
    if result.is_err() {
        out.truncate(before);
    }
    result
}

fn write_labels(
    text: &[u8],
    origin: DomainName<'_>,
    case: LetterCase,
    out: &mut Vec<u8>,
) -> Result<(), NameError> {
    match text {
        [] => return Err(NameError::Empty),
        b"@" => out.extend_from_slice(origin.as_bytes()),
        b"." => out.push(0),
        _ => return write_dotted(text, origin, case, out),
    }
    Ok(())
}

fn write_dotted(
    text: &[u8],
    origin: DomainName<'_>,
    case: LetterCase,
    out: &mut Vec<u8>,
) -> Result<(), NameError> {
    let start = out.len();
    let mut rest = text;
    let mut length_at = start;
    // The length byte is known only at the end of its label. Until then it is 0.
    out.push(0);
    while let [byte, after @ ..] = rest {
        rest = after;
        let byte = match byte {
            b'.' => {
                end_label(out, length_at)?;
                length_at = out.len();
                out.push(0);
                continue;
            }
            b'\\' => unescape(&mut rest)?,
            byte => *byte,
        };
        out.push(if case == LetterCase::Lower { byte.to_ascii_lowercase() } else { byte });
    }
    // If the text ends in a dot, the last length byte is the root label already.
    if out.len() - length_at > 1 {
        end_label(out, length_at)?;
        out.extend_from_slice(origin.as_bytes());
    }
    if out.len() - start > MAX_NAME { Err(NameError::Long) } else { Ok(()) }
}

fn end_label(out: &mut [u8], length_at: usize) -> Result<(), NameError> {
    match out.len() - length_at - 1 {
        0 => Err(NameError::EmptyLabel),
        len @ 1..=MAX_LABEL => {
            out[length_at] = len as u8;
            Ok(())
        }
        _ => Err(NameError::LongLabel),
    }
}

/// Decodes the escape after a backslash: three digits, or a character that stands for itself. RFC 1035 5.1.
pub(crate) fn unescape(rest: &mut &[u8]) -> Result<u8, NameError> {
    match *rest {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', after @ ..] => {
            let value = [a, b, c].iter().fold(0, |value, digit| 10 * value + u16::from(**digit - b'0'));
            *rest = after;
            u8::try_from(value).map_err(|_| NameError::Escape)
        }
        // RFC 1035 5.1: a digit after the backslash is always the first of three.
        [b'0'..=b'9', ..] | [] => Err(NameError::Escape),
        [byte, after @ ..] => {
            *rest = after;
            Ok(*byte)
        }
    }
}

/// An iterator over the labels of a name from the left, without the root.
#[derive(Clone, Debug)]
pub struct NameLabels<'a>(&'a [u8]);

impl<'a> Iterator for NameLabels<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (&len, rest) = self.0.split_first()?;
        if len == 0 {
            return None;
        }
        let (label, rest) = rest.split_at(usize::from(len));
        self.0 = rest;
        Some(label)
    }
}

/// Writes the presentation format, with a dot at the end.
impl fmt::Display for DomainName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str(".");
        }
        for label in self.labels() {
            for &byte in label {
                match byte {
                    // All characters with a meaning somewhere in a zone file, so that the text is safe at any position.
                    b'.' | b'\\' | b'"' | b';' | b'(' | b')' | b'@' | b'$' => {
                        write!(f, "\\{}", char::from(byte))?;
                    }
                    0x21..=0x7e => write!(f, "{}", char::from(byte))?,
                    _ => write!(f, "\\{byte:03}")?,
                }
            }
            f.write_str(".")?;
        }
        Ok(())
    }
}

impl fmt::Debug for DomainName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({self})")
    }
}

impl fmt::Display for DomainNameBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}

impl fmt::Debug for DomainNameBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> DomainNameBuf {
        DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap()
    }

    #[test]
    fn texts_become_wire_format_and_texts_again() {
        let origin = name("example.com.");
        let cases: [(&str, &[u8], &str); 7] = [
            (".", b"\0", "."),
            ("@", b"\x07example\x03com\0", "example.com."),
            ("WWW", b"\x03www\x07example\x03com\0", "www.example.com."),
            ("a.b.", b"\x01a\x01b\0", "a.b."),
            (r"a\.b.", b"\x03a.b\0", r"a\.b."),
            (r"\065\000.", b"\x02a\0\0", r"a\000."),
            (r"\*.x.", b"\x01*\x01x\0", "*.x."),
        ];
        for (text, wire, shown) in cases {
            let parsed = DomainNameBuf::parse(text.as_bytes(), origin.name(), LetterCase::Lower).unwrap();
            assert_eq!(parsed.name().as_bytes(), wire, "{text}");
            assert_eq!(parsed.to_string(), shown);
            assert_eq!(name(shown), parsed);
        }
        let kept = DomainNameBuf::parse(b"WWW.", DomainName::ROOT, LetterCase::Kept).unwrap();
        assert_eq!(kept.to_string(), "WWW.");
        assert_eq!(kept.name().to_lower(), name("www."));
    }

    #[test]
    fn rejects_malformed_names() {
        let long = "a.".repeat(128);
        let label = "a".repeat(64);
        let cases = [
            ("", NameError::Empty),
            ("a..b", NameError::EmptyLabel),
            (".a", NameError::EmptyLabel),
            (label.as_str(), NameError::LongLabel),
            (long.as_str(), NameError::Long),
            (r"a\", NameError::Escape),
            (r"a\25", NameError::Escape),
            (r"a\256", NameError::Escape),
        ];
        for (text, error) in cases {
            assert_eq!(
                DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower),
                Err(error),
                "{text}"
            );
        }
        assert!(
            DomainNameBuf::parse("a.".repeat(127).as_bytes(), DomainName::ROOT, LetterCase::Lower).is_ok()
        );
        for wire in [&b""[..], b"\x01", b"\x01a", b"\xc0\x0c", b"\0\0"] {
            assert_eq!(DomainName::new(wire), Err(NameError::Wire));
        }
    }

    /// RFC 4034 6.1.
    #[test]
    fn sorts_names_in_the_order_of_rfc_4034() {
        let order = [
            "example.",
            "a.example.",
            "yljkjljk.a.example.",
            "Z.a.example.",
            "zABC.a.EXAMPLE.",
            "z.example.",
            r"\001.z.example.",
            "*.z.example.",
            r"\200.z.example.",
        ];
        let names = order
            .map(|text| DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Kept).unwrap());
        let key = |name: &DomainNameBuf| {
            let mut key = Vec::new();
            name.name().to_lower().name().write_key(&mut key);
            key
        };
        for pair in names.windows(2) {
            assert_eq!(pair[0].name().canonical_cmp(pair[1].name()), Ordering::Less, "{pair:?}");
            assert!(key(&pair[0]) < key(&pair[1]), "{pair:?}");
        }
        let odd = [r"\000.a.", r"\000\000.a.", r"\001.a.", r"\002.a."].map(name);
        for pair in odd.windows(2) {
            assert_eq!(pair[0].name().canonical_cmp(pair[1].name()), Ordering::Less, "{pair:?}");
            assert!(key(&pair[0]) < key(&pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn names_know_their_ancestors() {
        let (www, com) = (name("www.example.com."), name("com."));
        assert!(www.name().is_at_or_below(com.name()) && com.name().is_at_or_below(com.name()));
        assert!(www.name().is_at_or_below(DomainName::ROOT) && !com.name().is_at_or_below(www.name()));
        // The end of the label `x\003com` looks like `com`.
        assert!(!name(r"x\003com.").name().is_at_or_below(com.name()));
        assert_eq!(www.name().last_labels(2).to_buf(), name("example.com."));
        assert_eq!(www.name().last_labels(9), www.name());
        assert_eq!(www.name().last_labels(0), DomainName::ROOT);
        assert_eq!((www.name().label_count(), DomainName::ROOT.label_count()), (3, 0));
        assert!(name("*.a.").name().is_wildcard() && !name("*a.").name().is_wildcard());
    }
}
