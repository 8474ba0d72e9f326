//! The header field of a signature. RFC 6376 3.5; RFC 8617 4.1.2 for ARC.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::SmallVec;

use crate::algorithm::{SignatureAlgorithm, UnknownSignatureAlgorithm};
use crate::base64;
use crate::canon::{Canonicalization, UnknownForm};
use crate::domain;
use crate::message::{MailLimits, name_hash};
use crate::tags::{TagError, TagList, is_space, printable, trimmed};

/// The reason why a field is not a valid signature. RFC 6376 6.1.1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// The value is not a tag list.
    #[error(transparent)]
    Tags(#[from] TagError),
    /// A required tag is missing.
    #[error("tag `{0}=` is missing")]
    Missing(&'static str),
    /// The version is not 1.
    #[error("version `{0}` is not 1")]
    Version(String),
    /// The algorithm is unknown.
    #[error(transparent)]
    Algorithm(#[from] UnknownSignatureAlgorithm),
    /// The canonicalization is unknown.
    #[error(transparent)]
    Form(#[from] UnknownForm),
    /// A value is empty or not base64.
    #[error("the value of `{0}=` is not base64")]
    Base64(&'static str),
    /// The body hash does not have the length of the algorithm's digests.
    #[error("the body hash has {found} bytes: expected {expected}")]
    BodyHash {
        /// The length of a digest in bytes.
        expected: usize,
        /// The length of `bh=` in bytes.
        found: usize,
    },
    /// A value is not a decimal number or has too many digits.
    #[error("the value of `{0}=` is not a number")]
    Number(&'static str),
    /// A value is not a domain name.
    #[error("the value of `{tag}=`, `{found}`, is not a domain name")]
    Domain {
        /// The tag: `d` or `s`.
        tag: &'static str,
        /// The value found.
        found: String,
    },
    /// `i=` is not an address of the signing domain or a subdomain.
    #[error("the identity `{0}` is not of the signing domain")]
    Identity(String),
    /// An entry of `h=` is not a field name.
    #[error("`{0}` in `h=` is not a header field name")]
    SignedName(String),
    /// `h=` has more names than [`MailLimits::max_signed_names`].
    #[error("more than {0} names in `h=`")]
    TooManyNames(usize),
    /// `From` is not among the signed fields. It must be.
    #[error("`h=` does not name From")]
    FromNotSigned,
    /// `q=` lists no known method.
    #[error("no query method in `q={0}` is known")]
    Query(String),
    /// `x=` is not later than `t=`.
    #[error("it expires before it was made")]
    ExpiresTooEarly,
    /// An ARC seal has `h=`, although it signs no fields by name. RFC 8617 4.1.3.
    #[error("an ARC seal has no `h=`")]
    SealWithNames,
}

/// The name of a signed field in `h=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignedName<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) hash: u32,
}

/// The names in `h=`, in their order. The spans lie in the value of the tag, so that one copy of it makes them owned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignedNames<'a> {
    value: Cow<'a, [u8]>,
    spans: SmallVec<[NameSpan; 24]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct NameSpan {
    start: u32,
    end: u32,
    hash: u32,
}

impl SignedNames<'_> {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = SignedName<'_>> {
        self.spans.iter().map(|span| SignedName {
            name: self.value.get(span.start as usize..span.end as usize).unwrap_or_default(),
            hash: span.hash,
        })
    }

    fn into_owned(self) -> SignedNames<'static> {
        SignedNames { value: Cow::Owned(self.value.into_owned()), spans: self.spans }
    }
}

/// A parsed signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DkimSignature<'a> {
    /// `a=`
    pub algorithm: SignatureAlgorithm,
    /// `b=`
    pub signature: Vec<u8>,
    /// `bh=`
    pub body_hash: SmallVec<[u8; 32]>,
    /// `c=`
    pub canonicalization: Canonicalization,
    /// `d=` in ASCII form.
    pub domain: String,
    /// `s=` in ASCII form.
    pub selector: String,
    /// `i=`, decoded from quoted-printable.
    pub identity: Option<Cow<'a, str>>,
    /// `l=`: the number of canonical bytes of the body that are signed.
    pub body_length: Option<u64>,
    /// `t=`, in seconds since 1970.
    pub timestamp: Option<u64>,
    /// `x=`, in seconds since 1970.
    pub expires: Option<u64>,
    pub(crate) names: SignedNames<'a>,
    /// The range of the value of `b=` within the value of the field.
    pub(crate) signature_span: Range<usize>,
}

/// The rules that a signature follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureRules {
    Dkim,
    /// `ARC-Message-Signature`: it has no `v=`, and its `i=` is an instance number. RFC 8617 4.1.2.
    Arc,
}

