//! The patterns of signing tables.

use std::fmt;

use oarlock_dkim::host_form;

use super::dataset::DataSetForm;

/// The authors that a pattern of both filters matches. Two patterns exclude each other, or one covers the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AuthorPattern {
    /// An address, in lower case.
    Address {
        local: String,
        domain: String,
    },
    /// The authors of a domain, but not of its subdomains.
    Domain(String),
    /// The authors of all domains below a domain.
    Below(String),
    Everyone,
}

/// The reason why a pattern is not carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PatternFault {
    #[error(
        "a pattern of a refile is compared with the whole address, so this one never matches in OpenDKIM: \
         expected *@DOMAIN"
    )]
    NeverMatches,
    #[error(
        "this pattern has no counterpart: the signing table has addresses, domains (*@DOMAIN), all domains below \
         (*@*.DOMAIN) and everybody (*)"
    )]
    NoCounterpart,
}

impl AuthorPattern {
    pub(super) fn parse(text: &str, form: DataSetForm) -> Result<Self, PatternFault> {
        let text = text.to_lowercase();
        match form {
            DataSetForm::Patterns => parse_wildcards(&text),
            DataSetForm::Keys => parse_key(&text),
        }
    }

    /// Returns true if every author that `other` matches is also one of this pattern.
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Everyone, _) => true,
            (
                Self::Below(parent),
                Self::Address { domain, .. } | Self::Domain(domain) | Self::Below(domain),
            ) => {
                let is_below = domain.strip_suffix(parent.as_str()).is_some_and(|rest| rest.ends_with('.'));
                is_below || (self == other)
            }
            (Self::Domain(wanted), Self::Address { domain, .. }) => wanted == domain,
            _ => self == other,
        }
    }

    /// Returns the only domain whose authors match, if it is one.
    pub(super) fn domain(&self) -> Option<&str> {
        match self {
            Self::Address { domain, .. } | Self::Domain(domain) => Some(domain),
            Self::Below(_) | Self::Everyone => None,
        }
    }

    /// Returns the domain that signs if a line names none. None stands for the author's own domain.
    pub(super) fn signing_domain(&self) -> Option<&str> {
        match self {
            Self::Below(parent) => Some(parent),
            _ => self.domain(),
        }
    }
}

/// Writes the pattern as the signing table has it.
impl fmt::Display for AuthorPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { local, domain } => write!(f, "{local}@{domain}"),
            Self::Domain(domain) => f.write_str(domain),
            Self::Below(parent) => write!(f, "*.{parent}"),
            Self::Everyone => f.write_str("*"),
        }
    }
}

/// Parses a pattern of a `refile`, in which `*` stands for any text.
fn parse_wildcards(text: &str) -> Result<AuthorPattern, PatternFault> {
    if text == "*" || text == "*@*" {
        return Ok(AuthorPattern::Everyone);
    }
    let Some((local, host)) = text.rsplit_once('@') else {
        return Err(if text.contains('*') {
            PatternFault::NoCounterpart
        } else {
            PatternFault::NeverMatches
        });
    };
    match (local, host.strip_prefix("*.")) {
        ("*", Some(parent)) => name(parent).map(AuthorPattern::Below),
        ("*", None) => name(host).map(AuthorPattern::Domain),
        _ => address(local, host),
    }
}

/// Parses a key of a flat file or a list: `user@host`, `host`, `.domain` or `*`.
fn parse_key(text: &str) -> Result<AuthorPattern, PatternFault> {
    if text == "*" {
        return Ok(AuthorPattern::Everyone);
    }
    match (text.rsplit_once('@'), text.strip_prefix('.')) {
        (Some((local, host)), _) => address(local, host),
        (None, Some(parent)) => name(parent).map(AuthorPattern::Below),
        (None, None) => name(text).map(AuthorPattern::Domain),
    }
}

fn address(local: &str, host: &str) -> Result<AuthorPattern, PatternFault> {
    // The signing table separates words by white space, and its comments begin with `#`.
    let is_plain = !local.is_empty() && !local.contains(|char: char| char == '*' || char.is_whitespace());
    let domain = name(host)?;
    match is_plain && !local.starts_with('#') {
        true => Ok(AuthorPattern::Address { local: local.to_owned(), domain }),
        false => Err(PatternFault::NoCounterpart),
    }
}

fn name(text: &str) -> Result<String, PatternFault> {
    host_form(text).map(String::from).ok_or(PatternFault::NoCounterpart)
}
