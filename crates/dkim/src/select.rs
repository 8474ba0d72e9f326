//! The header fields that a list of names signs. RFC 6376 5.4.2.

use smallvec::SmallVec;

use crate::canon::{CanonicalForm, canonicalize_header};
use crate::message::HeaderField;
use crate::signature::SignedName;

/// Writes the fields that `names` stand for, each with its CRLF: of several of one name the lowest first, and nothing for names
/// that have none left.
pub(crate) fn write_signed<'n>(
    form: CanonicalForm,
    headers: &[HeaderField<'_>],
    names: impl Iterator<Item = SignedName<'n>>,
    out: &mut Vec<u8>,
) {
    // Where to go on looking upwards, for names that were there before.
    let mut seen: SmallVec<[(SignedName<'n>, usize); 32]> = SmallVec::new();
    for name in names {
        let is_same =
            |other: &SignedName<'_>| other.hash == name.hash && other.name.eq_ignore_ascii_case(name.name);
        let known = seen.iter().position(|(other, _)| is_same(other));
        let below = known.map_or(headers.len(), |at| seen[at].1);
        let found =
            headers[..below].iter().rposition(|header| header.hash == name.hash && header.is(name.name));
        if let Some(at) = found {
            canonicalize_header(form, &headers[at], out);
            out.extend_from_slice(b"\r\n");
        }
        let next = found.unwrap_or(0);
        match known {
            Some(at) => seen[at].1 = next,
            None => seen.push((name, next)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::name_hash;

    #[test]
    fn fields_are_taken_from_the_bottom_and_each_once() {
        let headers = ["A: 1", "B: 2", "a: 3", "C: 4"].map(|raw| HeaderField::new(raw.as_bytes()).unwrap());
        let names = ["a", "x", "A", "b", "a", "a"].map(str::as_bytes);
        let mut out = vec![];
        let names = names.map(|name| SignedName { name, hash: name_hash(name) });
        write_signed(CanonicalForm::Relaxed, &headers, names.into_iter(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "a:3\r\na:1\r\nb:2\r\n");
    }
}