impl<'a> DkimSignature<'a> {
    /// Parses the value of a `DKIM-Signature` field.
    ///
    /// # Errors
    /// The first rule that the field breaks. Expiry and policy are checked later.
    pub fn parse(value: &'a [u8], limits: &MailLimits) -> Result<Self, SignatureError> {
        Self::from_tags(SignatureRules::Dkim, &TagList::parse(value)?, limits)
    }

    pub(crate) fn from_tags(
        kind: SignatureRules,
        tags: &TagList<'a>,
        limits: &MailLimits,
    ) -> Result<Self, SignatureError> {
        if kind == SignatureRules::Dkim {
            match required(tags, "v")? {
                b"1" => {}
                other => return Err(SignatureError::Version(printable(other))),
            }
        }
        let plain = Self::from_common_tags(tags)?;
        let body_hash = base64_of("bh", required(tags, "bh")?)?;
        let expected = plain.algorithm.digest().output_len();
        if body_hash.len() != expected {
            return Err(SignatureError::BodyHash { expected, found: body_hash.len() });
        }
        let canonicalization = match tags.get("c") {
            Some(forms) => text(forms).parse()?,
            // RFC 6376 3.5: the default is simple/simple.
            None => Canonicalization::SIMPLE,
        };
        let identity = match (kind, tags.get("i")) {
            (SignatureRules::Dkim, Some(identity)) => Some(identity_of(identity, &plain.domain)?),
            _ => None,
        };
        let names = names_of(required(tags, "h")?, limits)?;
        // RFC 6376 5.4 requires From in a DKIM signature.
        if kind == SignatureRules::Dkim && !names.iter().any(|name| name.name.eq_ignore_ascii_case(b"from")) {
            return Err(SignatureError::FromNotSigned);
        }
        if let Some(query) = tags.get("q") {
            check_query(query)?;
        }
        // RFC 6376 3.5 allows twelve digits for `t=` and `x=`.
        let expires = parse_number("x", tags, 12)?;
        if let (Some(timestamp), Some(expires)) = (plain.timestamp, expires)
            && expires <= timestamp
        {
            return Err(SignatureError::ExpiresTooEarly);
        }
        let body_length = parse_number("l", tags, 76)?;
        let body_hash = body_hash.into();
        Ok(Self { body_hash, canonicalization, identity, body_length, expires, names, ..plain })
    }

    /// Reads the tags that every kind of signature has. They say nothing about the body or the fields.
    pub(crate) fn from_common_tags(tags: &TagList<'_>) -> Result<DkimSignature<'static>, SignatureError> {
        let algorithm: SignatureAlgorithm = text(required(tags, "a")?).parse()?;
        let (signature, signature_span) = signature_value(tags)?;
        Ok(DkimSignature {
            algorithm,
            signature,
            body_hash: SmallVec::new(),
            canonicalization: Canonicalization::RELAXED,
            domain: domain_of("d", tags)?,
            selector: domain_of("s", tags)?,
            identity: None,
            body_length: None,
            timestamp: parse_number("t", tags, 12)?,
            expires: None,
            names: SignedNames::default(),
            signature_span,
        })
    }

    /// Copies the borrowed parts, so that the signature outlives the bytes of its field.
    #[must_use]
    pub fn into_owned(self) -> DkimSignature<'static> {
        DkimSignature {
            algorithm: self.algorithm,
            signature: self.signature,
            body_hash: self.body_hash,
            canonicalization: self.canonicalization,
            domain: self.domain,
            selector: self.selector,
            identity: self.identity.map(|identity| Cow::Owned(identity.into_owned())),
            body_length: self.body_length,
            timestamp: self.timestamp,
            expires: self.expires,
            names: self.names.into_owned(),
            signature_span: self.signature_span,
        }
    }

    /// Returns the names in `h=` as they are written.
    pub fn signed_names(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.names.iter().map(|name| name.name)
    }
}

pub(crate) fn required<'a>(tags: &TagList<'a>, name: &'static str) -> Result<&'a [u8], SignatureError> {
    tags.get(name).ok_or(SignatureError::Missing(name))
}

pub(crate) fn signature_value(tags: &TagList<'_>) -> Result<(Vec<u8>, Range<usize>), SignatureError> {
    let tag = tags.find("b").ok_or(SignatureError::Missing("b"))?;
    Ok((base64_of("b", tag.value)?, tag.span.clone()))
}

