//! What a signature's header field says. RFC 6376 3.5; RFC 8617 4.1.2 for ARC.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::SmallVec;

use crate::algorithm::{SignatureAlgorithm, UnknownSignatureAlgorithm};
use crate::base64;
use crate::canon::{Canonicalization, UnknownForm};
use crate::domain;
use crate::message::{MailLimits, name_hash};
use crate::tags::{TagError, TagList, is_space, shown, trimmed};

/// Why a field is no signature. RFC 6376 6.1.1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// It is no list of tags.
    #[error(transparent)]
    Tags(#[from] TagError),
    /// A tag that must be there is not.
    #[error("tag `{0}=` is missing")]
    Missing(&'static str),
    /// A version that is not 1.
    #[error("version `{0}` is not 1")]
    Version(String),
    /// An algorithm that nobody knows.
    #[error(transparent)]
    Algorithm(#[from] UnknownSignatureAlgorithm),
    /// A canonicalisation that nobody knows.
    #[error(transparent)]
    Form(#[from] UnknownForm),
    /// A value that is no base64, or empty.
    #[error("the value of `{0}=` is not base64")]
    Base64(&'static str),
    /// A body hash that is not as long as its algorithm's digests.
    #[error("the body hash has {found} bytes, where {expected} are due")]
    BodyHash {
        /// Bytes of a digest.
        expected: usize,
        /// Bytes in `bh=`.
        found: usize,
    },
    /// A value that is no decimal number, or has too many digits.
    #[error("the value of `{0}=` is not a number")]
    Number(&'static str),
    /// A value that is no domain name.
    #[error("the value of `{tag}=`, `{found}`, is no domain name")]
    Domain {
        /// `d` or `s`.
        tag: &'static str,
        /// What it is.
        found: String,
    },
    /// `i=` is no address in the signing domain or below it.
    #[error("the identity `{0}` is not of the signing domain")]
    Identity(String),
    /// `h=` has something that is no field name.
    #[error("`{0}` in `h=` is no name of a header field")]
    SignedName(String),
    /// `h=` has more names than [`MailLimits::signed_names`].
    #[error("more than {0} names in `h=`")]
    TooManyNames(usize),
    /// The field `From` is not among the signed ones, which it must be.
    #[error("`h=` does not name From")]
    FromNotSigned,
    /// `q=` knows no method that there is.
    #[error("no query method in `q={0}` is known")]
    Query(String),
    /// `x=` is not later than `t=`.
    #[error("it expires before it was made")]
    ExpiresTooEarly,
    /// A signature of a whole ARC set signs no fields by name. RFC 8617 4.1.3.
    #[error("an ARC seal has no `h=`")]
    SealWithNames,
}

/// The name of a signed field, as `h=` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignedName<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) hash: u32,
}

/// A signature as it stands in a message.
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
    /// `d=`, as it is looked up.
    pub domain: String,
    /// `s=`, as it is looked up.
    pub selector: String,
    /// `i=`, where it is there, out of its quoted-printable form.
    pub identity: Option<Cow<'a, str>>,
    /// `l=`: canonical bytes of the body that are signed.
    pub body_length: Option<u64>,
    /// `t=`, in seconds since 1970.
    pub timestamp: Option<u64>,
    /// `x=`, in seconds since 1970.
    pub expires: Option<u64>,
    pub(crate) names: SmallVec<[SignedName<'a>; 24]>,
    /// Where the value of `b=` lies in the value of the field.
    pub(crate) signature_place: Range<usize>,
}

/// Which rules a signature follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureKind {
    Dkim,
    /// `ARC-MailMessage-DkimSignature`, without `v=` and with another `i=`. RFC 8617 4.1.2.
    Arc,
}

impl<'a> DkimSignature<'a> {
    /// Reads the value of a `DKIM-DkimSignature` field.
    ///
    /// # Errors
    /// The first rule that it breaks. Expiry and the like are judged later.
    pub fn parse(value: &'a [u8], limits: &MailLimits) -> Result<Self, SignatureError> {
        Self::from_tags(SignatureKind::Dkim, &TagList::parse(value)?, limits)
    }

    pub(crate) fn from_tags(
        kind: SignatureKind,
        tags: &TagList<'a>,
        limits: &MailLimits,
    ) -> Result<Self, SignatureError> {
        if kind == SignatureKind::Dkim {
            match required(tags, "v")? {
                b"1" => {}
                other => return Err(SignatureError::Version(shown(other))),
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
            None => Canonicalization::SIMPLE,
        };
        let identity = match (kind, tags.get("i")) {
            (SignatureKind::Dkim, Some(identity)) => Some(identity_of(identity, &plain.domain)?),
            _ => None,
        };
        let names = names_of(required(tags, "h")?, limits)?;
        if kind == SignatureKind::Dkim && !names.iter().any(|name| name.name.eq_ignore_ascii_case(b"from")) {
            return Err(SignatureError::FromNotSigned);
        }
        if let Some(query) = tags.get("q") {
            check_query(query)?;
        }
        let expires = number("x", tags, 12)?;
        if let (Some(timestamp), Some(expires)) = (plain.timestamp, expires)
            && expires <= timestamp
        {
            return Err(SignatureError::ExpiresTooEarly);
        }
        let body_length = number("l", tags, 76)?;
        let body_hash = body_hash.into();
        Ok(Self { body_hash, canonicalization, identity, body_length, expires, names, ..plain })
    }

    /// What every kind of signature says: nothing of a body and of fields.
    pub(crate) fn from_common_tags(tags: &TagList<'a>) -> Result<Self, SignatureError> {
        let algorithm: SignatureAlgorithm = text(required(tags, "a")?).parse()?;
        let (signature, signature_place) = signature(tags)?;
        Ok(Self {
            algorithm,
            signature,
            body_hash: SmallVec::new(),
            canonicalization: Canonicalization::RELAXED,
            domain: domain_of("d", tags)?,
            selector: domain_of("s", tags)?,
            identity: None,
            body_length: None,
            timestamp: number("t", tags, 12)?,
            expires: None,
            names: SmallVec::new(),
            signature_place,
        })
    }

    /// The names in `h=`, as they are written.
    pub fn signed_names(&self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        self.names.iter().map(|name| name.name)
    }
}

pub(crate) fn required<'a>(tags: &TagList<'a>, name: &'static str) -> Result<&'a [u8], SignatureError> {
    tags.get(name).ok_or(SignatureError::Missing(name))
}

pub(crate) fn signature(tags: &TagList<'_>) -> Result<(Vec<u8>, Range<usize>), SignatureError> {
    let tag = tags.find("b").ok_or(SignatureError::Missing("b"))?;
    Ok((base64_of("b", tag.value)?, tag.place.clone()))
}

fn base64_of(tag: &'static str, value: &[u8]) -> Result<Vec<u8>, SignatureError> {
    base64::decode(value).filter(|bytes| !bytes.is_empty()).ok_or(SignatureError::Base64(tag))
}

/// Values of tags are UTF-8.
pub(crate) fn text(value: &[u8]) -> &str {
    std::str::from_utf8(value).unwrap_or_default()
}

pub(crate) fn domain_of(tag: &'static str, tags: &TagList<'_>) -> Result<String, SignatureError> {
    let value = required(tags, tag)?;
    let form = domain::ascii_form(text(value));
    form.map(Into::into).ok_or_else(|| SignatureError::Domain { tag, found: shown(value) })
}

/// `[ Local-part ] "@" domain-name`, which is `domain` or below it. Any of its characters may be encoded. RFC 6376 2.11 and 3.5.
fn identity_of<'a>(value: &'a [u8], domain: &str) -> Result<Cow<'a, str>, SignatureError> {
    let wrong = || SignatureError::Identity(shown(value));
    let identity = match memchr::memchr3(b'=', b'\n', b'\t', value) {
        None => Cow::Borrowed(text(value)),
        Some(_) => Cow::Owned(String::from_utf8(quoted_printable(value)).map_err(|_| wrong())?),
    };
    if identity.contains(char::is_control) {
        return Err(wrong());
    }
    let host = identity.rsplit_once('@').and_then(|(_, host)| domain::ascii_form(host));
    match host {
        Some(host) if domain::is_same_or_below(&host, domain) => Ok(identity),
        _ => Err(wrong()),
    }
}

/// Decodes dkim-quoted-printable: white space around folds means nothing, and a `=` before no two digits stands for itself.
fn quoted_printable(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
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

fn names_of<'a>(
    value: &'a [u8],
    limits: &MailLimits,
) -> Result<SmallVec<[SignedName<'a>; 24]>, SignatureError> {
    let mut names = SmallVec::new();
    for name in value.split(|byte| *byte == b':') {
        let name = trimmed(name);
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return Err(SignatureError::SignedName(shown(name)));
        }
        if names.len() == limits.signed_names {
            return Err(SignatureError::TooManyNames(limits.signed_names));
        }
        names.push(SignedName { name, hash: name_hash(name) });
    }
    Ok(names)
}

/// One of the methods must be `dns/txt`; options behind the slash of others are theirs.
fn check_query(value: &[u8]) -> Result<(), SignatureError> {
    let is_known = value.split(|byte| *byte == b':').any(|method| trimmed(method) == b"dns/txt");
    if is_known { Ok(()) } else { Err(SignatureError::Query(shown(value))) }
}

/// A number of at most so many digits; one that is larger than a machine can count is as large as that.
pub(crate) fn number(
    tag: &'static str,
    tags: &TagList<'_>,
    max_digits: usize,
) -> Result<Option<u64>, SignatureError> {
    let Some(value) = tags.get(tag) else { return Ok(None) };
    if value.is_empty() || value.len() > max_digits || !value.iter().all(u8::is_ascii_digit) {
        return Err(SignatureError::Number(tag));
    }
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
    fn a_signature_is_read_with_its_defaults() {
        let signature = parse(GOOD).unwrap();
        assert_eq!(signature.domain, "example.com");
        assert_eq!(signature.canonicalization, Canonicalization::SIMPLE);
        assert_eq!(signature.signature, b"hello");
        let names: Vec<&[u8]> = signature.signed_names().collect();
        assert_eq!(names, [&b"From"[..], b"to", b"subject"]);
        assert_eq!(&GOOD[signature.signature_place.clone()], "aGVs\r\n bG8=");
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
    fn every_rule_that_is_broken_is_named() {
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
        let limits = MailLimits { signed_names: 2, ..MailLimits::default() };
        assert_eq!(DkimSignature::parse(GOOD.as_bytes(), &limits), Err(SignatureError::TooManyNames(2)));
    }
}
