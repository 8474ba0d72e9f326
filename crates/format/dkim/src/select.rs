//! The header fields that a list of names signs. RFC 6376 5.4.2.

use std::ops::Range;

use smallvec::SmallVec;

use crate::canon::{CanonicalForm, canonicalize_header};
use crate::message::HeaderField;
use crate::signature::SignedName;

/// Writes the fields that `names` select, each with its CRLF. A repeated name selects the next field of that name
/// upwards. A name without a field left selects nothing.
pub(crate) fn write_signed<'n>(
    form: CanonicalForm,
    headers: &[HeaderField<'_>],
    names: impl Iterator<Item = SignedName<'n>>,
    out: &mut Vec<u8>,
) {
    // The positions up to which the fields of each name are used.
    let mut seen: SmallVec<[(SignedName<'n>, usize); 32]> = SmallVec::new();
    for name in names {
        let is_same =
            |other: &SignedName<'_>| other.hash == name.hash && other.name.eq_ignore_ascii_case(name.name);
        // RFC 6376 5.4.2: repeated names take the fields from the bottom up.
        let known = seen.iter().position(|(other, _)| is_same(other));
        let below = known.map_or(headers.len(), |at| seen[at].1);
        let found =
            headers[..below].iter().rposition(|header| header.hash == name.hash && header.is(name.name));
        if let Some(at) = found {
            canonicalize_header(form, &headers[at], out);
            out.extend_from_slice(b"\r\n");
        }
        // Position 0 means that no field is left: the search covers the positions below it.
        let next = found.unwrap_or(0);
        match known {
            Some(at) => seen[at].1 = next,
            None => seen.push((name, next)),
        }
    }
}

/// Writes a signature's field without the value of `b=`, as it was before signing.
pub(crate) fn write_unsigned(
    form: CanonicalForm,
    field: &HeaderField<'_>,
    span: Range<usize>,
    out: &mut Vec<u8>,
) {
    let raw = field.raw();
    let value_at = raw.len() - field.value().len();
    let unsigned = [&raw[..value_at + span.start], &raw[value_at + span.end..]].concat();
    // This cannot fail: removing the value keeps the name and the colon.
    if let Ok(header) = HeaderField::new(&unsigned) {
        canonicalize_header(form, &header, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::name_hash;

    #[test]
    fn selects_fields_from_the_bottom_and_each_once() {
        let headers = ["A: 1", "B: 2", "a: 3", "C: 4"].map(|raw| HeaderField::new(raw.as_bytes()).unwrap());
        let names = ["a", "x", "A", "b", "a", "a"].map(str::as_bytes);
        let mut out = vec![];
        let names = names.map(|name| SignedName { name, hash: name_hash(name) });
        write_signed(CanonicalForm::Relaxed, &headers, names.into_iter(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "a:3\r\na:1\r\nb:2\r\n");
    }
}
