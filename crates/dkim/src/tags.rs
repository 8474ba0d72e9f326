//! Lists of tags. RFC 6376 3.2.

use std::ops::Range;

use smallvec::SmallVec;

/// Most tags of one list: those that are known are fewer than twenty.
const MAX_TAGS: usize = 64;

/// Why a text is no list of tags.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// Something between two semicolons has no equals sign.
    #[error("`{0}` is no tag: there is no `=` in it")]
    NoEquals(String),
    /// A name does not begin with a letter, or has other characters than letters, digits and underscores.
    #[error("`{0}` is no tag name")]
    Name(String),
    /// A tag is there twice, which makes the whole list invalid.
    #[error("tag `{0}=` is there twice")]
    Duplicate(String),
    /// A value has a control character, or bytes that are not UTF-8.
    #[error("the value of `{0}=` has bytes that no value may have")]
    Value(String),
    /// There are more tags than anybody needs.
    #[error("more than {MAX_TAGS} tags")]
    TooMany,
}

/// One tag of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListTag<'a> {
    pub(crate) name: &'a [u8],
    /// Without white space around it.
    pub(crate) value: &'a [u8],
    /// Where the value lies in the list, with white space around it.
    pub(crate) place: Range<usize>,
}

/// Tags in the order in which they stand, none of them twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagList<'a>(SmallVec<[ListTag<'a>; 16]>);

impl<'a> TagList<'a> {
    /// Reads `text`. Unknown tags are kept, since they mean nothing to those who do not know them.
    ///
    /// # Errors
    /// The first tag that is malformed or there for the second time.
    pub fn parse(text: &'a [u8]) -> Result<Self, TagError> {
        let mut tags: SmallVec<[ListTag<'a>; 16]> = SmallVec::new();
        let mut start = 0;
        loop {
            let end = memchr::memchr(b';', &text[start..]).map_or(text.len(), |len| start + len);
            if trimmed(&text[start..end]).is_empty() {
                // Only the last one may be missing, behind a semicolon at the end.
                if end < text.len() {
                    return Err(TagError::NoEquals(String::new()));
                }
                return Ok(Self(tags));
            }
            let tag = tag(text, start..end)?;
            if tags.iter().any(|other| other.name == tag.name) {
                return Err(TagError::Duplicate(shown(tag.name)));
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

    /// The value of a tag, without white space around it. Names are case-sensitive.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.find(name).map(|tag| tag.value)
    }

    /// True where the first tag has this name.
    #[must_use]
    pub fn begins_with(&self, name: &str) -> bool {
        self.0.first().is_some_and(|tag| tag.name == name.as_bytes())
    }

    pub(crate) fn find(&self, name: &str) -> Option<&ListTag<'a>> {
        self.0.iter().find(|tag| tag.name == name.as_bytes())
    }
}

fn tag(text: &[u8], place: Range<usize>) -> Result<ListTag<'_>, TagError> {
    let spec = &text[place.clone()];
    let equals = memchr::memchr(b'=', spec).ok_or_else(|| TagError::NoEquals(shown(trimmed(spec))))?;
    let name = trimmed(&spec[..equals]);
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if !is_name {
        return Err(TagError::Name(shown(name)));
    }
    let value = trimmed(&spec[equals + 1..]);
    // All of them, even behind one that is none: so it goes by blocks.
    let is_value_byte = |byte: u8| matches!(byte, b'\t' | b'\r' | b'\n' | b' '..=b'~' | 0x80..);
    if !value.iter().fold(true, |is_value, byte| is_value & is_value_byte(*byte))
        || (!value.is_ascii() && std::str::from_utf8(value).is_err())
    {
        return Err(TagError::Value(shown(name)));
    }
    Ok(ListTag { name, value, place: place.start + equals + 1..place.end })
}

/// True for what folding white space is made of. RFC 6376 2.8.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Without folding white space at both ends.
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

/// Bytes of a stranger, made fit for a message: printable, and not long.
pub(crate) fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 64;
    let text = bytes[..bytes.len().min(MOST)].escape_ascii().to_string();
    if bytes.len() > MOST { text + "..." } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_folds_and_the_last_semicolon_is_free() {
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
    fn a_value_is_found_with_the_space_around_it() {
        let text = b"a=1; b = x\r\n y ; c=";
        let list = TagList::parse(text).unwrap();
        assert_eq!(&text[list.find("b").unwrap().place.clone()], b" x\r\n y ");
        assert_eq!(list.find("c").unwrap().place, text.len()..text.len());
    }

    #[test]
    fn bad_lists_are_told_by_name() {
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
