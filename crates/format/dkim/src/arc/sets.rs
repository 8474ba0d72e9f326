//! The sets of a message. RFC 8617 4.2 and 5.2.

use smallvec::SmallVec;

use crate::canon::{CanonicalForm, canonicalize_header};
use crate::chain::ChainFault;
use crate::message::{HeaderField, MailLimits, name_hash};
use crate::select::write_unsigned;
use crate::signature::{DkimSignature, SignatureError, SignatureRules, required, text};
use crate::tags::{TagList, printable, trimmed};

/// The maximum number of sets of a message. RFC 8617 4.2.1.
pub(crate) const MAX_SETS: usize = 50;

pub(crate) const RESULTS: &[u8] = b"ARC-Authentication-Results";
pub(crate) const MESSAGE: &[u8] = b"ARC-Message-Signature";
pub(crate) const SEAL: &[u8] = b"ARC-Seal";

/// The set that one intermediary has added.
#[derive(Clone, Debug)]
pub(crate) struct ArcSet {
    /// The positions of the three fields among the header fields.
    pub(crate) results: usize,
    pub(crate) message: usize,
    pub(crate) seal: usize,
    /// The parsed seal. Its body hash and its names are empty.
    pub(crate) seal_signature: DkimSignature<'static>,
}

/// The sets of a message, from the first on.
pub(crate) type ArcSets = SmallVec<[ArcSet; 4]>;

/// The positions of the fields of one set that were found so far.
#[derive(Clone, Copy, Default)]
struct SetFields {
    results: Option<usize>,
    message: Option<usize>,
    seal: Option<usize>,
}

impl SetFields {
    fn field(&mut self, name: &[u8]) -> &mut Option<usize> {
        match name {
            RESULTS => &mut self.results,
            MESSAGE => &mut self.message,
            _ => &mut self.seal,
        }
    }
}

