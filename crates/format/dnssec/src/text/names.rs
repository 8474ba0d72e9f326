//! The names of a zone file, into wire format.

use super::error::{EntryError, Read, shown};
use super::marks::{BLOCK, lower_and_dots};
use super::word::{EntryWord, WordKind};
use crate::name::{self, DomainName, DomainNameBuf, LetterCase, MAX_NAME, NameError};

/// The maximum length of a name that is read in one step, in bytes. The name fits into a block together with a length
/// byte before it and a dot after it.
const MAX_SHORT: usize = BLOCK - 2;

/// The suffix of relative names, as written and in lower case.
#[derive(Clone, Debug)]
pub(crate) struct ZoneOriginBuf {
    kept: DomainNameBuf,
    lower: DomainNameBuf,
}

/// A borrowed [`ZoneOriginBuf`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ZoneOrigin<'a> {
    kept: DomainName<'a>,
    lower: DomainName<'a>,
}

impl ZoneOriginBuf {
    pub(crate) fn new(kept: DomainName<'_>) -> Self {
        Self { kept: kept.to_buf(), lower: kept.to_lower() }
    }

    #[inline]
    pub(crate) fn borrow(&self) -> ZoneOrigin<'_> {
        ZoneOrigin { kept: self.kept.name(), lower: self.lower.name() }
    }
}

impl<'a> ZoneOrigin<'a> {
    #[inline]
    pub(crate) fn in_case(self, case: LetterCase) -> DomainName<'a> {
        if case == LetterCase::Lower { self.lower } else { self.kept }
    }
}

/// Appends a name. A relative name ends in `origin`.
#[inline]
pub(crate) fn write(
    word: EntryWord<'_>,
    origin: Option<ZoneOrigin<'_>>,
    case: LetterCase,
    out: &mut Vec<u8>,
) -> Read<()> {
    match word.from().first_chunk::<BLOCK>() {
        // Near the end of the text there is no whole block, and the general function reads the name.
        Some(block) if word.kind() == WordKind::Plain && word.len() <= MAX_SHORT => {
            match write_short(block, word.len(), origin, case, out) {
                true => Ok(()),
                false => write_any(word, origin, case, out),
            }
        }
        _ => write_any(word, origin, case, out),
    }
}

/// Appends a name of `len` bytes without escapes at the front of a block. Returns false for a name that only the
/// general function can judge.
#[inline]
fn write_short(
    block: &[u8; BLOCK],
    len: usize,
    origin: Option<ZoneOrigin<'_>>,
    case: LetterCase,
    out: &mut Vec<u8>,
) -> bool {
    let (lower, dots) = lower_and_dots(block);
    let is_absolute = dots >> (len - 1) & 1 == 1;
    let behind =
        if is_absolute { &[0][..] } else { origin.map_or(&[][..], |origin| origin.in_case(case).as_bytes()) };
    // A relative name ends at its length, as if a dot followed.
    let mut ends = dots & ((1 << len) - 1) | u64::from(!is_absolute) << len;
    // Two neighbouring ends, or an end at the start, are an empty label.
    let has_empty = ends & (ends << 1 | 1) != 0;
    // The general function reports the errors, and reads `@` and `.`.
    if has_empty || behind.is_empty() || block[0] == b'@' && len == 1 || len + 1 + behind.len() > MAX_NAME {
        return false;
    }
    let start = out.len();
    out.push(0);
    // A copy of the whole block is faster than one of just the name. The rest is cut off below.
    out.extend_from_slice(if case == LetterCase::Lower { &lower } else { block });
    let labels = &mut out[start..start + 1 + BLOCK];
    let mut label = 0;
    while ends != 0 {
        let end = ends.trailing_zeros() as usize;
        // Each dot becomes the length byte of the label after it. A label has at most 62 bytes here.
        labels[label] = (end - label) as u8;
        label = end + 1;
        ends &= ends - 1;
    }
    out.truncate(start + label);
    out.extend_from_slice(behind);
    true
}

#[cold]
fn write_any(
    word: EntryWord<'_>,
    origin: Option<ZoneOrigin<'_>>,
    case: LetterCase,
    out: &mut Vec<u8>,
) -> Read<()> {
    let text = word.bytes();
    if word.kind() == WordKind::Quoted {
        return Err(EntryError::word(word, "a name"));
    }
    if origin.is_none() && is_relative(text) {
        return Err(EntryError::NoOrigin(shown(text)).into());
    }
    name::write_text(text, origin.map_or(DomainName::ROOT, |origin| origin.in_case(case)), case, out)
        .map_err(|error: NameError| EntryError::name(word, error))
}

/// Returns true if a name does not end in an unescaped dot.
pub(crate) fn is_relative(text: &[u8]) -> bool {
    let Some(before) = text.strip_suffix(b".") else { return true };
    let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    backslashes % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, len: usize, origin: Option<ZoneOrigin<'_>>) -> Read<Vec<u8>> {
        let kind = if text[..len].contains('\\') { WordKind::Escaped } else { WordKind::Plain };
        let mut out = b"x".to_vec();
        write(EntryWord::new(text.as_bytes(), len, kind), origin, LetterCase::Lower, &mut out)?;
        Ok(out.split_off(1))
    }

    /// Reads the same name with and without a block of text after it.
    #[test]
    fn short_names_are_read_like_all_others() {
        let origin = ZoneOriginBuf::new(
            DomainNameBuf::parse(b"Example.", DomainName::ROOT, LetterCase::Kept).unwrap().name(),
        );
        let long = "a".repeat(62);
        let labels = "ab.".repeat(20);
        let texts = [
            ".", "@", "a", "A.b", "a.B.", "..", ".a", "a..b", "a..", r"a\.", r"a\\.", &long, &labels, "@a",
            "a@.",
        ];
        for text in texts {
            for origin in [Some(origin.borrow()), None] {
                let padded = format!("{text} {}", ".A".repeat(32));
                let alone = written(text, text.len(), origin);
                assert_eq!(written(&padded, text.len(), origin), alone, "{text}");
                let by_name = DomainNameBuf::parse(
                    text.as_bytes(),
                    origin.map_or(DomainName::ROOT, |origin| origin.in_case(LetterCase::Lower)),
                    LetterCase::Lower,
                );
                if origin.is_some() || !is_relative(text.as_bytes()) {
                    assert_eq!(
                        alone.ok(),
                        by_name.ok().map(|name| name.name().as_bytes().to_vec()),
                        "{text}"
                    );
                } else {
                    assert!(matches!(*alone.unwrap_err(), EntryError::NoOrigin(_)), "{text}");
                }
            }
        }
    }

    #[test]
    fn an_origin_can_make_a_name_too_long() {
        let origin =
            DomainNameBuf::parse("a.".repeat(120).as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap();
        let origin = ZoneOriginBuf::new(origin.name());
        let text = format!("{:64}", "bcdefghijklmn");
        assert!(written(&text, 13, Some(origin.borrow())).is_ok());
        let error = written(&format!("{:64}", "bcdefghijklmno"), 14, Some(origin.borrow())).unwrap_err();
        assert!(matches!(*error, EntryError::Name { error: NameError::Long, .. }), "{error}");
    }
}