fn base64_of(tag: &'static str, value: &[u8]) -> Result<Vec<u8>, SignatureError> {
    base64::decode(value).filter(|bytes| !bytes.is_empty()).ok_or(SignatureError::Base64(tag))
}

/// Returns a tag value as text. The parser has checked that it is UTF-8.
pub(crate) fn text(value: &[u8]) -> &str {
    std::str::from_utf8(value).unwrap_or_default()
}

pub(crate) fn domain_of(tag: &'static str, tags: &TagList<'_>) -> Result<String, SignatureError> {
    let value = required(tags, tag)?;
    let form = domain::ascii_form(text(value));
    form.map(Into::into).ok_or_else(|| SignatureError::Domain { tag, found: printable(value) })
}

/// Reads `[ Local-part ] "@" domain-name`. The domain must be `domain` or a subdomain. Any character may be encoded.
/// RFC 6376 2.11 and 3.5.
fn identity_of<'a>(value: &'a [u8], domain: &str) -> Result<Cow<'a, str>, SignatureError> {
    let wrong = || SignatureError::Identity(printable(value));
    let identity = match memchr::memchr3(b'=', b'\n', b'\t', value) {
        None => Cow::Borrowed(text(value)),
        Some(_) => Cow::Owned(String::from_utf8(quoted_printable(value)).map_err(|_| wrong())?),
    };
    // Encoded line ends would forge fields in the Authentication-Results that repeat the identity.
    if identity.contains(char::is_control) {
        return Err(wrong());
    }
    // A quoted local part may contain `@`, so the domain starts after the last one.
    let host = identity.rsplit_once('@').and_then(|(_, host)| domain::ascii_form(host));
    match host {
        Some(host) if domain::is_same_or_below(&host, domain) => Ok(identity),
        _ => Err(wrong()),
    }
}

/// Decodes dkim-quoted-printable. White space is ignored. A `=` without two hexadecimal digits after it stands for
/// itself.
fn quoted_printable(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        // RFC 2045 6.7, on which the encoding is based, allows capital letters only.
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, others @ ..] = rest {
        rest = others;
        if is_space(*first) {
            continue;
        }
        let escaped = match others {
            [high, low, ..] if *first == b'=' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                out.push(high << 4 | low);
                rest = &others[2..];
            }
            None => out.push(*first),
        }
    }
    out
}

fn names_of<'a>(value: &'a [u8], limits: &MailLimits) -> Result<SignedNames<'a>, SignatureError> {
    let mut spans = SmallVec::new();
    let mut from = 0;
    for part in value.split(|byte| *byte == b':') {
        let name = trimmed(part);
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return Err(SignatureError::SignedName(printable(name)));
        }
        if spans.len() == limits.max_signed_names {
            return Err(SignatureError::TooManyNames(limits.max_signed_names));
        }
        // The spans skip the white space around the colons.
        let start = from + part.iter().take_while(|byte| is_space(**byte)).count();
        let span = (u32::try_from(start), u32::try_from(start + name.len()));
        let (Ok(start), Ok(end)) = span else { return Err(SignatureError::SignedName(printable(name))) };
        spans.push(NameSpan { start, end, hash: name_hash(name) });
        from += part.len() + 1;
    }
    Ok(SignedNames { value: Cow::Borrowed(value), spans })
}

/// Checks that `q=` lists `dns/txt`. Other methods are ignored with their options.
fn check_query(value: &[u8]) -> Result<(), SignatureError> {
    let is_known = value.split(|byte| *byte == b':').any(|method| trimmed(method) == b"dns/txt");
    if is_known { Ok(()) } else { Err(SignatureError::Query(printable(value))) }
}