/// Finds all sets. They must be complete, be numbered without gaps, and agree about the chain. Returns an empty list
/// for a message without a set.
pub(crate) fn find_sets(headers: &[HeaderField<'_>]) -> Result<ArcSets, ChainFault> {
    let mut parts: Vec<SetFields> = Vec::new();
    let [results, message, seal] = [RESULTS, MESSAGE, SEAL].map(name_hash);
    for (position, header) in headers.iter().enumerate() {
        let name = match header.hash {
            hash if hash == results => RESULTS,
            hash if hash == message => MESSAGE,
            hash if hash == seal => SEAL,
            _ => continue,
        };
        // Equal hashes are only a hint.
        if !header.is(name) {
            continue;
        }
        // The number is at most 50, so a hostile field cannot make the list long.
        let number = instance_number(header, name == RESULTS)?;
        if parts.len() < number {
            parts.resize(number, SetFields::default());
        }
        if parts[number - 1].field(name).replace(position).is_some() {
            return Err(ChainFault::Double(number));
        }
    }
    parts.iter().zip(1..).map(|(parts, number)| check_set(parts, number, headers)).collect()
}

fn check_set(parts: &SetFields, number: usize, headers: &[HeaderField<'_>]) -> Result<ArcSet, ChainFault> {
    let SetFields { results: Some(results), message: Some(message), seal: Some(seal) } = *parts else {
        return Err(ChainFault::Missing(number));
    };
    let broken = |fault| ChainFault::Seal(number, fault);
    let tags = TagList::parse(headers[seal].value()).map_err(|fault| broken(fault.into()))?;
    let seal_signature = DkimSignature::from_seal_tags(&tags).map_err(broken)?;
    // RFC 8617 5.2 step 3: the first set must say none, and the others must say pass.
    match (number, required(&tags, "cv").map_err(broken)?) {
        (1, b"none") | (2.., b"pass") => Ok(ArcSet { results, message, seal, seal_signature }),
        (_, b"fail") => Err(ChainFault::SealedAsFailed(number)),
        (_, other) => Err(ChainFault::Claim(number, printable(other))),
    }
}

/// Returns the highest instance number of any ARC field, or 0.
pub(crate) fn highest_instance(headers: &[HeaderField<'_>]) -> usize {
    let of = |header: &HeaderField<'_>| {
        let is = |name| header.is(name);
        let is_of_set = is(RESULTS) || is(MESSAGE) || is(SEAL);
        if is_of_set { instance_number(header, is(RESULTS)).ok() } else { None }
    };
    headers.iter().filter_map(of).max().unwrap_or(0)
}

/// Returns the instance number `i=`. In a results field it comes first, before the first semicolon. RFC 8617 4.1.1.
fn instance_number(header: &HeaderField<'_>, is_results: bool) -> Result<usize, ChainFault> {
    let wrong = |value: &[u8]| ChainFault::Instance(printable(value));
    let value = if is_results {
        let first = header.value().split(|byte| *byte == b';').next().unwrap_or_default();
        let (name, value) = first.split_at(first.iter().position(|byte| *byte == b'=').unwrap_or(0));
        if trimmed(name) != b"i" {
            return Err(wrong(first));
        }
        trimmed(&value[1..])
    } else {
        let tags = TagList::parse(header.value()).map_err(|fault| ChainFault::Tags(fault.to_string()))?;
        tags.get("i").ok_or_else(|| wrong(b""))?
    };
    let number = text(value).parse().ok().filter(|number| (1..=MAX_SETS).contains(number));
    // `parse` alone would accept a plus sign.
    number.filter(|_| value.iter().all(u8::is_ascii_digit)).ok_or_else(|| wrong(value))
}

impl<'a> DkimSignature<'a> {
    /// Reads a seal. It signs neither a body nor fields by name. RFC 8617 4.1.3.
    pub(crate) fn from_seal_tags(tags: &TagList<'_>) -> Result<DkimSignature<'static>, SignatureError> {
        if tags.get("h").is_some() {
            return Err(SignatureError::SealWithNames);
        }
        Self::from_common_tags(tags)
    }

    /// Parses the message signature of a set. RFC 8617 4.1.2.
    pub(crate) fn parse_of_set(value: &'a [u8], limits: &MailLimits) -> Result<Self, SignatureError> {
        let signature = Self::from_tags(SignatureRules::Arc, &TagList::parse(value)?, limits)?;
        // RFC 8617 4.1.2: seals are never among the signed fields.
        let seal = signature.signed_names().find(|name| name.eq_ignore_ascii_case(SEAL)).map(printable);
        match seal {
            Some(name) => Err(SignatureError::SignedName(name)),
            None => Ok(signature),
        }
    }
}

/// Writes the two fields that a set's seal and all later ones sign. RFC 8617 5.1.1.
pub(crate) fn write_results_and_message(set: &ArcSet, headers: &[HeaderField<'_>], out: &mut Vec<u8>) {
    for header in [&headers[set.results], &headers[set.message]] {
        canonicalize_header(CanonicalForm::Relaxed, header, out);
        out.extend_from_slice(b"\r\n");
    }
}

/// Writes a seal as its own signature covers it: without the value of `b=`, and in last place.
pub(crate) fn write_seal_unsigned(set: &ArcSet, headers: &[HeaderField<'_>], out: &mut Vec<u8>) {
    write_unsigned(
        CanonicalForm::Relaxed,
        &headers[set.seal],
        set.seal_signature.signature_span.clone(),
        out,
    );
}

/// Writes a seal as the later seals cover it.
pub(crate) fn write_seal(set: &ArcSet, headers: &[HeaderField<'_>], out: &mut Vec<u8>) {
    canonicalize_header(CanonicalForm::Relaxed, &headers[set.seal], out);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEAL_TAGS: &str = "a=rsa-sha256; d=a.example; s=s; b=aGVsbG8=";

    fn find(fields: &[String]) -> Result<usize, ChainFault> {
        let headers: Vec<HeaderField<'_>> =
            fields.iter().map(|field| HeaderField::new(field.as_bytes()).unwrap()).collect();
        find_sets(&headers).map(|sets| sets.len())
    }

    fn fields(number: &str, cv: &str) -> Vec<String> {
        vec![
            format!("ARC-Seal: i={number}; cv={cv}; {SEAL_TAGS}"),
            format!("ARC-Message-Signature: i={number}; b=x"),
            format!("ARC-Authentication-Results: i={number}; mx.example; dkim=pass"),
        ]
    }

    #[test]
    fn accepts_only_complete_sets_without_gaps() {
        let [one, two] = [fields("1", "none"), fields("2", "pass")];
        assert_eq!(find(&[]), Ok(0));
        assert_eq!(find(&one), Ok(1));
        assert_eq!(find(&[two.clone(), one.clone()].concat()), Ok(2));
        assert_eq!(find(&two), Err(ChainFault::Missing(1)));
        assert_eq!(find(&one[1..]), Err(ChainFault::Missing(1)));
        assert_eq!(find(&[one.clone(), one[..1].to_vec()].concat()), Err(ChainFault::Double(1)));
        for bad in ["0", "51", "x", "", "+1", "99999999999999999999999"] {
            assert_eq!(find(&fields(bad, "none")), Err(ChainFault::Instance(bad.into())), "{bad}");
        }
        assert_eq!(find(&fields("1", "pass")), Err(ChainFault::Claim(1, "pass".into())));
        assert_eq!(
            find(&[one.clone(), fields("2", "none")].concat()),
            Err(ChainFault::Claim(2, "none".into()))
        );
        assert_eq!(find(&[one.clone(), fields("2", "fail")].concat()), Err(ChainFault::SealedAsFailed(2)));
        let named = format!("ARC-Seal: i=1; cv=none; h=from; {SEAL_TAGS}");
        let named = [vec![named], one[1..].to_vec()].concat();
        assert_eq!(find(&named), Err(ChainFault::Seal(1, SignatureError::SealWithNames)));
    }
}
