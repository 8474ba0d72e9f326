//! Older signatures of the same signers, which new ones replace.

use std::borrow::Cow;
use std::ops::Range;

use oarlock_dkim::{DkimSigner, HeaderField, TagList, ascii_form, to_crlf};
use oarlock_mail_files::mail::StoredMail;

const FIELD: &[u8] = b"DKIM-Signature";

/// Returns the message without signatures of the domains and selectors of `signers`, and the number of removed ones.
pub(super) fn without_own<'m>(mail: &'m StoredMail, signers: &[DkimSigner]) -> (Cow<'m, StoredMail>, u64) {
    let spans: Vec<Range<usize>> =
        fields(&mail.bytes).filter(|span| is_own(&mail.bytes[span.clone()], signers)).collect();
    if spans.is_empty() {
        return (Cow::Borrowed(mail), 0);
    }
    let mut changed = mail.clone();
    for span in spans.iter().rev() {
        changed.bytes.drain(span.clone());
    }
    (Cow::Owned(changed), spans.len() as u64)
}

/// Returns the ranges of the header fields, with their line ends.
fn fields(message: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        at = line_end(message, at)?;
        // An empty line ends the header, but a line of spaces continues a field. RFC 5322 2.2.3.
        if message[start..at].trim_ascii().is_empty() && !matches!(message[start], b' ' | b'\t') {
            return None;
        }
        while matches!(message.get(at), Some(b' ' | b'\t')) {
            at = line_end(message, at).unwrap_or(message.len());
        }
        Some(start..at)
    })
}

/// Returns the end of the line that begins at `start`; None at the end of the message.
fn line_end(message: &[u8], start: usize) -> Option<usize> {
    let rest = message.get(start..).filter(|rest| !rest.is_empty())?;
    Some(rest.iter().position(|byte| *byte == b'\n').map_or(message.len(), |len| start + len + 1))
}

fn is_own(field: &[u8], signers: &[DkimSigner]) -> bool {
    // Quick, because most fields have other names. A longer name with the same beginning is found below.
    if !field.get(..FIELD.len()).is_some_and(|name| name.eq_ignore_ascii_case(FIELD)) {
        return false;
    }
    let wire = to_crlf(field.trim_ascii_end());
    let Ok(header) = HeaderField::new(&wire) else { return false };
    let Ok(tags) = TagList::parse(header.value()) else { return false };
    let name = |tag| {
        let text = std::str::from_utf8(tags.get(tag)?).ok()?;
        Some(ascii_form(text)?.into_owned())
    };
    let (domain, selector) = (name("d"), name("s"));
    let is_of = |signer: &DkimSigner| {
        domain.as_deref() == Some(signer.domain()) && selector.as_deref() == Some(signer.selector())
    };
    header.is(FIELD) && signers.iter().any(is_of)
}