/// Reads a number of at most `max_digits` digits. A number beyond 64 bits becomes the maximum.
pub(crate) fn parse_number(
    tag: &'static str,
    tags: &TagList<'_>,
    max_digits: usize,
) -> Result<Option<u64>, SignatureError> {
    let Some(value) = tags.get(tag) else { return Ok(None) };
    if value.is_empty() || value.len() > max_digits || !value.iter().all(u8::is_ascii_digit) {
        return Err(SignatureError::Number(tag));
    }
    // RFC 6376 3.5 allows `l=` up to 76 digits, which exceeds 64 bits.
    let digit = |number: u64, digit: &u8| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    Ok(Some(value.iter().fold(0, digit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "v=1; a=rsa-sha256; d=Example.com; s=s1; h=From : to:\r\n subject;\
                        bh=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=; b=aGVs\r\n bG8=";

    fn parse(text: &str) -> Result<DkimSignature<'_>, SignatureError> {
        DkimSignature::parse(text.as_bytes(), &MailLimits::default())
    }

    #[test]
    fn parses_a_signature_with_its_defaults() {
        let signature = parse(GOOD).unwrap();
        assert_eq!(signature.domain, "example.com");
        assert_eq!(signature.canonicalization, Canonicalization::SIMPLE);
        assert_eq!(signature.signature, b"hello");
        let names: Vec<&[u8]> = signature.signed_names().collect();
        assert_eq!(names, [&b"From"[..], b"to", b"subject"]);
        assert_eq!(&GOOD[signature.signature_span.clone()], "aGVs\r\n bG8=");
        let other =
            format!("{GOOD}; c=relaxed; l=12; t=5; x=999999999999; i=a@Sub.EXAMPLE.com; q=x/y:dns/txt; zz=1");
        let signature = parse(&other).unwrap();
        assert_eq!(signature.canonicalization.to_string(), "relaxed/simple");
        assert_eq!((signature.body_length, signature.timestamp), (Some(12), Some(5)));
        assert_eq!(signature.identity.as_deref(), Some("a@Sub.EXAMPLE.com"));
        for (written, identity) in [
            ("a@example=2Ecom", "a@example.com"),
            ("a=40sub.example.com", "a@sub.example.com"),
            ("=3D=61@example.com", "=a@example.com"),
            ("=6Aoe=3b=x@example.com", "joe=3b=x@example.com"),
            ("b\r\n ob@exam\r\n\tple.com", "bob@example.com"),
        ] {
            let text = format!("{GOOD}; i={written}");
            assert_eq!(parse(&text).unwrap().identity.as_deref(), Some(identity), "{written}");
        }
        for wrong in
            ["a=40example.net", "a@example.com=2Eevil.example", "a=0A@example.com", "=FF@example.com"]
        {
            let text = format!("{GOOD}; i={wrong}");
            assert_eq!(parse(&text).unwrap_err(), SignatureError::Identity(wrong.into()));
        }
        let huge = format!("{GOOD}; l={}", "9".repeat(76));
        assert_eq!(parse(&huge).unwrap().body_length, Some(u64::MAX));
    }

    #[test]
    fn names_every_broken_rule() {
        let with = |from: &str, to: &str| {
            assert!(GOOD.contains(from), "{from}");
            parse(&GOOD.replace(from, to)).unwrap_err()
        };
        assert_eq!(with("v=1;", ""), SignatureError::Missing("v"));
        assert_eq!(with("v=1", "v=2"), SignatureError::Version("2".into()));
        assert_eq!(with("rsa-sha256", "rsa-md5"), UnknownSignatureAlgorithm("rsa-md5".into()).into());
        assert_eq!(with("rsa-sha256", "rsa-sha1"), SignatureError::BodyHash { expected: 20, found: 32 });
        assert_eq!(with("d=Example.com", "d=a b"), SignatureError::Domain { tag: "d", found: "a b".into() });
        assert_eq!(with("s=s1", "s=a/b"), SignatureError::Domain { tag: "s", found: "a/b".into() });
        assert_eq!(with("From", "Fro"), SignatureError::FromNotSigned);
        assert_eq!(with(" to", ""), SignatureError::SignedName(String::new()));
        assert_eq!(with("bG8=", "bG8*"), SignatureError::Base64("b"));
        assert_eq!(with("bG8=", "bG8=; l=-1"), SignatureError::Number("l"));
        assert_eq!(with("bG8=", "bG8=; t=1234567890123"), SignatureError::Number("t"));
        assert_eq!(with("bG8=", "bG8=; t=9; x=9"), SignatureError::ExpiresTooEarly);
        assert_eq!(with("bG8=", "bG8=; q=http"), SignatureError::Query("http".into()));
        assert_eq!(
            with("bG8=", "bG8=; i=a@badexample.com"),
            SignatureError::Identity("a@badexample.com".into())
        );
        assert_eq!(with("bG8=", "bG8=; c=nowsp"), UnknownForm("nowsp".into()).into());
        assert_eq!(with("bG8=", "bG8=; v=1"), TagError::Duplicate("v".into()).into());
        let limits = MailLimits { max_signed_names: 2, ..MailLimits::default() };
        assert_eq!(DkimSignature::parse(GOOD.as_bytes(), &limits), Err(SignatureError::TooManyNames(2)));
    }
}
