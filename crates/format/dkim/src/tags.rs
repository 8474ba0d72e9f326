//! Tag lists. RFC 6376 3.2.

use std::ops::Range;

use smallvec::SmallVec;

/// The maximum number of tags in a list. Fewer than twenty are defined. The search for duplicates takes quadratic time.
const MAX_TAGS: usize = 64;

/// An error of parsing a tag list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// The text between two semicolons has no equals sign.
    #[error("`{0}` is not a tag: it has no `=`")]
    NoEquals(String),
    /// A name does not begin with a letter, or has characters other than letters, digits and underscores.
    #[error("`{0}` is not a tag name: expected letters, digits and underscores")]
    Name(String),
    /// A tag occurs twice, which makes the whole list invalid.
    #[error("tag `{0}=` occurs twice")]
    Duplicate(String),
    /// A value has a control character, or bytes that are not UTF-8.
    #[error("the value of `{0}=` has bytes that no value may have")]
    Value(String),
    /// The list has more than the maximum number of tags.
    #[error("more than {MAX_TAGS} tags")]
    TooMany,
}

/// One tag of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListTag<'a> {
    pub(crate) name: &'a [u8],
    /// The value without the white space around it.
    pub(crate) value: &'a [u8],
    /// The range of the value in the list, with the white space around it.
    pub(crate) span: Range<usize>,
}

/// The tags in their order. No name occurs twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagList<'a>(SmallVec<[ListTag<'a>; 16]>);

impl<'a> TagList<'a> {
    /// Parses `text`. Unknown tags are kept and ignored by callers.
    ///
    /// # Errors
    /// The first tag that is malformed or repeated.
    pub fn parse(text: &'a [u8]) -> Result<Self, TagError> {
        let mut tags: SmallVec<[ListTag<'a>; 16]> = SmallVec::new();
        let mut start = 0;
        loop {
            let end = memchr::memchr(b';', &text[start..]).map_or(text.len(), |len| start + len);
            if trimmed(&text[start..end]).is_empty() {
                // A semicolon may end the list, but nothing else may be empty.
                if end < text.len() {
                    return Err(TagError::NoEquals(String::new()));
                }
                return Ok(Self(tags));
            }
            let tag = parse_tag(text, start..end)?;
            // RFC 6376 3.2: a duplicate makes the whole list invalid.
            if tags.iter().any(|other| other.name == tag.name) {
                return Err(TagError::Duplicate(printable(tag.name)));
            }
            if tags.len() == MAX_TAGS {
                return Err(TagError::TooMany);
            }
            tags.push(tag);
            if end == text.len() {
                return Ok(Self(tags));
            }
            start = end + 1;
        }
    }

    /// Returns the value of a tag without the white space around it. Names are case-sensitive.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.find(name).map(|tag| tag.value)
    }

    /// Returns true if the first tag has this name.
    #[must_use]
    pub(crate) fn begins_with(&self, name: &str) -> bool {
        self.0.first().is_some_and(|tag| tag.name == name.as_bytes())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&ListTag<'a>> {
        self.0.iter().find(|tag| tag.name == name.as_bytes())
    }
}

fn parse_tag(text: &[u8], span: Range<usize>) -> Result<ListTag<'_>, TagError> {
    let spec = &text[span.clone()];
    let equals = memchr::memchr(b'=', spec).ok_or_else(|| TagError::NoEquals(printable(trimmed(spec))))?;
    let name = trimmed(&spec[..equals]);
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if !is_name {
        return Err(TagError::Name(printable(name)));
    }
    let value = trimmed(&spec[equals + 1..]);
    // A loop without an early exit is vectorized, so that all bytes are checked.
    let is_value_byte = |byte: u8| matches!(byte, b'\t' | b'\r' | b'\n' | b' '..=b'~' | 0x80..);
    if !value.iter().fold(true, |is_value, byte| is_value & is_value_byte(*byte))
        || (!value.is_ascii() && std::str::from_utf8(value).is_err())
    {
        return Err(TagError::Value(printable(name)));
    }
    Ok(ListTag { name, value, span: span.start + equals + 1..span.end })
}

/// Returns true for the characters of folding white space. RFC 6376 2.8.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Removes folding white space at both ends.
pub(crate) fn trimmed(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_space(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_space(*last)
    {
        text = rest;
    }
    text
}

/// Makes untrusted bytes printable and short, so that a log line can show them.
pub(crate) fn printable(bytes: &[u8]) -> String {
    const MAX_SHOWN: usize = 64;
    let text = bytes[..bytes.len().min(MAX_SHOWN)].escape_ascii().to_string();
    if bytes.len() > MAX_SHOWN { text + "..." } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_folded_white_space_and_a_last_semicolon() {
        let list = TagList::parse(b" v=1;\r\n\ta = rsa-sha256 ;b=\r\n x y\r\n\tz ; q=; ").unwrap();
        assert_eq!(list.get("v"), Some(&b"1"[..]));
        assert_eq!(list.get("a"), Some(&b"rsa-sha256"[..]));
        assert_eq!(list.get("b"), Some(&b"x y\r\n\tz"[..]));
        assert_eq!(list.get("q"), Some(&b""[..]));
        assert_eq!(list.get("V"), None);
        assert!(list.begins_with("v") && !list.begins_with("a"));
        assert_eq!(TagList::parse(b"v=1"), TagList::parse(b"v=1"));
    }

    #[test]
    fn finds_a_value_with_the_white_space_around_it() {
        let text = b"a=1; b = x\r\n y ; c=";
        let list = TagList::parse(text).unwrap();
        assert_eq!(&text[list.find("b").unwrap().span.clone()], b" x\r\n y ");
        assert_eq!(list.find("c").unwrap().span, text.len()..text.len());
    }

    #[test]
    fn reports_the_fault_of_a_tag_list() {
        let error = |text: &[u8]| TagList::parse(text).unwrap_err();
        assert_eq!(error(b"v=1; v=1"), TagError::Duplicate("v".into()));
        assert_eq!(error(b"v=1; b; c=2"), TagError::NoEquals("b".into()));
        assert_eq!(error(b"v=1;; c=2"), TagError::NoEquals(String::new()));
        assert_eq!(error(b"1v=1"), TagError::Name("1v".into()));
        assert_eq!(error(b"v w=1"), TagError::Name("v w".into()));
        assert_eq!(error(b"=1"), TagError::Name(String::new()));
        assert_eq!(error(b"v=a\0b"), TagError::Value("v".into()));
        assert_eq!(error(b"v=\xff"), TagError::Value("v".into()));
        let many: Vec<String> = (0..65).map(|tag| format!("t{tag}=1")).collect();
        assert_eq!(error(many.join(";").as_bytes()), TagError::TooMany);
    }
}
