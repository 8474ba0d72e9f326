//! Canonical forms of header fields and bodies. RFC 6376 3.4.

mod blanks;
mod body;
mod header;

use std::fmt;
use std::str::FromStr;

pub use self::body::BodyCanonicalizer;
pub(crate) use self::body::canonicalize_body;
pub(crate) use self::header::canonicalize_header;

/// The changes that a part of a message may undergo without breaking its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CanonicalForm {
    /// Only empty lines at the end of a body may change. RFC 6376 3.4.1 and 3.4.3.
    Simple,
    /// White space, folds and the case of field names may change. RFC 6376 3.4.2 and 3.4.4.
    Relaxed,
}

/// The canonical forms of a signature, written `header/body`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Canonicalization {
    /// The form of the header fields.
    pub header: CanonicalForm,
    /// The form of the body.
    pub body: CanonicalForm,
}

impl Canonicalization {
    /// The forms of a signature without `c=`.
    pub const SIMPLE: Self = Self { header: CanonicalForm::Simple, body: CanonicalForm::Simple };
    /// The default forms of this crate's signatures.
    pub const RELAXED: Self = Self { header: CanonicalForm::Relaxed, body: CanonicalForm::Relaxed };
}

impl Default for Canonicalization {
    fn default() -> Self {
        Self::RELAXED
    }
}

/// An error for a text that names no canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a canonicalization: expected simple, relaxed or a pair such as relaxed/simple")]
pub struct UnknownForm(pub String);

impl FromStr for CanonicalForm {
    type Err = UnknownForm;

    fn from_str(text: &str) -> Result<Self, UnknownForm> {
        match text {
            "simple" => Ok(Self::Simple),
            "relaxed" => Ok(Self::Relaxed),
            _ => Err(UnknownForm(text.into())),
        }
    }
}

/// A missing body form means simple. RFC 6376 3.5, `c=`.
impl FromStr for Canonicalization {
    type Err = UnknownForm;

    fn from_str(text: &str) -> Result<Self, UnknownForm> {
        let (header, body) = text.split_once('/').unwrap_or((text, "simple"));
        Ok(Self { header: header.parse()?, body: body.parse()? })
    }
}

impl fmt::Display for CanonicalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simple => "simple",
            Self::Relaxed => "relaxed",
        })
    }
}

impl fmt::Display for Canonicalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.header, self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_writes_canonical_forms() {
        let of = |text: &str| text.parse::<Canonicalization>().map(|forms| forms.to_string());
        assert_eq!(of("relaxed"), Ok("relaxed/simple".into()));
        assert_eq!(of("simple/relaxed"), Ok("simple/relaxed".into()));
        assert_eq!(of("nowsp"), Err(UnknownForm("nowsp".into())));
        assert_eq!(of("relaxed/"), Err(UnknownForm(String::new())));
    }
}
