//! The header field of a new signature. RFC 6376 3.5.

use std::fmt::Write as _;

use super::signer::{DkimSigner, FieldName};
use crate::base64;
use crate::fold::FoldedField;
use crate::message::HeaderField;

/// The start of a signature field.
#[derive(Clone, Copy)]
pub(crate) struct FieldStart<'a> {
    /// The name of the field.
    pub(crate) field: &'a str,
    /// The first tag.
    pub(crate) first: &'a str,
}

impl FieldStart<'_> {
    pub(crate) const DKIM: Self = Self { field: "DKIM-Signature", first: "v=1;" };
}

/// Returns the names for `h=`. Each occurs as often as its field, and once more if it is oversigned.
pub(crate) fn names_of<'s>(signer: &'s DkimSigner, headers: &[HeaderField<'_>]) -> Vec<&'s FieldName> {
    let mut names = Vec::with_capacity(2 * signer.fields.0.len());
    for name in &*signer.fields.0 {
        let is_name = |header: &&HeaderField<'_>| header.hash == name.hash && header.is(name.name.as_bytes());
        // RFC 6376 5.4.2: one name more than there are fields makes a field that is added later break the signature.
        let count = headers.iter().filter(is_name).count() + usize::from(name.is_oversigned);
        names.extend(std::iter::repeat_n(name, count));
    }
    names
}

/// Writes the field up to `b=`, without the value of `b=`.
pub(crate) fn write_unsigned_field(
    head: FieldStart<'_>,
    signer: &DkimSigner,
    headers: &[HeaderField<'_>],
    names: &[&FieldName],
    body_hash: &[u8],
    body_len: u64,
    now_s: u64,
) -> String {
    let mut field = FoldedField::new(head.field);
    field.push_glued(":");
    let mut tag = String::with_capacity(128);
    let mut number = |field: &mut FoldedField, name: &str, number: u64| {
        tag.clear();
        // Writing to a String cannot fail.
        let _ = write!(tag, "{name}={number};");
        field.push_word(&tag);
    };
    field.push_word(head.first);
    for (name, value) in [("a=", signer.algorithm.name()), ("c=", &signer.canonicalization.to_string())] {
        field.push_word(&[name, value, ";"].concat());
    }
    for (name, value) in [("d=", &signer.domain), ("s=", &signer.selector)] {
        field.push_word(&[name, value, ";"].concat());
    }
    if let Some(identity) = &signer.identity {
        // A plain `=` before two digits would be decoded as an escaped character. RFC 6376 2.11.
        field.push_word(&["i=", &identity.replace('=', "=3D"), ";"].concat());
    }
    if signer.has_timestamp {
        number(&mut field, "t", now_s);
    }
    if let Some(lifetime_s) = signer.lifetime_s {
        number(&mut field, "x", now_s.saturating_add(lifetime_s));
    }
    if signer.has_length {
        number(&mut field, "l", body_len);
    }
    let mut between = "h=";
    for name in names {
        if between == "h=" {
            field.push_word(&[between, &name.name].concat());
        } else {
            field.push_glued(between);
            field.push_part(&name.name);
        }
        between = ":";
    }
    field.push_glued(";");
    if signer.copies_fields {
        field.push_word("z=");
        field.push_pieces(&copied_fields(names, headers));
        field.push_glued(";");
    }
    field.push_word(&["bh=", &base64::encode(body_hash), ";"].concat());
    field.push_word("b=");
    field.finish()
}

/// Appends the value of `b=`.
pub(crate) fn append_signature(unsigned: String, signature: &[u8]) -> String {
    let mut field = FoldedField::resume(unsigned);
    field.push_pieces(&base64::encode(signature));
    field.finish()
}

/// Returns the copied fields of `z=`, quoted-printable. RFC 6376 2.11 and 3.5.
fn copied_fields(names: &[&FieldName], headers: &[HeaderField<'_>]) -> String {
    let is_signed = |header: &&HeaderField<'_>| {
        names.iter().any(|name| name.hash == header.hash && header.is(name.name.as_bytes()))
    };
    let mut text = String::new();
    for header in headers.iter().filter(is_signed) {
        if !text.is_empty() {
            text.push('|');
        }
        let value = header.value();
        for byte in header.name().iter().chain(b":").chain(value) {
            match byte {
                // `|` separates the copies, so it is encoded too. RFC 6376 3.5.
                b'!'..=b'~' if !matches!(byte, b';' | b'=' | b'|') => text.push(char::from(*byte)),
                // Writing to a String cannot fail.
                _ => drop(write!(text, "={byte:02X}")),
            }
        }
    }
    text
}
